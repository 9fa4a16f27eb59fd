"""``focuseval score``: runs against a gold."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.judged import assessor_options
from focuseval.cli.options import (
    cache_option,
    cluster_option,
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

FORMATS = ("table", "json", "csv", "trec", "markdown", "latex")


@click.command(cls=Command, opens=READS)
@click.argument("gold")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option()
@task_option()
@profile_option()
@collection_options
@format_options
@assessor_options
@repairs_option
@click.option("--per-topic", is_flag=True, help="Also print every topic's value.")
@click.option("--by-tag", is_flag=True, help="Also print the means over the topics of each tag of the gold.")
@layout_option(*FORMATS)
@output_option
@click.option(
    "--curves", metavar="FILE", help="Write the curves behind the measures as CSV: measure, run, topic, x, y."
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Processes that score runs.  [default: all cores where there is much to do; large runs use all anyway]",
)
@cluster_option
@cache_option
@click.option(
    "--compat",
    type=click.Choice(["inex_eval", "legalbenchrag", "chroma"]),
    help="Follow the rules of another tool, or print its numbers beside ours and why they differ.",
)
@policy_options()
@click.option(
    "--chunks",
    metavar="FILE|SPEC",
    help="All chunks of the chunker, for ceiling(…); or how it cuts: see 'chunk --help'.",
)
def score(gold: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Score RUNs against GOLD.

    Prints means with the number of topics, of missing and excluded topics and of unjudged results beside them.

    \b
    Examples:
      focuseval score qrels.txt run1.txt run2.txt -m AP -m nDCG@10
      focuseval score assessments/ run.xml --profile inex2006 --task focused
      focuseval score gold.jsonl run.jsonl --docs docs/ --profile rag --format json -o scores.json
      focuseval score judging/ run.xml --adjudicated --task focused
      focuseval score judging/ run.xml --merge union --task focused
      focuseval score gold.jsonl run.jsonl --docs docs/ -m spanR@5 --by-tag --repairs repairs.csv
      focuseval score gold.json run.jsonl --compat legalbenchrag -m spanR@8
      focuseval score s3://lab/qrels.txt s3://lab/runs/a.txt s3://lab/runs/b.txt -m AP --cluster tcp://scheduler:8786
    """
    from focuseval.cli.scoring import score_files, write_curves, write_scores  # noqa: PLC0415  help must not wait for it

    scores = score_files(gold, runs, options)
    if options["curves"]:  # first, so that scores are not printed where the curves cannot be written
        write_curves(scores, options["curves"])
    write_scores(scores, options)
