"""One judgement for each document from what different assessors said: what a split of the pool needs to become a gold.

For every topic and document: the decision of the adjudication where there is one, the single judgement where there is
one, else what a rule makes of several. Where the rule leaves nothing of judgements that found something, or the lead
has not judged, the document is *open*: it stays out of the gold, and is counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from focuseval.assessment.adjudicate import combine
from focuseval.assessment.agreement import finished
from focuseval.assessment.plan import IMPORTED, PERSON, assessors, roles
from focuseval.assessment.store import ADJUDICATED, Key
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from focuseval.assessment.store import Saved, Store
    from focuseval.data.gold import Gold

MERGES = ("lead", "majority", "union", "intersection")
MERGED = "merged"
"""The assessor that a merged judgement has, and the attribute of a gold's topic that counts its kinds."""
DECIDED, SINGLE, OPEN = "decided", "single", "open"


@dataclass(frozen=True)
class MergedJudgement:
    """What became of one document: a judgement, unless it is open; how, and from whose judgements."""

    saved: Saved | None
    kind: str
    of: tuple[Saved, ...]


def merge_judgements(
    store: Store, rule: str, *, lead: str | None = None, imported: bool = False, include: Collection[str] = ()
) -> dict[tuple[str, str], MergedJudgement]:
    """Return (topic, document) → what became of it.

    Parameters
    ----------
    store, rule
        The project, and one of `MERGES`.
    lead
        Whose judgement counts under ``lead``; without it that of whoever has that role.
    imported
        Whether imported assessors take part.
    include
        Imported assessors and language models that take part; a model never does unless it is named.
    """
    if rule not in MERGES:
        raise AssessError(f"expected --merge {', '.join(MERGES)}, found {rule!r}")
    known, named = assessors(store), {*include, *([lead] if lead else [])}
    if unknown := sorted({*include} - {one.name for one in known}):
        raise AssessError(f"expected one of {', '.join(one.name for one in known)} to include, found {unknown[0]!r}")
    people = [
        one.name for one in known if one.origin == PERSON or one.name in named or (imported and one.origin == IMPORTED)
    ]
    leads = ({lead} if lead else _leads(store)) if rule == "lead" else set()
    found = finished(store)
    units: dict[tuple[str, str], list[Saved]] = {}
    for name in people:
        for unit, saved in found.get(name, {}).items():
            units.setdefault(unit, []).append(saved)
    decided = {saved.key[1:]: saved for saved in store.judgements(ADJUDICATED) if saved.judgement.finished}
    return {unit: _merged(decided.get(unit), units.get(unit, []), rule, leads) for unit in sorted({*units, *decided})}


def _leads(store: Store) -> set[str]:
    found = {name for name, role in roles(store).items() if role == "lead"}
    if not found:
        raise AssessError("expected a lead, found none in the project; name one with --assessor")
    return found


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


def facts(merged: Mapping[tuple[str, str], MergedJudgement], labels: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return, for every topic, whose judgements are in it, and how many of each kind."""
    found: dict[str, dict[str, str]] = {}
    for topic in dict.fromkeys(topic for topic, _ in merged):
        here = [one for (other, _), one in merged.items() if other == topic]
        names = sorted({labels.get(saved.key.assessor, saved.key.assessor) for one in here for saved in one.of})
        counts = Counter(one.kind for one in here)
        found[topic] = {"assessor": ", ".join(names), MERGED: " ".join(f"{kind}={n}" for kind, n in counts.items())}
    return found


def merged_counts(gold: Gold) -> dict[str, int]:
    """Return how many judgements of a merged gold were decided, single, merged, or are open; {} for another gold."""
    counts: Counter[str] = Counter()
    for said in gold.attributes.values():
        for part in said.get(MERGED, "").split():
            kind, _, number = part.partition("=")
            counts[kind] += int(number)
    return {kind: counts[kind] for kind in (DECIDED, SINGLE, *MERGES, OPEN) if counts[kind]}


def counts_text(counts: Mapping[str, int]) -> str:
    """Return one line: how the judgements of a gold came about.

    >>> counts_text({"decided": 2, "single": 10, "union": 3})
    'judged documents: 2 decided, 10 single, 3 by union'
    """
    said = {OPEN: "open, and left out", DECIDED: DECIDED, SINGLE: SINGLE}
    return "judged documents: " + ", ".join(f"{n} {said.get(kind, f'by {kind}')}" for kind, n in counts.items())
