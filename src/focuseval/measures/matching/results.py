"""The rows of a match: one per result, with its topic, rank, article and characters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.spans import novelty, unseen
from focuseval.engine.lazy import cached_property
from focuseval.errors import MissingDataError
from focuseval.measures.matching.documents import MatchedDocuments, find_documents
from focuseval.measures.matching.places import ResultSpans, result_spans

if TYPE_CHECKING:
    from typing import Self

    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.collection.tokens import Tokenizer
    from focuseval.data.run import Run
    from focuseval.measures.matching.policies import Policies
    from focuseval.measures.matching.prepared import Prepared


UNPLACED_COST = 18
"""What the official tool charges for a result whose offset is unknown."""


@dataclass(frozen=True, eq=False)
class Results:
    """One run's results against one gold, a column at a time, each made when it is first asked for."""

    prepared: Prepared
    run: Run
    policies: Policies
    rows: NDArray[np.int64] | None
    """Rows of the run that are looked at, in this table's order; None for all of them as they stand."""
    bounds: NDArray[np.int64]
    """Where each counted topic's block begins, and one more entry for the end of the last."""
    chunks: Chunks | None = None
    """All chunks of the chunker, for `ceiling`."""
    cut: ResultSpans | None = None
    """Spans that stand in for the results' own, where results are cut short; see `with_spans`."""
    tokenizer: Tokenizer | None = None
    """What counts tokens, for budgets of them."""

    def __len__(self) -> int:
        """Return the number of results."""
        return int(self.bounds[-1])

    @property
    def topics(self) -> int:
        """The number of counted topics."""
        return len(self.bounds) - 1

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """For every counted topic, whether the run returned anything."""
        return np.diff(self.bounds) > 0

    @cached_property
    def topic(self) -> NDArray[np.int32]:
        """For every result, its counted topic; the run's own column where its topics are the counted ones."""
        if self.rows is None and np.array_equal(self.bounds, self.run.bounds):
            return self.run.topic
        return np.repeat(np.arange(self.topics, dtype=np.int32), np.diff(self.bounds))

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """For every result, its rank in its topic, from 1."""
        return ranks(self.bounds)

    def column(self, values: Any) -> Any:
        """Return a column of the run (NumPy or Arrow) in this table's order."""
        return values if self.rows is None else values.take(self.rows)

    @cached_property
    def path(self) -> pa.Array | None:
        """Element paths, or None when the run has none."""
        return None if self.run.path is None else self.column(self.run.path)

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


def ranks(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 1, 2, … within each block.

    >>> ranks(np.array([0, 2, 2, 5]))
    array([1, 2, 1, 2, 3])
    """
    return np.arange(1, bounds[-1] + 1) - np.repeat(bounds[:-1], np.diff(bounds))
