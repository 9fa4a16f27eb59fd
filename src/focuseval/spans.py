"""Half-open spans of code points, as arrays: union, intersection, cover, unseen text.

Spans live in *groups* (a topic's document, say): two spans of different groups never touch. A group is a
non-negative integer below ``2**31``, a position a non-negative integer below ``2**32``; both are packed into one
64-bit key, so that one sort and one search serve all groups at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_SHIFT = np.int64(32)
_LOW = np.int64(0xFFFFFFFF)


@dataclass(frozen=True)
class Spans:
    """Disjoint, sorted spans in groups, with the running sum of their sizes.

    >>> spans = union(group=[0, 0, 1], start=[5, 0, 3], end=[9, 6, 4])
    >>> spans.start.tolist(), spans.end.tolist(), spans.total(2).tolist()
    ([0, 3], [9, 4], [9, 1])
    """

    group: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    before: NDArray[np.int64]
    """Characters in all spans before this one; one more entry than spans, the last is the grand total."""

    def __len__(self) -> int:
        """Return the number of spans."""
        return len(self.start)

    def total(self, groups: int) -> NDArray[np.int64]:
        """Return the characters in each of the groups 0 … `groups` − 1."""
        return np.bincount(self.group, self.end - self.start, groups).astype(np.int64)

    def covered(
        self, group: NDArray[np.integer], start: NDArray[np.integer], end: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Return how many characters of each given span lie inside these.

        >>> union([0, 0], [0, 10], [4, 20]).covered(np.array([0, 0, 1]), np.array([2, 4, 0]), np.array([12, 10, 9]))
        array([4, 0, 0])
        """
        return self._upto(group, end) - self._upto(group, start)

    def _upto(self, group: NDArray[np.integer], position: NDArray[np.integer]) -> NDArray[np.int64]:
        """Characters of all spans before `position` of `group`, earlier groups included."""
        if not len(self):
            return np.zeros(len(group), np.int64)
        found = np.searchsorted(pack(self.group, self.start), pack(group, position), "left")
        last = np.maximum(found - 1, 0)
        inside = (found > 0) & (self.group[last] == group)
        past = np.where(inside, np.maximum(self.end[last] - position, 0), 0)
        return self.before[found] - past


def pack(group: NDArray[np.integer], position: NDArray[np.integer]) -> NDArray[np.int64]:
    """Join group and position into one sortable key."""
    return (np.asarray(group, np.int64) << _SHIFT) | np.asarray(position, np.int64)


def dense(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers from 0 on, the same for equal keys.

    >>> dense(np.array([70, 10, 70]))
    array([1, 0, 1])
    """
    return np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)


def union(group: ArrayLike, start: ArrayLike, end: ArrayLike) -> Spans:
    """Return the union of the given spans within each group; touching spans merge, empty ones vanish.

    >>> merged = union([0, 0, 0], [0, 4, 9], [4, 7, 9])
    >>> merged.start.tolist(), merged.end.tolist()
    ([0], [7])
    """
    group, start, end = (np.asarray(a, np.int64) for a in (group, start, end))
    real = end > start
    order = np.flatnonzero(real)[np.argsort(pack(group[real], start[real]), kind="stable")]
    group, start, end = group[order], start[order], end[order]
    if not len(start):
        return Spans(group, start, end, np.zeros(1, np.int64))
    reach = np.maximum.accumulate(pack(group, end))
    fresh = np.r_[True, pack(group, start)[1:] > reach[:-1]]
    first = np.flatnonzero(fresh)
    last = np.r_[first[1:], len(start)] - 1
    heads, tails = start[first], reach[last] & _LOW
    return Spans(group[first], heads, tails, np.r_[0, np.cumsum(tails - heads)])


def unseen(
    group: ArrayLike,
    start: ArrayLike,
    end: ArrayLike,
    within: Spans | None = None,
) -> NDArray[np.int64]:
    """Return, for spans in rank order, how many characters no earlier span of the same group covers.

    With `within`, only characters inside those spans count. Each group is cut at every span end; an elementary
    segment belongs to the first rank that covers it.

    >>> unseen([0, 0, 0], [0, 5, 2], [10, 15, 4])
    array([10,  5,  0])
    """
    group, start, end = (np.asarray(a, np.int64) for a in (group, start, end))
    if not len(start):
        return np.zeros(0, np.int64)
    cuts = np.unique(np.concatenate([pack(group, start), pack(group, end)]))
    first = np.searchsorted(cuts, pack(group, start))
    last = np.searchsorted(cuts, pack(group, end))
    owner = _first_cover(first, last, len(cuts))
    left = np.flatnonzero(owner < len(start))
    at, frm = group[owner[left]], cuts[left] & _LOW
    to = cuts[left + 1] & _LOW
    size = (to - frm) if within is None else within.covered(at, frm, to)
    return np.bincount(owner[left], size, len(start)).astype(np.int64)


def _first_cover(first: NDArray[np.int64], last: NDArray[np.int64], cells: int) -> NDArray[np.int64]:
    """For each cell, the smallest i with first[i] ≤ cell < last[i], or len(first) where there is none.

    A range minimum over power-of-two blocks: each range is the union of two blocks, written with
    ``minimum.at``, then blocks are pushed down level by level. Cost O((n + cells) log cells).
    """
    none = len(first)
    owner = np.full(cells, none, np.int64)
    width = last - first
    real = np.flatnonzero(width > 0)
    if not len(real):
        return owner
    level = np.frexp(width[real].astype(float))[1] - 1
    above = np.full(cells, none, np.int64)
    for k in range(int(level.max()), -1, -1):
        half = 1 << k
        here = real[level == k]
        np.minimum.at(above, first[here], here)
        np.minimum.at(above, last[here] - half, here)
        if k:
            below = above.copy()
            step = half >> 1
            np.minimum(below[step:], above[:-step], out=below[step:])
            above = below
    return np.minimum(owner, above)
