"""JSON as it is found in files: one value (`decoded`), objects one at a time, or typed records of lines.

Objects (`json_items`) stand on lines, one after another, in a list, or in lists inside one large object, whose other
members are then *around* them. A line that is an object is taken whole, by msgspec; elsewhere brackets outside of
strings are counted.

Typed records (`records`) are what our own formats hold, a piece of a file at a time. msgspec counts records, not lines,
and refuses what some programs write (NaN); so a piece that it refuses, or that has other than one record on every line,
is read once more, line by line. That finds the line at fault.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.data.fields import json_fault, numbered_lines
from focuseval.errors import FormatError, Place
from focuseval.formats.columns import FAR, newlines, pieces
from focuseval.formats.content import Source, refuse_binary

R = TypeVar("R", bound=msgspec.Struct)
LEAST = -(2**31)

Whole = Annotated[int, msgspec.Meta(ge=LEAST, lt=FAR)]  # a whole number
Known = Annotated[int, msgspec.Meta(ge=0, lt=FAR)]  # a position or a length
Word = Annotated[str, msgspec.Meta(min_length=1)] | int  # a name; a number is taken as it looks
Text = str | int  # a text, which may be empty

_REFUSALS = (msgspec.MsgspecError, ValueError, RecursionError)
"""What msgspec raises: of JSON and types, of UTF-8, of depth."""

_PIECE = 1 << 20  # bytes that become records at once: ten times as much memory, for a moment
_SURROGATE = "write the character itself, in UTF-8"
_BETWEEN = re.compile(rb"[\s,]*+")
_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+([{}\[\]])', re.DOTALL)
_KEY = re.compile(rb'"((?:[^"\\]++|\\.)*+)"\s*+:\s*+(?=.)', re.DOTALL)
_SCALAR = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[^\s,"{}\[\]]++(?=.)', re.DOTALL)
_OBJECT = msgspec.json.Decoder(dict)
_WHOLE, _MOST = 1 << 22, 1 << 26  # bytes of an object that is not taken apart, and of a member of one that is


class Item(NamedTuple):
    """An object, or a row of a table: its line, its members, and the members of the objects around it."""

    line: int | None  # None where that is not known
    members: dict[str, Any]
    around: Mapping[str, Any] = {}


def decoded(raw: bytes, at: Place) -> Any:
    """Return the value of JSON that begins at a place; where msgspec refuses it, as of NaN, as Python reads it."""
    with suppress(*_REFUSALS):
        return msgspec.json.decode(raw)
    line = at.line or 1
    try:
        value = json.loads(raw.decode())
        if rb"\ud" in raw.lower():  # half a surrogate pair, which JSON can write and UTF-8 cannot
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        place = Place(at.file, line + raw.count(b"\n", 0, error.start))
        raise not_utf8(error, place) from error
    except UnicodeEncodeError as error:
        raise FormatError("expected text, found a lone surrogate", at=at, remedy=_SURROGATE) from error
    except json.JSONDecodeError as error:
        before = (at.column or 1) - 1 if error.lineno == 1 else 0
        place = Place(at.file, line + error.lineno - 1, before + error.colno)
        raise FormatError(f"expected JSON, found: {error.msg}", at=place) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected JSON, found {json_fault(error)}", at=at) from error
    return value


def not_utf8(error: UnicodeDecodeError, at: Place) -> FormatError:
    """Return the refusal of a byte that is no UTF-8."""
    what = f"expected UTF-8, found byte 0x{error.object[error.start]:02x}"
    return FormatError(what, at=at, remedy="convert the file to UTF-8")


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
        self.margin = 0  # bytes of the line on which the buffer begins that stand before it

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
            with suppress(*_REFUSALS):
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


def records(
    source: Source, kind: type[R], build: Callable[[dict[str, Any], list[str], Place], R]
) -> Iterator[tuple[list[R], NDArray[np.int64]]]:
    """Yield the records of a file, a piece at a time, and the line of each; those before a bad line before its error.

    `build` makes a record of an object that was read line by line, given the constants in it that are no JSON (NaN,
    Infinity), or raises.
    """
    refuse_binary(source)
    try:  # the keys of the first line are mostly those of all
        head = source.head().lstrip().split(b"\n")[0]
        usual = frozenset(msgspec.json.decode(head, type=dict[str, msgspec.Raw]))
    except _REFUSALS:
        usual = frozenset()
    before = 0
    for piece in pieces(pa.py_buffer(source.data), _PIECE):
        count = newlines(piece)
        size = count + (bytes(piece[-1:]) != b"\n")
        found = decoded_lines(piece, kind, usual) or decoded_lines(piece, kind)
        if found is not None and len(found) == size:
            yield found, np.arange(before + 1, before + size + 1)
        else:
            built, lines, error = list[R](), list[int](), None
            try:
                for line, raw in numbered_lines(bytes(piece), before + 1):
                    built.append(build(*_object(raw, source.at(line)), source.at(line)))
                    lines.append(line)
            except FormatError as refusal:
                error = refusal
            yield built, np.array(lines, np.int64)
            if error is not None:
                raise error
        before += count


def decoded_lines(data: pa.Buffer, kind: type[R], usual: frozenset[str] | None = None) -> list[R] | None:
    """Return records, maybe only such as have no more than the usual keys; None where that is not what there is."""
    try:
        return _decoder(kind, usual).decode_lines(data)
    except _REFUSALS:
        return None


@cache
def _decoder(kind: type[R], usual: frozenset[str] | None) -> msgspec.json.Decoder[R]:
    """Return a decoder; one of few keys takes two thirds of the time, for it leaves out attributes that nobody has."""
    if usual is None:
        return msgspec.json.Decoder(kind)
    fields: list[Any] = [
        (key.name, key.type) if key.required else (key.name, key.type, key.default)
        for key in msgspec.structs.fields(kind)
        if key.required or key.name in usual
    ]
    return msgspec.json.Decoder(msgspec.defstruct(kind.__name__, fields, forbid_unknown_fields=True, gc=False))


def _object(raw: bytes, at: Place) -> tuple[dict[str, Any], list[str]]:
    """Return the object on a line, and the constants in it that are no JSON."""
    constants: list[str] = []

    def constant(name: str) -> float:
        constants.append(name)
        return float(name)

    try:
        value = json.loads(raw, parse_constant=constant)
    except RecursionError as error:
        what = "expected a flat JSON object, found one nested too deeply"
        raise FormatError(what, at=at, remedy="write one flat object on each line") from error
    except UnicodeDecodeError as error:
        raise not_utf8(error, at) from error
    except ValueError as error:
        raise no_object(f": {constants[0]} is not a number" if constants else f": {json_fault(error)}", at) from error
    if not isinstance(value, dict):
        raise no_object(f" {raw[:40].decode('utf-8', 'replace')!r}", at)
    return value, constants


def no_object(found: str, at: Place) -> FormatError:
    """Return the refusal of a line that is no JSON object."""
    return FormatError(f"expected a JSON object, found{found}", at=at, remedy="write one object on each line")


def checked(kind: type[msgspec.Struct], name: str, value: Any, at: Place) -> Any:
    """Return the value of a record's key, or raise where it is not of the key's type."""
    wanted = _types(kind)[name]
    if value is None and type(None) not in get_args(wanted):
        raise FormatError(f"expected the key {name!r}, found none", at=at, remedy="add it to the line")
    try:
        value = msgspec.convert(value, wanted)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the latter of a lone surrogate
        types = {getattr(one, "__origin__", one) for one in get_args(wanted)}
        if float in types:
            raise no_score(name, value, at) from error
        what, remedy = ("string", "put it between quotes") if str in types else ("whole number", "correct the line")
        what = f"expected {'true or false' if bool in types else f'a {what}'} as {name!r}, found {str(value)[:40]!r}"
        raise FormatError(what, at=at, remedy=remedy) from error
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise FormatError(f"expected text as {name!r}, found a lone surrogate", at=at, remedy=_SURROGATE) from error
    return value


def other_keys(value: Mapping[str, Any], kind: type[msgspec.Struct], at: Place) -> list[str]:
    """Return the keys of an object that are none of a record's; one that is a letter away from one is refused."""
    known = kind.__struct_fields__
    others = [key for key in value if key not in known]
    if not others:
        return others
    from focuseval.placing.occurrences import distances  # noqa: PLC0415  few files have other keys

    for key in others:
        slip = (name for name in known if distances(key, name, anchored=True)[-1] == 1 or sorted(key) == sorted(name))
        meant = next(slip, None)
        if meant is not None:
            what = f"expected the key {meant!r}, or one that is not so near to it, found {key!r}"
            raise FormatError(what, at=at, remedy="correct or rename the key")
    return others


@cache
def _types(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def no_score(name: str, value: Any, at: Place) -> FormatError:
    """Return the refusal of a score that is no finite number."""
    what = f"expected a finite number as {name!r}, found {value!r}"
    return FormatError(what, at=at, remedy="write a number, or leave the key out in every line")


def batch(rows: Sequence[msgspec.Struct], schema: pa.Schema) -> pa.RecordBatch:
    """Return records as columns; numbers that stand for names or texts become them, as they look."""
    there = rows[0].__struct_fields__ if rows else ()
    arrays = [
        _column(list(map(attrgetter(key.name), rows)), key.type) if key.name in there else pa.nulls(len(rows), key.type)
        for key in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except pa.ArrowTypeError:
        return pa.array([None if value is None else str(value) for value in values], kind)
