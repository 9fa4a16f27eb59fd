"""Files of rows, whatever holds them: JSON lines, a JSON list, an object around one list, CSV or TSV with a header."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.data.fields import KNOWN
from focuseval.errors import FormatError
from focuseval.formats.json_records import whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from focuseval.errors import Place
    from focuseval.formats.source import Source

_BETWEEN = re.compile(r"[\s,]*")


class Row(NamedTuple):
    """A row of a file: what it says, and its line, None where that is not known."""

    line: int | None
    values: Mapping[str, Any]


def rows_of(source: Source) -> Iterator[Row]:
    """Yield the rows of a file with their lines."""
    text = text_of(source)
    begin = text.lstrip()[:1]
    yield from _json_rows(text, source) if begin in {"{", "["} else table_rows(source)


def text_of(source: Source) -> str:
    """Return a file's text."""
    try:
        return bytes(source.data).decode()
    except UnicodeDecodeError as error:
        at = source.at(source.line_of(error.start))
        raise FormatError(f"expected UTF-8, found byte 0x{error.object[error.start]:02x}", at=at) from error


def _json_rows(text: str, source: Source) -> Iterator[Row]:
    """Yield the objects of a list, of lines, or of the one list that an object is written around."""
    first = len(text) - len(text.lstrip())
    listed = text[first] == "["
    values = _values(text, first + listed, source, closed=listed)
    line, value = next(values, (1, {}))
    rest = next(values, None)
    if not listed and rest is None and isinstance(value, dict):
        yield from _inner_rows(line, value)
        return
    for number, row in ((line, value), *(() if rest is None else (rest, *values))):
        if not isinstance(row, dict):
            raise FormatError(f"expected an object, found {json.dumps(row)[:40]}", at=source.at(number))
        yield Row(number, row)


def _inner_rows(line: int, value: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of an object: of the only list of objects in it, of scores by topic and document, or itself."""
    lists = [rows for rows in value.values() if isinstance(rows, list) and rows and isinstance(rows[0], dict)]
    if len(lists) == 1 and not value.keys() & KNOWN:
        yield from (Row(None, row) for row in lists[0])
    elif value and all(isinstance(scores, dict) for scores in value.values()):
        for topic, scores in value.items():
            yield from (Row(None, {"topic": topic, "doc": doc, "score": score}) for doc, score in scores.items())
    elif value:
        yield Row(line, value)


def _values(text: str, at: int, source: Source, *, closed: bool) -> Iterator[tuple[int, Any]]:
    """Yield JSON values that stand one after another, each with its line, up to the end of the list or the file."""
    decoder, line, counted = json.JSONDecoder(), 1, 0
    while True:
        between = _BETWEEN.match(text, at)
        at = between.end() if between else at
        line, counted = line + text.count("\n", counted, at), at
        if at == len(text) and closed:
            what = "expected the end of the list, found the end of the file"
            raise FormatError(what, at=source.at(line), remedy="was it written to the end?")
        if at == len(text) or (closed and text[at] == "]"):
            return
        try:
            value, at = decoder.raw_decode(text, at)
            whole_characters(value, text[counted:at], source.at(line))
        except json.JSONDecodeError as error:
            where = source.at(error.lineno, error.colno)
            raise FormatError(f"expected JSON, found: {error.msg}", at=where) from error
        except RecursionError as error:
            raise FormatError("expected JSON, found lists nested too deeply", at=source.at(line)) from error
        yield line, value


def table_rows(source: Source, needed: tuple[str, ...] = ()) -> Iterator[Row]:
    """Yield the rows of CSV, or TSV if the header has tabs, with the line on which each begins; an empty field is none.

    Fields may hold line breaks. The header must have the columns that are `needed`.
    """
    text = text_of(source)
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    line = 0
    try:
        header = next(reader, [])
        if not set(needed) <= set(header):
            raise FormatError(f"expected columns {','.join(needed)}, found {','.join(header)!r}", at=source.at(1))
        line = reader.line_num
        for values in reader:
            if values and len(values) != len(header):
                raise FormatError(f"expected {len(header)} columns, found {len(values)}", at=source.at(line + 1))
            if values:
                yield Row(line + 1, dict(zip(header, values, strict=True)))
            line = reader.line_num
    except csv.Error as error:
        raise FormatError(f"expected CSV, found: {error}", at=source.at(line + 1)) from error


def as_list(value: Any, name: str, at: Place, row: Mapping[str, Any] | None = None) -> list[Any]:
    """Return the list in a field; in CSV, where it is text, a list as JSON or Python writes it, else one text.

    In CSV of DeepEval, which is known by the ``input`` of its rows, texts are separated by ``|``.
    """
    if isinstance(value, list | tuple):
        return list(value)
    if not isinstance(value, str):
        raise FormatError(f"expected a list as {name!r}, found {str(value)[:40]!r}", at=at)
    if not value.lstrip().startswith("["):
        return value.split("|") if row is not None and "input" in row else [value]
    return _parsed(value, name, at)


def _parsed(text: str, name: str, at: Place) -> list[Any]:
    import ast  # noqa: PLC0415  only CSV needs it

    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, list):
            return found
    raise FormatError(f"expected a list as {name!r}, found {text[:40]!r}", at=at, remedy="write it as JSON")
