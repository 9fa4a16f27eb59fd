"""The gold side of a match, prepared once and shared by all runs.

Three numberings meet here. A *counted topic* is a topic with relevance, numbered 0 … in the gold's order. An *article*
is a judged (topic, document) pair: a row of ``gold.articles``. A *document* is a row of ``gold.documents``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.names import EXTENSION, Names
from focuseval.data.gold import Gold
from focuseval.data.remarks import worded
from focuseval.data.spans import Spans, dense, pack, union
from focuseval.engine.lazy import cached_property
from focuseval.engine.native import Lookup, hash64, mix
from focuseval.errors import FormatError, MissingDataError, counted
from focuseval.measures.topicwise import Flags, Integers, count_by
from focuseval.placing import place_gold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.index import Collection
    from focuseval.measures.assessed import Assessed


BUILD_INDEX = "build the collection's index with 'focuseval index' and give index="
"""The remedy where only the documents tell."""


class Needs(NamedTuple):
    """The alternatives of all needed items, a row each: a passage of the gold with a place."""

    article: Integers
    start: Integers
    end: Integers
    item: Integers  # for every alternative, its item; items are numbered from 0
    topic: Integers  # for every item, its counted topic
    passage: Integers  # for every alternative, its passage of the gold


@dataclass(frozen=True, eq=False)
class Prepared:
    """What every run is compared with; expensive columns are made when a measure first asks for them."""

    gold: Gold
    index: Collection | None = None  # the collection, or None
    whole: Prepared | None = None
    """What this is some topics of, or None: their documents are hashed and found in the index once."""
    all_topics: bool = False
    """Whether topics without relevance count, too, as for trec_eval and the official tool of 2008–10."""
    beside: frozenset[str] = frozenset()
    """Other bases than relevance whose topics count, too: see `focuseval.measures.Measure.base`."""

    @cached_property
    def counted(self) -> Flags:
        """For every topic of the gold, whether it is in any mean: only topics with relevance are, but for `beside`."""
        return np.asarray(np.logical_or.reduce([self.based(base) for base in ("relevance", *self.beside)]))

    def based(self, base: str) -> Flags:
        """Return, for every topic of the gold, whether it is in the means of measures with such a base."""
        if base in {"unanswerable", "questions"}:
            if not self.gold.unanswerable.any():
                remedy = """our JSON lines say it as '"answerable": false'"""
                raise self.lacking(f"no topic is said to have no answer; {remedy}")
            return self.gold.unanswerable | (self.based("relevance") if base == "questions" else False)
        if base == "forbidden":
            return np.isin(self.gold.topics, self.forbidden.topics)
        return np.ones(len(self.gold.topics), np.bool_) if self.all_topics else self.with_relevance

    @cached_property
    def with_relevance(self) -> Flags:
        """For every topic of the gold, whether it has any relevant text."""
        relevant, elements = self.gold.relevant_topics, self.gold.elements
        relevant[elements.topic[(elements.exhaustivity > 0) | (elements.rsize > 0)]] = True
        return relevant

    @cached_property
    def forbidden(self) -> Prepared:
        """The text that must not come back, as a gold of its own."""
        if self.gold.forbidden is None:
            raise self.lacking("no text is forbidden; our JSON lines say which, as 'forbidden'")
        return prepare(self.gold.forbidden, self.index)

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
    def relevant(self) -> Flags:
        """For every article, whether it is relevant to its topic."""
        return np.asarray(self.gold.articles.relevance > 0)

    @cached_property
    def numrel(self) -> Integers:
        """For every counted topic, the number of its relevant articles."""
        return self.per_topic(self.relevant)

    @cached_property
    def pairs(self) -> Lookup:
        """Finds the article of a (counted topic, document) pair, as `pack` joins the two."""
        return Lookup(pack(self.topic, self.same[self.gold.articles.document]))

    @cached_property
    def names(self) -> Names:
        """The ids of the gold's documents, and the rule by which others match them."""
        return Names(self.gold.documents.cast(pa.string()), folders=False) if self.whole is None else self.whole.names

    @cached_property
    def has_extensions(self) -> bool:
        """Whether an id of the gold has a file extension, so that a run may leave it out."""
        if self.whole is not None:
            return self.whole.has_extensions
        return bool(pc.any(pc.match_substring_regex(self.names.ids, EXTENSION)).as_py())

    @cached_property
    def same(self) -> Integers:
        """For every document of the gold, the code of the first that is the same document of the collection."""
        code = np.arange(len(self.gold.documents))
        known = np.flatnonzero(self.document_rows >= 0) if self.index is not None else code[:0]
        first = np.full(int(self.document_rows.max(initial=-1)) + 1, -1, np.int64)
        first[self.document_rows[known[::-1]]] = known[::-1]
        code[known] = first[self.document_rows[known]]
        return code

    def codes_of_names(self, ids: pa.Array) -> Integers:
        """Return the gold's code of every document by its name alone, −1 where the gold does not have it."""
        code = self.names.match(ids).astype(np.int64)
        code[code >= 0] = self.same[code[code >= 0]]
        return code

    @cached_property
    def code_of_row(self) -> Integers:
        """For every document of the collection, its code in the gold, −1 where the gold does not have it; and a −1."""
        code = np.full(len(self.index) + 1 if self.index is not None else 1, -1, np.int64)
        known = np.flatnonzero(self.document_rows >= 0)
        code[self.document_rows[known]] = self.same[known]
        return code

    @cached_property
    def assessed(self) -> Assessed:
        """The gold's assessed elements, sorted once for all recall bases."""
        from focuseval.measures.assessed import assessed_elements  # noqa: PLC0415  two modules that only elements need

        return assessed_elements(self.gold, self.index, self.position)

    @cached_property
    def hashed_pairs(self) -> Lookup:
        """Finds the article of a pair by the keys of its document id and its counted topic."""
        document = self.document_keys[self.gold.articles.document]
        return Lookup(mix(document, self.topic.astype(np.uint64)).view(np.int64))

    @cached_property
    def document_keys(self) -> NDArray[np.uint64]:
        """For every document of the gold, the key of its id."""
        return hash64(self.gold.documents) if self.whole is None else self.whole.document_keys

    @cached_property
    def document_rows(self) -> Integers:
        """For every document of the gold, its row in the index, or −1."""
        if self.whole is not None:
            return self.whole.document_rows
        if self.index is None or self.gold.placement is None:
            return np.full(len(self.gold.documents), -1, np.int64)
        return self.gold.placement.document

    @cached_property
    def article_of_passage(self) -> Integers:
        """For every passage of the gold, its article; −1 in topics that do not count."""
        passages = self.gold.passages
        topic = self.position[passages.topic]
        return np.where(topic >= 0, self.pairs.find(pack(topic, passages.document)), -1)

    @cached_property
    def highlights(self) -> Spans:
        """The highlighted text of every article, disjoint and sorted, grouped by article."""
        passages = self.gold.passages
        if not len(passages.topic):
            lost = f" ({self.gold.remarks[-1]})" if self.gold.aligned and self.gold.remarks else ""
            remedy = "use a measure of documents or elements, or a gold with passages"
            segments = ", or give the segments (TREC RAG) as docs=" if self.gold.scale == "trec" else ""
            raise self.lacking(f"no highlighted passages{lost}, so no measure of characters; {remedy}{segments}")
        if (passages.start < 0).any() or (passages.end < 0).any():
            given, remedy = "paths", BUILD_INDEX
            if passages.start_path is None and passages.quote is not None:
                given, remedy = "quotes without offsets", "give docs="
            raise self.lacking(f"passages are given as {given}, so their characters are unknown; {remedy}")
        here = self.article_of_passage >= 0
        return union(self.article_of_passage[here], passages.start[here], passages.end[here])

    @cached_property
    def needs(self) -> Needs:
        """The needed items of all counted topics, with their alternatives.

        Passages of a topic with the same name are alternatives, in whatever documents they are; a passage without a
        name is an item of its own, as every passage of a gold that names nothing.
        """
        _ = self.highlights  # refused where there are none, or where they have no places
        passages, article = self.gold.passages, self.article_of_passage
        here = np.flatnonzero((article >= 0) & (passages.start >= 0) & (passages.end > passages.start))
        name = own = np.arange(len(here))
        if passages.need is not None:
            codes = passages.need.take(here).dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
            name = np.where(codes >= 0, codes.astype(np.int64), len(here) + own)
        topic = self.topic[article[here]].astype(np.int64)
        item = dense(pack(topic, name))
        topic_of = np.zeros(int(item.max(initial=-1)) + 1, np.int64)
        topic_of[item] = topic
        return Needs(article[here], passages.start[here], passages.end[here], item, topic_of, here)

    @cached_property
    def trel(self) -> Integers:
        """For every article, its highlighted characters."""
        return self.highlights.total(len(self.topic))

    @cached_property
    def trel_of_topic(self) -> Integers:
        """For every counted topic, its highlighted characters."""
        return self.per_topic(self.trel)

    @cached_property
    def length(self) -> Integers:
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
            raise self.lacking(f"no document lengths, so L of s(x,b) is unknown; {BUILD_INDEX}")
        return float(np.mean(articles.length[known][first]))

    @cached_property
    def bep(self) -> Integers:
        """For every article, its best entry point, or −1; one in an article that is not relevant counts nowhere."""
        bep = np.where(self.relevant, self.gold.articles.bep, -1)
        if not (bep >= 0).any():
            needed = "they are needed for best in context (entry points given as paths need index=)"
            raise self.lacking(f"no best entry points; {needed}")
        return bep

    @cached_property
    def beps_of_topic(self) -> Integers:
        """For every counted topic, the number of its best entry points."""
        return self.per_topic(self.bep >= 0)

    def lacking(self, what: str) -> MissingDataError:
        """Return the error that the gold lacks something, and what to do about it."""
        return MissingDataError(f"{self.gold.file or 'the gold'}: {what}")

    def per_topic(self, values: NDArray[Any]) -> Integers:
        """Sum a column of articles over each counted topic, exactly."""
        here = self.topic >= 0
        return count_by(values[here], self.topic[here], len(self.topics))


def by_one_name(gold: Gold, index: Collection) -> Gold:
    """Return a placed gold in which a document of the collection has one code, whatever topics call it by which id."""
    a, same = gold.articles, Prepared(gold, index).same
    if (same == np.arange(len(same))).all():
        return gold
    pair = pack(a.topic, same[a.document])
    order = np.argsort(pair, kind="stable")
    if len(again := np.flatnonzero(pair[order][1:] == pair[order][:-1])):
        first, second = order[again[0] : again[0] + 2]
        ids = (gold.documents[int(a.document[row])].as_py() for row in (first, second))
        what = "topic {!r}: expected one id for a document, found {!r} and {!r}, which are one in the collection"
        remedy = "write one of them everywhere"
        raise FormatError(what.format(gold.topics[a.topic[first]], *ids), at=gold.at_article(second), remedy=remedy)
    tables = {name: getattr(gold, name) for name in ("articles", "passages", "elements")}
    return replace(gold, **{name: replace(t, document=same[t.document]) for name, t in tables.items()})


def prepare(gold: Gold, index: Collection | None = None) -> Prepared:
    """Return the gold side of a match; build it once and pass it to `match` for every run.

    Ambiguous or lost quotes are left out and counted, never guessed. A document all of whose passages are ambiguous or
    lost counts as not relevant, and a topic without any other is left out of every mean: both are among the remarks.
    """
    gold = gold if index is None else by_one_name(place_gold(gold, index), index)
    p, a = gold.passages, gold.articles
    lost = (p.start < 0) | (p.end < 0)
    if not gold.aligned or not lost.any():
        return Prepared(gold, index)
    article, size = gold.article_of(p), len(a.topic)
    bare = np.bincount(article[lost], minlength=size) > 0
    bare &= (np.bincount(article[~lost], minlength=size) == 0) & (a.relevance > 0)
    articles = replace(a, relevance=np.where(bare, 0, a.relevance), rsize=np.where(bare, 0, a.rsize))
    kept = replace(gold, articles=articles, passages=p.take(np.flatnonzero(~lost)))
    topics = int(np.count_nonzero(gold.relevant_topics & ~kept.relevant_topics))
    spans, documents = (int(np.count_nonzero(flags)) for flags in (lost, bare))
    remark = f"left out: {counted(spans, 'ambiguous or lost span')}; not relevant for want of others: "
    remark += f"{counted(documents, 'document')}; in no mean: {counted(topics, 'topic')}"
    return Prepared(replace(kept, remarks=(*gold.remarks, worded(remark))), index)
