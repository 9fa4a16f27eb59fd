"""The place of every result as one or two text columns: a path, a range, an offset with or without a length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.run import Run


def place_columns(run: Run) -> pa.Array:
    """Return ``path``, ``path path``, ``offset length``, ``offset`` or ``X`` for every result.

    When any row has a length every row gets two columns, so that the file stays regular where it can.
    """
    size = len(run)
    offset = np.full(size, -1, np.int64) if run.start is None else run.start
    end = np.full(size, -1, np.int64) if run.end is None else run.end
    span, known = end >= 0, offset >= 0
    unknown = pa.scalar("X X" if span.any() else "X")
    spans = pc.binary_join_element_wise(_text(offset), _text(end - offset), " ")
    place = pc.if_else(pa.array(known & span), spans, pc.if_else(pa.array(known), _text(offset), unknown))
    if run.path is None:
        return place
    path = _plain(run.path)
    if run.end_path is not None:
        both = pc.binary_join_element_wise(path, _plain(run.end_path), " ")
        path = pc.if_else(pc.is_valid(both), both, path)
    return pc.if_else(pc.is_valid(path), path, place)


def _text(numbers: NDArray[np.int64]) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return one plain string array of a column that may be chunked or encoded."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(pa.string())
