"""Passages against elements: map a run of one kind to the other and score both (Pehcevski and Thom, 2007).

A passage becomes the element that fits it best: of all elements of its document the one with the highest F-score
against the passage, ties to the smaller and then to the outer one. Elements become passages: their spans, united per
article where they touch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.data.spans import union
from focuseval.evaluation.planning import evaluate
from focuseval.measures.tasks.checks import repair, take
from focuseval.placing import place_run
from focuseval.studies.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.collection.index import Collection
    from focuseval.data.gold import Gold
    from focuseval.data.run import Run


def to_elements(run: Run, index: Collection) -> Run:
    """Map every passage of a run to the element that fits it best; of nested picks the outermost stays."""
    placed = place_run(run, index)
    if placed.start is None or placed.end is None or placed.placement is None:
        return run
    rows, start, end = placed.placement.document, placed.start, placed.end
    elements = index.elements_of(rows)
    counts = np.diff(index.element_bounds)[rows]
    owner = np.repeat(np.arange(len(rows)), counts)
    common = np.minimum(elements.end, end[owner]) - np.maximum(elements.start, start[owner])
    size = elements.end - elements.start
    fit = 2 * np.maximum(common, 0) / np.maximum(size + (end - start)[owner], 1)
    order = np.lexsort((elements.depth, size, -fit, owner))
    best = order[np.searchsorted(owner[order], np.arange(len(rows)))]
    outer = np.lexsort((elements.depth[best], elements.start[best], -size[best], _articles(run)))
    mapped = replace(run, path=elements.path_strings(best), start=elements.start[best], end=elements.end[best])
    return repair(replace(take(mapped, outer), rank=None, score=None), "relevant-in-context", index)[0]


def to_passages(run: Run, index: Collection) -> Run:
    """Turn a run of elements into passages, united per article where they touch; articles keep their order."""
    placed = place_run(run, index)
    if placed.start is None or placed.end is None:
        return run
    start, end = placed.start, placed.end
    article = _articles(run)
    spans = union(article, start, end)
    first = np.unique(article, return_index=True)[1][spans.group]
    return replace(
        run,
        topic=run.topic[first],
        document=run.document.take(pa.array(first)),
        rank=None,
        score=None,
        start=spans.start,
        end=spans.end,
        path=None,
        line=None,
    )


def _articles(run: Run) -> NDArray[np.int64]:
    """Return a number for every result's (topic, document) pair, in order of first appearance."""
    codes = run.document.dictionary_encode().indices.to_numpy().astype(np.int64)
    _, first, group = np.unique((run.topic.astype(np.int64) << 32) | codes, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[group]


@dataclass(frozen=True)
class Gap:
    """Perfect passages, the best elements for them, and what each mapping costs, under one measure."""

    measure: str
    means: dict[str, float]
    """Run name → mean: passages, their best elements, element selections, and those as passages."""

    @property
    def gap(self) -> float:
        """How far the best run of elements stays behind perfect passages."""
        elements = [mean for name, mean in self.means.items() if name != "S-R" and "passages" not in name]
        return self.means["S-R"] - max(elements)


def passage_gap(gold: Gold, measures: Sequence[str], index: Collection) -> tuple[Gap, ...]:
    """Score perfect passages, perfect elements, and each mapped to the other kind."""
    passages = simulate(gold, "S-R", index)
    runs = [passages, replace(to_elements(passages, index), run_id="S-R as elements")]
    for kind in ("S_L-R", "S_S-R", "S_ST-R"):
        run = simulate(gold, kind, index)
        runs += [run, replace(to_passages(run, index), run_id=f"{kind} as passages")]
    scores = evaluate(gold, runs, measures, task="relevant-in-context", index=index)
    return tuple(
        Gap(measure, dict(zip(scores.runs, scores.mean[:, column].tolist(), strict=True)))
        for column, measure in enumerate(scores.measures)
    )
