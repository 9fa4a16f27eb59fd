"""Files of JSON, CSV and TSV as people write them, and what one row or object in them says.

`parse` gives JSON as it stands, `field` one of its fields, by name and type. `rows_of` gives the rows of a file,
whatever holds them: JSON lines, a JSON list, an object around one list, CSV or TSV with a header. What a row says (its
topic, document, span, text, numbers) is found under any of the names in `focuseval.data.fields`.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar

from focuseval.data.fields import AROUND, NAMES, column_name, delimiter_of, layers, named_fields, short, value
from focuseval.errors import FormatError, Place
from focuseval.formats.columns import FAR
from focuseval.formats.content import Source
from focuseval.formats.json_records import Item, decoded, json_items, not_utf8

T = TypeVar("T")

_WORDS = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}


def parse(source: Source) -> Any:
    """Return a file's one JSON value."""
    return decoded(source.data, source.at(1))


def parsed(value: Any) -> Any:
    """Return what a text says as JSON; one that is no object, list or string in JSON is a text."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "[", '"'}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def field(record: Any, name: str, kind: type[T], at: Place, where: str = "") -> T:
    """Return a field that must be there.

    >>> from focuseval.errors import Place
    >>> field({"start": 3}, "start", int, Place("gold.json"))
    3
    """
    inside = f" of {where}" if where else ""
    if not isinstance(record, dict):
        raise FormatError(f"expected an object with {name!r}{inside}, found {short(record)}", at=at)
    if name not in record:
        raise FormatError(f"expected {name!r}{inside}, found only {', '.join(map(repr, record)) or 'nothing'}", at=at)
    value = record[name]
    if not isinstance(value, kind) or isinstance(value, bool) or (isinstance(value, int) and abs(value) >= FAR):
        raise FormatError(f"expected {_WORDS[kind]} as {name!r}{inside}, found {short(value)}", at=at)
    return value


class Lines:
    r"""The lines of records that are met in file order.

    >>> from focuseval.formats.content import source_of
    >>> lines = Lines(source_of(b'[{"q": "a"},\n {"q": "b"}]'))
    >>> lines.of("a"), lines.of("b"), lines.of("not there"), lines.of("b")
    (1, 2, None, None)
    """

    def __init__(self, source: Source) -> None:
        self._data, self._offset, self._line = bytes(source.data), 0, 1

    def of(self, text: str) -> int | None:
        """Return the line where this JSON string stands next; after one that is not found, None for all."""
        spellings = {json.dumps(text).encode(), json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")}
        found = [at for spelling in spellings if (at := self._data.find(spelling, self._offset)) >= 0]
        if not found:
            self._offset = len(self._data)
            return None
        self._line += self._data.count(b"\n", self._offset, min(found))
        self._offset = min(found)
        return self._line


def rows_of(source: Source) -> Iterator[Item]:
    """Yield the rows of a file with their lines."""
    source.data  # noqa: B018  all rows are kept, so that the bounds of a whole file hold
    if source.head().lstrip()[:1] in {b"{", b"["}:
        for row in _json_rows(source):
            names = _known_names(tuple(row.members))
            yield row if names is None else Item(row.line, dict(zip(names, row.members.values(), strict=True)))
    else:
        yield from table_rows(source)


@lru_cache(maxsize=1 << 12)
def _known_names(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return names as they are known where they differ in capitals only; None where none does, or two become one."""
    known = tuple(map(column_name, names))
    return None if known == names or len(set(known)) < len(known) else known


def _json_rows(source: Source) -> Iterator[Item]:
    """Yield the objects of a list or of lines; of one object, the rows of the only list of objects in it.

    An object of objects is scores by topic and document; any other is one row.
    """
    items = json_items(source)
    first, second = next(items, None), next(items, None)
    if first is None:
        return
    value = first.members
    if source.head().lstrip()[:1] == b"[" or second is not None:
        yield from chain((first,), (second,) if second else (), items)
        return
    lists = (rows for rows in value.values() if isinstance(rows, list) and rows)
    inner = [rows for rows in lists if all(isinstance(row, dict) for row in rows)]
    if len(inner) == 1 and not value.keys() & AROUND:
        yield from (Item(None, row) for row in inner[0])
    elif value and all(isinstance(scores, dict) for scores in value.values()):
        for topic, scores in value.items():
            yield from (Item(None, {"topic": topic, "doc": doc, "score": score}) for doc, score in scores.items())
    elif value:
        yield Item(first.line, value)


def table_rows(source: Source, needed: tuple[str, ...] = ()) -> Iterator[Item]:
    """Yield the rows of CSV or TSV, as the header has it, with the line on which each begins; an empty field is none.

    Fields may hold line breaks. The header must have the columns that are `needed`.
    """
    try:
        text = bytes(source.data).decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error, source.at(source.line_of(error.start))) from error
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    delimiter = delimiter_of(text.partition("\n")[0])
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    line = 0
    try:
        header = [column_name(name) for name in next(reader, [])]
        if not set(needed) <= set(header):
            raise FormatError(f"expected columns {','.join(needed)}, found {','.join(header)!r}", at=source.at(1))
        line = reader.line_num
        for values in reader:
            if values and len(values) != len(header):
                raise FormatError(f"expected {len(header)} columns, found {len(values)}", at=source.at(line + 1))
            if values:
                yield Item(line + 1, dict(zip(header, values, strict=True)))
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
    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, list):
            return found
    raise FormatError(f"expected a list as {name!r}, found {value[:40]!r}", at=at, remedy="write it as JSON")


def result_of(row: Mapping[str, Any], at: Place) -> dict[str, Any]:
    """Return what a row or an object says of one result; what it does not say is left out."""
    said = named_fields(tuple(row))
    text = first_text(row, "text", at) if "text" in said else None
    start, end = span_of(row, at)
    if text is not None and start is not None and end is None:
        end = start + len(text)
    found: dict[str, Any] = {"doc": document_of(row, at), "text": text, "start": start, "end": end}
    found |= {name: read(value(row, name, at), name, at) for name, read in _NUMBERS.items() if name in said}
    if "chunk" in said:  # it may also be its text
        numbered = {name: row[name] for name in NAMES["chunk"] if str(row.get(name)).isdigit()}
        found["chunk"] = whole(value(numbered, "chunk", at), "chunk", at)
    found |= {name: value(row, name, at) for name in ("path", "end_path", "run") if name in said}
    return {name: content for name, content in found.items() if content is not None}


def document_of(row: Mapping[str, Any], at: Place) -> str | None:
    """Return the id of the document that a row or its metadata names, None where neither does."""
    named = next((name for layer in layers(row) if (name := value(layer, "doc", at)) is not None), None)
    return None if named is None else str(named)


def span_of(row: Mapping[str, Any], at: Place) -> tuple[int | None, int | None]:
    """Return where a span begins and ends; a length stands for an end, and a negative start (LangChain) for none."""
    lone = None
    for layer in layers(row):
        if named_fields(tuple(layer)).keys().isdisjoint(("start", "end")):
            continue
        start, end = (whole(value(layer, name, at), name, at) for name in ("start", "end"))
        if start is not None and start >= 0:
            length = whole(value(layer, "length", at), "length", at) if end is None else None
            return start, start + length if length is not None else end
        lone = lone if end is None or end < 0 else end
    if lone is not None and not (first_text(row, "quote", at) or first_text(row, "text", at)):
        what = f"expected a start beside the end {lone}, found none"
        raise FormatError(what, at=at, remedy="give both, or the text between them")
    return None, None


def first_text(row: Mapping[str, Any], name: str, at: Place) -> str | None:
    """Return the first text under the names of a field; a chunk's number is none."""
    said = {other: row[other] for other in NAMES[name] if isinstance(row.get(other), str)}
    if isinstance(number := said.get("chunk"), str) and number.isdigit():
        del said["chunk"]
    found = value(said, name, at)
    return None if found is None else str(found)


def whole(content: Any, name: str, at: Place) -> int | None:
    """Return a whole number, also of one that a table holds as text or as a float; None where there is none."""
    number = real(content, name, at)
    if number is None:
        return None
    if number != int(number) or abs(number) >= FAR:
        raise FormatError(f"expected a whole number as {name!r}, found {short(content)}", at=at)
    return int(content) if isinstance(content, int | str) and str(content).lstrip("-").isdigit() else int(number)


def real(content: Any, name: str, at: Place) -> float | None:
    """Return a finite number, None where there is none (NaN is what frames write for none)."""
    if content is None or content == "" or (isinstance(content, float) and math.isnan(content) and name != "score"):
        return None
    try:
        number = math.nan if isinstance(content, bool) else float(content)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise FormatError(f"expected a finite number as {name!r}, found {short(content)}", at=at)
    return number


_NUMBERS = {"rank": whole, "score": real, "distance": real}
