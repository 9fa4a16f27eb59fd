"""Documents whose answer is known: for training, and as controls that show how somebody's judging drifts.

The known answer of a document is what the adjudication decided. A *training* document is everybody's, comes first, and
shows its answer as soon as it is finished. A *control* document is given to all who judge its topic, looks like any
other, and shows nothing; only the lead sees who found the answer, and when. What counts is the judgement as it was
first finished: whoever looks at the answer and corrects themselves has not found it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from focuseval.assessment.assignments import ALSO, assign, owners
from focuseval.assessment.history import Timeline
from focuseval.assessment.plan import PERSON, assessors, record, roles
from focuseval.assessment.store import ADJUDICATED, EVENTS_OF_KEY, Key
from focuseval.data.highlights import jaccard
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.assessment.rules import Judgement
    from focuseval.assessment.store import Store

TRAINING, CONTROL = "training", "control"
Unit = tuple[str, str]


@dataclass(frozen=True)
class KnownAnswer:
    """What somebody first said of a document whose answer is known."""

    assessor: str
    topic: str
    document: str
    use: str
    at: str
    right: bool
    """Whether they found it relevant, or not, as the known answer does."""
    jaccard: float
    """Characters that both highlighted, as a share of those that either did."""


def known_units(store: Store) -> dict[Unit, str]:
    """Return the documents with a known answer: (topic, document) → ``training`` or ``control``."""
    found: dict[Unit, str] = {}
    for _, told in store.project_events("known"):
        for topic, document, use in told["rows"]:
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
    people = {
        one.name for one in assessors(store) if one.origin == PERSON and known.get(one.name) in (None, "assessor")
    }
    for unit, use in known_units(store).items():
        rows = owners(store, unit[0])
        judging = {name for _, _, name in rows} & people
        have = {name for _, document, name in rows if document in ("", unit[1])}
        missing = (people if use == TRAINING else judging) - have
        if have and missing:  # what is assigned to nobody is everybody's
            assign(store, [unit], missing, how=ALSO, actor=actor)


def answers(store: Store) -> list[KnownAnswer]:
    """Return what everybody first said of the documents with known answers, in the order in which it was said."""
    found = []
    for unit, use in known_units(store).items():
        decided = store.judgement(Key(ADJUDICATED, *unit)).judgement
        for key in store.judged_of(*unit):
            first = first_finished(store, key) if key.assessor != ADJUDICATED else None
            if first is not None and decided.finished:
                at, judgement = first
                right = judgement.status == decided.status
                share = jaccard([judgement.highlights, decided.highlights])
                found.append(KnownAnswer(*key, use, at, right, share))
    return sorted(found, key=lambda one: one.at)


def first_finished(store: Store, key: Key) -> tuple[str, Judgement] | None:
    """Return when a judgement was first finished, and how it stood then; None when it never was."""
    rows = store.database.read().execute(
        f"SELECT at, edit FROM events {EVENTS_OF_KEY} ORDER BY version",  # noqa: S608  our own constant
        key,
    )
    line = Timeline()
    for at, edit in rows:
        judgement = line.step(json.loads(edit))
        if judgement.finished:
            return at, judgement
    return None


@dataclass(frozen=True)
class Drift:
    """How somebody found known answers over time: the share of agreement in the earlier and the later half."""

    assessor: str
    answers: tuple[KnownAnswer, ...]

    @property
    def right(self) -> int:
        """Documents with the right verdict."""
        return sum(one.right for one in self.answers)

    @property
    def mean(self) -> float:
        """Mean agreement of the highlighted text."""
        return _mean(self.answers)

    @property
    def change(self) -> float | None:
        """Mean agreement in the later half less that in the earlier; None with fewer than four answers."""
        half = len(self.answers) // 2
        return _mean(self.answers[-half:]) - _mean(self.answers[:half]) if half > 1 else None


def drifts(found: Sequence[KnownAnswer]) -> list[Drift]:
    """Return the answers of each assessor, by name."""
    names = sorted({one.assessor for one in found})
    return [Drift(name, tuple(one for one in found if one.assessor == name)) for name in names]


def _mean(found: Sequence[KnownAnswer]) -> float:
    return sum(one.jaccard for one in found) / len(found)
