"""Runs as rows with the field names that people use: JSON lines, a JSON list, CSV or TSV with a header.

::

    {"query_id": "q1", "document_id": "a.md", "score": 0.83, "page_content": "…", "metadata": {"start_index": 120}}
    [{"user_input": "…?", "retrieved_contexts": ["…", "…"]}]                     RAGAS; before 0.2 ``contexts``
    [{"input": "…?", "retrieval_context": ["…", "…"]}]                           DeepEval
    qid,docid,rank,start,end
    {"q1": {"d7": 12.5, "d3": 11.0}}                                             scores by topic and document (BEIR)

A row is a result, or a question with the list of its results (texts, or objects with these fields), best first. Fields
are found by the names below; the first that is there counts, and two that disagree are refused. The topic is an id, of
a question also ``id`` or ``_id``, else the question itself. The document may be named inside ``metadata`` or ``meta``,
and a ``length`` stands for an end. Of a ``distance`` less is better. Pages and boxes are those of PDFs, see run-pages.

Written is what RAGAS reads: ``query_id``, ``user_input`` and ``retrieved_contexts``, the texts of the results. Other
fields are left out. Texts without a document are looked for in all documents of ``--docs``, word for word and
then in normal form; one that several documents hold is ambiguous, counted, and covers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.collection.index import Collection
from focuseval.data.fields import NAMES, disagree, json_line, missing, short, spelled, topic_of, value
from focuseval.data.gold import UNKNOWN
from focuseval.data.run import Run
from focuseval.errors import FormatError, MissingDataError, Place
from focuseval.formats.content import Source
from focuseval.formats.judgements import text_of
from focuseval.formats.paged import Paged
from focuseval.formats.ranking import DISTANCES, ranked, topic_codes
from focuseval.formats.rows import Row, as_list, result_of, rows_of
from focuseval.placing.normalise import from_bytes, from_utf16
from focuseval.placing.texts import as_strings

ROW_FIELDS = (
    *("topic", "query", "doc", "text", "start", "end", "length", "rank", "score", "distance", "chunk", "page", "bbox"),
    *("path", "end_path", "run", "results"),
)
"""What a row may say, for the format's documentation."""
FRAME = "<frame>"
WHICH_COLUMN = "say which with columns={{'{}': …}}"
_UNITS = {"bytes": from_bytes, "utf-16": from_utf16}
_KINDS = {
    **dict.fromkeys(("topic", "doc", "text", "path", "end_path", "run"), pa.string()),
    **dict.fromkeys(("start", "end", "rank", "chunk"), pa.int64()),
    **dict.fromkeys(("score", "distance"), pa.float64()),
}


def read(source: Source, documents: Collection | None = None) -> Run:
    """Return the run in ranking order."""
    paged = Paged(rows_of(source), documents, source.name, gold=False)
    table = columns_of(paged.rows, source.name)
    names = table.find("run")
    named = [] if names is None else names.drop_null().unique().to_pylist()
    if len(named) > 1:
        raise FormatError(f"expected one run in the file, {named[0]!r}, found {named[1]!r}", at=source.name)
    run = columns_run(table, named[0] if named else source.stem, documents=documents)
    return replace(run, file=source.name, sha256=source.digest(), remarks=(*run.remarks, *paged.remarks))


def write(run: Run, documents: Collection | None = None) -> Iterator[bytes]:
    """Yield a line for every question with the texts of its results, best first; spans need the documents."""
    ids, texts = run.document.to_pylist(), [None] * len(run) if run.text is None else run.text.to_pylist()
    for code, topic in enumerate(run.topics):
        found = []
        for row in range(*run.bounds[code : code + 2].tolist()):
            start = -1 if run.start is None else int(run.start[row])
            end = None if run.end is None or run.end[row] < 0 else int(run.end[row])
            text = texts[row]
            found.append(text or text_of(documents, ids[row], topic, run.at(row))[max(start, 0) : end])
        asked = {"query_id": topic, "user_input": run.queries.get(topic, topic)}
        yield json_line({**asked, "retrieved_contexts": found})


def results_of(row: Mapping[str, Any], at: Place) -> list[dict[str, Any]]:
    """Return the results of a row: itself, or those of the list that it holds for one question, best first.

    >>> from focuseval.errors import Place
    >>> results_of({"user_input": "Why?", "retrieved_contexts": ["So.", "Thus."]}, Place("ragas.jsonl", 1))[1]
    {'text': 'Thus.', 'topic': 'Why?', 'rank': 2}
    """
    listed = value(row, "results", at)
    question = listed is not None or bool(row.keys() & set(NAMES["results"]))
    topic = topic_of(row, at, question=question)
    if not question:
        result = result_of(row, at)
        if "doc" not in result and "text" not in result:
            raise missing("doc", row, at)
        return [{**result, "topic": topic}]
    results = list[dict[str, Any]]()
    for rank, item in enumerate([] if listed is None else as_list(listed, "results", at, row), 1):
        if not isinstance(item, Mapping | str):
            raise FormatError(f"expected a text or an object as a result, found {short(item)}", at=at)
        if isinstance(item, Mapping) and isinstance(node := item.get("node"), Mapping):  # LlamaIndex
            item = {**node, **item}  # noqa: PLW2901  its text and metadata are one level below its score
        result = {"text": item} if isinstance(item, str) else result_of(item, at)
        results.append({**result, "topic": topic, "rank": rank})
    return results


def columns_of(rows: Iterable[Row], file: str) -> NamedColumns:
    """Return the results of rows as columns under our names; a question may have one list of results."""
    results, lines, questions = list[dict[str, Any]](), list[int | None](), dict[str, Place]()
    for row in rows:
        at = Place(file, row.line)
        some = results_of(row.values, at)
        if some and row.values.keys() & set(NAMES["results"]):
            topic = some[0]["topic"]
            if topic in questions:
                what = f"expected one row for the question {topic!r}, found another at {questions[topic]}"
                raise FormatError(what, at=at, remedy="keep one, or give the questions ids of their own")
            questions[topic] = at
        results += some
        lines += [row.line] * len(some)
    return NamedColumns(said_columns(result_table(results)), file, lines)


def result_table(results: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return results as a table with all columns that a result can have."""
    return pa.table({name: pa.array([one.get(name) for one in results], kind) for name, kind in _KINDS.items()})


def said_columns(table: pa.Table) -> pa.Table:
    """Return a table without the columns that no result says."""
    least = {"topic": len(table) + 1, "doc": max(len(table), 1)}
    return table.select([n for n in table.column_names if table[n].null_count < least.get(n, len(table))])


def columns_run(
    table: NamedColumns, run_id: str, unit: str = "code points", documents: Collection | None = None
) -> Run:
    """Return columns as a run in ranking order; a result without a document has an empty id until it is placed.

    A text may come without a document only where there are documents to look for it in.
    """
    topics, topic = topic_codes(pa.chunked_array([table.strings("topic")]))
    text, named = table.texts("text"), table.find("doc")
    if text is None or (named is not None and not named.null_count):
        document = table.strings("doc")
    else:
        nameless = np.ones(len(text), np.bool_) if named is None else named.is_null().to_numpy()
        bare = np.flatnonzero(nameless & pc.is_null(text).to_numpy(zero_copy_only=False))
        if len(bare):
            raise FormatError("expected a doc or a text in every row, found neither", at=table.at(int(bare[0])))
        if documents is None and len(text):
            raise needs_documents(table.at(int(np.argmax(nameless))))
        names = table.texts("doc")
        document = pa.array([""] * len(text), pa.string()) if names is None else names.fill_null("")
    score = table.numbers("score", pa.float64())
    if distances := score is None and (distance := table.numbers("distance", pa.float64())) is not None:
        score = -distance
    if score is not None and len(rows := np.flatnonzero(~np.isfinite(score))):
        raise FormatError(f"expected a finite score, found {score[rows[0]]}", at=table.at(int(rows[0])))
    start, end = (
        in_code_points(table.at, document, table.numbers(name, pa.int64(), UNKNOWN), unit, documents)
        for name in ("start", "end")
    )
    if start is not None and end is None:
        end = np.full(len(topic), UNKNOWN, np.int64)
    if start is not None and end is not None and len(rows := np.flatnonzero((end >= 0) & (end < start))):
        row = int(rows[0])
        raise FormatError(f"expected start ≤ end, found {start[row]} … {end[row]}", at=table.at(row))
    rank = table.numbers("rank", pa.int32())
    columns = {"topic": topic, "document": document, "rank": rank, "score": score, "start": start, "end": end}
    columns |= {"text": text, **{name: table.texts(name) for name in ("path", "end_path")}}
    columns |= {"chunk": table.numbers("chunk", pa.int64(), UNKNOWN), "line": table.lines}
    return Run(run_id, topics, **ranked(columns), attributes={DISTANCES: "yes"} if distances else {})


def needs_documents(at: Place) -> MissingDataError:
    """Return the refusal of a text without a document where no documents are given."""
    return MissingDataError(f"{at}: texts without a document are looked for in all of them; give docs= or index=")


def in_code_points(
    at: Callable[[int], Place],
    document: pa.Array,
    values: NDArray[np.int64] | None,
    unit: str,
    documents: Collection | None,
) -> NDArray[np.int64] | None:
    """Turn one column of positions into code points; one that is inside a character is refused."""
    if unit == "code points" or values is None:
        return values
    if unit not in _UNITS:
        raise FormatError(f"expected a unit 'code points', 'bytes' or 'utf-16', found {unit!r}")
    if documents is None:
        raise MissingDataError(f"offsets in {unit} need the documents' text: give documents=")
    rows = np.where(values >= 0, documents.find(as_strings(document)), UNKNOWN)
    turned, order = np.full(len(rows), UNKNOWN, np.int64), np.argsort(rows, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(rows[order])) + 1):
        if len(mine) and rows[mine[0]] >= 0:
            turned[mine] = _UNITS[unit](documents.text(int(rows[mine[0]])), values[mine])
    bad = np.flatnonzero((values >= 0) & (turned < 0))
    if len(bad):
        row, more = int(bad[0]), f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        what = f"expected {unit} at which a character of a known document begins"
        what = f"{what}, found {values[row]} in {document[row].as_py()!r}{more}"
        raise FormatError(what, at=at(row), remedy=f"offsets count {unit} of the document's text")
    return turned


class NamedColumns:
    """The columns of a table by their meaning, and where its rows stand: in which file, and on which lines."""

    def __init__(self, table: pa.Table, file: str = FRAME, lines: Sequence[int | None] | None = None) -> None:
        self.table, self.file, self._lines = table, file, lines

    def at(self, row: int) -> Place:
        """Return where a row stands."""
        return Place(self.file, row + 1 if self._lines is None else self._lines[row])

    @property
    def lines(self) -> NDArray[np.int64]:
        """The line of every row, its number where that is not known."""
        lines = self._lines or [None] * len(self.table)
        return np.array([line or row for row, line in enumerate(lines, 1)], np.int64)

    def find(self, name: str) -> pa.ChunkedArray | None:
        """Return the column that is meant by a name, None when there is none; two that differ are refused.

        A column called "chunk" is a number or a text.
        """
        fitting = self.table.column_names
        if "chunk" in fitting and name in {"chunk", "text", "quote"}:
            kind = self.table["chunk"].type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
            fitting = [other for other in fitting if other != "chunk" or is_text == (name != "chunk")]
        names = spelled(fitting, name)
        for other in names[1:]:
            one, two = (self.table[column].cast(pa.string()).to_pylist() for column in (names[0], other))
            row = next((row for row, pair in enumerate(zip(one, two, strict=True)) if pair[0] != pair[1]), None)
            if row is not None:
                raise disagree(names[0], one[row], other, two[row], self.at(row))
        return self.table[names[0]] if names else None

    def strings(self, name: str) -> pa.Array:
        """Return a column of names that must all be there; numbers are written as they look."""
        values = self.find(name)
        if values is None:
            raise missing(name, self.table.column_names, Place(FRAME), remedy=WHICH_COLUMN.format(name))
        if values.null_count:
            what = f"expected a {'document' if name == 'doc' else name} in every row, found none"
            raise FormatError(what, at=self.at(values.is_null().to_pylist().index(True)))
        return self._cast(values, pa.string(), name)

    def texts(self, name: str) -> pa.Array | None:
        """Return a column of texts, which may be missing."""
        values = self.find(name)
        return None if values is None else self._cast(values, pa.string(), name)

    def numbers(self, name: str, kind: pa.DataType, missing: float | None = None) -> NDArray[Any] | None:
        """Return a column of numbers; what is missing becomes `missing`, or is refused where that is None."""
        values = self.find(name)
        if values is None:
            return None
        cast = self._cast(values, kind, name)
        if cast.null_count and missing is None:
            what = f"expected a {name} in every row or in none, found none"
            raise FormatError(what, at=self.at(cast.is_null().to_pylist().index(True)))
        filled = cast if missing is None else cast.fill_null(missing)
        return np.asarray(filled.to_numpy(zero_copy_only=False))

    def _cast(self, values: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.Array:
        """Return one array of the wanted type; a float column that holds whole numbers and NaN is one of integers."""
        whole = values.combine_chunks()
        try:
            if pa.types.is_floating(whole.type) and not pa.types.is_floating(kind):
                whole = pa.array(whole.to_numpy(zero_copy_only=False), from_pandas=True).cast(pa.int64())
            return whole.cast(kind)
        except pa.ArrowException as error:
            what = f"expected {kind} in column {name!r}, found {whole.type}: {str(error).splitlines()[0]}"
            raise FormatError(what, at=FRAME) from error
