"""Where each result lies: spans from offsets, from paths through an index, or the whole document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MissingDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.match.results import Results


@dataclass(frozen=True)
class Places:
    """Spans of all results; a result without a place is an empty span at 0, and counted."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    entry: NDArray[np.int64]
    """Where a reader enters: the start, −1 where unknown."""
    unplaced: NDArray[np.bool_]
    """Results whose place nobody knows: a path that leads nowhere, an offset marked as unknown."""
    points: bool = False
    """Whether all results are entry points, so that none of them holds any text."""


def place(matched: Results) -> Places:
    """Return the span of every result."""
    run = matched.run
    if run.text is not None and run.start is None and run.path is None:
        raise MissingDataError(
            f"{run.file or run.run_id}: results are texts, so their places are unknown; give the documents with --docs"
        )
    if not len(matched) or (run.start is None and run.path is None):
        return _whole_documents(matched)
    if run.start is None:
        start, end = _resolve(matched, np.arange(len(matched)))
    else:
        start, end = matched.column(run.start), _ends(matched)
        if run.path is not None and (start < 0).any() and matched.prepared.index is not None:
            start, end = start.copy(), end.copy()
            lost = np.flatnonzero(start < 0)
            start[lost], end[lost] = _resolve(matched, lost)
    unplaced = start < 0
    if not unplaced.any() and (end >= start).all():
        return Places(start, end, start, unplaced)
    point = ~unplaced & (end < start)
    ends = np.where(unplaced, 0, np.where(point, start, end))
    return Places(np.maximum(start, 0), ends, start, unplaced, bool(point.any() and (point | unplaced).all()))


def _ends(matched: Results) -> NDArray[np.int64]:
    if matched.run.end is None:
        return np.full(len(matched), -1, np.int64)
    return np.asarray(matched.column(matched.run.end))


def _resolve(matched: Results, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Look up element paths in the index."""
    index = matched.prepared.index
    if index is None:
        raise MissingDataError(
            f"{matched.run.file or matched.run.run_id}: results are element paths, so their characters are unknown; "
            "build the collection's index with 'focuseval index' and give it with --index"
        )
    documents = index.find(matched.column(matched.run.document).take(rows))
    start, end = index.resolve(documents, matched.path.take(rows) if matched.path is not None else [])
    return np.asarray(start, np.int64), np.asarray(end, np.int64)


def _whole_documents(matched: Results) -> Places:
    """Return whole documents: what a result without a place stands for."""
    length = _lengths(matched)
    zero = np.zeros(len(length), np.int64)
    return Places(zero, length, zero, zero.astype(np.bool_))


def _lengths(matched: Results) -> NDArray[np.int64]:
    """Return the length of every result's document, from the gold or the index."""
    known = matched.prepared.length
    judged = matched.judged
    length = np.full(len(matched), -1, np.int64)
    length[judged] = known[matched.known[judged]]
    if (length < 0).any() and matched.prepared.index is not None:
        index: Any = matched.prepared.index
        rows = np.asarray(index.find(matched.column(matched.run.document)), np.int64)
        length = np.where((length < 0) & (rows >= 0), np.asarray(index.lengths)[np.maximum(rows, 0)], length)
    if (length < 0).any():
        raise MissingDataError(
            f"{matched.run.file or matched.run.run_id}: results are whole documents whose length the gold does not "
            "give; build the collection's index with 'focuseval index' and give it with --index"
        )
    return length
