"""``focuseval compare``: is a difference between runs real, and do measures agree."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.judged import assessor_options
from focuseval.cli.options import (
    GRIDS,
    collection_options,
    format_options,
    layout_option,
    measure_option,
    output_option,
    policy_options,
    profile_option,
    repairs_option,
    task_option,
)
from focuseval.cli.outputs import READS, Command
from focuseval.cli.significance_options import baseline_option, significance_options

AXES = ("measures", "recall-bases", "ideals", "quantisations")


@click.command(cls=Command, opens=READS)
@click.argument("gold")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option()
@significance_options(draws="10000; 1000 with --test bootstrap --tails 1")
@baseline_option
@click.option("--pairs", is_flag=True, help="Print every pair (always done for up to 6 runs).")
@click.option(
    "--correlate", "axes", type=click.Choice(AXES), multiple=True, help="Correlate rankings; may be repeated."
)
@click.option(
    "--coefficient",
    type=click.Choice(["tau-b", "tau-a", "tau-ap", "spearman"]),
    default="tau-b",
    show_default=True,
    help="Rank correlation for --correlate.",
)
@task_option()
@profile_option()
@policy_options()
@collection_options
@format_options
@assessor_options
@repairs_option
@layout_option(*GRIDS)
@output_option
def compare(gold: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Compare RUNs over the topics of GOLD: means with intervals, the significance matrix, rank correlations.

    Runs are ordered by the first measure; each measure has its own matrix of stars. A star says that a difference is
    significant: by a two-tailed paired randomisation test, exact where up to 24 topics differ, with Holm's correction
    over all pairs, or over those with --baseline. Where so few topics differ that no outcome could be significant, the
    output says so. The test of the papers is --test bootstrap --tails 1.

    \b
    Examples:
      focuseval compare gold.txt a.txt b.txt -m MAgP --task relevant-in-context
      focuseval compare qrels.txt run*.txt -m AP -m P@10 --baseline bm25.txt --format latex
      focuseval compare assessments/ run*.xml --profile inex2006 --task focused --test bootstrap --tails 1
      focuseval compare assessments/ run*.xml -m nxCG@5 -m MAep --correlate recall-bases
      focuseval compare judging/ run*.xml -m MAgP --adjudicated
    """
    from focuseval.cli.comparing import compare_files  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.printing import write_text  # noqa: PLC0415  as above

    write_text(compare_files(gold, runs, options), options["output"])
