"""The runs of the embedded example: three systems for each task, and two chunkings, good and bad on purpose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from embedded.rank import Ranker, Unit, rank
from focuseval.data.gold import UNKNOWN
from focuseval.data.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from focuseval.data.topics import Topic

Ranked = list[tuple[Unit, float]]

_BLOCKS = ("section", "p", "item", "row", "caption")
_NESTED = (*_BLOCKS, "normallist", "table", "body", "article")
_LEAVES = ("title", "p", "item", "row", "caption", "emph", "collectionlink", "name")

CAREFUL = Ranker("careful", _BLOCKS, context=2.0)
"""Blocks of text of every size, helped by the article that they stand in."""
COARSE = Ranker("coarse", ("article",))
"""Whole articles, as a document retriever returns them, or whole sections where a task wants elements."""
HASTY = Ranker("hasty", _LEAVES, noise=1.5)
"""The smallest elements, in an order that luck decides as much as words do."""


@dataclass(frozen=True)
class RunRecipe:
    """One run: its task, the ranker behind it, and how the task's rules are kept."""

    task: str
    ranker: Ranker
    shape: Callable[[Ranked], Ranked]
    fields: tuple[str, ...]
    """Fields of the topic that the ranker reads."""
    place: str
    """How a result says where it is: ``path``, ``span`` or ``point``."""


def everything(found: Ranked) -> Ranked:
    """Keep all results, overlapping or not: the thorough task."""
    return found[:120]


def disjoint(found: Ranked) -> Ranked:
    """Keep the better of two results that share text: the focused task."""
    kept: Ranked = []
    for unit, score in found:
        if not any(unit.overlaps(other) for other, _ in kept):
            kept.append((unit, score))
    return kept[:40]


def in_context(found: Ranked) -> Ranked:
    """Group by article in the order of their best results; inside, what is nearly as good, in reading order."""
    kept: Ranked = []
    for first, group in _by_article(found)[:10]:
        near = [(unit, score) for unit, score in group if score >= 0.6 * first]
        kept += sorted(disjoint(near), key=lambda pair: pair[0].start)
    return _descending(kept)


def entry(found: Ranked) -> Ranked:
    """Keep the best result of every article: where the reader begins."""
    return [group[0] for _, group in _by_article(found)[:10]]


def _by_article(found: Ranked) -> list[tuple[float, Ranked]]:
    """Each article's results with the score of the first, best article first."""
    order = {row: i for i, row in enumerate(dict.fromkeys(unit.row for unit, _ in found))}
    together = sorted(found, key=lambda pair: order[pair[0].row])
    groups = [list(group) for _, group in groupby(together, key=lambda pair: pair[0].row)]
    return [(group[0][1], group) for group in groups]


def _descending(found: Ranked) -> Ranked:
    """Give results scores that fall with their place, for readers that sort by score."""
    return [(unit, float(len(found) - i)) for i, (unit, _) in enumerate(found)]


def make_run(plan: RunRecipe, every: Sequence[Unit], topics: Sequence[Topic]) -> Run:
    """Return the run of a plan over all elements of a collection."""
    found = {
        topic.id: plan.shape(rank(" ".join(getattr(topic, name) for name in plan.fields), every, plan.ranker))
        for topic in topics
    }
    return as_run(plan.ranker.name, plan.task, found, plan.place)


def as_run(run_id: str, task: str, found: Mapping[str, Sequence[tuple[Unit, float]]], place: str) -> Run:
    """Return results as columns, with the one kind of place that is asked for."""
    rows = [
        (code, at, unit, score)
        for code, some in enumerate(found.values())
        for at, (unit, score) in enumerate(some, start=1)
    ]
    spans, paths = place in {"span", "point"}, place == "path"
    ends = [unit.end if place == "span" else UNKNOWN for _, _, unit, _ in rows]
    return Run(
        run_id=run_id,
        topics=tuple(found),
        topic=np.array([code for code, _, _, _ in rows], np.int32),
        document=pa.array([unit.document for _, _, unit, _ in rows], pa.string()),
        rank=np.array([at for _, at, _, _ in rows], np.int32),
        score=np.array([score for _, _, _, score in rows]),
        start=np.array([unit.start for _, _, unit, _ in rows], np.int64) if spans else None,
        end=np.array(ends, np.int64) if spans else None,
        path=pa.array([unit.path for _, _, unit, _ in rows], pa.string()) if paths else None,
        task=task,
        participant="0",
    )


_TITLE, _FULL = ("title",), ("title", "description")

_SECTIONS = ("section",)

PLANS = (
    RunRecipe("thorough", replace(CAREFUL, tags=_NESTED), everything, _TITLE, "path"),
    RunRecipe("thorough", replace(COARSE, tags=_SECTIONS), everything, _TITLE, "path"),
    RunRecipe("thorough", HASTY, everything, _TITLE, "path"),
    RunRecipe("focused", CAREFUL, disjoint, _TITLE, "path"),
    RunRecipe("focused", replace(COARSE, tags=_SECTIONS), disjoint, _TITLE, "path"),
    RunRecipe("focused", HASTY, disjoint, _TITLE, "path"),
    RunRecipe("relevant-in-context", replace(CAREFUL, tags=_SECTIONS), in_context, _FULL, "span"),
    RunRecipe("relevant-in-context", COARSE, in_context, _TITLE, "span"),
    RunRecipe("relevant-in-context", HASTY, in_context, _TITLE, "span"),
    RunRecipe("best-in-context", CAREFUL, entry, _TITLE, "point"),
    RunRecipe("best-in-context", COARSE, entry, _TITLE, "point"),
    RunRecipe("best-in-context", HASTY, entry, _TITLE, "point"),
)
"""Three runs for each of the four tasks."""
