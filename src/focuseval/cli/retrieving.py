"""From the options of ``focuseval retrieve`` and ``search`` to a run on disk, or to results on a terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.options import Command, Decorator, cluster_workers, task_option
from focuseval.cli.watching import watched
from focuseval.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.collection import Index
    from focuseval.engine.workers import Workers

_OPTIONS = ("unit", "task", "tags", "min_words", "k1", "b", "mix", "idf", "language", "cas", "limit")
"""Options that are fields of `focuseval.retrieval.RetrievalSettings`."""

_READING = "reading words"
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def retrieval_options(command: Command) -> Command:
    """Add what ``retrieve`` and ``search`` share."""
    options: tuple[Decorator, ...] = (
        task_option("What the list is made for"),
        click.option(
            "--unit",
            metavar="UNIT",
            help="element, document, passage:WORDS[/STEP], or a SPEC of 'focuseval chunk'; elements, or passages of "
            "plain texts.",
        ),
        click.option("--tags", metavar="TAG,…", help="Elements with these tags only."),
        click.option(
            "--min-words", type=click.IntRange(0), help="Only elements with at least this many words; by default 10."
        ),
        click.option(
            "--k1", type=float, help="BM25's k1: how quickly more occurrences of a word stop counting; by default 1.2."
        ),
        click.option(
            "--b", type=float, help="BM25's b: how much long units are lowered, from 0 to 1; by default 0.75."
        ),
        click.option("--mix", type=float, help="Share of the document's score, from 0 to 1."),
        click.option("--idf", metavar="WHAT", help="Whether rare words are counted among documents or among units."),
        click.option(
            "--language",
            metavar="NAME",
            help="Stemmer and stop words: a language of Snowball, or none; by default english.",
        ),
        click.option("--cas", metavar="HOW", help="Structured titles: strict, vague or ignore; by default ignore."),
        click.option("-j", "--jobs", type=click.IntRange(1), help="Processes that read words; by default all cores."),
    )
    wrapped: Any = command
    for option in reversed(options):
        wrapped = option(wrapped)
    added: Command = wrapped
    return added


def retrieve_file(path: str, topics: str, options: dict[str, Any]) -> Iterator[str]:
    """Make the run, write it, and yield what a reader should know of it."""
    from dataclasses import replace  # noqa: PLC0415  help must not wait for it

    from focuseval.formats import find_format, write_run  # noqa: PLC0415  as above
    from focuseval.retrieval.retrieving import retrieve  # noqa: PLC0415  as above

    layout = options["layout"] or ("run-jsonl" if options["output"].lower().endswith(".jsonl") else "inex-xml")
    says = find_format(layout, "run").says
    index = _opened(path)
    with cluster_workers(options["cluster"]) as workers, watched(_READING) as progress:
        run = retrieve(
            index,
            topics,
            run_id=options["run_id"],
            jobs=_jobs(options["jobs"]),
            workers=workers,
            progress=progress,
            **{name: options[name] for name in _OPTIONS},
        )
    whole = options["unit"] == "document" and "element" not in says
    if whole:  # a format of whole documents needs no paths
        run = replace(run, path=None, start=None, end=None)
    left_out = write_run(run, options["output"], layout, index=index, lossy=whole)
    yield from (f"warning: {remark}" for remark in run.remarks)
    yield from left_out
    made = f"{counted(len(run), 'result')} for {counted(len(run.topics), 'topic')}"
    yield f"{options['output']}: {made}, {run.attributes['description']}"


def search_lines(path: str, query: str, options: dict[str, Any], *, as_json: bool) -> Iterator[str]:
    """Yield the results of one query, three lines each, or a JSON object."""
    from dataclasses import asdict  # noqa: PLC0415  help must not wait for it

    from focuseval.retrieval.retrieving import search  # noqa: PLC0415  as above

    with watched(_READING) as progress:
        jobs = _jobs(options.pop("jobs"))
        hits = search(_opened(path), query, jobs=jobs, progress=progress, **options)
    if query.lstrip().startswith("/") and options["cas"] is None:
        click.echo("note: the structure is ignored; --cas strict or --cas vague reads it", err=True)
    if not hits:
        click.echo("nothing found", err=True)
    marks = (_BOLD, _PLAIN) if sys.stdout.isatty() else ("*", "*")
    for number, hit in enumerate(hits, start=1):
        if as_json:
            yield json.dumps(asdict(hit), ensure_ascii=False)
            continue
        place = hit.path or f"{hit.start}–{hit.end}"
        yield f"{number}. {hit.document} {place}  {hit.score:.4f}"
        yield f"   {hit.marked(*marks)}"


def make_words(target: str, language: str, jobs: int | None, workers: Workers | None = None) -> str:
    """Read the words of an index, and return a sentence that says how many there are."""
    from focuseval.collection import open_index  # noqa: PLC0415  help must not wait for it
    from focuseval.retrieval.store import open_words  # noqa: PLC0415  as above

    with watched(_READING) as progress:
        words = open_words(open_index(target), language, _jobs(jobs), progress, workers)
    total, kept = len(words["start"]), len(words["word"])
    made = f"{counted(total, 'word')}, {kept:,} kept, {counted(len(words.terms), 'term')}"
    return f"{target}: {made}, language {language}"


def _opened(path: str) -> Index:
    """Open an index, or documents of any kind."""
    from focuseval.formats.embedded import open_documents  # noqa: PLC0415  help must not wait for it

    index: Index = open_documents(path)
    return index


def _jobs(jobs: int | None) -> int:
    from focuseval.engine.workers import cores  # noqa: PLC0415  help must not wait for it

    return jobs or cores()
