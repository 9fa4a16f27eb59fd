"""From a file's rows to ranking order: topics in blocks, results by score, rank or place in the file.

Well-made files are in order already, so nothing is sorted until a row proves otherwise, and where only ties are out
of order only tied rows move. Every order is deterministic: what still ties stays in file order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.remarks import Remark
from focuseval.data.run import Run
from focuseval.engine.native import hash64, indices, joint, rows_of_chunks
from focuseval.errors import FormatError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

RankingOrder = Literal["file", "score", "lower"]
"""What ranks results: their order in the file, descending scores, or ascending ones (distances)."""

DISTANCES = "distances"
"""The attribute of a run whose scores are distances, with the sign changed so that the highest is best."""

_STRETCH = 1 << 18
_FEW = 200  # rows among which one is few
_BY_CHANCE = 0.05
"""Lists that are wholly the wrong way round are refused if fewer than this share of random orders would be."""


def topic_codes(column: pa.ChunkedArray) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the topics (or other names) in order of first appearance, and every row's code.

    >>> topic_codes(pa.chunked_array([["b", "b", "a"], ["a", "b"]]))
    (('b', 'a'), array([0, 0, 1, 1, 0], dtype=int32))
    """
    codes: dict[str, int] = {}
    blocks, sizes = [], []
    for chunk in column.chunks:
        encoded = chunk if pa.types.is_run_end_encoded(chunk.type) else pc.run_end_encode(chunk)
        sizes.append(np.diff(encoded.run_ends.to_numpy(), prepend=0))
        blocks += [codes.setdefault(topic, len(codes)) for topic in encoded.values.to_pylist()]
    if not blocks:
        return (), np.zeros(0, np.int32)
    return tuple(codes), np.repeat(np.array(blocks, np.int32), np.concatenate(sizes))


@dataclass(frozen=True, eq=False)
class Order:
    """How rows move into ranking order: row ``origin[i]`` goes to ``to[i]``; all others stay where they are.

    Where all rows are named, the i-th goes to i, and `to` may be left empty.
    """

    size: int
    to: NDArray[np.int64]
    origin: NDArray[np.int64]

    @property
    def full(self) -> bool:
        """Whether every row is named, so that `origin` alone is the order."""
        return len(self.origin) == self.size


def full_order(rows: NDArray[np.int64]) -> Order:
    """Return the order that takes these rows, all of them."""
    return Order(len(rows), rows[:0], rows)


def by_score_and_document(
    topic: NDArray[np.int32], score: NDArray[np.float64], document: pa.ChunkedArray
) -> Order | None:
    """Return the order of a TREC run, or None when the rows stand in it: score descending, then document descending.

    trec_eval keeps scores in single precision, so scores that differ beyond it tie.
    """
    order, tied = None, _tied(topic, score)
    if tied is None:
        order = full_order(np.argsort(_best_first(topic, score)))
        tied = _tied(topic[order.origin], score[order.origin])
    if tied is None or not len(tied):
        return order
    rows = np.sort(np.concatenate((tied, tied - 1)))
    rows = rows[np.append(True, rows[1:] != rows[:-1])]
    first = tied[np.minimum(np.searchsorted(tied, rows), len(tied) - 1)] != rows
    wanted = rows if order is None else order.origin[rows]
    ascending = np.argsort(wanted)
    back = np.empty_like(ascending)
    back[ascending] = np.arange(len(rows))
    names = rows_of_chunks(document, wanted[ascending]).take(indices(back))
    table = pa.table({"group": indices(np.cumsum(first)), "document": names})
    within = pc.sort_indices(table, [("group", "ascending"), ("document", "descending")]).to_numpy()
    moved = np.flatnonzero(within != np.arange(len(rows)))
    if not len(moved):
        return order
    if order is None:
        return Order(len(topic), rows[moved], rows[within[moved]])
    origin = order.origin.copy()
    origin[rows] = order.origin[rows[within]]
    return full_order(origin)


def _best_first(topic: NDArray[np.int32], score: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return integers that stand in the order of topics and, within each, of descending scores in single precision.

    One sort of them takes an eighth of the time of a sort by two columns. The bits of floating-point numbers are in
    order once those of negative ones are turned over.

    >>> np.argsort(_best_first(np.array([1, 0, 0, 0]), np.array([9.0, -2.0, 0.5, -1.0])))
    array([2, 3, 1, 0])
    """
    bits = (_single(score) + np.float32(0)).view(np.int32)  # −0 becomes 0, which ties with it
    descending = np.where(bits < 0, bits, bits ^ np.int32(0x7FFFFFFF)).view(np.uint32)
    return np.asarray(topic.astype(np.uint64) << np.uint64(32) | descending)


def _single(score: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return scores in single precision; those beyond it are all the same, infinite."""
    with np.errstate(over="ignore"):
        return _rankable(score).astype(np.float32)


def _rankable(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores to rank by: one that is no finite number ranks last."""
    finite = np.isfinite(score)
    return score if finite.all() else np.where(finite, score, -np.inf)


def _tied(topic: NDArray[np.int32], score: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return the rows that tie with the row before them; None when a row should stand before the one above it.

    A stretch at a time: what is compared stays in the cache, and ten million rows need little memory.
    """
    ties = [np.zeros(0, np.int64)]
    for first in range(1, len(topic), _STRETCH):
        t, s = topic[first - 1 : first + _STRETCH], _single(score[first - 1 : first + _STRETCH])
        same = t[1:] == t[:-1]
        if bool((t[1:] < t[:-1]).any()) or bool((same & (s[1:] > s[:-1])).any()):
            return None
        ties.append(np.flatnonzero(same & (s[1:] == s[:-1])) + first)
    return np.concatenate(ties)


def by_rank(
    topic: NDArray[np.int32], rank: NDArray[np.int32] | None, score: NDArray[np.float64] | None
) -> Order | None:
    """Return the order of an INEX run, or None: by rank, else by descending score, else as in the file; stable."""
    key = rank if rank is not None else np.zeros(len(topic)) if score is None else -_rankable(score)
    falls = (topic[1:] < topic[:-1]) | ((topic[1:] == topic[:-1]) & (key[1:] < key[:-1]))
    return full_order(np.lexsort((key, topic))) if falls.any() else None


def ranked(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of an INEX run, in file order, in ranking order."""
    order = by_rank(columns["topic"], columns["rank"], columns["score"])
    if order is None:
        return columns
    moved = {name: (lines_taken if name == "line" else taken)(column, order) for name, column in columns.items()}
    return moved if columns["rank"] is not None else {**moved, "listed": order.origin}


def in_order(run: Run, order: RankingOrder | None) -> Run:
    """Return a run ranked as asked: as in the file, by descending score, or by ascending score (`lower` is better).

    Without an `order` the run stays as it was read, unless its lists contradict its scores throughout: the file, or its
    ranks, put the lower of any two scores first. Such scores are mostly distances, and are refused; where the lists are
    so short that this may be chance there is a remark instead.
    """
    distances = DISTANCES in run.attributes
    if distances:
        run = replace(run, attributes={name: said for name, said in run.attributes.items() if name != DISTANCES})
    if order is None:
        return _unless_reversed(run)
    if order not in get_args(RankingOrder):
        raise UsageError(f"expected order= as one of {', '.join(get_args(RankingOrder))}, found {order!r}")
    order = "score" if order == "lower" and distances else order
    place = np.arange(len(run)) if run.line is None else run.line
    place = place if run.listed is None else run.listed
    if order == "file":
        key = place
    elif run.score is None:
        raise FormatError("expected scores to rank by, found none", at=run.file, remedy='use order="file"')
    elif order == "score" and not ((np.diff(run.topic) == 0) & (np.diff(run.score) > 0)).any():
        return run  # they decide already; a TREC run has its own rule for ties
    else:
        key = run.score if order == "lower" else -run.score
    line = np.arange(1, len(run) + 1) if run.line is None else run.line
    ranked = replace(run, line=line).take(np.lexsort((place, key, run.topic)))
    rank = (np.arange(len(run)) - ranked.bounds[ranked.topic] + 1).astype(np.int32)
    score = -ranked.score if order == "lower" and ranked.score is not None else ranked.score
    return replace(ranked, rank=rank, score=score, listed=None)


def _unless_reversed(run: Run) -> Run:
    """Return a run, unless its lists stand wholly the wrong way round by its scores and that is hardly chance."""
    place = run.rank if run.rank is not None else run.listed
    if run.score is None or place is None or not contradicted(run):
        return run
    apart = (np.diff(run.topic) == 0) & (np.diff(run.score) != 0)
    several = np.bincount(run.topic[1:][apart]) + 1.0  # different scores of every topic
    rows = np.flatnonzero(apart)
    row = int(rows[np.argmin(place[rows + 1])])
    first, second = sorted((row, row + 1), key=lambda i: place[i])
    what = f"{run.score[first]:g} before {run.score[second]:g} in topic {run.topic_of(row)!r}"
    if math.exp(-sum(math.lgamma(number + 1) for number in several.tolist())) > _BY_CHANCE:
        return replace(run, remarks=(*run.remarks, Remark("reversed", details=(what,))))
    listed = "ranks" if run.rank is not None else "the order of the file"
    remedy = 'say which is right: order="lower" (distances), order="file" or order="score"'
    what = f"expected scores that fall from the best result on, found that all rise with {listed}: {what}"
    raise FormatError(what, at=run.at(first), remedy=remedy)


def contradicted(run: Run) -> bool:
    """Say whether in the file (or by its ranks) scores rise, and never fall, from result to result of a topic."""
    place = run.rank if run.rank is not None else run.listed
    if run.score is None or place is None or len(run) < 2:
        return False
    for end in (_FEW, len(run)):  # a few rows mostly say no
        same, s, p = np.diff(run.topic[:end]) == 0, run.score[:end], place[:end]
        if bool((same & (p[1:] > p[:-1]) & (s[1:] != s[:-1])).any()):
            return False  # of ties, not all rows are neighbours of other scores
    change = np.diff(run.score[np.lexsort((place, run.topic))])[same]
    return bool((change > 0).any() and not (change < 0).any())


def taken(column: Any, order: Order) -> Any:
    """Return a NumPy or Arrow column in ranking order; a column that is not there stays away.

    Where only some rows move they are taken by the chunks between which they do, so that all others stay as they are.
    """
    if column is None:
        return None
    if isinstance(column, np.ndarray):
        return moved(column if order.full else column.copy(), order)
    if order.full or not isinstance(column, pa.ChunkedArray):
        return column.take(indices(order.origin if order.full else taken(np.arange(order.size), order)))
    ends = np.cumsum([len(chunk) for chunk in column.chunks])
    one, other = (np.searchsorted(ends, rows, "right") for rows in (order.to, order.origin))
    reach = np.arange(len(ends))  # the last chunk to which rows of a chunk move
    np.maximum.at(reach, np.minimum(one, other), np.maximum(one, other))
    last = np.flatnonzero(np.maximum.accumulate(reach) == np.arange(len(ends)))
    pieces: list[pa.Array] = []
    for begin, end in zip(np.r_[0, last[:-1] + 1], last + 1, strict=True):
        first, chunks = int(ends[begin]) - len(column.chunk(begin)), column.chunks[begin:end]
        here = slice(*np.searchsorted(order.to, (first, first + sum(map(len, chunks)))))
        to, origin = order.to[here] - first, order.origin[here] - first
        pieces += [_with_rows_moved(pa.concat_arrays(chunks), to, origin)] if len(to) else chunks
    return pa.chunked_array(pieces, column.type)


def moved(column: Any, order: Order) -> Any:
    """Return a column that nobody else has in ranking order: in its own place where only few rows move."""
    if not isinstance(column, np.ndarray):
        return taken(column, order)
    if order.full:
        return column[order.origin]
    column[order.to] = column[order.origin]
    return column


def lines_taken(line: NDArray[Any] | None, order: Order) -> NDArray[Any]:
    """Return the lines of rows in ranking order; None stands for 1, 2, 3 and so on."""
    if line is not None:
        return np.asarray(taken(line, order))
    narrow = np.int32 if order.size < np.iinfo(np.int32).max else np.int64
    return np.asarray(moved(np.arange(1, order.size + 1, dtype=narrow), order))


def _with_rows_moved(chunk: pa.Array, to: NDArray[np.int64], origin: NDArray[np.int64]) -> pa.Array:
    """Return a chunk with some rows in other places: few of them between slices of the rest, which are copied whole."""
    if len(to) * _FEW > len(chunk):
        rows = np.arange(len(chunk))
        rows[to] = origin
        return chunk.take(indices(rows))
    pieces, last = [], 0
    for place, row in zip(to.tolist(), origin.tolist(), strict=True):
        pieces += [chunk.slice(last, place - last), chunk.slice(row, 1)]
        last = place + 1
    return pa.concat_arrays([*pieces, chunk.slice(last)])


def distinct_keys(topic: NDArray[np.int32], document: pa.ChunkedArray) -> NDArray[np.uint64] | tuple[int, int] | None:
    """Return the documents' keys when they differ within every topic, else the first two rows that are the same.

    None: two documents of a topic share a key by chance, and nothing is repeated.
    """
    keys, first, size, twice = hash64(document), 0, len(topic), [np.zeros(0, np.uint64)]
    step = size if bool((topic[1:] < topic[:-1]).any()) else _STRETCH  # all at once where topics are not in blocks
    while first < size:
        last = size if first + step >= size else int(np.searchsorted(topic, topic[first + step - 1], "right"))
        pairs = joint(keys[first:last], topic[first:last])
        pairs.sort()
        twice.append(pairs[1:][pairs[1:] == pairs[:-1]])
        first = last
    if not sum(map(len, twice)):
        return keys
    suspects = np.flatnonzero(np.isin(joint(keys, topic), np.concatenate(twice)))
    seen: dict[tuple[int, str], int] = {}
    for row, name in zip(suspects.tolist(), rows_of_chunks(document, suspects).to_pylist(), strict=True):
        before = seen.setdefault((int(topic[row]), name), row)
        if before != row:
            return before, row
    return None
