"""Questions asked of every segment of words by itself: workers count and list, and what they return is merged.

Scores need numbers of the whole collection: how many units there are, how long, and how many hold a term. So there are
two rounds. In the first every segment is counted, in the second every one is ranked with the sums. A worker opens the
segment that it is asked for, and this process holds results only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from focuseval.retrieval.lists import Places, by_article, flat, places, task_list
from focuseval.retrieval.store import open_words
from focuseval.retrieval.units import UnitRanker, size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focuseval.collection.index import Index
    from focuseval.engine.workers import Shared, Workers
    from focuseval.retrieval.settings import RetrievalSettings
    from focuseval.retrieval.store import IndexedWords
    from focuseval.retrieval.terms import Weights
    from focuseval.retrieval.units import Holders, Size

    Integers = NDArray[np.int64]


class SegmentCounts(NamedTuple):
    """What a segment holds: units and their words, documents and theirs; holders of every topic's terms; its words."""

    sizes: NDArray[np.int64]
    held: dict[str, Holders]
    known: set[str]


class SegmentLists(NamedTuple):
    """The lists of one segment, topic by topic."""

    places: Places
    score: NDArray[np.float64]
    sizes: dict[str, int]
    document: Integers
    """Rows in the segment."""
    depth: Integers


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

    def count(self, number: int) -> SegmentCounts:
        """Return what a segment adds to the numbers of the collection."""
        words = self.words(number)
        ranker = UnitRanker(words, self.settings)
        sets = (ranker.units, ranker.roots)
        sizes = [(np.count_nonzero(one.returnable), one.length[one.returnable].sum()) for one in sets]
        asked = {word for query in self.queries.values() for term in query for word in term}
        held = {topic: ranker.holders(query) for topic, query in self.queries.items()}
        return SegmentCounts(np.array(sizes, np.int64), held, {word for word in asked if len(words.occurrences(word))})

    def rank(self, number: int, sizes: tuple[Size, Size], held: Mapping[str, Holders]) -> SegmentLists:
        """Return the lists of a segment; those of a task that groups articles are not grouped."""
        ranker, rules, lists = UnitRanker(self.words(number), self.settings, sizes=sizes), self.settings.rules, {}
        if rules.grouped:
            rules = replace(rules, grouped=False, overlap=False)
        for topic, query in self.queries.items():
            scored = ranker.score(query, 0, held[topic])
            lists[topic] = task_list(ranker.units, *scored, rules, self.settings.limit)
        rows, score, many = flat(lists)
        depth = np.zeros(len(rows), np.int64) if ranker.units.depth is None else ranker.units.depth[rows]
        return SegmentLists(
            places(ranker.units, rows), score, many, ranker.units.document(rows), depth.astype(np.int64)
        )


def _count(shared: Shared[SegmentSearch], number: int) -> SegmentCounts:
    return shared.get().count(number)


def _rank(
    shared: Shared[SegmentSearch], sizes: tuple[Size, Size], held: Mapping[str, Holders], number: int
) -> SegmentLists:
    return shared.get().rank(number, sizes, held)


def ask_segments(
    words: IndexedWords, settings: RetrievalSettings, queries: Mapping[str, Weights], workers: Workers
) -> tuple[Places, NDArray[np.float64], dict[str, int], set[str]]:
    """Return where the results of all topics lie, their scores, how many each topic has, and the words that occur."""
    numbers = range(len(words.segments))
    with workers.share(SegmentSearch(words.index, settings, queries)) as shared:
        counts = list(workers.in_order(partial(_count, shared), numbers))
        units, documents = np.sum([one.sizes for one in counts], axis=0).tolist()
        sizes = size(*units), size(*documents)
        held = {topic: list(map(_added, zip(*(one.held[topic] for one in counts), strict=True))) for topic in queries}
        parts = list(workers.in_order(partial(_rank, shared, sizes, held), numbers))
    return *_merged(parts, settings), set().union(*(one.known for one in counts))


def _added(pairs: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    return sum(units for units, _ in pairs), sum(documents for _, documents in pairs)


def _merged(
    parts: list[SegmentLists], settings: RetrievalSettings
) -> tuple[Places, NDArray[np.float64], dict[str, int]]:
    """Return the lists of segments as one list a topic: ties by depth, then in the order of segments."""
    bases = np.cumsum([0, *(len(part.score) for part in parts)])
    column = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("score", "depth", "document")}
    start, end, by_offset = (
        np.concatenate([getattr(part.places, name) for part in parts]) for name in ("start", "end", "by_offset")
    )
    segment = np.repeat(np.arange(len(parts)), np.diff(bases))
    begins = [np.cumsum([0, *part.sizes.values()]) for part in parts]
    order, scores, sizes = list[Any](), list[Any](), dict[str, int]()
    for place, topic in enumerate(parts[0].sizes):
        rows = np.concatenate(
            [base + np.arange(ends[place], ends[place + 1]) for base, ends in zip(bases, begins, strict=False)]
        )
        rows = rows[np.lexsort((rows, column["depth"][rows], -column["score"][rows]))[: settings.limit]]
        score = column["score"][rows]
        if settings.rules.grouped:
            document = segment[rows] << 40 | column["document"][rows]
            again, score = by_article(document, start[rows], score)
            rows = rows[again]
        order.append(rows)
        scores.append(score)
        sizes[topic] = len(rows)
    taken = np.concatenate(order)
    names = pa.concat_arrays([part.places.document for part in parts]).take(pa.array(taken))
    missing = (pa.nulls(len(part.score), pa.string()) for part in parts)
    paths = [none if part.places.path is None else part.places.path for part, none in zip(parts, missing, strict=True)]
    path = None if by_offset[taken].all() else pa.concat_arrays(paths).take(pa.array(taken))
    return Places(names, path, start[taken], end[taken], by_offset[taken]), np.concatenate(scores), sizes
