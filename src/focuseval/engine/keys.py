"""64-bit keys of strings, computed on Arrow buffers without a Python loop over rows.

Comparing ten million identifiers as strings costs seconds; as integers, tenths of one. A key can collide, so
whoever finds two equal keys compares the strings before concluding anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.engine import native

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_ODD = np.uint64(0x9E3779B97F4A7C15)
_ODDER = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_BYTES_KEPT = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)
_LONGEST = (1 << 63) - 1
_MANY = 1 << 20
_STRETCH = 1 << 17


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
    from focuseval.engine.workers import in_threads  # noqa: PLC0415  only large input is worth a second thread

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
    import pyarrow as pa  # noqa: PLC0415  who has Arrow arrays has loaded it

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
    import pyarrow as pa  # noqa: PLC0415  as above

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
    import pyarrow as pa  # noqa: PLC0415  as above

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
        known = _hash_chunk(chunk.dictionary)
        return known[np.asarray(codes, np.int64)]
    keys = native.hash64(chunk)
    return _hash_in_steps(chunk) if keys is None else keys


def _hash_in_steps(chunk: pa.Array) -> NDArray[np.uint64]:
    """Mix all strings' first eight bytes, then their next; rows leave the loop when their bytes are used up."""
    starts, sizes, text = _buffers(chunk)
    key = sizes.view(np.uint64) * _ODD
    least, most = int(sizes.min(initial=_LONGEST)), int(sizes.max(initial=0))
    if least == most:
        return _last(_hash_equally_long(key, least, text))
    windows: NDArray[np.uint64] = np.ndarray((len(text) - 7,), "<u8", text.data, strides=(1,))
    at: NDArray[np.int64] | slice = slice(None)
    for step in range(0, most, 8):
        if step >= least:
            at = np.flatnonzero(sizes > step)
        word = windows[starts[at] + step]
        if step + 8 > least:
            word &= _BYTES_KEPT[np.minimum(sizes[at] - step, 8)]
        key[at] = _next(key[at], word)
    return _last(key)


def _hash_equally_long(key: NDArray[np.uint64], size: int, text: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Mix strings of one size: their words lie at equal distances, and nothing has to be gathered."""
    for step in range(0, size, 8):
        words: NDArray[np.uint64] = np.ndarray((len(key),), "<u8", text.data, step, (size,))
        key = _next(key, words & _BYTES_KEPT[min(size - step, 8)])
    return key


def _next(key: NDArray[np.uint64], word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Take one more word into a key."""
    key ^= word
    key *= _ODDER
    key ^= key >> _HALF
    return key


def _last(key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Let every bit of a key depend on all of its words."""
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
