"""S(a): how well what was returned from an article fits what was highlighted in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.topicwise import ratio, running

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoredArticles:
    """The returned articles that may score, in rank order; all others score 0."""

    row: NDArray[np.int64]
    """Row in the article view."""
    topic: NDArray[np.int64]
    rank: NDArray[np.int64]
    score: Floats
    bounds: NDArray[np.int64]
    """Where each topic's articles begin, and the end of the last."""

    def gp(self) -> Floats:
        """Return gP at the rank of every article here."""
        return running(self.score, self.bounds) / self.rank


def article_scores(m: Matched, score: str, beta: float, irr: int, n: int) -> ScoredArticles:
    """Return the articles that may score: by F, tolerance to irrelevance, nearness to the entry point, or MAep."""
    worth = m.a_relevant | (m.a_bep >= 0) if score == "bep" else m.a_relevant
    rows = np.flatnonzero(worth)
    topic = m.a_topic[rows].astype(np.int64)
    bounds = np.searchsorted(topic, np.arange(m.topics + 1)).astype(np.int64)
    return ScoredArticles(rows, topic, m.a_rank[rows], _scores(m, rows, score, beta, irr, n), bounds)


def _scores(m: Matched, rows: NDArray[np.int64], score: str, *parameters: float) -> Floats:
    beta, irr, n = parameters
    if score == "t2i":
        from focuseval.measures.tolerance import tolerance_scores  # noqa: PLC0415  few ask for it

        return tolerance_scores(m, int(irr))[rows]
    if score == "ep":
        from focuseval.measures.fetch_browse import browse_scores  # noqa: PLC0415  needs the element measures

        return np.asarray(np.nan_to_num(m.of_gold(browse_scores(m), missing=0)))[rows]
    return entry_point_scores(m, int(n))[rows] if score == "bep" else f_scores(m, rows, beta)


def f_scores(m: Matched, rows: NDArray[np.int64], beta: float) -> Floats:
    r"""Return F of the given relevant articles, 0 where nothing relevant was returned.

    .. math:: F_\beta(a) = \frac{(1 + \beta^2) P(a) R(a)}{\beta^2 P(a) + R(a)}
    """
    number = np.zeros(len(m.prepared.topic), np.int64)
    number[m.a_article[rows]] = np.arange(len(rows))
    place = number[m.known[m.hits]]
    size, relevant = (np.bincount(place, column[m.hits], len(rows)) for column in (m.cost, m.new_rsize))
    p, r = ratio(relevant, size), ratio(relevant, m.prepared.trel[m.a_article[rows]])
    return ratio((1 + beta * beta) * p * r, beta * beta * p + r)


def entry_point_scores(m: Matched, n: int) -> Floats:
    """Return max(0, (n − distance) / n) for every returned article, 0 without a best entry point."""
    known = (m.a_bep >= 0) & (m.a_entry >= 0)
    distance = np.abs(m.a_entry - m.a_bep)
    return np.where(known, np.maximum(0, n - distance) / n, 0.0)
