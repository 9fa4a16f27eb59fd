"""``focuseval gate``: exit 1 when a run is worse than its baseline."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.judged import assessor_options
from focuseval.cli.options import (
    collection_options,
    format_options,
    measure_option,
    profile_option,
    repairs_option,
    task_option,
)
from focuseval.cli.outputs import Command


@click.command(cls=Command)
@click.argument("gold")
@click.argument("run")
@click.option("--baseline", required=True, metavar="FILE", help="Scores written with --per-topic --format json.")
@click.option("--baseline-run", help="Which run of the baseline, when it holds several.")
@measure_option(required=True)
@click.option("--min-effect", type=float, default=0.0, show_default=True, help="The smallest mean drop that matters.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of significance, one-tailed.")
@click.option("--junit", metavar="FILE", help="Write JUnit XML.")
@click.option("--markdown", metavar="FILE", help="Write Markdown (also appended to $GITHUB_STEP_SUMMARY when set).")
@task_option()
@profile_option("Policies of a campaign")
@collection_options
@format_options
@assessor_options
@repairs_option
def gate(gold: str, run: str, **options: Any) -> None:
    r"""Judge RUN against a baseline over the topics of GOLD.

    Exit code 0: no regression. 1: regression. 2: no verdict (other gold, documents, topics or policies; bad input).

    \b
    Examples:
      focuseval score gold.jsonl main.jsonl --docs docs/ -m spanR@5 --per-topic --format json -o base.json
      focuseval gate --baseline base.json gold.jsonl new.jsonl --docs docs/ -m spanR@5 --min-effect 0.02
    """
    from focuseval.cli.gating import judge_files, write_no_verdict  # noqa: PLC0415  help must not wait for it
    from focuseval.errors import FocusevalError  # noqa: PLC0415  as above

    try:
        worse = judge_files(gold, run, options)
    except (FocusevalError, OSError) as error:  # the gate alone says 2: to CI, "cannot tell" is not "got worse"
        click.echo(f"NO VERDICT {error}", err=True)
        write_no_verdict(str(error), options)
        raise SystemExit(2) from None
    raise SystemExit(1 if worse else 0)
