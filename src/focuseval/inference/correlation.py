"""How alike two rankings of runs are: Kendall's τ (a and b), τ_AP, Spearman's ρ.

Each function takes `values`, one row per way of scoring (a measure, a recall base, a quantisation) and one column per
run, and returns the matrix of correlations between the rows. A correlation that is not defined (fewer than two runs, or
a row in which all runs score the same) is NaN; `explain` says why in a sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.errors import MeasureError

Matrix = NDArray[np.float64]

FEWEST_RUNS = 8  # runs below which no word is said of a correlation: of three, chance orders one in six alike
FEW_RUNS = f"fewer than {FEWEST_RUNS} runs"
COEFFICIENTS = ("tau-b", "tau-a", "tau-ap", "spearman")  # the names that `correlate` understands

_CELLS = 4_000_000  # signs of differences that are kept at once


def correlate(values: Matrix, coefficient: str = "tau-b") -> Matrix:
    """Return the correlation of every row of `values` with every other.

    >>> correlate(np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    if coefficient not in COEFFICIENTS:
        raise MeasureError(f"expected a coefficient among {', '.join(COEFFICIENTS)}, found {coefficient!r}")
    if values.shape[1] < 2:
        return np.full((len(values), len(values)), np.nan)
    if coefficient == "spearman":
        return spearman(values)
    if coefficient == "tau-ap":
        return np.array([[tau_ap(candidate, truth) for candidate in values] for truth in values])
    return kendall(values, ties=coefficient == "tau-b")


def kendall(values: Matrix, *, ties: bool = True) -> Matrix:
    """Return Kendall's τ_b (τ_a without `ties`): concordant less discordant pairs over the pairs that count."""
    measures, runs = values.shape
    agree = np.zeros((measures, measures))
    for block in np.array_split(values, 1 + values.size * runs // _CELLS, axis=1):
        signs = np.sign(block[:, :, None] - values[:, None]).reshape(measures, -1)
        agree += signs @ signs.T / 2  # every pair is met twice
    if not ties:
        return np.asarray(agree / (runs * (runs - 1) // 2))
    untied = agree.diagonal()
    with np.errstate(invalid="ignore"):  # 0/0 where a row is constant: undefined, and explained by `explain`
        tau: Matrix = agree / np.sqrt(np.outer(untied, untied))  # exact without ties: .8 is .8, not a bit less
    return np.clip(tau, -1, 1)


def spearman(values: Matrix) -> Matrix:
    """Return Spearman's ρ: Pearson's correlation of the ranks, tied runs sharing their mean rank."""
    ranks = np.array([mean_ranks(row) for row in values])
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).sum(axis=1))
    with np.errstate(invalid="ignore"):  # as in `kendall`
        rho: Matrix = centred @ centred.T / np.outer(spread, spread)
    return np.clip(rho, -1, 1)


def tau_ap(candidate: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """Return τ_AP (Yilmaz, Aslam, Robertson 2008) of `candidate` against `truth`: swaps near the top cost more.

    Runs that tie in `candidate` may stand in any order: the value is the mean over all of them. A pair that ties in
    `truth` counts as half in order.

    >>> tau_ap(np.array([3.0, 2.0, 1.0]), np.array([3.0, 2.0, 1.0]))
    1.0
    >>> round(tau_ap(np.array([2.0, 3.0, 1.0]), np.array([3.0, 2.0, 1.0])), 4)  # the top two swapped
    0.0
    """
    runs = len(candidate)
    if np.ptp(candidate) == 0 or np.ptp(truth) == 0:
        return float("nan")
    ahead = candidate[None, :] > candidate[:, None]
    in_order = np.where(truth[None, :] > truth[:, None], 1.0, np.where(truth[None, :] == truth[:, None], 0.5, 0.0))
    above = ahead.sum(axis=1)
    right = (in_order * ahead).sum(axis=1)
    size = (candidate[None, :] == candidate[:, None]).sum(axis=1)
    total = 0.0
    for p, c, t in zip(above.tolist(), right.tolist(), size.tolist(), strict=True):
        places = np.arange(p, p + t)
        places, inner = places[places > 0], (places - p)[places > 0]
        total += float(((c + inner / 2) / places).sum()) / t
    return 2 * total / (runs - 1) - 1


class SamePairs(NamedTuple):
    """On how many pairs of runs two ways of scoring find a significant difference: both, one of them, neither."""

    both: int
    first: int
    second: int
    neither: int

    @property
    def shares(self) -> tuple[float, float]:
        """The share of the pairs on which they agree, and the one that chance would give; NaN without pairs."""
        pairs = sum(self) or float("nan")
        x, y = (self.both + self.first) / pairs, (self.both + self.second) / pairs
        return (self.both + self.neither) / pairs, x * y + (1 - x) * (1 - y)


def same_pairs(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> SamePairs:
    """Return how far two ways of scoring agree on *which* pairs differ significantly, whoever is better in them.

    So the quantisations of 2005 were compared (Lalmas & Tombros 2007, section 3.1).

    >>> same_pairs(np.array([True, True, False, False]), np.array([True, False, False, False]))
    SamePairs(both=1, first=1, second=0, neither=2)
    """
    found = (first & second, first & ~second, ~first & second, ~first & ~second)
    return SamePairs(*(int(np.count_nonzero(pairs)) for pairs in found))


def tau_interval(tau: float, runs: int) -> tuple[float, float]:
    """Return the 95 % interval of τ (a or b) over runs such as these: Wilson's of a share, with a trial less than runs.

    τ is the share of pairs in the same order less the share in the other one, but pairs of the same runs say much the
    same: they count as no more answers than there are neighbours. It holds τ more often than it says
    (``reproductions/rank_correlation.py``), and has a width at τ = 1, as no bootstrap does.

    >>> [round(end, 2) for end in tau_interval(1.0, 3)], [round(end, 2) for end in tau_interval(0.9, 50)]
    ([-0.32, 1.0], [0.7, 0.97])
    """
    share = 1.959963984540054**2 / max(runs - 1, 1)  # the normal quantile of .975, squared
    half = np.sqrt(share * (1 + share - tau * tau))
    return float(tau - half) / (1 + share), float(tau + half) / (1 + share)


def reading(tau: float, runs: int) -> str:
    """Say what a correlation over so many runs means to the papers (Voorhees 2001): ≥ .9 equivalent, < .8 not similar.

    >>> reading(0.93, 20), reading(0.85, 20), reading(0.67, 20), reading(1.0, 3)
    ('equivalent', 'similar', 'noticeable differences', 'fewer than 8 runs')
    """
    if np.isnan(tau):
        return "undefined"
    if runs < FEWEST_RUNS:
        return FEW_RUNS
    return "equivalent" if tau >= 0.9 else "similar" if tau >= 0.8 else "noticeable differences"


def explain(values: Matrix, names: tuple[str, ...]) -> tuple[str, ...]:
    """Say in a sentence each why some correlations are undefined.

    >>> explain(np.array([[1.0, 1.0]]), ("AP",))
    ('AP gives every run the same score, so it ranks nothing and correlates with nothing.',)
    """
    if values.shape[1] < 2:
        return ("One run has no ranking: give at least two to correlate.",)
    flat = np.ptp(values, axis=1) == 0
    why = "gives every run the same score, so it ranks nothing and correlates with nothing."
    return tuple(f"{name} {why}" for name, constant in zip(names, flat, strict=True) if constant)


def mean_ranks(row: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks from 1, ties sharing their mean.

    >>> mean_ranks(np.array([0.5, 0.25, 0.5])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, group, count = np.unique(row, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[group])
