"""Elements that hold highlighted text: from highlights and the collection's index to assessed elements.

From 2006 on an element's assessment is nothing but its size and the highlighted characters in it, so any gold of
highlights (a qrels file of 2008–10, spans for RAG over XML) becomes a recall base once an index says what elements
its documents have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.gold import UNKNOWN, GradedElements
from focuseval.spans import dense, pack, union

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.gold import Gold

EXHAUSTIVE = 2
"""The exhaustivity of every element with highlighted text, from 2006 on."""


def highlighted_elements(gold: Gold, index: Any) -> GradedElements:
    """Return every element that holds highlighted text, with its size and highlighted size."""
    passages = gold.passages
    _require(gold, index)
    pair = dense(pack(passages.topic, passages.document))
    highlights = union(pair, passages.start, passages.end)
    _, first = np.unique(pair, return_index=True)
    topic, document = passages.topic[first], passages.document[first]
    element, group = _elements_of(gold, index, document)
    rsize = highlights.covered(group, element.start, element.end)
    held = np.flatnonzero(rsize > 0)
    return GradedElements(
        topic=topic[group[held]],
        document=document[group[held]],
        path=element.path.take(held),
        exhaustivity=np.full(len(held), EXHAUSTIVE, np.int8),
        specificity=np.full(len(held), UNKNOWN, np.int8),
        size=(element.end - element.start)[held],
        rsize=rsize[held],
    )


class _Columns:
    """Paths and spans of the elements of several documents."""

    def __init__(self, path: Any, start: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        self.path, self.start, self.end = path, start, end


def _elements_of(gold: Gold, index: Any, document: NDArray[np.int32]) -> tuple[_Columns, NDArray[np.int64]]:
    """Return the elements of each document in turn, and for every element the position of its document."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and only highlights need it

    distinct, place = np.unique(document, return_inverse=True)
    rows = np.asarray(index.find(gold.documents.take(pa.array(distinct))), np.int64)
    tables = [index.elements(int(row)) for row in rows[rows >= 0]]
    count = np.zeros(len(distinct), np.int64)
    count[rows >= 0] = [len(table.start) for table in tables]
    begin = np.cumsum(count) - count
    path = pa.array([path for table in tables for path in table.paths()], pa.string()).dictionary_encode()
    start, end = (_joined([getattr(table, name) for table in tables]) for name in ("start", "end"))
    group = np.repeat(np.arange(len(document)), count[place])
    turn = np.arange(len(group)) - np.repeat(np.cumsum(count[place]) - count[place], count[place])
    chosen = np.repeat(begin[place], count[place]) + turn
    return _Columns(path.take(pa.array(chosen)), start[chosen], end[chosen]), group


def _joined(columns: list[NDArray[Any]]) -> NDArray[np.int64]:
    return np.concatenate([*columns, np.zeros(0, np.int64)]).astype(np.int64)


def _require(gold: Gold, index: Any) -> None:
    """Say what is missing: passages, an index, or the places of passages."""
    where = gold.file or "the gold"
    if not len(gold.passages.topic):
        raise MissingDataError(
            f"{where}: no assessed elements and no highlighted passages, so no recall base of elements"
        )
    if index is None:
        raise MissingDataError(
            f"{where}: highlights without assessed elements, so elements and their sizes are unknown; "
            "build the collection's index with 'focuseval index' and give it with --index"
        )
    if (gold.passages.start < 0).any():
        raise MissingDataError(f"{where}: passages whose place is unknown; read the gold with the collection's index")
