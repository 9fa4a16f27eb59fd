"""Best in context, 2006: how near the returned entry points are to the best ones (BEPD)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.topicwise import ratio, total, without_base

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    Floats = NDArray[np.float64]


class NearEntry(NamedTuple):
    """The returned articles that have a best entry point and a known entry, in rank order; all others score 0."""

    topic: NDArray[np.int64]
    rank: NDArray[np.int64]
    distance: NDArray[np.int64]
    """Characters between the entry point and the best one."""
    bounds: NDArray[np.int64]
    """Where each topic's articles begin, and the end of the last."""


def near(m: Matched) -> NearEntry:
    """Return the articles that can score, made once: a run returns many and enters few where it should."""
    made: NearEntry | None = m.made.get("near entry points")
    if made is None:
        rows = np.flatnonzero((m.a_bep >= 0) & (m.a_entry >= 0))
        topic, distance = m.a_topic[rows].astype(np.int64), np.abs(m.a_entry[rows] - m.a_bep[rows])
        bounds = np.searchsorted(rows, m.a_bounds).astype(np.int64)
        made = m.made["near entry points"] = NearEntry(topic, m.a_rank[rows], distance, bounds)
    return made


def nearness(m: Matched, A: float) -> Floats:
    r"""Return s(x, b) of the articles that `near` names.

    .. math:: s(x, b) = \frac{A L}{A L + |x - b|}

    `L` is the mean article length in the collection.
    """
    reach, distance = A * m.prepared.mean_length, near(m).distance
    return ratio(np.full(len(distance), reach), reach + distance)


def seen_within(m: Matched, A: float, at: int | None = None) -> Floats:
    """Return, for every topic, the sum of s(x, b) over the first `at` articles, or over all."""
    p, (topic, rank, _, _) = nearness(m, A), near(m)
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

MEASURES = (
    Measure(
        "BEPD",
        bep_distance,
        "Nearness of the returned entry points to the best ones.",
        "lalmas2007inex",
        needs=("entry points",),
        traits=("grouped output",),
        parameters=(STEEPNESS,),
        formula=r"BEPD(A) = \frac{1}{T} \sum_a \frac{A L}{A L + |x_a - b_a|}",
        example="A = 0.1, L = 1000, distances 0 and 100, two best entry points: (1 + 0.5) / 2 = 0.75.",
        tasks=("best-in-context",),
        topicwise=False,
    ),
)
"""Distance from the best entry point."""
