"""JSON that people wrote: parsed, its fields checked by name and type, each record's line remembered.

Formats that are one JSON document have no lines of their own; a record is found again by a text that it holds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from focuseval.errors import FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.formats.source import Source

T = TypeVar("T")

_WORDS = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}


def parse(source: Source) -> Any:
    """Return a file's one JSON value."""
    return _loads(bytes(source.data), source.at(1))


def parse_lines(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, with their lines; blank lines are passed over."""
    for line, raw in enumerate(bytes(source.data).split(b"\n"), 1):
        if raw.strip():
            yield line, parse_line(raw, source.at(line))


def parse_line(raw: bytes, at: Place) -> dict[str, Any]:
    """Return the object that one line holds."""
    record = _loads(raw, at)
    if not isinstance(record, dict):
        raise FormatError(f"expected an object, found {_named(record)}", at=at)
    return record


def field(record: Any, name: str, kind: type[T], at: Place, where: str = "") -> T:
    """Return a field that must be there.

    >>> from focuseval.errors import Place
    >>> field({"start": 3}, "start", int, Place("gold.json"))
    3
    """
    inside = f" of {where}" if where else ""
    if not isinstance(record, dict):
        raise FormatError(f"expected an object with {name!r}{inside}, found {_named(record)}", at=at)
    if name not in record:
        raise FormatError(f"expected {name!r}{inside}, found only {', '.join(map(repr, record)) or 'nothing'}", at=at)
    value = record[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise FormatError(f"expected {_WORDS[kind]} as {name!r}{inside}, found {_named(value)}", at=at)
    return value


class Lines:
    r"""The lines of records that are met in file order.

    >>> from focuseval.formats.source import source_of
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


def _loads(raw: bytes, first: Place) -> Any:
    """Parse bytes that begin at a known line."""
    line = first.line or 1
    try:
        return whole_characters(json.loads(raw), raw, first)
    except UnicodeDecodeError as error:
        at = Place(first.file, line + raw[: error.start].count(b"\n"))
        raise FormatError(f"expected UTF-8, found byte 0x{raw[error.start]:02x}", at=at) from error
    except json.JSONDecodeError as error:
        at = Place(first.file, line + error.lineno - 1, error.colno)
        raise FormatError(f"expected JSON, found: {error.msg}", at=at) from error
    except RecursionError as error:
        raise FormatError("expected JSON, found lists nested too deeply", at=first) from error


def whole_characters(value: T, raw: bytes | str, at: Place) -> T:
    """Return what JSON said, unless a text in it has half a surrogate pair, which JSON can write and UTF-8 cannot."""
    if (rb"\ud" in raw.lower()) if isinstance(raw, bytes) else (r"\ud" in raw.lower()):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            remedy = "write the character itself, in UTF-8"
            raise FormatError("expected text, found a lone surrogate", at=at, remedy=remedy) from error
    return value


def _named(value: Any) -> str:
    """Return a value short enough for one line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:60] + "…"
