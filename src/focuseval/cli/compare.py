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
    profile_option,
    repairs_option,
    task_option,
)
from focuseval.cli.outputs import Command

AXES = ("measures", "recall-bases", "ideals", "quantisations")


@click.command(cls=Command)
@click.argument("gold")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option(required=True)
@click.option(
    "--test",
    type=click.Choice(["bootstrap", "randomisation", "t", "wilcoxon", "sign"]),
    default="bootstrap",
    show_default=True,
    help="Test of significance, paired over topics.",
)
@click.option(
    "--tails",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="1: is the first run better? 2: do they differ?",
)
@click.option(
    "--resamples",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Of the bootstrap, the randomisation, and intervals.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of significance.")
@click.option(
    "--correction",
    type=click.Choice(["none", "holm", "bh"]),
    default="none",
    show_default=True,
    help="For many pairs: Holm, or Benjamini–Hochberg.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of the resamples: the same seed, the same numbers."
)
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
@profile_option("Policies of a campaign")
@collection_options
@format_options
@assessor_options
@repairs_option
@layout_option(*GRIDS)
@output_option
def compare(gold: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Compare RUNs over the topics of GOLD: means with intervals, the significance matrix, rank correlations.

    Runs are ordered by the first measure; each measure has its own matrix of stars. The default test is the one of
    the papers: paired bootstrap, one-tailed at .05, 1,000 resamples of the topics.

    \b
    Examples:
      focuseval compare gold.txt a.txt b.txt -m MAgP --task relevant-in-context
      focuseval compare qrels.txt run*.txt -m AP -m P@10 --correction holm --format latex
      focuseval compare assessments/ run*.xml -m nxCG@5 -m MAep --correlate recall-bases
      focuseval compare judging/ run*.xml -m MAgP --adjudicated
    """
    from focuseval.cli.comparing import compare_files  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.printing import write_text  # noqa: PLC0415  as above

    write_text(compare_files(gold, runs, options), options["output"])
