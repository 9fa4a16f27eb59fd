"""Can an assessor be trusted? Agreement with intervals, what a model quoted, and the order of the runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.assessment.agreement import agreements, alpha, finished
from focuseval.assessment.golds import build_gold
from focuseval.assessment.models.order import replacements
from focuseval.assessment.models.placing import COUNTED
from focuseval.assessment.plan import MODEL, PERSON, assessors
from focuseval.data.highlights import size
from focuseval.inference.agreement import RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.assessment.agreement import Agreement, Finished
    from focuseval.assessment.models.order import Replacement
    from focuseval.assessment.plan import Assessor
    from focuseval.assessment.project import Project
    from focuseval.assessment.store import Saved, Store
    from focuseval.data.run import Run

MEASURE = "MAgP"


class Quoted(NamedTuple):
    """What a model quoted, over all documents that it judged."""

    assessor: str
    documents: int
    quotes: tuple[int, ...]
    """How many quotes were found in each way of `COUNTED`."""

    @property
    def invented(self) -> float:
        """The share of quotes that are not in the text."""
        total = sum(self.quotes)
        return self.quotes[COUNTED.index("lost")] / total if total else float("nan")


class Addressed(NamedTuple):
    """A document whose text speaks to a model, and how much of it was marked."""

    assessor: str
    topic: str
    document: str
    words: str
    share: float


@dataclass(frozen=True)
class Trust:
    """Everything that says how far a project's assessors can be trusted."""

    assessors: tuple[Assessor, ...]
    """Those who finished anything, people first."""
    pairs: tuple[Agreement, ...]
    apart: int
    """Pairs of assessors without a document in common, which are left out."""
    alpha: float
    quoted: tuple[Quoted, ...]
    addressed: tuple[Addressed, ...]
    orders: tuple[Replacement, ...]
    measure: str

    @property
    def labels(self) -> dict[str, str]:
        """Name → the name that is shown."""
        return {one.name: one.label for one in self.assessors}

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not a number, or not finite, is null."""
        ways = [{**one._asdict(), "quotes": dict(zip(COUNTED, one.quotes, strict=True))} for one in self.quoted]
        orders = [{**asdict(one), "flips": [flip._asdict() for flip in one.flips]} for one in self.orders]
        found: dict[str, Any] = _plain(
            {
                "assessors": [{"name": one.name, "label": one.label, "origin": one.origin} for one in self.assessors],
                "alpha": self.alpha,
                "pairs": [{**asdict(pair), "ratio": pair.ratio} for pair in self.pairs],
                "quotes": [{**told, "not_in_text": one.invented} for told, one in zip(ways, self.quoted, strict=True)],
                "addressed": [one._asdict() for one in self.addressed],
                "measure": self.measure,
                "orders": orders,
            }
        )
        return found


def project_trust(project: Project, runs: Sequence[Run] = (), measure: str = MEASURE) -> Trust:
    """Return how far the assessors of a project agree, and whether runs keep their order whoever judges.

    Parameters
    ----------
    project
        An open project.
    runs, measure
        What is ranked, and by what; without runs nothing is.
    """
    store, found = project.store, finished(project.store)
    known = [one for one in assessors(store) if one.name in found]
    known.sort(key=lambda one: (one.origin != PERSON, one.origin, one.name))
    ordered = {one.name: found[one.name] for one in known}
    pairs = agreements(ordered, project.documents.extents, common=True, resamples=RESAMPLES)
    labels = {one.name: one.label for one in known}
    shared = [(labels[pair.left], labels[pair.right]) for pair in pairs]
    index = project.documents.index
    golds = {one.label: build_gold(store, one.name, documents=None, index=index) for one in known} if runs else {}
    models = [one for one in known if one.origin == MODEL]
    return Trust(
        tuple(known),
        tuple(pairs),
        len(known) * (len(known) - 1) // 2 - len(pairs),
        alpha(found),
        tuple(_quoted(store, one, found) for one in models),
        tuple(spoken for one in models for spoken in _addressed(store, one, found)),
        tuple(replacements(golds, shared, runs, measure, index)) if runs else (),
        measure,
    )


def _sources(store: Store, judged: Finished, name: str) -> list[tuple[Saved, dict[str, Any]]]:
    """Return a model's judgements, each with what was noted when it was made."""
    rows = []
    for saved in judged[name].values():
        made = [edit["source"] for edit in store.edits(saved.key) if edit["kind"] == "replace" and "source" in edit]
        rows.append((saved, made[-1] if made else {}))
    return rows


def _quoted(store: Store, model: Assessor, judged: Finished) -> Quoted:
    told = [source.get("quotes", {}) for _, source in _sources(store, judged, model.name)]
    return Quoted(model.label, len(told), tuple(sum(one.get(name, 0) for one in told) for name in COUNTED))


def _addressed(store: Store, model: Assessor, judged: Finished) -> list[Addressed]:
    return [
        Addressed(model.label, *saved.key[1:], source["addressed"], size(saved.judgement.highlights) / saved.length)
        for saved, source in _sources(store, judged, model.name)
        if source.get("addressed")
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
