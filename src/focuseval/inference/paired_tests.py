"""Paired tests over topics, for all pairs of runs at once, and their correction for many pairs.

Every test takes `differences`, one row per pair of runs and one column per topic (first run minus second), and
returns one p-value per pair. One-tailed tests ask whether the first run is *better*.

Sums of differences are compared with zero after rounding noise is removed, so that differences which cancel exactly
(+.1 and −.1) count as zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.errors import MeasureError
from focuseval.inference.clusters import Clusters, standard_error
from focuseval.inference.correlation import mean_ranks
from focuseval.inference.settings import CORRECTIONS, Settings

Matrix = NDArray[np.float64]
Progress = Callable[[float, float], None]  # called with the draws that are done, and of how many

EXACT = 24  # differences other than zero up to which the randomisation test goes through all of their sign flips

RANKED = 50  # differences other than zero up to which Wilcoxon's test is exact

_RARE = 10  # where at most so many of the drawn flips reach the observed sum, p is estimated again from more draws
NOISE = 1e-12
ROUNDED = 1e-15  # what rounding can add to one of the values that are added up, as a share of the largest
_BLOCK = 4_000_000
_CACHED = 60_000  # sums that are compared at once: half a megabyte, which stays in the processor's cache
_KEPT = 10_000_000
"""Draws (topics × resamples) that are kept for the next call, at two bytes each: no topic is drawn 65,536 times."""


class Sides(NamedTuple):
    """What differences are of: row k of the differences is `values[first[k]] - values[second[k]]`.

    With many pairs of few runs, sums over the runs are far fewer than sums over the pairs.
    """

    values: Matrix
    first: NDArray[np.int64]
    second: NDArray[np.int64]


def p_values(
    differences: Matrix, settings: Settings, family: int | None = None, *, clusters: Clusters | None = None,
    sides: Sides | None = None, progress: Progress | None = None,
) -> Matrix:  # fmt: skip
    """Return the p-value of every row of `differences`, by the test of the settings, not corrected.

    `family` is how many of the rows are corrected together, where that is not all of them. Tests other than t take the
    sums of clusters for what they take topics for without clusters.

    >>> from focuseval.inference.settings import Settings
    >>> p_values(np.array([[1.0, 2.0, 3.0]]), Settings("sign", tails=1))
    array([0.125])
    """
    tails, drawn = settings.tails, {"resamples": settings.resamples, "seed": settings.seed}
    most = settings.draws(len(differences) if family is None else family)
    if settings.test == "t":
        return t_test(differences, tails=tails, clusters=clusters)
    if settings.test == "studentised":
        return studentised(differences, tails=tails, resamples=most, seed=settings.seed, clusters=clusters)
    if clusters is not None:
        differences = without_noise(clusters.sums(differences), differences)
        sides = None if sides is None else sides._replace(values=clusters.sums(sides.values))
    if settings.test == "randomisation":
        return randomisation(differences, tails=tails, **drawn, most=most, sides=sides, progress=progress)
    if settings.test == "bootstrap":
        return bootstrap(differences, tails=tails, **drawn)
    return {"wilcoxon": wilcoxon, "sign": sign_test}[settings.test](differences, tails=tails)


def paired_differences(first: Matrix, second: Matrix) -> Matrix:
    """Return first minus second; what is only rounding noise, measured by the largest value of the row, is zero.

    >>> paired_differences(np.array([[0.1 + 0.2, 1.0]]), np.array([[0.3, 0.5]])).tolist()
    [[0.0, 0.5]]
    """
    differences = first - second
    largest = np.maximum(np.abs(first), np.abs(second)).max(axis=1, keepdims=True, initial=0.0)
    return np.where(np.abs(differences) <= largest * NOISE, 0.0, differences)


def ranked(values: Matrix) -> tuple[list[int], NDArray[np.int64]]:
    """Return the rows of `values` by their means, highest first, and every row's place, from 0; equal ones share it.

    Means that differ by rounding alone are equal: such rows stay in the order given. A row without a mean is last.

    >>> ranked(np.array([[0.3, 0.3], [0.5, 0.25], [0.1 + 0.2, 0.3]]))
    ([1, 0, 2], array([1, 0, 1]))
    """
    means = np.nan_to_num(values.mean(axis=1), nan=-np.inf)
    by_mean = np.argsort(-means, kind="stable")
    largest = np.abs(values).max(initial=0.0, where=~np.isnan(values))
    with np.errstate(invalid="ignore"):  # rows without a mean
        steps = means[by_mean][:-1] - means[by_mean][1:] > largest * NOISE
    places = np.empty(len(values), np.int64)
    places[by_mean] = np.r_[0, np.cumsum(steps)][: len(values)]
    return np.argsort(places, kind="stable").tolist(), places


def randomisation(
    differences: Matrix, *, tails: int, resamples: int, seed: int, most: int = 0, sides: Sides | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:  # fmt: skip
    """Paired randomisation: how often flipping signs at random does at least as well as the runs did.

    Where up to `EXACT` differences are not zero p is exact, else it is estimated from `resamples` random flips. Where
    almost none of them does as well it is estimated from `most`, if that is more. To divide each sum by its standard
    error would change nothing: flips leave the sum of squares as it is, so that t grows with the sum.

    >>> randomisation(np.array([[1.0, 1.0, 0.0, 1.0]]), tails=2, resamples=1000, seed=0)
    array([0.25])
    """
    many = (differences != 0).sum(axis=1) > EXACT
    p, noise = np.empty(len(differences)), noise_of(differences).tolist()
    if sides is not None:
        sides = sides._replace(first=sides.first[many], second=sides.second[many])
    p[many] = _drawn(differences[many], tails, resamples, most, seed=seed, sides=sides, progress=progress)
    for row in np.flatnonzero(~many):  # a sum is one of the flips of the first half plus one of the second
        changed = differences[row][differences[row] != 0]
        half, observed, left, right = len(changed) // 2, float(changed.sum()), np.zeros(1), np.zeros(1)
        bar = (observed if tails == 1 else abs(observed)) - noise[row]
        for value in changed[:half]:
            left = np.concatenate([left - value, left + value])
        for value in changed[half:]:
            right = np.concatenate([right - value, right + value])
        reached = int((len(right) - np.searchsorted(np.sort(right), bar - left)).sum())
        p[row] = 1.0 if tails == 2 and bar <= 0 else tails * reached / 2.0 ** len(changed)
    return p


def _drawn(
    differences: Matrix, tails: int, first: int, most: int, *, seed: int, sides: Sides | None, progress: Progress | None
) -> Matrix:
    """Estimate p from random flips, the same for all rows; the observed signs count as a draw, so p is never 0.

    Where Hoeffding's bound says that p is below what the most draws can show, none are needed: p is that number.
    """
    topics, rng = differences.shape[1], np.random.default_rng(seed)
    sides = None if sides is None or len(sides.values) >= len(differences) else sides
    noise, added = noise_of(differences), differences if sides is None else sides.values
    if sides is not None:  # sums over them are rounded as values are, not as differences
        noise = np.maximum(noise, np.abs(added).max() * topics * ROUNDED)
    bar = (np.abs(differences.sum(axis=1)) if tails == 2 else differences.sum(axis=1)) - noise

    def reached(rows: NDArray[np.int64], draws: int, before: int = 0) -> NDArray[np.int64]:
        """Count the flips whose sum is at least the one observed."""
        found = np.zeros(len(rows), np.int64)
        step = max(1, _BLOCK // max(1, topics, len(added)))
        parts = np.array_split(np.arange(len(rows)), max(1, len(rows) * min(step, draws) // _CACHED))
        for done in range(0, draws, step):
            if progress is not None:
                progress(before + done, max(first, most))
            size = min(step, draws - done), -(-topics // 64)
            bits = rng.integers(0, 2**64 - 1, size, np.uint64, endpoint=True).astype("<u8").view(np.uint8)
            sums = 2 * (added @ np.unpackbits(bits, axis=1, count=topics).T.astype(np.float64))
            sums -= added.sum(axis=1, keepdims=True)  # each bit adds a value, or takes it away
            for part in parts:
                own = rows[part]
                here = sums[own] if sides is None else sums[sides.first[own]] - sums[sides.second[own]]
                found[part] += ((np.abs(here) if tails == 2 else here) >= bar[own, None]).sum(axis=1)
        return found

    draws, counts = np.full(len(differences), max(first, most)), np.ones(len(differences), np.int64)
    bound = tails * np.exp(-(bar**2) / (2 * (differences**2).sum(axis=1)))
    unsure = np.flatnonzero((bar <= 0) | (bound > 1 / (draws + 1)))
    draws[unsure] = first
    counts[unsure] += reached(unsure, first)
    rare = unsure[(counts[unsure] <= _RARE) & (most > first)]
    counts[rare] += reached(rare, most - first, first) if len(rare) else 0
    draws[rare] = most
    return np.asarray(counts / (draws + 1))


def bootstrap(differences: Matrix, *, tails: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """Paired bootstrap: the share of resampled mean differences ≤ 0; two-tailed, twice the smaller side.

    One-tailed with 1,000 resamples it is the test of Kamps, Lalmas and Pehcevski (SIGIR 2007).

    >>> bootstrap(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]), tails=1, resamples=1000, seed=0)
    array([0., 1.])
    """
    below, above = np.zeros((2, len(differences)))
    for means in resampled_means(differences, resamples, seed):
        below += (means <= 0).sum(axis=1)
        above += (means >= 0).sum(axis=1)
    return below / resamples if tails == 1 else np.minimum(1.0, 2 * np.minimum(below, above) / resamples)


def t_test(differences: Matrix, *, tails: int, clusters: Clusters | None = None) -> Matrix:
    """Return the paired t-test's p; where all differences agree, 1 if they are zero, else 0 on the side they favour."""
    from scipy.special import stdtr  # noqa: PLC0415  only this test needs scipy

    t, freedom = _students_t(differences, clusters)
    p = stdtr(freedom, -t if tails == 1 else -np.abs(t)) * tails
    return np.where((freedom > 0) & ~np.isnan(t), p, 1.0)


def _students_t(differences: Matrix, clusters: Clusters | None) -> tuple[Matrix, Matrix]:
    """Return t of every row, and its degrees of freedom; infinite where all differences agree, NaN where none is."""
    mean, error, freedom = standard_error(differences, clusters)
    mean, flat = without_noise(mean, differences), error <= noise_of(differences)
    alike = np.where(mean == 0, np.nan, np.copysign(np.inf, mean))
    return np.where(flat, alike, mean / np.where(flat, 1.0, error)), freedom


def studentised(
    differences: Matrix, *, tails: int, resamples: int, seed: int, clusters: Clusters | None = None
) -> Matrix:
    """Studentised bootstrap: how often the t of a resample, around the observed mean, is at least the t observed.

    It asks for equal means, and nothing else of the differences: they may be skewed, or of another median.

    >>> studentised(np.array([[3.0, 1.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0]]), tails=2, resamples=999, seed=0).round(2)
    array([0.01, 1.  ])
    """
    t, freedom = _students_t(differences, clusters)
    reached = np.ones(len(differences), np.int64)
    for drawn in resampled_t(differences, resamples, seed, clusters) if freedom.any() else ():
        reached += ((np.abs(drawn) >= np.abs(t)[:, None]) if tails == 2 else drawn >= t[:, None]).sum(axis=1)
    return np.where((freedom > 0) & ~np.isnan(t), reached / (resamples + 1), 1.0)


def resampled_t(values: Matrix, resamples: int, seed: int, clusters: Clusters | None = None) -> Iterator[Matrix]:
    """Yield the t of means over topics or clusters drawn with replacement, around the observed mean, in blocks.

    A resample without any spread has an infinite t, unless its mean is the observed one.
    """
    own, noise = values - values.mean(axis=1, keepdims=True), noise_of(values)[:, None]
    sizes = np.ones(values.shape[1])
    if clusters is not None:
        own, sizes = clusters.sums(own), clusters.sizes
    scale = 1 / (1 - sizes / values.shape[1])  # as in `standard_error`
    for drawn in _draws(len(sizes), resamples, seed, max(1, _BLOCK // max(len(sizes), len(values)))):
        times = drawn.T.astype(np.float64)
        total = sizes @ times
        shift = own @ times / total
        spread = (scale * own**2) @ times - 2 * shift * ((scale * sizes * own) @ times)
        error = np.sqrt(np.maximum(spread + shift**2 * ((scale * sizes**2) @ times), 0.0)) / total
        infinite = np.where(np.abs(shift) <= noise, 0.0, np.copysign(np.inf, shift))
        yield np.where(error <= noise, infinite, shift / np.where(error <= noise, 1.0, error))


def wilcoxon(differences: Matrix, *, tails: int) -> NDArray[np.float64]:
    """Return the p of Wilcoxon's signed-rank test (zero differences dropped), 1 where no difference is left.

    Exact, also with tied ranks, where up to `RANKED` differences are left, else from the normal distribution.

    >>> wilcoxon(np.array([[0.1, 0.2, 0.3, 0.0]]), tails=1)
    array([0.125])
    """
    side: Literal["greater", "two-sided"] = "greater" if tails == 1 else "two-sided"
    p = np.ones(len(differences))
    for row, changed in enumerate(own[own != 0] for own in differences):
        if len(changed) > RANKED:
            from scipy import stats  # noqa: PLC0415  only many topics need it

            p[row] = stats.wilcoxon(changed, alternative=side, method="approx").pvalue
        elif len(changed):
            size, chance = np.abs(changed), np.ones(1)
            ranks = np.rint(2 * mean_ranks(np.round(size / size.max(), 12))).astype(np.int64)
            for rank in ranks:  # under the null, each belongs to a topic won as likely as to one lost
                chance = (np.pad(chance, (0, rank)) + np.pad(chance, (rank, 0))) / 2
            won = int(ranks[changed > 0].sum())
            above, below = float(chance[won:].sum()), float(chance[: won + 1].sum())
            p[row] = above if tails == 1 else min(1.0, 2 * min(above, below))
    return p


def sign_test(differences: Matrix, *, tails: int) -> NDArray[np.float64]:
    """Return the p of the sign test: wins against losses as fair coins, ties dropped.

    >>> sign_test(np.array([[1.0, 1.0, 1.0, -1.0, 0.0]]), tails=1)
    array([0.3125])
    """
    from scipy.special import bdtr  # noqa: PLC0415  only this test needs scipy

    wins, losses = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    trials = wins + losses
    if tails == 1:
        return np.where(trials > 0, bdtr(losses, np.maximum(trials, 1), 0.5), 1.0)
    both = 2 * bdtr(np.minimum(wins, losses), np.maximum(trials, 1), 0.5)
    return np.where(trials > 0, np.minimum(1.0, both), 1.0)


def resampled_means(differences: Matrix, resamples: int, seed: int) -> Iterator[Matrix]:
    """Yield mean differences over topics drawn with replacement, in blocks (pairs × some resamples).

    Every pair sees the same draws, and a block is bounded however many resamples are asked for.
    """
    pairs, topics = differences.shape
    step = max(1, _BLOCK // max(topics, pairs))
    for drawn in _draws(topics, resamples, seed, step):
        yield without_noise(differences @ drawn.T / topics, differences)


def _draws(topics: int, resamples: int, seed: int, step: int) -> Iterator[NDArray[np.int64]]:
    """Yield how often each topic is drawn, some resamples at a time."""
    if topics * resamples <= _KEPT:
        drawn = _kept_draws(topics, resamples, seed)
        yield from (drawn[first : first + step].astype(np.int64) for first in range(0, resamples, step))
        return
    rng, share = np.random.default_rng(seed), np.full(topics, 1 / topics)
    for first in range(0, resamples, step):
        yield rng.multinomial(topics, share, size=min(step, resamples - first))


@lru_cache(maxsize=4)
def _kept_draws(topics: int, resamples: int, seed: int) -> NDArray[np.uint16]:
    """Return the draws of a whole bootstrap: measures of the same topics share them, and drawing takes longest."""
    drawn = np.random.default_rng(seed).multinomial(topics, np.full(topics, 1 / topics), size=resamples)
    return drawn.astype(np.uint16)


def without_noise(sums: Matrix, differences: Matrix) -> Matrix:
    """Return sums or means over the rows of `differences`, those that are only rounding noise set to exactly zero."""
    noise = noise_of(differences)
    return np.where(np.abs(sums) <= (noise if sums.ndim == 1 else noise[:, None]), 0.0, sums)


def noise_of(differences: Matrix) -> NDArray[np.float64]:
    """Return what rounding can add to a sum over each row's topics, generously."""
    largest: NDArray[np.float64] = np.abs(differences).max(axis=1, initial=0.0)
    return np.asarray(largest * (max(1, differences.shape[1]) * NOISE))


def adjust(p: NDArray[np.float64], correction: str) -> NDArray[np.float64]:
    """Correct p-values of many pairs, by Holm, or by Benjamini and Hochberg.

    >>> adjust(np.array([0.01, 0.04, 0.03]), "holm"), adjust(np.array([0.01, 0.04, 0.03]), "bh")
    (array([0.03, 0.06, 0.06]), array([0.03, 0.04, 0.04]))
    """
    if correction not in CORRECTIONS:
        raise MeasureError(f"expected a correction among {', '.join(CORRECTIONS)}, found {correction!r}")
    if correction == "none":
        return p
    order, found = np.argsort(p, kind="stable"), np.empty(len(p))
    if correction == "holm":
        stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    else:
        stepped = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    found[order] = np.minimum(1.0, stepped)
    return found
