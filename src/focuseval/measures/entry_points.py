"""Entry points and readers who navigate: BEPD, EPRUM, PRUM and ERRel.

Best in context (2006) asks how near the returned entry points are to the best ones (BEPD). EPRUM and PRUM model a
reader who sees a target with some probability. Navigation ``distance``: item *i* shows its article's best entry point
with probability ``p_i = s(x_i, b)``, independently of the others. Navigation ``contains``: the targets are the
elements of the ideal recall base, and a result shows every target that it contains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from focuseval.data.spans import spread
from focuseval.errors import MeasureError
from focuseval.measures.matching import Matched
from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.recall_base import ElementMatch
from focuseval.measures.topicwise import Floats, Integers, ceiling, count, once, ratio, running, total, without_base
from focuseval.measures.xcg import BASE, LEVELS, QUANT


class NearEntry(NamedTuple):
    """The returned articles that have a best entry point and a known entry, in rank order; all others score 0."""

    topic: Integers
    rank: Integers
    p: Floats  # nearness of the entry to the best one, s(x, b)
    bounds: Integers  # where each topic's articles begin, and the end of the last


@once
def near(m: Matched, A: float) -> NearEntry:
    r"""Return the articles that can score: a run returns many and enters few where it should.

    .. math:: s(x, b) = \frac{A L}{A L + |x - b|}

    `L` is the mean article length in the collection.
    """
    reach = A * m.prepared.mean_length
    best, entry = m.of_gold(m.prepared.bep, missing=-1), m.places.entry[m.a_first]
    rows = np.flatnonzero((best >= 0) & (entry >= 0))
    p = ratio(np.full(len(rows), reach), reach + np.abs(entry[rows] - best[rows]))
    bounds = np.searchsorted(rows, m.a_bounds).astype(np.int64)
    return NearEntry(m.a_topic[rows].astype(np.int64), m.a_rank[rows], p, bounds)


def seen_within(m: Matched, A: float, at: int | None = None) -> Floats:
    """Return, for every topic, the sum of s(x, b) over the first `at` articles, or over all."""
    topic, rank, p, _ = near(m, A)
    return total(p if at is None else np.where(rank <= at, p, 0.0), topic, m.topics)


def bep_distance(m: Matched, A: float) -> Floats:
    """Return the sum of s(x, b) over the returned articles, divided by the topic's number of best entry points.

    s(x, b) is A·L / (A·L + distance): 1 at the best entry point, 1/2 at A mean article lengths from it.
    """
    base = m.prepared.beps_of_topic
    return without_base(ratio(seen_within(m, A), base), base)


STEEPNESS = Parameter(
    "A", 0.1, "How far from the best entry point still counts, in mean article lengths.", always=True, least=1e-9
)


NEVER = np.iinfo(np.int64).max  # the rank of a target that no result shows


class Seen(NamedTuple):
    """Targets of all topics in the order in which the run shows them: the R-th of a topic is reached at its rank."""

    bounds: Integers  # where each topic's targets begin, and the end of the last
    rank: Integers  # the rank that first shows R targets, ascending within the topic; NEVER where none does
    least: Integers  # m(R): the fewest whole articles whose targets total at least R


@once
def seen_targets(match: ElementMatch) -> Seen:
    """Return when the targets of every topic come into sight, and how soon they could have."""
    base = match.base
    judged = np.flatnonzero((match.code >= 0) & (match.article >= 0))
    inside = base.within(match.article[judged], match.code[judged])
    low, high = (np.searchsorted(base.ideal, rows) for rows in inside)
    target, result = spread(low, high - low), np.repeat(judged, high - low)
    topic = base.topic[base.ideal]
    first = np.full(len(topic), NEVER, np.int64)  # for every target, the rank of the first result that contains it
    rank = result - match.bounds[topic[target]] + 1
    first[target[::-1]] = rank[::-1]  # backwards: the first rank is written last, and stays
    bounds = np.searchsorted(topic, np.arange(base.topics + 1)).astype(np.int64)
    article, targets = np.unique(base.article[base.ideal], return_counts=True)
    owner = base.topic_of_article[article]
    order = np.lexsort((-targets, owner))  # articles with many targets first
    nth = np.arange(1, len(owner) + 1) - np.searchsorted(owner[order], owner[order])
    least = np.repeat(nth, targets[order])
    return Seen(bounds, first[np.lexsort((first, topic))], least)


class OverRecall(NamedTuple):
    """Precision at R = 1 … T targets, for every topic on end."""

    precision: Floats
    targets: Integers  # T of every topic

    def value(self, level: Fraction | None) -> Floats:
        """Return precision at a recall level, or, without one, the mean over R."""
        if level is not None:
            return self.at([level])[:, 0]
        topic = np.repeat(np.arange(len(self.targets)), self.targets)
        return without_base(ratio(total(self.precision, topic, len(self.targets)), self.targets), self.targets)

    def at(self, levels: Sequence[Fraction]) -> Floats:
        """Return precision at recall levels, R = ⌈level · T⌉: topics × levels."""
        need = np.stack([np.maximum(ceiling(self.targets, level), 1) for level in levels], axis=1)
        place = (np.cumsum(self.targets) - self.targets)[:, None] + need - 1
        found = np.append(self.precision, 0.0)[np.minimum(place, len(self.precision))]
        return without_base(found, self.targets[:, None])


def prum(m: Matched, *, at: Fraction | None = None, **parameters: Any) -> Floats:
    """Return the chance that an item read on the way to R targets shows a new one, averaged over R = 1 … T.

    At a recall level l it is PRUM(l) of Kazai and Lalmas (2005): R is ⌈l · T⌉.
    """
    return prum_over_recall(m, **parameters).value(at)


def prum_over_recall(
    m: Matched, quant: str = "auto", base: str = "auto", nav: str = "contains", A: float = 0.1
) -> OverRecall:
    """Return the share of the items read on the way to R targets that show a new one.

    Where items show entry points with probability (``nav=distance``), every bracket becomes a probability.
    """
    if nav == "contains":
        seen = seen_targets(m.elements(quant, base))
        targets = np.diff(seen.bounds)
        topic = np.repeat(np.arange(m.topics), targets)
        reached = seen.rank < NEVER
        fresh = np.diff(seen.rank, prepend=0) != 0
        fresh[seen.bounds[:-1][targets > 0]] = True
        useful = np.cumsum(fresh & reached)  # ranks that show something new, up to the rank of each target
        useful = useful - (useful - (fresh & reached))[seen.bounds[topic]]
        read = np.where(reached, seen.rank, np.diff(m.bounds)[topic])
        return OverRecall(ratio(useful, read), targets)
    (_, rank, p, bounds), targets = near(m, A), m.prepared.beps_of_topic
    most = int(targets.max())
    # The chance, for each topic and R, that fewer than R entry points were seen so far; it changes only at items that
    # can show one, so all topics are carried from one such item to the next.
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
    wanted = np.arange(1, most + 1) <= targets[:, None]
    return OverRecall(ratio(shown, read)[:, 1:][wanted], targets)


def expected_ratio(
    m: Matched, *, at: int, quant: str = "auto", base: str = "auto", nav: str = "contains", A: float = 0.1
) -> Floats:
    """Return the expected share of the targets that a reader of the first results sees."""
    if nav == "distance":
        targets = m.prepared.beps_of_topic
        return without_base(ratio(seen_within(m, A, at), targets), targets)
    seen = seen_targets(m.elements(quant, base))
    return without_base(ratio(count(seen.rank <= at, seen.bounds), np.diff(seen.bounds)), np.diff(seen.bounds))


NAVIGATION = Parameter("nav", "contains",
    "How a reader gets from a result to a target: elements it contains, or the distance to an entry point.",
    ("contains", "distance"))  # fmt: skip
REACH = Parameter("A", STEEPNESS.default, STEEPNESS.summary, only=("nav", "distance"), least=STEEPNESS.least)

_targets = partial(Measure, needs=("elements",), needs_if={("nav", "distance"): ("entry points",)},
    traits=("ideal recall base",), parameters=(QUANT, BASE, NAVIGATION, REACH), tasks=("focused",))  # fmt: skip


def expected_precision(m: Matched, A: float, nav: str, *, at: Fraction | None = None, **of_elements: str) -> Floats:
    """Return the expected precision at a recall level, or, without one, its mean over R = 1 … T (MAP).

    An item shows its article's best entry point with probability s(x, b), see BEPD, independently of the others; with
    ``nav=contains`` the targets are the ideal elements, and a result shows those that it contains. These are the three
    parameters of Lalmas et al. (2007), section 7.2: what is rewarded, what it is worth, and how a reader gets there.
    """
    if nav == "contains" or at is not None:
        return eprum_over_recall(m, A, nav, **of_elements).value(at)
    # The mean needs no distribution: summed over R, the chance to reach the R-th point at rank k, times R, is the
    # chance to see the point at k, times the expected number of points seen by then.
    beps = entry_points_alone(m, **of_elements)
    topic, rank, p, bounds = near(m, A)
    gain = p * (1 + running(p, bounds) - p) / rank
    return without_base(ratio(total(gain, topic, m.topics), beps), beps)


def entry_points_alone(m: Matched, quant: str = "auto", **_: str) -> Integers:
    """Return every topic's number of best entry points, all worth the same: a quantisation is refused."""
    if quant != "auto":
        raise MeasureError(f"EPRUM(quant={quant}): entry points have no grades; add nav=contains for elements")
    return m.prepared.beps_of_topic


def eprum_over_recall(
    m: Matched, A: float = 0.1, nav: str = "distance", quant: str = "auto", base: str = "auto"
) -> OverRecall:
    """Return precision(R): m(R)/k by containment, expected by distance; 0 where R is not reached.

    By distance the number of points seen so far has a Poisson binomial distribution; it is carried from one possible
    point to the next for all topics at once.
    """
    if nav == "contains":
        seen = seen_targets(m.elements(quant, base))
        return OverRecall(np.where(seen.rank < NEVER, seen.least / seen.rank, 0.0), np.diff(seen.bounds))
    beps, (_, rank, p, bounds) = entry_points_alone(m, quant), near(m, A)
    most = max(int(np.diff(bounds).max()), int(beps.max()))
    chance = np.zeros((m.topics, most + 1))
    chance[:, 0] = 1.0
    precision = np.zeros((m.topics, most))
    for step in range(int(np.diff(bounds).max())):
        here = np.flatnonzero(np.diff(bounds) > step)
        row = bounds[here] + step
        seen_now = p[row, None] * chance[here, :-1]
        precision[here] += seen_now * (np.arange(1, most + 1) / rank[row, None])
        chance[here] *= 1 - p[row, None]
        chance[here, 1:] += seen_now
    return OverRecall(precision[np.arange(1, most + 1) <= beps[:, None]], beps)


def precision_at_rank(
    m: Matched, A: float, nav: str = "distance", quant: str = "auto", base: str = "auto", *, at: int
) -> Floats:
    """Return the expected number of best entry points seen in the first `at` ranks, divided by `at`.

    With ``nav=contains`` it is equation 16 of Lalmas et al. (2007) for the ideal elements: the fewest articles that
    hold as many of them as the first `at` results show, divided by `at`.
    """
    if nav == "distance":
        return without_base(seen_within(m, A, at) / at, entry_points_alone(m, quant))
    seen = seen_targets(m.elements(quant, base))
    targets, reached = np.diff(seen.bounds), count(seen.rank <= at, seen.bounds)
    least = np.append(seen.least, 0)[np.maximum(seen.bounds[:-1] + reached - 1, 0)]
    return without_base(np.where(reached > 0, least, 0) / at, targets)


def curve_of(over_recall: Callable[..., OverRecall], m: Matched, **parameters: Any) -> tuple[Floats, Floats]:
    """Return a curve: the recall levels .01 … 1 and, for every topic, precision at each."""
    return np.array(LEVELS, np.float64), over_recall(m, **parameters).at(LEVELS)


prum_curve, precision_recall_curve = partial(curve_of, prum_over_recall), partial(curve_of, eprum_over_recall)


_entry_points = partial(Measure, cite="piwowarski2006evaluation", needs=("entry points",), traits=("grouped output",),
    tasks=("best-in-context",), topicwise=False)  # fmt: skip
_TO_ENTRY_POINT = Parameter("nav", "distance", "How a reader gets from a result to a target.", ("distance", "contains"))

MEASURES = (
    _entry_points("BEPD", bep_distance, "Nearness of the returned entry points to the best ones.",
        cite="lalmas2007inex", parameters=(STEEPNESS,),
        formula=r"BEPD(A) = \frac{1}{T} \sum_a \frac{A L}{A L + |x_a - b_a|}",
        example="A = 0.1, L = 1000, distances 0 and 100, two best entry points: (1 + 0.5) / 2 = 0.75."),
    _targets("PRUM", prum,
        "Precision-recall with user modelling: how often an item on the way to R ideal elements shows a new one.",
        "piwowarski2005precision", at=("level",), curve=prum_curve,
        formula=r"\frac{\sum_k [\text{new at } k \wedge \text{fewer than } R \text{ before}]}"
        r"{\sum_k [\text{fewer than } R \text{ before } k]}",
        example="One ideal element, first contained in the third result: 1 of 3 items read shows it, 0.3333; "
        "PRUM@0.5 is that on the way to half of the ideal elements."),
    _targets("ERRel", expected_ratio,
        "Expected ratio of relevant: the share of the ideal elements that the first results show.",
        "piwowarski2003expected", at=("rank",), at_required=True, perfect=False,
        formula=r"ERRel@k = \frac{1}{T} \sum_y P(y \text{ seen within } k \text{ ranks})",
        example="Four ideal elements, one of them inside the first result: ERRel@1 = 0.25."),
    _entry_points("EPRUM", expected_precision,
        "Expected precision with user modelling: its mean over recall, or its value at a recall level.",
        needs_if={("nav", "contains"): ("elements",)}, at=("level",), parameters=(REACH, _TO_ENTRY_POINT, QUANT, BASE),
        curve=precision_recall_curve,
        formula=r"precision(R) = \sum_k \frac{R}{k}\, P(\text{the } R\text{-th point is first reached at rank } k)",
        example="One best entry point, seen at rank 2 with probability 0.5: 0.5 · 1/2 = 0.25."),
    _entry_points("EPRUM-P", precision_at_rank, "Expected precision of entry points at a rank.", at=("rank",),
        at_required=True, needs_if={("nav", "contains"): ("elements",)},
        parameters=(REACH, _TO_ENTRY_POINT, QUANT, BASE), perfect=False,
        formula=r"EPRUM\text{-}P@r = \frac{1}{r} \sum_{i \le r} p_i",
        example="Probabilities 1, 0.5, 0 at three ranks: EPRUM-P@3 = 0.5."),
)  # fmt: skip
