"""Agreement as one HTML file that needs nothing else: verdicts, intervals drawn, the order of the runs, all numbers."""

from __future__ import annotations

from functools import cache
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focuseval.assessment.models import trust_tables
from focuseval.assessment.plan import MODEL, PERSON
from focuseval.inference.correlation import mean_ranks, reading
from focuseval.inference.sentences import fill
from focuseval.report.page import static, templates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.assessment.agreement import Agreement
    from focuseval.assessment.models.order import Replacement
    from focuseval.assessment.models.trust import Trust

HERE = Path(__file__).parent
STYLES = ("base.css", "print.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""The page runs no script and asks nothing of a network."""
MOST_RUNS = 40
"""Runs whose names can be read beside a drawing of their order."""
MOST_DRAWN = 24
"""Pairs of assessors that are drawn; the tables have all."""
MOST_SAID = 12
"""Pairs of assessors whose order of the runs is put into a sentence."""
DRAWN = (("kappa", "documents (κ)"), ("f", "characters (F)"), ("specificity", "elements (r)"))
"""Levels of agreement from 0 to 1 that are drawn."""
LINE = 22
"""Height of a line of a drawing."""


class Bar(NamedTuple):
    """One level of agreement of one pair, as it is drawn on a line from −1 or 0 to 1."""

    name: str
    value: float
    low: float
    high: float


def render_agreement(trust: Trust, title: str) -> str:
    """Return the page."""
    page: str = environment().get_template("agreement.html").render(
        title=title,
        trust=trust,
        sentences=sentences(trust),
        bars=[(pair, bars(pair)) for pair in trust.pairs[:MOST_DRAWN]],
        slopes=[(one, slope(one)) for one in trust.orders[:MOST_DRAWN] if len(one.runs) <= MOST_RUNS],
        most=MOST_DRAWN,
        models={one.label for one in trust.assessors if one.origin == MODEL},
        tables=trust_tables,
        line=LINE,
        style="\n".join(static(name) for name in STYLES),
        policy=POLICY,
    )  # fmt: skip
    return page


def sentences(trust: Trust) -> list[str]:
    """Return in words what the numbers say, of every model and of the others."""
    others = {one.name for one in trust.assessors if one.origin != MODEL}
    people = "People" if {one.origin for one in trust.assessors} <= {PERSON, MODEL} else "Assessors who are no models"
    said = _mean_f([pair for pair in trust.pairs if {pair.left, pair.right} <= others], f"{people} agree")
    for model in (one for one in trust.assessors if one.origin == MODEL):
        pairs = [pair for pair in trust.pairs if pair.right == model.name and pair.left in others]
        said += _mean_f(pairs, f"{model.label} agrees with {people.lower()}")
        said += [_amount(pair, trust) for pair in pairs if not isnan(pair.ratio)]
    models = {one.label for one in trust.assessors if one.origin == MODEL}
    orders = sorted(trust.orders, key=lambda one: one.right not in models)  # a stable order: models first
    said += [_ordered(one) for one in orders[:MOST_SAID] if not isnan(one.tau)]
    said += [
        f"{one.assessor}: {one.invented:.1%} of {sum(one.quotes):,} quotes are not in the text."
        for one in trust.quoted
        if sum(one.quotes)
    ]
    return said or ["Two assessors are needed, with finished documents in common."]


def _mean_f(pairs: Sequence[Agreement], begin: str) -> list[str]:
    """Say how far pairs agree on characters, if any of them can."""
    found = [pair.f for pair in pairs if not isnan(pair.f)]
    if not found:
        return []
    span = f", from {min(found):.2f} to {max(found):.2f}" if len(found) > 1 else ""
    return [f"{begin} on the characters that are relevant with F {sum(found) / len(found):.2f}{span}."]


def _amount(pair: Agreement, trust: Trust) -> str:
    amount = trust_tables.value_with_interval(pair, "ratio", ".2f")
    return f"{trust.labels[pair.right]} marks {amount} times as much as {trust.labels[pair.left]}."


def _ordered(one: Replacement) -> str:
    turned = fill("flips", n=len(one.flips), all=one.pairs)
    return f"{one.right} in the place of {one.left}: τ {one.tau:.2f} ({reading(one.tau)}), {turned}."


def bars(pair: Agreement) -> list[Bar]:
    """Return the levels of agreement that can be drawn."""
    found = []
    for name, heading in DRAWN:
        value = float(getattr(pair, name))
        low, high = pair.intervals.get(name, (nan, nan))
        if not isnan(value):
            found.append(Bar(heading, value, *((value, value) if isnan(low) else (low, high))))
    return found


def slope(one: Replacement) -> list[tuple[str, float, float]]:
    """Return every run with its rank by the first and by the second assessor's judgements, ties between two ranks."""
    first, second = (mean_ranks(-np.array(scores)) for scores in one.scores)
    return sorted(zip(one.runs, first.tolist(), second.tolist(), strict=True), key=lambda run: run[1:])


@cache
def environment() -> Any:
    """Return the templates of the page."""
    return templates(HERE / "templates")
