"""The stability of a project's ranking of runs: assessors swapped, and pools of lesser depth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from focuseval.assess.agreement import finished
from focuseval.assess.golds import build_gold
from focuseval.assess.plan import assessors, pool
from focuseval.assess.stability import over_assessors, over_depths
from focuseval.evaluate import evaluate
from focuseval.formats import read_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from focuseval.assess.project import Project
    from focuseval.assess.stability import Swap
    from focuseval.gold import Gold

DEPTHS = (1, 2, 5, 10, 20, 50, 100)


def project_stability(project: Project, runs: Sequence[str], measure: str) -> list[Swap]:
    """Return τ for every pair of assessors, and for every assessor over the depths that their pool has.

    Parameters
    ----------
    project
        The project.
    runs, measure
        Files of runs, and what ranks them.
    """
    index = project.documents.index
    read = [read_run(path, index=index) for path in runs]

    def score(gold: Gold) -> Mapping[str, float]:
        if not len(gold.passages.start):  # where nothing is relevant no run is better than another
            return {run.run_id: float("nan") for run in read}
        scores = evaluate(gold, read, [measure], index=index)
        return {run: next(iter(values.values())) for run, values in scores.means().items()}

    labels = {one.name: one.label for one in assessors(project.store)}
    golds = {
        labels[name]: build_gold(project.store, name, documents=project.documents, index=index)
        for name in finished(project.store)
    }
    pooled = pool(project.store)
    deepest = max((row.best for row in pooled), default=0)
    depths = [depth for depth in DEPTHS if depth < deepest]
    swaps = over_assessors(golds, score)
    for label, gold in golds.items():
        swaps += [replace(swap, left=f"{label}, {swap.left}") for swap in over_depths(gold, pooled, depths, score)]
    return swaps
