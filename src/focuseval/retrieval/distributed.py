"""Questions asked of every segment of words by itself: workers count and list, and what they return is merged.

Scores need numbers of the whole collection: how many units there are, how long, and how many hold a term. So there are
two rounds. In the first every segment is counted, in the second every one is ranked with the sums. A worker opens the
segment that it is asked for, and this process holds results only: memory does not grow with the collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from focuseval.collection.index import Index
from focuseval.collection.store import MappedBlocks
from focuseval.engine.workers import Workers
from focuseval.retrieval.lists import Places, by_article, flat, places, task_list
from focuseval.retrieval.settings import RetrievalSettings
from focuseval.retrieval.store import IndexedWords, Progress, open_words
from focuseval.retrieval.terms import Weights
from focuseval.retrieval.units import Holders, Numbers, Size, UnitRanker, size_of


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
