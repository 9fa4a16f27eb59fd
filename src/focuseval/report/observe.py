"""What a report keeps of one run: the points of its curves, where its results lie, how far its cut-offs reach.

A run is matched once; only what the report shows is kept of it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import FocusevalError
from focuseval.evaluation.scoring import curve_of, mean_of
from focuseval.measures import parse
from focuseval.measures.measure import Budget, parse_at
from focuseval.measures.spans import paid_ends, read
from focuseval.measures.topicwise import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.evaluation.evaluation import Evaluation
    from focuseval.measures import MeasureCall
    from focuseval.measures.matching import Matched

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


def observe(evaluation: Evaluation, number: int, curves: Sequence[str], means: Sequence[str]) -> Observed:
    """Keep some curves, some means and the places of one run; what the data do not allow is left out."""
    matched, plan = evaluation.matched(number), evaluation.plan
    points: dict[str, Points] = {}
    for name in curves:
        with suppress(FocusevalError):
            x, y = curve_of(name, matched, plan)
            mean = mean_of(y)
            if not np.isnan(mean).all():
                points[name] = (x, mean)
    values: dict[str, float] = {}
    for name in means:
        with suppress(FocusevalError):
            asked = parse(name)
            of_topics = asked.measure.compute(matched, **asked.arguments(plan.policies))
            kept = of_topics[~np.isnan(of_topics) & (matched.answered | (plan.policies.missing != "skip"))]
            if len(kept):
                values[name] = float(kept.mean())
    reading = None
    with suppress(FocusevalError):  # gold or run have no characters
        first = read(matched, READ)
        reading = (float(first.size.mean()), float(first.recall().mean()))
    if evaluation.prepared.index is None:
        return Observed(points, values, reading)
    try:
        return Observed(points, values, reading, retrieve(matched, counted_budgets(plan.measures)))
    except FocusevalError as why:
        return Observed(points, values, reading, why_not=str(why))


def retrieve(matched: Matched, budgets: Sequence[Budget] = ()) -> Retrieved:
    """Return where every result lies in the collection, and how far budgets of words and tokens reach."""
    document, placement = matched.document_row, matched.run.placement
    lost = np.flatnonzero(document < 0)
    names = tuple(matched.column(matched.run.document).take(lost).to_pylist()) if len(lost) else ()
    length = np.zeros(len(matched), np.int64) if placement is None else matched.column(np.maximum(placement.length, 0))
    totals = None
    with suppress(FocusevalError):  # gold or run have no characters
        whole = read(matched, None)
        totals = (whole.size, whole.relevant)
    paid = {}
    for budget in budgets:
        kept, _, end = paid_ends(matched, budget)
        paid[f"{budget.amount} {budget.unit}"] = count(np.where(kept, end - matched.start, 0), matched.bounds)
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
        totals=totals,
        budgets=paid,
    )


def cut_of(asked: MeasureCall) -> list[int | str] | None:
    """Return amount and unit of a measure's cut-off: results, articles, characters, words or tokens.

    None where it reads all, and for a budget of each article by itself.

    >>> cut_of(parse("spanR@2000c")), cut_of(parse("gP@5")), cut_of(parse("IoU@3")), cut_of(parse("MAgP"))
    ([2000, 'characters'], [5, 'articles'], [3, 'results'], None)
    """
    at = parse_at(asked.at, asked.measure) if asked.at else None
    grouped = "grouped output" in asked.measure.traits
    if isinstance(at, Budget):
        return None if grouped else [at.amount, at.unit]
    if not isinstance(at, int):
        return None
    return [at, "articles" if grouped or "documents" in asked.measure.needs else "results"]


def counted_budgets(measures: Iterable[MeasureCall]) -> tuple[Budget, ...]:
    """Return the budgets of words and tokens among the cut-offs: only the engine knows where those end.

    >>> counted_budgets([parse("spanR@300w"), parse("IoU@300w"), parse("spanR@2000c")])
    (Budget(amount=300, unit='words'),)
    """
    cuts = [cut for asked in measures if (cut := cut_of(asked)) is not None and cut[1] in {"words", "tokens"}]
    return tuple(dict.fromkeys(Budget(int(amount), str(unit)) for amount, unit in cuts))
