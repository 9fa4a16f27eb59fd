r"""How far two people agree: Cohen's κ, Krippendorff's α, overlap of highlighted text, correlation of specificity.

κ compares two assessors who judged the same units; α takes any number of them and copes with units that some did not
judge. Both are 1 for perfect agreement, 0 for agreement by chance, and undefined (NaN) where nothing could disagree.

How sure an agreement is, 95 % intervals over the documents that two assessors share say. Documents are drawn with
replacement. Every level of agreement is a function of sums over documents, so that a resample only adds rows up again.
The median distance of entry points is no such function; its interval is that of the order statistics, which supposes
nothing of the distances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.inference.paired_tests import resampled_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

Interval = tuple[float, float]
LEVEL = 0.95
RESAMPLES = 2000

_FLAT = 1e-12
"""Variance of values that reach from 0 to 1, or as far, that is only rounding."""


def beyond_chance(observed: ArrayLike, expected: ArrayLike) -> NDArray[np.float64]:
    r"""Return κ from the share on which two agree and the share that chance would give, one or many of them.

    .. math:: \kappa = (p_o - p_e) / (1 - p_e)

    >>> beyond_chance([0.75, 1.0], [0.5, 1.0]).tolist()
    [0.5, nan]
    """
    agreed, chance = np.asarray(observed, np.float64), np.asarray(expected, np.float64)
    return _quotient(agreed - chance, 1 - chance)


def alpha_of_counts(counts: NDArray[np.float64], labels: NDArray[np.float64], level: str = "nominal") -> float:
    r"""Return Krippendorff's α from how many gave each label (a column) to each unit (a row), two or more to each.

    .. math:: \alpha = 1 - D_o / D_e

    >>> round(alpha_of_counts(np.array([[0.0, 2], [1, 1], [2, 0], [2, 0]]), np.array([0.0, 1.0])), 3)
    0.533
    """
    if (counts.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    judged = counts.sum(axis=1)
    coincidence = np.einsum("uc,uk,u->ck", counts, counts, 1 / (judged - 1))
    coincidence -= np.diag((counts / (judged - 1)[:, None]).sum(axis=0))
    distance = (labels[:, None] - labels) ** 2 if level == "interval" else 1.0 - np.eye(len(labels))
    totals = coincidence.sum(axis=0)
    expected = np.outer(totals, totals) - np.diag(totals)
    return float(1 - (totals.sum() - 1) * (coincidence * distance).sum() / (expected * distance).sum())


def overlap_of_sums(both: ArrayLike, sizes: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Jaccard and F from characters in common and characters of the two together, one pair or many.

    >>> [found.tolist() for found in overlap_of_sums([5.0, 0.0], [15.0, 0.0])]
    [[0.5, nan], [0.6666666666666666, nan]]
    """
    common, total = np.asarray(both, np.float64), np.asarray(sizes, np.float64)
    return _quotient(common, total - common), _quotient(2 * common, total)


def correlation_of_moments(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Pearson's correlation from six `moments`, or from many columns of them; NaN where a side never varies."""
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing was drawn that has a value
        x, y, xx, yy, xy = found[1:] / found[0]
    left, right = xx - x * x, yy - y * y
    varied = (left > _FLAT) & (right > _FLAT)
    return np.clip(_quotient(xy - x * y, np.sqrt(np.where(varied, left * right, 0.0))), -1, 1)


def _quotient(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide; what is divided by zero is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below != 0, above / below, np.nan)


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
