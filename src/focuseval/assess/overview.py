"""The whole campaign in numbers: for every assessor and topic what is to do, done, flagged and disagreed about.

A lead looks at sums over topics or over assessors; the rows below them are for one assessor and one topic. A document
that is assigned to nobody is to do for every assessor, but not for a lead who judges nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from focuseval.assess.people import removed
from focuseval.assess.plan import PERSON, assessors, roles
from focuseval.assess.rules import FINISHED, NOT_RELEVANT, OPEN, RELEVANT, SKIPPED
from focuseval.assess.store import ADJUDICATED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.assess.pace import Pace
    from focuseval.assess.store import Store


class Work(NamedTuple):
    """Documents of an assessor, of a topic, or of both, by what became of them; and seconds of work on them."""

    assessor: str = ""
    topic: str = ""
    total: int = 0
    relevant: int = 0
    not_relevant: int = 0
    in_progress: int = 0
    skipped: int = 0
    flagged: int = 0
    disagreed: int = 0
    """Documents that somebody else judged the other way, and nobody decided."""
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """Documents that are finished."""
        return self.relevant + self.not_relevant

    @property
    def todo(self) -> int:
        """Documents that nobody has begun."""
        return max(0, self.total - self.done - self.in_progress - self.skipped)

    @property
    def per_document(self) -> float | None:
        """Seconds for a finished document; None where none is."""
        return self.seconds / self.done if self.done and self.seconds else None

    @property
    def per_hour(self) -> float | None:
        """Documents that are finished in an hour of work."""
        return 3600 / self.per_document if self.per_document else None


Unit = tuple[str, str]
"""An assessor and a topic."""


def overview(store: Store, pace: Pace) -> list[Work]:
    """Return a row for every assessor and topic with something to do or done, by assessor and topic."""
    pace.refresh()
    totals, statuses, flagged = _totals(store), *_statuses(store)
    disagreed = _disagreed(store)
    rows = []
    for unit in sorted({*totals, *statuses}):
        counts = statuses.get(unit, Counter())
        told = (counts[RELEVANT], counts[NOT_RELEVANT], counts[OPEN], counts[SKIPPED])
        rows.append(
            Work(*unit, totals[unit], *told, flagged[unit], disagreed.get(unit, 0), pace.seconds.get(unit, 0.0))
        )
    return rows


def summed(rows: Iterable[Work], by: str) -> list[Work]:
    """Return the rows added up over everything but ``assessor`` or ``topic``; over all with ''.

    >>> summed([Work("ann", "1", 3, relevant=1), Work("ann", "2", 4)], "assessor")[0][:4]
    ('ann', '', 7, 1)
    """
    found: dict[str, list[float]] = {}
    for row in rows:
        sums = found.setdefault(getattr(row, by) if by else "", [0.0] * 8)
        for k, value in enumerate(row[2:]):
            sums[k] += value
    names = [(name, "") if by == "assessor" else ("", name) for name in found]
    sums_of = ((*map(int, sums[:-1]), sums[-1]) for sums in found.values())
    return [Work._make((*name, *sums)) for name, sums in zip(names, sums_of, strict=True)]


def _totals(store: Store) -> Counter[Unit]:
    """Return how many pooled documents are whose to judge."""
    read = store.database.read()
    pooled = dict(read.execute("SELECT topic, count(*) FROM pool GROUP BY topic").fetchall())
    whole = [tuple(row) for row in read.execute("SELECT assessor, topic FROM assignments WHERE document = ''")]
    parts = read.execute(
        "SELECT assessor, topic, count(*) FROM assignments JOIN pool USING (topic, document) GROUP BY assessor, topic"
    )
    found: Counter[Unit] = Counter({(assessor, topic): count for assessor, topic, count in parts})
    found.update({unit: pooled.get(unit[1], 0) - found[unit] for unit in whole})
    open_to_all = _unassigned(store, {topic for _, topic in whole})
    for name in _working(store, {assessor for assessor, _ in found}):
        found.update({(name, topic): count for topic, count in open_to_all.items()})
    return found


def _unassigned(store: Store, taken: set[str]) -> dict[str, int]:
    """Return how many documents of a topic are assigned to nobody, and so are everybody's."""
    rows = store.database.read().execute(
        "SELECT topic, count(*) FROM pool WHERE NOT EXISTS (SELECT 1 FROM assignments a WHERE a.topic = pool.topic"
        " AND a.document = pool.document) GROUP BY topic"
    )
    return {topic: count for topic, count in rows if topic not in taken}


def _working(store: Store, assigned: set[str]) -> list[str]:
    """Return whose work what is everybody's is: people who judge, a lead only after having begun to."""
    judged = {name for (name,) in store.database.read().execute("SELECT DISTINCT assessor FROM judgements")}
    known, gone = roles(store), removed(store)
    idle = {name for name, role in known.items() if role != "assessor"} - assigned - judged
    return [one.name for one in assessors(store) if one.origin == PERSON and one.name not in idle | gone]


def _statuses(store: Store) -> tuple[dict[Unit, Counter[str]], Counter[Unit]]:
    """Return, for every assessor and topic, the documents by status and how many are flagged."""
    counts: dict[Unit, Counter[str]] = {}
    flagged: Counter[Unit] = Counter()
    rows = store.database.read().execute(
        "SELECT assessor, topic, status, count(*), sum(flagged) FROM judgements WHERE assessor != ? GROUP BY 1, 2, 3",
        (ADJUDICATED,),
    )
    for assessor, topic, status, count, flags in rows:
        counts.setdefault((assessor, topic), Counter())[status] = count
        flagged[assessor, topic] += flags
    return counts, flagged


def _disagreed(store: Store) -> dict[Unit, int]:
    """Return how many finished documents of an assessor and topic others judged the other way, undecided ones."""
    status = f"status IN ('{FINISHED[0]}', '{FINISHED[1]}')"
    split = f"""SELECT topic, document FROM judgements WHERE {status} AND assessor != '{ADJUDICATED}'
        GROUP BY topic, document HAVING min(status) != max(status)
        EXCEPT SELECT topic, document FROM judgements WHERE {status} AND assessor = '{ADJUDICATED}'"""  # noqa: S608  our own constants
    units = {tuple(row) for row in store.database.read().execute(split)}
    if not units:
        return {}
    rows = store.database.read().execute(
        f"SELECT assessor, topic, document FROM judgements WHERE {status} AND assessor != '{ADJUDICATED}'"  # noqa: S608  as above
    )
    return Counter((assessor, topic) for assessor, topic, document in rows if (topic, document) in units)
