"""What is known of the assessors as tables, for the terminal, for files and for the page."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

from focuseval.assessment.models.judging import WORDS
from focuseval.assessment.models.placing import COUNTED
from focuseval.data.tables import ABSENT, Column, Table, numbers, words
from focuseval.inference.correlation import reading

if TYPE_CHECKING:
    from focuseval.assessment.agreement import Agreement
    from focuseval.assessment.models.trust import Trust
    from focuseval.data.tables import Row

_LEVELS = (
    ("documents: κ", "kappa", ".3f"),
    ("characters: Jaccard", "jaccard", ".3f"),
    ("characters: F", "f", ".3f"),
    ("elements: r", "specificity", ".3f"),
    ("entry points: distance", "distance", ".0f"),
)
"""Heading, field and form of every level."""


def tables(trust: Trust) -> list[Table]:
    """Return all tables that there is something to say in."""
    found = [agreement_table(trust), amount_table(trust)]
    found += [quotes_table(trust)] if trust.quoted else []
    found += [addressed_table(trust)] if trust.addressed else []
    return found + ([order_table(trust), flips_table(trust)] if trust.orders else [])


def agreement_table(trust: Trust) -> Table:
    """Return every pair of assessors with its levels of agreement, and their intervals."""
    columns = (
        *words("assessor", "and"),
        *numbers("documents", *(heading for heading, _, _ in _LEVELS)),
        *numbers("elements", "entry points"),
    )
    rows: tuple[Row, ...] = tuple(
        (
            *(trust.labels[pair.left], trust.labels[pair.right], pair.documents),
            *(value_with_interval(pair, name, form) for _, name, form in _LEVELS),
            *(pair.elements, pair.entry_points),
        )
        for pair in trust.pairs
    )
    alpha = Column("", form=".3f").text(trust.alpha)
    notes = (
        "In brackets: 95 % intervals, over documents drawn with replacement. Only what both finished counts.",
        *([f"{trust.apart:,} pairs of assessors have no document in common."] if trust.apart else []),
        f"Krippendorff's alpha of documents: {alpha}",
    )
    return Table("Agreement", columns, rows, notes)


def value_with_interval(pair: Agreement, name: str, form: str) -> str:
    """Return a level of agreement and its interval."""
    text = Column("", form=form).text
    value = float(getattr(pair, name))
    low, high = pair.intervals.get(name, (nan, nan))
    return text(value) if isnan(value) or isnan(low) else f"{text(value)} [{text(low)}, {text(high)}]"


def amount_table(trust: Trust) -> Table:
    """Return how much each of two assessors marked."""
    columns = (
        *words("first", "second"),
        *numbers("relevant: first", "relevant: second", "characters: first", "characters: second", "second to first"),
    )
    rows = tuple(
        (
            *(trust.labels[pair.left], trust.labels[pair.right]),
            *(*pair.relevant, *pair.highlighted),
            value_with_interval(pair, "ratio", ".2f"),
        )
        for pair in trust.pairs
    )
    note = "Second to first: characters that the second assessor highlights for each one of the first; 1 is as many."
    return Table("More or less", columns, rows, (note,))


def quotes_table(trust: Trust) -> Table:
    """Return what every model quoted."""
    columns = (
        *words("model"),
        *numbers("documents", "quotes", *(WORDS.get(name, name) for name in COUNTED)),
        *numbers("share not in the text", form=".1%"),
    )
    rows: tuple[Row, ...] = tuple(
        (one.assessor, one.documents, sum(one.quotes), *one.quotes, one.invented) for one in trust.quoted
    )
    note = "A quote that is not in the text, or in several places, never becomes a highlight."
    return Table("Quotes of models", columns, rows, (note,))


def addressed_table(trust: Trust) -> Table:
    """Return the documents that speak to a model."""
    columns = (*words("model", "topic", "document", "text that speaks to a model"), *numbers("marked", form=".0%"))
    note = "Such text is data like any other; look at what the model marked in these documents."
    return Table("Documents that speak to a model", columns, tuple((*one,) for one in trust.addressed), (note,))


def order_table(trust: Trust) -> Table:
    """Return for every pair of assessors whether runs keep their order."""
    columns = (
        *words("judged by", "replaced by"),
        *numbers("documents", "topics"),
        *numbers("τ", "τ_AP", form=".3f"),
        *words("order"),
        *numbers("pairs", "flipped"),
    )
    rows = tuple(
        (
            *(one.left, one.right, one.documents, one.topics, one.tau, one.tau_ap),
            reading(one.tau),
            one.pairs,
            len(one.flips),
        )
        for one in trust.orders
    )
    note = f"Runs ranked by {trust.measure}, over the documents that both finished; τ from .9 on is called equivalent."
    return Table("Order of the runs", columns, rows, (note,))


def flips_table(trust: Trust) -> Table:
    """Return every pair of runs whose order changes, and what would decide it."""
    columns = (
        *words("judged by", "replaced by", "better", "worse"),
        *numbers("by the first", "by the second"),
        *numbers("topics", "judgements", form=".0f"),
    )
    rows = tuple(
        (one.left, one.right, *flip[:4], _counted(flip.topics), _counted(flip.judgements))
        for one in trust.orders
        for flip in one.flips
    )
    note = (
        "Topics and judgements: how many of the first assessor's kind would show the difference with probability .8, "
        f"if topics go on to differ as these do; {ABSENT} where no number would."
    )
    return Table(
        "Pairs of runs whose order changes", columns, rows, (note if rows else "No pair of runs changes its order.",)
    )


def _counted(number: float) -> int | None:
    return round(number) if number < 1e9 else None
