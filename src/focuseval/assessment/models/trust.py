"""Can an assessor be trusted? Agreement with intervals, quotes of models, the order of the runs; and all as tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.assessment.agreement import Agreement, agreements, alpha, finished, without_nan
from focuseval.assessment.golds import build_gold
from focuseval.assessment.models.answers import COUNTED
from focuseval.assessment.models.judging import WORDS
from focuseval.assessment.plan import MODEL, PERSON, Assessor, assessors
from focuseval.assessment.stability import Replacement, replacements
from focuseval.data.highlights import size
from focuseval.data.tables import ABSENT, Column, Row, Table, numbers, words
from focuseval.inference.agreement import RESAMPLES
from focuseval.inference.correlation import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        quotes = [
            {**one._asdict(), "quotes": dict(zip(COUNTED, one.quotes, strict=True)), "not_in_text": one.invented}
            for one in self.quoted
        ]
        orders = [{**asdict(one), "flips": [flip._asdict() for flip in one.flips]} for one in self.orders]
        found: dict[str, Any] = without_nan(
            {
                "assessors": [{"name": one.name, "label": one.label, "origin": one.origin} for one in self.assessors],
                "alpha": self.alpha,
                "pairs": [{**asdict(pair), "ratio": pair.ratio} for pair in self.pairs],
                "quotes": quotes,
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
    quoted, spoken = [], []
    for model in (one for one in known if one.origin == MODEL):
        sources = _sources(store, found[model.name].values())
        counts = [source.get("quotes", {}) for _, source in sources]
        sums = tuple(sum(one.get(name, 0) for one in counts) for name in COUNTED)
        quoted.append(Quoted(model.label, len(counts), sums))
        for saved, source in sources:
            if source.get("addressed"):
                share = size(saved.judgement.highlights) / saved.length
                spoken.append(Addressed(model.label, *saved.key[1:], source["addressed"], share))
    return Trust(
        tuple(known),
        tuple(pairs),
        len(known) * (len(known) - 1) // 2 - len(pairs),
        alpha(found),
        tuple(quoted),
        tuple(spoken),
        tuple(replacements(golds, shared, runs, measure, index)) if runs else (),
        measure,
    )


def _sources(store: Store, judged: Iterable[Saved]) -> list[tuple[Saved, dict[str, Any]]]:
    """Return judgements of a model, each with what was noted when it was made."""
    rows = []
    for saved in judged:
        noted = [edit["source"] for edit in store.edits(saved.key) if edit["kind"] == "replace" and "source" in edit]
        rows.append((saved, noted[-1] if noted else {}))
    return rows


_LEVELS = (
    ("documents: κ", "kappa", ".3f"),
    ("characters: Jaccard", "jaccard", ".3f"),
    ("characters: F", "f", ".3f"),
    ("elements: r", "specificity", ".3f"),
    ("entry points: distance", "distance", ".0f"),
)
"""Heading, field and form of every level."""


def value_with_interval(pair: Agreement, name: str, form: str) -> str:
    """Return a level of agreement and its interval."""
    text = Column("", form=form).text
    value = float(getattr(pair, name))
    low, high = pair.intervals.get(name, (nan, nan))
    return text(value) if isnan(value) or isnan(low) else f"{text(value)} [{text(low)}, {text(high)}]"


def tables(trust: Trust) -> list[Table]:
    """Return all tables that there is something to say in."""
    found = _pair_tables(trust)
    if trust.quoted:
        columns = (*words("model"), *numbers("documents", "quotes", *(WORDS.get(name, name) for name in COUNTED)))
        columns += numbers("share not in the text", form=".1%")
        rows: list[Row] = [
            (one.assessor, one.documents, sum(one.quotes), *one.quotes, one.invented) for one in trust.quoted
        ]
        note = "A quote that is not in the text, or in several places, never becomes a highlight."
        found.append(Table("Quotes of models", columns, tuple(rows), (note,)))
    if trust.addressed:
        columns = (*words("model", "topic", "document", "text that speaks to a model"), *numbers("marked", form=".0%"))
        note = "Such text is data like any other; look at what the model marked in these documents."
        rows = [(*one,) for one in trust.addressed]
        found.append(Table("Documents that speak to a model", columns, tuple(rows), (note,)))
    return [*found, *_order_tables(trust)] if trust.orders else found


def _pair_tables(trust: Trust) -> list[Table]:
    """Return every pair of assessors with its levels of agreement and their intervals, and how much each marked."""
    names = [(trust.labels[pair.left], trust.labels[pair.right]) for pair in trust.pairs]
    columns = (*words("assessor", "and"), *numbers("documents", *(heading for heading, _, _ in _LEVELS)))
    columns += numbers("elements", "entry points")
    rows: list[Row] = []
    for pair, labels in zip(trust.pairs, names, strict=True):
        levels = (value_with_interval(pair, name, form) for _, name, form in _LEVELS)
        rows.append((*labels, pair.documents, *levels, pair.elements, pair.entry_points))
    notes = (
        "In brackets: 95 % intervals, over documents drawn with replacement. Only what both finished counts.",
        *([f"{trust.apart:,} pairs of assessors have no document in common."] if trust.apart else []),
        f"Krippendorff's alpha of documents: {Column('', form='.3f').text(trust.alpha)}",
    )
    sides = ("relevant: first", "relevant: second", "characters: first", "characters: second", "second to first")
    amounts: list[Row] = [
        (*labels, *pair.relevant, *pair.highlighted, value_with_interval(pair, "ratio", ".2f"))
        for pair, labels in zip(trust.pairs, names, strict=True)
    ]
    note = "Second to first: characters that the second assessor highlights for each one of the first; 1 is as many."
    more_or_less = Table("More or less", (*words("first", "second"), *numbers(*sides)), tuple(amounts), (note,))
    return [Table("Agreement", columns, tuple(rows), notes), more_or_less]


def _order_tables(trust: Trust) -> list[Table]:
    """Return for every pair of assessors whether runs keep their order, and the pairs of runs whose order changes."""
    columns = (*words("judged by", "replaced by"), *numbers("documents", "topics"), *numbers("τ", "τ_AP", form=".3f"))
    columns += (*words("order"), *numbers("pairs", "flipped"))
    rows: list[Row] = []
    flips: list[Row] = []
    for one in trust.orders:
        order = (one.documents, one.topics, one.tau, one.tau_ap, reading(one.tau), one.pairs, len(one.flips))
        rows.append((one.left, one.right, *order))
        for flip in one.flips:
            needed = (round(number) if number < 1e9 else None for number in (flip.topics, flip.judgements))
            flips.append((one.left, one.right, *flip[:4], *needed))
    note = f"Runs ranked by {trust.measure}, over the documents that both finished; τ from .9 on is called equivalent."
    ordered = Table("Order of the runs", columns, tuple(rows), (note,))
    columns = (*words("judged by", "replaced by", "better", "worse"), *numbers("by the first", "by the second"))
    columns += numbers("topics", "judgements", form=".0f")
    note = (
        "Topics and judgements: how many of the first assessor's kind would show the difference with probability .8, "
        f"if topics go on to differ as these do; {ABSENT} where no number would."
    )
    notes = (note if flips else "The order of no pair of runs changes.",)
    return [ordered, Table("Pairs of runs whose order changes", columns, tuple(flips), notes)]
