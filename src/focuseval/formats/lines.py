"""Columns → blank-separated lines, whole columns at a time; what such a line cannot hold is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from focuseval.data.run import Run

_ROWS = 1 << 16


def joined(*columns: pa.Array | pa.ChunkedArray | str) -> Iterator[bytes]:
    """Yield lines of the given string columns (or constants) with single blanks between them."""
    size = next(len(column) for column in columns if not isinstance(column, str))
    for first in range(0, size, _ROWS):
        parts = [c if isinstance(c, str) else _flat(c.slice(first, _ROWS)) for c in columns]
        lines = pc.binary_join_element_wise(*parts, " ").to_pylist()
        yield ("\n".join(lines) + "\n").encode()


def run_lines(run: Run, *places: pa.Array) -> Iterator[bytes]:
    """Yield a run's lines: the six TREC columns, and then maybe places."""
    return joined(
        words("topic", run.topics, run.topic),
        "Q0",
        words("document", run.document),
        ranks(run),
        scores(run),
        words("run id", [run.run_id or "run"])[0].as_py(),
        *places,
    )


def words(
    what: str, values: Sequence[str] | pa.Array | pa.ChunkedArray, codes: NDArray[np.int32] | None = None
) -> pa.Array | pa.ChunkedArray:
    """Return strings that a blank-separated column can hold, each taken by its code when codes are given."""
    strings = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values, pa.string())
    bad = strings.filter(pc.match_substring_regex(pc.cast(strings, pa.string()), r"^$|[\s\x00\x{feff}]"))
    if len(bad):
        raise FormatError(
            f"expected a {what} without blanks, found {bad[0].as_py()!r}",
            remedy="write a format that can hold it, such as JSONL",
        )
    return strings if codes is None else strings.take(pa.array(codes))


def ranks(run: Run) -> pa.Array:
    """Return the run's ranks, or 1, 2, 3 … within each topic when it has none."""
    rank = run.rank
    if rank is None:
        rank = (np.arange(len(run)) - run.bounds[run.topic] + 1).astype(np.int32)
    return pa.array(rank).cast(pa.string())


def scores(run: Run) -> pa.Array:
    """Return the run's scores so that they read back exactly, or 1/1, 1/2, 1/3 … when it has none."""
    if run.score is None:
        return pa.array(1 / (np.arange(len(run)) - run.bounds[run.topic] + 1)).cast(pa.string())
    return pa.array(run.score).cast(pa.string())


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
    path = _flat(run.path)
    if run.end_path is not None:
        both = pc.binary_join_element_wise(path, _flat(run.end_path), " ")
        path = pc.if_else(pc.is_valid(both), both, path)
    return pc.if_else(pc.is_valid(path), path, place)


def _text(numbers: NDArray[np.int64]) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return one plain string array of a column that may be chunked or encoded."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(pa.string())
