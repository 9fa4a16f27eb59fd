"""Lines of blank-separated columns → Arrow columns: three ways that agree, from fastest to most patient.

1. A regular file (one blank or tab between columns, the same number of them everywhere) goes straight to Arrow.
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
from focuseval.formats.source import refuse_nul

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from focuseval.formats.source import Source

_ARROW = {"text": pa.string(), "int": pa.int64(), "rank": pa.int32(), "real": pa.float64()}
_BLOCK = 1 << 22
_NEWLINE, _RETURN, _SPACE, _TAB = 10, 13, 32, 9
_WHOLE = {"int": re.compile(r"[+-]?[0-9]{1,18}"), "rank": re.compile(r"[+-]?[0-9]{1,9}")}
_REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_QUOTED = 60


@dataclass(frozen=True)
class Layout:
    """The columns of a text format: name → kind (``text``, ``int``, ``rank``, ``real``; None is read past)."""

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

    columns: Mapping[str, Any]
    line: NDArray[np.int64] | None = None

    def __getitem__(self, name: str) -> Any:
        """Return a column."""
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        """Say whether the file has this column."""
        return name in self.columns

    def line_of(self, row: int) -> int:
        """Return the line of a row."""
        return int(row) + 1 if self.line is None else int(self.line[row])


def read_table(source: Source, layout: Layout, *guesses: Mapping[str, str]) -> Table:
    """Return a text file's columns; each guess of column kinds is tried before the layout's own."""
    refuse_nul(source)
    data = pa.py_buffer(source.data)
    width = _first_width(source)
    if not layout.least <= width <= len(layout.columns):
        return plain_table(source, layout)
    data = data.slice(0, _without_blank_end(data))
    kinds = [{**layout.columns, **guess} for guess in guesses] + [dict(layout.columns)]
    for kind in kinds:
        columns = _parsed(data, list(kind.items())[:width], _separator(source))
        if columns is not None:
            return Table(columns)
    tidy, line = _tidied(np.frombuffer(data, np.uint8))
    columns = _parsed(pa.py_buffer(tidy), list(layout.columns.items())[:width], " ")
    return plain_table(source, layout) if columns is None else Table(columns, line)


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
            values[name].append(text if text is None or kind == "text" else number(source, line, name, kind, text))
    arrays = {name: pa.chunked_array([pa.array(values[name], _ARROW[kind])]) for name, kind in kinds}
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
    raise FormatError(f"expected {what} as {name}, found {text!r}", at=source.at(line))


def column_array(column: Any, kind: type[np.generic]) -> NDArray[Any]:
    """Return a column of numbers as one NumPy array that may be changed."""
    chunks = [chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate(chunks).astype(kind, copy=False) if chunks else np.zeros(0, kind)


def _parsed(data: pa.Buffer, kinds: list[tuple[str, str | None]], separator: str) -> dict[str, Any] | None:
    """Let Arrow read the columns; None when the file is not as regular as that."""
    from pyarrow import csv  # noqa: PLC0415  costs 40 ms that other formats need not pay

    wanted = {name: _ARROW[kind] for name, kind in kinds if kind}
    if not data.size:
        return {name: pa.chunked_array([], kind) for name, kind in wanted.items()}
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=[name for name, _ in kinds], block_size=_BLOCK),
            csv.ParseOptions(delimiter=separator, quote_char=False, double_quote=False, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=wanted, include_columns=list(wanted), null_values=[], strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    columns = {name: table[name] for name in wanted}
    return columns if _whole(columns) else None


def _whole(columns: Mapping[str, Any]) -> bool:
    """Whether no text is empty (two separators in a row) and every number is finite."""
    import pyarrow.compute as pc  # noqa: PLC0415  loaded with csv anyway

    for column in columns.values():
        if pa.types.is_string(column.type):
            if len(column) and not pc.min(pc.binary_length(column)).as_py():
                return False
        elif pa.types.is_floating(column.type) and not all(np.isfinite(chunk).all() for chunk in column.chunks):
            return False
    return True


def _first_width(source: Source) -> int:
    """Return the number of columns of the first line that is not blank."""
    return next((len(line.split()) for line in source.head().splitlines() if line.strip()), 0)


def _separator(source: Source) -> str:
    first = next((line for line in source.head().splitlines() if line.strip()), b"")
    return "\t" if b"\t" in first and b" " not in first else " "


def _without_blank_end(data: pa.Buffer) -> int:
    """Return where the text ends when the blank lines at the end are left out."""
    tail = bytes(data.slice(max(0, data.size - (1 << 12))))
    return int(data.size) - len(tail) + len(tail.rstrip())


def _tidied(text: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """One space between columns and no blank line; also the line numbers of what is left."""
    blank = (text == _SPACE) | (text == _TAB) | (text == _RETURN)
    after = np.r_[text[1:] == _NEWLINE, True] | np.r_[blank[1:], True]
    kept = text[~(blank & after)]
    kept[(kept == _TAB) | (kept == _RETURN)] = _SPACE
    before = np.r_[True, kept[:-1] == _NEWLINE]
    kept = kept[~(before & (kept == _SPACE))]
    ends = np.flatnonzero(kept == _NEWLINE)
    starts = np.r_[0, ends + 1]
    filled = np.r_[ends, len(kept)] > starts
    before = np.r_[True, kept[:-1] == _NEWLINE]
    return kept[~(before & (kept == _NEWLINE))], np.flatnonzero(filled) + 1
