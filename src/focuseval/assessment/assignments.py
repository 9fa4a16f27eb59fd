"""Who is to judge what, changed a topic or a document at a time; what somebody has begun stays theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.assessment.plan import pool, record
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from focuseval.assessment.store import Store

ONLY, ALSO, EVERYONE = "only", "also", "everyone"
HOWS = (ONLY, ALSO, EVERYONE)
Row = tuple[str, str, str]
"""A topic, a document ('' for the whole topic), and an assessor."""


def owners(store: Store, topic: str | None = None) -> list[Row]:
    """Return what is assigned to whom, of all topics or of one; what nobody is assigned is everybody's."""
    where, values = ("WHERE topic = ?", (topic,)) if topic is not None else ("", ())
    rows = store.database.read().execute(
        f"SELECT topic, document, assessor FROM assignments {where} ORDER BY 1, 2, 3",  # noqa: S608  two fixed strings
        values,
    )
    return [tuple(row) for row in rows]


def assign(store: Store, units: Sequence[tuple[str, str]], to: Collection[str], *, how: str, actor: str) -> int:
    """Give topics or documents to assessors, and return how many assignments changed.

    Parameters
    ----------
    store, units
        The project; pairs of a topic and a document, '' for all documents of the topic.
    to, how
        The assessors; ``only`` they, they ``also``, or ``everyone``. What everybody judges is theirs already.
    actor
        Whose name stands in the log.
    """
    if how not in HOWS or (how == EVERYONE) == bool(to):
        raise AssessError("expected assessors to give the work to, or that it is everyone's")
    topics = {topic for topic, _ in units}
    before = [row for topic in topics for row in owners(store, topic)]
    after = set(before)
    for topic, document in units:
        after = _after(store, after, (topic, document), to, how)
    if how == ONLY:
        taken = {row for row in before if row not in after}
        after |= {row for row in _begun(store, topics) if _owned(row, taken)}
    remove, add = sorted(set(before) - after), sorted(after - set(before))
    if remove or add:
        record(store, {"kind": "reassign", "remove": remove, "add": add}, actor=actor)
    return len(remove) + len(add)


def _after(store: Store, rows: set[Row], unit: tuple[str, str], to: Collection[str], how: str) -> set[Row]:
    """Return all assignments after one unit was given away."""
    topic, document = unit
    here = {row for row in rows if row[0] == topic and (not document or row[1] in ("", document))}
    if how == ALSO:
        return rows | {(topic, document, name) for name in to} if here else rows
    others: set[Row] = set()
    if document:  # whoever has the whole topic keeps the other documents of it
        whole = {name for _, one, name in here if not one}
        rest = [row.document for row in pool(store, topic=topic) if row.document != document] if whole else []
        others = {(topic, one, name) for one in rest for name in whole}
    return (rows - here) | others | {(topic, document, name) for name in to}


def _begun(store: Store, topics: Collection[str]) -> list[Row]:
    """Return what somebody has begun of some topics."""
    begun = "SELECT topic, document, assessor FROM judgements WHERE topic = ?"
    return [tuple(row) for topic in topics for row in store.database.read().execute(begun, (topic,))]


def _owned(row: Row, taken: set[Row]) -> bool:
    """Whether a document that was begun has been taken from its assessor, alone or with its topic."""
    topic, document, name = row
    return (topic, document, name) in taken or (topic, "", name) in taken
