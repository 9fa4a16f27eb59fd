"""``focuseval index``: a collection → an index."""

from __future__ import annotations

from typing import Any

import click

from focuseval.cli.options import cluster_option, cluster_workers
from focuseval.cli.outputs import NO, Command


@click.command(cls=Command, opens=NO)
@click.argument("source", nargs=-1, required=True)
@click.option("-o", "--output", "target", required=True, metavar="INDEX", help="The index to make.")
@click.option("-j", "--jobs", type=click.IntRange(1), help="Processes to use; all cores if not given.")
@click.option(
    "--keep-going",
    is_flag=True,
    help="Leave unreadable documents out and list them; a broken archive, or an id that two files have, still ends it.",
)
@click.option("--force", is_flag=True, help="Replace an existing index.")
@click.option("--resume", is_flag=True, help="Take up an index whose making was killed; what has not changed is kept.")
@cluster_option
@click.option(
    "--words",
    "language",
    is_flag=False,
    flag_value="english",
    metavar="[LANGUAGE]",
    help="Read the words, too, as the first 'focuseval retrieve' would; in English unless another language is named.",
)
def index(source: tuple[str, ...], target: str, language: str | None, cluster: str | None, **options: Any) -> None:
    r"""Index documents: every element's path and span, in code points of the text.

    SOURCE is a directory, a .zip, .tar, .tar.gz or .tar.zst, or a file; several are joined. XML of any vocabulary
    and plain .txt and .md are documents; a document's id is its path without the extension. SOURCE and INDEX may be
    URLs of object storage: s3://BUCKET/KEY, gs://BUCKET/KEY.

    \b
    Examples:
      focuseval index wikipedia/ -o wiki.idx
      focuseval index articles.tar.gz notes/ -o all.idx --keep-going
      focuseval index notes/ -o notes.idx --words german
      focuseval index s3://archive/articles -o s3://archive/all.idx --cluster tcp://scheduler:8786
    """
    from focuseval.cli.indexing import shown, summary  # noqa: PLC0415  help must not wait for it
    from focuseval.collection.build import build_index  # noqa: PLC0415  as above

    with cluster_workers(cluster) as workers:
        with shown(source) as progress:
            built = build_index(source, target, workers=workers, progress=progress, **options)
        click.echo(summary(built, target), err=True)
        if language:
            from focuseval.cli.retrieving import make_words  # noqa: PLC0415  only where words are asked for

            click.echo(make_words(target, language, options["jobs"], workers), err=True)
