"""Tables of blank-separated columns: read as the columns of a layout, and written, whole columns at a time.

Reading names the first line at fault; writing refuses what such a line cannot hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.errors import FormatError
from focuseval.formats.columns import ARROW, any_lines, read_parts
from focuseval.formats.source import refuse_nul
from focuseval.placing.pointers import strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.data.run import Run
    from focuseval.formats.columns import Layout, Part
    from focuseval.formats.source import Source

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class FileTable:
    """Columns by name, and the line of every row (None: row i stands on line i + 1)."""

    columns: dict[str, pa.ChunkedArray]
    line: NDArray[np.int64] | None = None
    faults: tuple[FormatError, ...] = ()
    """The first score that is no finite number."""

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        """Return a column."""
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        """Say whether there is a column of this name."""
        return name in self.columns

    def pop(self, name: str) -> pa.ChunkedArray:
        """Return a column and let go of it: ten million strings are not kept longer than they are needed."""
        return self.columns.pop(name)

    def line_of(self, row: int) -> int:
        """Return the line of a row."""
        return int(row) + 1 if self.line is None else int(self.line[row])


def read_table(source: Source, layout: Layout, guess: Mapping[str, str] | None = None) -> FileTable:
    """Return a text file's columns; other kinds of columns may be guessed, and are tried first."""
    refuse_nul(source)
    tried = replace(layout, columns={**layout.columns, **(guess or {})})
    width = next((len(fields) for line in source.head().split(b"\n") if (fields := line.split())), 0)

    def read(how: Layout) -> list[Part]:
        kinds = dict(islice(how.columns.items(), max(width, how.least)))
        return read_parts(pa.py_buffer(source.data), partial(any_lines, kinds=kinds, layout=how), source.release)

    parts = read(tried)
    if guess and not all(part.readable for part in parts):
        parts, tried = read(layout), layout
    before, faults = 0, tuple[FormatError, ...]()
    for part in parts:
        if part.problem is not None:
            line, what, remedy = part.problem
            faults = (FormatError(what, at=source.at(line + before), remedy=remedy),)
            break
        before += part.lines
    if faults and not all(part.readable for part in parts):
        raise faults[0]
    return FileTable(_stacked(parts, tried), _lines(parts), faults)


def _stacked(parts: Sequence[Part], layout: Layout) -> dict[str, pa.ChunkedArray]:
    """Put the columns of all parts one after another; one that no line has is left out."""
    stacked = {}
    for name, kind in layout.columns.items():
        if kind is None or (parts and not any(name in part.columns for part in parts)):
            continue
        chunks = [part.columns[name] if name in part.columns else pa.nulls(part.rows, ARROW[kind]) for part in parts]
        column = pa.chunked_array(chunks, chunks[0].type if chunks else ARROW[kind])
        if column.null_count < max(len(column), 1):
            stacked[name] = column
    return stacked


def _lines(parts: Sequence[Part]) -> NDArray[np.int64] | None:
    """Return the line of every row, None where no line is blank."""
    if all(part.line is None for part in parts):
        return None
    before = np.cumsum([0, *(part.lines for part in parts)])
    lines = [np.arange(1, part.rows + 1) if part.line is None else part.line for part in parts]
    return np.concatenate([line + first for line, first in zip(lines, before[:-1], strict=True)], dtype=np.int64)


def column_array(column: pa.ChunkedArray, kind: type[T]) -> NDArray[T]:
    """Return a column of numbers as one NumPy array that may be changed."""
    chunks = [chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate(chunks).astype(kind, copy=False) if chunks else np.zeros(0, kind)


_ROWS = 1 << 16


def joined(*columns: pa.Array | pa.ChunkedArray | str) -> Iterator[bytes]:
    """Yield lines of the given string columns (or constants) with single blanks between them."""
    size = next(len(column) for column in columns if not isinstance(column, str))
    for first in range(0, size, _ROWS):
        parts = [c if isinstance(c, str) else strings(c.slice(first, _ROWS)) for c in columns]
        lines = pc.binary_join_element_wise(*parts, " ").to_pylist()
        yield ("\n".join(lines) + "\n").encode()


def run_lines(run: Run, *places: pa.Array) -> Iterator[bytes]:
    """Yield a run's lines: the six TREC columns, and then maybe places.

    Where a run has no ranks or no scores, 1, 2, 3 … and 1/1, 1/2, 1/3 … within each topic are written.
    """
    place = np.arange(len(run)) - run.bounds[run.topic] + 1
    return joined(
        words("topic", run.topics, run.topic),
        "Q0",
        words("document", run.document),
        _text(place.astype(np.int32) if run.rank is None else run.rank),
        _text(1 / place if run.score is None else run.score),  # read back exactly
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
    path = strings(run.path)
    if run.end_path is not None:
        both = pc.binary_join_element_wise(path, strings(run.end_path), " ")
        path = pc.if_else(pc.is_valid(both), both, path)
    return pc.if_else(pc.is_valid(path), path, place)


def _text(numbers: NDArray[Any]) -> pa.Array:
    return pa.array(numbers).cast(pa.string())
