"""``focuseval fidelity``: do measures order simulated runs as they should."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.argument("gold")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="May be repeated.")
@click.option("--index", help="Index of the collection, made by 'focuseval index'.")
@click.option("--docs", help="The documents themselves: a folder, a JSONL file, an archive.")
@click.option("--gold-format", help="Format of the gold, when it is not detected.")
@click.option(
    "--format",
    "layout",
    type=click.Choice(["table", "markdown", "latex", "csv", "json"]),
    default="table",
    show_default=True,
)
@click.option("--curves", metavar="FILE", help="Write the curves of the recall-base runs as CSV.")
@click.option("-o", "--output", help="Write to this file instead of the standard output.")
def fidelity(gold: str, **options: Any) -> None:
    r"""Test measures on runs simulated from GOLD, whose right order is known.

    Prints which expected orders each measure keeps in the S×R space, its steps with a paired t-test, the four runs of
    the recall base, what each measure takes into account (found by running it), and the gap between passages and
    elements. Without -m the measures of the papers are tested.

    \b
    Examples:
      focuseval fidelity gold.jsonl --index wiki.idx
      focuseval fidelity gold.jsonl --docs articles/ -m MAgP -m MAiP -m hAP --format latex
    """
    from focuseval.cli.comparing import write_text  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.testing_measures import fidelity_text  # noqa: PLC0415  as above

    write_text(fidelity_text(gold, options), options["output"])
