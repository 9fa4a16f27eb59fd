"""Where a run's results lie: every result's article, span or nested interval, as codes and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.spans import dense
from focuseval.task.overlap import path_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection import Index
    from focuseval.run import Run

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_ENDLESS = np.int64(2**32 - 1)
"""End of a document whose length nobody knows; the largest position that `focuseval.spans` can pack."""

_MOST = 2**62
"""Products of ranges beyond this would not fit a key."""


@dataclass(frozen=True)
class Layout:
    """Columns beside a run's own, one entry for every result."""

    group: Integers
    """Equal for results of the same topic and article; numbers from 0 on."""
    result: Integers
    """Equal for results of the same topic, article and place; numbers from 0 on."""
    start: Integers
    end: Integers
    """A span; empty where the result has none that is known."""
    low: Integers
    high: Integers
    """An interval that nests as paths do, where only paths are known; else empty."""
    unknown_document: Flags
    unknown_path: Flags
    unplaced: Flags
    """Texts that were looked for in their document and found nowhere, or in several places."""
    bad_span: Flags
    unchecked: Flags
    """Ranges and passages whose extent only an index could tell."""


def lay_out(run: Run, index: Index | None = None) -> Layout:
    """Return where the results of a run lie, by its own words and the index if there is one."""
    document, unknown, row = _documents(run, index)
    path, paths = _codes(run.path, len(run), normalise=True)
    last, lasts = _codes(run.end_path, len(run), normalise=True)
    text, _ = _codes(run.text, len(run))
    start, end = (
        np.full(len(run), -1, np.int64) if c is None else np.asarray(c, np.int64) for c in (run.start, run.end)
    )
    unplaced = run.aligned & (text >= 0) & (start < 0) & ~unknown
    group = _joined(np.asarray(run.topic, np.int64), document)
    result = _joined(group, path, last, text, start, end)
    whole = (path < 0) & (text < 0) & (run.start is None)
    bad = ((start < -1) | (end < -1) | ((start < 0) & (end >= 0)) | ((end >= 0) & (end <= start))) & (path < 0)
    bad |= np.maximum(start, end) > _ENDLESS
    pointer = pc.match_substring(paths, "text()").to_numpy(zero_copy_only=False)
    by_path = (path >= 0) & (last < 0) & ~np.append(pointer, False)[path]
    missing = np.zeros(len(run), np.bool_)
    if index is not None:
        start, end = _resolved(index, row, (path, paths), (last, lasts), (start, end))
        missing = ~unknown & (path >= 0) & ((start < 0) | ((end < 0) & by_path))
        end = np.where(whole & ~unknown, index.lengths[row], end)
        bad |= ~unknown & (path < 0) & (end > index.lengths[row])
        bad |= (path >= 0) & (last >= 0) & (end >= 0) & (end < start)
    start = np.where(whole, 0, start)
    end = np.where(whole & (end < 0), _ENDLESS, end)
    known = (start >= 0) & (end > start) & ~bad
    low, high = _nested(paths, np.where(by_path & ~known & (index is None), path, np.where(whole, len(paths), -1)))
    return Layout(
        group=group,
        result=result,
        start=np.where(known, start, 0),
        end=np.where(known, end, 0),
        low=low,
        high=high,
        unknown_document=unknown,
        unknown_path=missing,
        unplaced=unplaced,
        bad_span=bad,
        unchecked=(path >= 0) & (last >= 0) & (index is None) & ~known,
    )


def nested_paths(column: Any) -> tuple[Integers, Integers]:
    """Return for every path of a column an interval that nests as the paths do; null is the whole document.

    >>> low, high = nested_paths(pa.array(["/a[1]", "/a/b[2]", "/a[1]/c[1]"]))
    >>> bool(low[0] < low[1] < high[1] <= low[2] < high[2] < high[0])
    True
    """
    code, paths = _codes(column, len(column), normalise=True)
    return _nested(paths, np.where(code < 0, len(paths), code))


def _documents(run: Run, index: Index | None) -> tuple[Integers, Flags, Integers]:
    """Return a code for every result's document, whether the index lacks it, and its row there (0 if it does)."""
    code, _ = _codes(run.document, len(run))
    if index is None:
        return code, np.zeros(len(run), np.bool_), np.zeros(len(run), np.int64)
    row = index.find(run.document).astype(np.int64)
    return np.where(row >= 0, row, len(index) + code), row < 0, np.maximum(row, 0)


def _codes(column: Any, size: int, *, normalise: bool = False) -> tuple[Integers, Any]:
    """Return a code for every row, −1 for null, and what the codes stand for; paths get their missing ``[1]``."""
    if column is None:
        return np.full(size, -1, np.int64), pa.array([], pa.string())
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    names = coded.dictionary.cast(pa.string())
    if normalise:
        full = pc.replace_substring_regex(pc.utf8_rtrim(names, "/"), r"([^\]/])(/|$)", r"\1[1]\2")
        once = pc.if_else(pc.match_substring(names, "text()"), names, full).dictionary_encode()
        codes = np.append(once.indices.to_numpy(zero_copy_only=False).astype(np.int64), -1)[codes]
        names = once.dictionary
    return codes, names


def _joined(*columns: Integers) -> Integers:
    """Return numbers from 0 on that are equal where all columns are; one sort, unless the columns' ranges are huge."""
    key = np.zeros(len(columns[0]), np.int64)
    room = 1
    for column in columns:
        low, high = int(column.min(initial=0)), int(column.max(initial=0))
        if room * (high - low + 1) > _MOST:
            key, column = dense(key), dense(column)  # noqa: PLW2901  the same values, closer together
            low, high, room = 0, len(column), len(column)
        key = key * (high - low + 1) + (column - low)
        room *= high - low + 1
    return dense(key)


def _resolved(
    index: Index,
    row: Integers,
    first: tuple[Integers, Any],
    last: tuple[Integers, Any],
    span: tuple[Integers, Integers],
) -> tuple[Integers, Integers]:
    """Return spans, those of paths looked up where the run does not give them."""
    start, end = (column.copy() for column in span)
    here = np.flatnonzero((first[0] >= 0) & (start < 0))
    begin, stop = _ends(index, row[here], first[1].take(pa.array(first[0][here])))
    start[here] = begin
    ranges = last[0][here] >= 0
    end[here[~ranges]] = stop[~ranges]
    there = here[ranges]
    end[there] = _ends(index, row[there], last[1].take(pa.array(last[0][there])))[1]
    return start, end


def _ends(index: Index, row: Integers, paths: Any) -> tuple[Integers, Integers]:
    """Return where elements start and end; a pointer does both at its one position."""
    start, end = index.resolve(row, paths)
    points = np.flatnonzero(pc.match_substring(paths, "text()").to_numpy(zero_copy_only=False))
    start[points] = end[points] = index.resolve_points(row[points], paths.take(pa.array(points)))
    return start, end


def _nested(paths: Any, code: Integers) -> tuple[Integers, Integers]:
    """Return the nested interval of every path code, an empty one for −1; the code past the last is the whole text."""
    low, high = path_intervals(pa.concat_arrays([paths, pa.array([""], pa.string())]))
    return np.append(low, 0)[code], np.append(high, 0)[code]
