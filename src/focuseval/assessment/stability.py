"""How runs rank by the judgements, and whether other assessors, a shallower pool or less work would change the order.

Kendall's τ compares two orders of the runs. When one assessor's judgements take the place of another's, the pairs of
runs whose order changes are listed, each with how many topics would show the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from focuseval.assessment.agreement import finished
from focuseval.assessment.golds import Whose, build_gold, whose_gold
from focuseval.assessment.plan import Pooled, Unit, labels, pool
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats import read_run
from focuseval.inference.correlation import correlate, tau_ap
from focuseval.inference.paired import topics_needed
from focuseval.inference.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from focuseval.assessment.store import Store
    from focuseval.collection.index import Index
    from focuseval.collection.rendering import DocumentCache
    from focuseval.data.gold import Gold
    from focuseval.data.run import Run

    Score = Callable[[Gold], Mapping[str, float]]
    """Gold → run → score."""


@dataclass(frozen=True)
class Swap:
    """Two golds, and how far they order the same runs alike."""

    left: str
    right: str
    tau: float
    documents: int
    """Judged documents that the comparison is over."""


def over_assessors(golds: Mapping[str, Gold], score: Score) -> list[Swap]:
    """Return τ for every pair of assessors, each pair over the documents that both finished; NaN where there are none.

    `golds` are by assessor; `score` gives run → score of a gold.
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


def _judged(gold: Gold) -> set[Unit]:
    """Return the (topic, document) pairs that a gold judges."""
    documents = gold.documents.to_pylist()
    rows = zip(gold.articles.topic.tolist(), gold.articles.document.tolist(), strict=True)
    return {(gold.topics[topic], documents[document]) for topic, document in rows}


def over_depths(gold: Gold, pool: Sequence[Pooled], depths: Sequence[int], score: Score) -> list[Swap]:
    """Return τ between the whole gold and what shallower pools would have given."""
    best = {(row.topic, row.document): row.best for row in pool}
    parts = {f"depth {depth}": {unit for unit, rank in best.items() if rank <= depth} for depth in depths}
    return _parts_to_whole(gold, parts, "whole pool", score)


def over_work(gold: Gold, at: Mapping[Unit, str], shares: Sequence[float], score: Score) -> list[Swap]:
    """Return τ between the whole gold and what was judged first: whether the last part of the work changed the order.

    `at` says when each (topic, document) was judged; `shares` how much of the work, from the beginning, is taken.
    """
    judged = sorted(_judged(gold), key=lambda unit: (at.get(unit, ""), unit))
    parts = {f"first {share:.0%}": set(judged[: round(share * len(judged))]) for share in shares}
    return _parts_to_whole(gold, parts, "everything so far", score)


def _parts_to_whole(gold: Gold, parts: Mapping[str, set[Unit]], whole: str, score: Score) -> list[Swap]:
    scores, judged = score(gold), _judged(gold)
    return [
        Swap(name, whole, _tau(score(only_pairs(gold, part)), scores), len(part & judged))
        for name, part in parts.items()
    ]


def only_topics(gold: Gold, topics: Iterable[str]) -> Gold:
    """Return the part of a gold that speaks of some topics."""
    wanted = set(topics)
    kept = only_pairs(gold, {(topic, name) for topic in wanted for name in gold.documents.to_pylist()})
    order = [code for code, topic in enumerate(gold.topics) if topic in wanted]
    new = np.full(len(gold.topics), -1, np.int32)
    new[order] = np.arange(len(order))
    parts = {name: getattr(kept, name) for name in ("articles", "passages", "elements")}
    moved = {name: replace(part, topic=new[part.topic]) for name, part in parts.items()}
    return replace(kept, topics=tuple(gold.topics[code] for code in order), **moved)


def only_pairs(gold: Gold, pairs: set[Unit]) -> Gold:
    """Return a gold with the judgements of some (topic, document) pairs alone; the rest counts as unjudged."""
    documents = gold.documents.to_pylist()
    parts = {}
    for name in ("articles", "passages", "elements"):
        part = getattr(gold, name)
        rows = zip(part.topic.tolist(), part.document.tolist(), strict=True)
        keep = np.array([(gold.topics[t], documents[d]) in pairs for t, d in rows], np.bool_)
        columns = {key: column for key, column in vars(part).items() if column is not None}
        parts[name] = replace(
            part,
            **{
                key: column.filter(pa.array(keep)) if isinstance(column, pa.Array) else column[keep]
                for key, column in columns.items()
            },
        )
    return replace(gold, **parts)


def _tau(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    names = sorted(left)
    table = np.array([[side[name] for name in names] for side in (left, right)])
    return float(correlate(table)[0, 1]) if not np.isnan(table).any() else float("nan")


DEPTHS = (1, 2, 5, 10, 20, 50, 100)
SHARES = (0.25, 0.5, 0.75, 0.9)
"""How much of the work so far a ranking is made of, to see whether the rest changed it."""
DEFAULT = "MAgP"


@dataclass(frozen=True)
class Ranking:
    """Runs in the order of their scores, and how far other judgements order them alike."""

    scores: tuple[tuple[str, float], ...]
    judged: int
    """Documents that the gold judges."""
    pooled: int
    work: tuple[Swap, ...]
    depths: tuple[Swap, ...]
    assessors: tuple[Swap, ...]


def rank_runs(store: Store, documents: DocumentCache, runs: Sequence[Path], measure: str, *, rule: str) -> Ranking:
    """Return how the runs in some files rank by a measure with everybody's judgements merged, and how stable that is.

    `rule` says how several judgements of a document become one; see `focuseval.assessment.adjudication`.
    """
    index = documents.index
    score = _scorer([read_run(path, index=index) for path in runs], measure, index)
    gold, _ = whose_gold(store, documents, Whose(merge=rule), queries={}, graded=False)
    pooled = pool(store)
    times = store.database.read().execute("SELECT topic, document, max(at) FROM judgements GROUP BY topic, document")
    scores = sorted(score(gold).items(), key=lambda pair: (-pair[1], pair[0]))
    return Ranking(
        tuple(scores),
        len(gold.articles.topic),
        len(pooled),
        tuple(over_work(gold, {(topic, document): at for topic, document, at in times}, SHARES, score)),
        tuple(over_depths(gold, pooled, _depths(store), score)),
        tuple(swap for swap in over_assessors(_golds(store, documents), score) if swap.documents),
    )


def project_stability(store: Store, documents: DocumentCache, runs: Sequence[str], measure: str) -> list[Swap]:
    """Return τ for every pair of assessors, and for every assessor over the depths that their pool has."""
    index = documents.index
    score = _scorer([read_run(path, index=index) for path in runs], measure, index)
    golds = _golds(store, documents)
    pooled, depths = pool(store), _depths(store)
    swaps = over_assessors(golds, score)
    for label, gold in golds.items():
        swaps += [replace(swap, left=f"{label}, {swap.left}") for swap in over_depths(gold, pooled, depths, score)]
    return swaps


def _scorer(runs: Sequence[Run], measure: str, index: Index) -> Score:
    """Return what gives every run's score by a gold."""

    def score(gold: Gold) -> Mapping[str, float]:
        if not len(gold.passages.start):  # where nothing is relevant no run is better than another
            return {run.run_id: float("nan") for run in runs}
        scores = evaluate(gold, runs, [measure], index=index)
        return {run: next(iter(values.values())) for run, values in scores.means().items()}

    return score


def _golds(store: Store, documents: DocumentCache) -> dict[str, Gold]:
    """Return everybody's own gold, by label."""
    known, index = labels(store), documents.index
    return {known[name]: build_gold(store, name, documents=documents, index=index) for name in finished(store)}


def _depths(store: Store) -> list[int]:
    deepest = max((row.best for row in pool(store)), default=0)
    return [depth for depth in DEPTHS if depth < deepest]


class Flip(NamedTuple):
    """Two runs whose order changes."""

    better: str
    """The one that is better by the first assessor's judgements, and worse by the second's."""
    worse: str
    difference: float
    """By how much, by the first assessor's judgements."""
    other: float
    """The same difference by the second one's; below zero, for they turn it round."""
    topics: float
    """With how many topics the first one's judgements would show the difference."""
    judgements: float
    """How many judgements of documents that is."""


@dataclass(frozen=True)
class Replacement:
    """How far two assessors order the same runs alike, over the documents that both finished."""

    left: str
    right: str
    documents: int
    topics: int
    runs: tuple[str, ...]
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    """Every run's score by the first and by the second assessor's judgements."""
    tau: float
    tau_ap: float
    flips: tuple[Flip, ...] = ()

    @property
    def pairs(self) -> int:
        """How many pairs of runs there are."""
        return len(self.runs) * (len(self.runs) - 1) // 2


def replacements(
    golds: Mapping[str, Gold], pairs: Iterable[tuple[str, str]], runs: Sequence[Run], measure: str, index: Index
) -> list[Replacement]:
    """Return what becomes of the order of the runs by a measure, for pairs of assessors who judged documents in common.

    The judgements of the first of a pair are replaced by those of the second; `golds` are by assessor.
    """
    found = []
    for pair in pairs:
        parts, documents = in_common(*(golds[name] for name in pair))
        topics, names = len(parts[0].topics), tuple(run.run_id for run in runs)
        if not all(len(part.passages.start) for part in parts):  # where nothing is relevant no run is better
            none = (float("nan"),) * len(runs)
            found.append(Replacement(*pair, documents, topics, names, (none, none), float("nan"), float("nan")))
            continue
        scored = [evaluate(part, runs, [measure], index=index) for part in parts]
        means = np.array([scores.mean[:, 0] for scores in scored])
        flips = _flips(scored[0].names, means, scored[0].values[:, :, 0], documents / topics)
        taus = float(correlate(means)[0, 1]), tau_ap(means[1], means[0])
        first, second = (tuple(row) for row in means.tolist())
        found.append(Replacement(*pair, documents, topics, scored[0].names, (first, second), *taus, flips))
    return found


def _flips(
    names: Sequence[str], means: NDArray[np.float64], values: NDArray[np.float64], documents: float
) -> tuple[Flip, ...]:
    """Return the pairs of runs that two rows of means order otherwise, the largest difference first.

    `values` are runs × topics of the first row; `documents` are judged for each topic.
    """
    found = []
    for one, other in combinations(range(len(names)), 2):
        difference, turned = means[:, one] - means[:, other]
        if difference * turned < 0:
            better, worse = (one, other) if difference > 0 else (other, one)
            differences = values[better] - values[worse]
            known, needed = differences[~np.isnan(differences)], float("inf")
            if len(known) > 1:  # else the topics say nothing of it
                deviation = np.array([known.std(ddof=1)])
                needed = float(topics_needed(np.array([known.mean()]), deviation, Settings())[0])
            sign = 1 if difference > 0 else -1
            flip = Flip(names[better], names[worse], sign * difference, sign * turned, needed, needed * documents)
            found.append(flip)
    return tuple(sorted(found, key=lambda flip: -flip.difference))
