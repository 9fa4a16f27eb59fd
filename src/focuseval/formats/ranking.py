"""From a file's rows to ranking order: topics in blocks, results by score, rank or place in the file.

Well-made files are in order already, so nothing is sorted until a row proves otherwise, and where only ties are out
of order only tied rows move. Every order is deterministic: what still ties stays in file order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.keys import hash64, joint

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
        encoded = _run_ends(chunk)
        sizes.append(np.diff(encoded.run_ends.to_numpy(), prepend=0))
        blocks += [codes.setdefault(topic, len(codes)) for topic in encoded.values.to_pylist()]
    if not blocks:
        return (), np.zeros(0, np.int32)
    return tuple(codes), np.repeat(np.array(blocks, np.int32), np.concatenate(sizes))


def _run_ends(chunk: Any) -> Any:
    return chunk if pa.types.is_run_end_encoded(chunk.type) else pc.run_end_encode(chunk)


def only_value(column: Any, refuse: Callable[[int, str, str], FormatError]) -> str:
    """Return the one value of a column; raise what `refuse(row, first, other)` makes of a second one."""
    first, row = None, 0
    for chunk in column.chunks:
        encoded = _run_ends(chunk)
        values, ends = encoded.values, encoded.run_ends
        for i, value in enumerate(values):
            first = value.as_py() if first is None else first
            if value.as_py() != first:
                raise refuse(row + (ends[i - 1].as_py() if i else 0), first, value.as_py())
        row += len(chunk)
    return first or ""


@dataclass(frozen=True)
class Order:
    """How rows move into ranking order: row ``origin[i]`` goes to ``to[i]``; all others stay where they are."""

    size: int
    to: NDArray[np.int64]
    origin: NDArray[np.int64]

    @property
    def full(self) -> bool:
        """Whether every row is named, so that `origin` alone is the order."""
        return len(self.to) == self.size


def full_order(rows: NDArray[np.int64]) -> Order:
    """Return the order that takes these rows, all of them."""
    return Order(len(rows), np.arange(len(rows)), rows)


def by_score_and_document(topic: NDArray[np.int32], score: NDArray[np.float64], document: Any) -> Order | None:
    """Return the order of a TREC run, or None when the rows stand in it: score descending, then document descending.

    trec_eval keeps scores in single precision, so scores that differ beyond it tie.
    """
    single = score.astype(np.float32)
    if len(topic) < 2:
        return None
    same = topic[1:] == topic[:-1]
    order = None
    if bool((topic[1:] < topic[:-1]).any()) or bool((same & (single[1:] > single[:-1])).any()):
        order = full_order(np.lexsort((-single, topic)))
        document = taken(document, order)
        topic, single = topic[order.origin], single[order.origin]
        same = topic[1:] == topic[:-1]
    tied = np.append(False, same & (single[1:] == single[:-1]))
    if not tied.any():
        return order
    return _ties_ordered(tied, document, order)


def _ties_ordered(tied: NDArray[np.bool_], document: Any, order: Order | None) -> Order | None:
    """Order the rows that tie with the one before them (or after) by descending document."""
    rows = np.flatnonzero(tied | np.append(tied[1:], False))
    group = np.cumsum(~tied[rows])
    table = pa.table({"group": group, "document": document.take(pa.array(rows))})
    within = pc.sort_indices(table, [("group", "ascending"), ("document", "descending")]).to_numpy()
    moved = np.flatnonzero(within != np.arange(len(rows)))
    if not len(moved):
        return order
    if order is None:
        return Order(len(tied), rows[moved], rows[within[moved]])
    origin = order.origin.copy()
    origin[rows] = order.origin[rows[within]]
    return full_order(origin)


def by_rank(
    topic: NDArray[np.int32], rank: NDArray[np.int32] | None, score: NDArray[np.float64] | None
) -> Order | None:
    """Return the order of an INEX run, or None: by rank, else by descending score, else as in the file; stable."""
    key = rank if rank is not None else None if score is None else -score
    if len(topic) < 2:
        return None
    back = bool((topic[1:] < topic[:-1]).any())
    if key is None:
        return full_order(np.argsort(topic, kind="stable")) if back else None
    if back or bool(((topic[1:] == topic[:-1]) & (key[1:] < key[:-1])).any()):
        return full_order(np.lexsort((key, topic)))
    return None


def taken(column: Any, order: Order) -> Any:
    """Return a NumPy or Arrow column in ranking order; a column that is not there stays away."""
    if column is None:
        return None
    if not isinstance(column, np.ndarray):
        return _arrow_taken(column, order)
    if order.full:
        return column[order.origin]
    moved = column.copy()
    moved[order.to] = column[order.origin]
    return moved


def rows_of(column: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a NumPy or Arrow column; a column that is not there stays away."""
    if column is None or isinstance(column, np.ndarray):
        return None if column is None else column[rows]
    return column.take(pa.array(rows))


def lines_taken(line: NDArray[np.int64] | None, order: Order) -> NDArray[np.int64]:
    """Return the lines of rows in ranking order; None stands for 1, 2, 3 and so on."""
    lines: NDArray[np.int64] = taken(np.arange(1, order.size + 1) if line is None else line, order)
    return lines


def _arrow_taken(column: Any, order: Order) -> Any:
    """Take rows; a column of which few rows move is cut and joined instead of copied."""
    if order.full or len(order.to) > _FEW or not isinstance(column, pa.ChunkedArray):
        return column.take(pa.array(taken(np.arange(order.size), order)))
    pieces, done = [], 0
    for first, last in _windows(order.to, order.origin):
        rows = np.arange(first, last)
        here = (order.to >= first) & (order.to < last)
        rows[order.to[here] - first] = order.origin[here]
        pieces += column.slice(done, first - done).chunks
        pieces.append(column.slice(first, last - first).combine_chunks().take(pa.array(rows - first)))
        done = last
    return pa.chunked_array(pieces + column.slice(done).chunks, column.type)


def _windows(to: NDArray[np.int64], origin: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the smallest stretches of rows within which every moved row stays."""
    low, reach = np.minimum(to, origin), np.maximum.accumulate(np.maximum(to, origin))
    starts = np.flatnonzero(np.r_[True, low[1:] > reach[:-1]]) if len(to) else ()
    ends = np.r_[starts[1:], len(to)] if len(to) else ()
    for first, last in zip(starts, ends, strict=True):
        yield int(low[first:last].min()), int(reach[last - 1]) + 1


def distinct_keys(topic: NDArray[np.int32], document: Any) -> NDArray[np.uint64] | tuple[int, int] | None:
    """Return the documents' keys when they differ within every topic, else the first two rows that are the same.

    None: two documents of a topic share a key by chance, and nothing is repeated.
    """
    keys = hash64(document)
    pairs = joint(keys, topic)
    pairs.sort()
    twice = pairs[1:][pairs[1:] == pairs[:-1]]
    if not len(twice):
        return keys
    suspects = np.flatnonzero(np.isin(joint(keys, topic), twice))
    seen: dict[tuple[int, str], int] = {}
    for row, name in zip(suspects.tolist(), document.take(pa.array(suspects)).to_pylist(), strict=True):
        first = seen.setdefault((int(topic[row]), name), row)
        if first != row:
            return first, row
    return None
