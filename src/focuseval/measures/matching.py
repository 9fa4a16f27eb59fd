"""Run × gold → one table of matched results, all topics at once; every policy is decided here.

Rows are the run's results of the counted topics, cut at the policy's cut-off, in rank order, one block per counted
topic in the gold's order (`bounds`). The *article view* (columns ``a_…``) has one row per article that the run
returned, in order of first appearance, blocked by `a_bounds`. A column is made when a measure first asks for it, so
that measures of documents never touch a span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focuseval.data.gold import Gold
from focuseval.data.run import Run
from focuseval.data.spans import novelty, unseen
from focuseval.engine.lazy import cached_property
from focuseval.errors import MissingDataError, NotComparableError
from focuseval.measures.document_matching import MatchedDocuments, Rows, find_documents, ranks
from focuseval.measures.prepared import BUILD_INDEX, Prepared, prepare
from focuseval.measures.profiles import Policies
from focuseval.measures.topicwise import Flags, Integers, count_by, first_row
from focuseval.placing import place_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.collection.index import Collection
    from focuseval.collection.tokens import Tokenizer
    from focuseval.measures.recall_base import ElementMatch, RecallBase


UNPLACED_COST = 18  # what the official tool charges for a result whose offset is unknown


@dataclass(frozen=True, eq=False)
class ResultSpans:
    """Spans of all results; a result without a place is an empty span at 0, and counted."""

    start: Integers
    end: Integers
    entry: Integers  # where a reader enters: the start, −1 where unknown
    unplaced: Flags  # results whose place nobody knows: a path that leads nowhere, an offset marked as unknown
    points: bool = False  # whether all results are entry points, so that none of them holds any text


class Found(NamedTuple):
    """The relevant articles that a run returned, in rank order: all that measures of documents look at."""

    article: Integers  # row of ``gold.articles``
    topic: Integers
    rank: Integers  # rank among the articles of the topic, from 1


@dataclass(frozen=True, eq=False)
class Matched(Rows):
    """One run against one gold, a column at a time: what every measure is computed from."""

    chunks: Chunks | None = None  # all chunks of the chunker, for `ceiling`
    cut: ResultSpans | None = None  # spans that stand in for the results' own, where results are cut short
    tokenizer: Tokenizer | None = None  # what counts tokens, for budgets of them
    element_matches: dict[tuple[str, str], ElementMatch] = field(default_factory=dict, init=False)
    """The matches with recall bases that were made so far, by quantisation and base."""
    computed: dict[Any, Any] = field(default_factory=dict, init=False)
    """What measures have computed from this match and may need again; see `focuseval.measures.topicwise.once`."""

    # -- which article ------------------------------------------------------------------------------------------

    @cached_property
    def documents(self) -> MatchedDocuments:
        """The results' documents, as the gold knows them."""
        return find_documents(self)

    @property
    def known(self) -> NDArray[np.integer]:
        """For every result, the row of ``gold.articles`` that judges it; −1 where no assessor did."""
        return self.documents.known

    @cached_property
    def article(self) -> Integers:
        """For every result, its article: a row of ``gold.articles``, or a number beyond for unjudged pairs."""
        article = self.known.astype(np.int64)
        article[article < 0] = len(self.prepared.topic) + self.documents.group()
        return article

    @cached_property
    def judged(self) -> Flags:
        """For every result, whether an assessor judged its document for its topic."""
        return np.asarray(self.known >= 0)

    @cached_property
    def unjudged(self) -> int:
        """How many results no assessor judged."""
        return len(self) - int(np.count_nonzero(self.judged))

    # -- which characters ---------------------------------------------------------------------------------------

    @cached_property
    def places(self) -> ResultSpans:
        """Start and end of every result; a run without any place returns whole documents."""
        run = self.run
        if self.cut is not None:
            return self.cut
        if not len(self) or run.whole_documents:
            length, placement = np.full(len(self), -1, np.int64), run.placement
            length[self.judged] = self.prepared.length[self.known[self.judged]]
            if (length < 0).any() and placement is not None:
                length = np.where(length < 0, self.column(placement.length), length)
            if (length < 0).any():
                raise self.lacking(f"results are whole documents whose length the gold does not give; {BUILD_INDEX}")
            return ResultSpans(np.zeros_like(length), length, np.zeros_like(length), np.zeros(len(self), np.bool_))
        if run.start is None:
            if run.path is None:
                raise self.lacking("results are texts, so their places are unknown; give docs= or index=")
            raise self.lacking(f"results are element paths, so their characters are unknown; {BUILD_INDEX}")
        start = np.asarray(self.column(run.start))
        end = np.full(len(self), -1, np.int64) if run.end is None else np.asarray(self.column(run.end))
        unplaced = start < 0
        if not unplaced.any() and (end >= start).all():
            return ResultSpans(start, end, start, unplaced)
        point = ~unplaced & (end < start)
        ends = np.where(unplaced, 0, np.where(point, start, end))
        return ResultSpans(np.maximum(start, 0), ends, start, unplaced, bool(point.any() and (point | unplaced).all()))

    @property
    def places_asked_for(self) -> bool:
        """Whether a measure has asked where the results lie."""
        return "places" in vars(self)

    @cached_property
    def document_row(self) -> Integers:
        """For every result, the row of its document in the collection; −1 where there is none."""
        placement = self.run.placement
        return np.full(len(self), -1, np.int64) if placement is None else self.column(placement.document)

    @property
    def start(self) -> Integers:
        """For every result, its first character."""
        return self.places.start

    @property
    def end(self) -> Integers:
        """For every result, one past its last character."""
        if self.places.points:
            remedy = (
                "use a measure of entry points (BEPD, EPRUM, MAgP(score=bep)), or a run that says where its results end"
            )
            raise self.lacking(f"results are entry points, which hold no text; {remedy}")
        return self.places.end

    @cached_property
    def size(self) -> Integers:
        """For every result, its characters."""
        return self.end - self.start

    @cached_property
    def hits(self) -> Integers:
        """Rows of the results whose article is relevant: all others hold no highlighted character."""
        judged = np.flatnonzero(self.judged)
        return np.asarray(judged[self.prepared.relevant[self.known[judged]]])

    @cached_property
    def rsize(self) -> Integers:
        """For every result, its highlighted characters."""
        highlights, hits = self.prepared.highlights, self.hits  # without highlights no place is worth asking for
        found = np.zeros(len(self), np.int64)
        found[hits] = highlights.covered(self.article[hits], self.start[hits], self.end[hits])
        return found

    @cached_property
    def _novelty(self) -> tuple[Integers, Integers]:
        highlights = self.prepared.highlights
        if self.documents.distinct:  # no text comes back where no article does
            return np.maximum(self.end - self.start, 0), self.rsize
        relevant = np.zeros(len(self), np.bool_)
        relevant[self.hits] = True
        return novelty(self.article, self.start, self.end, highlights, relevant)

    @cached_property
    def new_size(self) -> Integers:
        """For every result, the characters that no earlier rank of its topic returned."""
        return (
            self._novelty[0] if len(self.prepared.gold.passages.topic) else unseen(self.article, self.start, self.end)
        )

    @cached_property
    def cost(self) -> Integers:
        """For every result, the characters that it costs a reader: those not returned before.

        The official tool charges results of articles without relevance in full each time.
        """
        if self.policies.overlap == "once":
            return self.new_size
        cost = self.size.copy()
        cost[self.hits] = self.new_size[self.hits]
        charged = self.places.unplaced.copy()
        if self.policies.overlap == "inex_eval_thorough":
            charged[self.hits] = False
        cost[charged] = UNPLACED_COST
        return cost

    @cached_property
    def new_rsize(self) -> Integers:
        """For every result, the highlighted characters that no earlier rank of its topic returned."""
        return self._novelty[1]

    # -- as elements of a recall base --------------------------------------------------------------------------

    def elements(self, quant: str = "auto", base: str = "auto") -> ElementMatch:
        """Return the results as elements of the recall base under a quantisation, made once for each pair.

        `base` is ``full``, ``filtered`` (without the policies' link types) or ``auto``, what the policies say.
        """
        if (quant, base) not in self.element_matches:
            assessed = self.prepared.assessed.base(quant, self.policies.left_out(base))
            self.element_matches[quant, base] = self.match_base(assessed)
        return self.element_matches[quant, base]

    def match_base(self, base: RecallBase) -> ElementMatch:
        """Return the results as elements of any recall base made of the gold's assessments."""
        return base.match(self.bounds, np.asarray(self.known, np.int64), self.path_codes)

    @cached_property
    def path_codes(self) -> Integers:
        """For every result, its path as a code of the assessed elements' tree, −1 where it has no relative there.

        A run of whole documents returns their root elements.
        """
        run, assessed = self.run, self.prepared.assessed
        if run.path is None and (run.start is not None or run.text is not None):
            raise self.lacking(
                "results are passages, and this measure compares elements; use a measure of characters (iP, MAiP, "
                "charP …), or map passages to the elements that fit them best with 'focuseval convert --as elements'"
            )
        if run.path is None:  # the root element of every result's article
            roots = np.flatnonzero(assessed.tree.depth == 1)
            of_article = np.full(len(assessed.topic_of_article) + 1, -1, np.int64)
            of_article[assessed.article] = roots[np.searchsorted(roots, assessed.code, "right") - 1]
            return np.asarray(of_article[self.known])  # the last entry, −1, is for unjudged articles
        code = assessed.tree.find(self.path)
        if run.end_path is None:
            return code
        ends = self.column(run.end_path)
        element = np.asarray(ends.is_null()) | (assessed.tree.find(ends) == code)
        return np.where(element, code, -1)

    # -- the articles that they are in -------------------------------------------------------------------------

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
    def a_first(self) -> Integers:
        """For every returned article, the row of its first result."""
        if self.documents.distinct:
            return np.arange(len(self))
        return np.flatnonzero(first_row(self.article) == np.arange(len(self)))

    @cached_property
    def a_bounds(self) -> Integers:
        """Where each counted topic's block of articles begins, and the end of the last."""
        if self.documents.distinct:
            return self.bounds
        return np.searchsorted(self.a_first, self.bounds).astype(np.int64)

    @cached_property
    def a_topic(self) -> NDArray[np.int32]:
        """For every returned article, its counted topic."""
        return self.topic[self.a_first]

    @cached_property
    def a_rank(self) -> Integers:
        """For every returned article, its rank among the articles of its topic, from 1."""
        return ranks(self.a_bounds)

    @cached_property
    def a_article(self) -> Integers:
        """For every returned article, its code (see `article`)."""
        return self.article[self.a_first]

    @cached_property
    def a_of_result(self) -> Integers:
        """For every result, its row in the article view."""
        row = np.empty(int(self.article.max(initial=-1)) + 1, np.int64)
        row[self.a_article] = np.arange(len(self.a_first))
        return row[self.article]

    @cached_property
    def a_relevant(self) -> Flags:
        """For every returned article, whether it is relevant."""
        return self.of_gold(self.prepared.relevant, missing=False)

    def of_gold(self, column: NDArray[Any], missing: int) -> NDArray[Any]:
        """Return a column of the gold's articles for every returned article; `missing` for the unjudged."""
        return np.append(column, column.dtype.type(missing))[np.minimum(self.a_article, len(column))]

    def by_article(self, values: Integers) -> Integers:
        """Return the sum of a column of results for every returned article."""
        return count_by(values, self.a_of_result, len(self.a_first))

    def lacking(self, what: str) -> MissingDataError:
        """Return the error that the run lacks something, and what to do about it."""
        return MissingDataError(f"{self.run.file or self.run.run_id}: {what}")


def match(
    run: Run, gold: Gold | Prepared, policies: Policies | None = None, index: Collection | None = None, *,
    chunks: Chunks | None = None, tokenizer: Tokenizer | None = None,
) -> Matched:  # fmt: skip
    """Return the table of a run's results against the gold; pass `prepare(gold, index)` to share work between runs."""
    prepared = gold if isinstance(gold, Prepared) else prepare(gold, index)
    policies = policies or Policies()
    run = run if prepared.index is None else place_run(run, prepared.index)
    run = by_topic_id(run, prepared.gold.topics, prepared.gold.queries)
    if policies.compat == "inex_eval" and run.line is not None:  # in file order: ranks and scores do not count there
        run = run.take(np.lexsort((run.line, run.topic)))
    rows, bounds = _order(run, prepared, policies.cutoff)
    return Matched(prepared, run, policies, rows, bounds, chunks, tokenizer=tokenizer)


def by_topic_id(run: Run, topics: Iterable[str], queries: Mapping[str, str]) -> Run:
    """Return the run with these ids for topics of which it knows but the questions: tools without ids, traces."""
    known = set(topics)
    if not queries or known.issuperset(run.topics):
        return run
    often = Counter(queries.values())
    ids = {query: topic for topic, query in queries.items() if often[query] == 1}
    own = {name: name if name in known else ids.get(run.queries.get(name, name), name) for name in run.topics}
    answers = {own.get(name, name): answer for name, answer in run.answers.items()}
    named = tuple(own.values())
    return replace(run, topics=named, answers=answers) if len(set(named)) == len(named) else run


def _order(run: Run, prepared: Prepared, cutoff: int | None) -> tuple[Integers | None, Integers]:
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
