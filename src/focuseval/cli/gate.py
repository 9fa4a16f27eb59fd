"""``focuseval gate``: exit 1 when a run is worse than its baseline."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.argument("gold")
@click.argument("run")
@click.option("--baseline", required=True, metavar="FILE", help="Scores written with --per-topic --format json.")
@click.option("--baseline-run", help="Which run of the baseline, when it holds several.")
@click.option("-m", "--measure", "measures", multiple=True, required=True, metavar="MEASURE", help="May be repeated.")
@click.option("--min-effect", type=float, default=0.0, show_default=True, help="The smallest mean drop that matters.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of significance, one-tailed.")
@click.option("--junit", metavar="FILE", help="Write JUnit XML.")
@click.option("--markdown", metavar="FILE", help="Write Markdown (also appended to $GITHUB_STEP_SUMMARY when set).")
@click.option("--task", help="Task of the runs.")
@click.option("--profile", help="Policies of a campaign: inex2002 … inex2010, rag.")
@click.option("--index", help="Index of the collection, made by 'focuseval index'.")
@click.option("--docs", help="The documents themselves: a folder, a JSONL file, an archive.")
@click.option("--gold-format", help="Format of the gold, when it is not detected.")
@click.option("--run-format", help="Format of the runs, when it is not detected.")
def gate(gold: str, run: str, **options: Any) -> None:
    r"""Judge RUN against a baseline over the topics of GOLD.

    Exit code 0: no regression. 1: regression. 2: no verdict (other gold, documents, topics or policies; bad input).

    \b
    Examples:
      focuseval score gold.jsonl main.jsonl --docs docs/ -m spanR@5 --per-topic --format json -o base.json
      focuseval gate --baseline base.json gold.jsonl new.jsonl --docs docs/ -m spanR@5 --min-effect 0.02
    """
    from focuseval.cli.gating import judge_files  # noqa: PLC0415  help must not wait for it
    from focuseval.errors import FocusevalError  # noqa: PLC0415  as above

    try:
        worse = judge_files(gold, run, options)
    except FocusevalError as error:  # the gate alone says 2: to CI, "cannot tell" is not "got worse"
        click.echo(f"NO VERDICT {error}", err=True)
        raise SystemExit(2) from None
    raise SystemExit(1 if worse else 0)
