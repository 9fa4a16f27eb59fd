"""EPRUM on best entry points: expected precision and recall of a reader who may miss what is near.

Item *i* shows its article's best entry point with probability ``p_i = s(x_i, b)``, independently of the others.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.entry_point import STEEPNESS, near, nearness, seen_within
from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.topicwise import ceiling, ratio, running, total, without_base

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    Floats = NDArray[np.float64]


def expected_precision(m: Matched, A: float, nav: str, at: Fraction | None = None) -> Floats:
    """Return the expected precision at a recall level, or, without one, its mean over R = 1 … T (MAP).

    An item shows its article's best entry point with probability s(x, b), see BEPD, independently of the others; with
    ``nav=contains`` the targets are the ideal elements, and a result shows those that it contains.

    The mean needs no distribution: summed over R, the chance to reach the R-th point at rank k, times R, is the chance
    to see the point at k, times the expected number of points seen by then.
    """
    if nav == "contains":
        from focuseval.measures.prum import eprum_contains  # noqa: PLC0415  needs the element measures

        return eprum_contains(m, at)
    base = m.prepared.beps_of_topic
    if at is not None:
        need = np.maximum(ceiling(base, at), 1)
        table = precision_by_recall(m, A)
        return without_base(table[np.arange(m.topics), np.minimum(need, table.shape[1]) - 1], base)
    p, (topic, rank, _, bounds) = nearness(m, A), near(m)
    gain = p * (1 + running(p, bounds) - p) / rank
    return without_base(ratio(total(gain, topic, m.topics), base), base)


def precision_by_recall(m: Matched, A: float) -> Floats:
    """Return precision(R) for every topic (rows) and R = 1, 2 … (columns; 0 beyond what can be reached).

    The number of points seen so far has a Poisson binomial distribution; it is carried from one possible point to the
    next for all topics at once.
    """
    p, (_, rank, _, bounds) = nearness(m, A), near(m)
    most = max(int(np.diff(bounds).max()), int(m.prepared.beps_of_topic.max()))
    chance = np.zeros((m.topics, most + 1))
    chance[:, 0] = 1.0
    precision = np.zeros((m.topics, most))
    for step in range(int(np.diff(bounds).max())):
        here = np.flatnonzero(np.diff(bounds) > step)
        row = bounds[here] + step
        seen = p[row, None] * chance[here, :-1]
        precision[here] += seen * (np.arange(1, most + 1) / rank[row, None])
        chance[here] *= 1 - p[row, None]
        chance[here, 1:] += seen
    return precision


def precision_at_rank(m: Matched, A: float, at: int) -> Floats:
    """Return the expected number of best entry points seen in the first `at` ranks, divided by `at`."""
    return without_base(seen_within(m, A, at) / at, m.prepared.beps_of_topic)


def precision_recall_curve(m: Matched, A: float = 0.1, nav: str = "distance") -> tuple[Floats, Floats]:
    """Return the recall levels .01 … 1 and, for every topic, the expected precision at each."""
    if nav == "contains":
        from fractions import Fraction  # noqa: PLC0415  only this curve counts levels one by one

        levels = [expected_precision(m, A, nav, Fraction(i, 100)) for i in range(1, 101)]
        return np.arange(1, 101) / 100, np.stack(levels, axis=1)
    base, table = m.prepared.beps_of_topic, precision_by_recall(m, A)
    need = np.maximum(-(-base[:, None] * np.arange(1, 101) // 100), 1)
    points = np.take_along_axis(table, np.minimum(need, table.shape[1]) - 1, axis=1)
    return np.arange(1, 101) / 100, np.where(base[:, None] > 0, points, np.nan)


_entry_points = partial(
    Measure,
    cite="piwowarski2006evaluation",
    needs=("entry points",),
    traits=("grouped output",),
    tasks=("best-in-context",),
    topicwise=False,
)

MEASURES = (
    _entry_points(
        "EPRUM",
        expected_precision,
        "Expected precision with user modelling: its mean over recall, or its value at a recall level.",
        needs_if={("nav", "contains"): ("elements",)},
        at=("level",),
        parameters=(
            replace(STEEPNESS, always=False, only=("nav", "distance")),
            Parameter("nav", "distance", "How a reader gets from a result to a target.", ("distance", "contains")),
        ),
        formula=r"precision(R) = \sum_k \frac{R}{k}\, P(\text{the } R\text{-th point is first reached at rank } k)",
        example="One best entry point, seen at rank 2 with probability 0.5: 0.5 · 1/2 = 0.25.",
        curve=precision_recall_curve,
    ),
    _entry_points(
        "EPRUM-P",
        precision_at_rank,
        "Expected precision of entry points at a rank.",
        at=("rank",),
        at_required=True,
        parameters=(STEEPNESS,),
        formula=r"EPRUM\text{-}P@r = \frac{1}{r} \sum_{i \le r} p_i",
        example="Probabilities 1, 0.5, 0 at three ranks: EPRUM-P@3 = 0.5.",
        perfect=False,
    ),
)
"""Expected precision and recall with user modelling, for best entry points."""
