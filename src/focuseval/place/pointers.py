"""Places as files say them → positions: an element's span, an XPointer's point, the end of a range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection import Collection

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
    start = index.resolve_points(rows, first, whitespace)
    whole = pc.is_null(last)
    closing = pc.if_else(whole, first, last)
    point = is_pointer(closing)
    end = np.full(len(start), -1, np.int64)
    if point.any():
        end[point] = index.resolve_points(rows[point], closing.filter(pa.array(point)), whitespace)
    if not point.all():
        end[~point] = index.resolve(rows[~point], closing.filter(pa.array(~point)))[1]
    end[whole.to_numpy(zero_copy_only=False) & point] = -1
    return start, np.where(start < 0, -1, end)
