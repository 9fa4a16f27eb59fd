"""Frames as runs and as gold: the rows of a table, in ranking order or grouped by topic and document."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.errors import FormatError, MissingDataError, Place
from focuseval.formats.byte_offsets import from_bytes, from_utf16
from focuseval.formats.frames import FRAME, column, numbers, strings, texts, to_table
from focuseval.formats.judgements import Judgements
from focuseval.formats.ranking import ranked, topic_codes
from focuseval.formats.span_gold import Span, SpanGold
from focuseval.gold import UNKNOWN
from focuseval.place import place_run
from focuseval.place.texts import as_collection, as_strings
from focuseval.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.collection import Collection
    from focuseval.gold import Gold

_UNITS = {"bytes": from_bytes, "utf-16": from_utf16}


def run_from_frame(
    frame: Any,
    *,
    run_id: str = "run",
    columns: Mapping[str, str] | None = None,
    unit: str = "code points",
    documents: Collection | Mapping[str, str] | None = None,
) -> Run:
    """Return the results in a frame, one a row, as a run; see `focuseval.formats.frames` for the columns.

    Ranked by rank, else by descending score, else as they stand. Where `documents` are given, texts are aligned with
    them (and an index resolves paths); the run's remarks say what was found.

    >>> run = run_from_frame([{"topic": "q1", "doc": "a", "score": s, "start": 0, "end": 9} for s in (0.1, 0.7)])
    >>> run.score.tolist(), run.line.tolist()
    ([0.7, 0.1], [2, 1])
    """
    table = to_table(frame)
    topics, topic = topic_codes(pa.chunked_array([strings(column(table, "topic", columns, needed=True), "topic")]))
    kept: dict[str, Any] = {
        "topic": topic,
        "document": strings(column(table, "doc", columns, needed=True), "document"),
        "rank": numbers(column(table, "rank", columns), "rank", pa.int32()),
        "score": numbers(column(table, "score", columns), "score", pa.float64()),
        "start": numbers(column(table, "start", columns), "start", pa.int64(), UNKNOWN),
        "end": numbers(column(table, "end", columns), "end", pa.int64(), UNKNOWN),
        "text": texts(column(table, "text", columns), "text"),
        "path": texts(column(table, "path", columns), "path"),
        "end_path": texts(column(table, "end_path", columns), "end_path"),
        "chunk": numbers(column(table, "chunk", columns), "chunk", pa.int64(), UNKNOWN),
        "line": np.arange(1, len(topic) + 1),
    }
    _refuse_nan(kept["score"])
    kept["start"], kept["end"] = _in_code_points(kept["document"], kept["start"], kept["end"], unit, documents)
    if kept["start"] is not None and kept["end"] is None:
        kept["end"] = np.full(len(topic), UNKNOWN, np.int64)
    run = Run(run_id, topics, **ranked(kept), file=FRAME, sha256=_digest(table))
    return run if documents is None else place_run(run, as_collection(documents))


def gold_from_frame(
    frame: Any,
    *,
    columns: Mapping[str, str] | None = None,
    unit: str = "code points",
    documents: Collection | Mapping[str, str] | None = None,
) -> Gold:
    """Return the spans in a frame, one a row, as gold; a row without span and quote judges its document not relevant.

    >>> gold_from_frame([{"topic": "q1", "doc": "a", "start": 3, "end": 9}]).passages.end.tolist()
    [9]
    """
    table = to_table(frame)
    topic = strings(column(table, "topic", columns, needed=True), "topic").to_pylist()
    document = strings(column(table, "doc", columns, needed=True), "document")
    start = numbers(column(table, "start", columns), "start", pa.int64(), UNKNOWN)
    end = numbers(column(table, "end", columns), "end", pa.int64(), UNKNOWN)
    start, end = _in_code_points(document, start, end, unit, documents)
    quote, query, need = (texts(column(table, name, columns), name) for name in ("quote", "query", "need"))
    unknown = [UNKNOWN] * len(topic)
    rows = zip(
        topic,
        as_strings(query) if query is not None else [""] * len(topic),
        document.to_pylist(),
        unknown if start is None else start.tolist(),
        unknown if end is None else end.tolist(),
        *([None] * len(topic) if said is None else said.to_pylist() for said in (quote, need)),
        strict=True,
    )
    return replace(_judged(list(rows)), file=FRAME, sha256=_digest(table))


def _judged(rows: Sequence[tuple[str, str, str, int, int, str | None, str | None]]) -> Gold:
    """Gather rows by topic and document, each pair at its first row."""
    pairs: dict[tuple[str, str], tuple[str, int, list[Span]]] = {}
    for number, (topic, query, document, start, end, quote, need) in enumerate(rows, 1):
        _, _, spans = pairs.setdefault((topic, document), (query, number, []))
        if start >= 0 or end >= 0 or quote:
            spans.append(Span(document, start, end, quote, need))
    gold = SpanGold(Judgements())
    for (topic, document), (query, number, spans) in pairs.items():
        name = topic if topic in gold.rows.queries else gold.topic(topic, query)
        gold.add(name, spans, Place(FRAME, number), 0, [document])
    return gold.gold(())


def _in_code_points(
    document: pa.Array,
    start: NDArray[np.int64] | None,
    end: NDArray[np.int64] | None,
    unit: str,
    documents: Collection | Mapping[str, str] | None,
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """Turn the declared unit into code points."""
    if unit == "code points" or start is None:
        return start, end
    if unit not in _UNITS:
        raise FormatError(f"expected a unit 'code points', 'bytes' or 'utf-16', found {unit!r}")
    if documents is None:
        raise MissingDataError(f"offsets in {unit} need the documents' text: give documents=")
    source = as_collection(documents)
    rows = source.find(as_strings(document))
    return (
        _turned(source, rows, start, unit),
        None if end is None else _turned(source, rows, end, unit),
    )


def _turned(source: Collection, rows: NDArray[np.int32], values: NDArray[np.int64], unit: str) -> NDArray[np.int64]:
    """Turn one column of positions into code points; one that is inside a character is refused."""
    turned = np.full(len(rows), UNKNOWN, np.int64)
    for row in np.unique(rows[rows >= 0]).tolist():
        mine = (rows == row) & (values >= 0)
        turned[mine] = _UNITS[unit](source.text(row), values[mine])
    bad = np.flatnonzero((values >= 0) & (turned < 0))
    if len(bad):
        what = f"expected {unit} at which a character of a known document begins, found {values[bad[0]]}"
        raise FormatError(what, at=Place(FRAME, int(bad[0]) + 1))
    return turned


def _refuse_nan(score: NDArray[np.float64] | None) -> None:
    """Raise at the first score that is no number: no ranking can be made of it."""
    if score is not None and not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score))[0])
        raise FormatError(f"expected a finite score, found {score[row]}", at=Place(FRAME, row + 1))


def _digest(table: pa.Table) -> str:
    """Return a hash of what a frame says, whatever library it came from."""
    content = json.dumps({name: table[name].to_pylist() for name in table.column_names}, default=str)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
