r"""How far two people agree: Cohen's κ, Krippendorff's α, overlap of highlighted text, correlation of specificity.

κ compares two assessors who judged the same units; α takes any number of them and copes with units that some did not
judge. Both are 1 for perfect agreement, 0 for agreement by chance, and undefined (NaN) where nothing could disagree.

How sure an agreement is, 95 % intervals say. Two assessors agree on one topic better than on another, so topics are
drawn with replacement, and then as many documents of each as it has. Every level of agreement is a function of sums
over documents, or a median, so that a resample only weighs rows again. Percentiles of the resamples are stretched as
Student's t is beside the normal distribution (Hesterberg 2015), which few topics need. Of fewer than `FEWEST_TOPICS`
there are no intervals. ``reproductions/agreement_intervals.py`` measures how often they hold the truth.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

Interval = tuple[float, float]
LEVEL = 0.95
RESAMPLES = 2000
AGREEMENTS = ("kappa", "jaccard", "f", "precision", "recall", "specificity", "ratio", "distance")
FEWEST_TOPICS = 5  # topics that two assessors share, below which their agreement has no interval

_BLOCK = 2_000_000  # documents that are drawn at once

_FLAT = 1e-12  # variance of values that reach from 0 to 1, or as far, that is only rounding


def beyond_chance(observed: ArrayLike, expected: ArrayLike) -> Floats:
    r"""Return κ from the share on which two agree and the share that chance would give, one or many of them.

    .. math:: \kappa = (p_o - p_e) / (1 - p_e)

    >>> beyond_chance([0.75, 1.0], [0.5, 1.0]).tolist()
    [0.5, nan]
    """
    agreed, chance = np.asarray(observed, np.float64), np.asarray(expected, np.float64)
    return _quotient(agreed - chance, 1 - chance)


def coincidences(counts: Floats) -> Floats:
    """Return every unit's pairs of labels (units × labels × labels) from how many gave each label, two or more in all.

    >>> coincidences(np.array([[1.0, 2.0]])).tolist()
    [[[0.0, 1.0], [1.0, 1.0]]]
    """
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, range(counts.shape[1]), range(counts.shape[1])] -= counts
    return np.asarray(pairs / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None])


def alpha_of_sums(found: Floats, labels: Floats, level: str = "nominal") -> Floats:
    r"""Return Krippendorff's α from `coincidences` added up over units, one matrix or many.

    .. math:: \alpha = 1 - D_o / D_e

    >>> counted = np.array([[0.0, 2], [1, 1], [2, 0], [2, 0]])
    >>> round(float(alpha_of_sums(coincidences(counted).sum(axis=0), np.arange(2))), 3)
    0.533
    """
    distance = (labels[:, None] - labels) ** 2 if level == "interval" else 1.0 - np.eye(len(labels))
    totals = found.sum(axis=-1)
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
    apart = (totals.sum(axis=-1) - 1) * (found * distance).sum(axis=(-2, -1))
    return 1 - _quotient(apart, expected)


def overlap_of_sums(both: ArrayLike, sizes: ArrayLike) -> tuple[Floats, Floats]:
    """Return Jaccard and F from characters in common and characters of the two together, one pair or many.

    >>> [found.tolist() for found in overlap_of_sums([5.0, 0.0], [15.0, 0.0])]
    [[0.5, nan], [0.6666666666666666, nan]]
    """
    common, total = np.asarray(both, np.float64), np.asarray(sizes, np.float64)
    return _quotient(common, total - common), _quotient(2 * common, total)


def correlation_of_moments(found: Floats) -> Floats:
    """Return Pearson's correlation from six `moments`, or from many columns of them; NaN where a side never varies."""
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing was drawn that has a value
        x, y, xx, yy, xy = found[1:] / found[0]
    left, right = xx - x * x, yy - y * y
    varied = (left > _FLAT) & (right > _FLAT)
    return np.clip(_quotient(xy - x * y, np.sqrt(np.where(varied, left * right, 0.0))), -1, 1)


def _quotient(above: Floats, below: Floats) -> Floats:
    """Divide; what is divided by zero is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below != 0, above / below, np.nan)


def intervals(
    sums: Floats, elements: Floats, distances: Floats, topic: NDArray[np.int64], resamples: int = RESAMPLES
) -> dict[str, Interval]:
    """Return the intervals of one pair of assessors; NaN where they share too few topics.

    Parameters
    ----------
    sums
        A column for each document: whether the left, the right, and both found it relevant; the highlighted characters
        in common, of the left, and of the right.
    elements
        A column for each document: the six moments of the specificity of its elements, around zero and over a range
        of one, so that sums of squares lose no digits.
    distances
        Of each document, between the entry points; NaN where not both found it relevant.
    topic
        A number for the topic of each document.
    """
    if (topics := len(np.unique(topic))) < FEWEST_TOPICS:
        return dict.fromkeys(AGREEMENTS, (float("nan"),) * 2)
    columns, number = np.vstack([np.ones(len(topic)), sums, elements]), int((~np.isnan(distances)).sum())
    ordered, medians = np.argsort(distances)[:number], []
    added: list[Floats] = []
    for drawn in drawn_documents(topic, resamples):
        added.append(columns @ drawn.T)
        if number:
            upto = np.cumsum(drawn[:, ordered], axis=1)
            middle = [np.argmax(upto > at[:, None], axis=1) for at in ((upto[:, -1] - 1) // 2, upto[:, -1] // 2)]
            medians.append(np.where(upto[:, -1] > 0, distances[ordered][np.array(middle)].mean(axis=0), np.nan))
    resampled = np.concatenate(added, axis=1)
    documents, *verdicts, common, size, other = resampled[:7]
    x, y, both = np.array(verdicts) / documents
    kappa = beyond_chance(1 - x - y + 2 * both, x * y + (1 - x) * (1 - y))
    precision, recall, ratio = _quotient(common, other), _quotient(common, size), _quotient(other, size)
    distance = np.concatenate(medians) if medians else np.full(resamples, np.nan)
    specificity = correlation_of_moments(resampled[7:])
    found = (kappa, *overlap_of_sums(common, size + other), precision, recall, specificity, ratio, distance)
    return {name: middle_of(values, topics) for name, values in zip(AGREEMENTS, found, strict=True)}


def drawn_documents(topic: NDArray[np.int64], resamples: int) -> Iterator[NDArray[np.int64]]:
    """Yield how often each document is drawn, some resamples at a time: first topics, then documents of each."""
    order, (_, sizes) = np.argsort(topic, kind="stable"), np.unique(topic, return_counts=True)
    first, topics, documents, rng = np.cumsum(sizes) - sizes, len(sizes), len(topic), np.random.default_rng(0)
    for begin in range(0, resamples, step := max(1, _BLOCK // documents)):
        rows = min(step, resamples - begin)
        drawn = rng.integers(0, topics, rows * topics)
        draw = np.repeat(np.arange(len(drawn)), sizes[drawn])  # which draw of a topic each document is drawn for
        own = drawn[draw]
        found = order[first[own] + (rng.random(len(own)) * sizes[own]).astype(np.int64)]
        yield np.bincount(draw // topics * documents + found, minlength=rows * documents).reshape(rows, documents)


def middle_of(values: Floats, topics: int) -> Interval:
    """Return the interval that holds the middle of the resamples, stretched for so many topics.

    Undefined where half of the resamples are, or where there are too few topics.
    """
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415  only intervals need it

    known = values[~np.isnan(values)]
    if topics < FEWEST_TOPICS or 2 * len(known) < len(values):
        return float("nan"), float("nan")
    tail = float(ndtr(-np.sqrt(topics / (topics - 1)) * stdtrit(topics - 1, (1 + LEVEL) / 2)))
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)
