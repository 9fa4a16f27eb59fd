r"""Normalised cumulated gain for the focused task: gains measured against the *ideal* recall base.

What a result adds is capped by what the ideal element on its path still leaves
(`focuseval.measures.matching.elements`), so returning all paragraphs of an ideal section is worth no more than
returning the section.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.xcg import BASE, QUANT, relevant_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.elements import ElementMatch
    from focuseval.measures.matching.matched import Matched


def normalised_at(match: ElementMatch, ranks: NDArray[np.int64], ideal: str = "ideal") -> NDArray[np.float64]:
    r"""Return normalised cumulated gain at ranks: topics × ranks.

    .. math:: nxCG[k] = \sum_{j \le k} xG_{norm}[j] \;/\; xCI[\min(k, |ideal|)]
    """
    best = match.base.ideal_list if ideal == "ideal" else match.base.full_list
    return relevant_ratio(match.upto(match.normalised, ranks), best.upto(ranks))


def normalised_cumulated_gain(
    m: Matched, at: int, quant: str = "auto", base: str = "auto", ideal: str = "ideal"
) -> NDArray[np.float64]:
    """Return what the first `at` results gain, over what the ideal list gains by then.

    A result gains no more than the ideal element on its path (itself, its ancestor or its descendant) still leaves:
    ``max(0, min(xG[j], xG[ideal] − gains of earlier results that overlap it))``. A result that contains several ideal
    elements takes the one that leaves it most, and overlaps each of them for later results.
    """
    return normalised_at(m.elements(quant, base), np.array([at]), ideal)[:, 0]


def mean_normalised_cumulated_gain(
    m: Matched, at: int, quant: str = "auto", base: str = "auto", ideal: str = "ideal"
) -> NDArray[np.float64]:
    """Return the mean of nxCG over the ranks 1 … `at`, past the end of the list too."""
    return np.asarray(normalised_at(m.elements(quant, base), np.arange(1, at + 1), ideal).mean(axis=1))


def normalised_curve(
    m: Matched, quant: str = "auto", base: str = "auto", ideal: str = "ideal"
) -> tuple[Any, NDArray[np.float64]]:
    """Return the ranks up to the longest list and, for every topic, nxCG at each."""
    ranks = np.arange(1, np.diff(m.bounds).max(initial=1) + 1)
    return ranks, normalised_at(m.elements(quant, base), ranks, ideal)


IDEAL = Parameter("ideal", "ideal", "Recall base that the ideal list is made of.", ("ideal", "full"))

_at_rank = partial(
    Measure,
    cite="kazai2006extended",
    needs=("elements",),
    traits=("ideal recall base", "two dimensions"),
    at=("rank",),
    at_required=True,
    parameters=(QUANT, BASE, IDEAL),
    perfect_unless="ideal=full",
    tasks=("focused",),
    curve=normalised_curve,
)

MEASURES = (
    _at_rank(
        "nxCG",
        normalised_cumulated_gain,
        "Normalised cumulated gain at a rank: what was gained over what the ideal list would have gained.",
        formula=r"nxCG[k] = \frac{\sum_{j \le k} xG_{norm}[j]}{xCI[\min(k, |ideal|)]}",
        example="Ideal gains 1 and .5 returned in reverse: nxCG@1 = 0.5, nxCG@2 = 1.",
    ),
    _at_rank(
        "MAnxCG",
        mean_normalised_cumulated_gain,
        "Mean of nxCG over the ranks 1 … k.",
        formula=r"MAnxCG[k] = \frac{1}{k} \sum_{j=1}^{k} nxCG[j]",
        example="Ideal gains 1 and .5 returned in reverse: MAnxCG@2 = (0.5 + 1) / 2 = 0.75.",
    ),
)
