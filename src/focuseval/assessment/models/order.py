"""The order of runs by one assessor's judgements, and whether it stays when another's take their place."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focuseval.assessment.stability import in_common
from focuseval.evaluation.planning import evaluate
from focuseval.inference.correlation import correlate, tau_ap
from focuseval.inference.paired import topics_needed
from focuseval.inference.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.collection import Index
    from focuseval.data.gold import Gold
    from focuseval.data.run import Run


class Flip(NamedTuple):
    """Two runs whose order changes."""

    better: str
    """The one that is better by the first assessor's judgements, and worse by the second's."""
    worse: str
    difference: float
    """By how much, by the first assessor's judgements."""
    other: float
    """The same difference by the second one's; below zero, for they turn it round."""
    topics: float
    """With how many topics the first one's judgements would show the difference."""
    judgements: float
    """How many judgements of documents that is."""


@dataclass(frozen=True)
class Replacement:
    """How far two assessors order the same runs alike, over the documents that both finished."""

    left: str
    right: str
    documents: int
    topics: int
    runs: tuple[str, ...]
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    """Every run's score by the first and by the second assessor's judgements."""
    tau: float
    tau_ap: float
    flips: tuple[Flip, ...] = ()

    @property
    def pairs(self) -> int:
        """How many pairs of runs there are."""
        return len(self.runs) * (len(self.runs) - 1) // 2


def replacements(
    golds: Mapping[str, Gold], pairs: Iterable[tuple[str, str]], runs: Sequence[Run], measure: str, index: Index
) -> list[Replacement]:
    """Return for pairs of assessors what becomes of the order of the runs.

    Parameters
    ----------
    golds, pairs
        Assessor → gold, and whose judgements are replaced by whose; two who judged documents in common.
    runs, measure, index
        What is ranked, by what, and the collection.
    """
    return [_replaced(pair, golds, runs, measure, index) for pair in pairs]


def _replaced(
    pair: tuple[str, str], golds: Mapping[str, Gold], runs: Sequence[Run], measure: str, index: Index
) -> Replacement:
    parts, documents = in_common(*(golds[name] for name in pair))
    topics = len(parts[0].topics)
    if not all(len(part.passages.start) for part in parts):  # where nothing is relevant no run is better than another
        none = (float("nan"),) * len(runs)
        names = tuple(run.run_id for run in runs)
        return Replacement(*pair, documents, topics, names, (none, none), float("nan"), float("nan"))
    scored = [evaluate(part, runs, [measure], index=index) for part in parts]
    means = np.array([scores.mean[:, 0] for scores in scored])
    names = scored[0].names
    flips = _flips(names, means, scored[0].values[:, :, 0], documents / topics)
    tau = float(correlate(means)[0, 1])
    first, second = (tuple(row) for row in means.tolist())
    return Replacement(*pair, documents, topics, names, (first, second), tau, tau_ap(means[1], means[0]), flips)


def _flips(
    names: Sequence[str], means: NDArray[np.float64], values: NDArray[np.float64], documents: float
) -> tuple[Flip, ...]:
    """Return the pairs of runs that two rows of means order otherwise, the largest difference first.

    `values` are runs × topics of the first row; `documents` are judged for each topic.
    """
    found = []
    for one, other in combinations(range(len(names)), 2):
        difference, turned = means[:, one] - means[:, other]
        if difference * turned < 0:
            better, worse = (one, other) if difference > 0 else (other, one)
            needed = _needed(values[better] - values[worse])
            sign = 1 if difference > 0 else -1
            judged = needed * documents
            found.append(Flip(names[better], names[worse], sign * difference, sign * turned, needed, judged))
    return tuple(sorted(found, key=lambda flip: -flip.difference))


def _needed(differences: NDArray[np.float64]) -> float:
    """Return with how many topics a mean difference would be shown; infinite where topics say nothing of it."""
    known = differences[~np.isnan(differences)]
    if len(known) < 2:
        return float("inf")
    deviation = np.array([known.std(ddof=1)])
    return float(topics_needed(np.array([known.mean()]), deviation, Settings())[0])
