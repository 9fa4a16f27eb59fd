"""The documents that several assessors finished: how far they agree, and what was decided.

Kept in memory and brought up to date by what the log says has changed. Only the first look reads all judgements; with
500 assessors and 100 topics that takes some seconds, and the server does it when it starts.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focuseval.assessment.adjudication import agree, changed_since
from focuseval.assessment.agreement import Agreement, alpha_of, compare_sides, summed
from focuseval.assessment.plan import Unit, people
from focuseval.assessment.rules import FINISHED
from focuseval.assessment.store import ADJUDICATED, Store
from focuseval.data.highlights import jaccard
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from numpy.typing import NDArray

    from focuseval.collection.rendering import Extents


PERIODS = 12
"""Points of a curve over time, at most."""


class SharedDocument(NamedTuple):
    """A document that several finished for a topic."""

    topic: str
    document: str
    verdicts: tuple[bool, ...]
    """Whether each of them found it relevant."""
    jaccard: float
    """What all highlighted as a share of what any did."""
    newest: str
    """When the last of the judgements was made."""
    agreed: bool
    """Whether several people judged it, and agree to the character."""
    decided: str
    """The status of the decision, '' where there is none."""
    stale: tuple[str, ...]
    """Whose judgement has changed since it was decided."""
    pairs: NDArray[np.void]
    """Every two of the judgements, compared."""

    @property
    def is_decided(self) -> bool:
        """Whether a decision was made and finished."""
        return self.decided in FINISHED


class SharedDocuments:
    """What several finished, of a whole project."""

    def __init__(self, store: Store, extents: Callable[[str], Extents]) -> None:
        self._store, self._extents, self._lock = store, extents, threading.Lock()
        self._seq = 0
        self._units: dict[Unit, SharedDocument] = {}
        self._names: dict[str, int] = {}

    def documents(self) -> list[SharedDocument]:
        """Return all of them, by topic and document."""
        with self._lock:
            self._refresh()
            return list(self._units.values())

    def agreements(self) -> list[Agreement]:
        """Return how far every two assessors agree who finished documents in common, by their names."""
        pairs = summed([one.pairs for one in self.documents()], list(self._names))
        return sorted(pairs, key=lambda pair: (pair.left, pair.right))

    def _refresh(self) -> None:
        read = self._store.database.read()
        (last,) = read.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        changed = read.execute(
            "SELECT DISTINCT topic, document FROM events WHERE seq > ? AND assessor != ''", (self._seq,)
        )
        units = {(topic, document) for topic, document in changed}
        persons = set(people(self._store))
        found = {unit: self._shared(unit, persons) for unit in units}
        fresh = {unit: known for unit, known in found.items() if known is not None}
        if fresh.keys() == found.keys() <= self._units.keys():
            self._units |= fresh  # each keeps its place
        else:
            kept = {unit: known for unit, known in self._units.items() if unit not in found}
            self._units = dict(sorted((kept | fresh).items()))
        self._seq = last

    def _shared(self, unit: Unit, persons: Collection[str]) -> SharedDocument | None:
        """Return a document as several finished it; None where they did not."""
        judged = self._store.judgements(topic=unit[0], document=unit[1])
        sides = [saved for saved in judged if saved.key.assessor != ADJUDICATED and saved.judgement.finished]
        if len(sides) < 2:
            return None
        places = [self._names.setdefault(saved.key.assessor, len(self._names)) for saved in sides]
        decided = next((saved.judgement.status for saved in judged if saved.key.assessor == ADJUDICATED), "")
        human = [saved for saved in sides if saved.key.assessor in persons]
        return SharedDocument(
            *unit,
            tuple(bool(saved.judgement.highlights) for saved in sides),
            jaccard([saved.judgement.highlights for saved in sides]),
            max(saved.at for saved in sides),
            len(human) > 1 and agree(human),
            decided,
            changed_since(self._store, unit) if decided else (),
            compare_sides(sides, places, self._elements),
        )

    def _elements(self, document: str) -> Extents:
        """Return where the elements of a document are; none of one that the collection does not have any more."""
        try:
            return self._extents(document)
        except AssessError:
            return "", np.zeros(0, np.int64), np.zeros(0, np.int64)


def alpha(found: Iterable[SharedDocument]) -> float:
    """Return Krippendorff's α of everybody, relevant or not."""
    return alpha_of(one.verdicts for one in found)


@dataclass(frozen=True)
class Period:
    """Agreement on the documents that were finished by a second assessor in some span of time."""

    begins: str
    documents: int
    right: float
    """Share of documents on whose relevance all agree."""
    jaccard: float
    """Mean of what all highlighted as a share of what any did."""


def periods(found: Iterable[SharedDocument]) -> list[Period]:
    """Return how far assessors agree as time goes by: documents that several finished, in equal parts by time."""
    documents = sorted((one.newest, len(set(one.verdicts)) == 1, one.jaccard) for one in found)
    curve = []
    for part in np.array_split(np.arange(len(documents)), min(PERIODS, len(documents)) or 1):
        if len(part):
            begins, alike, shares = zip(*(documents[k] for k in part), strict=True)
            curve.append(Period(begins[0], len(part), float(np.mean(alike)), float(np.mean(shares))))
    return curve
