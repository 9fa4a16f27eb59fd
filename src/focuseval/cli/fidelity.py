"""``focuseval fidelity``: do measures order simulated runs as they should."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli import options as shared
from focuseval.cli.output import READS, Command, echo_lines, progress_bar, write_results
from focuseval.evaluation.evaluation import curves_csv
from focuseval.formats.content import write_whole
from focuseval.studies.fidelity import as_json, tables
from focuseval.studies.fidelity import fidelity as test_measures


@click.command(cls=Command, opens=READS, phases=("testing measures",))
@click.argument("gold")
@shared.measure_option("A measure such as nxCG@10; may be repeated.")
@shared.profile_option("Policies of a campaign, and its official measures where none is named")
@shared.gold_options
@shared.drop_tags_option
@click.option("--curves", metavar="FILE", help="Write the curves of the recall-base runs as CSV.")
@shared.results_options
def fidelity(gold: str, **options: Any) -> None:
    r"""Test measures on runs simulated from GOLD, whose right order is known.

    Prints which expected orders each measure keeps in the S×R space, its steps with a paired t-test, the four runs of
    the recall base, what each measure takes into account (found by running it), and the gap between passages and
    elements. Without -m the measures of the papers are tested. Graded elements without highlighted text (2002–04) have
    the runs of the recall base and the requirements alone; on grades of 2003–04 these runs use SOG, as their paper did.

    \b
    Examples:
      focuseval fidelity gold.jsonl --index wiki.idx
      focuseval fidelity judging/ --adjudicated
      focuseval fidelity assessments-2004/ --docs ieee/ -m 'i2AP(quant=sog)' -m i3AP
      focuseval fidelity gold.jsonl --docs articles/ -m MAgP -m MAiP -m hAP --format latex
    """
    policies = {"profile": options["profile"], "drop_tags": options["drop_tags"] or ()}
    with progress_bar():
        judged, index = shared.read_judged(gold, options)
        results = test_measures(judged, options["measures"] or None, index, **policies)
        if options["curves"]:
            write_whole(options["curves"], [curves_csv(results.recall_base)])
    echo_lines(results.remarks)
    signature = (results.space.scores if results.space else results.recall_base).signature
    write_results(options, lambda: as_json(results), lambda: tables(results), signature)
