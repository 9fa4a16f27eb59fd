"""Compiled code (the C files beside this one) and what does the same without it: lines to columns, strings to keys.

The library is made when the package is installed, if a compiler is found. Where it is not there, and where a text is
not regular enough for it, NumPy and Arrow give the same result.

A key is a 64-bit hash of a string: comparing ten million identifiers as strings costs seconds; as integers, tenths of
one. Keys can collide, so whoever finds two equal keys compares the strings before concluding anything.
"""

from __future__ import annotations

import ctypes
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.engine.version import __version__
from focuseval.engine.workers import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Lines = NDArray[np.int32] | None

SOURCES = tuple(Path(__file__).with_name(name) for name in ("native.c", "xml.c", "words.c", "pdf.c"))
LIBRARY = Path(__file__).with_name("libnative.so")
_SPARE = 8
_NUMBERS = {"int": pa.int64(), "rank": pa.int32(), "real": pa.float64()}
BLOCK = 1 << 16  # keys that are looked up together: they stay in the processor's cache

_FUNCTIONS = (
    "lines:pn split:pnpnn filled:pnp hash64:ppnp joint:ppnp encode:pppnpnpp lookup_fill:pnppn lookup_find:pppnnpp "
    "xml_room:ppnppp xml_read:pppnpp xml_arrange:pnpp "
    "words_split:ppnpnpp words_place:pppnppppp words_post:pnipp words_pack:pnpnpp words_unpack:pnniip "
    "words_parents:pnp words_deepest:pppnnp words_spans:pppnpp words_around:pnppnpp words_near:pnppp "
    "words_tally:pnppppp words_tally_spans:pnnnppppppp words_share:ppnpp words_add:ppndipppn "
    "words_rank:pnppdppnpp pdf_characters:pnpppp"
)
"""The compiled functions and what they take: pointers, 64-bit, 32-bit and real numbers."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
_ODDER = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_BYTES_KEPT = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled library; None where there is none, or none that was made of this source for this machine."""
    try:
        found = ctypes.CDLL(str(LIBRARY))
        found.source.restype = ctypes.c_uint64
        sources = b"".join(source.read_bytes() for source in SOURCES)
        if found.source() != int(hashlib.sha256(sources).hexdigest()[:16], 16):
            return None
    except (OSError, AttributeError):
        return None
    kinds = {"p": ctypes.c_void_p, "n": ctypes.c_int64, "i": ctypes.c_int32, "d": ctypes.c_double}
    for name, arguments in (function.split(":") for function in _FUNCTIONS.split()):
        function = getattr(found, name)
        function.argtypes, function.restype = [kinds[kind] for kind in arguments], ctypes.c_int64
    return found


def rebuilding() -> str | None:
    """Return the command that makes the library again, where the one that is here was made of another source."""
    try:
        if library() is not None or not ctypes.CDLL(str(LIBRARY)):
            return None
    except OSError:
        return None
    tree = LIBRARY.parents[3]
    if (tree / "hatch_build.py").exists():
        return f"python -m pip install --editable {shlex.quote(str(tree))}"
    return f"python -m pip install --force-reinstall --no-deps focuseval=={__version__}"


def addresses(*arrays: NDArray[Any] | None) -> tuple[int | None, ...]:
    """Return where arrays begin, for compiled functions; who calls them holds the arrays."""
    return tuple(None if array is None else array.ctypes.data for array in arrays)


def pack(numbers: NDArray[Any], bounds: NDArray[np.int64] | None = None) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return numbers from 0 to 2³² in as few bytes as each needs, and where those at some ascending places begin.

    >>> packed, begins = pack(np.array([5, 300]), np.array([0, 1]))
    >>> packed.tolist(), begins.tolist(), unpack(packed).tolist(), unpack(packed, sums=True).tolist()
    ([5, 172, 2], [0, 1], [5, 300], [5, 305])
    """
    values = np.ascontiguousarray(numbers.view(np.uint32) if numbers.dtype == np.int32 else numbers, np.uint32)
    places, code = np.zeros(0, np.int64) if bounds is None else np.ascontiguousarray(bounds, np.int64), library()
    if code is not None:
        out, ends = np.empty(5 * len(values), np.uint8), np.empty(len(places), np.int64)
        where = (*addresses(values), len(values), *addresses(places), len(places), *addresses(out, ends))
        return out[: code.words_pack(*where)].copy(), ends
    sizes = np.searchsorted(np.array([1 << 7, 1 << 14, 1 << 21, 1 << 28]), values, "right") + 1
    after = np.append(0, np.cumsum(sizes))
    out = np.empty(int(after[-1]), np.uint8)
    for byte in range(5):
        here = np.flatnonzero(sizes > byte)
        out[after[here] + byte] = (values[here] >> np.uint32(7 * byte)) & 127 | np.where(sizes[here] > byte + 1, 128, 0)
    return out, after[places]


def unpack(packed: NDArray[np.uint8], base: int = 0, *, sums: bool = False) -> NDArray[np.int32]:
    """Return the numbers that `pack` was given, each with a base, or with all before it, too."""
    code = library()
    if code is not None:
        numbers = np.empty(len(packed), np.int32)
        many = code.words_unpack(*addresses(packed), len(packed), len(packed), sums, base, *addresses(numbers))
        return numbers[:many].copy() if 2 * many < len(packed) else numbers[:many]
    first = np.append(0, np.flatnonzero(packed < 128)[:-1] + 1) if len(packed) else np.zeros(0, np.int64)
    shift = 7 * (np.arange(len(packed)) - np.repeat(first, np.diff(np.append(first, len(packed)))))
    values = np.add.reduceat((packed.astype(np.int64) & 127) << shift, first) if len(packed) else np.zeros(0, np.int64)
    return ((np.cumsum(values) if sums else values) + base).astype(np.int32)


def struct(names: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return a C struct of 64-bit members, in which arrays are given by their addresses; the others are 0."""
    filled = np.zeros(1, [(name, np.int64) for name in names])
    for name, array in arrays.items():
        filled[name] = array.ctypes.data
    return filled


def split(data: pa.Buffer, kinds: Sequence[str | None]) -> tuple[list[pa.Array | None], Lines] | None:
    """Return the columns of lines, each an Arrow array, and the line of every row (None: row i is on line i + 1).

    The kinds are those of `formats.table.Layout`; a block is run-end encoded, and the column of a kind None is None.
    """
    code = library()
    if code is None or not 0 < data.size < 2**31 - 1 - _SPARE:  # what 32-bit offsets can count
        return None
    if not data.slice(data.size - 1).equals(pa.py_buffer(b"\n")):
        data = pa.py_buffer(bytes(data) + b"\n")
    most = code.lines(data.address, data.size)
    rooms = [_room(kind, most, data.size) for kind in kinds]
    members = ("kind", "values", "offsets", "ends", "count", "above", "length")  # of `struct column`
    columns = np.zeros(len(kinds), [(name, "i8") for name in members])
    letters = {None: "-", "text": "t", "block": "b", "int": "i", "rank": "r", "real": "f"}
    for column, kind, room in zip(columns, kinds, rooms, strict=True):
        column["kind"] = ord(letters[kind])
        for name, buffer in room.items():
            column[name] = buffer.address
    rows = code.split(data.address, data.size, columns.ctypes.data, len(kinds), most)
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


def _room(kind: str | None, rows: int, size: int) -> dict[str, pa.Buffer]:
    """Return memory for a column of so many rows at most, and for its strings together so many bytes."""
    if kind is None:
        return {}
    if kind in _NUMBERS:
        return {"values": pa.allocate_buffer(_NUMBERS[kind].byte_width * rows, resizable=True)}
    sizes = {"values": size + _SPARE, "offsets": 4 * (rows + 1)} | ({"ends": 4 * rows} if kind == "block" else {})
    room = {name: pa.allocate_buffer(size, resizable=True) for name, size in sizes.items()}
    np.frombuffer(room["offsets"], np.int32)[0] = 0
    return room


def _array(kind: str | None, room: dict[str, pa.Buffer], rows: int, count: int) -> pa.Array | None:
    """Return what was written as an Arrow array; memory that it did not need is given back."""
    if kind is None:
        return None
    if kind in _NUMBERS:
        return pa.Array.from_buffers(_NUMBERS[kind], rows, [None, room["values"]])
    room["offsets"].resize(4 * (count + 1), shrink_to_fit=True)
    room["values"].resize(int(np.frombuffer(room["offsets"], np.int32)[-1]), shrink_to_fit=True)
    strings = pa.Array.from_buffers(pa.string(), count, [None, room["offsets"], room["values"]])
    strings.validate(full=True)
    if kind == "text":
        return strings
    room["ends"].resize(4 * count, shrink_to_fit=True)
    ends = pa.Array.from_buffers(pa.int32(), count, [None, room["ends"]])
    return pa.Array.from_buffers(pa.run_end_encoded(ends.type, strings.type), rows, [None], children=[ends, strings])


def hash64(strings: pa.Array | pa.ChunkedArray) -> NDArray[np.uint64]:
    """Return a key for every string of an Arrow array, plain or dictionary-encoded, maybe chunked.

    >>> a, b, c = hash64(pa.array(["d1", "a longer identifier", "d1"]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    chunks = strings.chunks if isinstance(strings, pa.ChunkedArray) else [strings]
    keys = np.empty(len(strings), np.uint64)
    ends = np.cumsum([len(chunk) for chunk in chunks], dtype=np.int64).tolist()

    def fill(number: int) -> None:  # chunks are small enough to stay in the cache
        keys[ends[number] - len(chunks[number]) : ends[number]] = _hash_chunk(chunks[number])

    in_threads(fill, range(len(chunks)), least=2 if len(strings) >= 1 << 20 else len(chunks) + 1)
    return keys


def _hash_chunk(chunk: pa.Array) -> NDArray[np.uint64]:
    """Mix a string's bytes eight at a time."""
    if hasattr(chunk, "dictionary"):
        codes = chunk.indices.to_numpy(zero_copy_only=False)
        return _hash_chunk(chunk.dictionary)[np.asarray(codes, np.int64)]
    code, where = library(), _addresses(chunk)
    if code is None or where is None:
        return _hash_in_steps(chunk)
    keys = np.empty(len(chunk), np.uint64)
    code.hash64(*where, len(keys), keys.ctypes.data)
    return keys


def _addresses(strings: pa.Array) -> tuple[int, int] | None:
    """Return where the bytes and the offsets of an Arrow array begin; None where they are others."""
    if strings.type != "string" or strings.null_count or not len(strings):
        return None
    _, offsets, data = strings.buffers()
    return None if data is None else (data.address, offsets.address + 4 * strings.offset)


def _hash_in_steps(chunk: pa.Array) -> NDArray[np.uint64]:
    """Mix all strings' first eight bytes, then their next; rows leave the loop when their bytes are used up."""
    if not len(chunk):
        return np.zeros(0, np.uint64)
    chunk = chunk.cast(pa.large_string())
    _, offsets, data = chunk.buffers()
    ends = np.frombuffer(offsets, np.int64, len(chunk) + 1, 8 * chunk.offset)
    first, size = int(ends[0]), int(ends[-1] - ends[0])
    text = np.zeros(size + 8, np.uint8)  # eight bytes to spare: a word may reach beyond the last string
    text[:-8] = np.frombuffer(data, np.uint8, size, first) if size else 0
    starts, sizes = ends[:-1] - first, np.diff(ends)
    key = sizes.view(np.uint64) * _ODD
    windows: NDArray[np.uint64] = np.ndarray((len(text) - 7,), "<u8", text.data, strides=(1,))
    for step in range(0, int(sizes.max()), 8):
        at = np.flatnonzero(sizes > step)
        word = windows[starts[at] + step] & _BYTES_KEPT[np.minimum(sizes[at] - step, 8)]
        mixed = (key[at] ^ word) * _ODDER
        key[at] = mixed ^ (mixed >> _HALF)
    key *= _ODD  # every bit of a key depends on all of its words
    key ^= key >> _HALF
    return key


def indices(rows: NDArray[np.integer], there: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return row numbers as an Arrow array, null where they are not there.

    `pa.array` would load all of ``numpy.ma`` to see that none is masked.

    >>> indices(np.array([2, 0])).to_pylist()
    [2, 0]
    >>> indices(np.array([2, 0]), np.array([False, True])).to_pylist()
    [None, 0]
    """
    numbers = np.ascontiguousarray(rows, np.int64)
    valid = None if there is None else pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(pa.int64(), len(numbers), [valid, pa.py_buffer(numbers)])


def rows_of_chunks(column: pa.Array | pa.ChunkedArray, rows: NDArray[np.integer]) -> pa.Array | pa.ChunkedArray:
    """Return some rows, in ascending order, of an Arrow column; Arrow itself would first join all of its chunks.

    >>> rows_of_chunks(pa.chunked_array([["a", "b"], ["c"], ["d"]]), np.array([1, 3])).to_pylist()
    ['b', 'd']
    """
    if getattr(column, "num_chunks", 1) < 2:
        return column.take(indices(rows))
    bounds = np.cumsum([0, *map(len, column.chunks)])
    own = np.split(rows, np.searchsorted(rows, bounds[1:-1]))
    found = zip(column.chunks, own, bounds[:-1], strict=True)
    return pa.chunked_array([chunk.take(indices(some - low)) for chunk, some, low in found if len(some)], column.type)


def coded(strings: pa.Array | pa.ChunkedArray, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], pa.Array]:
    """Return a code for every string, and the distinct strings in order of first appearance.

    What Arrow's dictionary encoding does; compiled code does it in less time, as the keys are known.

    >>> names = pa.array(["b", "a", "b"])
    >>> codes, distinct = coded(names, hash64(names))
    >>> codes.tolist(), distinct.to_pylist()
    ([0, 1, 0], ['b', 'a'])
    """
    whole = strings.combine_chunks() if isinstance(strings, pa.ChunkedArray) else strings
    code, where = library(), _addresses(whole)
    if code is None or where is None or len(whole) != len(keys) or not _plain(keys, np.uint64):
        encoded = whole.dictionary_encode()
        return encoded.indices.to_numpy(), encoded.dictionary
    codes, first = np.empty(len(keys), np.int32), np.empty(len(keys), np.int64)
    table = np.zeros(1 << (2 * len(keys)).bit_length(), np.int32)
    count = code.encode(*where, *addresses(keys), len(keys), *addresses(table), len(table), *addresses(codes, first))
    return codes, whole.take(indices(first[:count]))


def encoded(column: Any) -> Any:
    """Return any column of strings as one dictionary-encoded array."""
    if not isinstance(column, pa.Array | pa.ChunkedArray):
        column = pa.array(column, pa.string())
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # Arrow gives no array back for a column without chunks
        column = pa.array([], column.type)
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _plain(column: NDArray[Any], kind: type[np.generic]) -> bool:
    return bool(column.dtype == kind and column.flags.c_contiguous)


def mix(key: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Join two keys into one."""
    mixed = (key ^ other) * _ODD
    mixed ^= mixed >> _HALF
    mixed *= _ODDER
    mixed ^= mixed >> _HALF
    return mixed


def joint(keys: NDArray[np.uint64], group: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Join every key with its group (its topic, say)."""
    joined, code = np.empty_like(keys), library()
    if code is not None and keys.shape == group.shape and _plain(keys, np.uint64) and _plain(group, np.int32):
        code.joint(*addresses(keys, group), len(keys), *addresses(joined))
        return joined
    return mix(keys, group.astype(np.uint64))


class Lookup:
    """Finds the first row that has a key.

    A binary search over a million keys costs ten cache misses a key; the compiled table of open addressing about one.
    Keys are looked up in blocks, by several threads where there are many.

    >>> Lookup(np.array([70, 10, 70, 30])).find(np.array([30, 70, 11]))
    array([ 3,  0, -1])
    """

    def __init__(self, keys: NDArray[np.integer]) -> None:
        self.keys, code = _keys(keys), library()
        if code is None:
            self._order = np.argsort(self.keys, kind="stable")
            return
        self._table = np.empty(1 << max(4, (4 * len(self.keys)).bit_length()), np.int32)
        self._marks = np.zeros(len(self._table), np.uint8)
        code.lookup_fill(*addresses(self.keys), len(self.keys), *addresses(self._table, self._marks), len(self._table))

    def find(self, keys: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the row of each key, −1 where there is none."""
        return self.search(keys).astype(np.int64)

    def search(self, keys: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the row of each key, −1 where there is none, in half the memory."""
        asked, code = _keys(keys), library()
        if code is None:
            rows = np.append(self._order, -1)[np.searchsorted(self.keys, asked, sorter=self._order)]
            same = (rows >= 0) & (np.append(self.keys, np.uint64(0))[rows] == asked)
            return np.where(same, rows, -1).astype(np.int32)
        found, known = np.empty(len(asked), np.int32), addresses(self.keys, self._table, self._marks)

        def look(first: int) -> None:
            here = addresses(asked[first:], found[first:])
            code.lookup_find(*known, len(self._table), min(BLOCK, len(asked) - first), *here)

        in_threads(look, range(0, len(asked), BLOCK), least=16)
        return found


def _keys(keys: NDArray[np.integer]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(np.asarray(keys).astype(np.int64, copy=False)).view(np.uint64)
