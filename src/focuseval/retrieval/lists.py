"""From scored units to the list of a task: best first, without overlap, by article, or one for each article.

Ties: less depth first, then the documents' order in the collection, then the units' order in their document. So a list
never depends on how it was computed, and of an element and its only child with the same words the element comes first.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.tasks.tasks import Task
    from focuseval.retrieval.unit_sets import UnitSet

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.float64]
    Listed = tuple[Integers, Numbers]

_AHEAD = 4
"""So many times the limit are sorted at first: of nested units, about a third are kept."""


def task_list(units: UnitSet, found: Integers, score: Numbers, task: Task, limit: int) -> Listed:
    """Return the units of a task's list, at most so many, and the scores that are written."""
    if task.one_per_article:
        return _one_each(units, *best(units, found, score, len(found)), limit)
    if task.grouped:
        return _grouped(units, *disjoint(units, found, score, limit))
    if not task.overlap:
        return disjoint(units, found, score, limit)
    return best(units, found, score, limit)


def best(units: UnitSet, found: Integers, score: Numbers, limit: int) -> Listed:
    """Return so many of the best units, in order; units are given ascending."""
    if len(found) > limit:
        least = np.partition(score, len(score) - limit)[len(score) - limit]
        near = np.flatnonzero(score >= least)
        found, score = found[near], score[near]
    keys = (found, -score) if units.depth is None else (found, units.depth[found], -score)
    order = np.lexsort(keys)[:limit]
    return found[order], score[order]


def disjoint(units: UnitSet, found: Integers, score: Numbers, limit: int) -> Listed:
    """Return the best units that share no character with a better one."""
    for ahead in (_AHEAD * limit, len(found)):
        some, scores = best(units, found, score, ahead)
        kept = _without_overlap(units, some, limit)
        if len(kept) == limit or len(some) == len(found):
            return some[kept], scores[kept]
    raise AssertionError("the second round looks at all units")


def _without_overlap(units: UnitSet, ranked: Integers, limit: int) -> list[int]:
    """Return the places of units that overlap no better one; what is kept of a document stands sorted and disjoint."""
    kept: list[int] = []
    taken: dict[int, tuple[list[int], list[int]]] = {}
    start, end = units.spans(ranked)
    rows = zip(units.document(ranked).tolist(), start.tolist(), end.tolist(), strict=True)
    for place, (document, first, last) in enumerate(rows):
        starts, ends = taken.setdefault(document, ([], []))
        at = bisect_left(starts, last)
        if at and ends[at - 1] > first:
            continue
        starts.insert(at, first)
        ends.insert(at, last)
        kept.append(place)
        if len(kept) == limit:
            break
    return kept


def _grouped(units: UnitSet, ranked: Integers, score: Numbers) -> Listed:
    """Return units by document, the document of the best unit first, in each in reading order, with its best score."""
    document = units.document(ranked)
    _, first, group = np.unique(document, return_index=True, return_inverse=True)
    leader = first[group]
    order = np.lexsort((units.spans(ranked)[0], leader))
    return ranked[order], score[leader[order]]


def _one_each(units: UnitSet, ranked: Integers, score: Numbers, limit: int) -> Listed:
    """Return every document's best unit."""
    _, first = np.unique(units.document(ranked), return_index=True)
    order = np.sort(first)[:limit]
    return ranked[order], score[order]
