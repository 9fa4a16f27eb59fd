r"""inex_eval_ng (i3, 2003): recall from exhaustivity, precision from specificity, each weighed by text not seen before.

Exhaustivity and specificity are quantised apart (strict: 3 → 1, else 0; generalised: a third a grade), and ``c′`` is
the text of a result ``c`` that no earlier result returned (Gövert et al. 2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.measures.matching.elements import match_base
from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.topicwise import ceiling, count_by, ratio, running_count, without_base
from focuseval.measures.xcg import LEVELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.elements import ElementMatch
    from focuseval.measures.matching.matched import Matched
    from focuseval.measures.recall_base import RecallBase

_ONE = 2**36
"""Recall is summed in integers: so many units are one grade of exhaustivity."""


def graded_base(m: Matched) -> RecallBase:
    """Return the base of all elements with any grade, whatever a quantisation makes of it."""
    assessed = m.prepared.assessed
    if assessed.gold.scale != "grades":
        raise MissingDataError(
            f"i3AP needs grades of exhaustivity and specificity (2003–04), found a gold of scale "
            f"{assessed.gold.scale!r}; use MAep, or i2AP for 2002"
        )
    return assessed.graded


def _grades(match: ElementMatch, m: Matched, quant: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return quantised exhaustivity and specificity of every base row, as integers: thirds, or 0 and 1."""
    elements = m.prepared.assessed.elements
    e, s = (column[match.base.source] for column in (elements.exhaustivity, elements.specificity))
    return (e, s) if quant == "gen" else (e == 3, s == 3)


def recall_precision(
    m: Matched, quant: str = "gen", overlap: str = "yes"
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    r"""Return, for every result, the recall mass of its topic so far and precision, and every topic's total mass.

    .. math:: r_o = \frac{\sum_i e(c_i) |c'_i| / |c_i|}{\sum_{base} e(c)}, \quad
              p_o = \frac{\sum_i s(c_i) |c'_i|}{\sum_i |c'_i|}
    """
    match = match_base(m, graded_base(m))
    e, s = _grades(match, m, quant)
    total = count_by(e, match.base.topic, m.topics) * _ONE
    new, size = (m.size if overlap == "no" else m.new_size), m.size
    hit, row = match.hits, match.row[match.hits]
    mass, specific = np.zeros(len(m), np.int64), np.zeros(len(m), np.int64)
    mass[hit] = np.rint(ratio(e[row] * new[hit], size[hit]) * _ONE)
    specific[hit] = s[row] * new[hit]
    top = 3 if quant == "gen" else 1
    precision = ratio(running_count(specific, m.bounds), top * running_count(new, m.bounds))
    return running_count(mass, m.bounds), precision, total


def graded_curve(m: Matched, quant: str = "gen", overlap: str = "yes") -> tuple[Any, NDArray[np.float64]]:
    """Return the 100 recall levels and, for every topic, precision at the first rank that reaches each."""
    mass, precision, total = recall_precision(m, quant, overlap)
    offset = np.cumsum(total) - total
    wanted = np.stack([ceiling(total, level) for level in LEVELS], axis=1)
    slack = np.diff(m.bounds)[:, None]  # rounding to units: at most half a unit a result
    at = np.searchsorted(np.repeat(offset, np.diff(m.bounds)) + mass, offset[:, None] + np.maximum(wanted - slack, 1))
    found = np.where(at < m.bounds[1:, None], np.append(precision, 0.0)[at], 0.0)
    return np.array(LEVELS, np.float64), without_base(found, total[:, None])


def average_graded_precision(m: Matched, quant: str = "gen", overlap: str = "yes") -> NDArray[np.float64]:
    """Return the mean precision over the recall levels .01 … 1; 0 at levels that the run does not reach.

    Exhaustivity e and specificity s are quantised apart (strict: 3 is 1, all else 0; generalised: a third a grade); c′
    is the text of a result c that no earlier result returned.
    """
    return np.asarray(graded_curve(m, quant, overlap)[1].mean(axis=1))


MEASURES = (
    Measure(
        "i3AP",
        average_graded_precision,
        "inex_eval_ng: mean over recall levels .01 … 1 of precision in text, where recall is exhaustivity found.",
        "goevert2005effectiveness",
        needs=("grades", "spans"),
        traits=("two dimensions",),
        parameters=(
            Parameter("quant", "gen", "Quantisation of both dimensions.", ("strict", "gen"), always=True),
            Parameter("overlap", "yes", "Whether text that was returned before is left out.", ("yes", "no")),
        ),
        formula=r"r_o = \frac{\sum e(c_i) |c'_i| / |c_i|}{\sum e(c)}, \; p_o = \frac{\sum s(c_i) |c'_i|}{\sum |c'_i|}",
        example="(e,s) 33 of 360 characters, then 22 of 266: p = (360 + 266 · 2/3) / 626 = 0.86.",
        perfect=False,
        tasks=("thorough",),
        curve=graded_curve,
    ),
)
