"""The gold side of a match, prepared once and shared by all runs.

Three numberings meet here. A *counted topic* is a topic with relevance, numbered 0 … in the gold's order. An *article*
is a judged (topic, document) pair: a row of ``gold.articles``. A *document* is a row of ``gold.documents``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.keys import hash64, mix
from focuseval.lazy import cached_property
from focuseval.match.lookup import Lookup
from focuseval.match.usable import refuse_unplaced, usable
from focuseval.spans import Spans, union

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.gold import Gold


@dataclass(frozen=True)
class Prepared:
    """What every run is compared with; expensive columns are made when a measure first asks for them."""

    gold: Gold
    index: Any = None
    """The collection's index, or None."""
    whole: Prepared | None = None
    """What this is some topics of, or None: their documents are hashed and found in the index once."""

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """For every topic of the gold, whether it has any relevant text (only these are in a mean)."""
        relevant = self.gold.relevant_topics.copy()
        elements = self.gold.elements
        relevant[elements.topic[(elements.exhaustivity > 0) | (elements.rsize > 0)]] = True
        return relevant

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Names of the counted topics, in the gold's order."""
        if self.counted.all():
            return self.gold.topics
        return tuple(name for name, kept in zip(self.gold.topics, self.counted, strict=True) if kept)

    @cached_property
    def position(self) -> NDArray[np.int32]:
        """For every topic code of the gold, its number among the counted topics, or −1."""
        return np.where(self.counted, np.cumsum(self.counted) - 1, -1).astype(np.int32)

    @cached_property
    def topic(self) -> NDArray[np.int32]:
        """For every article, its counted topic, or −1."""
        return self.position[self.gold.articles.topic]

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """For every article, whether it is relevant to its topic."""
        return np.asarray(self.gold.articles.relevance > 0)

    @cached_property
    def numrel(self) -> NDArray[np.int64]:
        """For every counted topic, the number of its relevant articles."""
        return self.per_topic(self.relevant)

    @cached_property
    def pairs(self) -> Lookup:
        """Finds the article of a (counted topic, document) pair, coded by `pair_key`."""
        return Lookup(self.pair_key(self.topic, self.gold.articles.document))

    @cached_property
    def hashed_pairs(self) -> Lookup:
        """Finds the article of a pair by the keys of its document id and its counted topic."""
        document = self.document_keys[self.gold.articles.document]
        return Lookup(mix(document, self.topic.astype(np.uint64)).view(np.int64))

    def pair_key(self, topic: NDArray[np.integer], document: NDArray[np.integer]) -> NDArray[np.int64]:
        """Join a counted topic and a document code into one number."""
        return (np.asarray(topic, np.int64) << np.int64(32)) | np.asarray(document, np.int64)

    @cached_property
    def document_keys(self) -> NDArray[np.uint64]:
        """For every document of the gold, the key of its id."""
        return hash64(self.gold.documents) if self.whole is None else self.whole.document_keys

    @cached_property
    def document_rows(self) -> NDArray[np.int32]:
        """For every document of the gold, its row in the index, or −1."""
        if self.whole is not None:
            return self.whole.document_rows
        if self.index is None:
            return np.full(len(self.gold.documents), -1, np.int32)
        return np.asarray(self.index.find(self.gold.documents), np.int32)

    @cached_property
    def article_of_passage(self) -> NDArray[np.int64]:
        """For every passage of the gold, its article; −1 in topics that do not count."""
        passages = self.gold.passages
        topic = self.position[passages.topic]
        found = self.pairs.find(self.pair_key(topic, passages.document))
        return np.where(topic >= 0, found, -1)

    @cached_property
    def highlights(self) -> Spans:
        """The highlighted text of every article, disjoint and sorted, grouped by article."""
        passages = self.gold.passages
        if not len(passages.topic):
            lost = f" ({self.gold.remarks[-1]})" if self.gold.aligned and self.gold.remarks else ""
            raise MissingDataError(
                f"{self.gold.file or 'the gold'}: no highlighted passages{lost}, so no measure of characters; "
                "use a measure of documents or elements, or a gold with passages"
                + (", or give the segments (TREC RAG) as --docs" if self.gold.scale == "trec" else "")
            )
        refuse_unplaced(self.gold)
        here = self.article_of_passage >= 0
        return union(self.article_of_passage[here], passages.start[here], passages.end[here])

    @cached_property
    def trel(self) -> NDArray[np.int64]:
        """For every article, its highlighted characters."""
        return self.highlights.total(len(self.topic))

    @cached_property
    def trel_of_topic(self) -> NDArray[np.int64]:
        """For every counted topic, its highlighted characters."""
        return self.per_topic(self.trel)

    @cached_property
    def length(self) -> NDArray[np.int64]:
        """For every article, the characters of the document: from the index, else from the gold, else −1."""
        given = self.gold.articles.length
        if self.index is None:
            return given
        row = self.document_rows[self.gold.articles.document]
        return np.where(row >= 0, np.asarray(self.index.lengths)[np.maximum(row, 0)], given)

    @cached_property
    def mean_length(self) -> float:
        """L of BEPD: mean length over the collection, without an index over the documents whose length is given."""
        if self.index is not None and len(self.index):
            return float(np.mean(self.index.lengths))
        articles = self.gold.articles
        known = articles.length >= 0
        _, first = np.unique(articles.document[known], return_index=True)
        if not len(first):
            raise MissingDataError(
                f"{self.gold.file or 'the gold'}: no document lengths, so L of s(x,b) is unknown; "
                "build the collection's index with 'focuseval index' and give it with --index"
            )
        return float(np.mean(articles.length[known][first]))

    @cached_property
    def bep(self) -> NDArray[np.int64]:
        """For every article, its best entry point, or −1."""
        bep = self.gold.articles.bep
        if not (bep[self.relevant] >= 0).any():
            raise MissingDataError(
                f"{self.gold.file or 'the gold'}: no best entry points; they are needed for best in context "
                "(entry points given as paths need --index)"
            )
        return bep

    @cached_property
    def beps_of_topic(self) -> NDArray[np.int64]:
        """For every counted topic, the number of its best entry points."""
        return self.per_topic(self.bep >= 0)

    def per_topic(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Sum a column of articles over each counted topic, exactly."""
        total = np.zeros(len(self.topics), np.int64)
        here = self.topic >= 0
        np.add.at(total, self.topic[here], values[here].astype(np.int64))
        return total


def prepare(gold: Gold, index: Any = None) -> Prepared:
    """Return the gold side of a match; build it once and pass it to `match` for every run."""
    return Prepared(usable(gold), index)
