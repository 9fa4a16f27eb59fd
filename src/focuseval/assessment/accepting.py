"""Decide at once what nobody disagrees about, and leave the rest to the adjudicator."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from focuseval.assessment.adjudicate import combine
from focuseval.assessment.agreement import finished
from focuseval.assessment.plan import PERSON, assessors
from focuseval.assessment.rules import FINISHED, as_dict
from focuseval.assessment.store import ADJUDICATED, Key, Request
from focuseval.data import highlights as spans
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from focuseval.assessment.agreement import Finished, Unit
    from focuseval.assessment.store import Saved, Store
    from focuseval.collection.rendering import Document


def agreed(found: Finished, decided: Collection[Unit], least: float = 1.0) -> dict[Unit, list[Saved]]:
    """Return the undecided documents on which all who finished them agree: (topic, document) → the judgements.

    All found the document relevant, or all did not; what all highlighted is at least a share `least` of what any did,
    and where it is all of it the entry points are the same, too. One assessor alone agrees with nobody.
    """
    units: dict[Unit, list[Saved]] = {}
    for judged in found.values():
        for unit, saved in judged.items():
            if unit not in decided:
                units.setdefault(unit, []).append(saved)
    return {unit: sides for unit, sides in units.items() if len(sides) > 1 and agree(sides, least)}


def agree(sides: Sequence[Saved], least: float = 1.0) -> bool:
    """Whether judgements of one document agree, as `agreed` says."""
    same_text = len({saved.text_sha256 for saved in sides}) == 1
    same_verdict = len({saved.judgement.status for saved in sides}) == 1
    same_entry = least < 1 or len({saved.judgement.entry_point for saved in sides}) == 1
    return same_text and same_verdict and same_entry and spans.jaccard([s.judgement.highlights for s in sides]) >= least


def accept_agreed(
    store: Store, page: Callable[[str], Document], rule: str, least: float, *, topics: Collection[str], actor: str
) -> int:
    """Decide every undecided document of some topics on which all people agree, all of them or none; return how many.

    Parameters
    ----------
    store, page
        Where, and what gives a document's text.
    rule, least
        ``union`` or ``intersection`` of the judgements, where at least this share of the text is common to all.
    topics, actor
        The topics; the adjudicator.
    """
    if rule not in ("union", "intersection") or not 0.5 <= least <= 1:
        raise AssessError("expected union or intersection, and an agreement from 0.5 to 1")
    people = {one.name for one in assessors(store) if one.origin == PERSON}
    found = {name: judged for name, judged in finished(store).items() if name in people}
    requests = []
    for unit, sides in agreed(found, decided_units(store), least).items():
        text = page(unit[1]) if unit[0] in topics else None
        if text is not None and text.sha256 == sides[0].text_sha256:
            key = Key(ADJUDICATED, *unit)
            judgement = combine([saved.judgement for saved in sides], rule)
            source = {"rule": rule, "of": sorted(saved.key.assessor for saved in sides), "least": least}
            edit = {"kind": "replace", "judgement": as_dict(judgement), "source": source}
            requests.append(Request(key, text, edit, store.judgement(key).version, uuid.uuid4().hex, actor))
    store.edit_all(requests)
    return len(requests)


def decided_units(store: Store) -> set[Unit]:
    """Return the documents whose adjudication is finished."""
    rows = store.database.read().execute(
        "SELECT topic, document FROM judgements WHERE assessor = ? AND status IN (?, ?)", (ADJUDICATED, *FINISHED)
    )
    return {(topic, document) for topic, document in rows}
