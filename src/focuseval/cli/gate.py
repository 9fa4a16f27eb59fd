"""``focuseval gate``: exit 1 when a run is worse than its baseline."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.gating import Gate
from focuseval.cli.judged import assessor_options
from focuseval.cli.options import (
    FiniteRange,
    collection_options,
    format_options,
    layout_option,
    measure_option,
    policy_options,
    profile_option,
    repairs_option,
    task_option,
)
from focuseval.cli.outputs import READS
from focuseval.cli.significance_options import significance_options

MEASURES = "For many measures: Holm, or Benjamini–Hochberg.  [default: none, each measure by itself]"


@click.command(cls=Gate, opens=READS)
@click.argument("gold")
@click.argument("run")
@click.option("--baseline", required=True, metavar="FILE", help="Scores written with --per-topic --format json.")
@click.option("--baseline-run", help="Which run of the baseline, when it holds several.")
@measure_option("A measure such as spanR@5; may be repeated. By default the profile's, or the task's.")
@click.option(
    "--min-effect", type=FiniteRange(0), default=0.0, show_default=True, help="The smallest mean drop that matters."
)
@significance_options(tails=1, correction=MEASURES)
@layout_option("text", "json", what="A line per measure with the topics that lost most, or JSON.")
@click.option("--junit", metavar="FILE", help="Write JUnit XML.")
@click.option("--markdown", metavar="FILE", help="Write Markdown (also appended to $GITHUB_STEP_SUMMARY when set).")
@task_option()
@profile_option()
@policy_options()
@collection_options
@format_options
@assessor_options
@repairs_option
def gate(gold: str, run: str, **options: Any) -> bool:
    r"""Judge RUN against a baseline over the topics of GOLD.

    A measure regresses if its mean drops by --min-effect or more and the drop is significant: by a paired randomisation
    test, one-tailed, because only a drop is asked for. Where the topics are too few for any outcome to be significant,
    the size of the drop alone decides; without --min-effect there is no verdict.

    Exit code 0: no regression. 1: regression. 2: no verdict (other gold, documents, topics or policies; too few topics;
    bad input or usage; interrupted).

    \b
    Examples:
      focuseval score gold.jsonl main.jsonl --docs docs/ -m spanR@5 --per-topic --format json -o base.json
      focuseval gate --baseline base.json gold.jsonl new.jsonl --docs docs/ -m spanR@5 --min-effect 0.02
      focuseval gate --baseline base.json gold.jsonl new.jsonl --docs docs/ --profile rag --format json
    """
    from focuseval.cli.gating import judge_files  # noqa: PLC0415  help must not wait for it

    return judge_files(gold, run, options)
