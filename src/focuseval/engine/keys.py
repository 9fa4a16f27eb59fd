"""64-bit keys of strings, computed on Arrow buffers without a loop over rows, and a hash table from keys to rows.

Comparing ten million identifiers as strings costs seconds; as integers, tenths of one. A key can collide, so
whoever finds two equal keys compares the strings before concluding anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.engine import native
from focuseval.engine.workers import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


_ODD = np.uint64(0x9E3779B97F4A7C15)
_ODDER = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_BYTES_KEPT = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)
_LONGEST = (1 << 63) - 1
_MANY = 1 << 20
_STRETCH = 1 << 17

BLOCK = 1 << 16
"""Keys that are looked up together: they stay in the processor's cache."""

_FEW_BLOCKS = 16
_SEVEN_BITS = np.uint64(127)
_SEVERAL = np.uint8(255)


def hash64(strings: pa.Array | pa.ChunkedArray) -> NDArray[np.uint64]:
    """Return a key for every string of an Arrow array, plain or dictionary-encoded, maybe chunked.

    >>> import pyarrow as pa
    >>> a, b, c = hash64(pa.array(["d1", "a longer identifier", "d1"]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    chunks = strings.chunks if hasattr(strings, "chunks") else [strings]
    keys = np.empty(len(strings), np.uint64)
    ends = np.cumsum([len(chunk) for chunk in chunks], dtype=np.int64)

    def fill(number: int) -> None:
        """Hash one chunk into its place; chunks are small enough to stay in the cache."""
        here = slice(int(ends[number]) - len(chunks[number]), int(ends[number]))
        keys[here] = _hash_chunk(chunks[number])

    if len(strings) < _MANY:
        for number in range(len(chunks)):
            fill(number)
        return keys
    in_threads(fill, range(len(chunks)))
    return keys


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

    >>> import pyarrow as pa
    >>> rows_of_chunks(pa.chunked_array([["a", "b"], ["c"], ["d"]]), np.array([1, 3])).to_pylist()
    ['b', 'd']
    """
    if getattr(column, "num_chunks", 1) < 2:
        return column.take(indices(rows))
    ends = np.cumsum([len(chunk) for chunk in column.chunks])
    cuts = np.searchsorted(rows, ends)
    pieces = [
        chunk.take(indices(rows[first:last] - (end - len(chunk))))
        for chunk, first, last, end in zip(column.chunks, np.append(0, cuts[:-1]), cuts, ends, strict=True)
        if last > first
    ]
    return pa.chunked_array(pieces, column.type)


def coded(strings: pa.Array | pa.ChunkedArray, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], pa.Array]:
    """Return a code for every string, and the distinct strings in order of first appearance.

    What Arrow's dictionary encoding does; compiled code does it in less time, as the keys are known.

    >>> import pyarrow as pa
    >>> names = pa.array(["b", "a", "b"])
    >>> codes, distinct = coded(names, hash64(names))
    >>> codes.tolist(), distinct.to_pylist()
    ([0, 1, 0], ['b', 'a'])
    """
    whole = strings.combine_chunks() if isinstance(strings, pa.ChunkedArray) else strings
    quick = native.encode(whole, keys)
    if quick is not None:
        return quick[0], whole.take(indices(quick[1]))
    encoded = whole.dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary


def mix(key: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Join two keys into one."""
    mixed = (key ^ other) * _ODD
    mixed ^= mixed >> _HALF
    mixed *= _ODDER
    mixed ^= mixed >> _HALF
    return mixed


def joint(keys: NDArray[np.uint64], group: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Join every key with its group (its topic, say), a stretch at a time, so that ten million need little memory."""
    quick = native.joint(keys, group)
    if quick is not None:
        return quick
    joined = np.empty_like(keys)
    for first in range(0, len(keys), _STRETCH):
        here = slice(first, first + _STRETCH)
        joined[here] = mix(keys[here], group[here].astype(np.uint64))
    return joined


def _hash_chunk(chunk: pa.Array) -> NDArray[np.uint64]:
    """Mix a string's bytes eight at a time."""
    if hasattr(chunk, "dictionary"):
        codes = chunk.indices.to_numpy(zero_copy_only=False)
        return _hash_chunk(chunk.dictionary)[np.asarray(codes, np.int64)]
    keys = native.hash64(chunk)
    return _hash_in_steps(chunk) if keys is None else keys


def _hash_in_steps(chunk: pa.Array) -> NDArray[np.uint64]:
    """Mix all strings' first eight bytes, then their next; rows leave the loop when their bytes are used up.

    Words of strings of one size lie at equal distances, and nothing has to be gathered. At the end every bit of a key
    depends on all of its words.
    """
    starts, sizes, text = _buffers(chunk)
    key = sizes.view(np.uint64) * _ODD
    least, most = int(sizes.min(initial=_LONGEST)), int(sizes.max(initial=0))
    windows: NDArray[np.uint64] = np.ndarray((len(text) - 7,), "<u8", text.data, strides=(1,))
    at: NDArray[np.int64] | slice = slice(None)
    for step in range(0, most, 8):
        if least == most:
            word: NDArray[np.uint64] = np.ndarray((len(key),), "<u8", text.data, step, (most,))
            word = word & _BYTES_KEPT[min(most - step, 8)]
        else:
            if step >= least:
                at = np.flatnonzero(sizes > step)
            word = windows[starts[at] + step]
            if step + 8 > least:
                word &= _BYTES_KEPT[np.minimum(sizes[at] - step, 8)]
        mixed = (key[at] ^ word) * _ODDER
        key[at] = mixed ^ (mixed >> _HALF)
    key *= _ODD
    key ^= key >> _HALF
    return key


def _buffers(chunk: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Return where each string starts, its size in bytes, and the bytes with eight to spare."""
    if chunk.type == "string_view":
        chunk = chunk.cast("string")
    _, offsets, data = chunk.buffers()
    width = np.dtype(np.int64 if "large" in str(chunk.type) else np.int32)
    if offsets is None or not len(chunk):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(8, np.uint8)
    ends = np.frombuffer(offsets, width, len(chunk) + 1, chunk.offset * width.itemsize).astype(np.int64)
    first, last = int(ends[0]), int(ends[-1])
    text = np.zeros(last - first + 8, np.uint8)
    if last > first:
        text[:-8] = np.frombuffer(data, np.uint8, last - first, first)
    return ends[:-1] - first, np.diff(ends), text


class Lookup:
    """Finds the first row that has a key; open addressing, vectorised over the keys asked for.

    A binary search over a million keys costs ten cache misses a key; this costs about one. Keys are looked up in
    blocks that stay in the processor's cache.

    >>> Lookup(np.array([70, 10, 70, 30])).find(np.array([30, 70, 11]))
    array([ 3,  0, -1])
    """

    def __init__(self, keys: NDArray[np.integer]) -> None:
        self.keys = np.asarray(keys).astype(np.int64, copy=False).view(np.uint64)
        bits = max(4, int(4 * len(self.keys)).bit_length())
        self._shift = np.uint64(64 - bits)
        self._mask = np.int64((1 << bits) - 1)
        self._table = np.full(1 << bits, -1, np.int32)
        home, mark = self._home(self.keys), _mark(self.keys)
        self._marks = np.zeros(len(self._table), np.uint8)
        """For every slot, a mark of the key that belongs there: of 128, or `_SEVERAL`, or 0 for none."""
        self._marks[home] = mark
        self._marks[home[self._marks[home] != mark]] = _SEVERAL
        left = np.arange(len(self.keys) - 1, -1, -1)
        slot = home[left]
        while len(left):  # each row at the first free slot from its own on; of equal keys the first row stays
            free = self._table[slot] < 0
            self._table[slot[free]] = left[free]
            pushed = self.keys[self._table[slot]] != self.keys[left]
            left, slot = left[pushed], (slot[pushed] + 1) & self._mask

    def _home(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        return ((keys * _ODD) >> self._shift).view(np.int64)

    def find(self, keys: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the row of each key, −1 where there is none."""
        return self.search(np.asarray(keys).astype(np.int64, copy=False).view(np.uint64)).astype(np.int64)

    def search(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the row of each key, −1 where there is none, in half the memory."""
        found = np.full(len(keys), -1, np.int32)

        def look(first: int) -> None:
            self._find_block(keys[first : first + BLOCK], found[first : first + BLOCK])

        in_blocks(look, range(0, len(keys), BLOCK))
        return found

    def _find_block(self, asked: NDArray[np.uint64], found: NDArray[np.int32]) -> None:
        """Follow each key from its own slot to its row or to a free slot.

        Most keys are asked for in vain: a byte tells, which costs less than a row and its key.
        """
        slot = self._home(asked)
        marks = self._marks[slot]
        left = np.flatnonzero((marks == _mark(asked)) | (marks == _SEVERAL))
        slot = slot[left]
        row = self._table[slot]
        while len(left):
            same = self.keys[row] == asked[left]
            found[left[same]] = row[same]
            left, slot = left[~same], (slot[~same] + 1) & self._mask
            row = self._table[slot]
            real = row >= 0
            left, slot, row = left[real], slot[real], row[real]


def _mark(keys: NDArray[np.uint64]) -> NDArray[np.uint8]:
    return (keys & _SEVEN_BITS).astype(np.uint8) + np.uint8(1)


def in_blocks(work: Callable[[int], None], starts: range) -> None:
    """Do the blocks' work one after the other; several at a time where there are many."""
    if len(starts) < _FEW_BLOCKS:
        for first in starts:
            work(first)
        return
    in_threads(work, starts)
