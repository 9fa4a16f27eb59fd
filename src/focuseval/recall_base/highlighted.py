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
    table, element, article = _elements_of(gold, index, document)
    start, end = (column[element].astype(np.int64) for column in (table.start, table.end))
    rsize = highlights.covered(article, start, end)
    held = np.flatnonzero(rsize > 0)
    return GradedElements(
        topic=topic[article[held]],
        document=document[article[held]],
        path=table.path_strings(element[held]).dictionary_encode(),
        exhaustivity=np.full(len(held), EXHAUSTIVE, np.int8),
        specificity=np.full(len(held), UNKNOWN, np.int8),
        size=(end - start)[held],
        rsize=rsize[held],
    )


def _elements_of(
    gold: Gold, index: Any, document: NDArray[np.int32]
) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """Return a table of elements, and for every element of every document in turn: its row there, its document.

    A document that is relevant to several topics is read once and stands here several times. Documents that the
    index does not know have no elements; reading the gold with the index has already reported them.
    """
    distinct, place = np.unique(document, return_inverse=True)
    rows = np.asarray(index.find(gold.documents.take(distinct)), np.int64)
    known = rows >= 0
    table = index.elements_of(rows[known])
    sizes = np.zeros(len(distinct), np.int64)
    sizes[known] = np.diff(index.element_bounds)[rows[known]]
    begin, count = (np.cumsum(sizes) - sizes)[place], sizes[place]
    article = np.repeat(np.arange(len(document)), count)
    turn = np.arange(len(article)) - np.repeat(np.cumsum(count) - count, count)
    return table, np.repeat(begin, count) + turn, article


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
