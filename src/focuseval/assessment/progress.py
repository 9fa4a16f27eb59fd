"""How far an assessor is: per topic the documents by status, and what comes next."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from focuseval.assessment.plan import Pooled, pool
from focuseval.assessment.rules import FINISHED, OPEN, STATUSES, TODO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.assessment.store import Store


class PoolEntry(NamedTuple):
    """A pooled document as it stands for one assessor."""

    pooled: Pooled
    status: str
    flagged: bool


@dataclass(frozen=True)
class Progress:
    """A topic's documents, counted by status."""

    topic: str
    total: int
    counts: dict[str, int]
    flagged: int

    @property
    def done(self) -> int:
        """Documents that are finished."""
        return sum(self.counts[status] for status in FINISHED)


def entries(store: Store, assessor: str, topic: str | None = None) -> list[PoolEntry]:
    """Return what an assessor has to judge, by topic and position: everything, or one topic's."""
    known = store.statuses(assessor)
    rows = pool(store, assessor, topic)
    return [PoolEntry(row, *known.get((row.topic, row.document), (TODO, False))) for row in rows]


def by_topic(found: Sequence[PoolEntry]) -> list[Progress]:
    """Return the progress of each topic, in the order of the entries."""
    topics: dict[str, list[PoolEntry]] = {}
    for entry in found:
        topics.setdefault(entry.pooled.topic, []).append(entry)
    return [_counted(topic, rows) for topic, rows in topics.items()]


def _counted(topic: str, rows: Sequence[PoolEntry]) -> Progress:
    counts = Counter(row.status for row in rows)
    return Progress(topic, len(rows), {status: counts[status] for status in STATUSES}, sum(row.flagged for row in rows))


def next_undone(found: Sequence[PoolEntry], topic: str, document: str) -> Pooled | None:
    """Return the next document that is neither finished nor skipped: after this one, then from the beginning.

    The topic at hand comes first, so that an assessor stays with one information need.
    """
    here = [entry for entry in found if entry.pooled.topic == topic]
    place = next((k for k, entry in enumerate(here) if entry.pooled.document == document), -1)
    others = [entry for entry in found if entry.pooled.topic != topic]
    for entry in (*here[place + 1 :], *here[: max(place, 0)], *others):
        if entry.status in (TODO, OPEN):
            return entry.pooled
    return None


def neighbour(found: Sequence[PoolEntry], topic: str, document: str, step: int) -> Pooled | None:
    """Return the document before (−1) or after (+1) this one in its topic, whatever its status."""
    here = [entry.pooled for entry in found if entry.pooled.topic == topic]
    place = next((k for k, row in enumerate(here) if row.document == document), None)
    if place is None or not 0 <= place + step < len(here):
        return None
    return here[place + step]
