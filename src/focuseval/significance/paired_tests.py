"""Paired tests over topics, for all pairs of runs at once.

Every test takes `differences`, one row per pair of runs and one column per topic (first run minus second), and
returns one p-value per pair. One-tailed tests ask whether the first run is *better*. The default is the bootstrap of
Kamps, Lalmas and Pehcevski (SIGIR 2007): one-tailed, 1,000 resamples of the topics, p = the share of resampled mean
differences that are not positive.

Sums of differences are compared with zero after rounding noise is removed, so that differences which cancel exactly
(+.1 and −.1) count as zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from focuseval.errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

TESTS = ("bootstrap", "randomisation", "t", "wilcoxon", "sign")
"""The names that `p_values` understands."""

CORRECTIONS = ("none", "holm", "bh")
"""Corrections for many pairs: none, Holm (family-wise error), Benjamini–Hochberg (false discovery rate)."""

_NOISE = 1e-12
_BLOCK = 4_000_000


def p_values(
    name: str, differences: Matrix, *, tails: int = 1, resamples: int = 1000, seed: int = 0
) -> NDArray[np.float64]:
    """Return the p-value of the named test for every row of `differences`.

    >>> p_values("sign", np.array([[1.0, 2.0, 3.0]]))
    array([0.125])
    """
    if name not in TESTS:
        raise MeasureError(f"expected a test among {', '.join(TESTS)}, found {name!r}")
    if tails not in (1, 2):
        raise MeasureError(f"expected 1 or 2 tails, found {tails}")
    if resamples < 1:
        raise MeasureError(f"expected at least 1 resample, found {resamples}")
    if name == "bootstrap":
        return bootstrap(differences, tails=tails, resamples=resamples, seed=seed)
    if name == "randomisation":
        return randomisation(differences, tails=tails, resamples=resamples, seed=seed)
    return {"t": t_test, "wilcoxon": wilcoxon, "sign": sign_test}[name](differences, tails=tails)


def bootstrap(differences: Matrix, *, tails: int = 1, resamples: int = 1000, seed: int = 0) -> NDArray[np.float64]:
    """Paired bootstrap: the share of resampled mean differences ≤ 0; two-tailed, twice the smaller side.

    >>> bootstrap(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
    array([0., 1.])
    """
    below = np.zeros(len(differences))
    above = np.zeros(len(differences))
    for means in resampled_means(differences, resamples, seed):
        below += (means <= 0).sum(axis=1)
        above += (means >= 0).sum(axis=1)
    if tails == 1:
        return below / resamples
    return np.minimum(1.0, 2 * np.minimum(below, above) / resamples)


def randomisation(differences: Matrix, *, tails: int = 1, resamples: int = 1000, seed: int = 0) -> NDArray[np.float64]:
    """Paired randomisation: how often flipping signs at random does at least as well as the runs did.

    All sign patterns are enumerated where they are no more than `resamples`; otherwise the observed pattern counts as
    one of the draws, so that p is never 0.

    >>> randomisation(np.array([[1.0, 1.0, 1.0]]))
    array([0.125])
    """
    topics = differences.shape[1]
    exact = topics < 62 and 2**topics <= resamples
    observed = _quiet(differences.sum(axis=1), differences)
    reached = np.zeros(len(differences))
    draws = 2**topics if exact else resamples
    rng = np.random.default_rng(seed)
    for first in range(0, draws, step := max(1, _BLOCK // max(topics, len(differences)))):
        count = min(step, draws - first)
        signs = _patterns(first, count, topics) if exact else rng.integers(0, 2, (count, topics)) * 2.0 - 1
        sums = differences @ signs.T
        drawn, bar = (sums, observed) if tails == 1 else (np.abs(sums), np.abs(observed))
        reached += (drawn >= (bar - _noise(differences))[:, None]).sum(axis=1)
    p: NDArray[np.float64] = reached / draws if exact else (reached + 1) / (draws + 1)
    return p


def t_test(differences: Matrix, *, tails: int = 1) -> NDArray[np.float64]:
    """Return the paired t-test's p; where all differences agree, 1 if they are zero, else 0 on the side they favour."""
    from scipy.special import stdtr  # noqa: PLC0415  only this test needs scipy

    topics = differences.shape[1]
    mean = _quiet(differences.mean(axis=1), differences)
    error = differences.std(axis=1, ddof=1) / np.sqrt(topics) if topics > 1 else np.zeros(len(differences))
    flat = error <= _noise(differences)
    t = np.where(flat, np.copysign(np.inf, mean), mean / np.where(flat, 1.0, error))
    t = np.where(flat & (mean == 0), 0.0, t)
    if topics < 2:
        return np.ones(len(differences))
    one = stdtr(topics - 1, -t)
    p = one if tails == 1 else 2 * stdtr(topics - 1, -np.abs(t))
    return np.where(flat & (mean == 0), 1.0, p)


def wilcoxon(differences: Matrix, *, tails: int = 1) -> NDArray[np.float64]:
    """Return the p of Wilcoxon's signed-rank test (zero differences dropped), 1 where no difference is left."""
    from scipy import stats  # noqa: PLC0415  only this test needs it

    side: Literal["greater", "two-sided"] = "greater" if tails == 1 else "two-sided"
    return np.array([float(stats.wilcoxon(row, alternative=side).pvalue) if row.any() else 1.0 for row in differences])


def sign_test(differences: Matrix, *, tails: int = 1) -> NDArray[np.float64]:
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
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // max(topics, pairs))
    for first in range(0, resamples, step):
        count = min(step, resamples - first)
        drawn = rng.multinomial(topics, np.full(topics, 1 / topics), size=count)
        yield _quiet(differences @ drawn.T / topics, differences)


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


def _patterns(first: int, count: int, topics: int) -> Matrix:
    """Sign patterns number `first` … as rows of ±1."""
    bits = (np.arange(first, first + count)[:, None] >> np.arange(topics)) & 1
    signs: Matrix = bits.astype(np.float64) * 2 - 1
    return signs


def _quiet(sums: Matrix, differences: Matrix) -> Matrix:
    """Set sums that are only rounding noise to exactly zero."""
    noise = _noise(differences)
    still: Matrix = np.where(np.abs(sums) <= (noise if sums.ndim == 1 else noise[:, None]), 0.0, sums)
    return still


def _noise(differences: Matrix) -> NDArray[np.float64]:
    """Return what rounding can add to a sum over each row's topics, generously."""
    largest: NDArray[np.float64] = np.abs(differences).max(axis=1, initial=0.0)
    noise: NDArray[np.float64] = largest * (max(1, differences.shape[1]) * _NOISE)
    return noise
