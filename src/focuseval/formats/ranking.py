"""From a file's rows to ranking order: topics in blocks, results by score, rank or place in the file.

Well-made files are in order already, so nothing is sorted until a row proves otherwise, and where only ties are out
of order only tied rows move. Every order is deterministic: what still ties stays in file order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.keys import hash64, mix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from focuseval.errors import FormatError

_FEW = 4096


def topic_codes(column: Any) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the topics in order of first appearance, and every row's code.

    >>> topic_codes(pa.chunked_array([["b", "b", "a"], ["a", "b"]]))
    (('b', 'a'), array([0, 0, 1, 1, 0], dtype=int32))
    """
    codes: dict[str, int] = {}
    blocks, sizes = [], []
    for chunk in column.chunks:
        encoded = pc.run_end_encode(chunk)
        sizes.append(np.diff(encoded.run_ends.to_numpy(), prepend=0))
        blocks += [codes.setdefault(topic, len(codes)) for topic in encoded.values.to_pylist()]
    if not blocks:
        return (), np.zeros(0, np.int32)
    return tuple(codes), np.repeat(np.array(blocks, np.int32), np.concatenate(sizes))


def only_value(column: Any, refuse: Callable[[int, str, str], FormatError]) -> str:
    """Return the one value of a column; raise what `refuse(row, first, other)` makes of a second one."""
    first, row = None, 0
    for chunk in column.chunks:
        encoded = pc.run_end_encode(chunk)
        values, ends = encoded.values, encoded.run_ends
        for i, value in enumerate(values):
            first = value.as_py() if first is None else first
            if value.as_py() != first:
                raise refuse(row + (ends[i - 1].as_py() if i else 0), first, value.as_py())
        row += len(chunk)
    return first or ""


def by_score_and_document(topic: NDArray[np.int32], score: NDArray[np.float64], document: Any) -> Any:
    """Return the order of a TREC run, or None when the rows stand in it: score descending, then document descending.

    trec_eval keeps scores in single precision, so scores that differ beyond it tie.
    """
    single = score.astype(np.float32)
    if len(topic) < 2:
        return None
    same = topic[1:] == topic[:-1]
    if bool((topic[1:] < topic[:-1]).any()) or bool((same & (single[1:] > single[:-1])).any()):
        order = np.lexsort((-single, topic))
        document = document.take(pa.array(order))
        topic, single = topic[order], single[order]
        same = topic[1:] == topic[:-1]
    else:
        order = None
    tied = same & (single[1:] == single[:-1])
    if not tied.any():
        return order
    return _tie_order(np.r_[False, tied], document, order)


def _tie_order(tied: NDArray[np.bool_], document: Any, order: Any) -> Any:
    """Order the rows that tie with the one before them (or after) by descending document."""
    member = tied | np.r_[tied[1:], False]
    rows = np.flatnonzero(member)
    group = np.cumsum(~tied)[rows]
    table = pa.table({"group": group, "document": document.take(pa.array(rows))})
    within = pc.sort_indices(table, [("group", "ascending"), ("document", "descending")]).to_numpy()
    if np.array_equal(within, np.arange(len(rows))):
        return order
    order = np.arange(len(tied)) if order is None else order
    order[rows] = order[rows[within]]
    return order


def by_rank(topic: NDArray[np.int32], rank: NDArray[np.int32] | None, score: NDArray[np.float64] | None) -> Any:
    """Return the order of an INEX run, or None: by rank, else by descending score, else as in the file; stable."""
    key = rank if rank is not None else None if score is None else -score
    if len(topic) < 2:
        return None
    same = topic[1:] == topic[:-1]
    if key is None:
        return np.argsort(topic, kind="stable") if bool((topic[1:] < topic[:-1]).any()) else None
    if bool((topic[1:] < topic[:-1]).any()) or bool((same & (key[1:] < key[:-1])).any()):
        return np.lexsort((key, topic))
    return None


def reorder(column: Any, order: NDArray[np.int64]) -> Any:
    """Take rows in `order`; a column of which few rows move is cut and joined instead of copied."""
    moved = np.flatnonzero(order != np.arange(len(order)))
    if len(moved) > _FEW or not isinstance(column, pa.ChunkedArray):
        return column.take(pa.array(order))
    pieces, done = [], 0
    for first, last in _windows(moved, order[moved]):
        pieces += column.slice(done, first - done).chunks
        pieces.append(column.slice(first, last - first).combine_chunks().take(pa.array(order[first:last] - first)))
        done = last
    return pa.chunked_array(pieces + column.slice(done).chunks, column.type)


def taken(column: Any, order: NDArray[np.int64]) -> Any:
    """Take rows of a NumPy or Arrow column in `order`; a column that is not there stays away."""
    if column is None or isinstance(column, np.ndarray):
        return None if column is None else column[order]
    return reorder(column, order)


def _windows(to: NDArray[np.int64], origin: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the smallest stretches of rows within which every moved row stays."""
    low, reach = np.minimum(to, origin), np.maximum.accumulate(np.maximum(to, origin))
    starts = np.flatnonzero(np.r_[True, low[1:] > reach[:-1]]) if len(to) else ()
    ends = np.r_[starts[1:], len(to)] if len(to) else ()
    for first, last in zip(starts, ends, strict=True):
        yield int(low[first:last].min()), int(reach[last - 1]) + 1


def repeated(topic: NDArray[np.int32], document: Any) -> tuple[int, int] | None:
    """Return two rows that name the same document for the same topic, the first pair there is, or None."""
    keys = mix(hash64(document), topic.astype(np.uint64))
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    suspects = np.flatnonzero(np.isin(keys, ordered[1:][ordered[1:] == ordered[:-1]]))
    seen: dict[tuple[int, str], int] = {}
    for row, name in zip(suspects.tolist(), document.take(pa.array(suspects)).to_pylist(), strict=True):
        first = seen.setdefault((int(topic[row]), name), row)
        if first != row:
            return first, row
    return None
