"""From scores to comparisons: the same topics, the same gold, every pair of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MeasureError, NotComparableError
from focuseval.significance.comparison import Comparison, Settings, compare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.evaluate import Scores


def order_of(scores: Scores) -> NDArray[np.int64]:
    """Return the runs by the mean of the first measure, best first; ties stay in the order given."""
    return np.argsort(-np.nan_to_num(scores.mean[:, 0], nan=-np.inf), kind="stable")


def compare_scores(scores: Scores, measure: str, settings: Settings | None = None) -> Comparison:
    """Compare all runs under one measure, in the order of the first measure.

    A topic without a base for the measure is left out for every run; a topic that only some runs have is refused.
    """
    if measure not in scores.measures:
        raise MeasureError(f"{measure} was not scored; there are {', '.join(scores.measures)}")
    order = order_of(scores)
    values = scores.values[order, :, scores.measures.index(measure)]
    absent = np.isnan(values)
    uneven = absent.any(axis=0) & ~absent.all(axis=0)
    if uneven.any():
        topic = scores.topics[int(np.argmax(uneven))]
        lacking = scores.names[int(order[int(np.argmax(absent[:, np.argmax(uneven)]))])]
        raise NotComparableError(
            f"{measure}: run {lacking} has no value for topic {topic}, others have; "
            "compare runs over the same topics (missing=zero scores unanswered topics)"
        )
    kept = np.flatnonzero(~absent.all(axis=0))
    names = tuple(scores.names[i] for i in order)
    topics = tuple(scores.topics[i] for i in kept)
    if not topics:
        raise NotComparableError(f"{measure}: no topic has a base for it, so there is nothing to compare")
    return compare(measure, names, topics, values[:, kept], settings)


def compare_all(scores: Scores, settings: Settings | None = None) -> tuple[Comparison, ...]:
    """Compare all runs under every measure that was scored."""
    return tuple(compare_scores(scores, measure, settings) for measure in scores.measures)
