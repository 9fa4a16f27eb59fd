"""The formats there are, and how one is found: by name, or by the content of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.errors import FormatError, UsageError, did_you_mean
from focuseval.formats import sniff, sniff_rows
from focuseval.formats.format import Format, Kind
from focuseval.formats.source import open_sources
from focuseval.formats.span_formats import SPAN_GOLDS, SPAN_RUNS

if TYPE_CHECKING:
    from pathlib import Path

    from focuseval.formats.source import Source

_HERE = "focuseval.formats"
_PLACES = {"span", "point", "unknown", "rank", "score"}

FORMATS: tuple[Format, ...] = (
    Format(
        "inex-xml", "run", "INEX runs in XML, 2002–2008: paths, FOL, XPointer passages", f"{_HERE}.inex_xml",
        sniff.inex_xml, frozenset({*_PLACES, "document", "element", "range", "passage", "header"}),
        aliases=("xml",), suffixes=(".xml",),
    ),
    *SPAN_RUNS,
    Format(
        "run-rows", "run", "runs of RAG tools: JSON, JSON lines or CSV with the fields that people use",
        f"{_HERE}.run_rows", sniff_rows.run_rows, frozenset(), aliases=("ragas", "deepeval"), located=True,
    ),
    Format(
        "inex-text", "run", "INEX runs as text, 2009–2010: elements, ranges of elements, offsets", f"{_HERE}.inex_text",
        sniff.inex_text, frozenset({*_PLACES, "element", "range"}),
        aliases=("text",),
    ),
    Format(
        "inex-fol", "run", "INEX runs as text, offsets and lengths only", f"{_HERE}.inex_text",
        sniff.offsets, frozenset(_PLACES),
        aliases=("fol",), suffixes=(".fol",),
    ),
    Format(
        "trec-run", "run", "TREC runs: whole documents", f"{_HERE}.trec_run",
        sniff.trec_run, frozenset({"document", "rank", "score"}),
        aliases=("trec",), suffixes=(".trec",),
    ),
    Format(
        "run-jsonl", "run", "our runs as JSON lines: offsets, text or paths", f"{_HERE}.run_jsonl",
        sniff.run_jsonl,
        frozenset({*_PLACES, "document", "element", "range", "passage", "text", "chunk"}),
        aliases=("jsonl",), suffixes=(".jsonl", ".ndjson"),
    ),
    Format(
        "inex-2002", "gold", "INEX assessments 2002: relevance and coverage", f"{_HERE}.inex_2002",
        sniff.coverage, frozenset({"coverage", "tags", "attributes"}), by_topic=True,
    ),
    Format(
        "inex-2003", "gold", "INEX assessments 2003–2004: exhaustiveness and specificity", f"{_HERE}.inex_2002",
        sniff.graded, frozenset({"grades", "tags", "attributes"}),
        aliases=("inex-2004",), by_topic=True,
    ),
    Format(
        "inex-2005", "gold", "INEX assessments 2005–2007: XPointer passages, element sizes", f"{_HERE}.inex_2005",
        sniff.highlighted, frozenset({"pointers", "bep-path", "sizes", "tags", "attributes", "topic"}),
        aliases=("inex-2006", "inex-2007", "inex"), suffixes=(".xml",), by_topic=True,
    ),
    *SPAN_GOLDS,
    Format(
        "gold-rows", "gold", "gold of RAG tools, BEIR and MTEB: JSON, JSON lines, CSV, TSV", f"{_HERE}.gold_rows",
        sniff_rows.gold_rows, frozenset(), aliases=("ragas", "deepeval", "beir", "mteb"), located=True,
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
        sniff.gold_jsonl, frozenset({"spans", "quotes", "needs", "bep", "lengths", "relevance", "queries", "tags"}),
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
    names = [known.name for known in there]
    remedy = did_you_mean(name, names, "see 'focuseval formats'")
    raise UsageError(f"expected one of {', '.join(names)}, found {name!r}; {remedy}")


def detect(path: str | Path | Source, kind: Kind | None = None) -> Format:
    """Return the format of a file, or of a folder of files, by its content."""
    return detect_source(open_sources(path)[0], kind)


def detect_source(source: Source, kind: Kind | None = None) -> Format:
    """Return the first format that a file's first bytes fit."""
    head = source.head()
    what = kind or "run or gold"
    if not head.strip():
        raise FormatError(
            f"expected a {what}, found an empty file", at=source.name, remedy="was it written to the end?"
        )
    if known := sniffed(head, kind):
        return known
    other = next((known for known in FORMATS if known.kind != kind and known.sniff(head)), None)
    raise FormatError(
        f"expected a {what} in a known format, found "
        + (f"a {other.kind} ({other.name})" if other else _beginning(head)),
        at=source.at(1),
        remedy="name the gold first, then the runs" if other else _REMEDY[kind],
    )


def sniffed(head: bytes, kind: Kind | None = None) -> Format | None:
    """Return the first format that a file's first bytes fit, None where none does.

    >>> sniffed(b"301 Q0 FR940202-2-00150 1 2.7385 VSM", "run").name
    'trec-run'
    """
    return next((known for known in FORMATS if kind in {None, known.kind} and known.sniff(head)), None)


def _beginning(head: bytes) -> str:
    """Return what an unknown file looks like: the root element of XML, else its first characters."""
    if root := sniff.root(head):
        return f"XML with the root <{root.decode('utf-8', 'replace')[:40]}>"
    return repr(head.lstrip().split(b"\n")[0][:40].decode("utf-8", "replace").strip())


_REMEDY = {
    None: "see 'focuseval formats'; documents are indexed first, with 'focuseval index'",
    "run": "see 'focuseval formats', or say which with --run-format",
    "gold": "see 'focuseval formats', or say which with --gold-format",
}
