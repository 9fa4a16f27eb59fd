"""Frames as runs and gold: pandas, polars, pyarrow, Hugging Face rows, lists of dictionaries.

A frame is taken through Arrow's PyCapsule interface (``__arrow_c_stream__``), else through the dataframe interchange
protocol (``__dataframe__``); a mapping of columns and an iterable of rows are taken as they are. No frame library is
imported. Columns are found by the names in `focuseval.data.fields`, or by one that the caller gives.

Offsets are half-open and count code points, unless `unit` declares UTF-8 ``bytes`` or ``utf-16`` code units; then the
documents must be given. Row n of a frame is reported as ``<frame>:n``, from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.fields import NAMES, disagree, missing, spelled
from focuseval.errors import FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FRAME = "<frame>"


def is_frame(value: object) -> bool:
    """Say whether a value is something that `to_table` takes, and not a file's name."""
    if isinstance(value, str | bytes) or hasattr(value, "__fspath__"):
        return False
    interchange = hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__")
    return interchange or isinstance(value, Mapping | list | tuple | pa.Table)


def to_table(frame: Any) -> pa.Table:
    """Return any frame as an Arrow table.

    >>> to_table([{"a": 1}, {"a": 2, "b": "x"}]).to_pydict()
    {'a': [1, 2], 'b': [None, 'x']}
    """
    try:
        if isinstance(frame, pa.Table):
            return frame
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        if hasattr(frame, "__dataframe__"):
            from pyarrow.interchange import from_dataframe  # noqa: PLC0415  the older protocol is rare

            return from_dataframe(frame)
        if isinstance(frame, Mapping):
            return pa.table(dict(frame))
        return _from_rows(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        found = str(error).splitlines()[0]
        raise FormatError(f"expected a frame or a list of rows, found {type(frame).__name__}: {found}") from error


def _from_rows(rows: Iterable[Any]) -> pa.Table:
    """Return rows as a table with every key that any of them has."""
    listed = list(rows)
    for number, row in enumerate(listed, 1):
        if not isinstance(row, Mapping):
            raise FormatError(f"expected a row as a dictionary, found {type(row).__name__}", at=Place(FRAME, number))
    names = dict.fromkeys(name for row in listed for name in row)
    return pa.table({name: [row.get(name) for row in listed] for name in names})


def renamed(table: pa.Table, columns: Mapping[str, str] | None) -> pa.Table:
    """Return a table whose columns have our names where the caller says which is which."""
    for name, given in (columns or {}).items():
        if given not in table.column_names:
            found = ", ".join(table.column_names) or "none"
            raise FormatError(f"expected a column {given!r}, found {found}", at=FRAME, remedy=_WHICH.format(name))
    ours = {given: name for name, given in (columns or {}).items()}
    kept = [name for name in table.column_names if name in ours or name not in ours.values()]
    return table.select(kept).rename_columns([ours.get(name, name) for name in kept])


def refuse_unnamed(table: pa.Table) -> None:
    """Raise where no column can be the topic: neither an id nor the question itself."""
    there = table.column_names
    if there and not (spelled(there, "topic", question=True) or spelled(there, "query")):
        raise missing("topic", there, Place(FRAME), *NAMES["query"], remedy=_WHICH.format("topic"))


_WHICH = "say which with columns={{'{}': …}}"


class NamedColumns:
    """The columns of a table by their meaning, and where its rows stand: in which file, and on which lines."""

    def __init__(self, table: pa.Table, file: str = FRAME, lines: Sequence[int | None] | None = None) -> None:
        self.table, self.file, self._lines = table, file, lines

    def at(self, row: int) -> Place:
        """Return where a row stands."""
        return Place(self.file, row + 1 if self._lines is None else self._lines[row])

    @property
    def lines(self) -> NDArray[np.int64]:
        """The line of every row, its number where that is not known."""
        given = self._lines
        rows = range(1, len(self.table) + 1)
        return np.array(
            rows if given is None else [line or row for line, row in zip(given, rows, strict=True)], np.int64
        )

    def find(self, name: str) -> pa.ChunkedArray | None:
        """Return the column that is meant by a name, None when there is none; two that differ are refused."""
        fitting = [other for other in self.table.column_names if self._fits(name, other)]
        names = spelled(fitting, name)
        for other in names[1:]:
            one, two = (self.table[column].cast(pa.string()).to_pylist() for column in (names[0], other))
            row = next((row for row, pair in enumerate(zip(one, two, strict=True)) if pair[0] != pair[1]), None)
            if row is not None:
                raise disagree(names[0], one[row], other, two[row], self.at(row))
        return self.table[names[0]] if names else None

    def _fits(self, name: str, other: str) -> bool:
        """Say whether a column may be what it is called: a chunk is a number or a text."""
        if other != "chunk" or name not in {"chunk", "text", "quote"}:
            return True
        return is_text(self.table[other].type) == (name != "chunk")

    def strings(self, name: str) -> pa.Array:
        """Return a column of names that must all be there; numbers are written as they look."""
        values = self.find(name)
        if values is None:
            raise missing(name, self.table.column_names, Place(FRAME), remedy=_WHICH.format(name))
        if values.null_count:
            row = values.is_null().to_pylist().index(True)
            what = "document" if name == "doc" else name
            raise FormatError(f"expected a {what} in every row, found none", at=self.at(row))
        return self._cast(values, pa.string(), name)

    def texts(self, name: str) -> pa.Array | None:
        """Return a column of texts, which may be missing."""
        values = self.find(name)
        return None if values is None else self._cast(values, pa.string(), name)

    def numbers(self, name: str, kind: pa.DataType, missing: float | None = None) -> NDArray[Any] | None:
        """Return a column of numbers; what is missing becomes `missing`, or is refused where that is None."""
        values = self.find(name)
        if values is None:
            return None
        cast = self._cast(values, kind, name)
        if cast.null_count and missing is None:
            row = cast.is_null().to_pylist().index(True)
            raise FormatError(f"expected a {name} in every row or in none, found none", at=self.at(row))
        filled = cast if missing is None else cast.fill_null(missing)
        array: NDArray[np.generic] = filled.to_numpy(zero_copy_only=False)
        return array

    def _cast(self, values: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.Array:
        """Return one array of the wanted type; a float column that holds whole numbers and NaN is one of integers."""
        chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
        whole = pa.concat_arrays(chunks) if chunks else pa.array([], values.type)
        try:
            if pa.types.is_floating(whole.type) and not pa.types.is_floating(kind):
                whole = pa.array(whole.to_numpy(zero_copy_only=False), from_pandas=True).cast(pa.int64())
            return whole.cast(kind)
        except pa.ArrowException as error:
            found = str(error).splitlines()[0]
            what = f"expected {kind} in column {name!r}, found {whole.type}: {found}"
            raise FormatError(what, at=FRAME) from error


def is_text(kind: pa.DataType) -> bool:
    """Say whether a column's type is one of text."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain))
