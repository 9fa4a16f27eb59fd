"""Places as files say them → positions: an element's span, an XPointer's point, the end of a range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.engine.keys import indices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection

_POINTER = "text()"


def strings(column: Any) -> Any:
    """Return one plain string array of a column that may be chunked or dictionary-encoded."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(pa.string())


def is_pointer(paths: Any) -> NDArray[np.bool_]:
    """Say which paths point into a text node; null is not one."""
    found: NDArray[np.bool_] = pc.fill_null(pc.match_substring(paths, _POINTER), False).to_numpy(zero_copy_only=False)
    return found


def starts_and_ends(
    index: Collection, rows: NDArray[Any], first: Any, last: Any, whitespace: str = "keep"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where passages begin and end, −1 where the index has no such place.

    `last` is an XPointer (exclusive), an element (its own end) or null: then `first` is an element and its end counts,
    or an XPointer alone, an entry point without end.
    """
    whole = pc.is_null(last).to_numpy(zero_copy_only=False)
    start, end = _edges(index, rows, first, whitespace)
    end = np.where(whole & ~is_pointer(first), end, -1)
    ranges = np.flatnonzero(~whole)
    if len(ranges):
        end[ranges] = _edges(index, rows[ranges], last.take(indices(ranges)), whitespace)[1]
    return start, np.where(start < 0, -1, end)


def _edges(
    index: Collection, rows: NDArray[np.int64], paths: pa.Array, whitespace: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where elements start and end; a pointer does both at its one position."""
    start, end = index.resolve(rows, paths)
    points = np.flatnonzero(start < 0)
    if len(points):
        start[points] = index.resolve_points(rows[points], paths.take(indices(points)), whitespace)
        end[points] = np.where(is_pointer(paths)[points], start[points], end[points])
    return start, end
