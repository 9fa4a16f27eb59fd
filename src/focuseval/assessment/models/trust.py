"""Can an assessor be trusted? Agreement with intervals, quotes of models, the order of the runs; as tables and a page.

The page is one HTML file that needs nothing else: sentences, intervals drawn, the order of the runs, all numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from focuseval.assessment.agreement import Agreement, agreements, alpha, alpha_interval, finished, without_nan
from focuseval.assessment.golds import build_gold
from focuseval.assessment.models.judging import WORDS
from focuseval.assessment.models.prompt import COUNTED
from focuseval.assessment.plan import MODEL, PERSON, Assessor, assessors
from focuseval.assessment.project import Project
from focuseval.assessment.stability import DEFAULT, Replacement, replacements
from focuseval.data.highlights import size
from focuseval.data.run import Run
from focuseval.data.tables import ABSENT, Column, Row, Table, numbers, words
from focuseval.inference.agreement import FEWEST_TOPICS, RESAMPLES, Interval
from focuseval.inference.correlation import FEWEST_RUNS, mean_ranks, reading, tau_interval
from focuseval.inference.sentences import fill
from focuseval.report.page import static, templates

_LEVELS = (
    ("documents: κ", "kappa", ".3f"),
    ("characters: Jaccard", "jaccard", ".3f"),
    ("characters: F", "f", ".3f"),
    ("precision of the second", "precision", ".3f"),
    ("recall of the second", "recall", ".3f"),
    ("elements: r", "specificity", ".3f"),
    ("entry points: distance", "distance", ".0f"),
)
"""Heading, field and form of every level."""
STYLES = ("base.css", "print.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""The page runs no script and asks nothing of a network."""
MOST_DRAWN = 24  # pairs of assessors that are drawn; the tables have all
LINE = 22  # height of a line of a drawing


class Quoted(NamedTuple):
    """What a model quoted, over all documents that it judged."""

    assessor: str
    documents: int
    quotes: tuple[int, ...]  # how many quotes were found in each way of `COUNTED`

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
    """Of people alone."""
    alpha_interval: Interval
    """95 %; NaN where too few topics were judged by two or more."""
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
        values: dict[str, Any] = {
            "assessors": [{"name": one.name, "label": one.label, "origin": one.origin} for one in self.assessors],
            "alpha": self.alpha,
            "alpha_interval": self.alpha_interval,
            "pairs": [
                {**asdict(pair), "ratio": pair.ratio, "precision": pair.precision, "recall": pair.recall}
                for pair in self.pairs
            ],
            "quotes": quotes,
            "addressed": [one._asdict() for one in self.addressed],
            "measure": self.measure,
            "orders": [{**asdict(one), "flips": [flip._asdict() for flip in one.flips]} for one in self.orders],
        }
        return dict(without_nan(values))


def project_trust(project: Project, runs: Sequence[Run] = (), measure: str = DEFAULT) -> Trust:
    """Return how far the assessors of a project agree, and whether runs keep their order whoever judges.

    Parameters
    ----------
    project
        An open project.
    runs, measure
        What is ranked, and by what; without runs nothing is.
    """
    store, found = project.store, finished(project.store)
    people = finished(store, by_people=True)
    known = [one for one in assessors(store) if one.name in found]
    known.sort(key=lambda one: (one.origin != PERSON, one.origin, one.name))
    ordered = {one.name: found[one.name] for one in known}
    pairs = agreements(ordered, project.documents.extents, resamples=RESAMPLES)
    labels = {one.name: one.label for one in known}
    shared = [(labels[pair.left], labels[pair.right]) for pair in pairs]
    index = project.documents.index
    golds = {one.label: build_gold(store, one.name, documents=None, index=index) for one in known} if runs else {}
    quoted, spoken = [], []
    for model in (one for one in known if one.origin == MODEL):
        counts: Counter[str] = Counter()
        for saved in found[model.name].values():  # what was noted when the judgement was made
            source = (store.sources(saved.key) or [{}])[-1]
            counts.update(source.get("quotes", {}))
            if source.get("addressed"):
                share = size(saved.judgement.highlights) / saved.length
                spoken.append(Addressed(model.label, *saved.key[1:], source["addressed"], share))
        quoted.append(Quoted(model.label, len(found[model.name]), tuple(counts[name] for name in COUNTED)))
    apart = len(known) * (len(known) - 1) // 2 - len(pairs)
    of_people = alpha(people), alpha_interval(people, RESAMPLES)
    orders = tuple(replacements(golds, shared, runs, measure, index)) if runs else ()
    return Trust(tuple(known), tuple(pairs), apart, *of_people, tuple(quoted), tuple(spoken), orders, measure)


def value_with_interval(pair: Agreement, name: str, form: str) -> str:
    """Return a level of agreement and its interval."""
    return _with_interval(float(getattr(pair, name)), pair.intervals.get(name, (nan, nan)), form)


def _with_interval(value: float, interval: Interval, form: str) -> str:
    text = Column("", form=form).text
    low, high = interval
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
    columns = (*words("assessor", "and"), *numbers("documents", *(heading for heading, _, _ in _LEVELS)))
    columns += numbers("elements", "entry points")
    rows, amounts = list[Row](), list[Row]()
    for pair in trust.pairs:
        labels = trust.labels[pair.left], trust.labels[pair.right]
        levels = (value_with_interval(pair, name, form) for _, name, form in _LEVELS)
        rows.append((*labels, pair.documents, *levels, pair.elements, pair.entry_points))
        amounts.append((*labels, *pair.relevant, *pair.highlighted, value_with_interval(pair, "ratio", ".2f")))
    drawn = "In brackets: 95 % intervals, by drawing topics and then documents of each; none of fewer than"
    notes = (
        f"{drawn} {FEWEST_TOPICS} topics in common. Only what both finished counts.",
        *([f"{trust.apart:,} pairs of assessors have no document in common."] if trust.apart else []),
        f"Krippendorff's alpha of documents, people alone: {_with_interval(trust.alpha, trust.alpha_interval, '.3f')}",
    )
    sides = ("relevant: first", "relevant: second", "characters: first", "characters: second", "second to first")
    note = "Second to first: characters that the second assessor highlights for each one of the first; 1 is as many."
    more_or_less = Table("More or less", (*words("first", "second"), *numbers(*sides)), tuple(amounts), (note,))
    return [Table("Agreement", columns, tuple(rows), notes), more_or_less]


def _order_tables(trust: Trust) -> list[Table]:
    """Return for every pair of assessors whether runs keep their order, and the pairs of runs whose order changes."""
    columns = (*words("judged by", "replaced by"), *numbers("documents", "topics"))
    columns += numbers("τ", "95 % interval over topics", "τ_AP", form=".3f")
    columns += (*words("order"), *numbers("pairs", "flipped"))
    rows, flips = list[Row](), list[Row]()
    for one in trust.orders:
        low, high = one.tau_interval
        over = None if isnan(low) else f"[{low:.3f}, {high:.3f}]"
        order = (one.documents, one.topics, one.tau, over, one.tau_ap, reading(one.tau, len(one.runs)))
        rows.append((one.left, one.right, *order, one.pairs, len(one.flips)))
        for flip in one.flips:
            needed = (round(number) if number < 1e9 else None for number in (flip.topics, flip.judgements))
            flips.append((one.left, one.right, *flip[:4], *needed))
    ranked = f"Runs ranked by {trust.measure}, over the documents that both finished"
    note = f"{ranked}; τ from .9 on is called equivalent, if there are {FEWEST_RUNS} runs or more."
    ordered = Table("Order of the runs", columns, tuple(rows), (note,))
    columns = (*words("judged by", "replaced by", "better", "worse"), *numbers("by the first", "by the second"))
    columns += numbers("topics", "judgements", form=".0f")
    many = "Topics and judgements: how many of the first assessor's kind would show the difference with probability .8"
    note = f"{many}, if topics go on to differ as these do; {ABSENT} where no number would."
    notes = (note if flips else "The order of no pair of runs changes.",)
    turned = Table("Pairs of runs whose order changes", columns, tuple(flips), notes)
    apart: list[Row] = [
        (one.left, one.right, run, *both, _with_interval(difference[0], difference[1:], "+.4f"))
        for one in trust.orders
        for run, difference, *both in zip(one.runs, one.apart, *one.scores, strict=False)
    ]
    columns = words("judged by", "replaced by", "run") + numbers("by the first", "by the second", "second less first")
    note = f"In brackets: 95 % intervals, by drawing topics; none of fewer than {FEWEST_TOPICS} topics."
    return [ordered, turned, Table("Scores of the runs", columns, tuple(apart), (note,))]


def render_agreement(trust: Trust, title: str) -> str:
    """Return the page."""
    page: str = templates(Path(__file__).parent / "templates").get_template("agreement.html").render(
        title=title,
        trust=trust,
        sentences=sentences(trust),
        bars=[(pair, bars(pair)) for pair in trust.pairs[:MOST_DRAWN]],
        slopes=[(one, slope(one)) for one in trust.orders[:MOST_DRAWN] if len(one.runs) <= 40],  # legible names
        most=MOST_DRAWN,
        fewest=FEWEST_TOPICS,
        models={one.label for one in trust.assessors if one.origin == MODEL},
        tables={table.title: table for table in tables(trust)},
        line=LINE,
        style="\n".join(static(name) for name in STYLES),
        policy=POLICY,
    )  # fmt: skip
    return page


def sentences(trust: Trust) -> list[str]:
    """Return in words what the numbers say, of every model and of the others."""
    others = {one.name for one in trust.assessors if one.origin != MODEL}
    people = "People" if {one.origin for one in trust.assessors} <= {PERSON, MODEL} else "Assessors who are no models"
    lines = _mean_f([pair for pair in trust.pairs if {pair.left, pair.right} <= others], f"{people} agree")
    for model in (one for one in trust.assessors if one.origin == MODEL):
        pairs = [pair for pair in trust.pairs if pair.right == model.name and pair.left in others]
        lines += _mean_f(pairs, f"{model.label} agrees with {people.lower()}")
        for pair in pairs:
            if not isnan(pair.ratio):
                amount = value_with_interval(pair, "ratio", ".2f")
                lines.append(f"{trust.labels[pair.right]} marks {amount} times as much as {trust.labels[pair.left]}.")
            if not isnan(pair.precision + pair.recall):
                right, found = (value_with_interval(pair, name, ".2f") for name in ("precision", "recall"))
                first, second = trust.labels[pair.left], trust.labels[pair.right]
                lines.append(f"Precision of {second}'s text beside {first}'s: {right}; recall: {found}.")
    models = {one.label for one in trust.assessors if one.origin == MODEL}
    orders = sorted(trust.orders, key=lambda one: one.right not in models)  # a stable order: models first
    for one in orders[:12]:
        if not isnan(one.tau):
            flips = fill("flips", n=len(one.flips), all=one.pairs)
            low, high = tau_interval(one.tau, len(one.runs))
            said = f"τ {one.tau:.2f} [{low:.2f}, {high:.2f}] over runs ({reading(one.tau, len(one.runs))})"
            lines.append(f"{one.right} in the place of {one.left}: {said}, {flips}.")
    for quoted in trust.quoted:
        if total := sum(quoted.quotes):
            lines.append(f"{quoted.assessor}: {quoted.invented:.1%} of {total:,} quotes are not in the text.")
    return lines or ["Two assessors are needed, with finished documents in common."]


def _mean_f(pairs: Sequence[Agreement], begin: str) -> list[str]:
    """Say how far pairs agree on characters, if any of them can."""
    found = [pair.f for pair in pairs if not isnan(pair.f)]
    if not found:
        return []
    span = f", from {min(found):.2f} to {max(found):.2f}" if len(found) > 1 else ""
    return [f"{begin} on the characters that are relevant with F {sum(found) / len(found):.2f}{span}."]


def bars(pair: Agreement) -> list[dict[str, Any]]:
    """Return the levels of agreement that can be drawn, those from 0 to 1: name, value and interval (low and high)."""
    found = []
    for name, heading in (("kappa", "documents (κ)"), ("f", "characters (F)"), ("specificity", "elements (r)")):
        value = float(getattr(pair, name))
        low, high = pair.intervals.get(name, (nan, nan))
        if not isnan(value):
            low, high = (value, value) if isnan(low) else (low, high)
            found.append({"name": heading, "value": value, "low": low, "high": high})
    return found


def slope(one: Replacement) -> list[tuple[str, float, float]]:
    """Return every run with its rank by the first and by the second assessor's judgements, ties between two ranks."""
    first, second = (mean_ranks(-np.array(scores)) for scores in one.scores)
    return sorted(zip(one.runs, first.tolist(), second.tolist(), strict=True), key=lambda run: run[1:])
