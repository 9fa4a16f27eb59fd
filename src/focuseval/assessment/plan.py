"""Who judges what: the pool, its top-ups, its split among assessors, and who the assessors are.

Each change is an event of the project, so that the log alone gives the plan back. A top-up only adds: a document
that is in the pool keeps its position, and nothing that was judged is touched.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from focuseval.assessment.store import ADJUDICATED, Store, now
from focuseval.errors import AssessError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from focuseval.assessment.rules import Edit
    from focuseval.assessment.store import Key

PERSON, MODEL, IMPORTED = "person", "model", "imported"
MODEL_PREFIX = "model:"
"""How the name of every language model begins, and of nobody else: ``model:NAME@prompt-hash``."""


@dataclass(frozen=True)
class Assessor:
    """A name, and whether a person judged here, a language model, or the judgements came from elsewhere."""

    name: str
    origin: str = PERSON
    source: str = ""

    @property
    def label(self) -> str:
        """The name as every page and every export shows it.

        >>> Assessor("llm", IMPORTED).label, Assessor("model:llm@1f00ba12", MODEL).label
        ('llm (imported)', 'model:llm@1f00ba12')
        """
        return f"{self.name} ({self.origin})" if self.origin == IMPORTED else self.name


class Pooled(NamedTuple):
    """A document to judge for a topic: its place, how many runs returned it, and its best rank among them."""

    topic: str
    document: str
    position: int = 0
    runs: int = 0
    best: int = 0
    by: tuple[int, ...] = ()
    """The runs that brought it, by their places in the event that added it."""


def add_to_pool(
    store: Store, rows: Iterable[Pooled], *, actor: str, runs: Sequence[Edit] = (), again: Sequence[Pooled] = ()
) -> int:
    """Add the documents that the pool does not hold yet, after those it does; return how many they are.

    Parameters
    ----------
    store, rows, actor
        The project, the documents, and whose name stands in the log.
    runs
        The runs that brought them, to which their `by` refers.
    again
        Documents of the pool that more runs returned.
    """
    known = {(row.topic, row.document) for row in pool(store)}
    last: dict[str, int] = {}
    for row in pool(store):
        last[row.topic] = max(last.get(row.topic, -1), row.position)
    fresh: dict[tuple[str, str], Pooled] = {}
    for row in rows:
        if (row.topic, row.document) not in known and (row.topic, row.document) not in fresh:
            last[row.topic] = last.get(row.topic, -1) + 1
            fresh[row.topic, row.document] = row._replace(position=last[row.topic])
    if fresh or again:
        told: Edit = {"kind": "pool", "rows": [row[:5] for row in fresh.values()]}
        if runs:
            told |= {"runs": runs, "by": [row.by for row in fresh.values()], "again": again}
        record(store, told, actor=actor)
    return len(fresh)


_OWNERS = "SELECT 1 FROM assignments a WHERE a.topic = pool.topic AND a.document IN ('', pool.document)"
_MINE = f"(NOT EXISTS ({_OWNERS}) OR EXISTS ({_OWNERS} AND a.assessor = :assessor))"


def pool(store: Store, assessor: str | None = None, topic: str | None = None) -> list[Pooled]:
    """Return the pool by topic and position; with an assessor, the part that is theirs, of all topics or of one.

    A document that is assigned to nobody is everybody's, one that came with a top-up for instance.
    """
    where = "1" if assessor in (None, ADJUDICATED) else _MINE
    rows = store.database.read().execute(
        f"SELECT * FROM pool WHERE {where} AND (:topic IS NULL OR topic = :topic) ORDER BY topic, position",  # noqa: S608  two fixed strings
        {"assessor": assessor, "topic": topic},
    )
    return [Pooled(*row) for row in rows]


def in_pool(store: Store, key: Key) -> bool:
    """Return whether a document is one that an assessor may judge."""
    where = "1" if key.assessor == ADJUDICATED else _MINE
    rows = store.database.read().execute(
        f"SELECT 1 FROM pool WHERE topic = :topic AND document = :document AND {where}",  # noqa: S608  two fixed strings
        key._asdict(),
    )
    return rows.fetchone() is not None


def split(store: Store, assessors: Sequence[str], *, by: str, overlap: int = 1, actor: str) -> None:
    """Deal topics or pooled documents out to assessors in turn, each to `overlap` of them.

    A new split replaces the one before, but what somebody has begun stays theirs.
    """
    if not 1 <= overlap <= len(assessors):
        raise AssessError(f"expected an overlap from 1 to {len(assessors)}, the number of assessors, found {overlap}")
    documents = pool(store)
    units = dict.fromkeys((row.topic, row.document if by == "pool" else "") for row in documents)
    dealt = [
        [topic, document, assessors[(turn + k) % len(assessors)]]
        for turn, (topic, document) in enumerate(units)
        for k in range(overlap)
    ]
    began = [[key.topic, key.document, key.assessor] for key in store.judged() if key.assessor in assessors]
    record(store, {"kind": "assign", "rows": [*dealt, *began]}, actor=actor)


def register(store: Store, assessor: Assessor, *, actor: str = "") -> Assessor:
    """Make an assessor known; a name is one person's or one import's for good."""
    known = {one.name: one for one in assessors(store)}.get(assessor.name)
    if known is not None and known.origin != assessor.origin:
        raise AssessError(f"'{assessor.name}' is the name of {_ARTICLE[known.origin]} assessor; choose another")
    if assessor.name.startswith(MODEL_PREFIX) != (assessor.origin == MODEL):
        raise AssessError(f"'{MODEL_PREFIX}' begins the names of language models alone; choose another name")
    if assessor.name == ADJUDICATED:
        raise AssessError(f"'{ADJUDICATED}' is reserved for what the adjudication decides; choose another name")
    if known is None:
        edit = {"kind": "assessor", "name": assessor.name, "origin": assessor.origin, "source": assessor.source}
        record(store, edit, actor=actor or assessor.name)
    return assessor


_ARTICLE = {PERSON: "a human", MODEL: "a model", IMPORTED: "an imported"}


def assessors(store: Store) -> list[Assessor]:
    """Return everyone who may have judged something, people first."""
    rows = store.database.read().execute("SELECT name, origin, source FROM assessors ORDER BY origin DESC, name")
    return [Assessor(*row) for row in rows]


def know_role(store: Store, name: str, role: str, *, actor: str = "") -> None:
    """Write to the log who leads and who only reads, when it does not know it."""
    if roles(store).get(name, "assessor") != role:
        record(store, {"kind": "role", "name": name, "role": role}, actor=actor or name)


def roles(store: Store) -> dict[str, str]:
    """Return the roles that the log knows: name → role."""
    return {edit["name"]: edit["role"] for _, edit in store.project_events("role")}


def record(store: Store, edit: Edit, *, actor: str, at: str = "", token: str = "") -> None:
    """Write one event of the project itself, and what follows from it, in one transaction."""
    with store.database.write() as connection:
        connection.execute(
            "INSERT INTO events (at, actor, edit, key) VALUES (?, ?, ?, ?)",
            (at or now(), actor, json.dumps(edit, ensure_ascii=False), token or uuid.uuid4().hex),
        )
        follow(connection, edit)


def follow(connection: sqlite3.Connection, edit: Edit) -> None:
    """Bring the plan's tables to what a project event says."""
    if edit["kind"] == "pool":
        connection.executemany("INSERT OR IGNORE INTO pool VALUES (?, ?, ?, ?, ?)", edit["rows"])
        again = [(runs, best, topic, document) for topic, document, _, runs, best, _ in edit.get("again", ())]
        more = "UPDATE pool SET runs = max(runs, ?), best = min(best, ?) WHERE topic = ? AND document = ?"
        connection.executemany(more, again)
    elif edit["kind"] == "assign":
        connection.execute("DELETE FROM assignments")
        connection.executemany("INSERT OR IGNORE INTO assignments VALUES (?, ?, ?)", edit["rows"])
    elif edit["kind"] == "reassign":
        gone = "DELETE FROM assignments WHERE topic = ? AND document = ? AND assessor = ?"
        connection.executemany(gone, edit["remove"])
        connection.executemany("INSERT OR IGNORE INTO assignments VALUES (?, ?, ?)", edit["add"])
    elif edit["kind"] == "assessor":
        values = (edit["name"], edit["origin"], edit["source"])
        connection.execute("INSERT OR IGNORE INTO assessors VALUES (?, ?, ?)", values)
