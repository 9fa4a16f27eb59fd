"""Graded elements, 2002–04: inex_eval (i2) and inex_eval_ng (i3).

i2: precision as the probability that a retrieved element is relevant, at recall levels. Results that the run gives the
same rank form one weak rank, whose elements come in any order (Raghavan et al. 1989).

i3: recall from exhaustivity, precision from specificity, each weighed by text not seen before (Gövert et al. 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from focuseval.engine.native import encoded
from focuseval.errors import MeasureError, MissingDataError
from focuseval.measures.assessed import BEYOND_ONE, quantisation
from focuseval.measures.matching import Matched
from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.recall_base import SLACK, ElementMatch
from focuseval.measures.topicwise import Floats, Integers, ceiling, count_by, ratio, running_count, without_base
from focuseval.measures.xcg import LEVELS, QUANT, over_levels


class WeakRanks(NamedTuple):
    """Groups of results with one rank, blocked by topic; relevant mass in units of the base, counts in results."""

    bounds: Integers  # where each topic's weak ranks begin, and the end of the last
    relevant: Integers  # relevant mass at this rank
    upto: Integers  # relevant mass of the topic up to this rank, itself included
    results: Integers  # results at this rank
    before: Integers  # results of the topic before this rank


def weak_ranks(m: Matched, match: ElementMatch) -> WeakRanks:
    """Group results whose rank in the run is the same; without ranks every result stands alone."""
    begins = np.zeros(len(m), np.bool_)
    begins[m.bounds[:-1][m.answered]] = True
    given = m.run.rank
    begins[1:] |= True if given is None else np.diff(m.column(given)) != 0
    first = np.flatnonzero(begins)
    mass = np.zeros(len(m), np.int64)
    mass[match.hits] = match.hit_gain
    relevant = np.add.reduceat(mass, first)
    topic = m.topic[first]
    gathered = match.gathered[np.searchsorted(match.hits, np.append(first[1:], len(m)))]
    count = np.diff(np.append(first, len(m)))
    bounds = np.searchsorted(first, m.bounds).astype(np.int64)
    upto = gathered - match.gathered[match.hit_bounds[topic]]
    return WeakRanks(bounds, relevant, upto, count, first - m.bounds[topic])


def precall(match: ElementMatch, ranks: WeakRanks, mass: Integers) -> Floats:
    r"""Return the probability of relevance when the user stops at relevant masses: topics × masses, in units.

    .. math:: P = \frac{xn}{xn + j + s \cdot i / (r + 1)}

    `j` is the not-relevant mass of earlier ranks; `r` and `i` are the masses of the rank that reaches ``xn`` and `s`
    the part of `r` still needed there. NaN where the run does not reach the mass.
    """
    unit, best = match.base.unit, match.base.full_list
    offset = best.reach[best.bounds[:-1]]
    reached = np.repeat(offset, np.diff(ranks.bounds)) + ranks.upto
    wanted = offset[:, None] + np.maximum(mass - SLACK * best.length()[:, None], 1)
    at = np.searchsorted(reached, wanted)
    lost = at >= ranks.bounds[1:, None]
    if not len(ranks.results):
        return np.full(mass.shape, np.nan)
    at = np.where(lost, 0, at)
    r, earlier = ranks.relevant[at] * unit, (ranks.upto - ranks.relevant)[at] * unit
    j, i = ranks.before[at] - earlier, ranks.results[at] - r
    return np.where(lost, np.nan, stopped(mass * unit, j, i, r, np.maximum(mass * unit - earlier, 0)))


def stopped(xn: Any, j: Any, i: Any, r: Any, s: Any) -> Any:
    """Evaluate the formula of `precall`; 0 where nothing relevant was asked for."""
    below = xn + j + s * i / (r + 1)
    return ratio(xn, below)


def precall_at(m: Matched, levels: Sequence[Fraction], quant: str = "auto", unretrieved: str = "zero") -> Floats:
    """Return precision at recall levels: topics × levels."""
    chosen = quantisation(quant, m.prepared.gold.scale)
    if chosen in BEYOND_ONE:
        raise MeasureError(
            f"i2AP(quant={chosen}): expected gains from 0 to 1, which are probabilities of relevance; "
            "use strict5 or spec on a gold of 2005"
        )
    match = m.elements(chosen, "full")
    ranks = weak_ranks(m, match)
    mass = np.stack([np.maximum(ceiling(match.base.full_list.total(), level), 1) for level in levels], axis=1)
    found = precall(match, ranks, mass)
    rest = _last_block(m, match, mass) if unretrieved == "block" else 0.0
    found = np.where(np.isnan(found), rest, found)
    return without_base(found, match.base.full_list.length()[:, None])


precall_curve = partial(over_levels, precall_at)


def _last_block(m: Matched, match: ElementMatch, mass: Integers) -> Floats:
    """Return precision when all elements that the run left out stand together on one last weak rank.

    What the run returned twice is missing from the rest once. A topic that it does not answer scores 0, as everywhere.
    """
    index = m.prepared.index
    if index is None:
        raise MissingDataError(
            "i2AP(unretrieved=block): the collection's number of elements is unknown; "
            "build its index with 'focuseval index' and give index="
        )
    unit, returned = match.base.unit, np.diff(m.bounds)[:, None]
    gained = np.diff(match.gathered[match.hit_bounds])[:, None] * unit
    r = match.base.full_list.total()[:, None] * unit - gained
    i = np.maximum(index.element_bounds[-1] - _distinct(m)[:, None] - r, 0)
    found = stopped(mass * unit, returned - gained, i, r, np.maximum(mass * unit - gained, 0))
    return np.where(m.answered[:, None], found, 0.0)


def _distinct(m: Matched) -> Integers:
    """Return how many different elements of the collection every topic's list holds."""
    if m.path is None:
        return np.diff(m.bounds)
    path = encoded(m.path)
    pair = m.article.astype(np.int64) * len(path.dictionary) + path.indices.to_numpy(zero_copy_only=False)
    known = np.flatnonzero(~m.places.unplaced)
    _, first = np.unique(pair[known], return_index=True)
    return np.bincount(m.topic[known[first]], minlength=m.topics)


def average_precall(m: Matched, quant: str = "auto", unretrieved: str = "zero", at: Fraction | None = None) -> Floats:
    """Return the mean precision over the recall levels .01 … 1, or precision at one level.

    An element of gain q puts q on *relevant* and 1 − q on *not relevant* at its rank; n is the gain of the whole recall
    base. In the formula j is the not-relevant mass of earlier ranks, r and i the masses of the rank that reaches x·n,
    and s the part of r still needed there. Results of one rank come in any order.
    """
    return np.asarray(precall_at(m, LEVELS if at is None else [at], quant, unretrieved).mean(axis=1))


UNRETRIEVED = Parameter("unretrieved", "zero",
    "Levels that the run does not reach: 0, or all other elements of the collection as one last rank.",
    ("zero", "block"))  # fmt: skip
BOTH = Parameter("quant", "gen", "Quantisation of both dimensions.", ("strict", "gen"), always=True)
OVERLAP = Parameter("overlap", "yes", "Whether text that was returned before is left out.", ("yes", "no"))
_ONE = 2**36  # recall is summed in integers: so many units are one grade of exhaustivity


def recall_precision(m: Matched, quant: str = "gen", overlap: str = "yes") -> tuple[Integers, Floats, Integers]:
    r"""Return, for every result, the recall mass of its topic so far and precision, and every topic's total mass.

    .. math:: r_o = \frac{\sum_i e(c_i) |c'_i| / |c_i|}{\sum_{base} e(c)}, \quad
              p_o = \frac{\sum_i s(c_i) |c'_i|}{\sum_i |c'_i|}
    """
    assessed, scale = m.prepared.assessed, m.prepared.gold.scale
    if scale != "grades":
        raise MissingDataError(
            f"i3AP needs grades of exhaustivity and specificity (2003–04), found a gold of scale {scale!r}; "
            "use MAep, or i2AP for 2002"
        )
    match, elements = m.match_base(assessed.graded), assessed.elements
    e, s = (column[match.base.source] for column in (elements.exhaustivity, elements.specificity))
    if quant != "gen":  # 0 and 1; else thirds
        e, s = e == 3, s == 3
    total = count_by(e, match.base.topic, m.topics) * _ONE
    new, size = (m.size if overlap == "no" else m.new_size), m.size
    hit, row = match.hits, match.row[match.hits]
    mass, specific = np.zeros(len(m), np.int64), np.zeros(len(m), np.int64)
    mass[hit] = np.rint(ratio(e[row] * new[hit], size[hit]) * _ONE)
    specific[hit] = s[row] * new[hit]
    top = 3 if quant == "gen" else 1
    precision = ratio(running_count(specific, m.bounds), top * running_count(new, m.bounds))
    return running_count(mass, m.bounds), precision, total


def graded_at(m: Matched, levels: Sequence[Fraction], quant: str = "gen", overlap: str = "yes") -> Floats:
    """Return precision at the first rank that reaches each recall level: topics × levels."""
    mass, precision, total = recall_precision(m, quant, overlap)
    offset = np.cumsum(total) - total
    wanted = np.stack([ceiling(total, level) for level in levels], axis=1)
    slack = np.diff(m.bounds)[:, None]  # rounding to units: at most half a unit a result
    at = np.searchsorted(np.repeat(offset, np.diff(m.bounds)) + mass, offset[:, None] + np.maximum(wanted - slack, 1))
    found = np.where(at < m.bounds[1:, None], np.append(precision, 0.0)[at], 0.0)
    return without_base(found, total[:, None])


graded_curve = partial(over_levels, graded_at)


def average_graded_precision(
    m: Matched, quant: str = "gen", overlap: str = "yes", at: Fraction | None = None
) -> Floats:
    """Return the mean precision over the recall levels .01 … 1, or at one; 0 at levels that the run does not reach.

    Exhaustivity e and specificity s are quantised apart (strict: 3 is 1, all else 0; generalised: a third a grade); c′
    is the text of a result c that no earlier result returned.
    """
    return np.asarray(graded_at(m, LEVELS if at is None else [at], quant, overlap).mean(axis=1))


MEASURES = (
    Measure("i2AP", average_precall,
        "inex_eval: the probability that a retrieved element is relevant, at a recall level or its mean over .01 … 1.",
        "goevert2002overview", needs=("elements",), needs_if={("unretrieved", "block"): ("elements", "index")},
        traits=("two dimensions",), at=("level",), parameters=(QUANT, UNRETRIEVED), perfect=False, tasks=("thorough",),
        curve=precall_curve,
        formula=r"P(x) = \frac{xn}{xn + j + s \cdot i / (r + 1)}",
        example="Gains 1, .5 of n = 6.75: at relevant mass 1 precision is 1, at 1.5 it is 1.5/(1.5 + .25/1.5) = 0.9."),
    Measure("i3AP", average_graded_precision,
        "inex_eval_ng: precision by specificity, recall by exhaustivity; at a recall level, or its mean over .01 … 1.",
        "goevert2005effectiveness", needs=("grades", "spans"), traits=("two dimensions",), at=("level",),
        parameters=(BOTH, OVERLAP), perfect=False, tasks=("thorough",), curve=graded_curve,
        formula=r"r_o = \frac{\sum e(c_i) |c'_i| / |c_i|}{\sum e(c)}, \; p_o = \frac{\sum s(c_i) |c'_i|}{\sum |c'_i|}",
        example="(e,s) 33 of 360 characters, then 22 of 266: p = (360 + 266 · 2/3) / 626 = 0.86."),
)  # fmt: skip
