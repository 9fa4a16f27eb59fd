"""A text cut wherever a highlight or a result begins or ends: each piece is one thing to a reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Pairs = Sequence[tuple[int, int]]

KINDS = ("plain", "noise", "missed", "found")
"""Neither highlighted nor returned; returned alone; highlighted alone; both."""


@dataclass(frozen=True, eq=False)
class HeatSegments:
    """Pieces of a text, in order, from its first character to its last."""

    start: Integers
    end: Integers
    highlighted: NDArray[np.bool_]
    rank: Integers
    """The first rank that returns the piece, 0 where none does."""
    times: Integers
    """How many results return it."""

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.start)

    @property
    def kind(self) -> Integers:
        """For every piece, its kind: a code into `KINDS`."""
        return 2 * self.highlighted.astype(np.int64) + (self.rank > 0)

    def characters(self) -> dict[str, int]:
        """Return how many characters are of each kind."""
        sizes = np.bincount(self.kind, self.end - self.start, len(KINDS)).astype(np.int64)
        return dict(zip(KINDS, sizes.tolist(), strict=True))


def segments(length: int, highlights: Pairs, results: Pairs, ranks: Sequence[int] | None = None) -> HeatSegments:
    """Cut a text of `length` characters at the ends of highlights and results; both may overlap each other.

    `ranks` are those of the results; by default they are ranked as they stand. What lies beyond the text is cut off.

    >>> found = segments(10, highlights=[(2, 6)], results=[(4, 8), (5, 10)])
    >>> list(zip(found.start.tolist(), found.kind.tolist(), found.rank.tolist(), found.times.tolist()))
    [(0, 0, 0, 0), (2, 2, 0, 0), (4, 3, 1, 1), (5, 3, 1, 2), (6, 1, 1, 2), (8, 1, 2, 1)]
    """
    ranks = range(1, len(results) + 1) if ranks is None else ranks
    ends = [min(max(edge, 0), length) for span in (*highlights, *results) for edge in span]
    cuts = np.unique(np.array([0, length, *ends], np.int64))
    highlighted = np.zeros(len(cuts) - 1, np.bool_)
    for low, high in _rows(cuts, highlights):
        highlighted[low:high] = True
    rank, times = np.zeros(len(cuts) - 1, np.int64), np.zeros(len(cuts) - 1, np.int64)
    for (low, high), place in sorted(zip(_rows(cuts, results), ranks, strict=True), key=lambda one: -one[1]):
        rank[low:high] = place  # from the last rank to the first, which stays
        times[low:high] += 1
    return HeatSegments(cuts[:-1], cuts[1:], highlighted, rank, times)


def _rows(cuts: Integers, spans: Pairs) -> list[tuple[int, int]]:
    """Return the pieces that each span covers, as ranges."""
    if not len(spans):
        return []
    edges = np.clip(np.array(spans, np.int64), 0, cuts[-1])
    return [(int(low), int(high)) for low, high in np.searchsorted(cuts, edges)]
