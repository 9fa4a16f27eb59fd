"""``focuseval fidelity``: do measures order simulated runs as they should."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.judged import assessor_options
from focuseval.cli.options import (
    GRIDS,
    collection_options,
    drop_tags_option,
    gold_format_option,
    layout_option,
    measure_option,
    output_option,
    profile_option,
)
from focuseval.cli.outputs import READS, Command


@click.command(cls=Command, opens=READS)
@click.argument("gold")
@measure_option()
@profile_option("Policies of a campaign, and its official measures where none is named")
@collection_options
@drop_tags_option
@gold_format_option
@assessor_options
@layout_option(*GRIDS)
@click.option("--curves", metavar="FILE", help="Write the curves of the recall-base runs as CSV.")
@output_option
def fidelity(gold: str, **options: Any) -> None:
    r"""Test measures on runs simulated from GOLD, whose right order is known.

    Prints which expected orders each measure keeps in the S×R space, its steps with a paired t-test, the four runs of
    the recall base, what each measure takes into account (found by running it), and the gap between passages and
    elements. Without -m the measures of the papers are tested.

    \b
    Examples:
      focuseval fidelity gold.jsonl --index wiki.idx
      focuseval fidelity judging/ --adjudicated
      focuseval fidelity gold.jsonl --docs articles/ -m MAgP -m MAiP -m hAP --format latex
    """
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.printing import json_text, tables_text, write_text  # noqa: PLC0415  as above
    from focuseval.cli.scoring import write_curves  # noqa: PLC0415  as above
    from focuseval.studies.fidelity import as_json, tables  # noqa: PLC0415  as above
    from focuseval.studies.fidelity import fidelity as test_measures  # noqa: PLC0415  as above

    judged, index = read_judged(gold, options)
    policies = {"profile": options["profile"], "drop_tags": options["drop_tags"] or ()}
    found = test_measures(judged, options["measures"] or None, index, **policies)
    if options["curves"]:
        write_curves(found.recall_base, options["curves"])
    signature, as_values = found.space.scores.signature, options["layout"] == "json"
    text = json_text(as_json(found)) if as_values else tables_text(tables(found), options, signature)
    write_text(text, options["output"])
