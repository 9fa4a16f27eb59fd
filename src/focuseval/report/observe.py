"""One look at a run: the points of its curves, and where in the collection its results lie.

A run is matched once; only what the report shows is kept of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import FocusevalError
from focuseval.evaluation.curves import curve_of, mean_of
from focuseval.measures.measure import parse
from focuseval.measures.spans import read
from focuseval.report.cutoffs import characters_read, counted_budgets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.evaluation import Evaluation
    from focuseval.evaluation.plan import Plan
    from focuseval.measures.matching.matched import Matched
    from focuseval.measures.measure import Budget

    Points = tuple[NDArray[np.float64], NDArray[np.float64]]

READ = 5
"""Results whose text is the cost of reading in the plot of cost against quality."""


@dataclass(frozen=True, eq=False)
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
    """The document's id of every result whose document the index does not have."""
    path: pa.Array | None = None
    """Paths of elements, as the run gives them; None where it gives none."""
    end_path: pa.Array | None = None
    """Paths of the last elements of ranges."""
    totals: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    """For every topic the characters of the whole list, each once, and the highlighted ones; None without those."""
    budgets: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Budgets of words and tokens such as ``300 words`` → for every topic the characters that they pay for."""


@dataclass(frozen=True)
class Observed:
    """What the report keeps of one run."""

    curves: Mapping[str, Points] = field(default_factory=dict)
    """Name of a curve → x and the mean of y over topics."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Further means, by measure."""
    reading: tuple[float, float] | None = None
    """Mean characters of the first `READ` results, each once, and the mean share of highlighted text in them."""
    retrieved: Retrieved | None = None
    why_not: str = ""
    """Why nothing can be shown in the text, where that is so."""


def observe(made: Evaluation, number: int, curves: Sequence[str], means: Sequence[str]) -> Observed:
    """Keep what is asked for of one run; a curve whose data do not exist is left out."""
    matched, plan = made.matched(number), made.plan
    points = {name: found for name in curves if (found := mean_curve(matched, plan, name)) is not None}
    values = {name: mean for name in means if (mean := _mean(matched, plan, name)) is not None}
    seen = _reading(matched)
    if made.prepared.index is None:
        return Observed(points, values, seen)
    try:
        return Observed(points, values, seen, retrieve(matched, counted_budgets(plan.measures)))
    except FocusevalError as why:
        return Observed(points, values, seen, why_not=str(why))


def _reading(matched: Matched) -> tuple[float, float] | None:
    """Return what reading the first results costs and gives; None where gold or run have no characters."""
    try:
        seen = read(matched, READ)
    except FocusevalError:
        return None
    return float(seen.size.mean()), float(seen.recall().mean())


def mean_curve(matched: Matched, plan: Plan, name: str) -> Points | None:
    """Return a curve's mean over the topics that have one, or None where the data do not exist."""
    try:
        x, y = curve_of(name, matched, plan)
    except FocusevalError:
        return None
    mean = mean_of(y)
    return None if np.isnan(mean).all() else (x, mean)


def _mean(matched: Matched, plan: Plan, name: str) -> float | None:
    asked = parse(name)
    try:
        values = asked.measure.compute(matched, **asked.arguments(plan.policies))
    except FocusevalError:
        return None
    kept = values[~np.isnan(values) & (matched.answered | (plan.policies.missing != "skip"))]
    return float(kept.mean()) if len(kept) else None


def _totals(matched: Matched) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    try:
        whole = read(matched, None)
    except FocusevalError:
        return None
    return whole.size, whole.relevant


def retrieve(matched: Matched, budgets: Sequence[Budget] = ()) -> Retrieved:
    """Return where every result lies in the collection, and how far budgets of words and tokens reach."""
    document, placement = matched.document_row, matched.run.placement
    lost = np.flatnonzero(document < 0)
    names = tuple(matched.column(matched.run.document).take(lost).to_pylist()) if len(lost) else ()
    length = np.zeros(len(matched), np.int64) if placement is None else matched.column(np.maximum(placement.length, 0))
    return Retrieved(
        topic=matched.topic.astype(np.int64),
        document=document,
        start=np.minimum(matched.start, length),
        end=np.minimum(matched.places.end, length),
        entry=np.where(matched.places.entry > length, -1, matched.places.entry),
        rank=matched.a_rank[matched.a_of_result],
        place=matched.rank,
        lost=names,
        path=matched.path,
        end_path=None if matched.run.end_path is None else matched.column(matched.run.end_path),
        totals=_totals(matched),
        budgets={f"{b.amount} {b.unit}": characters_read(matched, b) for b in budgets},
    )
