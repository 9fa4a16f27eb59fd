"""How large a difference is: Student's t and bias-corrected and accelerated bootstrap intervals, and effect size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MeasureError
from focuseval.inference.paired_tests import resampled_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]


_CELLS = 2_000_000
"""Resampled means that are kept at once: more rows are done in parts, with the same draws."""


def student(values: Matrix, *, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Student's t interval of the mean of every row of `values`, two topics or more.

    >>> low, high = student(np.array([[1.0, 2.0, 3.0]]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-0.4841], [4.4841])
    """
    from scipy.special import stdtrit  # noqa: PLC0415  only intervals need it

    topics, mean = values.shape[1], values.mean(axis=1)
    half = stdtrit(topics - 1, (1 + level) / 2) * values.std(axis=1, ddof=1) / np.sqrt(topics)
    return mean - half, mean + half


def bca(
    values: Matrix, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the BCa interval (Efron 1987) of the mean of every row of `values`.

    The mean of one topic, or of topics that all agree, has an interval of no width.

    >>> low, high = bca(np.array([[2.0, 2.0, 2.0]]))
    >>> low.tolist(), high.tolist()
    ([2.0], [2.0])
    """
    from scipy.special import ndtr, ndtri  # noqa: PLC0415  only intervals need it

    if not 0 < level < 1:
        raise MeasureError(f"expected a confidence level between 0 and 1, found {level}")
    if len(values) > (rows := max(1, _CELLS // resamples)):
        parts = np.split(values, range(rows, len(values), rows))
        sides = zip(*(bca(part, level=level, resamples=resamples, seed=seed) for part in parts), strict=True)
        low, high = map(np.concatenate, sides)
        return low, high
    mean = values.mean(axis=1)
    means = np.concatenate(list(resampled_means(values, resamples, seed)), axis=1)
    below = (means < mean[:, None]).sum(axis=1) + (means == mean[:, None]).sum(axis=1) / 2
    bias = ndtri(np.clip(below / resamples, 0.5 / resamples, 1 - 0.5 / resamples))
    pull = acceleration(values)
    tails = ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    shifted = bias[:, None] + tails
    adjusted = ndtr(bias[:, None] + shifted / (1 - pull[:, None] * shifted))
    low, high = _quantiles(means, adjusted).T
    flat = np.ptp(values, axis=1) == 0
    return np.where(flat, mean, low), np.where(flat, mean, high)


def acceleration(values: Matrix) -> NDArray[np.float64]:
    """Return the jackknife estimate of the acceleration of the mean: a sixth of its skewness.

    >>> acceleration(np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]])).tolist()
    [0.0, 0.0]
    """
    centred = values - values.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1) ** 1.5
    zero = np.zeros(len(values))
    return np.asarray(np.divide((centred**3).sum(axis=1), 6 * spread, out=zero, where=spread > 0))


def effect_size(differences: Matrix) -> NDArray[np.float64]:
    """Return Cohen's d of paired differences: their mean over their standard deviation.

    Where all differences agree it is 0 if they are zero, else infinite with their sign.

    >>> effect_size(np.array([[1.0, 3.0], [0.0, 0.0], [2.0, 2.0]])).round(4).tolist()
    [1.4142, 0.0, inf]
    """
    mean = differences.mean(axis=1)
    flat = np.ptp(differences, axis=1) == 0
    if differences.shape[1] < 2:
        return np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    spread = np.where(flat, 1.0, differences.std(axis=1, ddof=1))
    return np.where(flat, np.where(mean == 0, 0.0, np.copysign(np.inf, mean)), mean / spread)


def _quantiles(values: Matrix, shares: Matrix) -> Matrix:
    """Return, for every row of `values`, what stands at that row's shares of its order, by linear interpolation.

    Only the values at these places are put in order, which is four times as quick as sorting.
    """
    place = np.clip(shares, 0, 1) * (values.shape[1] - 1)
    lower = np.floor(place).astype(np.int64)
    upper = np.minimum(lower + 1, values.shape[1] - 1)
    for row, places in zip(values, np.concatenate([lower, upper], axis=1), strict=True):
        row.partition(np.unique(places))
    rows = np.arange(len(values))[:, None]
    low: Matrix = values[rows, lower]
    return np.asarray(low + (place - lower) * (values[rows, upper] - low))
