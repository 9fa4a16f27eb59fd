"""``focuseval index``: a collection → an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from focuseval.cli.options import cluster_option, cluster_workers
from focuseval.cli.output import NO, Command, echo_lines, progress_bar
from focuseval.cli.retrieve import READING
from focuseval.collection.build import Built, build_index
from focuseval.collection.sources import left_out
from focuseval.collection.store import open_index
from focuseval.engine.storage import location
from focuseval.engine.workers import cores
from focuseval.errors import CollectionError, counted
from focuseval.retrieval.store import open_words

KEEP_GOING = "Leave unreadable documents out and list them; broken archives and ids found twice still fail."
LEFT_OUT = "End with exit code 1 where more of the documents were left out."
PDF = "How PDFs are read: hyphens=keep, ligatures=keep, repeated=drop, original=drop; several with commas."
WORDS = "Also read the words, as 'focuseval retrieve' would; in English if none is named."


@click.command(cls=Command, opens=NO, phases=("indexing", READING))
@click.argument("source", nargs=-1, required=True)
@click.option("-o", "--output", "target", required=True, metavar="INDEX", help="The index to make.")
@click.option("-j", "--jobs", type=click.IntRange(1), help="Processes to use; all cores if not given.")
@click.option("--keep-going", is_flag=True, help=KEEP_GOING)
@click.option("--allow-left-out", type=click.FloatRange(0, 100), default=1, metavar="PERCENT", help=LEFT_OUT)
@click.option("--force", is_flag=True, help="Replace an existing index.")
@click.option("--pdf", default="", metavar="OPTIONS", help=PDF)
@click.option("--resume", is_flag=True, help="Resume an interrupted build; what has not changed is kept.")
@cluster_option
@click.option("--words", "language", is_flag=False, flag_value="english", metavar="[LANGUAGE]", help=WORDS)
def index(source: tuple[str, ...], target: str, language: str | None, cluster: str | None, **options: Any) -> None:
    r"""Index documents: every element's path and span, in code points of the text.

    SOURCE is a directory, a .zip, .tar, .tar.gz or .tar.zst, or a file; several are joined. XML of any vocabulary,
    HTML, plain .txt and .md, and PDF with the extra 'pdf' are documents; a document's id is its
    path without the extension. SOURCE and INDEX may be URLs of object storage: s3://BUCKET/KEY, gs://BUCKET/KEY.

    \b
    Examples:
      focuseval index wikipedia/ -o wiki.idx
      focuseval index articles.tar.gz notes/ -o all.idx --keep-going
      focuseval index notes/ -o notes.idx --words german
      focuseval index reports/ -o reports.idx --pdf repeated=drop,hyphens=keep
      focuseval index s3://archive/articles -o s3://archive/all.idx --cluster tcp://scheduler:8786
    """
    allowed = options.pop("allow_left_out")
    with cluster_workers(cluster) as workers, progress_bar() as move:
        move.phases, total = move.phases[: 2 if language else 1], total_bytes(source)
        progress = lambda report: move(report.bytes, total, f"indexing, {counted(report.documents, 'document')}")  # noqa: E731  called for every document
        built = build_index(source, target, workers=workers, progress=progress, **options)
        echo_lines(_summary(built, target))
        if language:
            move.phase(READING)
            words = open_words(open_index(target), language, options["jobs"] or cores(), move, workers)
            total, kept, terms = words.counted("words"), words.counted("kept"), len(words.terms)
            size = f"{counted(total, 'word')}, {kept:,} kept, {counted(terms, 'term')}"
            click.echo(f"{target}: {size}, language {language}", err=True)
    share = 100 * len(built.report.failures) / (built.report.documents + len(built.report.failures))
    if share > allowed:
        what = f"left out {share:.0f} % of the documents, more than {allowed:g} %"
        raise CollectionError(f"{what}: the index holds the others", at=target, remedy="see --allow-left-out")


def total_bytes(sources: Sequence[str]) -> int | None:
    """Return the bytes of all files under directories; None where an archive hides them."""
    folders = [location(source) for source in sources]
    if not all(folder.is_dir() for folder in folders):
        return None
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())


def _summary(built: Built, target: str) -> Iterator[str]:
    """Yield what was indexed and what was not, a line each."""
    report = built.report
    size = f"{counted(report.documents, 'document')}, {counted(built.elements, 'element')}"
    yield f"{target}: {size}, {report.bytes / 1e6:,.1f} MB"
    yield from report.failures
    if built.reused:
        yield f"kept from the interrupted build: {counted(built.reused, 'document')}"
    if report.failures:
        yield f"warning: left out {counted(len(report.failures), 'unreadable document')}"
    if built.passed_over:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in built.passed_over.most_common(5))
        yield f"skipped, not documents: {counted(built.passed_over.total(), 'file')} ({kinds})"
        if line := left_out(built.metadata()):
            yield line
    if report.lenient:
        yield f"read leniently, as HTML or as XML that is not well-formed: {counted(report.lenient, 'document')}"
    if report.pages:
        yield f"{counted(report.pages, 'page')} of PDFs, read by {built.pdf}"
    if report.scans:
        more = f" (and {len(report.scanned) - 5:,} more files)" if len(report.scanned) > 5 else ""
        where = "; ".join(report.scanned[:5])
        yield f"warning: {counted(report.scans, 'page')} without text, scans maybe: {where}{more}"
    if report.named:
        entities = counted(report.named, "entity", "entities")
        yield f"replaced by the character of the same name, because DTDs are not read: {entities}"
    if report.left_out:
        names = ", ".join(f"&{name}; ({count:,})" for name, count in report.left_out.most_common(5))
        yield f"warning: left out {counted(report.left_out.total(), 'reference')} to unread entities: {names}"
