"""From several judgements to one: accept one assessor's, their union, their intersection; or edit the result.

What is decided is the judgement of an assessor of its own, ``adjudicated``; every step is in the log with the name
of whoever took it and of whose judgements it used.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from focuseval.assessment.known import known_units
from focuseval.assessment.rules import NOT_RELEVANT, RELEVANT, Judgement, as_dict
from focuseval.assessment.store import ADJUDICATED, Key
from focuseval.data import highlights as spans
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from focuseval.assessment.store import Saved, Store
    from focuseval.collection.rendering import Document

RULES = ("one", "union", "intersection")
"""How an adjudicator decides."""
COMBINED = (*RULES, "majority")


def combine(judgements: Sequence[Judgement], rule: str) -> Judgement:
    """Return the finished judgement that a rule makes of several.

    An entry point on which all agree is kept; otherwise it is the first highlighted character again. ``majority`` keeps
    what more than half of the assessors highlighted.

    >>> combine([Judgement(((0, 9),)), Judgement(((4, 12),))], "intersection").highlights
    ((4, 9),)

    Raises
    ------
    AssessError
        When a rule leaves nothing of judgements that found something: that is no agreement that nothing is relevant.
    """
    if rule not in COMBINED or not judgements or (rule == "one" and len(judgements) != 1):
        raise AssessError(f"expected one of {', '.join(COMBINED)} and the judgements it needs, found {rule!r}")
    highlights = _combined([judgement.highlights for judgement in judgements], rule)
    relevant = sum(bool(judgement.highlights) for judgement in judgements)
    if not highlights and _is_open(relevant, len(judgements), rule):
        raise AssessError(
            f"{relevant} of {len(judgements)} found the document relevant, and their {rule} is empty; "
            "accept one, take the union, or edit the decision"
        )
    points = {judgement.entry_point for judgement in judgements}
    bep = points.pop() if len(points) == 1 and highlights else None
    grades = _common([judgement.grades for judgement in judgements]) if highlights else {}
    return Judgement(highlights, bep, RELEVANT if highlights else NOT_RELEVANT, grades=grades)


def _combined(every: Sequence[spans.Spans], rule: str) -> spans.Spans:
    if rule == "union":
        return spans.merge(span for one in every for span in one)
    if rule == "majority":
        return spans.shared_by(every, len(every) // 2 + 1)
    return reduce(spans.intersect, every)


def _is_open(relevant: int, judges: int, rule: str) -> bool:
    """Whether an empty result contradicts those who found something: two of them, or half for a majority."""
    return 2 * relevant >= judges and relevant > 0 if rule == "majority" else relevant > 1


def sides(store: Store, topic: str, document: str) -> list[Saved]:
    """Return what every assessor says of a document, finished judgements only."""
    keys = [key for key in store.judged_of(topic, document) if key.assessor != ADJUDICATED]
    return [saved for saved in map(store.judgement, keys) if saved.judgement.finished]


def decide(
    store: Store, page: Document, topic: str, rule: str, of: Sequence[str], *, version: int, token: str, actor: str
) -> Saved:
    """Write the adjudicated judgement of a document.

    Parameters
    ----------
    store, page, topic
        Where, which document, for which topic.
    rule, of
        ``one``, ``union`` or ``intersection`` of the judgements of these assessors.
    version, token, actor
        As for any edit; the actor is the adjudicator.
    """
    chosen = [saved for saved in sides(store, topic, page.id) if saved.key.assessor in of]
    if len(chosen) != len(set(of)):
        raise AssessError("not all of these assessors have finished the document")
    stale = [saved.key.assessor for saved in chosen if saved.text_sha256 != page.sha256]
    if stale:
        raise AssessError(f"{stale[0]} judged another text of {page.id}; have it re-anchored first")
    judgement = combine([saved.judgement for saved in chosen], rule)
    source = {"rule": rule, "of": sorted(of)}
    edit = {"kind": "replace", "judgement": as_dict(judgement), "source": source}
    return store.edit(Key(ADJUDICATED, topic, page.id), page, edit, version=version, token=token, actor=actor)


def stale_decisions(store: Store, topic: str | None = None) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the decisions that are older than a judgement under them: (topic, document) → whose changed since.

    A document whose answer is known, for training or as a control, was decided before it was judged on purpose.
    """
    known = known_units(store)
    units = (key[1:] for key in store.judged(ADJUDICATED) if topic in (None, key.topic))
    changed = {unit: changed_since(store, unit) for unit in units if unit not in known}
    return {unit: newer for unit, newer in changed.items() if newer}


def changed_since(store: Store, unit: tuple[str, str]) -> tuple[str, ...]:
    """Return whose judgements under a decision are newer than it."""
    key = Key(ADJUDICATED, *unit)
    decided, under = store.last_event(key), _under(store, key)
    sides = [side for side in store.judged_of(*unit) if side != key and (not under or side.assessor in under)]
    return tuple(side.assessor for side in sides if store.last_event(side) > decided)


def _under(store: Store, key: Key) -> set[str]:
    """Return whose judgements a decision was last made from; empty when it was made by hand alone."""
    sources = [edit.get("source") for edit in store.edits(key) if edit["kind"] == "replace"]
    last = sources[-1] if sources else None
    return set(last["of"]) if isinstance(last, dict) and "of" in last else set()


def _common(grades: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the grades that nobody contradicts."""
    said: dict[str, set[str]] = {}
    for one in grades:
        for path, grade in one.items():
            said.setdefault(path, set()).add(grade)
    return {path: values.pop() for path, values in said.items() if len(values) == 1}
