"""``focuseval stats``: what the papers' tables say of a collection, judgements, a run, topics."""

from __future__ import annotations

import json
from typing import Any

import click

from focuseval.cli.judged import assessor_options, is_project, refuse_assessor
from focuseval.cli.options import collection_options, layout_option, open_collection
from focuseval.cli.outputs import READS, Command


@click.command(cls=Command, opens=READS)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@collection_options
@assessor_options
@layout_option("table", "json", what="How the figures are printed; JSON has one object for a file.")
def stats(files: tuple[str, ...], layout: str, **options: Any) -> None:
    r"""Describe an index, a gold, a run or topics.

    The format of each FILE is detected from its content; - is standard input.

    An assessment project counts as gold.

    \b
    Examples:
      focuseval stats wiki.idx
      focuseval stats assessments/ run.xml topics.xml --index wiki.idx
      focuseval stats judging/ --adjudicated
      focuseval stats run.xml --json | jq .overlapping
    """
    from focuseval.cli.describing import describe_file, statistics_tables  # noqa: PLC0415  help must not wait for it
    from focuseval.data.tables import render  # noqa: PLC0415  as above

    if not any(map(is_project, files)):
        refuse_assessor(files[0], options)
    index = open_collection(options)
    for file in files:
        figures = describe_file(file, index, options)
        if layout == "json":
            click.echo(json.dumps(figures, ensure_ascii=False))
        else:
            click.echo(render(statistics_tables(figures), "table"))
