"""Our gold as JSON lines, read as columns: for files in which every line is as it should be.

Whatever is not (an unknown key, a missing span, a pair judged twice …) is left to the reader that goes line by line and
names the fault: this one then returns None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.formats.columns import lent
from focuseval.formats.json_lines import FAR
from focuseval.formats.judgements import empty_elements
from focuseval.gold import UNKNOWN, Articles, Gold, Passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.formats.source import Source

SMALL = 1 << 20
"""Shorter files are read line by line: starting Arrow's reader takes longer."""

_SPAN = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("quote", pa.string())])
_LINE = pa.schema(
    [
        *((name, pa.string()) for name in ("topic", "doc", "query")),
        *((name, pa.int64()) for name in ("bep", "length", "relevance")),
        ("spans", pa.list_(_SPAN)),
    ]
)


class _Spans(NamedTuple):
    """The spans of all lines: the line of each, from 0, its ends and its quote."""

    row: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    quote: Any


def read_fast(source: Source) -> Gold | None:
    """Return the gold of a regular file, None for all others."""
    table = _table(source)
    if table is None or any(table[name].null_count for name in ("topic", "doc", "spans")):
        return None
    ids = [table[name].combine_chunks().dictionary_encode() for name in ("topic", "doc")]
    codes = [column.indices.to_numpy() for column in ids]
    numbers = {name: _numbers(table[name]) for name in ("bep", "length", "relevance")}
    spans, queries = _spans(table["spans"].combine_chunks()), _queries(ids[0], table["query"].combine_chunks())
    if queries is None or not _regular(ids, codes, numbers, spans):
        return None
    return Gold(
        tuple(ids[0].dictionary.to_pylist()),
        ids[1].dictionary,
        _articles(codes, numbers, np.bincount(spans.row, minlength=len(table)) > 0),
        _passages(codes, spans),
        empty_elements(),
        sha256=source.digest(),
        file=source.name,
        queries=queries,
    )


def _table(source: Source) -> Any:
    """Let Arrow read a file without blank lines, odd types or other keys; None otherwise."""
    if len(source.data) < SMALL or source.data.find(b"\n\n") >= 0 or source.data[:1] == b"\n":
        return None
    from pyarrow import json as arrow_json  # noqa: PLC0415  only large files are worth its import

    options = arrow_json.ParseOptions(explicit_schema=_LINE, unexpected_field_behavior="error")
    blocks = arrow_json.ReadOptions(block_size=1 << 22)
    try:
        table = arrow_json.read_json(pa.BufferReader(lent(pa.py_buffer(source.data))), blocks, options)
    except pa.ArrowInvalid:
        return None
    return table if table.num_rows == source.data[:].rstrip().count(b"\n") + 1 else None


def _numbers(column: Any) -> NDArray[np.int64]:
    """Return a column of numbers, UNKNOWN where none is given; a negative one becomes FAR, which nobody allows."""
    filled = pc.if_else(pc.less(column, 0), FAR, column).fill_null(UNKNOWN)
    values: NDArray[np.int64] = filled.combine_chunks().to_numpy(zero_copy_only=False)
    return values


def _spans(lists: Any) -> _Spans:
    """Return the spans of a column of lists."""
    row = np.repeat(np.arange(len(lists)), np.diff(lists.offsets.to_numpy()))
    values = lists.flatten()
    start, end = (_numbers(pa.chunked_array([values.field(name)])) for name in ("start", "end"))
    return _Spans(row, start, end, values.field("quote"))


def _queries(topic: Any, query: Any) -> dict[str, str] | None:
    """Return the query of every topic that has one; None where a topic has two."""
    said = query.is_valid()
    pairs = pa.table({"topic": topic.indices.filter(said), "query": query.filter(said)})
    pairs = pairs.group_by(["topic", "query"], use_threads=False).aggregate([])
    if pc.count_distinct(pairs["topic"]).as_py() != len(pairs):
        return None
    return dict(zip(topic.dictionary.take(pairs["topic"]).to_pylist(), pairs["query"].to_pylist(), strict=True))


def _regular(ids: list[Any], codes: list[NDArray[Any]], numbers: dict[str, Any], spans: _Spans) -> bool:
    """Say whether no line needs to be blamed, and none holds what is counted elsewhere."""
    pair = codes[0].astype(np.int64) << 32 | codes[1]
    row, start, end, quote = spans
    alone = (start < 0) & (end < 0) & pc.greater(pc.utf8_length(quote).fill_null(0), 0).to_numpy(zero_copy_only=False)
    placed = (start >= 0) & (start <= end) & (end < FAR)
    length, bep = numbers["length"], numbers["bep"]
    inside = (length[row] < 0) | (end <= length[row])
    return bool(
        len(np.unique(pair)) == len(pair)
        and ((alone | placed) & inside).all()
        and ((length < 0) | (bep <= length)).all()
        and all((column < FAR).all() for column in numbers.values())
        and not any(pc.any(pc.equal(names.dictionary, "")).as_py() for names in ids)
        and not _long(start, end, quote)
        and not _overlap(pair[row], start, end)
    )


def _long(start: NDArray[np.int64], end: NDArray[np.int64], quote: Any) -> bool:
    """Say whether a quote is not as long as its span, which is counted elsewhere."""
    length = pc.utf8_length(quote).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    return bool(((length >= 0) & (start >= 0) & (length != end - start)).any())


def _overlap(pair: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]) -> bool:
    """Say whether spans of a pair overlap, which is counted elsewhere."""
    order = np.lexsort((start, pair))
    same = pair[order][1:] == pair[order][:-1]
    return bool((same & (start[order][1:] < end[order][:-1])).any())


def _articles(codes: list[NDArray[Any]], numbers: dict[str, Any], marked: NDArray[np.bool_]) -> Articles:
    """Return the judged pairs, in blocks of topics."""
    order = np.argsort(codes[0], kind="stable")
    grade = np.where(numbers["relevance"] >= 0, numbers["relevance"], marked)
    return Articles(
        topic=codes[0][order].astype(np.int32),
        document=codes[1][order].astype(np.int32),
        relevance=grade[order].astype(np.int32),
        length=numbers["length"][order],
        rsize=np.full(len(order), UNKNOWN, np.int64),
        bep=numbers["bep"][order],
        line=order + 1,
        source=np.zeros(len(order), np.int32),
    )


def _passages(codes: list[NDArray[Any]], spans: _Spans) -> Passages:
    """Return the spans, in blocks of topics."""
    order = np.argsort(codes[0][spans.row], kind="stable")
    row, start, end = spans.row[order], spans.start[order], spans.end[order]
    said = len(order) and spans.quote.null_count < len(order)
    return Passages(
        topic=codes[0][row].astype(np.int32),
        document=codes[1][row].astype(np.int32),
        start=start,
        end=end,
        size=np.where(end >= 0, end - start, UNKNOWN),
        quote=spans.quote.take(pa.array(order)) if said else None,
        line=row + 1 if len(row) else None,
    )
