"""``focuseval index``: a collection → an index."""

from __future__ import annotations

from pathlib import Path

import click

from focuseval.cli.outputs import Command


@click.command(cls=Command)
@click.argument("source", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", "target", required=True, type=click.Path(path_type=Path), help="The index to make.")
@click.option("-j", "--jobs", type=click.IntRange(1), help="Processes to use; all cores if not given.")
@click.option(
    "--keep-going",
    is_flag=True,
    help="Leave unreadable documents out and list them; a broken archive, or an id that two files have, still ends it.",
)
@click.option("--force", is_flag=True, help="Replace an existing index.")
def index(source: tuple[Path, ...], target: Path, jobs: int | None, keep_going: bool, force: bool) -> None:
    r"""Index documents: every element's path and span, in code points of the text.

    SOURCE is a directory, a .zip, .tar, .tar.gz or .tar.zst, or a file; several are joined. XML of any vocabulary
    and plain .txt and .md are documents; a document's id is its path without the extension.

    \b
    Examples:
      focuseval index wikipedia/ -o wiki.idx
      focuseval index articles.tar.gz notes/ -o all.idx --keep-going
    """
    from focuseval.collection.build import build_index  # noqa: PLC0415  help must not wait for it
    from focuseval.collection.progress import shown, summary  # noqa: PLC0415  the same

    with shown(source) as progress:
        built = build_index(source, target, jobs=jobs, keep_going=keep_going, force=force, progress=progress)
    click.echo(summary(built, target), err=True)
