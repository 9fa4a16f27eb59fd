"""Comparisons for a page on which any two runs and any measure can be chosen: numbers as compact lists, and templates.

A page chooses, sorts and draws; it counts, tests and words nothing. So every number of every pair is here, printed
digits as whole numbers of ten-thousandths, and every sentence as a template of `focuseval.inference.sentences`.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.inference.paired import CANNOT_TELL
from focuseval.inference.sentences import TEMPLATES, shown_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.inference.comparison import Comparison
    from focuseval.inference.paired import Pair
    from focuseval.inference.settings import Settings

FIELDS = (
    "difference",
    "low",
    "high",
    "p",
    "corrected",
    "code",
    "won",
    "lost",
    "detectable",
    "needed",
    "gains",
    "reason",
)
"""What stands in a pair's list, in this order; see `page_pairs`."""


def page_pairs(
    comparisons: Sequence[Comparison | None], offered: Sequence[int], others: Sequence[Comparison | None] | None = None
) -> dict[str, Any]:
    """Return what a page needs to say how any two of the offered runs compare under any measure.

    Parameters
    ----------
    comparisons
        Of the same runs, one for each measure; None where no topic has a value in every run.
    offered
        The runs that can be chosen, as rows of the comparisons.
    others
        Where the comparisons are with a baseline, those that have the other pairs.

    Returns
    -------
    dict
        ``templates``: the sentences. ``fields``: the names of what stands in a pair's list. ``reasons``: why no outcome
        could be significant. ``measures``: for each measure None, or ``topics`` (how many are compared), ``means`` (of
        the offered runs over these topics, as printed), ``methods`` (how the pairs were tested: those of the
        comparison, and of the others), ``pairs``: a list for each pair in the order 0–1, 0–2 … 1–2 …, None where it was
        not compared.

        In a pair's list, differences, their interval and what is detectable are whole numbers of ten-thousandths; so is
        a p, or a text where it is below 0.0001. ``corrected`` is None where it is printed as p is. ``code`` is 2 where
        the first run is better, 1 where its mean is higher and nothing can be told, 0 for equal means; −1 and −2 the
        other way round. ``gains`` is of the run with the higher mean. ``reason`` is a place in ``reasons``, or None.
    """
    reasons: dict[str, int] = {}
    measures: list[dict[str, Any] | None] = []
    for number, found in enumerate(comparisons):
        rest = None if others is None else others[number]
        if found is None:
            measures.append(None)
            continue
        pairs = []
        for first, second in combinations(offered, 2):
            tested = found if found.baseline in (None, first, second) else rest
            pair = None if tested is None else _numbers(tested.against(first, second), found.settings, reasons)
            pairs.append(pair)
        means = found.means
        measures.append(
            {
                "topics": len(found.topics),
                "means": [f"{means[run]:.4f}" for run in offered],
                "methods": [one.method for one in (found, rest) if one is not None],
                "pairs": pairs,
            }
        )
    return {"templates": TEMPLATES, "fields": FIELDS, "reasons": list(reasons), "measures": measures}


def _numbers(pair: Pair, settings: Settings, reasons: dict[str, int]) -> list[int | str | None]:
    """Return a pair as a list of `FIELDS`."""
    lead = int(np.sign(pair.difference))
    p, corrected = (_ten_thousandths(shown_p(value, settings)) for value in (pair.p, pair.corrected))
    sizes = [_ten_thousandths(f"{value:.4f}") for value in (pair.difference, pair.low, pair.high)]
    return [
        *sizes,
        p,
        None if corrected == p else corrected,
        lead if pair.word == CANNOT_TELL else 2 * lead,
        pair.won,
        pair.lost,
        None if pair.detectable is None else _ten_thousandths(f"{pair.detectable:.4f}"),
        pair.needed,
        pair.gains,
        reasons.setdefault(pair.reason, len(reasons)) if pair.reason else None,
    ]


def _ten_thousandths(shown: str) -> int | str:
    """Return a number that is printed with four digits as a whole number, any other text as it is.

    >>> _ten_thousandths("-0.1250"), _ten_thousandths("2.5e-05")
    (-1250, '2.5e-05')
    """
    digits = shown.replace(".", "").replace("-", "", 1)
    return int(shown.replace(".", "")) if digits.isdigit() and shown[-5:-4] == "." else shown
