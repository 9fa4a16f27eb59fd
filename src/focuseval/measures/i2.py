r"""inex_eval (i2, 2002–04): precision as the probability that a retrieved element is relevant, at recall levels.

An element of gain ``q`` puts the mass ``q`` on *relevant* and ``1 − q`` on *not relevant* at its rank. Results that
the run gives the same rank form one weak rank, whose elements come in any order (Raghavan et al. 1989).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focuseval.collection.paths import encoded
from focuseval.errors import MeasureError, MissingDataError
from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.quantise import BEYOND_ONE, quantisation
from focuseval.measures.recall_base import SLACK
from focuseval.measures.topicwise import ceiling, ratio, without_base
from focuseval.measures.xcg import LEVELS, QUANT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.elements import ElementMatch
    from focuseval.measures.matching.matched import Matched


class WeakRanks(NamedTuple):
    """Groups of results with one rank, blocked by topic; relevant mass in units of the base, counts in results."""

    bounds: NDArray[np.int64]
    """Where each topic's weak ranks begin, and the end of the last."""
    relevant: NDArray[np.int64]
    """Relevant mass at this rank."""
    upto: NDArray[np.int64]
    """Relevant mass of the topic up to this rank, itself included."""
    results: NDArray[np.int64]
    """Results at this rank."""
    before: NDArray[np.int64]
    """Results of the topic before this rank."""


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


def precall(match: ElementMatch, ranks: WeakRanks, mass: NDArray[np.int64]) -> NDArray[np.float64]:
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


def precall_curve(m: Matched, quant: str = "auto", unretrieved: str = "zero") -> tuple[Any, NDArray[np.float64]]:
    """Return the 100 recall levels and, for every topic, precision at each."""
    chosen = quantisation(quant, m.prepared.gold.scale)
    if chosen in BEYOND_ONE:
        raise MeasureError(
            f"i2AP(quant={chosen}): expected gains from 0 to 1, which are probabilities of relevance; "
            "use strict5 or spec on a gold of 2005"
        )
    match = m.elements(chosen, "full")
    ranks = weak_ranks(m, match)
    mass = np.stack([ceiling(match.base.full_list.total(), level) for level in LEVELS], axis=1)
    found = precall(match, ranks, mass)
    rest = _last_block(m, match, mass) if unretrieved == "block" else 0.0
    found = np.where(np.isnan(found), rest, found)
    return np.array(LEVELS, np.float64), without_base(found, match.base.full_list.length()[:, None])


def _last_block(m: Matched, match: ElementMatch, mass: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return precision when all elements that the run left out stand together on one last weak rank.

    What the run returned twice is missing from the rest once. A topic that it does not answer scores 0, as everywhere.
    """
    index = m.prepared.index
    if index is None:
        raise MissingDataError(
            "i2AP(unretrieved=block): the collection's number of elements is unknown; "
            "build its index with 'focuseval index' and give it with --index"
        )
    unit, returned = match.base.unit, np.diff(m.bounds)[:, None]
    gained = np.diff(match.gathered[match.hit_bounds])[:, None] * unit
    r = match.base.full_list.total()[:, None] * unit - gained
    i = np.maximum(index.element_bounds[-1] - _distinct(m)[:, None] - r, 0)
    found = stopped(mass * unit, returned - gained, i, r, np.maximum(mass * unit - gained, 0))
    return np.where(m.answered[:, None], found, 0.0)


def _distinct(m: Matched) -> NDArray[np.int64]:
    """Return how many different elements of the collection every topic's list holds."""
    if m.path is None:
        return np.diff(m.bounds)
    path = encoded(m.path)
    pair = m.article.astype(np.int64) * len(path.dictionary) + path.indices.to_numpy(zero_copy_only=False)
    known = np.flatnonzero(~m.places.unplaced)
    _, first = np.unique(pair[known], return_index=True)
    return np.bincount(m.topic[known[first]], minlength=m.topics)


def average_precall(m: Matched, quant: str = "auto", unretrieved: str = "zero") -> NDArray[np.float64]:
    """Return the mean precision over the recall levels .01 … 1.

    An element of gain q puts q on *relevant* and 1 − q on *not relevant* at its rank; n is the gain of the whole recall
    base. In the formula j is the not-relevant mass of earlier ranks, r and i the masses of the rank that reaches x·n,
    and s the part of r still needed there. Results of one rank come in any order.
    """
    return np.asarray(precall_curve(m, quant, unretrieved)[1].mean(axis=1))


UNRETRIEVED = Parameter(
    "unretrieved",
    "zero",
    "Levels that the run does not reach: 0, or all other elements of the collection as one last rank.",
    ("zero", "block"),
)

MEASURES = (
    Measure(
        "i2AP",
        average_precall,
        "inex_eval: mean over recall levels .01 … 1 of the probability that a retrieved element is relevant.",
        "goevert2002overview",
        needs=("elements",),
        needs_if={("unretrieved", "block"): ("elements", "index")},
        traits=("two dimensions",),
        parameters=(QUANT, UNRETRIEVED),
        formula=r"P(x) = \frac{xn}{xn + j + s \cdot i / (r + 1)}",
        example="Gains 1, .5 of n = 6.75: at relevant mass 1 precision is 1, at 1.5 it is 1.5/(1.5 + .25/1.5) = 0.9.",
        perfect=False,
        tasks=("thorough",),
        curve=precall_curve,
    ),
)
