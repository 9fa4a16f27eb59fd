"""The compiled part, `native.c`, `xml.c`, `words.c`; the first behind functions: lines to columns, strings to keys.

The library is made when the package is installed, if a compiler is found. Where it is not there, and where a text is
not regular enough for it, these functions return None, and the caller falls back to NumPy, for the same result.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from ctypes import CDLL

    from numpy.typing import NDArray

    Lines = NDArray[np.int32] | None

SOURCES = tuple(Path(__file__).with_name(name) for name in ("native.c", "xml.c", "words.c"))
LIBRARY = Path(__file__).with_name("libnative.so")
_SPARE = 8
_MOST = (1 << 31) - 1 - _SPARE
"""Bytes that 32-bit offsets can count."""

_NUMBERS = {"int": 8, "rank": 4, "real": 8}
"""Bytes of a number."""

_COLUMN = np.dtype([(name, "i8") for name in ("kind", "values", "offsets", "ends", "count", "above", "length")])
"""`struct column`."""

_LETTER = {None: "-", "text": "t", "block": "b", "int": "i", "rank": "r", "real": "f"}


@cache
def library() -> CDLL | None:
    """Return the compiled library; None where there is none, or none that was made of this source for this machine."""
    try:
        import ctypes  # noqa: PLC0415  a Python may come without it

        found = ctypes.CDLL(str(LIBRARY))
        found.source.restype = ctypes.c_uint64
        sources = b"".join(source.read_bytes() for source in SOURCES)
        if found.source() != int(hashlib.sha256(sources).hexdigest()[:16], 16):
            return None
    except (ImportError, OSError, AttributeError):
        return None
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    found.lines.argtypes = pointer, number
    found.split.argtypes = pointer, number, pointer, number
    found.filled.argtypes = pointer, number, pointer
    found.hash64.argtypes = pointer, pointer, number, pointer
    found.joint.argtypes = pointer, pointer, number, pointer
    found.encode.argtypes = pointer, pointer, pointer, number, pointer, number, pointer, pointer
    found.xml_room.argtypes = pointer, pointer, number, pointer, pointer, pointer
    found.xml_read.argtypes = pointer, pointer, pointer, number, pointer, pointer
    found.xml_arrange.argtypes = pointer, number, pointer, pointer
    found.words_split.argtypes = pointer, pointer, number, pointer, pointer, pointer
    found.words_place.argtypes = *(pointer,) * 3, number, *(pointer,) * 6
    found.words_post.argtypes = pointer, number, ctypes.c_int32, pointer, pointer
    for function in (found.lines, found.split, found.encode, found.xml_read, found.xml_arrange, found.words_split):
        function.restype = number
    for function in (found.filled, found.hash64, found.joint, found.xml_room, found.words_place, found.words_post):
        function.restype = None
    return found


def struct(names: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return a C struct of 64-bit members, in which arrays are given by their addresses; the others are 0."""
    filled = np.zeros(1, [(name, np.int64) for name in names])
    for name, array in arrays.items():
        filled[name] = array.ctypes.data
    return filled


def hash64(strings: pa.Array) -> NDArray[np.uint64] | None:
    """Return the key of every string of an Arrow array."""
    code, where = library(), _addresses(strings)
    if code is None or where is None:
        return None
    keys = np.empty(len(strings), np.uint64)
    code.hash64(*where, len(keys), keys.ctypes.data)
    return keys


def joint(keys: NDArray[np.uint64], groups: NDArray[np.integer]) -> NDArray[np.uint64] | None:
    """Return every key joined with its group."""
    code = library()
    if code is None or keys.shape != groups.shape or not _plain(keys, np.uint64) or not _plain(groups, np.int32):
        return None
    joined = np.empty_like(keys)
    code.joint(keys.ctypes.data, groups.ctypes.data, len(keys), joined.ctypes.data)
    return joined


def encode(strings: pa.Array, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    """Return a code for every string of an Arrow array, in order of first appearance, and the first row of each."""
    code, where = library(), _addresses(strings)
    if code is None or where is None or len(strings) != len(keys) or not _plain(keys, np.uint64):
        return None
    codes, first = np.empty(len(keys), np.int32), np.empty(len(keys), np.int64)
    table = np.zeros(1 << (2 * len(keys)).bit_length(), np.int32)
    room = (array.ctypes.data for array in (codes, first))
    count = code.encode(*where, keys.ctypes.data, len(keys), table.ctypes.data, len(table), *room)
    return codes, first[:count]


def split(data: pa.Buffer, kinds: Sequence[str | None]) -> tuple[list[pa.Array | None], Lines] | None:
    """Return the columns of lines, each an Arrow array, and the line of every row (None: row i is on line i + 1).

    The kinds are those of `formats.table.Layout`; a block is run-end encoded, and the column of a kind None is None.
    """
    code = library()
    if code is None or not 0 < data.size < _MOST:
        return None
    if not data.slice(data.size - 1).equals(pa.py_buffer(b"\n")):
        data = pa.py_buffer(bytes(data) + b"\n")
    most = code.lines(data.address, data.size)
    rooms = [_room(kind, most, data.size) for kind in kinds]
    columns = np.zeros(len(kinds), _COLUMN)
    for column, kind, room in zip(columns, kinds, rooms, strict=True):
        column["kind"] = ord(_LETTER[kind])
        for name, buffer in room.items():
            column[name] = buffer.address
    rows = code.split(data.address, data.size, columns.ctypes.data, len(kinds))
    if rows < 0:
        return None
    filled = zip(kinds, rooms, columns["count"].tolist(), strict=True)
    try:
        arrays = [_array(kind, room, rows, count) for kind, room, count in filled]
    except ValueError:  # Arrow's, of strings that are not UTF-8
        return None
    if rows == most - 1:
        return arrays, None
    line = np.empty(rows, np.int32)
    code.filled(data.address, data.size, line.ctypes.data)
    return arrays, line


def _plain(column: NDArray[Any], kind: type[np.generic]) -> bool:
    return bool(column.dtype == kind and column.flags.c_contiguous)


def _addresses(strings: pa.Array) -> tuple[int, int] | None:
    """Return where the bytes and the offsets of an Arrow array begin; None where they are others."""
    if strings.type != "string" or strings.null_count or not len(strings):
        return None
    _, offsets, data = strings.buffers()
    return None if data is None else (data.address, offsets.address + 4 * strings.offset)


def _room(kind: str | None, rows: int, size: int) -> dict[str, pa.Buffer]:
    """Return memory for a column of so many rows at most, and for its strings together so many bytes."""
    if kind is None:
        return {}
    if kind in _NUMBERS:
        return {"values": pa.allocate_buffer(_NUMBERS[kind] * rows, resizable=True)}
    sizes = {"values": size + _SPARE, "offsets": 4 * (rows + 1)} | ({"ends": 4 * rows} if kind == "block" else {})
    room = {name: pa.allocate_buffer(size, resizable=True) for name, size in sizes.items()}
    np.frombuffer(room["offsets"], np.int32)[0] = 0
    return room


def _array(kind: str | None, room: dict[str, pa.Buffer], rows: int, count: int) -> pa.Array | None:
    """Return what was written as an Arrow array; memory that it did not need is given back."""
    if kind is None:
        return None
    if kind in _NUMBERS:
        number = {"int": pa.int64(), "rank": pa.int32(), "real": pa.float64()}[kind]
        return pa.Array.from_buffers(number, rows, [None, room["values"]])
    room["offsets"].resize(4 * (count + 1), shrink_to_fit=True)
    room["values"].resize(int(np.frombuffer(room["offsets"], np.int32)[-1]), shrink_to_fit=True)
    strings = pa.Array.from_buffers(pa.string(), count, [None, room["offsets"], room["values"]])
    strings.validate(full=True)
    if kind == "text":
        return strings
    room["ends"].resize(4 * count, shrink_to_fit=True)
    ends = pa.Array.from_buffers(pa.int32(), count, [None, room["ends"]])
    return pa.Array.from_buffers(pa.run_end_encoded(ends.type, strings.type), rows, [None], children=[ends, strings])
