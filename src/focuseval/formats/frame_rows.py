"""Frames as runs and as gold: the rows of a table, in ranking order or grouped by topic and document."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.fields import NAMES, spelled
from focuseval.data.gold import UNKNOWN
from focuseval.data.run import Run
from focuseval.errors import FormatError, MissingDataError, Place
from focuseval.formats.byte_offsets import from_bytes, from_utf16
from focuseval.formats.frames import FRAME, NamedColumns, refuse_unnamed, renamed, to_table
from focuseval.formats.ranking import ranked, topic_codes
from focuseval.formats.row_judgements import gold_of, judgements_of, needs_documents
from focuseval.formats.row_results import results_of
from focuseval.formats.rows import Row
from focuseval.placing import place_run
from focuseval.placing.texts import as_collection, as_strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection
    from focuseval.data.gold import Gold
    from focuseval.formats.row_judgements import JudgedSpan

_UNITS = {"bytes": from_bytes, "utf-16": from_utf16}


def run_from_frame(
    frame: Any,
    *,
    run_id: str = "run",
    columns: Mapping[str, str] | None = None,
    unit: str = "code points",
    documents: Collection | Mapping[str, str] | None = None,
) -> Run:
    """Return the results in a frame, one a row (or a list of them for every question), as a run.

    Columns are found by the names in `focuseval.data.fields`. Ranked by rank, else by descending score, else as they
    stand. Where `documents` are given, texts are aligned with them (and an index resolves paths), and a text without a
    document is looked for in all of them; the run's remarks say what was found.

    >>> run = run_from_frame([{"topic": "q1", "doc": "a", "score": s, "start": 0, "end": 9} for s in (0.1, 0.7)])
    >>> run.score.tolist(), run.line.tolist()
    ([0.7, 0.1], [2, 1])
    """
    table = _named(frame, columns)
    collection = None if documents is None else as_collection(documents)
    said = NamedColumns(table) if _plain(table) else columns_of(_rows(table), FRAME)
    run = replace(columns_run(said, run_id, unit, collection), file=FRAME, sha256=_digest(table))
    return run if collection is None else place_run(run, collection)


def _named(frame: Any, columns: Mapping[str, str] | None) -> pa.Table:
    """Return a frame as a table in which the topics have a name that is known."""
    table = renamed(to_table(frame), columns)
    refuse_unnamed(table)
    return table


def _plain(table: pa.Table) -> bool:
    """Say whether every row of a frame is a result whose fields are columns; else rows are read one by one."""
    there = table.column_names
    named = bool(spelled(there, "doc")) or not len(there)
    lengths = spelled(there, "length") and not spelled(there, "end")
    return named and not (lengths or spelled(there, "results") or not spelled(there, "topic"))


def _rows(table: pa.Table) -> Iterator[Row]:
    return (Row(number, row) for number, row in enumerate(table.to_pylist(), 1))


def columns_of(rows: Iterable[Row], file: str) -> NamedColumns:
    """Return the results of rows as columns under our names; a question may have one list of results."""
    results, lines, asked = list[dict[str, Any]](), list[int | None](), dict[str, Place]()
    for row in rows:
        at = Place(file, row.line)
        found = results_of(row.values, at)
        if found and "doc" not in found[0] and row.values.keys() & set(NAMES["results"]):
            topic = found[0]["topic"]
            if topic in asked:
                what = f"expected one row for the question {topic!r}, found another at {asked[topic]}"
                raise FormatError(what, at=at, remedy="keep one, or give the questions ids of their own")
            asked[topic] = at
        results += found
        lines += [row.line] * len(found)
    table = pa.table({name: pa.array([one.get(name) for one in results], kind) for name, kind in _KINDS.items()})
    kept = table.select([name for name in _KINDS if name == "topic" or table[name].null_count < len(table)])
    return NamedColumns(kept, file, lines)


_KINDS = {
    **dict.fromkeys(("topic", "doc", "text", "path", "end_path", "run"), pa.string()),
    **dict.fromkeys(("start", "end", "rank", "chunk"), pa.int64()),
    "score": pa.float64(),
}


def columns_run(said: NamedColumns, run_id: str, unit: str = "code points", documents: Collection | None = None) -> Run:
    """Return columns as a run in ranking order; a result without a document has an empty id until it is placed."""
    topics, topic = topic_codes(pa.chunked_array([said.strings("topic")]))
    text = said.texts("text")
    kept: dict[str, Any] = {
        "topic": topic,
        "document": _documents(said, text, documents),
        "rank": said.numbers("rank", pa.int32()),
        "score": said.numbers("score", pa.float64()),
        "start": said.numbers("start", pa.int64(), UNKNOWN),
        "end": said.numbers("end", pa.int64(), UNKNOWN),
        "text": text,
        "path": said.texts("path"),
        "end_path": said.texts("end_path"),
        "chunk": said.numbers("chunk", pa.int64(), UNKNOWN),
        "line": said.lines,
    }
    _refuse_nan(kept["score"], said)
    for name in ("start", "end"):
        kept[name] = _in_code_points(said, kept["document"], kept[name], unit, documents)
    if kept["start"] is not None and kept["end"] is None:
        kept["end"] = np.full(len(topic), UNKNOWN, np.int64)
    _refuse_reversed(kept["start"], kept["end"], said)
    return Run(run_id, topics, **ranked(kept))


def _documents(said: NamedColumns, text: pa.Array | None, documents: Collection | None) -> pa.Array:
    """Return the document of every result; a text may come without one if there are documents to look for it in."""
    named = said.find("doc")
    if text is None or (named is not None and not named.null_count):
        return said.strings("doc")
    nameless = np.ones(len(text), np.bool_) if named is None else named.is_null().to_numpy()
    bare = np.flatnonzero(nameless & pc.is_null(text).to_numpy(zero_copy_only=False))
    if len(bare):
        raise FormatError("expected a doc or a text in every row, found neither", at=said.at(int(bare[0])))
    if documents is None and len(text):
        raise needs_documents(said.at(int(np.argmax(nameless))))
    names = said.texts("doc")
    return pa.array([""] * len(text), pa.string()) if names is None else names.fill_null("")


def gold_from_frame(
    frame: Any,
    *,
    columns: Mapping[str, str] | None = None,
    unit: str = "code points",
    documents: Collection | Mapping[str, str] | None = None,
) -> Gold:
    """Return the spans in a frame, one a row (or a list of them for every question), as gold.

    A row of a document without span and quote judges it not relevant. A quote without a document is looked for in all
    `documents`.

    >>> gold_from_frame([{"topic": "q1", "doc": "a", "start": 3, "end": 9}]).passages.end.tolist()
    [9]
    """
    table = _named(frame, columns)
    collection = None if documents is None else as_collection(documents)
    judged = [one for row in _rows(table) for one in judgements_of(row.values, Place(FRAME, row.line))]
    judged = _judged_in_code_points(judged, unit, collection)
    return replace(gold_of(judged, collection), file=FRAME, sha256=_digest(table))


def _judged_in_code_points(judged: list[JudgedSpan], unit: str, documents: Collection | None) -> list[JudgedSpan]:
    """Turn the declared unit of judgements into code points."""
    if unit == "code points":
        return judged
    said = NamedColumns(pa.table({}), FRAME, [one.at.line for one in judged])
    start, end = (np.array([getattr(one, name) for one in judged], np.int64) for name in ("start", "end"))
    names = pa.array([one.doc or "" for one in judged], pa.string())
    turned = [_in_code_points(said, names, column, unit, documents) for column in (start, end)]
    spans = zip(judged, *(column.tolist() for column in turned if column is not None), strict=True)
    return [one._replace(start=first, end=last) for one, first, last in spans]


def _in_code_points(
    said: NamedColumns, document: pa.Array, values: NDArray[np.int64] | None, unit: str, documents: Collection | None
) -> NDArray[np.int64] | None:
    """Turn one column of positions into code points; one that is inside a character is refused."""
    if unit == "code points" or values is None:
        return values
    if unit not in _UNITS:
        raise FormatError(f"expected a unit 'code points', 'bytes' or 'utf-16', found {unit!r}")
    if documents is None:
        raise MissingDataError(f"offsets in {unit} need the documents' text: give documents=")
    rows = documents.find(as_strings(document))
    turned = np.full(len(rows), UNKNOWN, np.int64)
    for row in np.unique(rows[rows >= 0]).tolist():
        mine = (rows == row) & (values >= 0)
        turned[mine] = _UNITS[unit](documents.text(row), values[mine])
    bad = np.flatnonzero((values >= 0) & (turned < 0))
    if len(bad):
        what = f"expected {unit} at which a character of a known document begins, found {values[bad[0]]}"
        raise FormatError(what, at=said.at(int(bad[0])))
    return turned


def _refuse_nan(score: NDArray[np.float64] | None, said: NamedColumns) -> None:
    """Raise at the first score that is no number: no ranking can be made of it."""
    if score is not None and not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score))[0])
        raise FormatError(f"expected a finite score, found {score[row]}", at=said.at(row))


def _refuse_reversed(start: NDArray[np.int64] | None, end: NDArray[np.int64] | None, said: NamedColumns) -> None:
    """Raise at the first span that ends before it begins."""
    if start is not None and end is not None and len(rows := np.flatnonzero((end >= 0) & (end < start))):
        row = int(rows[0])
        raise FormatError(f"expected start ≤ end, found {start[row]} … {end[row]}", at=said.at(row))


def _digest(table: pa.Table) -> str:
    """Return a hash of what a frame says, whatever library it came from."""
    content = json.dumps({name: table[name].to_pylist() for name in table.column_names}, default=str)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
