"""Lines of blank-separated columns → Arrow columns: three ways that agree, from fastest to most patient.

1. A regular file (one blank or tab between columns, the same number of them everywhere) is split by compiled
   code or, where there is none or a number is not plain, by Arrow.
2. An untidy one (several blanks, blank lines, blanks at line ends) is tidied as one byte array and tried again.
3. What is still refused is read line by line, which finds the line to blame, or reads what only this way understands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.errors import FormatError
from focuseval.formats.columns import ARROW, encoded, parsed, parsed_tidy
from focuseval.formats.source import refuse_nul

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from focuseval.formats.source import Source

_WHOLE = {"int": re.compile(r"[+-]?[0-9]{1,18}"), "rank": re.compile(r"[+-]?[0-9]{1,9}")}
_REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_QUOTED = 60
_NEWLINE = 10


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


@dataclass(frozen=True)
class Table:
    """Columns by name, and the line of every row (None: row i stands on line i + 1)."""

    columns: dict[str, Any]
    line: NDArray[np.int64] | None = None

    def __getitem__(self, name: str) -> Any:
        """Return a column."""
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        """Say whether the file has this column."""
        return name in self.columns

    def pop(self, name: str) -> Any:
        """Return a column and let go of it: ten million strings are not kept longer than they are needed."""
        return self.columns.pop(name)

    def line_of(self, row: int) -> int:
        """Return the line of a row."""
        return int(row) + 1 if self.line is None else int(self.line[row])


def read_table(source: Source, layout: Layout, *guesses: Mapping[str, str]) -> Table:
    """Return a text file's columns; each guess of column kinds is tried before the layout's own."""
    data = pa.py_buffer(source.data)
    lowest = int(np.frombuffer(data, np.uint8).min(initial=_NEWLINE))  # one look tells that no NUL and no tab is there
    if not lowest:
        refuse_nul(source)
    width = _first_width(source)
    if not layout.least <= width <= len(layout.columns):
        return plain_table(source, layout)
    if any("int" in kind.values() for kind in (layout.columns, *guesses)) and _hexadecimal(source):
        return plain_table(source, layout)
    data = data.slice(0, _without_blank_end(data))
    separator = _separator(source)
    kinds = [{**layout.columns, **guess} for guess in guesses] + [dict(layout.columns)]
    mixed = (separator == "\t" or lowest < _NEWLINE) and source.data.find(_OTHER[separator]) >= 0
    for kind in [] if mixed else kinds:
        columns = parsed(data, list(kind.items())[:width], separator, release=source.release)
        if columns is not None:
            return Table(columns)
    tidy = parsed_tidy(data, list(layout.columns.items())[:width])
    return plain_table(source, layout) if tidy is None else Table(*tidy)


_OTHER = {" ": b"\t", "\t": b" "}
"""The separator that must not occur besides: Arrow would take it for a part of a name."""


def _hexadecimal(source: Source) -> bool:
    """Say whether something looks like ``0x1f``: Arrow would take it for a number, and a score would change."""
    return any(source.data.find(x) >= 0 and source.data.find(b"0" + x) >= 0 for x in (b"x", b"X"))


def plain_table(source: Source, layout: Layout) -> Table:
    """Read line by line: slow, and the one that knows which line is wrong."""
    kinds = [(name, kind) for name, kind in layout.columns.items() if kind]
    position = {name: i for i, name in enumerate(layout.columns)}
    values: dict[str, list[Any]] = {name: [] for name, _ in kinds}
    lines = []
    for line, fields in split_lines(source):
        check_width(source, line, fields, layout)
        lines.append(line)
        for name, kind in kinds:
            text = fields[position[name]] if position[name] < len(fields) else None
            values[name].append(
                text if text is None or kind in {"text", "block"} else number(source, line, name, kind, text)
            )
    arrays = {name: encoded(pa.chunked_array([pa.array(values[name], ARROW[kind])]), kind) for name, kind in kinds}
    present = {name: column for name, column in arrays.items() if column.null_count < max(len(column), 1)}
    return Table(present, np.array(lines, np.int64))


def split_lines(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield every line that is not blank, with its number, split at blanks and tabs."""
    for line, raw in enumerate(source.data[:].split(b"\n"), 1):
        fields = raw.split()
        if fields:
            try:
                yield line, [field.decode() for field in fields]
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"expected UTF-8, found byte 0x{error.object[error.start]:02x}",
                    at=source.at(line),
                    remedy="convert the file to UTF-8",
                ) from error


def check_width(source: Source, line: int, fields: list[str], layout: Layout) -> None:
    """Raise unless a line has as many columns as the layout allows."""
    most = len(layout.columns)
    if layout.least <= len(fields) <= most:
        return
    count = f"{most}" if most == layout.least else f"{layout.least} to {most}"
    found = " ".join(fields)
    found = found if len(found) <= _QUOTED else found[:_QUOTED] + "…"
    raise FormatError(
        f"expected {count} columns ({layout}), found {len(fields)}: {found!r}",
        at=source.at(line),
        remedy=layout.remedy,
    )


def number(source: Source, line: int, name: str, kind: str, text: str) -> float:
    """Return a field as a number; not-a-number and infinities are refused, whoever wrote them."""
    if kind in _WHOLE and _WHOLE[kind].fullmatch(text):
        return int(text)
    if kind == "real" and _REAL.fullmatch(text) and np.isfinite(value := float(text)):
        return value
    what = "a whole number" if kind in _WHOLE else "a finite number"
    raise FormatError(f"expected {what} as {name}, found {text!r}", at=source.at(line), remedy="correct the line")


def column_array(column: Any, kind: type[np.generic]) -> NDArray[Any]:
    """Return a column of numbers as one NumPy array that may be changed."""
    chunks = [chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate(chunks).astype(kind, copy=False) if chunks else np.zeros(0, kind)


def _first_width(source: Source) -> int:
    """Return the number of columns of the first line that is not blank."""
    return next((len(line.split()) for line in source.head().splitlines() if line.strip()), 0)


def _separator(source: Source) -> str:
    first = next((line for line in source.head().splitlines() if line.strip()), b"")
    return "\t" if b"\t" in first and b" " not in first else " "


def _without_blank_end(data: pa.Buffer) -> int:
    """Return where the text ends, its last newline included, when the blank lines at the end are left out."""
    tail = bytes(data.slice(max(0, data.size - (1 << 12))))
    end = len(tail.rstrip())
    return int(data.size) - len(tail) + end + (tail[end : end + 1] == b"\n")
