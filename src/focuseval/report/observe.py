"""One look at a run: the points of its curves, and where in the collection its results lie.

A run is matched once; only what the report shows is kept of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import FocusevalError
from focuseval.evaluate.curves import asked_curve
from focuseval.evaluate.evaluation import match_run
from focuseval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.evaluate.plan import Plan
    from focuseval.match import Matched, Prepared
    from focuseval.run import Run

    Points = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Retrieved:
    """Results as places of the collection, one row each, in rank order within their topic."""

    topic: NDArray[np.int64]
    """Number of the counted topic."""
    document: NDArray[np.int64]
    """Row of the document in the index, −1 where the index does not have it."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    entry: NDArray[np.int64]
    """Where a reader enters, −1 where unknown."""
    rank: NDArray[np.int64]
    """Rank of the article in its topic, from 1."""
    place: NDArray[np.int64]
    """Rank of the result in its topic, from 1."""
    lost: tuple[str, ...] = ()
    """Ids of documents that the index does not have."""


@dataclass(frozen=True)
class Observed:
    """What the report keeps of one run."""

    curves: Mapping[str, Points] = field(default_factory=dict)
    """Name of a curve → x and the mean of y over topics."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Further means, by measure."""
    retrieved: Retrieved | None = None
    why_not: str = ""
    """Why nothing can be shown in the text, where that is so."""


def observe(run: Run, prepared: Prepared, plan: Plan, curves: Sequence[str], means: Sequence[str]) -> Observed:
    """Match a run and keep what is asked for; a curve whose data do not exist is left out."""
    matched = match_run(run, prepared, plan)
    points = {name: found for name in curves if (found := mean_curve(matched, plan, name)) is not None}
    values = {name: mean for name in means if (mean := _mean(matched, plan, name)) is not None}
    if prepared.index is None:
        return Observed(points, values)
    try:
        return Observed(points, values, retrieve(matched))
    except FocusevalError as why:
        return Observed(points, values, why_not=str(why))


def mean_curve(matched: Matched, plan: Plan, name: str) -> Points | None:
    """Return a curve's mean over the topics that have one, or None where the data do not exist."""
    asked, curve = asked_curve(name)
    arguments = asked.arguments(plan.policies)
    arguments.pop("at", None)
    try:
        x, y = curve(matched, **arguments)
    except FocusevalError:
        return None
    kept = ~np.isnan(y).all(axis=1)
    if not kept.any():
        return None
    return np.asarray(x, np.float64), np.asarray(y[kept].mean(axis=0), np.float64)


def _mean(matched: Matched, plan: Plan, name: str) -> float | None:
    asked = parse(name)
    try:
        values = asked.measure.compute(matched, **asked.arguments(plan.policies))
    except FocusevalError:
        return None
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if len(kept) else None


def retrieve(matched: Matched) -> Retrieved:
    """Return where every result lies in the index."""
    ids: Any = matched.column(matched.run.document)
    index: Any = matched.prepared.index
    document = np.asarray(index.find(ids), np.int64)
    lost = np.flatnonzero(document < 0)
    names = tuple(dict.fromkeys(ids.take(lost).to_pylist())) if len(lost) else ()
    length = np.append(np.asarray(index.lengths, np.int64), 0)[document]
    return Retrieved(
        topic=matched.topic.astype(np.int64),
        document=document,
        start=np.minimum(matched.start, length),
        end=np.minimum(matched.places.end, length),
        entry=np.where(matched.places.entry > length, -1, matched.places.entry),
        rank=matched.a_rank[matched.a_of_result],
        place=matched.rank,
        lost=names,
    )
