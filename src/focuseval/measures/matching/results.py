"""The rows of a match: one per result, with its topic, rank, article, place and characters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.spans import novelty, unseen
from focuseval.engine.lazy import cached_property
from focuseval.errors import MissingDataError
from focuseval.measures.matching.documents import MatchedDocuments, Rows, find_documents

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.collection.tokens import Tokenizer
    from focuseval.data.run import Run


@dataclass(frozen=True, eq=False)
class ResultSpans:
    """Spans of all results; a result without a place is an empty span at 0, and counted."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    entry: NDArray[np.int64]
    """Where a reader enters: the start, −1 where unknown."""
    unplaced: NDArray[np.bool_]
    """Results whose place nobody knows: a path that leads nowhere, an offset marked as unknown."""
    points: bool = False
    """Whether all results are entry points, so that none of them holds any text."""


def result_spans(matched: Results) -> ResultSpans:
    """Return the span of every result."""
    run = matched.run
    if not len(matched) or run.whole_documents:
        length = _lengths(matched)  # a run without any place returns whole documents
        zero = np.zeros(len(length), np.int64)
        return ResultSpans(zero, length, zero, zero.astype(np.bool_))
    if run.start is None:
        raise _needs_collection(run)
    start = np.asarray(matched.column(run.start))
    end = np.full(len(matched), -1, np.int64) if run.end is None else np.asarray(matched.column(run.end))
    unplaced = start < 0
    if not unplaced.any() and (end >= start).all():
        return ResultSpans(start, end, start, unplaced)
    point = ~unplaced & (end < start)
    ends = np.where(unplaced, 0, np.where(point, start, end))
    return ResultSpans(np.maximum(start, 0), ends, start, unplaced, bool(point.any() and (point | unplaced).all()))


def _needs_collection(run: Run) -> MissingDataError:
    """Return the refusal of results that only a collection could place."""
    where = run.file or run.run_id
    if run.path is None:
        return MissingDataError(f"{where}: results are texts, so their places are unknown; give docs or an index")
    return MissingDataError(
        f"{where}: results are element paths, so their characters are unknown; "
        "build the collection's index with 'focuseval index' and give it as the index"
    )


def _lengths(matched: Results) -> NDArray[np.int64]:
    """Return the length of every result's document, from the gold or the collection."""
    judged, placement = matched.judged, matched.run.placement
    length = np.full(len(matched), -1, np.int64)
    length[judged] = matched.prepared.length[matched.known[judged]]
    if (length < 0).any() and placement is not None:
        length = np.where(length < 0, matched.column(placement.length), length)
    if (length < 0).any():
        raise MissingDataError(
            f"{matched.run.file or matched.run.run_id}: results are whole documents whose length the gold does not "
            "give; build the collection's index with 'focuseval index' and give it as the index"
        )
    return length


UNPLACED_COST = 18
"""What the official tool charges for a result whose offset is unknown."""


@dataclass(frozen=True, eq=False)
class Results(Rows):
    """One run's results against one gold, a column at a time, each made when it is first asked for."""

    chunks: Chunks | None = None
    """All chunks of the chunker, for `ceiling`."""
    cut: ResultSpans | None = None
    """Spans that stand in for the results' own, where results are cut short; see `with_spans`."""
    tokenizer: Tokenizer | None = None
    """What counts tokens, for budgets of them."""

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
    def article(self) -> NDArray[np.int64]:
        """For every result, its article: a row of ``gold.articles``, or a number beyond for unjudged pairs."""
        return self.documents.articles(len(self.prepared.topic))

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """For every result, whether an assessor judged its document for its topic."""
        return np.asarray(self.known >= 0)

    @cached_property
    def unjudged(self) -> int:
        """How many results no assessor judged."""
        return len(self) - int(np.count_nonzero(self.judged))

    # -- which characters ---------------------------------------------------------------------------------------

    @cached_property
    def places(self) -> ResultSpans:
        """Start and end of every result."""
        return result_spans(self) if self.cut is None else self.cut

    @property
    def places_asked_for(self) -> bool:
        """Whether a measure has asked where the results lie."""
        return "places" in vars(self)

    def with_spans(self, spans: ResultSpans) -> Self:
        """Return the same results with other spans."""
        return replace(self, cut=spans)

    @cached_property
    def document_row(self) -> NDArray[np.int64]:
        """For every result, the row of its document in the collection; −1 where there is none."""
        placement = self.run.placement
        return np.full(len(self), -1, np.int64) if placement is None else self.column(placement.document)

    @property
    def start(self) -> NDArray[np.int64]:
        """For every result, its first character."""
        return self.places.start

    @property
    def end(self) -> NDArray[np.int64]:
        """For every result, one past its last character."""
        if self.places.points:
            raise MissingDataError(
                f"{self.run.file or self.run.run_id}: results are entry points, which hold no text; use a measure of "
                "entry points (BEPD, EPRUM, MAgP(score=bep)), or a run that says where its results end"
            )
        return self.places.end

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """For every result, its characters."""
        return self.end - self.start

    @cached_property
    def hits(self) -> NDArray[np.int64]:
        """Rows of the results whose article is relevant: all others hold no highlighted character."""
        judged = np.flatnonzero(self.judged)
        return np.asarray(judged[self.prepared.relevant[self.known[judged]]])

    @cached_property
    def rsize(self) -> NDArray[np.int64]:
        """For every result, its highlighted characters."""
        highlights, hits = self.prepared.highlights, self.hits  # without highlights no place is worth asking for
        found = np.zeros(len(self), np.int64)
        found[hits] = highlights.covered(self.article[hits], self.start[hits], self.end[hits])
        return found

    @cached_property
    def _novelty(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        highlights = self.prepared.highlights
        if self.documents.distinct:  # no text comes back where no article does
            return np.maximum(self.end - self.start, 0), self.rsize
        relevant = np.zeros(len(self), np.bool_)
        relevant[self.hits] = True
        return novelty(self.article, self.start, self.end, highlights, relevant)

    @cached_property
    def new_size(self) -> NDArray[np.int64]:
        """For every result, the characters that no earlier rank of its topic returned."""
        return (
            self._novelty[0] if len(self.prepared.gold.passages.topic) else unseen(self.article, self.start, self.end)
        )

    @cached_property
    def cost(self) -> NDArray[np.int64]:
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
    def new_rsize(self) -> NDArray[np.int64]:
        """For every result, the highlighted characters that no earlier rank of its topic returned."""
        return self._novelty[1]
