"""A hash table from 64-bit keys to rows, searched for millions of keys at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SEVEN_BITS = np.uint64(127)
_SEVERAL = np.uint8(255)
BLOCK = 1 << 16
_FEW_BLOCKS = 16


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
        self._fill()
        self._marks = self._marked()

    def _fill(self) -> None:
        """Put each row at the first free slot from its own on; of equal keys the first row stays."""
        left = np.arange(len(self.keys) - 1, -1, -1)
        slot = self._home(self.keys[left])
        while len(left):
            free = self._table[slot] < 0
            self._table[slot[free]] = left[free]
            holder = self._table[slot]
            pushed = self.keys[holder] != self.keys[left]
            left, slot = left[pushed], (slot[pushed] + 1) & self._mask

    def _marked(self) -> NDArray[np.uint8]:
        """Return for every slot a mark of the key that belongs there: of 128, or `_SEVERAL`, or 0 for none."""
        home, mark = self._home(self.keys), _mark(self.keys)
        marks = np.zeros(len(self._table), np.uint8)
        marks[home] = mark
        marks[home[marks[home] != mark]] = _SEVERAL
        return marks

    def _home(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        return ((keys * _MIX) >> self._shift).view(np.int64)

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
    from focuseval.engine.workers import in_threads  # noqa: PLC0415  only large input is worth a second thread

    in_threads(work, starts)
