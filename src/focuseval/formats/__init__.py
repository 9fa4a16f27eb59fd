"""Runs and gold in every format that the field has used: read, written, told apart by content, converted.

``FORMATS`` is the list; a new format is one more value in it, with its own module for reading and writing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.errors import FormatError
from focuseval.formats import sniff
from focuseval.formats.format import Format, Kind
from focuseval.formats.output import write_whole
from focuseval.formats.source import open_source, open_sources

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from focuseval.formats.source import Source
    from focuseval.gold import Gold
    from focuseval.run import Run

__all__ = ["FORMATS", "Format", "detect", "find_format", "read_gold", "read_run", "write_gold", "write_run"]

_HERE = "focuseval.formats"
_ORDER = {"rank", "score"}

FORMATS: tuple[Format, ...] = (
    Format(
        "inex-xml", "run", "INEX runs in XML, 2002–2008: paths, FOL, XPointer passages", f"{_HERE}.inex_xml",
        sniff.inex_xml, frozenset({"element", "range", "passage", "span", "point", "unknown", "header", *_ORDER}),
        aliases=("xml",), suffixes=(".xml",),
    ),
    Format(
        "inex-text", "run", "INEX runs as text, 2009–2010: elements, ranges of elements, offsets", f"{_HERE}.inex_text",
        sniff.inex_text, frozenset({"element", "range", "span", "point", "unknown", *_ORDER}),
        aliases=("text",),
    ),
    Format(
        "inex-fol", "run", "INEX runs as text, offsets and lengths only", f"{_HERE}.inex_text",
        sniff.offsets, frozenset({"span", "point", "unknown", *_ORDER}),
        aliases=("fol",), suffixes=(".fol",),
    ),
    Format(
        "trec-run", "run", "TREC runs: whole documents", f"{_HERE}.trec_run",
        sniff.trec_run, frozenset({"document", *_ORDER}),
        aliases=("trec",), suffixes=(".trec",),
    ),
    Format(
        "run-jsonl", "run", "our runs as JSON lines: offsets, text or paths", f"{_HERE}.run_jsonl",
        sniff.run_jsonl,
        frozenset({"document", "element", "range", "passage", "span", "point", "unknown", "text", "chunk", *_ORDER}),
        aliases=("jsonl",), suffixes=(".jsonl", ".ndjson"),
    ),
    Format(
        "inex-2002", "gold", "INEX assessments 2002: relevance and coverage", f"{_HERE}.inex_2002",
        sniff.coverage, frozenset({"coverage", "attributes"}),
    ),
    Format(
        "inex-2003", "gold", "INEX assessments 2003–2004: exhaustiveness and specificity", f"{_HERE}.inex_2002",
        sniff.graded, frozenset({"grades", "attributes"}),
        aliases=("inex-2004",),
    ),
    Format(
        "inex-2005", "gold", "INEX assessments 2005–2007: XPointer passages, element sizes", f"{_HERE}.inex_2005",
        sniff.highlighted, frozenset({"pointers", "bep-path", "sizes", "attributes", "topic"}),
        aliases=("inex-2006", "inex-2007"), suffixes=(".xml",),
    ),
    Format(
        "inex-2008", "gold", "INEX assessments 2008–2010 as text: passages by offset", f"{_HERE}.inex_2008",
        sniff.passages, frozenset({"spans", "bep", "lengths"}),
        aliases=("inex-2009", "inex-2010"),
    ),
    Format(
        "trec-qrels", "gold", "TREC qrels: graded documents", f"{_HERE}.trec_qrels",
        sniff.qrels, frozenset({"relevance"}),
        aliases=("qrels", "trec"), suffixes=(".qrels",),
    ),
    Format(
        "gold-jsonl", "gold", "our gold as JSON lines: spans with quotes", f"{_HERE}.gold_jsonl",
        sniff.gold_jsonl, frozenset({"spans", "quotes", "bep", "lengths", "relevance", "queries"}),
        aliases=("jsonl",), suffixes=(".jsonl", ".ndjson"),
    ),
)  # fmt: skip
"""Every format, runs first; an alias may serve a run and a gold format."""


def find_format(name: str, kind: Kind | None = None) -> Format:
    """Return a format by its name or alias.

    >>> find_format("jsonl", "gold").name
    'gold-jsonl'
    """
    there = [f for f in FORMATS if kind in {None, f.kind}]
    for known in there:
        if name == known.name:
            return known
    for known in there:
        if name in known.aliases:
            return known
    raise FormatError(
        f"expected one of {', '.join(f.name for f in there)}, found {name!r}", remedy="see 'focuseval formats'"
    )


def detect(path: str | Path, kind: Kind | None = None) -> Format:
    """Return the format of a file, or of a folder of files, by its content."""
    return detect_source(open_sources(path)[0], kind)


def detect_source(source: Source, kind: Kind | None = None) -> Format:
    """Return the first format that a file's first bytes fit."""
    head = source.head()
    what = kind or "run or gold"
    if not head.strip():
        raise FormatError(f"expected a {what}, found an empty file", at=source.name)
    for known in FORMATS:
        if kind in {None, known.kind} and known.sniff(head):
            return known
    option = {None: "--to", "run": "--run-format", "gold": "--gold-format"}[kind]
    first = head.lstrip().split(b"\n")[0][:40].decode("utf-8", "replace").strip()
    raise FormatError(
        f"expected a {what} in a known format, found {first!r}",
        at=source.at(1),
        remedy=f"see 'focuseval formats'{'' if kind is None else f', or say which with {option}'}",
    )


def read_run(path: str | Path, format: str | None = None, index: Any = None) -> Run:  # noqa: A002  the field's word
    """Return the run in a file (``-``: standard input); an index resolves its paths to spans."""
    source = open_source(path)
    chosen = find_format(format, "run") if format else detect_source(source, "run")
    run: Run = chosen.read(source)
    return run if index is None else run.resolved(index)


def read_gold(path: str | Path, format: str | None = None, index: Any = None) -> Gold:  # noqa: A002  the field's word
    """Return the gold in a file, a folder of files, or standard input; an index resolves paths and checks quotes."""
    sources = open_sources(path)
    chosen = find_format(format, "gold") if format else _one_format(sources)
    gold: Gold = chosen.read(sources)
    return gold if index is None else gold.resolved(index)


def write_run(run: Run, path: str | Path, format: str) -> None:  # noqa: A002  the field's word
    """Write a run, whole or not at all."""
    write_whole(path, find_format(format, "run").write(run))


def write_gold(gold: Gold, path: str | Path, format: str) -> None:  # noqa: A002  the field's word
    """Write a gold, whole or not at all."""
    write_whole(path, find_format(format, "gold").write(gold))


def _one_format(sources: Sequence[Source]) -> Format:
    """Return the format that all files of a gold share."""
    formats = [detect_source(source, "gold") for source in sources]
    for source, other in zip(sources, formats, strict=True):
        if other != formats[0]:
            raise FormatError(
                f"expected one format in the folder, {formats[0].name}, found {other.name}", at=source.name
            )
    return formats[0]
