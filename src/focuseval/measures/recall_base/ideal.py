"""The ideal recall base: of overlapping relevant elements, the ones to return.

Seed of the procedure: on every path from an article's root to a relevant leaf (a relevant element without a relevant
descendant) the element with the highest gain is kept, of equal ones the one nearer the root; then, of two kept
elements where one contains the other, the one nearer the root stays (Lalmas & Tombros 2007, section 3.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ideal_rows(gain: NDArray[np.float64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the ideal elements, given gains in pre-order and the ends of subtrees.

    A section of gain 1/2 with paragraphs of gains 1 and 1/4: the second paragraph's path would keep the section,
    which contains the first paragraph's choice and so replaces it.

    >>> ideal_rows(np.array([0.5, 1.0, 0.25]), np.array([3, 2, 3]))
    array([0])
    >>> ideal_rows(np.array([0.5, 1.0, 0.75]), np.array([3, 2, 3]))
    array([1, 2])
    """
    rows = np.arange(len(gain))
    chosen = np.zeros(len(gain), np.bool_)
    chosen[_best_on_path(gain, last)[last == rows + 1]] = True
    kept = np.flatnonzero(chosen)
    outermost = np.ones(len(kept), np.bool_)
    outermost[1:] = kept[1:] >= np.maximum.accumulate(last[kept])[:-1]
    return kept[outermost]


def _best_on_path(gain: NDArray[np.float64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """For every row, the row of highest gain among its ancestors and itself, ties to the one nearer the root.

    One pass per depth level, from the top; depth counts ancestors among these rows, however many steps lie between.
    """
    best = np.arange(len(gain), dtype=np.int64)
    depth = nesting(last)
    above = np.flatnonzero(depth == 1)
    for level in range(2, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        parent = above[np.searchsorted(above, here) - 1]
        best[here] = np.where(gain[here] > gain[best[parent]], here, best[parent])
        above = here
    return best


def nesting(last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rows contain each row, itself included, given the ends of subtrees in pre-order.

    >>> nesting(np.array([4, 3, 3, 4, 5]))
    array([1, 2, 3, 2, 1])
    """
    ended = np.bincount(last, minlength=len(last) + 1)[: len(last)]
    return np.asarray(np.arange(1, len(last) + 1) - np.cumsum(ended, out=ended))
