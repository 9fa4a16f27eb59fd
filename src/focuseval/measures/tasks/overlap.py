"""Which result overlaps which: by span, or by path when no index tells the spans. All by sorting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.spans import crowded, first_cover, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]


def first_overlap(group: Integers, start: Integers, end: Integers) -> Integers:
    """Return for every span the first one, in the order given, that shares a character with it: itself if none earlier.

    Each group is cut at every span end. A cell remembers the first span that covers it, and the smallest memory of
    a span's cells is the answer, since spans that overlap share a cell.

    >>> first_overlap(np.array([0, 0, 0, 1]), np.array([5, 0, 2, 2]), np.array([9, 3, 6, 6]))
    array([0, 1, 0, 3])
    """
    answer = np.arange(len(start))
    rows = crowded(group, start, end)
    if not len(rows):
        return answer
    keys = np.concatenate([pack(group[rows], start[rows]), pack(group[rows], end[rows])])
    cuts, place = np.unique(keys, return_inverse=True)
    first, last = place.reshape(2, -1)
    answer[rows] = rows[_smallest(first_cover(first, last, len(cuts)), first, last)]
    return answer


def _smallest(values: NDArray[np.integer], first: Integers, last: Integers) -> Integers:
    """Return the smallest value of each range: two blocks of 2**k values, one at each end, make a range up."""
    level = np.frexp((last - first).astype(np.float64))[1] - 1
    answer = np.empty(len(first), np.int64)
    for k in range(int(level.max(initial=0)) + 1):
        if k:
            step = 1 << (k - 1)
            values = np.minimum(values, np.append(values[step:], np.full(step, len(first))))
        here = np.flatnonzero(level == k)
        answer[here] = np.minimum(values[first[here]], values[last[here] - (1 << k)])
    return answer


def path_intervals(paths: Any) -> tuple[Integers, Integers]:
    """Return intervals, one for each path of a string array, that nest exactly as the paths do.

    A path's interval runs from the sorted place of ``path/`` to that of ``path0``: ``0`` follows ``/``, so all
    descendants and nothing else lie between. The empty path is the whole document.

    >>> import pyarrow as pa
    >>> low, high = path_intervals(pa.array(["/a[1]", "/a[1]/b[1]", "/a[10]", ""]))
    >>> bool(low[0] < low[1] < high[1] < high[0]), bool(low[2] < high[2] <= low[0]), bool(low[3] < low[2])
    (True, True, True)
    """
    import pyarrow as pa  # noqa: PLC0415  reading the tasks' rules must not wait for Arrow
    import pyarrow.compute as pc  # noqa: PLC0415  as above

    edges = [pc.binary_join_element_wise(paths, edge, "") for edge in ("/", "0")]
    order = pc.array_sort_indices(pa.concat_arrays(edges)).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[: len(paths)], place[len(paths) :]


def first_come(group: Integers, start: Integers, end: Integers) -> tuple[NDArray[np.bool_], Integers]:
    """Return which spans stay when each, in the order given, is dropped if it overlaps one that stays; and which one.

    Rounds: a span with no earlier overlap stays, what it overlaps goes, and those that go no longer stand in the
    way of others. Nested elements settle in as many rounds as they are deep.

    >>> keep, by = first_come(np.zeros(3, int), np.array([0, 4, 8]), np.array([5, 9, 12]))
    >>> keep.tolist(), by.tolist()
    ([True, False, True], [0, 0, 2])
    """
    keep = np.ones(len(start), np.bool_)
    by = np.arange(len(start))
    open_ = np.arange(len(start))
    while len(open_):
        here = (group[open_], start[open_], end[open_])
        first = first_overlap(*here)
        free = first == np.arange(len(open_))
        # A span goes when the first span it overlaps stays: that one is the earliest of all, so it is settled.
        goes = ~free & free[first]
        keep[open_[goes]] = False
        by[open_[goes]] = open_[first[goes]]
        open_ = open_[~free & ~goes]
        if len(open_):
            open_ = _still_open(open_, keep, by, (group, start, end))
    return keep, by


def _still_open(
    rows: Integers, keep: NDArray[np.bool_], by: Integers, spans: tuple[Integers, Integers, Integers]
) -> Integers:
    """Drop those of `rows` that overlap a span settled to stay; return the rest."""
    settled = np.setdiff1d(np.flatnonzero(keep), rows, assume_unique=True)
    both = np.concatenate([settled, rows])
    first = first_overlap(*(part[both] for part in spans))[len(settled) :]
    gone = first < len(settled)
    keep[rows[gone]] = False
    by[rows[gone]] = both[first[gone]]
    return rows[~gone]
