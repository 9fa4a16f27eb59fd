"""Compare runs over the same topics under one measure: every pair, with its test, interval and effect.

A pair is written (better, worse) by the measure's own means, so that a star always says "better improves
significantly on worse". The pairs are one family: all of them, or those with a baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import NotComparableError
from focuseval.inference.paired import Paired, judge_pairs
from focuseval.inference.paired_tests import paired_differences
from focuseval.inference.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Comparison(Paired):
    """A family of pairs of runs under one measure; pair k is (better[k], worse[k])."""

    measure: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: NDArray[np.float64]
    """Runs × topics."""
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    """The runs of every pair, as rows of `values`."""
    baseline: int | None = None
    """Number of the run that all others are compared with, if only those pairs are."""
    left_out: int = 0
    """Topics that are not compared, because some run has no value for them."""

    @property
    def means(self) -> NDArray[np.float64]:
        """Return the mean of every run."""
        means: NDArray[np.float64] = self.values.mean(axis=1)
        return means

    @property
    def power(self) -> float:
        """Discriminative power: the share of pairs with a significant difference (NaN for a single run)."""
        return float(self.significant.mean()) if self.family else float("nan")

    @property
    def members(self) -> str:
        """The family in words: ``all 3 pairs``, ``the 2 pairs with NAME``, ``1 pair``."""
        if self.family == 1:
            return "1 pair"
        if self.baseline is None:
            return f"all {self.family} pairs"
        return f"the {self.family} pairs with {self.runs[self.baseline]}"

    @property
    def method(self) -> str:
        """Test, tails, level, correction and family, in words."""
        return self.settings.words(exact=self.exact, family=self.members)

    def pair(self, first: int, second: int) -> int:
        """Return the number of the pair of two runs."""
        among = np.isin(self.better, (first, second)) & np.isin(self.worse, (first, second))
        return int(np.flatnonzero(among)[0])

    def stars(self) -> NDArray[np.bool_]:
        """Return the matrix whose cell (i, j) says that run i improves significantly on run j."""
        matrix = np.zeros((len(self.runs), len(self.runs)), np.bool_)
        matrix[self.better[self.significant], self.worse[self.significant]] = True
        return matrix

    def sentence(self) -> str:
        """Say what the comparison found, in one sentence: ``112 of 190 pairs differ significantly``."""
        if not self.family:
            return "One run cannot be compared: give at least two."
        if len(self.topics) < 2:
            return "One topic says nothing about others: no difference can be called significant."
        if not self.differing.any():
            return f"All runs score the same on every topic under {self.measure}: there is no difference to test."
        found = f"{self.significant.sum()} of {self.family} pairs differ significantly under {self.measure}"
        few = self.differing[~self.reachable]
        if not len(few):
            return f"{found}."
        which = "" if len(few) == self.family else f"for {len(few)} of them "
        return f"{found}; {which}{self.hopeless(few)}."

    def wins(self, first: int, second: int) -> tuple[int, int, int]:
        """Return on how many topics the first run is better, equal and worse than the second."""
        sign = np.sign(paired_differences(self.values[[first]], self.values[[second]]))
        return int((sign > 0).sum()), int((sign == 0).sum()), int((sign < 0).sum())

    def deciding(self, first: int, second: int, most: int = 5) -> list[tuple[str, float]]:
        """Return the topics with the largest absolute differences (first minus second), largest first."""
        difference = paired_differences(self.values[[first]], self.values[[second]])[0]
        order = np.argsort(-np.abs(difference), kind="stable")[:most]
        return [(self.topics[i], float(difference[i])) for i in order if difference[i] != 0]

    def __str__(self) -> str:
        """Return every pair as a table: what ``print`` shows."""
        from focuseval.data.tables import render  # noqa: PLC0415  as above
        from focuseval.inference.tables import pairs_table  # noqa: PLC0415  it knows comparisons, not the other way round

        return render([pairs_table(self, means=True)], "table").rstrip("\n")

    def _repr_html_(self) -> str:
        """Show every pair in a notebook."""
        from focuseval.data.tables import notebook  # noqa: PLC0415  as above
        from focuseval.inference.tables import pairs_table  # noqa: PLC0415  it knows comparisons, not the other way round

        return notebook(pairs_table(self, means=True))


def compare(
    measure: str,
    runs: tuple[str, ...],
    topics: tuple[str, ...],
    values: NDArray[np.float64],
    settings: Settings | None = None,
    *,
    baseline: int | None = None,
    left_out: int = 0,
) -> Comparison:
    """Compare every pair of runs, or every run with a baseline; a run without a value for some topic is refused.

    >>> found = compare("AP", ("a", "b"), tuple("123456"), np.array([[0.5] * 6, [0.1, 0.2, 0.3, 0.4, 0.2, 0.1]]))
    >>> found.sentence(), found.p.tolist()
    ('1 of 1 pairs differ significantly under AP.', [0.03125])
    """
    if np.isnan(values).any():
        run, topic = (int(i[0]) for i in np.nonzero(np.isnan(values)))
        raise NotComparableError(
            f"{measure}: run {runs[run]} has no value for topic {topics[topic]}; compare runs over the same topics"
        )
    better, worse = _pairs(values.mean(axis=1), baseline)
    found = judge_pairs(paired_differences(values[better], values[worse]), settings or Settings())
    return Comparison(
        **vars(found), measure=measure, runs=runs, topics=topics, values=values,
        better=better, worse=worse, baseline=baseline, left_out=left_out,
    )  # fmt: skip


def _pairs(means: NDArray[np.float64], baseline: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the better and the worse run of every pair; of equal means the first run stands first."""
    one, other = np.triu_indices(len(means), 1)
    if baseline is not None:
        kept = (one == baseline) | (other == baseline)
        one, other = one[kept], other[kept]
    swap = means[other] > means[one]
    return np.where(swap, other, one), np.where(swap, one, other)
