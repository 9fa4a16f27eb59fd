"""JSON as it is found in files: one value (`decoded`), or objects one at a time, however large the file is.

Objects stand on lines, one after another, in a list, or in lists inside one large object, whose other members are then
*around* them. A line that is an object is taken whole, by msgspec; elsewhere brackets outside of strings are counted.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from focuseval.data.fields import json_fault
from focuseval.errors import FormatError, Place
from focuseval.formats.content import Source

SURROGATE = "write the character itself, in UTF-8"
_BETWEEN = re.compile(rb"[\s,]*+")
_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+([{}\[\]])', re.DOTALL)
_KEY = re.compile(rb'"((?:[^"\\]++|\\.)*+)"\s*+:\s*+(?=.)', re.DOTALL)
_SCALAR = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[^\s,"{}\[\]]++(?=.)', re.DOTALL)
_OBJECT = msgspec.json.Decoder(dict)
_WHOLE, _MOST = 1 << 22, 1 << 26  # bytes of an object that is not taken apart, and of a member of one that is


class Item(NamedTuple):
    """An object: its line, its members, and the members of the objects around it."""

    line: int
    members: dict[str, Any]
    around: dict[str, Any]


def decoded(raw: bytes, at: Place) -> Any:
    """Return the value of JSON that begins at a place; where msgspec refuses it, as of NaN, as Python reads it."""
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        return msgspec.json.decode(raw)
    line = at.line or 1
    try:
        value = json.loads(raw.decode())
        if rb"\ud" in raw.lower():  # half a surrogate pair, which JSON can write and UTF-8 cannot
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        place = Place(at.file, line + raw.count(b"\n", 0, error.start))
        raise FormatError(f"expected UTF-8, found byte 0x{raw[error.start]:02x}", at=place) from error
    except UnicodeEncodeError as error:
        raise FormatError("expected text, found a lone surrogate", at=at, remedy=SURROGATE) from error
    except json.JSONDecodeError as error:
        before = (at.column or 1) - 1 if error.lineno == 1 else 0
        place = Place(at.file, line + error.lineno - 1, before + error.colno)
        raise FormatError(f"expected JSON, found: {error.msg}", at=place) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected JSON, found {json_fault(error)}", at=at) from error
    return value


def json_items(source: Source, inner: frozenset[str] = frozenset()) -> Iterator[Item]:
    """Yield the objects of a file; those in the lists of these names (`inner`) where an object is large."""
    cursor = _Cursor(source, inner)
    listed = cursor.sign() == b"["
    cursor.at += listed
    yield from cursor.items({}, b"]" if listed else b"")
    if listed and cursor.sign():
        raise cursor.error()


class _Cursor:
    """How far a file has been read, and the part of it that is in memory."""

    def __init__(self, source: Source, inner: frozenset[str]) -> None:
        self.source, self.inner, self.blocks = source, inner, source.blocks()
        self.buffer, self.at, self.line, self.newline = b"", 0, 1, -1
        self.margin = 0
        """Bytes of the line on which the buffer begins that stand before it."""

    def place(self) -> Place:
        """Return where this is in the file."""
        begin = self.buffer.rfind(b"\n", 0, self.at)
        return self.source.at(self.line, self.at - begin + (self.margin if begin < 0 else 0))

    def more(self) -> bool:
        """Read at least as much as is in memory already, behind it; False at the end of the file."""
        self.margin = (self.place().column or 1) - 1
        pieces, grown = [self.buffer[self.at :]], 0
        for block in self.blocks:
            pieces.append(block)
            grown += len(block)
            if grown > len(pieces[0]):
                break
        self.buffer, self.at, self.newline = b"".join(pieces), 0, -1
        return grown > 0

    def go(self, to: int) -> None:
        """Go on to a place, and count lines."""
        self.line += self.buffer.count(b"\n", self.at, to)
        self.at = to

    def match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
        """Return what matches here, and go behind it."""
        while (found := pattern.match(self.buffer, self.at)) is None:
            if not self.more():
                raise self.error()
        self.go(found.end())
        return found

    def sign(self) -> bytes:
        """Go to the next character that is neither blank nor comma, and return it; nothing at the end of the file."""
        while True:
            between = _BETWEEN.match(self.buffer, self.at)
            self.go(between.end() if between else self.at)
            if self.at < len(self.buffer) or not self.more():
                return self.buffer[self.at : self.at + 1]

    def items(self, around: dict[str, Any], closing: bytes) -> Iterator[Item]:
        """Yield the objects of a list, or of the file."""
        while (sign := self.sign()) != closing:
            if sign == b"{":
                line, members = self.line, self.members()
                yield from self.inside(around) if members is None else (Item(line, members, around),)
            elif not sign:
                what = "expected the end of the list, found the end of the file"
                raise FormatError(what, at=self.source.at(self.line), remedy="was it written to the end?")
            else:
                raise self.error()
        self.at += len(closing)

    def inside(self, around: dict[str, Any]) -> Iterator[Item]:
        """Yield the objects in the inner lists of a large object; itself where it has none."""
        line, own, listed = self.line, dict[str, Any](), False
        self.at += 1
        while self.sign() != b"}":
            key = self.match(_KEY)[1].decode("utf-8", "replace")
            sign = self.sign()
            if key in self.inner and sign == b"[":
                self.at += 1
                listed = True
                yield from self.items(around | own, b"]")
            elif key in self.inner and sign == b"{":
                listed = True
                yield from self.inside(around | own)
            elif listed and sign == b"{":
                what = f"expected {key!r} before the lists of an object of more than {_WHOLE >> 20} MB, found it behind"
                raise FormatError(what, at=self.source.at(self.line), remedy="write objects of their own on lines")
            else:
                raw = self.value(_MOST) if sign in {b"{", b"["} else self.match(_SCALAR)[0]
                if raw is None:
                    raise self.error(f"{key!r} with more than {_MOST >> 20} MB")
                own[key] = decoded(raw, self.source.at(self.line))
        self.at += 1
        if not listed:
            yield Item(line, own, around)

    def members(self) -> dict[str, Any] | None:
        """Return the members of the object that begins here, and go behind it; None where it is too large."""
        if self.newline < self.at:
            self.newline = self.buffer.find(b"\n", self.at)
            self.newline = len(self.buffer) if self.newline < 0 else self.newline
        line = self.buffer[self.at : self.newline] if self.newline < len(self.buffer) else b""
        if line.rstrip()[-1:] == b"}":
            with suppress(msgspec.MsgspecError, ValueError, RecursionError):
                found: dict[str, Any] = _OBJECT.decode(line)
                self.at = self.newline
                return found
        at, raw = self.place(), self.value(_WHOLE if self.inner else sys.maxsize)
        members: dict[str, Any] | None = None if raw is None else decoded(raw, at)
        return members

    def value(self, most: int) -> bytes | None:
        """Return the list or object that begins here, and go behind it; None where it has more than `most` bytes."""
        depth, size = 0, 0
        while True:
            found = _BRACKET.match(self.buffer, self.at + size)
            if found is None:
                if len(self.buffer) - self.at > most:
                    return None
                if not self.more():  # what Python says of it names the place
                    return bytes(decoded(self.buffer[self.at :], self.place()))
                continue
            depth += 1 if found[1] in b"{[" else -1
            size = found.end() - self.at
            if not depth:
                raw = self.buffer[self.at : self.at + size]
                self.go(self.at + size)
                return raw
            if size > most:
                return None

    def error(self, found: str = "") -> FormatError:
        """Return the refusal of what stands here, where objects should."""
        here = self.buffer[self.at : self.at + 40].decode("utf-8", "replace").split("\n")[0]
        return FormatError(f"expected an object, found {found or here or 'the end'}", at=self.source.at(self.line))
