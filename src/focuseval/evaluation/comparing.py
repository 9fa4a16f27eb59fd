"""From scores to comparisons: the same topics, the same gold, every pair of runs or those with a baseline."""

from __future__ import annotations

from os import fspath
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MeasureError, NotComparableError
from focuseval.inference.comparison import Comparison, compare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.evaluation import Scores
    from focuseval.inference.settings import Settings


def order_of(scores: Scores) -> NDArray[np.int64]:
    """Return the runs by the mean of the measure that decides, best first; ties stay in the order given."""
    return np.argsort(-np.nan_to_num(scores.mean[:, scores.deciding], nan=-np.inf), kind="stable")


def compare_scores(
    scores: Scores, measure: str, settings: Settings | None = None, *, baseline: int | None = None
) -> Comparison:
    """Compare all runs, or all with the run of number `baseline`, under one measure, in the order of `order_of`.

    A topic without a base for the measure is left out, and so is one that only some runs answer where unanswered topics
    are left out of the mean (``missing=skip``): a comparison is over the same topics.
    """
    if measure not in scores.measures:
        raise MeasureError(f"{measure} was not scored; there are {', '.join(scores.measures)}")
    order = order_of(scores)
    values = scores.values[order, :, scores.measures.index(measure)]
    absent = np.isnan(values)
    kept = np.flatnonzero(~absent.any(axis=0))
    if absent.all():
        raise NotComparableError(f"{measure}: no topic has a base for it, so there is nothing to compare")
    if not len(kept):
        raise NotComparableError(f"{measure}: no topic has a value in every run, so there is nothing to compare")
    uneven = int((absent.any(axis=0) & ~absent.all(axis=0)).sum())
    names, topics = tuple(scores.names[i] for i in order), tuple(scores.topics[i] for i in kept)
    place = None if baseline is None else int(np.flatnonzero(order == baseline)[0])
    return compare(measure, names, topics, values[:, kept], settings, baseline=place, left_out=uneven)


def find_run(name: str, scores: Scores, labels: Sequence[str]) -> int:
    """Return the number of the run with this id, label or file."""
    for names in (labels, scores.runs, scores.files):
        found = [number for number, known in enumerate(names) if known == fspath(name)]
        if len(found) == 1:
            return found[0]
    raise NotComparableError(f"baseline {name!r} is none of the runs; there are {', '.join(labels[:10])}")
