"""Several needed spans: alternatives, of which one will do, and items that are all needed, as in multi-hop questions.

A topic has needed items. An item has alternatives: the gold's spans with the same name (``need``). A span without a
name is an item with one alternative, so that in a gold that names nothing every span is needed. Text counts as returned
wherever it stands in the first results, as in spanR: an alternative may be put together from several chunks.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.spans import Spans, union
from focuseval.errors import MeasureError
from focuseval.measures.measure import Budget, Measure, Parameter, number
from focuseval.measures.spans import MEASURES as SPANS
from focuseval.measures.spans import paid_ends
from focuseval.measures.topicwise import ceiling, count_by, ratio, total, without_base

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    At = int | Budget | None


def returned_text(m: Matched, at: At) -> Spans:
    """Return the text of judged documents in the first `at` results, in what a budget pays for, or in all."""
    if isinstance(at, Budget):
        paid, _, end = paid_ends(m, at)
    else:
        paid, end = np.asarray(m.rank <= (at or len(m))), m.end
    rows = np.flatnonzero(paid & (m.article < len(m.prepared.topic)))
    return union(m.article[rows], m.start[rows], end[rows])


def returned_characters(m: Matched, at: At) -> Integers:
    """Return, for every alternative, how many of its characters are returned; made once for each `at`."""
    name = f"needed characters in {at}"
    if name not in m.made:
        needs = m.prepared.needs
        m.made[name] = returned_text(m, at).covered(needs.article, needs.start, needs.end)
    found: Integers = m.made[name]
    return found


def need_recall(m: Matched, at: At = None) -> Floats:
    """Return the mean, over the needed items, of how much of each is returned.

    An item is worth the largest share of one of its alternatives that is
    returned. In a gold that names no needs every span is an item; then this
    is the mean of the spans' own recalls, where spanR weighs each span by its
    length.
    """
    needs = m.prepared.needs
    best = np.zeros(len(needs.topic))
    np.maximum.at(best, needs.item, returned_characters(m, at) / (needs.end - needs.start))
    items = count_by(np.ones(len(best), np.int64), needs.topic, m.topics)
    return without_base(ratio(total(best, needs.topic, m.topics), items), items)


def found_items(m: Matched, at: At, share: float) -> tuple[Integers, Integers]:
    """Return, for every topic, how many needed items are found, and how many there are."""
    if share > 1:
        raise MeasureError(f"share={number(share)}: expected a share of the text, from 0 to 1")
    needs = m.prepared.needs
    least = np.maximum(ceiling(needs.end - needs.start, Fraction(number(share))), 1)
    found = np.zeros(len(needs.topic), np.int64)
    found[needs.item[returned_characters(m, at) >= least]] = 1
    return count_by(found, needs.topic, m.topics), count_by(np.ones_like(found), needs.topic, m.topics)


def subtopic_recall(m: Matched, share: float, at: At = None) -> Floats:
    """Return the share of the needed items that are found.

    An item is found if at least `share` of the characters of one of its
    alternatives (and at least one character) is returned.
    """
    found, items = found_items(m, at, share)
    return without_base(ratio(found, items), items)


def all_recall(m: Matched, share: float, at: At = None) -> Floats:
    """Return 1 where every needed item is found, else 0.

    An item is found if at least `share` of the characters of one of its
    alternatives (and at least one character) is returned.
    """
    found, items = found_items(m, at, share)
    return without_base(np.asarray(found == items, np.float64), items)


_SHARE = Parameter("share", 1, "least share of an alternative that must be returned; 0 for any character", least=0)
_needed = partial(Measure, needs=("spans",), tasks=("spans",), at=SPANS[0].at, perfect=False)
_found = partial(_needed, parameters=(_SHARE,))

MEASURES = (
    _needed(
        "needR",
        need_recall,
        "Recall of needed items, each by its best alternative.",
        cite="focuseval",
        formula=r"needR = \frac{1}{|N|} \sum_{n \in N} \max \{|U \cap a| / |a| : a \in n\}",
        example="Two items; half of the first's only span is returned, and one of the second's two alternatives: 0.75.",
    ),
    _found(
        "S-recall",
        subtopic_recall,
        "Share of the needed items that are found (subtopic recall).",
        cite="zhai2003beyond",
        formula=r"S\text{-}recall = \frac{1}{|N|} \sum_{n \in N} [\max \{|U \cap a| / |a| : a \in n\} \ge share]",
        example="Two items; half of the first's only span is returned, and one of the second's two alternatives: 0.5.",
        aliases=("SRecall",),
    ),
    _found(
        "all-recall",
        all_recall,
        "Whether all needed items are found, as a multi-hop question asks.",
        cite="gutierrez2024hipporag",
        formula=r"all\text{-}recall = [S\text{-}recall = 1]",
        example="One of two needed items is found: 0; both: 1.",
        aliases=("AllRecall", "AllFound"),
    ),
)
"""Needed items: graded, counted, all or nothing."""
