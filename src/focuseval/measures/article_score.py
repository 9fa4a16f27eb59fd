"""S(a): how well what was returned from an article fits what was highlighted in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.topicwise import ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.match import Matched

    Floats = NDArray[np.float64]


def article_scores(m: Matched, score: str, beta: float, irr: int, n: int) -> Floats:
    """Return the score of every returned article: F, tolerance to irrelevance, or nearness to the entry point."""
    if score == "t2i":
        from focuseval.measures.tolerance import tolerance_scores  # noqa: PLC0415  few ask for it

        return tolerance_scores(m, irr)
    if score == "bep":
        return entry_point_scores(m, n)
    if score == "ep":
        from focuseval.measures.fetch_browse import browse_scores  # noqa: PLC0415  needs the element measures

        return np.asarray(np.nan_to_num(m.of_gold(browse_scores(m), missing=0)))
    return f_scores(m, beta)


def f_scores(m: Matched, beta: float) -> Floats:
    r"""Return F of every returned article, 0 where nothing relevant was returned.

    .. math:: F_\beta(a) = \frac{(1 + \beta^2) P(a) R(a)}{\beta^2 P(a) + R(a)}
    """
    p = ratio(m.a_rsize, m.a_size)
    r = ratio(m.a_rsize, m.a_trel)
    return ratio((1 + beta * beta) * p * r, beta * beta * p + r)


def entry_point_scores(m: Matched, n: int) -> Floats:
    """Return max(0, (n − distance) / n) for every returned article, 0 without a best entry point."""
    known = (m.a_bep >= 0) & (m.a_entry >= 0)
    distance = np.abs(m.a_entry - m.a_bep)
    return np.where(known, np.maximum(0, n - distance) / n, 0.0)
