"""From several judgements of a document to one: accept one, their union, their intersection, a majority; or edit it.

What is decided is the judgement of an assessor of its own, ``adjudicated``; every step is in the log with the name of
whoever took it and of whose judgements it used. What nobody disagrees about can be decided at once.

A gold from a split pool merges judgements. For every topic and document: the decision of the adjudication where there
is one, the single judgement where there is one, else what a rule makes of several. Where the rule leaves nothing of
judgements that found something, or the lead has not judged, the document is *open*: it stays out of the gold, and is
counted.

The documents that several finished are kept in memory and brought up to date by what the log says has changed. Only the
first look reads all judgements; with 500 assessors and 100 topics that takes some seconds, and the server does it when
it starts.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.assessment.agreement import Agreement, by_unit, compare_sides, finished, summed
from focuseval.assessment.plan import IMPORTED, PERSON, Unit, assessors, known_units, machines, roles
from focuseval.assessment.rules import FINISHED, NOT_RELEVANT, RELEVANT, Edit, Judgement, as_dict
from focuseval.assessment.rules import OPEN as IN_PROGRESS
from focuseval.assessment.store import ADJUDICATED, Key, Request, Saved, Store
from focuseval.collection.rendering import Document, Extents
from focuseval.data import highlights as spans
from focuseval.data.gold import Gold
from focuseval.errors import AssessError

RULES = ("one", "union", "intersection")  # how an adjudicator decides
COMBINED = (*RULES, "majority")
MERGES = ("lead", "majority", "union", "intersection")
MERGED = "merged"  # the assessor that a merged judgement has, and the attribute of a gold's topic that counts its kinds
DECIDED, SINGLE, OPEN = "decided", "single", "open"
STALE, UNDECIDED = "stale", "undecided"


def combine(judgements: Sequence[Judgement], rule: str) -> Judgement:
    """Return the finished judgement that a rule makes of several.

    An entry point on which all agree is kept; otherwise it is the first highlighted character again. So are grades that
    nobody contradicts. ``majority`` keeps what more than half of the assessors highlighted.

    >>> combine([Judgement(((0, 9),)), Judgement(((4, 12),))], "intersection").highlights
    ((4, 9),)

    Raises AssessError where a rule leaves nothing of judgements that found something: that is no agreement that nothing
    is relevant.
    """
    if rule not in COMBINED or not judgements or (rule == "one" and len(judgements) != 1):
        raise AssessError(f"expected one of {', '.join(COMBINED)} and the judgements it needs, found {rule!r}")
    if any(one.found and not one.highlights for one in judgements):  # grades of elements, of which no rule makes one
        if len({tuple(sorted(one.grades.items())) for one in judgements}) > 1:
            raise AssessError("grades that differ are not merged; accept one, or edit the decision")
        return Judgement(status=RELEVANT, grades=judgements[0].grades)
    every = [judgement.highlights for judgement in judgements]
    least = {"union": 1, "majority": len(every) // 2 + 1}.get(rule, len(every))
    highlights = spans.shared_by(every, least)
    if highlights:
        points = {judgement.entry_point for judgement in judgements}
        grades: dict[str, set[str]] = {}
        for path, grade in (item for judgement in judgements for item in judgement.grades.items()):
            grades.setdefault(path, set()).add(grade)
        common = {path: values.pop() for path, values in grades.items() if len(values) == 1}
        return Judgement(highlights, points.pop() if len(points) == 1 else None, RELEVANT, grades=common)
    relevant = sum(map(bool, every))
    if relevant and (2 * relevant >= len(every) if rule == "majority" else relevant > 1):
        what = f"{relevant} of {len(judgements)} found the document relevant, and their {rule} is empty"
        raise AssessError(f"{what}; accept one, take the union, or edit the decision")
    return Judgement(status=NOT_RELEVANT)


def finished_sides(store: Store, topic: str, document: str) -> list[Saved]:
    """Return what every assessor says of a document, finished judgements only."""
    judged = store.judgements(topic=topic, document=document)
    return [saved for saved in judged if saved.judgement.finished and saved.key.assessor != ADJUDICATED]


def decide(
    store: Store,
    page: Document,
    topic: str,
    rule: str,
    of: Sequence[str],
    *,
    version: int,
    token: str,
    actor: str,
    draft: bool = False,
) -> Saved:
    """Write the decision on a document: ``one``, ``union`` or ``intersection`` of the judgements of some assessors.

    A `draft` is open still: what an adjudicator starts from to edit it.
    """
    chosen = [saved for saved in finished_sides(store, topic, page.id) if saved.key.assessor in of]
    if len(chosen) != len(set(of)):
        raise AssessError("not all of these assessors have finished the document")
    stale = [saved.key.assessor for saved in chosen if saved.text_sha256 != page.sha256]
    if stale:
        raise AssessError(f"{stale[0]} judged another text of {page.id}; have it re-anchored first")
    edit = _decision(chosen, rule, {"rule": rule, "of": sorted(of)})
    if draft:
        edit["judgement"] |= {"status": IN_PROGRESS}
    return store.edit(Key(ADJUDICATED, topic, page.id), page, edit, version=version, token=token, actor=actor)


def _decision(chosen: Sequence[Saved], rule: str, source: Edit) -> Edit:
    """Return the edit that writes what a rule makes of judgements."""
    judgement = combine([saved.judgement for saved in chosen], rule)
    return {"kind": "replace", "judgement": as_dict(judgement), "source": source}


def stale_decisions(store: Store) -> dict[Unit, tuple[str, ...]]:
    """Return the decisions that are older than a judgement under them: (topic, document) → whose changed since."""
    units = (key[1:] for key in store.judged(ADJUDICATED))
    return {unit: newer for unit in units if (newer := changed_since(store, unit))}


def changed_since(store: Store, unit: Unit) -> tuple[str, ...]:
    """Return whose judgements make a decision stale; a known answer was decided before it was judged, on purpose."""
    return () if unit in known_units(store) else _newer(store, unit)


def _newer(store: Store, unit: Unit) -> tuple[str, ...]:
    """Return whose judgements under a decision are newer than it; of one made by hand alone, anybody's count."""
    key = Key(ADJUDICATED, *unit)
    decided = store.last_event(key)
    under = set((store.sources(key) or [{}])[-1].get("of", ()))
    others = [side for side in store.judged(None, *unit) if side != key and (not under or side.assessor in under)]
    return tuple(side.assessor for side in others if store.last_event(side) > decided)


def likeness(judgements: Sequence[Judgement]) -> float:
    """Return what all marked as a share of what any did: characters, or relevant elements with their grades."""
    if not any(one.found and not one.highlights for one in judgements):
        return spans.jaccard([one.highlights for one in judgements])
    every = [{(path, grade) for path, grade in one.grades.items() if grade[0] != "0"} for one in judgements]
    return len(set.intersection(*every)) / len(set.union(*every))


def agree(sides: Sequence[Saved], least: float = 1.0) -> bool:
    """Whether several judgements of a text agree: verdicts, a share `least` of the highlights, entry points."""
    if len(sides) < 2:
        return False
    same_text = len({saved.text_sha256 for saved in sides}) == 1
    same_verdict = len({saved.judgement.status for saved in sides}) == 1
    same_entry = least < 1 or len({saved.judgement.entry_point for saved in sides}) == 1
    least = least if any(saved.judgement.highlights for saved in sides) else 1.0  # grades that differ are not merged
    return same_text and same_verdict and same_entry and likeness([saved.judgement for saved in sides]) >= least


def accept_agreed(
    store: Store, page: Callable[[str], Document], rule: str, least: float, *, topics: Collection[str], actor: str
) -> int:
    """Decide, by a rule, all undecided documents on which people agree as far as `least` says; return how many."""
    if rule not in ("union", "intersection") or not 0.5 <= least <= 1:
        raise AssessError("expected union or intersection, and an agreement from 0.5 to 1")
    found = finished(store, by_people=True)
    decisions = {saved.key[1:]: saved for saved in store.judgements(ADJUDICATED)}
    requests = []
    for unit, each in by_unit(found).items():
        decision = decisions.get(unit, Saved(Key(ADJUDICATED, *unit)))
        if unit[0] in topics and not decision.judgement.finished and agree(each, least):
            text = page(unit[1])
            if text.sha256 == each[0].text_sha256:
                source = {"rule": rule, "of": sorted(saved.key.assessor for saved in each), "least": least}
                edit = _decision(each, rule, source)
                requests.append(Request(decision.key, text, edit, decision.version, actor))
    store.edit_all(requests)  # all of them or none
    return len(requests)


@dataclass(frozen=True)
class MergedJudgement:
    """What became of one document: a judgement, unless it is open; how, and from whose judgements."""

    saved: Saved | None
    kind: str
    of: tuple[Saved, ...]


def merge_judgements(
    store: Store, rule: str, *, lead: str | None = None, imported: bool = False, include: Collection[str] = ()
) -> dict[Unit, MergedJudgement]:
    """Return (topic, document) → what became of it under one of `MERGES`.

    Under ``lead`` the judgement of `lead` counts; without it that of whoever has that role. Imported assessors take
    part with `imported` or when they are named in `include`; a language model only when it is named there.
    """
    if rule not in MERGES:
        raise AssessError(f"expected --merge {', '.join(MERGES)}, found {rule!r}")
    known, named = assessors(store), {*include, *([lead] if lead else [])}
    if unknown := sorted({*include} - {one.name for one in known}):
        raise AssessError(f"expected one of {', '.join(one.name for one in known)} to include, found {unknown[0]!r}")
    leads = {lead} if lead else {name for name, role in roles(store).items() if role == "lead"}
    if rule == "lead" and not leads:
        raise AssessError("expected a lead, found none in the project; name one with --assessor")
    found = finished(store)
    origins = (PERSON, IMPORTED) if imported else (PERSON,)
    part = [one.name for one in known if one.origin in origins or one.name in named]
    units = by_unit({name: found.get(name, {}) for name in part})
    decided = {saved.key[1:]: saved for saved in store.judgements(ADJUDICATED) if saved.judgement.finished}
    return {unit: _merged(decided.get(unit), units.get(unit, []), rule, leads) for unit in sorted({*units, *decided})}


def _merged(decision: Saved | None, sides: Sequence[Saved], rule: str, leads: Collection[str]) -> MergedJudgement:
    if decision is not None:
        return MergedJudgement(decision, DECIDED, (decision,))
    if len(sides) == 1:
        return MergedJudgement(sides[0], SINGLE, tuple(sides))
    chosen = [saved for saved in sides if saved.key.assessor in leads] if rule == "lead" else sides
    if len({saved.text_sha256 for saved in sides}) > 1:
        names = " and ".join(saved.key.assessor for saved in sides[:2])
        raise AssessError(f"{names} judged different texts of {sides[0].key.document}; have it re-anchored first")
    try:
        judgement = combine([saved.judgement for saved in chosen], "one" if rule == "lead" else rule)
    except AssessError:
        return MergedJudgement(None, OPEN, tuple(sides))
    key = Key(MERGED, *sides[0].key[1:])
    return MergedJudgement(replace(chosen[0], key=key, judgement=judgement), rule, tuple(chosen))


def facts(merged: Mapping[Unit, MergedJudgement], labels: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return, for every topic, whose judgements are in it, and how many of each kind."""
    topics: dict[str, list[MergedJudgement]] = {}
    for (topic, _), one in merged.items():
        topics.setdefault(topic, []).append(one)
    found = {}
    for topic, here in topics.items():
        names = sorted({labels.get(saved.key.assessor, saved.key.assessor) for one in here for saved in one.of})
        counts = Counter(one.kind for one in here)
        found[topic] = {"assessor": ", ".join(names), MERGED: " ".join(f"{kind}={n}" for kind, n in counts.items())}
    return found


def merged_counts(gold: Gold) -> dict[str, int]:
    """Return how many judgements of a merged gold were decided, single, merged, or are open; {} for another gold."""
    counts: Counter[str] = Counter()
    for attributes in gold.attributes.values():
        for part in attributes.get(MERGED, "").split():
            kind, _, number = part.partition("=")
            counts[kind] += int(number)
    return {kind: counts[kind] for kind in (DECIDED, SINGLE, *MERGES, OPEN) if counts[kind]}


def counts_text(counts: Mapping[str, int]) -> str:
    """Return one line: how the judgements of a gold came about.

    >>> counts_text({"decided": 2, "single": 10, "union": 3})
    'judged documents: 2 decided, 10 single, 3 by union'
    """
    words = {OPEN: "open, and left out", DECIDED: DECIDED, SINGLE: SINGLE}
    return "judged documents: " + ", ".join(f"{n} {words.get(kind, f'by {kind}')}" for kind, n in counts.items())


class SharedDocument(NamedTuple):
    """A document that several finished for a topic: what people say of it; models and imports are in `pairs` alone."""

    topic: str
    document: str
    verdicts: tuple[bool, ...]  # whether each of them found it relevant
    jaccard: float  # what all marked as a share of what any did
    newest: str  # when the last of the judgements was made
    agreed: bool  # whether they agree to the character
    status: str  # the status of the decision, ``undecided`` where there is none
    stale: tuple[str, ...]  # whose judgement has changed since it was decided
    people: tuple[str, ...]  # who finished it, people alone, in the order of `verdicts`
    pairs: NDArray[np.void]  # every two of the judgements, compared: those of models and imports, too

    @property
    def disagreed(self) -> bool:
        """Whether somebody found it relevant, somebody else did not, and nobody has decided."""
        return len(set(self.verdicts)) > 1 and self.status not in FINISHED

    @property
    def state(self) -> str:
        """Whether it is decided, and not stale."""
        return STALE if self.stale else DECIDED if self.status in FINISHED else UNDECIDED


class SharedDocuments:
    """What several finished, of a whole project."""

    def __init__(self, store: Store, extents: Callable[[str], Extents]) -> None:
        self._store, self._extents, self._lock, self._seq = store, extents, threading.Lock(), 0
        self._units: dict[Unit, SharedDocument] = {}
        self._names: dict[str, int] = {}

    def documents(self) -> list[SharedDocument]:
        """Return those that several people finished, by topic and document."""
        with self._lock:
            self._refresh()
            known = known_units(self._store)  # an answer that is known is never stale, whenever it became known
            found = [one for one in self._units.values() if len(one.people) > 1]
            return [one._replace(stale=()) if one[:2] in known else one for one in found]

    def agreements(self, *, resamples: int = 0) -> list[Agreement]:
        """Return how far every two assessors agree who finished documents in common, by their names."""
        with self._lock:
            self._refresh()
            found, names = [one for one in self._units.values() if len(one.pairs)], list(self._names)
        pairs = summed([one.pairs for one in found], names, [one.topic for one in found], resamples=resamples)
        return sorted(pairs, key=lambda pair: (pair.left, pair.right))

    def _refresh(self) -> None:
        read = self._store.database.read()
        (last,) = read.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        changed = "SELECT DISTINCT topic, document FROM events WHERE seq > ? AND assessor != ''"
        units = {(topic, document) for topic, document in read.execute(changed, (self._seq,))}
        apart = machines(self._store)
        found = {unit: self._shared(unit, apart) for unit in units}
        fresh = {unit: known for unit, known in found.items() if known is not None}
        if fresh.keys() == found.keys() <= self._units.keys():
            self._units |= fresh  # each keeps its place
        else:
            kept = {unit: known for unit, known in self._units.items() if unit not in found}
            self._units = dict(sorted((kept | fresh).items()))
        self._seq = last

    def _shared(self, unit: Unit, apart: Collection[str]) -> SharedDocument | None:
        """Return a document as several finished it; None where they did not."""
        judged = self._store.judgements(topic=unit[0], document=unit[1])
        sides = [saved for saved in judged if saved.key.assessor != ADJUDICATED and saved.judgement.finished]
        if len(sides) < 2:
            return None
        places = [self._names.setdefault(saved.key.assessor, len(self._names)) for saved in sides]
        decided = next((saved.judgement.status for saved in judged if saved.key.assessor == ADJUDICATED), UNDECIDED)
        human = [saved for saved in sides if saved.key.assessor not in apart]
        verdicts = tuple(saved.judgement.found for saved in human)
        people = tuple(saved.key.assessor for saved in human)
        common, newest = likeness([saved.judgement for saved in human]), max((saved.at for saved in human), default="")
        stale = _newer(self._store, unit) if decided != UNDECIDED else ()
        pairs = compare_sides(sides, places, self._elements)
        return SharedDocument(*unit, verdicts, common, newest, agree(human), decided, stale, people, pairs)

    def _elements(self, document: str) -> Extents:
        """Return where the elements of a document are; none of one that the collection does not have any more."""
        try:
            return self._extents(document)
        except AssessError:
            return "", np.zeros(0, np.int64), np.zeros(0, np.int64)


class Period(NamedTuple):
    """Agreement on the documents that were finished by a second assessor in some span of time."""

    begins: str
    documents: int
    right: float  # share of documents on whose relevance all agree
    jaccard: float  # mean of what all highlighted as a share of what any did


def periods(found: Iterable[SharedDocument]) -> list[Period]:
    """Return how far assessors agree as time goes by: documents that several finished, in equal parts by time."""
    documents = sorted((one.newest, len(set(one.verdicts)) == 1, one.jaccard) for one in found)
    curve = []
    for part in np.array_split(np.arange(len(documents)), min(12, len(documents)) or 1):
        if len(part):
            begins, alike, shares = zip(*(documents[k] for k in part), strict=True)
            curve.append(Period(begins[0], len(part), float(np.mean(alike)), float(np.mean(shares))))
    return curve
