"""What stands beside every mean: how a topic's is counted, and how it adds up over topics.

A count is a field of `Counts`. Those of `count_topics` are counted for every topic and added up, whatever topics are
asked for (all, a tag's, a block's); the others belong to the gold or the run as a whole. Tables, JSON and the report
print those of `PRINTED`. There are remarks on the others, with their words, by the same names, in
`focuseval.data.remarks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.remarks import Remark
from focuseval.measures import MeasureCall
from focuseval.measures.matching import Matched
from focuseval.measures.measure import Budget
from focuseval.measures.topicwise import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

BY_TOPIC = ("topics", "missing", "unjudged", "unplaced", "empty")
"""The counts that add up over topics, in the order of the columns of `count_topics`."""

PRINTED = {
    "topics": "topics in the mean",
    "missing": "topics not answered",
    "excluded": "topics without relevance",
    "unjudged": "results not judged",
}
"""The counts that every table prints, with their headings."""


@dataclass(frozen=True)
class Counts:
    """What stands beside one run's means."""

    topics: int = 0
    missing: int = 0
    excluded: int = 0
    unjudged: int = 0
    """Results that nobody judged, among those that some measure reads."""
    unplaced: int = 0  # results without a known place
    unknown: int = 0  # topics that are not in the gold
    empty: int = 0  # results without text

    def remarks(self, run: str) -> Iterator[Remark]:
        """Yield what a reader should know of a run's counts that are not always printed."""
        yield from (Remark(name, number, file=run) for name, number in self.others().items())

    def printed(self) -> dict[str, int]:
        """Return the counts that every table prints."""
        return {name: getattr(self, name) for name in PRINTED}

    def others(self) -> dict[str, int]:
        """Return the other counts, those that are not 0."""
        return {name: number for name, number in vars(self).items() if number and name not in PRINTED}


def results_read(m: Matched, measures: Sequence[MeasureCall]) -> NDArray[np.bool_]:
    """Return for every result whether one of the measures reads it."""
    deepest: dict[str, int] = {}
    for amount, unit in (asked.cut or (len(m), "results") for asked in measures):
        deepest[unit] = max(amount, deepest.get(unit, 0))
    read = np.zeros(len(m), np.bool_)
    for unit, amount in deepest.items():
        if unit == "results" or (unit == "articles" and m.documents.distinct):
            read |= m.rank <= amount
        elif unit == "articles":
            read |= m.a_rank[m.a_of_result] <= amount
        else:
            from focuseval.measures.spans import paid_ends  # noqa: PLC0415  loaded by the measure of a budget alone

            read |= paid_ends(m, Budget(amount, unit))[0]
    return read


def count_topics(m: Matched, measures: Sequence[MeasureCall]) -> NDArray[np.int64]:
    """Return every topic's counts: topics × `BY_TOPIC`; unjudged are results that one of the measures reads."""
    read = results_read(m, measures)
    unplaced = empty = np.zeros(m.topics, np.int64)
    if m.places_asked_for:
        unplaced = count(m.places.unplaced, m.bounds)
        if not m.places.points:
            empty = count((m.places.end == m.places.start) & ~m.places.unplaced, m.bounds)
    in_mean = m.answered | (m.policies.missing != "skip")
    counts = np.stack([in_mean, ~m.answered, count(read & ~m.judged, m.bounds), unplaced, empty], axis=1)
    known = m.prepared.based("relevance")[m.prepared.counted, None] if m.prepared.beside else True
    return np.where(known, counts, 0).astype(np.int64)


def total(by_topic: NDArray[np.int64], *, excluded: int, unknown: int = 0) -> Counts:
    """Add up the counts of some topics."""
    sums = dict(zip(BY_TOPIC, by_topic.sum(axis=0).tolist(), strict=True))
    return Counts(**sums, excluded=excluded, unknown=unknown)
