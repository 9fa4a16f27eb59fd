"""Best in context, 2006: how near the returned entry points are to the best ones (BEPD)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.topicwise import ratio, total, without_base

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.match import Matched

    Floats = NDArray[np.float64]


def nearness(m: Matched, A: float) -> Floats:
    r"""Return s(x, b) of every returned article, 0 without a best entry point.

    .. math:: s(x, b) = \frac{A L}{A L + |x - b|}

    `L` is the mean article length in the collection.
    """
    reach = A * m.prepared.mean_length
    known = (m.a_bep >= 0) & (m.a_entry >= 0)
    distance = np.abs(m.a_entry - m.a_bep)
    return np.where(known, ratio(np.full(len(known), reach), reach + distance), 0.0)


def bep_distance(m: Matched, A: float) -> Floats:
    """Return the sum of s(x, b) over the returned articles, divided by the topic's number of best entry points.

    s(x, b) is A·L / (A·L + distance): 1 at the best entry point, 1/2 at A mean article lengths from it.
    """
    base = m.prepared.beps_of_topic
    return without_base(ratio(total(nearness(m, A), m.a_topic, m.topics), base), base)


STEEPNESS = Parameter(
    "A", 0.1, "How far from the best entry point still counts, in mean article lengths.", always=True, least=1e-9
)

ENTRY_POINT = (
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
    ),
)
"""Distance from the best entry point."""
