"""Short strings inside a byte array, read eight bytes at a time as integers.

A tag's name or an entity's name is found by loading the eight bytes after ``<`` or ``&`` as one integer and looking
for the first byte that ends it, for all tags at once. Names of up to eight bytes *are* their integer; longer ones are
folded into a hash, and compared in full afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 8
LONGEST = 64
"""Strings of more bytes than this are left to the slow path."""
_ONES = 0x0101010101010101
_HIGH = np.uint64(0x8080808080808080)
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Strings:
    """Strings inside a byte array by their content: equal strings have equal codes."""

    code: NDArray[np.int32]
    distinct: list[bytes]


def words_at(data: NDArray[np.uint8], start: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the eight bytes at each start as little-endian integers; `data` has eight bytes to spare at its end."""
    view: NDArray[np.uint64] = np.ndarray((len(data) - WIDTH + 1,), "<u8", data.data, strides=(1,))
    return view[start]


def cut_at(words: NDArray[np.uint64], ends: bytes) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    r"""Zero each word's first byte that is white space or one of `ends`, and all after it; tell which words have one.

    The tests for a byte are the known ones for words: a borrow out of a byte marks it. The lowest mark is always right.

    >>> cut, found = cut_at(np.frombuffer(b"sec id=1bibliogr", "<u8"), b">")
    >>> cut.tobytes(), found.tolist()
    (b'sec\x00\x00\x00\x00\x00bibliogr', [True, False])
    """
    marks = (words - np.uint64(0x21 * _ONES)) & ~words & _HIGH
    for end in ends:
        zero = words ^ np.uint64(end * _ONES)
        marks |= (zero - np.uint64(_ONES)) & ~zero & _HIGH
    found = marks != 0
    lowest = marks & (~marks + np.uint64(1))
    keep = np.where(found, (lowest >> np.uint64(7)) - np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF))
    return words & keep, found


def strings_at(data: NDArray[np.uint8], start: NDArray[np.int64], ends: bytes) -> Strings:
    """Read the strings that begin at `start` and stop before white space or the first of `ends`."""
    key, short = cut_at(words_at(data, start), ends)
    more = np.flatnonzero(~short)
    at = start[more]
    while len(more):
        at = at + WIDTH
        if at[0] - start[more[0]] >= LONGEST:
            raise UnusualNamesError
        word, found = cut_at(words_at(data, at), ends)
        mixed = (key[more] ^ (key[more] >> np.uint64(29))) * _MIX
        key[more] = (mixed ^ (mixed >> np.uint64(32)) ^ word) * _MIX
        more, at = more[~found], at[~found]
    encoded = pa.array(key).dictionary_encode()
    code: NDArray[np.int32] = encoded.indices.to_numpy()
    first = np.zeros(len(encoded.dictionary), np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    long = np.flatnonzero(~short)
    if len(long):
        if not np.array_equal(short[first][code], short):
            raise UnusualNamesError
        _check_twins(data, start[long], start[first][code[long]], ends)
    return Strings(code, [_string(data, int(place), ends) for place in start[first]])


def _check_twins(data: NDArray[np.uint8], one: NDArray[np.int64], two: NDArray[np.int64], ends: bytes) -> None:
    """Compare every string with the one it was taken to be equal to; a hash alone decides nothing."""
    while len(one):
        word, found = cut_at(words_at(data, one), ends)
        other, other_found = cut_at(words_at(data, two), ends)
        if not (np.array_equal(word, other) and np.array_equal(found, other_found)):
            raise UnusualNamesError
        more = ~found
        one, two = one[more] + WIDTH, two[more] + WIDTH


class UnusualNamesError(Exception):
    """A name is very long, or two names have the same hash: the caller reads the documents another way."""


def _string(data: Any, start: int, ends: bytes) -> bytes:
    stop = start
    while data[stop] > 0x20 and data[stop] not in ends:
        stop += 1
    return bytes(data[start:stop])
