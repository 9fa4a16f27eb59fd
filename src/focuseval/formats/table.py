"""Lines of blank-separated columns → a table: what a text format's reader asks for, and the first line to blame."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from focuseval.errors import FormatError
from focuseval.formats.columns import any_lines, read_parts
from focuseval.formats.numbers import ARROW
from focuseval.formats.source import refuse_nul

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.formats.columns import Part
    from focuseval.formats.source import Source

T = TypeVar("T", bound=np.generic)

_QUOTED = 60
"""Characters of a line that a message quotes."""


@dataclass(frozen=True)
class Layout:
    """The columns of a text format: name → kind; None is read past.

    Kinds: ``text``, ``block`` (text that repeats from line to line), ``int``, ``rank``, ``real``.
    """

    columns: Mapping[str, str | None]
    least: int
    """How many columns a line has at least; the others are null where they are missing."""
    remedy: str | None = None

    def __str__(self) -> str:
        """Return the columns as an error message names them."""
        names = list(self.columns)
        return " ".join(names[: self.least] + [f"[{name}]" for name in names[self.least :]])

    def wrong_width(self, fields: list[str]) -> str:
        """Return what to say of a line with too few columns, or too many."""
        most = len(self.columns)
        count = f"{most}" if most == self.least else f"{self.least} to {most}"
        found = " ".join(fields)
        found = found if len(found) <= _QUOTED else found[:_QUOTED] + "…"
        return f"expected {count} columns ({self}), found {len(fields)}: {found!r}"


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
    parts = _parts(source, tried)
    if guess and not all(part.readable for part in parts):
        parts, tried = _parts(source, layout), layout
    problem = _first_problem(source, parts)
    if problem is not None and not all(part.readable for part in parts):
        raise problem
    return FileTable(_stacked(parts, tried), _lines(parts), () if problem is None else (problem,))


def _parts(source: Source, layout: Layout) -> list[Part]:
    """Read lines up to the end, or to the part that has a line which cannot be read."""
    kinds = dict(islice(layout.columns.items(), max(_first_width(source), layout.least)))
    return read_parts(pa.py_buffer(source.data), partial(any_lines, kinds=kinds, layout=layout), source.release)


def _first_width(source: Source) -> int:
    """Return the number of columns of the first line that is not blank."""
    return next((len(fields) for line in source.head().split(b"\n") if (fields := line.split())), 0)


def _first_problem(source: Source, parts: Sequence[Part]) -> FormatError | None:
    """Return what is wrong with the first line that is."""
    before = 0
    for part in parts:
        if part.problem is not None:
            line, what, remedy = part.problem
            return FormatError(what, at=source.at(line + before), remedy=remedy)
        before += part.lines
    return None


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
