"""``focuseval stats``: what the papers' tables say of a collection, judgements, a run, topics."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--index", "index_path", type=click.Path(exists=True), help="Index that paths and spans belong to.")
@click.option("--docs", type=click.Path(exists=True), help="Documents, where there is no index.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, one object for a file.")
def stats(files: tuple[str, ...], index_path: str | None, docs: str | None, as_json: bool) -> None:
    r"""Describe an index, a gold, a run or topics; each FILE is told by its content.

    \b
    Examples:
      focuseval stats wiki.idx
      focuseval stats assessments/ run.xml topics.xml --index wiki.idx
      focuseval stats run.xml --json | jq .overlapping
    """
    from focuseval.cli.describing import describe_file, print_statistics  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.scoring import collection  # noqa: PLC0415  as above

    index = collection({"index": index_path, "docs": docs})
    for file in files:
        figures = describe_file(file, index)
        if as_json:
            click.echo(json.dumps(figures, ensure_ascii=False))
        else:
            print_statistics(figures)
