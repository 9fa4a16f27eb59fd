"""Words, sentences or tokens of documents: where each begins and ends, how many a span holds, windows over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.spans import pack
from focuseval.engine.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from focuseval.collection import Collection

    Integers = NDArray[np.int64]
    Cutter = Callable[[str], tuple[Integers, Integers]]

_AT_ONCE = 64
"""Documents whose texts are asked for together."""


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Pieces of documents 0 … n − 1, one document after the other; starts and ends ascend in each document."""

    start: Integers
    end: Integers
    bounds: Integers
    """Where every document's pieces begin, and the end of the last."""

    @cached_property
    def _document(self) -> Integers:
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @cached_property
    def _starts(self) -> Integers:
        return pack(self._document, self.start)

    @cached_property
    def _ends(self) -> Integers:
        return pack(self._document, self.end)

    def upto_start(self, document: Integers, position: Integers) -> Integers:
        """Return how many pieces begin before a position, those of earlier documents included."""
        return np.searchsorted(self._starts, pack(document, position), "left")

    def upto_end(self, document: Integers, position: Integers) -> Integers:
        """Return how many pieces end at or before a position, those of earlier documents included."""
        return np.searchsorted(self._ends, pack(document, position), "right")

    def count(self, document: Integers, start: Integers, end: Integers) -> Integers:
        """Return how many pieces each span holds, cut ones included; an empty span cuts none."""
        return np.where(end > start, self.upto_start(document, end) - self.upto_end(document, start), 0)

    def windows(self, size: int, step: int) -> tuple[Integers, Integers, Integers]:
        """Return document, start and end of every window of so many pieces, from the first one's start on."""
        document, first, last = windows(np.diff(self.bounds), size, step)
        base = self.bounds[document]
        return document, self.start[base + first], self.end[base + last - 1]


def windows(totals: Integers, size: int, step: int) -> tuple[Integers, Integers, Integers]:
    """Return document, first and past-last number of every window over so many things in each document.

    The last window of a document is the first that reaches its end; with gaps there may be none that does.

    >>> [part.tolist() for part in windows(np.array([5, 0, 2]), 3, 2)]
    [[0, 0, 2], [0, 2, 0], [3, 5, 2]]
    """
    reaching = 1 - (-np.maximum(totals - size, 0) // step)
    number = np.minimum(reaching, -(-totals // step))
    document = np.repeat(np.arange(len(totals)), number)
    first = (np.arange(len(document)) - np.repeat(np.cumsum(number) - number, number)) * step
    return document, first, np.minimum(first + size, totals[document])


def joined(parts: Iterable[tuple[Integers, Integers]]) -> Boundaries:
    """Return the pieces of several documents as columns."""
    starts, ends = zip(*parts, strict=True) if (parts := list(parts)) else ((), ())
    bounds = np.append(0, np.cumsum([len(part) for part in starts], dtype=np.int64))
    empty = np.zeros(0, np.int64)
    return Boundaries(np.concatenate([empty, *starts]), np.concatenate([empty, *ends]), bounds)


def boundaries(texts: Iterable[str], cut: Cutter) -> Boundaries:
    """Cut every text into its pieces."""
    return joined(map(cut, texts))


def texts_of(documents: Collection, rows: Integers | None = None) -> Iterator[str]:
    """Yield the texts of documents, all of them or those in some rows; a row below 0 has an empty one."""
    wanted = np.arange(len(documents)) if rows is None else np.asarray(rows, np.int64)
    for first in range(0, len(wanted), _AT_ONCE):
        some = wanted[first : first + _AT_ONCE]
        found = iter(documents.texts(some[some >= 0]).to_pylist())
        yield from (next(found) if row >= 0 else "" for row in some.tolist())


def between_blanks(text: str) -> tuple[Integers, Integers]:
    """Return where the runs of characters that are not white space begin and end: the words of a budget.

    >>> between_blanks("to be  or")
    (array([0, 3, 7]), array([2, 5, 9]))
    """
    blank = np.isin(code_points(text), _BLANKS)
    edges = np.diff(np.concatenate(([True], blank, [True])).astype(np.int8))
    return np.flatnonzero(edges == -1), np.flatnonzero(edges == 1)


def code_points(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


_BLANKS = np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)
"""White space as `str.split` has it."""
