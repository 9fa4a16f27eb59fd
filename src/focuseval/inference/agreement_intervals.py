"""How sure an agreement is: 95 % intervals over the documents that two assessors share.

Documents are drawn with replacement. Every level of agreement is a function of sums over documents, so that a resample
only adds rows up again. The median distance of entry points is no such function; its interval is that of the order
statistics, which supposes nothing of the distances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.inference.agreement import beyond_chance, correlation_of_moments, overlap_of_sums
from focuseval.inference.paired_tests import resampled_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Interval = tuple[float, float]
LEVEL = 0.95
RESAMPLES = 2000


def intervals(
    sums: NDArray[np.float64],
    elements: NDArray[np.float64],
    distances: Sequence[float] | NDArray[np.float64],
    resamples: int = RESAMPLES,
) -> dict[str, Interval]:
    """Return the intervals of one pair of assessors.

    Parameters
    ----------
    sums
        A column for each document: whether the left, the right, and both found it relevant; the highlighted characters
        in common, of the left, and of the right.
    elements
        A column for each document: the six moments of the specificity of its elements, around zero and over a range
        of one, so that sums of squares lose no digits.
    distances
        Between the entry points, where both found a document relevant.
    """
    drawn = np.concatenate(list(resampled_means(np.vstack([sums, elements]), resamples, seed=0)), axis=1)
    x, y, both, common, size, other, *element = drawn
    jaccard, f = overlap_of_sums(common, size + other)
    found = {
        "kappa": beyond_chance(1 - x - y + 2 * both, x * y + (1 - x) * (1 - y)),
        "jaccard": jaccard,
        "f": f,
        "specificity": correlation_of_moments(np.array(element)),
        "ratio": np.divide(other, size, out=np.full_like(size, np.nan), where=size > 0),
    }
    return {**{name: _middle(values) for name, values in found.items()}, "distance": of_median(distances)}


def _middle(values: NDArray[np.float64]) -> Interval:
    """Return the interval that holds the middle of the resamples; undefined where half of them are."""
    known = values[~np.isnan(values)]
    if 2 * len(known) < len(values):
        return float("nan"), float("nan")
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def of_median(values: Sequence[float] | NDArray[np.float64]) -> Interval:
    """Return the interval of a median: the two values that hold it with probability .95, or all of fewer than six.

    >>> of_median(range(1, 11)), of_median([3, 1])
    ((2.0, 9.0), (1.0, 3.0))
    """
    from scipy.special import bdtr  # noqa: PLC0415  only intervals need it

    number, ordered = len(values), sorted(values)
    if not number:
        return float("nan"), float("nan")
    cut = int((bdtr(np.arange(number // 2), number, 0.5) <= (1 - LEVEL) / 2).sum())
    return float(ordered[max(cut - 1, 0)]), float(ordered[min(number - cut, number - 1)])
