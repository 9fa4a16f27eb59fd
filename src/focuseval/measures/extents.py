"""Results as the tasks' rules compare them: articles, places and extents as numbers, and which results overlap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.placement import BAD_SPAN, NO_PLACE, TEXT_AMBIGUOUS, TEXT_LOST
from focuseval.data.run import Run
from focuseval.data.spans import crowded, dense, first_cover, pack
from focuseval.engine.native import encoded
from focuseval.measures import tasks
from focuseval.measures.recall_base import numbered
from focuseval.measures.tasks import Rule
from focuseval.measures.topicwise import Flags, Integers

_ENDLESS = np.int64(2**32 - 1)
"""End of a document whose length nobody knows; the largest position that `focuseval.data.spans` can pack."""

_MOST = 2**62  # products of ranges beyond this would not fit a key


@dataclass(frozen=True, eq=False)
class Extents:
    """Columns beside a run's own, one entry for every result."""

    group: Integers  # equal for results of the same topic and article; numbers from 0 on
    place: tuple[Integers, ...]  # columns that are all equal for results of the same place in an article
    start: Integers
    end: Integers  # a span; empty where the result has none that is known
    low: Integers
    high: Integers  # an interval that nests as paths do, where only paths are known; else empty
    misplaced: tuple[tuple[Rule, Flags], ...]
    """Results without a place, or with a wrong one, by the rule that they break."""
    empty: Flags  # bad spans that are only empty
    unchecked: Flags  # ranges and passages whose extent is unknown without a collection

    @cached_property
    def result(self) -> Integers:
        """Equal for results of the same topic, article and place; numbers from 0 on."""
        return _joined(self.group, *self.place)


def extents(run: Run) -> Extents:
    """Return what the results cover: by their `placement`, or by their own words where the run is not placed."""
    placement, whole = run.placement, run.whole_documents
    document, _ = _codes(run.document, len(run))
    unknown = np.zeros(len(run), np.bool_)
    if placement is not None:
        row = placement.document
        document, unknown = np.where(row >= 0, row, len(placement.collection) + document), row < 0
    path, paths = _codes(run.path, len(run), normalise=True)
    last, _ = _codes(run.end_path, len(run), normalise=True)
    text, _ = _codes(run.text, len(run))
    unknown_place = np.full(len(run), -1, np.int64)
    start, end = (unknown_place if c is None else np.asarray(c, np.int64) for c in (run.start, run.end))
    group = _joined(np.asarray(run.topic, np.int64), document)
    place = (path, last, text, start, end)
    if whole:
        length = np.full(len(run), -1, np.int64) if placement is None else placement.length
        start, end = np.zeros(len(run), np.int64), np.where(length < 0, _ENDLESS, length)
    status = np.zeros(len(run), np.int8) if placement is None or placement.status is None else placement.status
    bad = (start < -1) | (end < -1) | ((start < 0) & (end >= 0)) | ((end >= 0) & (end <= start))
    bad = bad & (path < 0) & ~np.bool_(whole) | (status == BAD_SPAN) | (np.maximum(start, end) > _ENDLESS)
    empty = bad & (status != BAD_SPAN) & (start == end) & (start >= 0) & (start <= _ENDLESS)
    known = (start >= 0) & (end > start) & ~bad
    nested = np.full(len(run), -1, np.int64)
    if placement is None:  # elements whose place only their paths say
        pointer = pc.match_substring(paths, "text()").to_numpy(zero_copy_only=False)
        nested = np.where((path >= 0) & (last < 0) & ~np.append(pointer, False)[path] & ~known, path, -1)
    row = np.full(len(run), len(paths)) if whole else nested  # behind all paths the whole text, then nothing
    edges = path_intervals(pa.concat_arrays([paths, pa.array([""], pa.string())]))
    low, high = (np.append(edge, 0)[row] for edge in edges)
    return Extents(
        group=group,
        place=place,
        start=np.where(known, start, 0),
        end=np.where(known, end, 0),
        low=low,
        high=high,
        misplaced=(
            (tasks.UNKNOWN_DOCUMENT, unknown),
            (tasks.UNKNOWN_PATH, status == NO_PLACE),
            (tasks.UNPLACED, ((status == TEXT_AMBIGUOUS) | (status == TEXT_LOST)) & ~unknown),
            (tasks.BAD_SPAN, bad),
        ),
        empty=empty,
        unchecked=(path >= 0) & (last >= 0) & np.bool_(placement is None) & ~known,
    )


def _codes(column: pa.Array | None, size: int, *, normalise: bool = False) -> tuple[Integers, pa.Array]:
    """Return a code for every row, −1 for null, and what the codes stand for; paths get their missing ``[1]``."""
    if column is None:
        return np.full(size, -1, np.int64), pa.array([], pa.string())
    coded = encoded(column)
    codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    names = coded.dictionary.cast(pa.string())
    if normalise:
        full = numbered(pc.utf8_rtrim(names, "/")).cast(pa.string())
        once = pc.if_else(pc.match_substring(names, "text()"), names, full).dictionary_encode()
        codes = np.append(once.indices.to_numpy(zero_copy_only=False).astype(np.int64), -1)[codes]
        names = once.dictionary
    return codes, names


def _joined(*columns: Integers) -> Integers:
    """Return numbers from 0 on that are equal where all columns are; one sort, at most, unless the ranges are huge."""
    key = np.zeros(len(columns[0]), np.int64)
    room = 1
    for column in columns:
        low, high = int(column.min(initial=0)), int(column.max(initial=0))
        if room * (high - low + 1) > _MOST:
            key, column = dense(key), dense(column)  # noqa: PLW2901  the same values, closer together
            low, high, room = 0, len(column), len(column)
        key = key * (high - low + 1) + (column - low)
        room *= high - low + 1
    if room > 8 * len(key):
        return dense(key)
    present = np.zeros(room, np.bool_)
    present[key] = True
    return (np.cumsum(present) - 1)[key]


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
    # The smallest value of a range is that of two blocks of 2**k values, one at each of its ends.
    values, level = first_cover(first, last, len(cuts)), np.frexp((last - first).astype(np.float64))[1] - 1
    for k in range(int(level.max(initial=0)) + 1):
        if k:
            step = 1 << (k - 1)
            values = np.minimum(values, np.append(values[step:], np.full(step, len(first))))
        here = np.flatnonzero(level == k)
        answer[rows[here]] = rows[np.minimum(values[first[here]], values[last[here] - (1 << k)])]
    return answer


def path_intervals(paths: pa.Array) -> tuple[Integers, Integers]:
    """Return intervals, one for each path of a string array, that nest exactly as the paths do.

    A path's interval runs from the sorted place of ``path/`` to that of ``path0``: ``0`` follows ``/``, so all
    descendants and nothing else lie between. The empty path is the whole document.

    >>> low, high = path_intervals(pa.array(["/a[1]", "/a[1]/b[1]", "/a[10]", ""]))
    >>> bool(low[0] < low[1] < high[1] < high[0]), bool(low[2] < high[2] <= low[0]), bool(low[3] < low[2])
    (True, True, True)
    """
    edges = [pc.binary_join_element_wise(paths, edge, "") for edge in ("/", "0")]
    order = pc.array_sort_indices(pa.concat_arrays(edges)).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[: len(paths)], place[len(paths) :]


def first_come(group: Integers, start: Integers, end: Integers) -> tuple[Flags, Integers]:
    """Return which spans stay when each, in the order given, is dropped if it overlaps one that stays; and which one.

    Rounds: what overlaps a span that stays goes, a span with no earlier overlap stays, and those that go no longer
    stand in the way of others. Nested elements settle in as many rounds as they are deep.

    >>> keep, by = first_come(np.zeros(3, int), np.array([0, 4, 8]), np.array([5, 9, 12]))
    >>> keep.tolist(), by.tolist()
    ([True, False, True], [0, 0, 2])
    """
    by, open_ = np.arange(len(start)), np.arange(len(start))
    settled = open_[:0]
    while len(open_):
        both = np.concatenate([settled, open_])
        place = first_overlap(group[both], start[both], end[both])[len(settled) :]
        goes, free = place < len(settled), both[place] == open_
        by[open_[goes]] = both[place[goes]]
        settled, open_ = np.union1d(settled, open_[free]), open_[~goes & ~free]
    return by == np.arange(len(start)), by
