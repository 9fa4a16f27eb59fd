"""What a report is made from: the runs, their scores, and for the runs that are drawn what they returned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from focuseval.evaluation.scores import compare_measures, order_of
from focuseval.inference.comparison import compare_all
from focuseval.inference.intervals import bca

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.collection.index import Collection
    from focuseval.data.gold import Gold
    from focuseval.evaluation.evaluation import Evaluation
    from focuseval.evaluation.scores import Scores
    from focuseval.inference.comparison import Comparison
    from focuseval.inference.settings import Settings
    from focuseval.measures.matching.prepared import Prepared
    from focuseval.report.observe import Observed
    from focuseval.studies.fidelity import Fidelity

MOST_DRAWN = 24
"""Runs whose curves and texts are shown; nobody tells more lines apart."""
MOST_PAIRS = 15_000
"""Pairs that are compared under all measures together, at about .3 ms each; of more, under measures other than the one
that decides those of the drawn runs alone."""


@dataclass(frozen=True)
class Evidence:
    """Everything that verdict, charts and heat map are made from."""

    evaluation: Evaluation
    settings: Settings
    labels: tuple[str, ...]
    """A name for every run, each different."""
    baseline: int | None = None
    """Number of the run that the others are held against."""
    drawn: tuple[int, ...] = ()
    """Numbers of the runs that were observed, best first, at most `MOST_DRAWN`."""
    observed: tuple[Observed, ...] = ()
    """What the drawn runs returned."""
    fidelity: Fidelity | None = None
    titles: Mapping[str, str] | None = None
    """Topic → what was asked."""

    @property
    def scores(self) -> Scores:
        """Every run's values."""
        return self.evaluation.scores

    @property
    def prepared(self) -> Prepared:
        """The gold, as the runs were matched with it."""
        return self.evaluation.prepared

    @property
    def gold(self) -> Gold:
        """What was judged."""
        return self.prepared.gold

    @property
    def index(self) -> Collection | None:
        """The collection, or None."""
        return self.prepared.index

    @property
    def measure(self) -> str:
        """The measure that decides: the profile's, else the first."""
        return self.scores.measures[self.scores.deciding]

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Runs by the mean of the measure that decides, best first."""
        return order_of(self.scores)

    @cached_property
    def pair(self) -> tuple[int, int] | None:
        """A and B: the run that is judged and the one it is judged against, or None for a single run.

        With a baseline, the best of the others against it; of two runs, the first against the second; of many, the
        best against the runner-up.
        """
        if len(self.labels) < 2:
            return None
        if self.baseline is not None:
            return next(int(run) for run in self.order if run != self.baseline), self.baseline
        return (0, 1) if len(self.labels) == 2 else (int(self.order[0]), int(self.order[1]))

    @property
    def places(self) -> tuple[int, int | None]:
        """Where A and B stand among the drawn runs."""
        if self.pair is None:
            return 0, None
        return self.drawn.index(self.pair[0]), self.drawn.index(self.pair[1])

    @cached_property
    def comparisons(self) -> list[Comparison | None]:
        """The runs compared under every measure: all pairs, or those with the baseline; rows are numbers of runs.

        None where no topic has a value in every run.
        """
        return self._compare(self.baseline)

    @cached_property
    def other_comparisons(self) -> list[Comparison | None] | None:
        """With a baseline, the comparisons that have the pairs without it; None without a baseline."""
        return None if self.baseline is None else self._compare(None)

    def _compare(self, baseline: int | None) -> list[Comparison | None]:
        """Compare the runs; of too many pairs, all under the measure that decides and the drawn runs' under others."""
        runs, scores = len(self.labels), self.scores
        pairs = runs * (runs - 1) // 2 if baseline is None else runs - 1
        if pairs * len(scores.measures) <= MOST_PAIRS:
            return compare_measures(scores, self.settings, baseline=baseline, names=self.labels)
        found = compare_measures(scores, self.settings, baseline=baseline, names=self.labels, among=self.drawn)
        (found[scores.deciding],) = compare_all(
            [self.measure], self.labels, scores.topics, self.values()[None], self.settings, baseline=baseline
        )
        return found

    @property
    def compared(self) -> Comparison | None:
        """The comparison under the measure that decides; None for a single run, and where no topic is compared."""
        return None if self.pair is None else self.comparisons[self.scores.deciding]

    def listed(self, most: int) -> list[int]:
        """Return the runs that a plot has room for, best first; the baseline is always among them."""
        chosen = [int(run) for run in self.order[:most]]
        if self.baseline is not None and self.baseline not in chosen:
            chosen[-1] = self.baseline
        return chosen

    def values(self, measure: str | None = None) -> NDArray[np.float64]:
        """Return runs × topics under one measure, NaN where a topic is not in the mean."""
        column = self.scores.measures.index(measure or self.measure)
        return self.scores.values[:, :, column]

    @cached_property
    def intervals(self) -> NDArray[np.float64]:
        """Measures × runs: mean, low, high and number of topics."""
        values = self.scores.values.transpose(2, 0, 1)
        found = intervals(values.reshape(-1, values.shape[2]), self.settings)
        return found.reshape(*values.shape[:2], 4)

    def title(self, topic: str) -> str:
        """Return what a topic asks; empty where neither topics nor gold say it."""
        return (self.titles or {}).get(topic, "") or self.gold.queries.get(topic, "")


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which no two are equal.

    >>> distinct(["bm25", "bm25", ""])
    ('bm25', 'bm25 (2)', 'run 3')
    """
    seen: dict[str, int] = {}
    labels = []
    for number, given in enumerate(names, 1):
        name = given.strip() or f"run {number}"
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(labels)


def intervals(values: NDArray[np.float64], settings: Settings) -> NDArray[np.float64]:
    """Return mean, low, high and number of topics of every row; NaN where a run has no topic.

    Rows that lack the same topics share their resamples.

    >>> from focuseval.inference.settings import Settings
    >>> intervals(np.array([[0.5, 0.5, np.nan]]), Settings()).tolist()
    [[0.5, 0.5, 0.5, 2.0]]
    """
    found = np.full((len(values), 4), np.nan)
    counted = ~np.isnan(values)
    patterns, group = np.unique(counted, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(group.reshape(-1) == number)
        found[rows, 3] = pattern.sum()
        if pattern.any():
            here = values[np.ix_(rows, pattern)]
            low, high = bca(here, resamples=settings.of_interval, seed=settings.seed)
            found[rows, :3] = np.stack([here.mean(axis=1), low, high], axis=1)
    return found
