"""Corrections of p-values for a family of pairs: Holm, and Benjamini and Hochberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MeasureError

if TYPE_CHECKING:
    from numpy.typing import NDArray

CORRECTIONS = ("none", "holm", "bh")
"""Corrections for many pairs: none, Holm (family-wise error), Benjamini–Hochberg (false discovery rate)."""


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _unsorted(np.minimum(1.0, stepped), order)


def benjamini_hochberg(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Benjamini and Hochberg's adjusted p-values.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.04, 0.04])
    """
    order = np.argsort(p, kind="stable")
    stepped = (p[order] * len(p) / np.arange(1, len(p) + 1))[::-1]
    return _unsorted(np.minimum(1.0, np.minimum.accumulate(stepped)[::-1]), order)


def adjust(p: NDArray[np.float64], correction: str) -> NDArray[np.float64]:
    """Correct p-values of many pairs by the named method."""
    if correction not in CORRECTIONS:
        raise MeasureError(f"expected a correction among {', '.join(CORRECTIONS)}, found {correction!r}")
    if correction == "none":
        return p
    return holm(p) if correction == "holm" else benjamini_hochberg(p)


def _unsorted(values: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    out = np.empty_like(values)
    out[order] = values
    return out
