"""HiXEval: precision and recall of highlighted text, result by result, counting only text not returned before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.characters import harmonic
from focuseval.measures.measure import Measure
from focuseval.measures.topicwise import count, ratio, running, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    Floats = NDArray[np.float64]


def purity(m: Matched) -> tuple[NDArray[np.int64], Floats]:
    """Return the rows that add highlighted text, and the share of each that it adds; all other shares are 0."""
    rows = np.flatnonzero(m.new_rsize)
    return rows, m.new_rsize[rows] / m.size[rows]


def hix_precision(m: Matched, at: int) -> Floats:
    """Return the mean share of new highlighted text over the first `at` results."""
    rows, share = purity(m)
    kept = m.rank[rows] <= at
    return total(share[kept], m.topic[rows[kept]], m.topics) / at


def hix_recall(m: Matched, at: int) -> Floats:
    """Return the share of the topic's highlighted text that the first `at` results return."""
    return ratio(count(np.where(m.rank <= at, m.new_rsize, 0), m.bounds), m.prepared.trel_of_topic)


def hix_f(m: Matched, at: int) -> Floats:
    """Return the harmonic mean of hP and hR."""
    return harmonic(hix_precision(m, at), hix_recall(m, at))


def hix_average_precision(m: Matched) -> Floats:
    """Return hP at every rank, weighted by the share of the highlighted text that the rank adds."""
    rows, share = purity(m)
    topic = m.topic[rows]
    bounds = np.searchsorted(topic, np.arange(m.topics + 1))
    precision = running(share, bounds) / m.rank[rows]
    return ratio(total(precision * m.new_rsize[rows], topic, m.topics), m.prepared.trel_of_topic)


_overall = partial(Measure, cite="pehcevski2006hixeval", needs=("spans",))
_at_rank = partial(_overall, at=("rank",), at_required=True, perfect=False)

MEASURES = (
    _at_rank(
        "hP",
        hix_precision,
        "Mean share of new highlighted text in the first results.",
        formula=r"hP@r = \frac{1}{r} \sum_{i \le r} \frac{\text{new } rsize(e_i)}{size(e_i)}",
        example="One fully highlighted section, then two without any: hP@3 = 0.3333.",
    ),
    _at_rank(
        "hR",
        hix_recall,
        "Share of the highlighted text in the first results.",
        formula=r"hR@r = \frac{1}{Trel(t)} \sum_{i \le r} \text{new } rsize(e_i)",
        example="99 of 198 highlighted characters in the first three results: hR@3 = 0.5.",
    ),
    _at_rank(
        "hF",
        hix_f,
        "Harmonic mean of hP and hR.",
        formula=r"hF@r = \frac{2\, hP@r\, hR@r}{hP@r + hR@r}",
        example="hP@3 = 1, hR@3 = 0.5: hF@3 = 0.6667.",
    ),
    _overall(
        "hAP",
        hix_average_precision,
        "Average precision of highlighted text.",
        formula=r"hAP = \sum_r hP@r \cdot \frac{\text{new } rsize(e_r)}{Trel(t)}",
        example="Three highlighted paragraphs, half of the topic's text, at ranks 1 to 3: hAP = 0.5.",
    ),
)
"""HiXEval, at a rank and over the whole list."""
