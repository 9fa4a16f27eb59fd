"""From scored units to a task's list, and to a run: best first, without overlap, by article, or one for each article.

Ties: less depth first, then the documents' order in the collection, then the units' order in their document. So a list
never depends on how it was computed, and of an element and its only child with the same words the element comes first.

Segments of words may be asked one by one: workers count and list, and what they return is merged. Scores need numbers
of the whole collection: how many units there are, how long, and how many hold a term. So there are two rounds: in the
first every segment is counted, in the second every one is ranked with the sums. A worker opens the segment that it is
asked for, and this process holds results only: memory does not grow with the collection.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.index import Index
from focuseval.collection.names import path_strings
from focuseval.collection.store import MappedBlocks
from focuseval.collection.trees import TAG
from focuseval.data.run import Run
from focuseval.engine.workers import Workers
from focuseval.measures.tasks import Task
from focuseval.retrieval.settings import RetrievalSettings
from focuseval.retrieval.store import IndexedWords, Progress, open_words
from focuseval.retrieval.terms import Weights
from focuseval.retrieval.units import ElementUnits, Holders, Integers, Numbers, Size, UnitRanker, UnitSet, size_of

Listed = tuple[Integers, Numbers]


def task_list(units: UnitSet, found: Integers, score: Numbers, task: Task, limit: int) -> Listed:
    """Return the units of a task's list, at most so many, and the scores that are written."""
    if task.one_per_article:
        ranked, scores = best(units, found, score, len(found))
        _, first = np.unique(units.document(ranked), return_index=True)
        order = np.sort(first)[:limit]
        return ranked[order], scores[order]
    if task.grouped:  # the document of the best unit first, its units in reading order, with its best score
        ranked, scores = disjoint(units, found, score, limit)
        order, scores = by_article(units.document(ranked), units.spans(ranked)[0], scores)
        return ranked[order], scores
    if not task.overlap:
        return disjoint(units, found, score, limit)
    return best(units, found, score, limit)


def by_article(document: Integers, start: Integers, score: Numbers) -> Listed:
    """Return the order of ranked units by document, the best one's first, and the best score of their documents."""
    _, first, group = np.unique(document, return_index=True, return_inverse=True)
    leader = first[group]
    order = np.lexsort((start, leader))
    return order, score[leader[order]]


def best(units: UnitSet, found: Integers, score: Numbers, limit: int) -> Listed:
    """Return so many of the best units, in order."""
    if len(found) > limit:
        least = np.partition(score, len(score) - limit)[len(score) - limit]
        near = np.flatnonzero(score >= least)
        found, score = found[near], score[near]
    order = np.argsort(found if units.depth is None else units.depth[found].astype(np.int64) << 48 | found)
    order = order[np.argsort(-score[order], kind="stable")[:limit]]
    return found[order], score[order]


def disjoint(units: UnitSet, found: Integers, score: Numbers, limit: int) -> Listed:
    """Return the best units that share no character with a better one."""
    for ahead in (4 * limit, len(found)):  # of nested units, about a third are kept
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


class Places(NamedTuple):
    """Where units lie, a row each."""

    document: pa.Array  # ids
    path: pa.Array  # null for passages and plain texts
    start: Integers
    end: Integers
    """Code points in the document."""

    @property
    def paths(self) -> pa.Array | None:
        """The paths, None where no unit has one."""
        return self.path if self.path.null_count < len(self.path) else None


def places(units: UnitSet, rows: Integers) -> Places:
    """Return where units lie."""
    index = units.words.index
    document = units.document(rows)
    names = index.ids.take(pa.array(document))
    if not isinstance(units, ElementUnits):
        return Places(names, pa.nulls(len(rows), pa.string()), *units.spans(rows))
    held, at = np.zeros(len(units.words["parent"]), np.bool_), np.unique(rows)
    while len(at):  # the units and all that contain them
        held[at] = True
        at = np.unique(units.words["parent"][at])
        at = at[(at >= 0) & ~held[at]]
    every = np.flatnonzero(held)
    bounds, columns = index.element_bounds[index.first], {"n": every * 0, "start": every * 0, "end": every * 0}
    cuts = np.searchsorted(every, bounds)
    for number in np.flatnonzero(np.diff(cuts)).tolist():
        block, here = index.blocks[number], slice(int(cuts[number]), int(cuts[number + 1]))
        for name, column in columns.items():
            column[here] = block.element(name)[every[here] - bounds[number] + block.element_bounds[0]]
    at, tag, parent = np.searchsorted(every, rows), units.words["tag"][every], units.words["parent"][every]
    above = np.where(parent < 0, -1, np.searchsorted(every, parent))
    plain = np.diff(index.element_bounds)[document] == 1
    plain &= np.append(np.array(units.words.tags) == TAG, False)[tag[at]]
    paths = pc.if_else(pa.array(~plain), path_strings(at, above, tag, columns["n"], units.words.tags), None)
    return Places(names, paths, columns["start"][at], columns["end"][at])


def as_run(found: Places, score: Numbers, sizes: Mapping[str, int], *, task: str, run_id: str, description: str) -> Run:
    """Return the lists of topics, so many results each, as a run that says how it was made."""
    many, by_offset = list(sizes.values()), np.asarray(found.path.is_null())
    spans = bool(by_offset.any()) or found.paths is None
    return Run(
        run_id=run_id,
        topics=tuple(sizes),
        topic=np.repeat(np.arange(len(many), dtype=np.int32), many),
        document=found.document,
        rank=np.concatenate([np.zeros(0, np.int32), *(np.arange(1, size + 1, dtype=np.int32) for size in many)]),
        score=score,
        start=np.where(by_offset, found.start, -1) if spans else None,
        end=np.where(by_offset, found.end, -1) if spans else None,
        path=found.paths,
        task=task,
        attributes={"description": description},
    )


def flat(lists: Mapping[str, Listed]) -> tuple[Integers, Numbers, dict[str, int]]:
    """Return the units and scores of all topics, one after the other, and how many each has."""
    rows, score = (
        np.concatenate([np.zeros(0, kind), *(listed[part] for listed in lists.values())])
        for part, kind in enumerate((np.int64, np.float64))
    )
    return rows, score, {topic: len(listed[0]) for topic, listed in lists.items()}


@dataclass(frozen=True, eq=False)
class SegmentSearch:
    """What every worker needs to know of the questions; it keeps the segment that it opened last."""

    index: Index
    settings: RetrievalSettings
    queries: Mapping[str, Weights]
    _open: dict[int, IndexedWords] = field(default_factory=dict)

    def words(self, number: int) -> IndexedWords:
        """Return the words of a segment."""
        if number not in self._open:
            self._open.clear()
            self._open[number] = open_words(self.index, self.settings.language).part(number)
        return self._open[number]

    def count(self, number: int) -> tuple[tuple[Size, Size], list[Holders], set[str]]:
        """Return the units and documents of a segment, how many hold every topic's terms, and the words it has."""
        words = self.words(number)
        ranker = UnitRanker(words, self.settings)
        asked = {word for query in self.queries.values() for term in query for word in term}
        known = {word for word in asked if len(words.occurrences(word))}
        return (size_of(ranker.units), size_of(ranker.roots)), [*map(ranker.holders, self.queries.values())], known

    def rank(self, number: int, sizes: tuple[Size, Size], held: Mapping[str, Holders]) -> pa.Table:
        """Return the lists of a segment; those of a task that groups articles are not grouped."""
        ranker, rules, lists = UnitRanker(self.words(number), self.settings, sizes=sizes), self.settings.rules, {}
        if rules.grouped:
            rules = replace(rules, grouped=False, overlap=False)
        for topic, query in self.queries.items():
            scored = ranker.score(query, 0, held[topic])
            lists[topic] = task_list(ranker.units, *scored, rules, self.settings.limit)
        rows, score, many = flat(lists)
        depth = np.zeros(len(rows), np.int64) if ranker.units.depth is None else ranker.units.depth[rows]
        own = {"score": score, "depth": depth.astype(np.int64), "row": ranker.units.document(rows)}
        own["topic"] = np.repeat(np.arange(len(many)), list(many.values()))
        found, blocks = pa.table(places(ranker.units, rows)._asdict() | own), ranker.words.index.blocks
        if isinstance(blocks, MappedBlocks):  # let go what was mapped for the places of results
            for block in range(len(blocks)):
                blocks.release(block)
        return found


def ask_segments(
    words: IndexedWords,
    settings: RetrievalSettings,
    queries: Mapping[str, Weights],
    workers: Workers,
    progress: Progress | None = None,
) -> tuple[Places, Numbers, dict[str, int], set[str]]:
    """Return where the results of all topics lie, their scores, how many each topic has, and the words that occur."""
    segments = len(words.segments)
    whole: Any = None

    def answers(work: Any, before: int) -> Iterator[tuple[int, Any]]:
        for number, one in enumerate(workers.in_order(work, range(segments))):
            yield number, one
            if progress:
                progress(before + number + 1, 2 * segments, "searching")

    with workers.share(SegmentSearch(words.index, settings, queries)) as shared:
        counts = [one for _, one in answers(lambda number: shared.get().count(number), 0)]
        every, holders, known = zip(*counts, strict=True)
        units, documents = np.sum(every, axis=0).tolist()
        sizes = Size(*units), Size(*documents)
        held = {
            topic: [tuple(pair) for pair in np.sum(own, axis=0).tolist()]
            for topic, own in zip(queries, zip(*holders, strict=True), strict=True)
        }
        for number, one in answers(lambda number: shared.get().rank(number, sizes, held), segments):
            part = one.append_column("segment", pa.array(np.full(len(one), number)))
            whole = part if whole is None else pa.concat_tables([whole, part]).combine_chunks()
            topic, score, depth = (whole[name].to_numpy() for name in ("topic", "score", "depth"))
            order = np.lexsort((depth, -score, topic))  # which keeps the order of segments
            topic = topic[order]
            whole = whole.take(pa.array(order[np.arange(len(order)) - np.searchsorted(topic, topic) < settings.limit]))
    score = whole["score"].to_numpy()
    if settings.rules.grouped:
        of = np.stack([whole[name].to_numpy() for name in ("topic", "segment", "row")])
        _, article = np.unique(of, axis=1, return_inverse=True)
        order, score = by_article(article.reshape(-1), whole["start"].to_numpy(), score)
        whole = whole.take(pa.array(order))
    numbers = np.bincount(whole["topic"].to_numpy(), minlength=len(queries)).tolist()
    document, path = (whole[name].combine_chunks() for name in ("document", "path"))
    where = Places(document, path, whole["start"].to_numpy(), whole["end"].to_numpy())
    return where, score, dict(zip(queries, numbers, strict=True)), set().union(*known)
