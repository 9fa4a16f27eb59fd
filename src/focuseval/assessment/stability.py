"""How runs rank by the judgements, and whether other assessors, a shallower pool or less work would change the order.

Kendall's τ compares two orders of the runs. When one assessor's judgements take the place of another's, the pairs of
runs whose order changes are listed, each with how many topics would show the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from focuseval.assessment.agreement import finished
from focuseval.assessment.golds import Whose, build_gold, whose_gold
from focuseval.assessment.plan import Pooled, Unit, labels, pool
from focuseval.assessment.store import Store
from focuseval.collection.index import Index
from focuseval.collection.rendering import DocumentCache
from focuseval.data.gold import Articles, Gold, GradedElements, Passages
from focuseval.data.run import Run
from focuseval.evaluation.evaluation import evaluate
from focuseval.evaluation.scores import Scores, refuse_geometric
from focuseval.inference.agreement import RESAMPLES, Interval, middle_of
from focuseval.inference.correlation import correlate, tau_ap
from focuseval.inference.paired import turned_pairs
from focuseval.inference.paired_tests import ranked

Score = Callable[[Gold], Mapping[str, float]]  # gold → run → score


DEFAULT = "MAgP"
_PARTS = ("articles", "passages", "elements")


@dataclass(frozen=True)
class Swap:
    """Two golds, and how far they order the same runs alike."""

    left: str
    right: str
    tau: float
    documents: int  # judged documents that the comparison is over


def over_assessors(golds: Mapping[str, Gold], score: Score) -> list[Swap]:
    """Return τ for every pair of assessors, over the documents that both finished; NaN where there are none."""
    swaps = []
    for left, right in combinations(golds, 2):
        parts, documents = in_common(golds[left], golds[right])
        swaps.append(Swap(left, right, _tau(*map(score, parts)) if documents else float("nan"), documents))
    return swaps


def in_common(left: Gold, right: Gold) -> tuple[tuple[Gold, Gold], int]:
    """Return two golds cut down to the documents that both judge, and the number of these."""
    common = judged_units(left) & judged_units(right)
    return (only_topics(left, common), only_topics(right, common)), len(common)


def judged_units(gold: Gold) -> set[Unit]:
    """Return the (topic, document) pairs that a gold judges."""
    return set(_units(gold, gold.articles))


def _units(gold: Gold, part: Articles | Passages | GradedElements) -> Iterator[Unit]:
    """Yield topic and document of every row of a gold's table."""
    documents = gold.documents.to_pylist()
    rows = zip(part.topic.tolist(), part.document.tolist(), strict=True)
    return ((gold.topics[topic], documents[document]) for topic, document in rows)


def over_depths(gold: Gold, pool: Sequence[Pooled], score: Score) -> list[Swap]:
    """Return τ between the whole gold and what shallower pools would have given."""
    deepest = max((row.best for row in pool), default=0)
    depths = [depth for depth in (1, 2, 5, 10, 20, 50, 100) if depth < deepest]
    parts = {f"depth {depth}": {row[:2] for row in pool if row.best <= depth} for depth in depths}
    return _parts_to_whole(gold, parts, "whole pool", score)


def _parts_to_whole(gold: Gold, parts: Mapping[str, set[Unit]], whole: str, score: Score) -> list[Swap]:
    scores, judged = score(gold), judged_units(gold)
    return [
        Swap(name, whole, _tau(score(only_pairs(gold, part)), scores), len(part & judged))
        for name, part in parts.items()
    ]


def only_topics(gold: Gold, pairs: set[Unit]) -> Gold:
    """Return a gold with the judgements of some (topic, document) pairs, and with their topics, alone."""
    topics = {topic for topic, _ in pairs}
    order = [code for code, topic in enumerate(gold.topics) if topic in topics]
    new = np.full(len(gold.topics), -1, np.int32)
    new[order] = np.arange(len(order))
    kept = only_pairs(gold, pairs)
    moved = {name: replace(getattr(kept, name), topic=new[getattr(kept, name).topic]) for name in _PARTS}
    return replace(kept, topics=tuple(gold.topics[code] for code in order), **moved)


def only_pairs(gold: Gold, pairs: set[Unit]) -> Gold:
    """Return a gold with the judgements of some (topic, document) pairs alone; the rest counts as unjudged."""
    parts = {}
    for name in _PARTS:
        part = getattr(gold, name)
        parts[name] = part.take(np.flatnonzero([unit in pairs for unit in _units(gold, part)]))
    return replace(gold, **parts)


def _tau(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    names = sorted(left)
    table = np.array([[side[name] for name in names] for side in (left, right)])
    return float(correlate(table)[0, 1]) if not np.isnan(table).any() else float("nan")


def rank_runs(store: Store, documents: DocumentCache, runs: Sequence[Run], measure: str, rule: str) -> dict[str, Any]:
    """Return how runs rank by a measure with everybody's judgements merged by a rule, and how stable that is.

    ``scores`` are the runs, best first; ``judged`` counts the documents of the gold, ``pooled`` those of the pool;
    ``work``, ``depths`` and ``assessors`` say how far other judgements order the runs alike (`Swap`).
    """
    score, pooled = _scorer(runs, measure, documents.index), pool(store)
    gold, _ = whose_gold(store, documents, Whose(merge=rule), queries={}, graded=False)
    times = store.rows("SELECT topic, document, max(at) FROM judgements GROUP BY topic, document")
    at = {(topic, document): time for topic, document, time in times}
    judged = sorted(judged_units(gold), key=lambda unit: (at.get(unit, ""), unit))
    first = {f"first {share:.0%}": set(judged[: round(share * len(judged))]) for share in (0.25, 0.5, 0.75, 0.9)}
    scores = sorted(score(gold).items())
    order, _ = ranked(np.array([[value] for _, value in scores]))
    return {
        "scores": [scores[row] for row in order],
        "judged": len(gold.articles.topic),
        "pooled": len(pooled),
        "work": _parts_to_whole(gold, first, "everything so far", score),
        "depths": over_depths(gold, pooled, score),
        "assessors": [swap for swap in over_assessors(_golds(store, documents), score) if swap.documents],
    }


def project_stability(store: Store, documents: DocumentCache, runs: Sequence[Run], measure: str) -> list[Swap]:
    """Return τ for every pair of assessors, and for every assessor over the depths that their pool has."""
    score, pooled = _scorer(runs, measure, documents.index), pool(store)
    golds = _golds(store, documents)
    swaps = over_assessors(golds, score)
    for label, gold in golds.items():
        shallower = over_depths(gold, pooled, score)
        swaps += [replace(swap, left=f"{label}, {swap.left}") for swap in shallower]
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


class Flip(NamedTuple):
    """Two runs whose order changes."""

    better: str  # the one that is better by the first assessor's judgements, and worse by the second's
    worse: str
    difference: float  # by how much, by the first assessor's judgements
    other: float  # the same difference by the second one's; below zero, for they turn it round
    topics: float  # with how many topics the first one's judgements would show the difference
    judgements: float  # how many judgements of documents that is


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
    tau_interval: Interval = (float("nan"), float("nan"))  # 95 %, topics drawn; NaN of fewer than five topics
    apart: tuple[tuple[float, float, float], ...] = ()
    """Of every run: its score by the second assessor's judgements less that by the first's, and its 95 % interval."""

    @property
    def pairs(self) -> int:
        """How many pairs of runs there are."""
        return len(self.runs) * (len(self.runs) - 1) // 2


def replacements(
    golds: Mapping[str, Gold], pairs: Iterable[tuple[str, str]], runs: Sequence[Run], measure: str, index: Index
) -> list[Replacement]:
    """Return what becomes of the order of the runs when the judgements of the second of a pair replace the first's."""
    found = []
    for pair in pairs:
        parts, documents = in_common(*(golds[name] for name in pair))
        topics, names = len(parts[0].topics), tuple(run.run_id for run in runs)
        if not all(len(part.passages.start) for part in parts):  # where nothing is relevant no run is better
            none = (float("nan"),) * len(runs)
            found.append(Replacement(*pair, documents, topics, names, (none, none), float("nan"), float("nan")))
            continue
        scored = [evaluate(part, runs, [measure], index=index) for part in parts]
        refuse_geometric(scored[0], "stability")
        means, names = np.array([scores.mean[:, 0] for scores in scored]), scored[0].names
        flips = tuple(
            Flip(names[turn.better], names[turn.worse], *turn[2:], turn.needed * (documents / topics))
            for turn in turned_pairs(scored[0].values[:, :, 0], scored[1].values[:, :, 0])
        )
        taus = float(correlate(means)[0, 1]), tau_ap(means[1], means[0])
        first, second = (tuple(row) for row in means.tolist())
        both, kept = (first, second), over_topics(scored[0], scored[1])
        found.append(Replacement(*pair, documents, topics, names, both, *taus, flips, *kept))
    return found


def over_topics(first: Scores, second: Scores) -> tuple[Interval, tuple[tuple[float, float, float], ...]]:
    """Return the interval of τ, and how every run's mean differs, with its interval: topics are drawn with replacement.

    A topic in which only one of the two assessors finds something relevant is in one of the two means alone.
    """
    topics = sorted({*first.topics, *second.topics})
    place, values = {topic: number for number, topic in enumerate(topics)}, []
    for scores in (first, second):
        own = np.full((len(scores.names), len(topics)), np.nan)
        own[:, [place[topic] for topic in scores.topics]] = scores.values[:, :, 0]
        values.append(own)
    drawn = np.random.default_rng(0).multinomial(len(topics), np.full(len(topics), 1 / len(topics)), RESAMPLES)
    means = []
    for own in values:
        with np.errstate(invalid="ignore"):  # a resample in which no topic has a value
            means.append((drawn @ np.nan_to_num(own).T) / (drawn @ (~np.isnan(own)).T))
    known = ~np.isnan(means[0] + means[1]).any(axis=1)
    pairs = zip(*(part[known] for part in means), strict=True)
    taus = [correlate(np.stack(pair))[0, 1] for pair in pairs]
    apart = second.mean[:, 0] - first.mean[:, 0]
    ends = (middle_of(means[1][:, run] - means[0][:, run], len(topics)) for run in range(len(apart)))
    rows = tuple((float(mean), *interval) for mean, interval in zip(apart, ends, strict=True))
    return middle_of(np.array(taus), len(topics)) if len(apart) > 1 else (float("nan"),) * 2, rows
