"""Tables of other programs as JSON lines: Parquet, the first sheet of an Excel workbook, what pandas writes as JSON.

A row is a line: what reads JSON lines reads these, too, and names the row. Of a workbook (``.xlsx``) the first row that
has cells is the header. Of ``DataFrame.to_json`` the layouts ``columns`` (the default), ``index``, ``split`` and
``table`` are read here; ``records`` is JSON as it is.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO
from xml.etree import ElementTree as ET

import pyarrow as pa

from focuseval.data.fields import KNOWN, column_name, json_line
from focuseval.errors import FormatError

PARQUET = b"PAR1"
_MOST = 1 << 28  # bytes at most of a part of a workbook, of a column of Parquet before it is repeated, and of all lines
_SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def as_lines(data: bytes, name: str) -> bytes:
    """Return the rows of a table as JSON lines."""
    with _table(name):
        if data[:4] == PARQUET:
            return _lines(row for batch in _batches(io.BytesIO(data)) for row in batch)
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            return _lines(_sheet(book))


def parquet_blocks(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the rows of an open file in Parquet as JSON lines, some at a time."""
    with _table(name):
        yield from map(_lines, _batches(file))


@contextmanager
def _table(name: str) -> Iterator[None]:
    """Refuse in one line what is no such table."""
    try:
        yield
    except (pa.ArrowException, zipfile.BadZipFile, ET.ParseError, LookupError, ValueError, OSError) as error:
        found = str(error).splitlines()[0] if str(error) else type(error).__name__
        what = f"expected a table in Parquet or Excel, found: {found}"
        raise FormatError(what, at=name, remedy="save it again, or as CSV") from error


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    """Return a line for every row; a value that is stored once may stand in every row, so that they are counted."""
    lines, size = [], 0
    for row in rows:
        named = {column_name(str(name)): value for name, value in row.items()}
        lines.append(json_line(named, "replace", default=str) if row else b"\n")
        size += len(lines[-1])
        if size > _MOST:
            raise ValueError(f"rows of more than {_MOST >> 20} MB")
    return b"".join(lines)


def pandas_lines(data: bytes) -> bytes:
    """Return what pandas wrote as JSON lines; JSON that only begins alike, and what is no JSON, as it is."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):  # whoever reads it says so
        return data
    columns, rows = value.get("columns"), value.get("data")
    names = list(map(str, columns)) if isinstance(columns, list) else []
    inner = [one for one in value.values() if isinstance(one, dict)]
    found: list[Any] = []
    if isinstance(rows, list):
        listed = (row if isinstance(row, list) else () for row in rows)
        found = rows if "schema" in value else [dict(zip(names, row, strict=False)) for row in listed]
    elif inner and len(inner) == len(value):
        by_columns = any(column_name(name) in KNOWN for name in value)
        found = [{name: value[name].get(row) for name in value} for row in inner[0]] if by_columns else inner
    named = found and all(isinstance(row, dict) and any(column_name(str(n)) in KNOWN for n in row) for row in found)
    return _lines(found) if named else data


def _batches(source: BinaryIO) -> Iterator[list[dict[str, Any]]]:
    """Yield rows of Parquet, as many at a time as stay small, however long the longest value is."""
    from pyarrow import parquet  # noqa: PLC0415  20 ms, and few files are Parquet

    file = parquet.ParquetFile(source)
    groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
    sizes = (group.column(number).total_uncompressed_size for group in groups for number in range(group.num_columns))
    if (largest := max(sizes, default=0)) > _MOST:
        raise ValueError(f"more than {_MOST >> 20} MB in a column")
    for batch in file.iter_batches(batch_size=max(1, min(1024, _MOST // max(largest, 1)))):
        yield batch.to_pylist()


def _sheet(book: zipfile.ZipFile) -> Iterator[dict[str, Any]]:
    """Yield the rows of the first sheet; an empty one for the header and every row before or without cells."""
    shared = []
    if "xl/sharedStrings.xml" in book.namelist():
        shared = [_text(one) for one in _parsed(book, "xl/sharedStrings.xml").iter(f"{_SPACE}si")]
    sheets = [name for name in book.namelist() if re.fullmatch(r"xl/worksheets/[^/]+\.xml", name)]
    if not sheets:
        raise ValueError("a ZIP file without a sheet")
    first = min(sheets, key=lambda name: (len(name), name))
    header, line = dict[str, str](), 0
    for row in _parsed(book, first).iter(f"{_SPACE}row"):
        at = int(row.get("r", str(line + 1))[:9])
        if at > 1 << 20:  # as many rows has Excel
            raise ValueError(f"row {at}")
        cells = {re.sub("[0-9]", "", cell.get("r", "")): _value(cell, shared) for cell in row}
        cells = {column: value for column, value in cells.items() if value not in {None, ""}}
        yield from ({} for _ in range(line + 1, at))
        yield {header[column]: value for column, value in cells.items() if column in header}
        header, line = header or {column: column_name(str(value)) for column, value in cells.items()}, at


def _parsed(book: zipfile.ZipFile, name: str) -> ET.Element:
    if book.getinfo(name).file_size > _MOST:
        raise ValueError(f"more than {_MOST >> 20} MB in {name}")
    return ET.fromstring(book.read(name))  # noqa: S314  expat of Python ≥ 3.11 bounds what entities become


def _text(element: ET.Element) -> str:
    return "".join(one.text or "" for one in element.iter(f"{_SPACE}t"))


def _value(cell: ET.Element, shared: list[str]) -> Any:
    kind, value = cell.get("t", "n"), cell.find(f"{_SPACE}v")
    if kind == "inlineStr":
        return _text(cell)
    if value is None or value.text is None:
        return None
    if kind == "s":
        return shared[int(value.text)]
    number = float(value.text) if kind == "n" else None
    return value.text if number is None else int(number) if number.is_integer() else number
