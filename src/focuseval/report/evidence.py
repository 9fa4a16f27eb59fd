"""What a report is made from: the runs, their scores, and for the runs that are drawn what they returned."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from focuseval.engine.lazy import cached_property
from focuseval.errors import NotComparableError
from focuseval.evaluation.comparing import compare_scores, order_of
from focuseval.report.intervals import intervals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from focuseval.collection import Collection
    from focuseval.data.gold import Gold
    from focuseval.evaluation import Evaluation, Scores
    from focuseval.inference.comparison import Comparison
    from focuseval.inference.settings import Settings
    from focuseval.measures.matching.prepared import Prepared
    from focuseval.report.observe import Observed
    from focuseval.studies.fidelity import Fidelity

MOST_DRAWN = 24
"""Runs whose curves and texts are looked at; more cannot be told apart by anybody."""
MOST_LINES = 7
"""Runs that get a colour and a dash of their own; the others are grey."""
MOST_TESTS = 2_000
"""Pairs that are tested under measures other than the one that decides, all measures together."""


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

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean of every run under the measure that decides."""
        return self.scores.mean[:, self.scores.deciding]

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

    def compared(self, measure: str) -> Comparison | None:
        """Compare the runs, all pairs or those with the baseline; None where no topic has a value in every run.

        The runs of the comparison are in the order of `order`.
        """
        if measure not in self._compared:
            self._compared[measure] = None
            with suppress(NotComparableError):
                found = compare_scores(self.scores, measure, self.settings, baseline=self.baseline)
                self._compared[measure] = found
        return self._compared[measure]

    @cached_property
    def _compared(self) -> dict[str, Comparison | None]:
        """Comparisons that were asked for already."""
        return {}

    @property
    def tested(self) -> tuple[str, ...]:
        """The measures whose pairs are tested: the one that decides, and as many of the first as are quickly done."""
        runs = len(self.labels)
        pairs = runs - 1 if self.baseline is not None else runs * (runs - 1) // 2
        others = [name for name in self.scores.measures if name != self.measure]
        return (self.measure, *others[: MOST_TESTS // pairs]) if pairs else ()

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
        """Return what a topic asks, or nothing where nobody says."""
        return (self.titles or {}).get(topic, "") or self.gold.queries.get(topic, "")


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which no two are equal.

    >>> distinct(["bm25", "bm25", ""])
    ('bm25', 'bm25 (2)', 'run 3')
    """
    seen: dict[str, int] = {}
    made = []
    for number, given in enumerate(names, 1):
        name = given.strip() or f"run {number}"
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(made)
