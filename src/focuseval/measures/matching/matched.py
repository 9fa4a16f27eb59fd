"""Run × gold → one table of matched results, all topics at once.

Rows are the run's results of the counted topics, cut at the policy's cut-off, in rank order, one block per counted
topic in the gold's order (`bounds`). The *article view* (columns ``a_…``) has one row per article that the run
returned, in order of first appearance, blocked by `a_bounds`. A column is made when a measure first asks for it, so
that measures of documents never touch a span.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.engine.lazy import cached_property
from focuseval.errors import NotComparableError
from focuseval.measures.matching.documents import ranks
from focuseval.measures.matching.elements import ElementResults
from focuseval.measures.matching.policies import Policies
from focuseval.measures.matching.prepared import Prepared, prepare
from focuseval.placing import place_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.collection.index import Collection
    from focuseval.collection.tokens import Tokenizer
    from focuseval.data.gold import Gold
    from focuseval.data.run import Run


@dataclass(frozen=True, eq=False)
class Found:
    """The relevant articles that a run returned, in rank order: all that measures of documents look at."""

    article: NDArray[np.int64]
    """Row of ``gold.articles``."""
    topic: NDArray[np.int64]
    rank: NDArray[np.int64]
    """Rank among the articles of the topic, from 1."""


@dataclass(frozen=True, eq=False)
class Matched(ElementResults):
    """One run against one gold; what every measure is computed from: results, and the articles they are in."""

    @cached_property
    def found(self) -> Found:
        """The relevant articles among those returned."""
        if self.documents.distinct:
            article = self.known[self.hits].astype(np.int64)
            topic = self.prepared.topic[article].astype(np.int64)
            return Found(article, topic, self.hits - self.bounds[topic] + 1)
        rows = np.flatnonzero(self.a_relevant)
        return Found(self.a_article[rows], self.a_topic[rows].astype(np.int64), self.a_rank[rows])

    @cached_property
    def a_first(self) -> NDArray[np.int64]:
        """For every returned article, the row of its first result."""
        if self.documents.distinct:
            return np.arange(len(self))
        first = np.full(int(self.article.max(initial=-1)) + 1, -1, np.int64)
        backwards = np.arange(len(self) - 1, -1, -1)
        first[self.article[backwards]] = backwards  # of equal articles the last assignment, the first row, stays
        return np.sort(first[first >= 0])

    @cached_property
    def a_bounds(self) -> NDArray[np.int64]:
        """Where each counted topic's block of articles begins, and the end of the last."""
        if self.documents.distinct:
            return self.bounds
        return np.searchsorted(self.a_first, self.bounds).astype(np.int64)

    @cached_property
    def a_topic(self) -> NDArray[np.int32]:
        """For every returned article, its counted topic."""
        return self.topic[self.a_first]

    @cached_property
    def a_rank(self) -> NDArray[np.int64]:
        """For every returned article, its rank among the articles of its topic, from 1."""
        return ranks(self.a_bounds)

    @cached_property
    def a_article(self) -> NDArray[np.int64]:
        """For every returned article, its code (see `article`)."""
        return self.article[self.a_first]

    @cached_property
    def a_of_result(self) -> NDArray[np.int64]:
        """For every result, its row in the article view."""
        row = np.empty(int(self.article.max(initial=-1)) + 1, np.int64)
        row[self.a_article] = np.arange(len(self.a_first))
        return row[self.article]

    @cached_property
    def a_relevant(self) -> NDArray[np.bool_]:
        """For every returned article, whether it is relevant."""
        return self.of_gold(self.prepared.relevant, missing=False)

    @cached_property
    def a_grade(self) -> NDArray[np.int64]:
        """For every returned article, its grade; 0 for the unjudged."""
        return self.of_gold(self.prepared.gold.articles.relevance, missing=0)

    @cached_property
    def a_size(self) -> NDArray[np.int64]:
        """For every returned article, the characters returned from it, each once."""
        return self._by_article(self.cost)

    @cached_property
    def a_rsize(self) -> NDArray[np.int64]:
        """For every returned article, its highlighted characters that were returned, each once."""
        return self._by_article(self.new_rsize)

    @cached_property
    def a_trel(self) -> NDArray[np.int64]:
        """For every returned article, its highlighted characters."""
        return self.of_gold(self.prepared.trel, missing=0)

    @cached_property
    def a_length(self) -> NDArray[np.int64]:
        """For every returned article, the document's characters; −1 where nobody says."""
        return self.of_gold(self.prepared.length, missing=-1)

    @cached_property
    def a_entry(self) -> NDArray[np.int64]:
        """For every returned article, the entry point: where its first result starts; −1 where unknown."""
        return self.places.entry[self.a_first]

    @cached_property
    def a_bep(self) -> NDArray[np.int64]:
        """For every returned article, its best entry point; −1 where there is none."""
        return self.of_gold(self.prepared.bep, missing=-1)

    def of_gold(self, column: NDArray[Any], missing: int) -> NDArray[Any]:
        """Return a column of the gold's articles for every returned article; `missing` for the unjudged."""
        found = np.full(len(self.a_article), missing, column.dtype)
        known = np.flatnonzero(self.a_article < len(column))
        found[known] = column[self.a_article[known]]
        return found

    def _by_article(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        total = np.zeros(len(self.a_first), np.int64)
        np.add.at(total, self.a_of_result, values)
        return total

    @cached_property
    def made(self) -> dict[str, Any]:
        """What measures have computed from this match and may need again, by name."""
        return {}


def match(
    run: Run,
    gold: Gold | Prepared,
    policies: Policies | None = None,
    index: Collection | None = None,
    *,
    chunks: Chunks | None = None,
    tokenizer: Tokenizer | None = None,
) -> Matched:
    """Return the table of a run's results against the gold; pass `prepare(gold, index)` to share work between runs."""
    prepared = gold if isinstance(gold, Prepared) else prepare(gold, index)
    policies = policies or Policies()
    run = run if prepared.index is None else place_run(run, prepared.index)
    run = by_topic_id(run, prepared.gold)
    run = in_file_order(run) if policies.compat == "inex_eval" else run
    rows, bounds = _order(run, prepared, policies.cutoff)
    return Matched(prepared, run, policies, rows, bounds, chunks, tokenizer=tokenizer)


def by_topic_id(run: Run, gold: Gold) -> Run:
    """Return the run with the gold's ids for topics that it names by their questions, as tools without ids do."""
    known = set(gold.topics)
    if not gold.queries or known.issuperset(run.topics):
        return run
    often = Counter(gold.queries.values())
    ids = {query: topic for topic, query in gold.queries.items() if often[query] == 1}
    topics = tuple(name if name in known else ids.get(name, name) for name in run.topics)
    return replace(run, topics=topics) if len(set(topics)) == len(topics) else run


def in_file_order(run: Run) -> Run:
    """Return the run as its file has it, as the official tool reads it: ranks and scores do not count."""
    if run.line is None:
        return run
    return run.take(np.lexsort((run.line, run.topic)))


def _order(run: Run, prepared: Prepared, cutoff: int | None) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Find each counted topic's block in the run; rows are None when the run stands in that order already."""
    position = np.arange(len(run.topics))  # of every topic of the run among the counted ones, or −1
    if run.topics != prepared.topics:
        number = {name: position for position, name in enumerate(prepared.topics)}
        position = np.array([number.get(name, -1) for name in run.topics], np.int64)
    here = position >= 0
    if len(run) and not here.any() and not set(run.topics) & set(prepared.gold.topics):
        raise NotComparableError(
            f"{run.file or run.run_id}: no topic in common with {prepared.gold.file or 'the gold'} "
            f"(run: {run.topics[0]} …, gold: {prepared.gold.topics[0] if prepared.gold.topics else 'none'} …); "
            "give the gold of the run's collection"
        )
    counted, length = position[here], np.diff(run.bounds)[here]
    blocks = np.zeros(len(prepared.topics), np.int64)
    blocks[counted] = np.minimum(length, cutoff) if cutoff else length
    bounds = np.r_[0, np.cumsum(blocks)]
    if bounds[-1] == len(run) and (np.diff(counted) > 0).all():
        return None, bounds
    first = np.zeros(len(prepared.topics), np.int64)
    first[counted] = run.bounds[:-1][here]
    return np.arange(bounds[-1]) + np.repeat(first - bounds[:-1], blocks), bounds
