"""``focuseval search``: one query, with snippets."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from focuseval.cli.output import NO, Command, echo_lines, progress_bar
from focuseval.cli.retrieve import READING, retrieval_options
from focuseval.engine.workers import cores
from focuseval.formats.embedded import open_documents
from focuseval.retrieval.retrieving import mixed
from focuseval.retrieval.retrieving import search as search_documents

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


@click.command(cls=Command, opens=NO, phases=(READING,))
@click.argument("index")
@click.argument("query")
@retrieval_options
@click.option("--results", type=click.IntRange(1), default=10, help="Results to show.")
@click.option("--json", "as_json", is_flag=True, help="One object per line: document, path, offsets, score, snippet.")
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
    with progress_bar() as progress:
        jobs = options.pop("jobs") or cores()
        collection = open_documents(index)
        hits = search_documents(collection, query, jobs=jobs, progress=progress, **options)
    echo_lines(mixed(collection, options["unit"]))
    if query.lstrip().startswith("/") and options["cas"] is None:
        click.echo("note: the structure is ignored; --cas strict or --cas vague reads it", err=True)
    if not hits:
        click.echo("nothing found", err=True)
    marks = (BOLD, PLAIN) if sys.stdout.isatty() else ("*", "*")
    for number, hit in enumerate(hits, start=1):
        if as_json:
            click.echo(json.dumps(asdict(hit), ensure_ascii=False))
        else:
            click.echo(f"{number}. {hit.document} {hit.path or f'{hit.start}–{hit.end}'}  {hit.score:.4f}")
            click.echo(f"   {hit.marked(*marks)}")
