"""Spans for RAG: the union of the text in the first results, or in what a budget of text pays for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.spans import union
from focuseval.measures.budget import budgeted
from focuseval.measures.characters import harmonic
from focuseval.measures.measure import Budget, Measure
from focuseval.measures.topicwise import BLOCK, blocks, count, count_by, ratio, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    At = int | Budget | None


@dataclass(frozen=True, eq=False)
class Read:
    """What a reader has seen of each topic: characters, highlighted ones among them, and all highlighted ones."""

    size: Integers
    relevant: Integers
    whole: Integers

    def precision(self) -> Floats:
        """Return the share of the text that is highlighted."""
        return ratio(self.relevant, self.size)

    def recall(self) -> Floats:
        """Return the share of the highlighted text that was read."""
        return ratio(self.relevant, self.whole)

    def f(self) -> Floats:
        """Return the harmonic mean of precision and recall."""
        return harmonic(self.precision(), self.recall())

    def iou(self) -> Floats:
        """Return the intersection of read and highlighted text over their union."""
        return ratio(self.relevant, self.size + self.whole - self.relevant)


def read(m: Matched, at: At) -> Read:
    """Return what the first `at` results, a budget, or the whole list show."""
    if isinstance(at, Budget):
        size, relevant = budgeted(m, at)
        return Read(count(size, m.bounds), count(relevant, m.bounds), m.prepared.trel_of_topic)
    name = f"text of the first {at}"
    if name not in m.made:
        m.made[name] = united(m, at)
    found: Read = m.made[name]
    return found


def united(m: Matched, at: int | None, block: int = BLOCK) -> Read:
    """Return the union of the first results: cheaper than which of them returned what first."""
    whole = m.prepared.trel_of_topic  # without highlights no place is worth asking for
    parts = [_united(m, at, first, last) for first, last in blocks(m.bounds, block)]
    size, relevant = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Read(size, relevant, whole)


def _united(m: Matched, at: int | None, first: int, last: int) -> tuple[Integers, Integers]:
    """Return, for some topics in a row, the characters of their first results, each once, and the highlighted ones."""
    here = slice(m.bounds[first], m.bounds[last])
    rows = here if at is None else m.bounds[first] + np.flatnonzero(m.rank[here] <= at)
    shown = union(m.article[rows], m.start[rows], m.end[rows])
    topic = m.topic[rows][shown.source] - first
    size = count_by(shown.end - shown.start, topic, last - first)
    near = np.flatnonzero(shown.group < len(m.prepared.topic))
    inside = m.prepared.highlights.covered(shown.group[near], shown.start[near], shown.end[near])
    return size, count_by(inside, topic[near], last - first)


def span_precision(m: Matched, at: At = None) -> Floats:
    """Return the share of the returned text that is highlighted."""
    return read(m, at).precision()


def span_recall(m: Matched, at: At = None) -> Floats:
    """Return the share of the highlighted text that is returned."""
    return read(m, at).recall()


def span_f(m: Matched, at: At = None) -> Floats:
    """Return the harmonic mean of spanP and spanR."""
    return read(m, at).f()


def intersection_over_union(m: Matched, at: At = None) -> Floats:
    """Return returned and highlighted text over returned or highlighted text."""
    return read(m, at).iou()


def hit(m: Matched, at: At = None) -> Floats:
    """Return 1 where any highlighted character is returned."""
    return np.asarray(read(m, at).relevant > 0, np.float64)


def full(m: Matched, at: At = None) -> Floats:
    """Return 1 where every highlighted character is returned."""
    seen = read(m, at)
    return np.asarray(seen.relevant == seen.whole, np.float64)


def span_reciprocal_rank(m: Matched, at: int | None = None) -> Floats:
    """Return one divided by the rank of the first result (of the first `at`) with a highlighted character."""
    rows = np.flatnonzero(m.new_rsize)[::-1]
    if at is not None:
        rows = rows[m.rank[rows] <= at]
    first = np.zeros(m.topics)
    first[m.topic[rows]] = 1 / m.rank[rows]  # backwards: the first rank is written last, and stays
    return first


def span_ndcg(m: Matched, at: int | None = None) -> Floats:
    """Return new highlighted text, discounted by rank, over all highlighted text in the first result."""
    rows = np.flatnonzero(m.new_rsize)
    if at is not None:
        rows = rows[m.rank[rows] <= at]
    gain = m.new_rsize[rows] / np.log2(m.rank[rows] + 1)
    return ratio(total(gain, m.topic[rows], m.topics), m.prepared.trel_of_topic)


def recall_curve(m: Matched) -> tuple[Floats, Floats]:
    """Return recall as a function of the characters read: x in steps of 100 up to 10,000."""
    return BUDGETS.astype(np.float64), np.stack([seen.recall() for seen in _reading(m)], axis=1)


def precision_curve(m: Matched) -> tuple[Floats, Floats]:
    """Return precision as a function of the characters read, at the same places."""
    return BUDGETS.astype(np.float64), np.stack([seen.precision() for seen in _reading(m)], axis=1)


BUDGETS = np.arange(100, 10_001, 100)
"""Characters read, where curves are drawn."""


def _reading(m: Matched) -> list[Read]:
    """Return what has been read after each of the budgets."""
    return [read(m, Budget(int(amount), "characters")) for amount in BUDGETS]


_ranked = partial(Measure, cite="focuseval", needs=("spans",), tasks=("spans",))
_set = partial(_ranked, at=("rank", "characters", "words", "tokens"), perfect=False)

MEASURES = (
    _set(
        "spanP",
        span_precision,
        "Share of the returned text that is highlighted.",
        formula=r"spanP = |U \cap H| / |U|",
        example="Chunks [0,60) and [40,100) against gold [0,50): 50 of 100 characters, 0.5.",
        curve=precision_curve,
    ),
    _set(
        "spanR",
        span_recall,
        "Share of the highlighted text that is returned.",
        formula=r"spanR = |U \cap H| / |H|",
        example="Chunks [0,60) and [40,100) against gold [0,100): 100 of 100 characters, 1 and not 1.2.",
        curve=recall_curve,
    ),
    _set(
        "spanF",
        span_f,
        "Harmonic mean of spanP and spanR.",
        formula=r"spanF = 2 \cdot spanP \cdot spanR / (spanP + spanR)",
        example="spanP 0.5, spanR 1: 0.6667.",
    ),
    _set(
        "IoU",
        intersection_over_union,
        "Returned and highlighted text over returned or highlighted text.",
        formula=r"IoU = |U \cap H| / |U \cup H|",
        example="Returned [0,100), highlighted [50,150): 50 / 150 = 0.3333.",
    ),
    _set(
        "hit",
        hit,
        "Whether any highlighted character is returned.",
        formula=r"hit = [U \cap H \ne \emptyset]",
        example="1 or 0.",
    ),
    _set(
        "full",
        full,
        "Whether every highlighted character is returned.",
        formula=r"full = [H \subseteq U]",
        example="1 or 0.",
    ),
    _ranked(
        "spanRR",
        span_reciprocal_rank,
        "Reciprocal rank of the first result with a highlighted character.",
        at=("rank",),
        formula=r"spanRR = 1 / \min \{r : new_r > 0\}",
        example="The first chunk that holds highlighted text is at rank 2: 0.5.",
    ),
    _ranked(
        "spanNDCG",
        span_ndcg,
        "New highlighted text, discounted by rank.",
        at=("rank",),
        formula=r"spanNDCG@k = \frac{1}{Trel(t)} \sum_{i \le k} \frac{new_i}{\log_2(i+1)}",
        example="All highlighted text in the result at rank 3: 1 / log2(4) = 0.5.",
        perfect=False,
    ),
)
"""Sets of spans at a rank or a budget; rank-sensitive spans."""
