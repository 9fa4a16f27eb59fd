"""Where each result lies, as measures see it: a span, an entry point, the whole document, or a place unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.placing.runs import needs_collection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.results import Results


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
        return _whole_documents(matched)
    if run.start is None:
        raise needs_collection(run)
    start = np.asarray(matched.column(run.start))
    end = np.full(len(matched), -1, np.int64) if run.end is None else np.asarray(matched.column(run.end))
    unplaced = start < 0
    if not unplaced.any() and (end >= start).all():
        return ResultSpans(start, end, start, unplaced)
    point = ~unplaced & (end < start)
    ends = np.where(unplaced, 0, np.where(point, start, end))
    return ResultSpans(np.maximum(start, 0), ends, start, unplaced, bool(point.any() and (point | unplaced).all()))


def _whole_documents(matched: Results) -> ResultSpans:
    """Return whole documents: what a run without any place stands for."""
    length = _lengths(matched)
    zero = np.zeros(len(length), np.int64)
    return ResultSpans(zero, length, zero, zero.astype(np.bool_))


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
