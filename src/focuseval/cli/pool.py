"""``focuseval pool``: which documents to judge."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.options import collection_options, layout_option, run_format_option
from focuseval.cli.outputs import READS, Command


@click.command(cls=Command, opens=READS)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", required=True, metavar="POOL", help="Where to write the pool.")
@click.option("--depth", type=click.IntRange(1), help="Every document down to this rank.  [default: 100]")
@click.option("--size", type=click.IntRange(1), help="Rank by rank in turn, until a topic has so many documents.")
@click.option(
    "--order",
    type=click.Choice(["runs", "shuffled"]),
    default="runs",
    show_default=True,
    help="Documents that more runs returned first, or by chance.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the shuffle.")
@click.option(
    "--top-up", metavar="POOL", help="Add to this pool, a file's or a project's: what is in it keeps its place."
)
@run_format_option
@layout_option("table", "json", what="How what each run brought is printed.")
@collection_options
def pool(runs: tuple[str, ...], output: str, **options: Any) -> None:
    r"""Pool RUNs: the documents that assessors are to judge, those that more runs returned first.

    \b
    Examples:
      focuseval pool run1.xml run2.xml -o pool.jsonl
      focuseval pool run*.txt --size 500 --order shuffled -o pool.jsonl
      focuseval pool new.txt --depth 50 --top-up pool.jsonl -o pool-2.jsonl
      focuseval pool run1.xml run2.jsonl --index wiki.idx -o pool.jsonl     ids as the collection has them
    """
    from focuseval.cli.pooling import pool_files, show_pool  # noqa: PLC0415  help must not wait for it

    layout = options.pop("layout")
    show_pool(pool_files(runs, output, **options), layout)
