"""Compare runs over the same topics under one measure: every pair, with its test, interval and effect.

A pair is written (better, worse) by the measure's own means, so that a star always says "better improves
significantly on worse", as in the tables of Kamps, Lalmas and Pehcevski (SIGIR 2007).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MeasureError, NotComparableError
from focuseval.significance.intervals import bca, effect_size
from focuseval.significance.paired_tests import CORRECTIONS, TESTS, adjust, p_values
from focuseval.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Settings:
    """How a difference is judged; the defaults are those of the papers."""

    test: str = "bootstrap"
    tails: int = 1
    resamples: int = 1000
    alpha: float = 0.05
    correction: str = "none"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what does not exist."""
        if self.test not in TESTS:
            raise MeasureError(f"expected a test among {', '.join(TESTS)}, found {self.test!r}")
        if self.correction not in CORRECTIONS:
            raise MeasureError(f"expected a correction among {', '.join(CORRECTIONS)}, found {self.correction!r}")
        if self.tails not in (1, 2):
            raise MeasureError(f"expected 1 or 2 tails, found {self.tails}")
        if self.resamples < 1:
            raise MeasureError(f"expected at least 1 resample, found {self.resamples}")
        if not 0 < self.alpha < 1:
            raise MeasureError(f"expected a level alpha between 0 and 1, found {self.alpha}")

    def __str__(self) -> str:
        """Return the words that belong into a signature.

        >>> str(Settings())
        'bootstrap, one-tailed at 0.05, 1000 resamples, seed 0'
        """
        drawn = f", {self.resamples} resamples, seed {self.seed}" if self.test in TESTS[:2] else ""
        tails = "one-tailed" if self.tails == 1 else "two-tailed"
        correction = "" if self.correction == "none" else f", corrected by {self.correction}"
        return f"{self.test}, {tails} at {self.alpha:g}{drawn}{correction}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """All pairs of runs under one measure; pair k is (better[k], worse[k])."""

    measure: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: NDArray[np.float64]
    """Runs × topics."""
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    difference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    """Adjusted where the settings correct for many pairs."""
    effect: NDArray[np.float64]
    settings: Settings = field(default_factory=Settings)

    @property
    def means(self) -> NDArray[np.float64]:
        """Return the mean of every run."""
        means: NDArray[np.float64] = self.values.mean(axis=1)
        return means

    @property
    def significant(self) -> NDArray[np.bool_]:
        """For every pair, whether the better run improves significantly on the worse one."""
        return (self.p <= self.settings.alpha) & (self.difference > 0)

    @property
    def power(self) -> float:
        """Discriminative power: the share of pairs with a significant difference (NaN for a single run)."""
        return float(self.significant.mean()) if len(self.p) else float("nan")

    def stars(self) -> NDArray[np.bool_]:
        """Return the matrix whose cell (i, j) says that run i improves significantly on run j."""
        matrix = np.zeros((len(self.runs), len(self.runs)), np.bool_)
        matrix[self.better[self.significant], self.worse[self.significant]] = True
        return matrix

    def sentence(self) -> str:
        """Say what the comparison found, in one sentence: ``112 of 190 pairs differ significantly``."""
        if not len(self.p):
            return "One run cannot be compared: give at least two."
        if len(self.topics) < 2:
            return "One topic says nothing about others: no difference can be called significant."
        if not self.values.any(axis=0).any() or not np.ptp(self.values, axis=0).any():
            return f"All runs score the same on every topic under {self.measure}: there is no difference to test."
        return f"{self.significant.sum()} of {len(self.p)} pairs differ significantly under {self.measure}."

    def wins(self, first: int, second: int) -> tuple[int, int, int]:
        """Return on how many topics the first run is better, equal and worse than the second."""
        sign = np.sign(self.values[first] - self.values[second])
        return int((sign > 0).sum()), int((sign == 0).sum()), int((sign < 0).sum())

    def deciding(self, first: int, second: int, most: int = 5) -> list[tuple[str, float]]:
        """Return the topics with the largest absolute differences (first minus second), largest first."""
        difference = self.values[first] - self.values[second]
        order = np.argsort(-np.abs(difference), kind="stable")[:most]
        return [(self.topics[i], float(difference[i])) for i in order if difference[i] != 0]

    def __str__(self) -> str:
        """Return every pair as a table: what ``print`` shows."""
        from focuseval.significance.tables import pairs_table  # noqa: PLC0415  it knows comparisons, not the other way round
        from focuseval.tables import render  # noqa: PLC0415  as above

        return render([pairs_table(self, means=True)], "table").rstrip("\n")

    def _repr_html_(self) -> str:
        """Show every pair in a notebook."""
        from focuseval.significance.tables import pairs_table  # noqa: PLC0415  it knows comparisons, not the other way round
        from focuseval.tables.layouts import notebook  # noqa: PLC0415  as above

        return notebook(pairs_table(self, means=True))


def compare(
    measure: str,
    runs: tuple[str, ...],
    topics: tuple[str, ...],
    values: NDArray[np.float64],
    settings: Settings | None = None,
) -> Comparison:
    """Compare every pair of runs; topics without a value in all runs are refused, never aligned by luck.

    >>> found = compare("AP", ("a", "b"), ("1", "2", "3"), np.array([[0.5, 0.6, 0.7], [0.1, 0.2, 0.6]]))
    >>> found.sentence(), found.difference.round(3).tolist()
    ('1 of 1 pairs differ significantly under AP.', [0.3])
    """
    settings = settings or Settings()
    if np.isnan(values).any():
        run, topic = (int(i[0]) for i in np.nonzero(np.isnan(values)))
        raise NotComparableError(
            f"{measure}: run {runs[run]} has no value for topic {topics[topic]}; compare runs over the same topics"
        )
    means = values.mean(axis=1)
    one, other = np.triu_indices(len(runs), 1)
    swap = means[other] > means[one]
    better, worse = np.where(swap, other, one), np.where(swap, one, other)
    differences = values[better] - values[worse]
    if not len(differences) or not len(topics):
        empty = np.zeros(0)
        return Comparison(measure, runs, topics, values, better, worse, empty, empty, empty, empty, empty, settings)
    p = _tested(differences, settings)
    low, high = bca(differences, level=0.95, resamples=max(settings.resamples, 1000), seed=settings.seed)
    mean, effect = differences.mean(axis=1), effect_size(differences)
    return Comparison(measure, runs, topics, values, better, worse, mean, low, high, p, effect, settings)


def _tested(differences: NDArray[np.float64], settings: Settings) -> NDArray[np.float64]:
    """Return corrected p-values; a single topic can never be significant."""
    if differences.shape[1] < 2:
        return np.ones(len(differences))
    p = p_values(settings.test, differences, tails=settings.tails, resamples=settings.resamples, seed=settings.seed)
    return adjust(p, settings.correction)
