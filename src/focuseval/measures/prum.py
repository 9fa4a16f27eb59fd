"""Precision and recall with user modelling on ideal elements: PRUM, EPRUM by containment, and ERRel.

The targets of a topic are the elements of its ideal recall base. A result shows every target that it contains
(navigation ``contains``), or, on best entry points, its article's entry point with a probability that falls with
distance (navigation ``distance``).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focuseval.measures.entry_point import STEEPNESS, near, nearness, seen_within
from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.topicwise import ceiling, count, ratio, total, without_base
from focuseval.measures.xcg import BASE, QUANT

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from focuseval.measures.matching.elements import ElementMatch
    from focuseval.measures.matching.matched import Matched

    Floats = NDArray[np.float64]

NEVER = np.iinfo(np.int64).max
"""The rank of a target that no result shows."""


class Seen(NamedTuple):
    """Targets of all topics in the order in which the run shows them: the R-th of a topic is reached at its rank."""

    bounds: NDArray[np.int64]
    """Where each topic's targets begin, and the end of the last."""
    rank: NDArray[np.int64]
    """The rank that first shows R targets, ascending within the topic; NEVER where none does."""
    least: NDArray[np.int64]
    """m(R): the fewest whole articles whose targets total at least R."""


def first_ranks(match: ElementMatch) -> NDArray[np.int64]:
    """Return, for every target (row of ``base.ideal``), the rank of the first result that contains it."""
    base = match.base
    judged = np.flatnonzero((match.code >= 0) & (match.article >= 0))
    inside = base.within(match.article[judged], match.code[judged])
    low, high = (np.searchsorted(base.ideal, rows) for rows in inside)
    shown = high - low
    turn = np.arange(shown.sum()) - np.repeat(np.cumsum(shown) - shown, shown)
    target, result = np.repeat(low, shown) + turn, np.repeat(judged, shown)
    rank = result - match.bounds[base.topic[base.ideal[target]]] + 1
    first = np.full(len(base.ideal), NEVER, np.int64)
    first[target[::-1]] = rank[::-1]  # of several results the last assignment, the first result, stays
    return first


def seen_targets(match: ElementMatch) -> Seen:
    """Return when the targets of every topic come into sight, and how soon they could have; made once."""
    if "seen" not in match.made:
        base = match.base
        topic, first = base.topic[base.ideal], first_ranks(match)
        bounds = np.searchsorted(topic, np.arange(base.topics + 1)).astype(np.int64)
        match.made["seen"] = Seen(bounds, first[np.lexsort((first, topic))], _fewest_articles(match))
    seen: Seen = match.made["seen"]
    return seen


def _fewest_articles(match: ElementMatch) -> NDArray[np.int64]:
    """Return m(R) for R = 1 … T of every topic: articles with many targets first."""
    base = match.base
    article, targets = np.unique(base.article[base.ideal], return_counts=True)
    topic = base.topic_of_article[article]
    order = np.lexsort((-targets, topic))
    topic, targets = topic[order], targets[order]
    nth = np.arange(1, len(topic) + 1) - np.searchsorted(topic, topic)
    return np.repeat(nth, targets)


def eprum_contains(m: Matched, at: Fraction | None = None, quant: str = "auto", base: str = "auto") -> Floats:
    """Return m(R)/k at a recall level (R = ⌈level · T⌉), or its mean over R = 1 … T; 0 where R is not reached."""
    seen = seen_targets(m.elements(quant, base))
    targets = np.diff(seen.bounds)
    precision = np.where(seen.rank < NEVER, seen.least / seen.rank, 0.0)
    if at is None:
        topic = np.repeat(np.arange(m.topics), targets)
        return without_base(ratio(total(precision, topic, m.topics), targets), targets)
    need = np.maximum(ceiling(targets, at), 1)
    return without_base(np.append(precision, 0.0)[np.minimum(seen.bounds[:-1] + need - 1, len(precision))], targets)


def prum(m: Matched, quant: str = "auto", base: str = "auto", nav: str = "contains", A: float = 0.1) -> Floats:
    """Return the chance that an item read on the way to R targets shows a new one, averaged over R = 1 … T."""
    if nav == "distance":
        return _prum_distance(m, A)
    seen = seen_targets(m.elements(quant, base))
    targets = np.diff(seen.bounds)
    topic = np.repeat(np.arange(m.topics), targets)
    reached = seen.rank < NEVER
    fresh = np.diff(seen.rank, prepend=0) != 0
    fresh[seen.bounds[:-1][targets > 0]] = True
    useful = np.cumsum(fresh & reached)  # ranks that show something new, up to the rank of each target
    useful = useful - (useful - (fresh & reached))[seen.bounds[topic]]
    read = np.where(reached, seen.rank, np.diff(m.bounds)[topic])
    return without_base(ratio(total(ratio(useful, read), topic, m.topics), targets), targets)


def _prum_distance(m: Matched, A: float) -> Floats:
    """Return PRUM where items show entry points with probability: every bracket becomes a probability.

    ``below[t, R]`` is the chance that fewer than R entry points were seen so far; it changes only at items that can
    show one, so all topics are carried from one such item to the next.
    """
    p, targets = nearness(m, A), m.prepared.beps_of_topic
    _, rank, _, bounds = near(m)
    most = int(targets.max())
    below = np.ones((m.topics, most + 1))
    below[:, 0] = 0.0
    shown, read, upto = np.zeros_like(below), np.zeros_like(below), np.zeros(m.topics)
    for step in range(int(np.diff(bounds).max())):
        here = np.flatnonzero(np.diff(bounds) > step)
        row = bounds[here] + step
        chance = p[row, None]
        read[here] += below[here] * (rank[row] - upto[here])[:, None]
        shown[here] += below[here] * chance
        upto[here] = rank[row]
        below[here, 1:] += chance * (below[here, :-1] - below[here, 1:])
    read += below * (np.diff(m.a_bounds) - upto)[:, None]
    wanted = np.arange(most + 1) <= targets[:, None]
    return without_base(ratio(np.where(wanted, ratio(shown, read), 0.0).sum(axis=1), targets), targets)


def expected_ratio(
    m: Matched, *, at: int, quant: str = "auto", base: str = "auto", nav: str = "contains", A: float = 0.1
) -> Floats:
    """Return the expected share of the targets that a reader of the first results sees."""
    if nav == "distance":
        targets = m.prepared.beps_of_topic
        return without_base(ratio(seen_within(m, A, at), targets), targets)
    seen = seen_targets(m.elements(quant, base))
    return without_base(ratio(count(seen.rank <= at, seen.bounds), np.diff(seen.bounds)), np.diff(seen.bounds))


NAVIGATION = Parameter(
    "nav",
    "contains",
    "How a reader gets from a result to a target: elements it contains, or the distance to an entry point.",
    ("contains", "distance"),
)
REACH = Parameter("A", STEEPNESS.default, STEEPNESS.summary, only=("nav", "distance"), least=STEEPNESS.least)

_targets = partial(
    Measure,
    needs=("elements",),
    needs_if={("nav", "distance"): ("entry points",)},
    traits=("ideal recall base",),
    parameters=(QUANT, BASE, NAVIGATION, REACH),
    tasks=("focused",),
)

MEASURES = (
    _targets(
        "PRUM",
        prum,
        "Precision-recall with user modelling: how often an item on the way to R ideal elements shows a new one.",
        "piwowarski2005precision",
        formula=r"\frac{\sum_k [\text{new at } k \wedge \text{fewer than } R \text{ before}]}"
        r"{\sum_k [\text{fewer than } R \text{ before } k]}",
        example="One ideal element, first contained in the third result: 1 of 3 items read shows it, 0.3333.",
    ),
    _targets(
        "ERRel",
        expected_ratio,
        "Expected ratio of relevant: the share of the ideal elements that the first results show.",
        "piwowarski2003expected",
        at=("rank",),
        at_required=True,
        formula=r"ERRel@k = \frac{1}{T} \sum_y P(y \text{ seen within } k \text{ ranks})",
        example="Four ideal elements, one of them inside the first result: ERRel@1 = 0.25.",
        perfect=False,
    ),
)
