"""How far the campaign is: documents by status, what comes next, how long people work, and sums for a lead.

The time between two edits of one person belongs to the document of the later one: it was read in between. A gap of more
than `PAUSE` is a break, and belongs to none.

A lead looks at sums over topics or over assessors; the rows below them are for one assessor and one topic. A document
that is assigned to nobody is to do for every assessor, but not for a lead who judges nothing.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from focuseval.assessment.plan import Pooled, people, pool, roles, sampled_topics
from focuseval.assessment.rules import FINISHED, NOT_RELEVANT, OPEN, RELEVANT, SKIPPED, STATUSES, TODO
from focuseval.assessment.store import ADJUDICATED, Store
from focuseval.assessment.users import removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class PoolEntry(NamedTuple):
    """A pooled document as it stands for one assessor."""

    pooled: Pooled
    status: str
    flagged: bool


def entries(store: Store, assessor: str, topic: str | None = None) -> list[PoolEntry]:
    """Return what an assessor has to judge, by topic and position: everything, sampled topics first, or one topic's."""
    known, drawn = store.statuses(assessor), {name: place for place, name in enumerate(sampled_topics(store))}
    rows = sorted(pool(store, assessor, topic), key=lambda row: drawn.get(row.topic, len(drawn)))
    return [PoolEntry(row, *known.get((row.topic, row.document), (TODO, False))) for row in rows]


def by_topic(found: Sequence[PoolEntry]) -> list[Work]:
    """Return the progress of each topic, in the order of the entries."""
    rows = []
    for row, status, flagged in found:
        counts = (status == one for one in (RELEVANT, NOT_RELEVANT, OPEN, SKIPPED))
        rows.append(Work._make(("", row.topic, 1, *counts, flagged, 0, 0.0)))
    return summed(rows, "topic")


def next_undone(found: Sequence[PoolEntry], topic: str, document: str) -> Pooled | None:
    """Return the next document that is neither finished nor skipped, of this topic if any, after this one if any."""
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


PAUSE = 300.0
"""Seconds between two edits beyond which somebody was away."""


def moment_of(at: str) -> datetime:
    """Return a time of the log; of one that was imported and is no time, the beginning of all.

    >>> moment_of("2026-01-01T10:00:00"), moment_of("yesterday").year
    (datetime.datetime(2026, 1, 1, 10, 0, tzinfo=datetime.timezone.utc), 1)
    """
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class Pace:
    """Seconds of work by assessor and topic, and when somebody last did something; only new events are read."""

    def __init__(self, store: Store) -> None:
        self._store, self._seq = store, 0
        self._at: dict[str, datetime] = {}
        self.seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.last: dict[str, str] = {}
        """Assessor → the time of the last event, as the log writes it."""

    def refresh(self) -> set[tuple[str, str, str]]:
        """Take in what has happened since the last time, and return what it changed: assessor, topic, document."""
        changed = set()
        rows = self._store.database.read().execute(
            "SELECT seq, at, actor, assessor, topic, document FROM events WHERE seq > ? ORDER BY seq", (self._seq,)
        )
        for seq, at, actor, *key in rows:
            changed.add(tuple(key))
            self._seq = seq
            if actor == key[0]:  # only what assessors do to their own judgements is work
                when, before = moment_of(at), self._at.get(actor)
                gap = (when - before).total_seconds() if before else 0.0
                if 0 < gap <= PAUSE:
                    self.seconds[actor, key[1]] += gap
                self._at[actor], self.last[actor] = when, at
        return changed


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
    def counts(self) -> dict[str, int]:
        """Documents by status."""
        numbers = (self.todo, self.in_progress, self.relevant, self.not_relevant, self.skipped)
        return dict(zip(STATUSES, numbers, strict=True))

    @property
    def per_document(self) -> float | None:
        """Seconds for a finished document; None where none is."""
        return self.seconds / self.done if self.done and self.seconds else None

    @property
    def per_hour(self) -> float | None:
        """Documents that are finished in an hour of work."""
        return 3600 / self.per_document if self.per_document else None


_COUNTS = f"""
SELECT assessor, topic, sum(status = '{RELEVANT}'), sum(status = '{NOT_RELEVANT}'), sum(status = '{OPEN}'),
    sum(status = '{SKIPPED}'), sum(flagged)
FROM judgements WHERE assessor != '{ADJUDICATED}' {{}} GROUP BY assessor, topic
"""  # noqa: S608  our own constants

_SPLIT = f"""
SELECT topic, document, assessor FROM judgements JOIN (
    SELECT topic, document FROM judgements WHERE status IN {FINISHED} {{0}}
    GROUP BY topic, document HAVING min(status) != max(status) AND max(assessor = '{ADJUDICATED}') = 0
) USING (topic, document) WHERE status IN {FINISHED} {{0}}
"""  # noqa: S608  as above
PROJECT = ("", "", "")
"""What an event of the project itself changes: the plan."""
MANY = 5_000
"""Changes beyond which it is quicker to read everything again."""

Unit = tuple[str, str]
"""An assessor and a topic; or a topic and a document."""


class Overview:
    """The rows of a project, kept in memory and brought up to date by what the log says has changed."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock, self.pace = store, threading.Lock(), Pace(store)
        self._rows: dict[Unit, Work] = {}
        self._totals: Counter[Unit] = Counter()
        self._split: dict[Unit, list[str]] = {}
        self._disagreed: Counter[Unit] = Counter()

    def rows(self) -> list[Work]:
        """Return a row for every assessor and topic with something to do or done, by assessor and topic."""
        with self._lock:
            changed = self.pace.refresh()
            if PROJECT in changed:
                self._totals = _totals(self._store)
            if len(changed) > MANY or not self._rows:
                self._read_all()  # a second or two with 500 assessors and 100 topics, when the server starts
            else:
                self._read_some(changed - {PROJECT})
                if PROJECT in changed:  # who is to judge what may be otherwise now; what was judged is known
                    units = sorted(self._totals.keys() | self._rows.keys())
                    rows = ((unit, self._rows.get(unit) or self._row(unit, None)) for unit in units)
                    planned = {unit: row._replace(total=self._totals[unit]) for unit, row in rows}
                    self._rows = {unit: row for unit, row in planned.items() if row.total or any(row[3:])}
            return list(self._rows.values())

    def _read_all(self) -> None:
        read = self._store.database.read()
        counts = {(name, topic): tuple(numbers) for name, topic, *numbers in read.execute(_COUNTS.format(""))}
        self._split = {}
        for topic, document, assessor in read.execute(_SPLIT.format("")):
            self._split.setdefault((topic, document), []).append(assessor)
        sides = ((name, topic) for (topic, _), names in self._split.items() for name in names)
        self._disagreed = Counter(sides)
        self._rows = {unit: self._row(unit, counts.get(unit)) for unit in sorted(self._totals.keys() | counts.keys())}

    def _read_some(self, changed: set[tuple[str, str, str]]) -> None:
        """Read again what an edit may have changed: its assessor's counts, and who disagrees about its document."""
        read = self._store.database.read()
        units = {(assessor, topic) for assessor, topic, _ in changed if assessor != ADJUDICATED}
        for topic, document in {(topic, document) for _, topic, document in changed}:
            before = self._split.pop((topic, document), [])
            rows = read.execute(_SPLIT.format("AND topic = ? AND document = ?"), (topic, document, topic, document))
            after = [assessor for _, _, assessor in rows]
            if after:
                self._split[topic, document] = after
            self._disagreed.subtract((name, topic) for name in before)
            self._disagreed.update((name, topic) for name in after)
            units |= {(name, topic) for name in (*before, *after)}
        fresh = units - self._rows.keys()
        for unit in units:
            row = read.execute(_COUNTS.format("AND assessor = ? AND topic = ?"), unit).fetchone()
            self._rows[unit] = self._row(unit, tuple(row[2:]) if row else None)
        if fresh:
            self._rows = {unit: self._rows[unit] for unit in sorted(self._rows)}

    def _row(self, unit: Unit, counts: tuple[int, ...] | None) -> Work:
        numbers = (*(counts or (0, 0, 0, 0, 0)), self._disagreed[unit], self.pace.seconds.get(unit, 0.0))
        return Work._make((*unit, self._totals[unit], *numbers))


def summed(rows: Iterable[Work], by: str) -> list[Work]:
    """Return the rows added up over everything but ``assessor`` or ``topic``; over all with ''.

    >>> summed([Work("ann", "1", 3, relevant=1), Work("ann", "2", 4)], "assessor")[0][:4]
    ('ann', '', 7, 1)
    """
    totals: dict[str, list[float]] = {}
    for row in rows:
        sums = totals.setdefault(getattr(row, by) if by else "", [0.0] * 8)
        for k, value in enumerate(row[2:]):
            sums[k] += value
    return [
        Work._make((*((name, "") if by == "assessor" else ("", name)), *map(int, sums[:-1]), sums[-1]))
        for name, sums in totals.items()
    ]


def _totals(store: Store) -> Counter[Unit]:
    """Return how many pooled documents are whose to judge; what is assigned to nobody is everybody's."""
    read = store.database.read()
    pooled = dict(read.execute("SELECT topic, count(*) FROM pool GROUP BY topic").fetchall())
    whole = [tuple(row) for row in read.execute("SELECT assessor, topic FROM assignments WHERE document = ''")]
    parts = read.execute(
        "SELECT topic, assessor, count(*) FROM assignments WHERE document != ''"
        " AND EXISTS (SELECT 1 FROM pool p WHERE p.topic = assignments.topic AND p.document = assignments.document)"
        " GROUP BY topic, assessor"
    )
    totals: Counter[Unit] = Counter({(assessor, topic): count for topic, assessor, count in parts})
    for unit in whole:
        totals[unit] = pooled.get(unit[1], 0)
    rows = read.execute(
        "SELECT topic, count(*) FROM pool WHERE NOT EXISTS (SELECT 1 FROM assignments a WHERE a.topic = pool.topic"
        " AND a.document = pool.document) GROUP BY topic"
    )
    taken = {topic for _, topic in whole}
    everybodys = {topic: count for topic, count in rows if topic not in taken}
    if not everybodys:
        return totals
    judged = {name for (name,) in read.execute("SELECT DISTINCT assessor FROM judgements")}
    others = {name for name, role in roles(store).items() if role != "assessor"}
    away = (others - judged - {assessor for assessor, _ in totals}) | removed(store)  # a lead counts after beginning
    for name in people(store):
        if name not in away:
            for topic, count in everybodys.items():
                totals[name, topic] += count
    return totals
