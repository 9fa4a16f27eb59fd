"""``focuseval report``: one HTML file that answers, and explains."""

from __future__ import annotations

from typing import Any

import click

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
from focuseval.cli.outputs import READS, Command
from focuseval.cli.significance_options import baseline_option, significance_options


@click.command(cls=Command, opens=READS)
@click.argument("gold")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", metavar="FILE", help="Write to this file, such as report.html.")
@baseline_option
@measure_option("A measure such as MAgP; may be repeated, the first one decides (without -m, the profile's).")
@task_option()
@profile_option()
@collection_options
@click.option("--title", default="", help="The page's title.")
@layout_option("html", "json", "markdown", "latex", "csv", what="One page, everything as JSON, or the tables.")
@click.option("--figures", metavar="DIR", help="Also write every graph as an SVG file into this folder.")
@click.option("--fidelity", is_flag=True, help="Also test the measures on simulated runs; needs the collection.")
@click.option(
    "--text-limit",
    type=FiniteRange(0),
    default=2.5,
    show_default=True,
    help="Megabytes of compressed text embedded in the page.",
)
@click.option("--serve", is_flag=True, help="Show the report from a server on this machine, with nothing left out.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of --serve; any free one if not given.")
@significance_options(draws="10000; 1000 with --test bootstrap --tails 1")
@policy_options("The topics: what each of them asks, and their structure for --cas strict.")
@format_options
@assessor_options
@repairs_option
def report(gold: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Report on RUNs: which is better, on which topics, and what each found and missed in the text.

    The page is one file that opens from disk without a network. Any two runs and any measure can be chosen in it. With
    the collection (--index or --docs) it shows ranked lists side by side and the text, up to the measure's cut-off.
    Differences are judged as in 'focuseval compare', with the same numbers.

    \b
    Examples:
      focuseval report gold.jsonl old.jsonl new.jsonl --docs docs/ --baseline old.jsonl -o report.html
      focuseval report assessments/ run*.xml --index wiki.idx --profile inex2006 --task focused -o report.html
      focuseval report qrels.txt run*.txt -m AP -m nDCG@10 --format latex
      focuseval report judging/ run*.xml --adjudicated --task focused -o report.html
      focuseval report gold.jsonl run*.jsonl --docs docs/ --serve
    """
    from focuseval.cli.reporting import report_files  # noqa: PLC0415  help must not wait for it

    report_files(gold, runs, options)
