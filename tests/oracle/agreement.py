"""Agreement of two or more assessors from their labels, unit by unit: what the package computes from sums."""

import numpy as np

from focuseval.inference.agreement import (
    alpha_of_sums,
    beyond_chance,
    coincidences,
    correlation_of_moments,
    overlap_of_sums,
)


def cohen_kappa(left, right):
    """Return Cohen's κ of two assessors' labels for the same units."""
    left, right = np.asarray(left), np.asarray(right)
    labels = np.unique(np.r_[left, right])
    if not len(left):
        return float("nan")
    observed = np.mean(left == right)
    shares = [((left == label).mean(), (right == label).mean()) for label in labels]
    return float(beyond_chance(observed, sum(a * b for a, b in shares)))


def krippendorff_alpha(table, level="nominal"):
    """Return Krippendorff's α of a table with a row per assessor and a column per unit; NaN marks "did not judge"."""
    values = np.asarray(table, np.float64)
    paired = values[:, (~np.isnan(values)).sum(axis=0) >= 2]
    labels = np.unique(paired[~np.isnan(paired)])
    counts = (paired[:, :, None] == labels).sum(axis=0).astype(np.float64)
    return float(alpha_of_sums(coincidences(counts).sum(axis=0), labels, level))


def overlap(shared, left, right):
    """Return Jaccard and F of highlighted text, from characters in common and characters of either."""
    jaccard, f = overlap_of_sums(np.sum(shared), np.sum(left) + np.sum(right))
    return float(jaccard), float(f)


def correlation(left, right):
    """Return Pearson's correlation; NaN where one side never varies."""
    x, y = (np.asarray(side, np.float64) for side in (left, right))
    if len(x) < 2 or not np.ptp(x) or not np.ptp(y):
        return float("nan")
    return float(correlation_of_moments(moments((x - x.mean()) / np.ptp(x), (y - y.mean()) / np.ptp(y))))


def moments(x, y):
    """Return the sums that a correlation needs: of 1, x, y, x², y² and xy."""
    return np.array([len(x), x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum()], np.float64)
