"""Who judges what: the pool and its top-ups, who the assessors are, what is assigned to whom, and known answers.

Each change is an event of the project, so that the log alone gives the plan back. A top-up only adds: a document
that is in the pool keeps its position, and nothing that was judged is touched. What somebody has begun stays theirs.

Some documents have a known answer, which is what the adjudication decided. A *training* document is everybody's, comes
first, and shows its answer as soon as it is finished. A *control* document is given to all who judge its topic, looks
like any other, and shows nothing; only the lead sees who found the answer, and when. What counts is the judgement as it
was first finished: whoever looks at the answer and corrects themselves has not found it.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from focuseval.assessment.rules import Edit, Judgement
from focuseval.assessment.store import ADJUDICATED, Key, Store, insert_event, now
from focuseval.data.highlights import jaccard
from focuseval.data.topics import Topic
from focuseval.errors import AssessError

Unit = tuple[str, str]  # a topic and a document
PERSON, MODEL, IMPORTED = "person", "model", "imported"
MODEL_PREFIX = "model:"  # how the name of every language model begins, and of nobody else: ``model:NAME@prompt-hash``
_OWNERS = "SELECT 1 FROM assignments a WHERE a.topic = pool.topic AND a.document IN ('', pool.document)"
MINE = (  # nobody's is everybody's
    f"(coalesce(:assessor, '{ADJUDICATED}') = '{ADJUDICATED}'"
    f" OR NOT EXISTS ({_OWNERS}) OR EXISTS ({_OWNERS} AND a.assessor = :assessor))"
)
"""Whether a row of the pool is the assessor's to judge, as a condition of a query; the adjudication may judge all."""
RANK, RANDOM, COMPARISON = "rank", "random", "comparison"
ORDERS = (RANK, RANDOM, COMPARISON)
"""In which order documents are judged: by pool rank, at random, or those first that move the comparison of the runs."""
ONLY, ALSO, EVERYONE = "only", "also", "everyone"
HOWS = (ONLY, ALSO, EVERYONE)
Row = tuple[str, str, str]  # a topic, a document ('' for the whole topic), and an assessor
TRAINING, CONTROL = "training", "control"


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
    by: tuple[int, ...] = ()  # the runs that brought it, by their places in the event that added it, or in a pool
    batch: int = 0  # when it came: later runs are a batch of their own


def add_to_pool(
    store: Store, rows: Iterable[Pooled], *, actor: str, runs: Sequence[Edit] = (), again: Sequence[Pooled] = ()
) -> int:
    """Add the documents that the pool does not hold yet, and note which more runs returned `again`; return how many."""
    known, last = set[Unit](), dict[str, int]()
    for row in pool(store):
        known.add(row[:2])
        last[row.topic] = max(last.get(row.topic, -1), row.position)
    fresh: dict[Unit, Pooled] = {}
    for row in rows:
        if row[:2] not in known and row[:2] not in fresh:
            last[row.topic] = last.get(row.topic, -1) + 1
            fresh[row[:2]] = row._replace(position=last[row.topic])
    if fresh or again:
        edit: Edit = {"kind": "pool", "rows": [row[:5] for row in fresh.values()]}
        if runs:
            edit |= {"runs": runs, "by": [row.by for row in fresh.values()], "again": [row[:6] for row in again]}
        record(store, edit, actor=actor)
    return len(fresh)


def pool(store: Store, assessor: str | None = None, topic: str | None = None) -> list[Pooled]:
    """Return the pool by topic and position; with an assessor, the part that is theirs, of all topics or of one."""
    query = f"SELECT * FROM pool WHERE {MINE} AND (:topic IS NULL OR topic = :topic) ORDER BY topic, position"  # noqa: S608  two fixed strings
    return [Pooled(*row) for row in store.rows(query, {"assessor": assessor, "topic": topic})]


def in_pool(store: Store, key: Key) -> bool:
    """Return whether a document is one that an assessor may judge."""
    query = f"SELECT 1 FROM pool WHERE topic = :topic AND document = :document AND {MINE}"  # noqa: S608  two fixed strings
    return store.rows(query, key._asdict()).fetchone() is not None


def authors_of(topics: Iterable[Topic]) -> dict[str, str]:
    """Return topic → its author, an element or an attribute of a topic, of those that name one."""
    named = {topic.id: topic.extra.get("author") or topic.attributes.get("author", "") for topic in topics}
    return {topic: name for topic, name in named.items() if name}


def split(
    store: Store,
    assessors: Sequence[str],
    *,
    by: str,
    overlap: int = 1,
    authors: Mapping[str, str] | None = None,
    actor: str,
) -> None:
    """Deal ``topics``, or documents of the ``pool``, out anew to assessors in turn, each to `overlap` of them.

    Topic by topic (``authors``) the author is the first of its assessors, where they are among them.
    """
    if not 1 <= overlap <= len(assessors):
        raise AssessError(f"expected an overlap from 1 to {len(assessors)}, the number of assessors, found {overlap}")
    units = dict.fromkeys((row.topic, row.document if by == "pool" else "") for row in pool(store))
    own = (authors or {}) if by == "authors" else {}
    first = {topic: assessors.index(name) for topic, name in own.items() if name in assessors}
    dealt = [
        [topic, document, assessors[(first.get(topic, turn) + k) % len(assessors)]]
        for turn, (topic, document) in enumerate(units)
        for k in range(overlap)
    ]
    # What somebody has begun stays theirs.
    began = [[key.topic, key.document, key.assessor] for key in store.judged() if key.assessor in assessors]
    record(store, {"kind": "assign", "rows": [*dealt, *began]}, actor=actor)


def sampled_topics(store: Store) -> tuple[str, ...]:
    """Return the topics that were drawn for people, in the order in which they are judged."""
    return tuple(dict.fromkeys(topic for _, edit in store.project_events("sample") for topic in edit["topics"]))


def register(store: Store, assessor: Assessor, *, actor: str = "") -> Assessor:
    """Make an assessor known; a name is one person's or one import's for good."""
    known = {one.name: one for one in assessors(store)}.get(assessor.name)
    if known is not None and known.origin != assessor.origin:
        whose = {PERSON: "a human", MODEL: "a model", IMPORTED: "an imported"}[known.origin]
        raise AssessError(f"'{assessor.name}' is the name of {whose} assessor; choose another")
    if assessor.name.startswith(MODEL_PREFIX) != (assessor.origin == MODEL):
        raise AssessError(f"'{MODEL_PREFIX}' begins the names of language models alone; choose another name")
    if assessor.name == ADJUDICATED:
        raise AssessError(f"'{ADJUDICATED}' is reserved for what the adjudication decides; choose another name")
    if known is None:
        edit = {"kind": "assessor", "name": assessor.name, "origin": assessor.origin, "source": assessor.source}
        record(store, edit, actor=actor or assessor.name)
    return assessor


def assessors(store: Store) -> list[Assessor]:
    """Return everyone who may have judged something, people first."""
    rows = store.rows("SELECT name, origin, source FROM assessors ORDER BY origin DESC, name")
    return [Assessor(*row) for row in rows]


def people(store: Store) -> list[str]:
    """Return the names of the assessors who are people, by name."""
    return [one.name for one in assessors(store) if one.origin == PERSON]


def machines(store: Store) -> set[str]:
    """Return the names of the assessors who are no people here: language models and imports, which count apart."""
    return {one.name for one in assessors(store) if one.origin != PERSON}


def labels(store: Store) -> dict[str, str]:
    """Return every assessor's name → how it is shown."""
    return {one.name: one.label for one in assessors(store)}


def know_role(store: Store, name: str, role: str, *, actor: str = "") -> None:
    """Write to the log who leads and who only reads, when it does not know it."""
    if roles(store).get(name, "assessor") != role:
        record(store, {"kind": "role", "name": name, "role": role}, actor=actor or name)


def roles(store: Store) -> dict[str, str]:
    """Return the roles that the log knows: name → role."""
    return {edit["name"]: edit["role"] for _, edit in store.project_events("role")}


def record(store: Store, edit: Edit, *, actor: str) -> None:
    """Write one event of the project itself, and what follows from it, in one transaction."""
    with store.database.write() as connection:
        insert_event(connection, {"at": now(), "actor": actor, "edit": edit, "key": uuid.uuid4().hex})
        follow(connection, edit)


def follow(connection: sqlite3.Connection, edit: Edit) -> None:
    """Bring the plan's tables to what a project event says."""
    if edit["kind"] == "pool":
        connection.executemany("INSERT OR IGNORE INTO pool VALUES (?, ?, ?, ?, ?)", edit["rows"])
        again = [(runs, best, topic, document) for topic, document, _, runs, best, _ in edit.get("again", ())]
        more = "UPDATE pool SET runs = max(runs, ?), best = min(best, ?) WHERE topic = ? AND document = ?"
        connection.executemany(more, again)
    elif edit["kind"] == "found":
        unit = (edit["topic"], edit["document"])
        connection.execute("INSERT OR IGNORE INTO pool VALUES (?, ?, ?, 0, 0)", (*unit, edit["position"]))
        connection.execute("INSERT OR IGNORE INTO assignments VALUES (?, ?, ?)", (*unit, edit["name"]))
    elif edit["kind"] == "order":
        places = [(position, topic, document) for topic, document, position in edit["rows"]]
        connection.executemany("UPDATE pool SET position = ? WHERE topic = ? AND document = ?", places)
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


def add_found(store: Store, key: Key) -> None:
    """Add a document that an assessor found outside of the pool: theirs to judge, and counted apart."""
    query = "SELECT coalesce(max(position), -1) + 1 FROM pool WHERE topic = ?"
    (position,) = store.rows(query, (key.topic,)).fetchone()
    if not in_pool(store, Key(ADJUDICATED, *key[1:])):
        name, topic, document = key
        found = {"kind": "found", "name": name, "topic": topic, "document": document, "position": position}
        record(store, found, actor=name)
    elif not in_pool(store, key):
        raise AssessError(f"{key.document} is in the pool, and somebody else's to judge")


def found_units(store: Store) -> dict[Unit, str]:
    """Return the documents that assessors found outside of the pool: (topic, document) → who."""
    return {(edit["topic"], edit["document"]): edit["name"] for _, edit in store.project_events("found")}


def found_alone(store: Store) -> int:
    """Return how many documents to judge no run returned: assessors found them."""
    query = "SELECT count(*) FROM pool WHERE topic = ? AND document = ? AND NOT runs"
    return sum(store.rows(query, unit).fetchone()[0] for unit in found_units(store))


def put_in_order(store: Store, units: Sequence[Unit], by: str, *, seed: int | None = None, actor: str) -> None:
    """Have the documents of every topic judged in this order; the log keeps how it came about, and the places."""
    places: dict[str, int] = {}
    rows = []
    for topic, document in units:
        places[topic] = places.get(topic, -1) + 1
        rows.append([topic, document, places[topic]])
    record(store, {"kind": "order", "by": by, "seed": seed, "rows": rows}, actor=actor)


def owners(store: Store, topic: str | None = None) -> list[Row]:
    """Return what is assigned to whom, of all topics or of one; what nobody is assigned is everybody's."""
    where, values = ("WHERE topic = ?", (topic,)) if topic is not None else ("", ())
    query = f"SELECT topic, document, assessor FROM assignments {where} ORDER BY 1, 2, 3"  # noqa: S608  two fixed strings
    return [tuple(row) for row in store.rows(query, values)]


def assign(store: Store, units: Sequence[Unit], to: Collection[str], *, how: str, actor: str) -> int:
    """Give topics or documents to assessors, and return how many assignments changed.

    `units` are pairs of a topic and a document, '' for all documents of the topic. The work is given to ``only`` the
    assessors in `to`, to them ``also``, or to ``everyone``. What everybody judges is theirs already.
    """
    if how not in HOWS or (how == EVERYONE) == bool(to):
        raise AssessError("expected assessors to give the work to, or that it is everyone's")
    topics = {topic for topic, _ in units}
    before = {row for topic in topics for row in owners(store, topic)}
    after = before
    for topic, document in units:
        here = {row for row in after if row[0] == topic and (not document or row[1] in ("", document))}
        given = {(topic, document, name) for name in to}
        if how != ALSO:
            whole = {name for _, one, name in here if not one} if document else set()
            rest = [row.document for row in pool(store, topic=topic) if row.document != document] if whole else []
            others = {(topic, one, name) for one in rest for name in whole}  # they keep the rest of their topic
            after = (after - here) | others | given
        elif here:
            after = after | given
    if how == ONLY:
        taken = before - after
        query = "SELECT topic, document, assessor FROM judgements WHERE topic = ?"
        begun = {(topic, document, name) for one in topics for topic, document, name in store.rows(query, (one,))}
        after = after | {row for row in begun if {row, (row[0], "", row[2])} & taken}
    remove, add = sorted(before - after), sorted(after - before)
    if remove or add:
        record(store, {"kind": "reassign", "remove": remove, "add": add}, actor=actor)
    return len(remove) + len(add)


@dataclass(frozen=True)
class KnownAnswer:
    """What somebody first said of a document whose answer is known."""

    assessor: str
    topic: str
    document: str
    use: str
    at: str
    right: bool  # whether they found it relevant, or not, as the known answer does
    jaccard: float  # characters that both highlighted, as a share of those that either did


def known_units(store: Store) -> dict[Unit, str]:
    """Return the documents with a known answer: (topic, document) → ``training`` or ``control``."""
    found: dict[Unit, str] = {}
    for _, edit in store.project_events("known"):
        for topic, document, use in edit["rows"]:
            found.pop((topic, document), None)
            if use:
                found[topic, document] = use
    return found


def mark_known(store: Store, units: Sequence[Unit], use: str, *, actor: str) -> None:
    """Use decided documents for training or as controls; '' makes them ordinary again."""
    if use not in (TRAINING, CONTROL, ""):
        raise AssessError(f"expected {TRAINING} or {CONTROL}, found {use!r}")
    for unit in units:
        if use and not store.judgement(Key(ADJUDICATED, *unit)).judgement.finished:
            raise AssessError(f"the answer of {unit[1]} for topic {unit[0]} is not known yet; decide it first")
    record(store, {"kind": "known", "rows": [[*unit, use] for unit in units]}, actor=actor)
    give_known(store, actor=actor)


def give_known(store: Store, *, actor: str) -> None:
    """Give training documents to everybody, and control documents to all who judge their topic."""
    known = roles(store)
    judges = {name for name in people(store) if known.get(name) in (None, "assessor")}
    for unit, use in known_units(store).items():
        rows = owners(store, unit[0])
        judging = {name for _, _, name in rows} & judges
        have = {name for _, document, name in rows if document in ("", unit[1])}
        missing = (judges if use == TRAINING else judging) - have
        if have and missing:  # what is assigned to nobody is everybody's
            assign(store, [unit], missing, how=ALSO, actor=actor)


def answers(store: Store) -> list[KnownAnswer]:
    """Return what everybody first said of the documents with known answers, in the order in which it was said.

    Those whose judgements the answer was made of are left out: they would agree with themselves.
    """
    found = []
    for unit, use in known_units(store).items():
        answer = Key(ADJUDICATED, *unit)
        decided = store.judgement(answer).judgement
        made = {name for source in store.sources(answer) for name in source.get("of", ())}  # it says what they said
        for key in store.judged(None, *unit):
            first = first_finished(store, key) if key.assessor not in (ADJUDICATED, *made) else None
            if first is not None and decided.finished:
                at, judgement = first
                right = judgement.status == decided.status
                share = jaccard([judgement.highlights, decided.highlights])
                found.append(KnownAnswer(*key, use, at, right, share))
    return sorted(found, key=lambda one: one.at)


def first_finished(store: Store, key: Key) -> tuple[str, Judgement] | None:
    """Return when a judgement was first finished, and how it stood then; None when it never was."""
    return next(((at, judgement) for at, _, _, judgement in store.history(key) if judgement.finished), None)


class Drift(NamedTuple):
    """How somebody found known answers, in the order of time."""

    assessor: str
    answers: tuple[KnownAnswer, ...]
    right: int  # documents with the right verdict
    mean: float  # mean agreement of the highlighted text
    change: float | None  # mean agreement in the later half less that in the earlier; None with fewer than four answers


def drifts(found: Sequence[KnownAnswer]) -> list[Drift]:
    """Return how each assessor found the answers, by name."""
    rows = []
    for name in sorted({one.assessor for one in found}):
        own = tuple(one for one in found if one.assessor == name)
        shares, half = [one.jaccard for one in own], len(own) // 2
        change = (sum(shares[-half:]) - sum(shares[:half])) / half if half > 1 else None
        rows.append(Drift(name, own, sum(one.right for one in own), sum(shares) / len(own), change))
    return rows
