"""``focuseval search``: one query, with snippets."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.outputs import NO, Command
from focuseval.cli.retrieving import retrieval_options


@click.command(cls=Command, opens=NO)
@click.argument("index")
@click.argument("query")
@retrieval_options
@click.option("--results", type=click.IntRange(1), default=10, show_default=True, help="Results to show.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one object per line: document, path, offsets, score, snippet."
)
def search(index: str, query: str, as_json: bool, **options: Any) -> None:
    r"""Search INDEX for one QUERY: document, path, score, and a snippet with the words marked.

    The results are those of 'focuseval retrieve' with the same options. A query that begins with / is NEXI, read as
    --cas says. A query that begins with - needs -- before it.

    \b
    Examples:
      focuseval search wiki.idx 'nobel prize'
      focuseval search wiki.idx '+tide "new moon" -ship' --unit passage:80/40
      focuseval search wiki.idx '//sec[about(., tides)]' --cas strict
      focuseval search notes/ 'harbour' --json | jq .document
    """
    from focuseval.cli.retrieving import search_lines  # noqa: PLC0415  help must not wait for it

    for line in search_lines(index, query, options, as_json=as_json):
        click.echo(line)
