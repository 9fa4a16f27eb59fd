"""The formats there are, and how one is found: by name, or by the content of a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

from focuseval.data.fields import NAMES
from focuseval.data.run import Run
from focuseval.engine.plugins import offered, plugin
from focuseval.errors import FormatError, UsageError, did_you_mean
from focuseval.formats import detection as detect_by
from focuseval.formats.content import Source, open_sources
from focuseval.formats.ranking import RankingOrder, in_order

Kind = Literal["run", "gold"]
Faults = Literal["refuse", "keep"]


@dataclass(frozen=True)
class Format:
    """A file format; its module holds the reader, the writer and, as docstring, the documentation with a sample.

    A run's reader takes one `Source`, a gold's a sequence of them (a folder is one gold); ``write`` yields bytes.
    """

    name: str
    kind: Kind
    summary: str
    module: str
    """The module of `focuseval.formats`, imported when the format is first used; of another package its whole name."""
    sniff: Callable[[bytes], object]  # whether the first bytes of a file look like this format
    says: frozenset[str] = frozenset()  # what the format can say: see `focuseval.formats.convert`
    aliases: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()  # file name endings that choose this format for output
    by_topic: bool = False  # whether the campaign kept a file for every topic
    located: bool = False
    """Whether reader and writer take the documents too, to understand or to write other offsets than ours."""
    folder: bool = False  # whether the writer returns the files of a folder, by name
    several: bool = False  # whether several files may be one run, which is then what its reader takes
    function: str = "read"
    """The name of the reader, where a module has several; the writer's name begins with ``write`` in its place."""
    origin: str = ""  # the package that adds it, with its version; set where it was found by its entry point

    def find(self, name: str) -> Any:
        """Return what the module has under a name, None where it has nothing."""
        return getattr(import_module(self.module if self.origin else f"focuseval.formats.{self.module}"), name, None)

    def reader(
        self, documents: Any, faults: Faults = "refuse", order: RankingOrder | None = None, *, part: bool = False
    ) -> Callable[..., Any]:
        """Return the reader, given the documents (or None) where it takes them.

        With ``faults="keep"`` a run keeps its faults, for a caller that lists them; else they are errors. A run is
        ranked in `order`; see `focuseval.formats.ranking.in_order`, which looks at whole runs, not at a `part` of one.
        """
        read: Callable[..., Any] = self.find(self.function)
        read = partial(read, documents=documents) if self.located else read

        def read_ranked(source: Source, **more: Any) -> Run:
            run: Run = read(source, **more)
            if run.faults and faults == "refuse":
                raise run.faults[0]
            return run if part else in_order(run, order)

        chosen = read if self.kind == "gold" else read_ranked
        return chosen if not self.origin else lambda *sources: replace(chosen(*sources), origin=self.origin)

    def writer(self, documents: Any) -> Callable[..., Any]:
        """Return the writer in the same way; a format that can only be read is refused."""
        write: Callable[..., Any] | None = self.find(self.function.replace("read", "write"))
        if write is None:
            raise FormatError(f"{self.name} can be read, not written", remedy="choose another format, such as JSONL")
        return partial(write, documents=documents) if self.located else write

    @property
    def read(self) -> Callable[..., Any]:
        """The reader without documents."""
        return self.reader(None)

    @property
    def write(self) -> Callable[..., Any]:
        """The writer without documents."""
        return self.writer(None)

    @property
    def documentation(self) -> str:
        """The module's docstring: what the format is, with a sample; and the names of fields that rows may have."""
        rows = [f"{name:10}  {' '.join(NAMES[name])}" for name in self.find("ROW_FIELDS") or ()]
        lines = [fill(row, 112, initial_indent="    ", subsequent_indent=" " * 16) for row in rows]
        named = "\n".join(["\nThe fields, and their names::\n", *lines, ""]) if lines else ""
        return (self.find("__doc__") or self.summary) + named


_PLACES = {"span", "point", "unknown", "rank", "score"}
_GOLD = frozenset({"spans", "queries"})
_RUN_TABLE = frozenset({*_PLACES, "document", "element", "range", "passage", "text", "chunk"})
_GOLD_TABLE = _GOLD | {"quotes", "needs", "relevance", "tags", "groups"}

FORMATS: tuple[Format, ...] = (
    Format("inex-xml", "run", "INEX runs in XML, 2002–2008: paths, FOL, XPointer passages", "inex_xml",
        lambda head: detect_by.root(head) == b"inex-submission",
        frozenset({*_PLACES, "document", "element", "range", "passage", "header"}),
        aliases=("xml",), suffixes=(".xml",)),
    Format("trec-genomics-run", "run", "TREC Genomics runs: passages by byte offset; needs the documents", "genomics",
        detect_by.genomics_run, frozenset({"span", "rank", "score"}), located=True, function="read_run"),
    Format("trec-rag-run", "run", "TREC RAG runs: segments of documents, which --docs gives", "trec_rag",
        lambda head: detect_by.segments(head, 6), aliases=("trec-rag",), located=True, function="read_run"),
    Format("traces", "run", "traces of production: OpenTelemetry, OpenInference, MLflow, Langfuse; files or folders",
        "traces", detect_by.traces,
        aliases=("otlp", "openinference", "mlflow", "langfuse"), located=True, several=True),
    Format("answers", "run", "answers with citations: TREC RAG, ALCE, model APIs, Markdown, JSON lines", "answers",
        detect_by.answers, aliases=("alce", "citations"), located=True),
    Format("run-pages", "run", "runs by page and box of PDFs, as JSON lines; read as run-rows, needs the PDFs", "pages",
        lambda _: False, frozenset({"span", "rank", "score"}), aliases=("pages", "boxes"), located=True,
        function="read_run"),
    Format("run-rows", "run",
        "runs of RAG tools: JSON, JSON lines or CSV with fields that people use; written for RAGAS",
        "run_rows", detect_by.run_rows, frozenset({"document", "span", "text", "rank"}),
        aliases=("ragas", "deepeval"), located=True),
    Format("inex-text", "run", "INEX runs as text, 2009–2010: elements, ranges of elements, offsets", "inex_text",
        lambda head: detect_by.columns(head, 7, 8), frozenset({*_PLACES, "element", "range"}), aliases=("text",)),
    Format("inex-fol", "run", "INEX runs as text, offsets and lengths only", "inex_text",
        detect_by.offsets, frozenset(_PLACES), aliases=("fol",), suffixes=(".fol",)),
    Format("trec-run", "run", "TREC runs: whole documents", "trec", lambda head: detect_by.columns(head, 6),
        frozenset({"document", "rank", "score"}), aliases=("trec",), suffixes=(".trec",), function="read_run"),
    Format("ir-metadata", "run", "TREC runs that say in comments at their head how they were made", "trec",
        lambda _: False, frozenset({"document", "rank", "score"}), function="read_annotated_run"),
    Format("run-jsonl", "run", "our runs as JSON lines: offsets, text or paths", "run_jsonl",
        detect_by.run_jsonl, _RUN_TABLE, aliases=("jsonl",), suffixes=(".jsonl", ".ndjson")),
    Format("run-parquet", "run", "runs as a table in Parquet", "tables", lambda _: False, _RUN_TABLE,
        aliases=("parquet",), suffixes=(".parquet",), located=True, function="read_run_parquet"),
    Format("run-csv", "run", "runs as CSV, which Excel opens", "tables", lambda _: False, _RUN_TABLE,
        aliases=("csv",), suffixes=(".csv",), located=True, function="read_run_csv"),
    Format("inex-2002", "gold", "INEX assessments 2002: relevance and coverage", "inex_assessments",
        lambda head: detect_by.assessments(head) == "coverage",
        frozenset({"coverage", "tags", "groups", "attributes"}), by_topic=True, function="read_grades"),
    Format("inex-2003", "gold", "INEX assessments 2003–2004: exhaustiveness and specificity", "inex_assessments",
        lambda head: detect_by.assessments(head) == "grades", frozenset({"grades", "tags", "groups", "attributes"}),
        aliases=("inex-2004",), by_topic=True, function="read_grades"),
    Format("inex-2005", "gold", "INEX assessments 2005–2007: XPointer passages, element sizes", "inex_assessments",
        lambda head: detect_by.assessments(head) == "highlights",
        frozenset({"pointers", "bep-path", "sizes", "tags", "groups", "attributes", "topic"}),
        aliases=("inex-2006", "inex-2007", "inex"), suffixes=(".xml",), by_topic=True, function="read_highlights"),
    Format("legalbench-rag", "gold", "LegalBench-RAG: snippets of files, in JSON", "legalbench",
        detect_by.legalbench, _GOLD | {"tags"}, aliases=("legalbench", "legalbenchrag")),
    Format("chunking-evaluation", "gold", "chunking_evaluation: references with quotes, in CSV", "chroma",
        detect_by.chroma, _GOLD | {"quotes"}, aliases=("chroma",), suffixes=(".csv",), located=True),
    Format("squad", "gold", "the SQuAD family: answers in paragraphs; contains its documents", "squad",
        detect_by.squad, _GOLD | {"quotes"}, aliases=("xquad", "squad2"), located=True),
    Format("qasper", "gold", "Qasper: evidence as text in papers; contains its documents", "qasper", detect_by.qasper),
    Format("qasper-highlighted", "gold", "Qasper, read for the highlighted sentences; by name only", "qasper",
        lambda _: False, function="read_highlighted"),
    Format("natural-questions", "gold", "Natural Questions: long answers by byte; contains its pages",
        "natural_questions", detect_by.natural_questions, aliases=("nq",), located=True),
    Format("kilt", "gold", "KILT: provenance by paragraph and character; needs the pages", "kilt",
        detect_by.kilt, located=True),
    Format("trec-genomics", "gold", "TREC Genomics gold: passages by byte offset; needs the documents", "genomics",
        detect_by.genomics, aliases=("genomics",), located=True),
    Format("trec-rag", "gold", "TREC RAG gold: graded segments of documents, which --docs gives", "trec_rag",
        lambda head: detect_by.segments(head, 4), located=True),
    Format("pdf", "gold", "highlight annotations in PDFs, which --docs gives; written into copies", "pdf_highlights",
        lambda head: head.startswith(b"%PDF-"), _GOLD, aliases=("highlights",), suffixes=(".pdf",), located=True),
    Format("gold-pages", "gold", "gold by page and box of PDFs, as JSON lines; read as gold-rows, needs the PDFs",
        "pages", lambda _: False, _GOLD | {"quotes", "needs", "tags", "groups"},
        aliases=("pages", "boxes"), located=True, function="read_gold"),
    Format("gold-rows", "gold", "gold of RAG tools, BEIR and MTEB: JSON, JSON lines, CSV, TSV; written for RAGAS",
        "gold_rows", detect_by.gold_rows, _GOLD | {"quotes"}, aliases=("ragas", "deepeval"), located=True),
    Format("beir", "gold", "BEIR and MTEB: a folder of corpus, queries and qrels; writing needs the documents", "beir",
        lambda _: False, frozenset({"relevance", "queries"}), aliases=("mteb",), located=True, folder=True),
    Format("inex-2008", "gold", "INEX assessments 2008–2010 as text: passages by offset", "inex_2008",
        detect_by.passages, frozenset({"spans", "bep", "lengths"}), aliases=("inex-2009", "inex-2010")),
    Format("trec-qrels", "gold", "TREC qrels: graded documents", "trec", lambda head: detect_by.columns(head, 4),
        frozenset({"relevance"}), aliases=("qrels", "trec"), suffixes=(".qrels",), function="read_qrels"),
    Format("gold-jsonl", "gold", "our gold as JSON lines: spans with quotes", "gold_jsonl",
        detect_by.gold_jsonl, _GOLD | {"quotes", "needs", "bep", "lengths", "relevance", "tags", "groups"},
        aliases=("jsonl",), suffixes=(".jsonl", ".ndjson")),
    Format("gold-parquet", "gold", "gold as a table in Parquet", "tables", lambda _: False, _GOLD_TABLE,
        aliases=("parquet",), suffixes=(".parquet",), located=True, function="read_gold_parquet"),
    Format("gold-csv", "gold", "gold as CSV, which Excel opens", "tables", lambda _: False, _GOLD_TABLE,
        aliases=("csv",), located=True, function="read_gold_csv"),
)  # fmt: skip
"""Every format, runs first, in the order in which they are tried on a file: those of RAG collections before INEX and
TREC, whose columns are as many. An alias may serve a run and a gold format; what says nothing can only be read."""


def find_format(name: str, kind: Kind | None = None) -> Format:
    """Return a format by its name or alias.

    >>> find_format("jsonl", "gold").name
    'gold-jsonl'
    """
    candidates = [known for known in FORMATS if kind in {None, known.kind}]
    found = [known for known in candidates if name == known.name]
    found += [known for known in candidates if name in known.aliases]
    if found:
        return found[0]
    if (added := _added(name)) and kind in {None, added.kind}:
        return added
    names = [known.name for known in candidates]
    remedy = did_you_mean(name, names, "see 'focuseval formats'")
    raise UsageError(f"expected one of {', '.join(names)}, found {name!r}; {remedy}")


def _added(name: str) -> Format | None:
    """Return the format that another package adds under a name."""
    found = plugin("formats", name, Format)
    return None if found is None else replace(found.value, origin=found.origin)


def detect(path: str | Path | Source, kind: Kind | None = None) -> Format:
    """Return the format of a file, or of a folder of files, by its content."""
    return detect_source(open_sources(path)[0], kind)


def detect_source(source: Source, kind: Kind | None = None) -> Format:
    """Return the first format that a file's first bytes fit."""
    head = source.head()
    expected = f"expected a {kind or 'run or gold'}"
    if not head.strip() and not source.data.strip():
        raise FormatError(f"{expected}, found an empty file", at=source.name, remedy="was it written to the end?")
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"} and not detect_by.root(head):
        raise FormatError(f"{expected}, found UTF-16", at=source.name, remedy="save it as UTF-8")
    if known := sniffed(head, kind):
        return known
    added = [one for name in offered("formats") if (one := _added(name)) and kind in {None, one.kind}]
    if known := next((one for one in added if one.sniff(head)), None):
        return known
    other = next((known for known in FORMATS if known.kind != kind and known.sniff(head)), None)
    if other:
        found = f"a {other.kind} ({other.name})"
    elif root := detect_by.root(head):
        found = f"XML with the root <{root.decode('utf-8', 'replace')[:40]}>"
    elif keys := detect_by.first_keys(head):
        found = detect_by.rows_found(keys, kind)
    else:
        found = repr(head.lstrip().split(b"\n")[0][:40].decode("utf-8", "replace").strip())
    by_name = f", or name the {kind}'s format" if kind else "; documents are indexed first, with 'focuseval index'"
    swapped = "name the gold first, then the runs" if kind == "gold" else f"give a {kind} here"
    remedy = swapped if other else f"see 'focuseval formats'{by_name}"
    raise FormatError(f"{expected} in a known format, found {found}", at=source.at(1), remedy=remedy)


def sniffed(head: bytes, kind: Kind | None = None) -> Format | None:
    """Return the first format that a file's first bytes fit, None where none does.

    >>> sniffed(b"301 Q0 FR940202-2-00150 1 2.7385 VSM", "run").name
    'trec-run'
    """
    kind = "gold" if kind is None and detect_by.rather_gold(head) else kind
    return next((known for known in FORMATS if kind in {None, known.kind} and known.sniff(head)), None)
