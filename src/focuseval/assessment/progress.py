"""How far the campaign is: documents by status, what comes next, how long people work, and sums for a lead.

The time between two edits of one person belongs to the document of the later one: it was read in between. A gap of more
than `PAUSE` is a break, and belongs to none.

A lead looks at sums over topics or over assessors; the rows below them are for one assessor and one topic. A document
that is assigned to nobody is to do for every assessor, but not for a lead who judges nothing.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from focuseval.assessment.plan import MINE, PERSON, Pooled, people, roles, sampled_topics
from focuseval.assessment.rules import FINISHED, NOT_RELEVANT, OPEN, RELEVANT, SKIPPED, STATUSES, TODO
from focuseval.assessment.store import ADJUDICATED, Store
from focuseval.assessment.users import removed

Unit = tuple[str, str]  # an assessor and a topic; or a topic and a document
_QUEUE = f"""
SELECT pool.*, coalesce(j.status, '{TODO}') AS state, coalesce(j.flagged, 0) AS flagged FROM pool
LEFT JOIN judgements j ON j.assessor = :assessor AND j.topic = pool.topic AND j.document = pool.document
WHERE {MINE} AND pool.topic = :topic
"""  # noqa: S608  our own constants
_ALL, _AFTER = "1 ORDER BY position", "position > :place ORDER BY position"
_FROM_FIRST, _BEFORE = "position < :place ORDER BY position", "position < :place ORDER BY position DESC"
PAUSE = 300.0  # seconds between two edits beyond which somebody was away
_COUNTS = f"""
SELECT assessor, topic, sum(status = '{RELEVANT}'), sum(status = '{NOT_RELEVANT}'), sum(status = '{OPEN}'),
    sum(status = '{SKIPPED}'), sum(flagged)
FROM judgements WHERE {{}} GROUP BY assessor, topic
"""  # noqa: S608  our own constants
_PEOPLE = f"assessor NOT IN (SELECT name FROM assessors WHERE origin != '{PERSON}')"  # noqa: S608  as above
_SPLIT = f"""
SELECT topic, document, assessor FROM judgements JOIN (
    SELECT topic, document FROM judgements WHERE status IN {FINISHED} AND {_PEOPLE} {{0}}
    GROUP BY topic, document HAVING min(status) != max(status) AND max(assessor = '{ADJUDICATED}') = 0
) USING (topic, document) WHERE status IN {FINISHED} AND {_PEOPLE} {{0}}
"""  # noqa: S608  as above
PROJECT = ("", "", "")  # what an event of the project itself changes: the plan
MANY = 5_000  # changes beyond which it is quicker to read everything again


def entries(store: Store, assessor: str, topic: str) -> list[sqlite3.Row]:
    """Return what an assessor has to judge of a topic: the rows of the pool, with their ``state`` and ``flagged``."""
    query = f"{_QUEUE} ORDER BY position"
    return store.rows(query, {"assessor": assessor, "topic": topic}).fetchall()


def undone(store: Store, assessor: str, topics: Sequence[Work], topic: str, document: str) -> Iterator[Pooled]:
    """Yield the next documents that are not finished: of this topic first, after this one first, skipped ones last.

    `topics` are what the assessor has to judge, as `Overview.of` gives it; no other topic is looked at.
    """
    order = sorted(topics, key=lambda row: row.topic != topic)
    place = _place(store, topic, document)
    for statuses in ((TODO, OPEN), (SKIPPED,)):
        for row in order:
            if any(row.counts[status] for status in statuses):
                sides = (_AFTER, _FROM_FIRST) if row.topic == topic and place is not None else (_ALL,)
                for side in sides:
                    yield from _documents(store, (assessor, row.topic), side, place, statuses)


def neighbour(store: Store, assessor: str, topic: str, document: str, step: int) -> Pooled | None:
    """Return the document before (−1) or after (+1) this one in its topic, whatever its status."""
    place = _place(store, topic, document)
    return next(_documents(store, (assessor, topic), _AFTER if step > 0 else _BEFORE, place, STATUSES, most=1), None)


def _place(store: Store, topic: str, document: str) -> int | None:
    query = "SELECT position FROM pool WHERE topic = ? AND document = ?"
    row = store.rows(query, (topic, document)).fetchone()
    return row[0] if row else None


def _documents(
    store: Store, unit: Unit, side: str, place: int | None, statuses: Sequence[str], *, most: int = 10
) -> Iterator[Pooled]:
    """Yield an assessor's first documents of a topic, on one side of a place, that have one of some statuses."""
    query = f"{_QUEUE} AND instr(:statuses, '|' || state || '|') AND {side} LIMIT {most}"
    values = {"assessor": unit[0], "topic": unit[1], "place": place, "statuses": f"|{'|'.join(statuses)}|"}
    return (Pooled(*row[:5]) for row in store.rows(query, values).fetchall())


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
    disagreed: int = 0  # documents that another person judged the other way, and nobody decided
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


class Overview:
    """The rows of a project, kept in memory and brought up to date by what the log says has changed."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock, self._seq = store, threading.Lock(), 0
        self._at: dict[str, datetime] = {}
        self.seconds: defaultdict[Unit, float] = defaultdict(float)  # of work, by assessor and topic
        self.last: dict[str, str] = {}  # assessor → the time of the last event, as the log writes it
        self._rows: dict[Unit, Work] = {}
        self._totals: Counter[Unit] = Counter()
        self._split: dict[Unit, list[str]] = {}
        self._disagreed: Counter[Unit] = Counter()
        self._own: dict[str, dict[str, int]] = {}

    def rows(self) -> list[Work]:
        """Return a row for every assessor and topic with something to do or done, by assessor and topic."""
        with self._lock:
            self._refresh()
            return list(self._rows.values())

    def of(self, assessor: str) -> list[Work]:
        """Return what one assessor may judge, topic by topic, sampled ones first and in their order.

        Unlike `rows`, of a lead who has judged nothing, too.
        """
        with self._lock:
            self._refresh()
            if assessor not in self._own:
                mine = "1" if assessor == ADJUDICATED else MINE
                query = f"SELECT topic, count(*) FROM pool WHERE {mine} GROUP BY topic ORDER BY topic"  # noqa: S608  our own constants
                totals = self._store.rows(query, {"assessor": assessor}).fetchall()
                drawn = {topic: place for place, topic in enumerate(sampled_topics(self._store))}
                self._own[assessor] = dict(sorted(totals, key=lambda row: drawn.get(row[0], len(drawn))))
            known = self._rows
            if assessor == ADJUDICATED:  # whose work is not the campaign's
                rows = self._store.rows(_COUNTS.format("assessor = ?"), (assessor,))
                known = {(name, topic): self._row((name, topic), tuple(numbers)) for name, topic, *numbers in rows}
            units = (((assessor, topic), total) for topic, total in self._own[assessor].items())
            return [(known.get(unit) or self._row(unit, None))._replace(total=total) for unit, total in units]

    def disagreed(self) -> dict[Unit, list[str]]:
        """Return the documents about which people disagree, and nobody decided: (topic, document) → who judged them."""
        with self._lock:
            self._refresh()
            return dict(self._split)

    def _refresh(self) -> None:
        changed = self._take_in()
        if PROJECT in changed:
            self._totals, self._own = _totals(self._store), {}
        if len(changed) > MANY or not self._rows:
            self._read_all()  # a second or two with 500 assessors and 100 topics, when the server starts
        else:
            self._read_some(changed - {PROJECT})
            if PROJECT in changed:  # who is to judge what may be otherwise now; what was judged is known
                units = sorted(self._totals.keys() | self._rows.keys())
                rows = ((unit, self._rows.get(unit) or self._row(unit, None)) for unit in units)
                planned = {unit: row._replace(total=self._totals[unit]) for unit, row in rows}
                self._rows = {unit: row for unit, row in planned.items() if row.total or any(row[3:])}

    def _take_in(self) -> set[tuple[str, str, str]]:
        """Take in what has happened since the last time, and return what it changed: assessor, topic, document."""
        changed = set()
        rows = self._store.rows(
            "SELECT seq, coalesce(CASE WHEN instr(edit, '\"made\":') THEN json_extract(edit, '$.made') END, at), actor,"
            " assessor, topic, document FROM events WHERE seq > ? ORDER BY seq",
            (self._seq,),
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

    def _read_all(self) -> None:
        read = self._store.database.read()
        rows = read.execute(_COUNTS.format("assessor != ?"), (ADJUDICATED,))
        counts = {(name, topic): tuple(numbers) for name, topic, *numbers in rows}
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
            row = read.execute(_COUNTS.format("assessor = ? AND topic = ?"), unit).fetchone()
            self._rows[unit] = self._row(unit, tuple(row[2:]) if row else None)
        if fresh:
            self._rows = {unit: self._rows[unit] for unit in sorted(self._rows)}

    def _row(self, unit: Unit, counts: tuple[int, ...] | None) -> Work:
        numbers = (*(counts or (0, 0, 0, 0, 0)), self._disagreed[unit], self.seconds.get(unit, 0.0))
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
