"""Would other assessors, or a shallower pool, have ordered the runs otherwise? Kendall's τ between the orders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.inference.correlation import correlate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.assessment.plan import Pooled
    from focuseval.data.gold import Gold


@dataclass(frozen=True)
class Swap:
    """Two golds, and how far they order the same runs alike."""

    left: str
    right: str
    tau: float
    documents: int
    """Judged documents that the comparison is over."""


def over_assessors(golds: Mapping[str, Gold], score: Callable[[Gold], Mapping[str, float]]) -> list[Swap]:
    """Return τ for every pair of assessors, each pair over the documents that both finished; NaN where there are none.

    Parameters
    ----------
    golds
        Assessor → gold.
    score
        Gold → run → score.
    """
    swaps = []
    for left, right in combinations(golds, 2):
        parts, documents = in_common(golds[left], golds[right])
        swaps.append(Swap(left, right, _tau(*map(score, parts)) if documents else float("nan"), documents))
    return swaps


def in_common(left: Gold, right: Gold) -> tuple[tuple[Gold, Gold], int]:
    """Return two golds cut down to the documents that both judge, and the number of these."""
    common = _judged(left) & _judged(right)
    topics = {topic for topic, _ in common}
    one, other = (only_topics(only_pairs(gold, common), topics) for gold in (left, right))
    return (one, other), len(common)


def _judged(gold: Gold) -> set[tuple[str, str]]:
    """Return the (topic, document) pairs that a gold judges."""
    documents = gold.documents.to_pylist()
    rows = zip(gold.articles.topic.tolist(), gold.articles.document.tolist(), strict=True)
    return {(gold.topics[topic], documents[document]) for topic, document in rows}


def over_depths(
    gold: Gold, pool: Sequence[Pooled], depths: Sequence[int], score: Callable[[Gold], Mapping[str, float]]
) -> list[Swap]:
    """Return τ between the whole gold and what shallower pools would have given."""
    whole = score(gold)
    best = {(row.topic, row.document): row.best for row in pool}
    swaps = []
    for depth in depths:
        judged = {pair for pair, rank in best.items() if rank <= depth}
        tau = _tau(score(only_pairs(gold, judged)), whole)
        swaps.append(Swap(f"depth {depth}", "whole pool", tau, len(judged & _judged(gold))))
    return swaps


def over_work(
    gold: Gold, at: Mapping[tuple[str, str], str], shares: Sequence[float], score: Callable[[Gold], Mapping[str, float]]
) -> list[Swap]:
    """Return τ between the whole gold and what was judged first: whether the last part of the work changed the order.

    Parameters
    ----------
    gold, score
        What is judged so far; gold → run → score.
    at
        (topic, document) → when it was judged.
    shares
        How much of the work, from the beginning.
    """
    whole = score(gold)
    judged = sorted(_judged(gold), key=lambda unit: (at.get(unit, ""), unit))
    swaps = []
    for share in shares:
        first = set(judged[: round(share * len(judged))])
        tau = _tau(score(only_pairs(gold, first)), whole)
        swaps.append(Swap(f"first {share:.0%}", "everything so far", tau, len(first)))
    return swaps


def only_topics(gold: Gold, topics: Iterable[str]) -> Gold:
    """Return the part of a gold that speaks of some topics."""
    wanted = set(topics)
    names = gold.documents.to_pylist()
    pairs = {(topic, name) for topic in wanted for name in names}
    kept = only_pairs(gold, pairs)
    order = [code for code, topic in enumerate(gold.topics) if topic in wanted]
    new = np.full(len(gold.topics), -1, np.int32)
    new[order] = np.arange(len(order))
    parts = {name: getattr(kept, name) for name in ("articles", "passages", "elements")}
    moved = {name: replace(part, topic=new[part.topic]) for name, part in parts.items()}
    return replace(kept, topics=tuple(gold.topics[code] for code in order), **moved)


def only_pairs(gold: Gold, pairs: set[tuple[str, str]]) -> Gold:
    """Return a gold with the judgements of some (topic, document) pairs alone; the rest counts as unjudged."""
    documents = gold.documents.to_pylist()
    parts = {}
    for name in ("articles", "passages", "elements"):
        part = getattr(gold, name)
        rows = zip(part.topic.tolist(), part.document.tolist(), strict=True)
        keep = np.array([(gold.topics[t], documents[d]) in pairs for t, d in rows], np.bool_)
        columns = {key: column for key, column in vars(part).items() if column is not None}
        parts[name] = replace(part, **{key: _filtered(column, keep) for key, column in columns.items()})
    return replace(gold, **parts)


def _filtered(column: Any, keep: NDArray[np.bool_]) -> Any:
    return column.filter(pa.array(keep)) if isinstance(column, pa.Array) else column[keep]


def _tau(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    names = sorted(left)
    table = np.array([[side[name] for name in names] for side in (left, right)])
    return float(correlate(table)[0, 1]) if not np.isnan(table).any() else float("nan")
