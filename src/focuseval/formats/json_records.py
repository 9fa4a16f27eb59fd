"""Typed records of JSON lines, by msgspec, which decodes a piece of a file at a time.

msgspec counts records, not lines, and refuses what some programs write (NaN); so a piece that it refuses, or that has
other than one record on every line, is read once more, line by line. That finds the line at fault.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.data.fields import json_fault, numbered_lines
from focuseval.errors import FormatError, Place
from focuseval.formats.columns import FAR, newlines, pieces
from focuseval.formats.content import Source, refuse_binary
from focuseval.formats.json_items import SURROGATE

R = TypeVar("R", bound=msgspec.Struct)
LEAST = -(2**31)

Whole = Annotated[int, msgspec.Meta(ge=LEAST, lt=FAR)]  # a whole number
Known = Annotated[int, msgspec.Meta(ge=0, lt=FAR)]  # a position or a length
Word = Annotated[str, msgspec.Meta(min_length=1)] | int  # a name; a number is taken as it looks
Text = str | int  # a text, which may be empty

_REFUSALS = (msgspec.MsgspecError, ValueError, RecursionError)
"""What msgspec raises: of JSON and types, of UTF-8, of depth."""

_PIECE = 1 << 20  # bytes that become records at once: ten times as much memory, for a moment


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
        found = decoded(piece, kind, usual) or decoded(piece, kind)
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


def decoded(data: pa.Buffer, kind: type[R], usual: frozenset[str] | None = None) -> list[R] | None:
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
    except ValueError as error:  # JSON and UTF-8 alike
        raise no_object(f": {constants[0]} is not a number" if constants else f": {json_fault(error)}", at) from error
    if not isinstance(value, dict):
        raise no_object(f" {raw[:40].decode()!r}", at)
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
            what = f"expected text as {name!r}, found a lone surrogate"
            raise FormatError(what, at=at, remedy=SURROGATE) from error
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
