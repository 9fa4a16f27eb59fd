"""How sure a mean or a difference is: 95 % intervals, effect size, and slices of the topics judged as one family.

Student's t is the default, of means within bounds joined with a score interval. It was chosen by a simulation of real
and made-up values of 6 to 150 topics (``python -m reproductions intervals``): with ties, with skewed scores and with
clusters it holds its level from 10 topics on, where bootstrap percentiles, corrected or not, are too narrow.

A table of slices is read for the one that stands out, and of many slices of equal runs some do. So p is corrected by
Holm over all slices that are judged, and their intervals hold together: each at 1 − .05 / slices (Bonferroni, which
needs nothing of how slices overlap). Both are Student's t, whatever test the runs as a whole are compared by: an
interval without 0 then always comes with a verdict. Holm, which is the sharper of the two, can tell where the interval
still holds 0; the verdict decides. Slices of fewer than `FEWEST` topics are not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.errors import MeasureError
from focuseval.inference.clusters import Clusters, standard_error
from focuseval.inference.paired_tests import adjust, resampled_means, resampled_t, t_test, without_noise
from focuseval.inference.settings import Settings

Matrix = NDArray[np.float64]
Bounds = tuple[float | Matrix, float | Matrix]  # of a measure, or of every row

_CELLS = 2_000_000  # resampled means that are kept at once: more rows are done in parts, with the same draws

UNBOUNDED = (-np.inf, np.inf)
FEWEST = 10  # topics of a slice, below which nothing is said of it
_INFINITE = 1e12  # stands for the t of a resample without spread


def interval(
    values: Matrix, settings: Settings, clusters: Clusters | None = None, bounds: Bounds = UNBOUNDED
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the 95 % interval of the mean of every row, by `student` or as the settings say.

    The studentised bootstrap is symmetric; where one resample in twenty has no spread it is that of `student` as well.
    An interval ends at the measure's bounds, where these are given: no mean lies beyond them, so nothing is lost.

    >>> from focuseval.inference.settings import Settings
    >>> low, high = interval(np.array([[0.5, 0.75, 1.0]]), Settings(), bounds=(0, 1))
    >>> low.round(4).tolist(), high.tolist()
    ([0.129], [1.0])
    """
    if settings.interval == "t":
        return student(values, clusters, bounds=bounds)
    resamples = max(1000, settings.resamples)
    if settings.interval == "bca":
        low, high = bca(values, resamples=resamples, seed=settings.seed, clusters=clusters)
        return np.clip(low, *bounds), np.clip(high, *bounds)
    low, high = student(values, clusters, bounds=bounds)
    mean, error, freedom = standard_error(values, clusters)
    if freedom.any():
        blocks = resampled_t(values, resamples, settings.seed, clusters)
        drawn = np.minimum(np.abs(np.concatenate(list(blocks), axis=1)), _INFINITE)
        quantile = _quantiles(drawn, np.full((len(values), 1), 0.95))[:, 0]
        wide = quantile < _INFINITE / 100  # else 1 in 20 resamples has no spread
        reach = np.where(wide, quantile, 0.0) * error
        low, high = np.where(wide, mean - reach, low), np.where(wide, mean + reach, high)
    return np.clip(low, *bounds), np.clip(high, *bounds)


def student(
    values: Matrix, clusters: Clusters | None = None, *, level: float = 0.95, bounds: Bounds = UNBOUNDED
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval of the mean of every row of `values` by `student_ends`; of one topic, one of no width.

    >>> low, high = student(np.array([[1.0, 2.0, 3.0]]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-0.4841], [4.4841])
    """
    units = values.shape[1] if clusters is None else clusters.number
    return student_ends(*standard_error(values, clusters), units, level=level, bounds=bounds)


def student_ends(
    mean: Matrix, error: Matrix, freedom: Matrix, units: Matrix | NDArray[np.int64] | int, *, level: float = 0.95,
    bounds: Bounds = UNBOUNDED, joined: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    r"""Return Student's t interval of means; between two bounds, joined with the score interval, and cut at them.

    Scores near a bound are skewed: a sample without the few large values has too small a mean and too small an error.
    The score interval holds every μ that such a sample would be no surprise of, if the error at μ were in proportion to
    that of a share, as Wilson has it (a and b are the bounds):

    .. math:: (\bar x - \mu)^2 \le t^2 se^2 \frac{(\mu - a)(b - \mu)}{(\bar x - a)(b - \bar x)}

    Where all values are at one bound it is Wilson's, of a share of so many units. Other values that all agree, and a
    single unit, have an interval of no width. Not `joined`, it is the score interval alone, and no wider than Wilson's.

    >>> low, high = student_ends(np.array([0.1, 1.0]), np.array([0.05, 0.0]), np.full(2, 9.0), 10, bounds=(0, 1))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.6615], [0.2667, 1.0])
    """
    from scipy.special import stdtrit  # noqa: PLC0415  only intervals need it

    quantile = np.where(freedom > 0, stdtrit(np.maximum(freedom, 1e-9), (1 + level) / 2), 0.0)
    reach, (least, most) = quantile * error, (np.broadcast_to(end, mean.shape) for end in bounds)
    low, high, inside = mean - reach, mean + reach, np.isfinite(least) & np.isfinite(most)
    if inside.any():
        width = np.where(inside, most - least, 1.0)
        share = np.where(inside, np.clip((mean - least) / width, 0.0, 1.0), 0.5)  # an estimate may lie outside
        spread, wilson = share * (1 - share), quantile**2 / np.maximum(units, 1)
        ratio = np.divide((reach / width) ** 2, spread, out=wilson.copy(), where=spread > 0)
        ratio = ratio if joined else np.minimum(ratio, wilson)
        centre, half = (share + ratio / 2) / (1 + ratio), np.sqrt(ratio * spread + ratio**2 / 4) / (1 + ratio)
        lower, upper = least + width * (centre - half), least + width * (centre + half)
        low = np.where(inside, np.minimum(low, lower) if joined else lower, low)
        high = np.where(inside, np.maximum(high, upper) if joined else upper, high)
    return np.clip(low, least, most), np.clip(high, least, most)


def bca(
    values: Matrix, *, level: float = 0.95, resamples: int = 1000, seed: int = 0, clusters: Clusters | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the BCa interval (Efron 1987) of the mean of every row of `values`, topics or clusters drawn.

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
        found = (bca(part, level=level, resamples=resamples, seed=seed, clusters=clusters) for part in parts)
        low, high = map(np.concatenate, zip(*found, strict=True))
        return low, high
    mean = values.mean(axis=1)
    sums, sizes = (values, np.ones(values.shape[1])) if clusters is None else (clusters.sums(values), clusters.sizes)
    means = np.concatenate(list(resampled_means(sums, resamples, seed)), axis=1)
    if clusters is not None:
        means /= np.concatenate(list(resampled_means(sizes[None], resamples, seed)), axis=1)
    over = without_noise(means - mean[:, None], values)  # the same topics drawn again differ by rounding alone
    below = (over < 0).sum(axis=1) + (over == 0).sum(axis=1) / 2
    bias = ndtri(np.clip(below / resamples, 0.5 / resamples, 1 - 0.5 / resamples))
    centred = sums - sizes * mean[:, None]
    cubes, spread = (centred**3).sum(axis=1), 6 * (centred**2).sum(axis=1) ** 1.5
    pull = np.divide(cubes, spread, out=np.zeros(len(values)), where=spread > 0)  # a sixth of the mean's skewness
    tails = ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    shifted = bias[:, None] + tails
    adjusted = ndtr(bias[:, None] + shifted / (1 - pull[:, None] * shifted))
    low, high = _quantiles(means, adjusted).T
    flat = np.ptp(centred, axis=1) == 0
    return np.where(flat, mean, low), np.where(flat, mean, high)


def effect_size(differences: Matrix) -> NDArray[np.float64]:
    """Return Cohen's d of paired differences: their mean over their standard deviation.

    Where all differences agree it is 0 if they are zero, else infinite with their sign.

    >>> effect_size(np.array([[1.0, 3.0], [0.0, 0.0], [2.0, 2.0]])).round(4).tolist()
    [1.4142, 0.0, inf]
    """
    mean, flat = differences.mean(axis=1), np.ptp(differences, axis=1) == 0
    spread = differences.std(axis=1, ddof=min(1, differences.shape[1] - 1))
    return np.where(flat, np.where(mean == 0, 0.0, np.copysign(np.inf, mean)), mean / np.where(flat, 1.0, spread))


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


class Sliced(NamedTuple):
    """One slice: a value for every pair of runs."""

    low: Matrix
    high: Matrix  # the intervals of all slices of a pair hold their differences together with probability .95
    corrected: Matrix  # p of the t-test, corrected by Holm over the slices
    lead: NDArray[np.int64]  # 1 where the first run is significantly better, −1 where the second is, else 0


def judge_slices(
    differences: Matrix, slices: Sequence[Sequence[int]], alpha: float = 0.05, clusters: Clusters | None = None
) -> list[Sliced | None]:
    """Judge slices, each the numbers of its topics, of pairs × topics of differences; None where topics are too few.

    >>> low, high, p, lead = judge_slices(np.r_[np.ones(12), 0, 0][None], [range(14), range(3)])[0]
    >>> low.round(2).tolist(), p.round(4).tolist(), lead.tolist()
    ([0.65], [0.0], [1])
    """
    judged = [n for n, topics in enumerate(slices) if len(topics) >= FEWEST]
    found: list[Sliced | None] = [None] * len(slices)
    if not judged or not len(differences):
        return found
    parts = [differences[:, list(slices[n])] for n in judged]
    inside = [None if clusters is None else clusters.take(np.array(slices[n])) for n in judged]
    tested = [t_test(part, tails=2, clusters=own) for part, own in zip(parts, inside, strict=True)]
    corrected = np.apply_along_axis(adjust, 0, np.array(tested), "holm")
    for n, part, own, p in zip(judged, parts, inside, corrected, strict=True):
        lead = np.sign(without_noise(part.mean(axis=1), part)).astype(np.int64)
        found[n] = Sliced(*student(part, own, level=1 - 0.05 / len(judged)), p, np.where(p <= alpha, lead, 0))
    return found
