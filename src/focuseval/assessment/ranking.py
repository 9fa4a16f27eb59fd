"""How runs rank by what is judged so far, and how stable that is: other assessors, lesser depths, less work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from focuseval.assessment.agreement import finished
from focuseval.assessment.golds import Whose, build_gold, whose_gold
from focuseval.assessment.plan import assessors, pool
from focuseval.assessment.stability import over_assessors, over_depths, over_work
from focuseval.evaluation.planning import evaluate
from focuseval.formats import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from focuseval.assessment.stability import Swap
    from focuseval.assessment.store import Store
    from focuseval.collection import Index
    from focuseval.collection.rendering.documents import DocumentCache
    from focuseval.data.gold import Gold
    from focuseval.data.run import Run

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
    """Return how runs rank with everybody's judgements merged, and how stable that is.

    Parameters
    ----------
    store, documents
        The project.
    runs, measure
        Files of runs, and what ranks them.
    rule
        How several judgements of a document become one; see `focuseval.assessment.merge`.
    """
    index = documents.index
    score = _scorer([read_run(path, index=index) for path in runs], measure, index)
    gold, _ = whose_gold(store, documents, Whose(merge=rule), queries={}, graded=False)
    pooled = pool(store)
    scores = sorted(score(gold).items(), key=lambda pair: (-pair[1], pair[0]))
    return Ranking(
        tuple(scores),
        len(gold.articles.topic),
        len(pooled),
        tuple(over_work(gold, _times(store), SHARES, score)),
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


def _scorer(runs: Sequence[Run], measure: str, index: Index) -> Callable[[Gold], Mapping[str, float]]:
    """Return what gives every run's score by a gold."""

    def score(gold: Gold) -> Mapping[str, float]:
        if not len(gold.passages.start):  # where nothing is relevant no run is better than another
            return {run.run_id: float("nan") for run in runs}
        scores = evaluate(gold, runs, [measure], index=index)
        return {run: next(iter(values.values())) for run, values in scores.means().items()}

    return score


def _golds(store: Store, documents: DocumentCache) -> dict[str, Gold]:
    """Return everybody's own gold, by label."""
    labels = {one.name: one.label for one in assessors(store)}
    return {
        labels[name]: build_gold(store, name, documents=documents, index=documents.index) for name in finished(store)
    }


def _depths(store: Store) -> list[int]:
    deepest = max((row.best for row in pool(store)), default=0)
    return [depth for depth in DEPTHS if depth < deepest]


def _times(store: Store) -> dict[tuple[str, str], str]:
    """Return when each document was last judged by anybody."""
    rows = store.database.read().execute("SELECT topic, document, max(at) FROM judgements GROUP BY topic, document")
    return {(topic, document): at for topic, document, at in rows}
