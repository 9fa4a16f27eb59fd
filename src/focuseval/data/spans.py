"""Half-open spans of code points, as arrays: union, intersection, cover, unseen text.

Spans live in *groups* (a topic's document, say): two spans of different groups never touch. A group is a
non-negative integer below ``2**31``, a position a non-negative integer below ``2**32``; both are packed into one
64-bit key, so that one sort and one search serve all groups at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from focuseval.engine.lazy import cached_property

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

MOST = 10**9
"""The largest parameter, cut-off, budget or policy: what is larger is a slip, or does not fit into sums of lengths."""

_SHIFT = np.int64(32)
_LOW = np.int64(0xFFFFFFFF)


@dataclass(frozen=True, eq=False)
class Spans:
    """Disjoint, sorted spans in groups.

    >>> spans = union(group=[0, 0, 1], start=[5, 0, 3], end=[9, 6, 4])
    >>> spans.start.tolist(), spans.end.tolist(), spans.total(2).tolist()
    ([0, 3], [9, 4], [9, 1])
    """

    group: Integers
    start: Integers
    end: Integers
    source: Integers  # for every span, the row of a given span that begins where it does

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def before(self) -> Integers:
        """Characters in all spans before each one; one more entry than spans, the last is the grand total."""
        return np.concatenate(([0], np.cumsum(self.end - self.start)))

    @cached_property
    def keys(self) -> Integers:
        """Groups and starts, packed: what positions are searched in."""
        return pack(self.group, self.start)

    def total(self, groups: int) -> Integers:
        """Return the characters in each of the groups 0 … `groups` − 1."""
        return np.bincount(self.group, self.end - self.start, groups).astype(np.int64)

    def covered(
        self, group: NDArray[np.integer], start: NDArray[np.integer], end: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Return how many characters of each given span lie inside these.

        >>> union([0, 0], [0, 10], [4, 20]).covered(np.array([0, 0, 1]), np.array([2, 4, 0]), np.array([12, 10, 9]))
        array([4, 0, 0])
        """
        return self.upto(group, end) - self.upto(group, start)

    def upto(self, group: NDArray[np.integer], position: NDArray[np.integer]) -> Integers:
        """Return the characters of all spans before `position` of `group`, those of earlier groups included."""
        if not len(self):
            return np.zeros(len(group), np.int64)
        found = np.searchsorted(self.keys, pack(group, position), "left")
        last = np.maximum(found - 1, 0)
        inside = (found > 0) & (self.group[last] == group)
        past = np.where(inside, np.maximum(self.end[last] - position, 0), 0)
        return self.before[found] - past


def pack(group: NDArray[np.integer], position: NDArray[np.integer]) -> Integers:
    """Join group and position into one sortable key."""
    return (np.asarray(group, np.int64) << _SHIFT) | np.asarray(position, np.int64)


def unpack(keys: Integers) -> tuple[Integers, Integers]:
    """Return the groups and positions of packed keys.

    >>> unpack(pack(np.array([3]), np.array([14])))
    (array([3]), array([14]))
    """
    return keys >> _SHIFT, keys & _LOW


def dense(keys: Integers) -> Integers:
    """Return numbers from 0 on, the same for equal keys.

    >>> dense(np.array([70, 10, 70]))
    array([1, 0, 1])
    """
    order = np.argsort(keys)  # as ``np.unique`` does, which loads all of ``numpy.ma`` first
    steps = np.diff(keys[order], prepend=keys[order[:1]]) != 0
    codes = np.empty(len(keys), np.int64)
    codes[order] = np.cumsum(steps)
    return codes


def spread(first: NDArray[np.integer], count: NDArray[np.integer]) -> Integers:
    """Return the integers ``first[i] … first[i] + count[i] − 1`` of every i, one after the other.

    >>> spread(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(first - ends + count, count) + np.arange(total)


def union(group: ArrayLike, start: ArrayLike, end: ArrayLike) -> Spans:
    """Return the union of the given spans within each group; touching spans merge, empty ones vanish.

    >>> merged = union([0, 0, 0], [0, 4, 9], [4, 7, 9])
    >>> merged.start.tolist(), merged.end.tolist()
    ([0], [7])
    """
    group, start, end = (np.asarray(a, np.int64) for a in (group, start, end))
    order, begins, reach = swept(group, start, end, np.flatnonzero(end > start))
    first = np.flatnonzero(np.concatenate((begins[:1] >= 0, begins[1:] > reach[:-1])))
    last = np.append(first, len(order))[1:] - 1
    return Spans(*unpack(begins[first]), reach[last] & _LOW, order[first])


def swept(
    group: NDArray[np.integer], start: Integers, end: Integers, rows: Integers
) -> tuple[Integers, Integers, Integers]:
    """Return some spans by group and start: their rows, their packed starts, and how far the text so far reaches."""
    begins, ends = pack(group, start)[rows], pack(group, end)[rows]
    order = np.argsort(begins, kind="stable")  # spans stand by topic, nearly in order, which a stable sort makes use of
    return rows[order], begins[order], np.maximum.accumulate(ends[order])


def unseen(group: ArrayLike, start: ArrayLike, end: ArrayLike, within: Spans | None = None) -> Integers:
    """Return, for spans in rank order, how many characters no earlier span of the same group covers.

    With `within`, only characters inside those spans count.

    >>> unseen([0, 0, 0], [0, 5, 2], [10, 15, 4])
    array([10,  5,  0])
    """
    group, start, end = (np.asarray(a, np.int64) for a in (group, start, end))
    new, inside = novelty(group, start, end, within)
    return new if within is None else inside


def novelty(
    group: Integers, start: Integers, end: Integers, within: Spans | None, matters: NDArray[np.bool_] | None = None
) -> tuple[Integers, Integers]:
    """Return unseen characters of spans in rank order and, of the spans that matter, those inside `within`.

    A span that overlaps no other is all new; the rest are cut at every span end, and an elementary segment belongs to
    the first rank that covers it.

    >>> novelty(np.array([0, 0]), np.array([0, 5]), np.array([10, 15]), union([0], [8], [12]))
    (array([10,  5]), array([2, 2]))
    """
    new, inside = np.maximum(end - start, 0), np.zeros(len(start), np.int64)
    if within is not None:
        asked = np.flatnonzero(new > 0 if matters is None else matters & (new > 0))
        inside[asked] = within.covered(group[asked], start[asked], end[asked])
    rows = crowded(group, start, end)
    if len(rows):
        keys = np.concatenate([pack(group[rows], start[rows]), pack(group[rows], end[rows])])
        order = np.argsort(keys, kind="stable")
        place = np.empty(len(keys), np.int32)
        place[order] = np.arange(len(keys), dtype=np.int32)
        cuts, owner = keys[order], first_cover(place[: len(rows)], place[len(rows) :], len(keys))[:-1]
        taken = np.flatnonzero((owner < len(rows)) & (cuts[1:] > cuts[:-1]))
        new[rows] = np.bincount(owner[taken], cuts[taken + 1] - cuts[taken], len(rows)).astype(np.int64)
        if within is not None:
            taken = taken if matters is None else taken[matters[rows][owner[taken]]]
            left, right = cuts[taken], cuts[taken + 1]
            size = within.covered(left >> _SHIFT, left & _LOW, right & _LOW)
            inside[rows] = np.bincount(owner[taken], size, len(rows)).astype(np.int64)
    return new, inside


def crowded(group: Integers, start: Integers, end: Integers) -> Integers:
    """Return the spans that overlap another of their group, in the order given.

    Groups with one span are set aside before the sort: in most ranked lists they are most groups.

    >>> crowded(np.array([0, 0, 1, 0]), np.array([0, 8, 0, 5]), np.array([5, 9, 9, 9]))
    array([1, 3])
    """
    rows = np.flatnonzero(end > start)
    if len(rows) and int(group.max()) < 8 * len(group):
        rows = rows[(np.bincount(group[rows]) > 1)[group[rows]]]
    if not len(rows):
        return rows
    order, begins, reach = swept(group, start, end, rows)
    joined = np.r_[False, begins[1:] < reach[:-1]]
    return np.sort(order[joined | np.r_[joined[1:], False]])


def first_cover(first: NDArray[np.integer], last: NDArray[np.integer], cells: int) -> NDArray[np.int32]:
    """For each cell, the smallest i with first[i] ≤ cell < last[i], or len(first) where there is none.

    A range minimum over power-of-two blocks: each range is the union of two blocks; blocks are pushed down level by
    level. Cost O((n + cells) log(longest range)).
    """
    level = np.frexp((last - first).astype(np.float64))[1] - 1
    above = np.full(cells, len(first), np.int32)
    for k in range(int(level.max(initial=0)), -1, -1):
        here = np.flatnonzero(level == k).astype(np.int32)
        np.minimum.at(above, first[here], here)
        np.minimum.at(above, last[here] - (1 << k), here)
        if k:
            step = 1 << (k - 1)
            below = above.copy()
            np.minimum(below[step:], above[:-step], out=below[step:])
            above = below
    return above


Triple: TypeAlias = "tuple[NDArray[np.integer], Integers, Integers]"  # groups, starts and ends of a list of spans


def overlapping(some: Triple, others: Triple) -> tuple[Integers, Integers]:
    """Return all pairs (i, j) of spans of two lists that share a character.

    >>> some, others = ([0, 0], [0, 8], [5, 9]), ([0, 0, 1], [4, 5, 0], [6, 8, 9])
    >>> overlapping(tuple(map(np.array, some)), tuple(map(np.array, others)))
    (array([0]), array([0]))
    """
    (group, start, end), (other_group, other_start, other_end) = some, others
    order, begins, reach = swept(other_group, other_start, other_end, np.flatnonzero(other_end > other_start))
    low = np.searchsorted(reach, pack(group, start), "right")
    number = np.maximum(np.searchsorted(begins, pack(group, end), "left") - low, 0)
    i = np.repeat(np.arange(len(start)), number)
    j = order[spread(low, number)]
    shared = (other_group[j] == group[i]) & (other_end[j] > start[i]) & (end[i] > start[i])
    return i[shared], j[shared]


def fragments(length: Integers, *sets: Spans) -> tuple[Integers, Integers, Integers, list[NDArray[np.bool_]]]:
    """Cut texts 0 … n − 1 of the given lengths wherever a span of one of the sets begins or ends.

    Return group, start and end of every piece, and for each set which pieces lie inside of it.

    >>> _, start, end, inside = fragments(np.array([10]), union([0], [2], [4]), union([0], [3], [99]))
    >>> start.tolist(), end.tolist(), [flags.tolist() for flags in inside]
    ([0, 2, 3, 4], [2, 3, 4, 10], [[False, True, True, False], [False, False, True, True]])
    """
    texts = np.arange(len(length))
    cuts = [pack(texts, np.zeros(len(length), np.int64)), pack(texts, length)]
    for spans in sets:
        cuts += [pack(spans.group, np.minimum(edge, length[spans.group])) for edge in (spans.start, spans.end)]
    keys = np.unique(np.concatenate(cuts))
    same = keys[1:] >> _SHIFT == keys[:-1] >> _SHIFT
    left, right = keys[:-1][same], keys[1:][same]
    (group, start), (_, end) = unpack(left), unpack(right)
    return group, start, end, [spans.covered(group, start, end) > 0 for spans in sets]
