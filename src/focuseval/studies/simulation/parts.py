"""Dimension S: which parts of every relevant article a simulated run returns (Pehcevski and Thom, 2007).

====== ==========================================================================================================
S      the highlighted passages themselves: perfect retrieval
S_L    the smallest element that contains each passage; of nested picks the outermost stays
S_LD   the whole document
S_S    the largest elements inside each passage
S_ST   the smallest elements inside each passage
====== ==========================================================================================================

An article without any element inside its passages returns its smallest overlapping element under S_S and S_ST.
Of elements with the same text the outermost is taken, under S_ST the innermost. Elements without
text are never returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.spans import pack
from focuseval.errors import MissingDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.protocol import Elements
    from focuseval.measures.matching.prepared import Prepared

SELECTIONS = ("S", "S_L", "S_LD", "S_S", "S_ST")


@dataclass(frozen=True, eq=False)
class Parts:
    """Returned parts of articles, by article and position."""

    article: NDArray[np.int64]
    """A row of ``gold.articles``."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    path: Any = None
    """Element paths (a string array), or None for passages."""


def select(selection: str, prepared: Prepared) -> Parts:
    """Return the parts that the named selection takes from every relevant article."""
    if selection == "S":
        spans = prepared.highlights
        return Parts(spans.group, spans.start, spans.end)
    articles = np.flatnonzero(prepared.relevant & (prepared.topic >= 0) & (prepared.trel > 0))
    elements, article = elements_of(prepared, articles)
    if selection == "S_LD":
        rows = np.flatnonzero(elements.parent < 0)
    elif selection == "S_L":
        rows = _outermost(_containing(prepared, elements, article), elements)
    else:
        rows = _inside(prepared, elements, article, largest=selection == "S_S")
    return Parts(article[rows], elements.start[rows], elements.end[rows], elements.path_strings(rows))


def elements_of(prepared: Prepared, articles: NDArray[np.int64]) -> tuple[Elements, NDArray[np.int64]]:
    """Return the elements of some articles, one article after the other, and the article of every element."""
    if prepared.index is None:
        raise MissingDataError(
            f"{prepared.gold.file or 'the gold'}: simulated runs of elements need the collection's elements; "
            "build its index with 'focuseval index' and give it with --index"
        )
    rows = prepared.document_rows[prepared.gold.articles.document[articles]]
    if (rows < 0).any():
        lost = prepared.gold.documents[int(prepared.gold.articles.document[articles[np.argmin(rows)]])]
        raise MissingDataError(f"document {lost} is not in the index; index the collection that the gold was made from")
    elements = prepared.index.elements_of(rows)
    counts = np.diff(prepared.index.element_bounds)[rows]
    return elements, np.repeat(articles, counts)


def _containing(prepared: Prepared, elements: Elements, article: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for every passage, the row of the smallest element that contains it.

    In document order, the last element that begins at or before a passage stands inside every element that contains
    the passage: climbing from it finds the smallest one.
    """
    spans = prepared.highlights
    row = np.searchsorted(pack(article, elements.start), pack(spans.group, spans.start), "right") - 1
    short = np.flatnonzero(elements.end[row] < spans.end)
    while len(short):
        row[short] = elements.parent[row[short]]
        short = short[elements.end[row[short]] < spans.end[short]]
    return _nearest_root(np.unique(row), elements)


def _inside(prepared: Prepared, elements: Elements, article: NDArray[np.int64], *, largest: bool) -> NDArray[np.int64]:
    """Return the rows of the largest (or the smallest) elements that are highlighted from end to end."""
    size = elements.end - elements.start
    held = prepared.highlights.covered(article, elements.start, elements.end)
    whole = (size > 0) & (held == size)
    if largest:
        kept = whole & ~np.where(elements.parent >= 0, whole[np.maximum(elements.parent, 0)], False)
    else:
        above = np.zeros(len(size), np.bool_)
        above[elements.parent[np.flatnonzero((size > 0) & (elements.parent >= 0))]] = True
        kept = whole & ~above
    rows = np.flatnonzero(kept)
    lonely = np.setdiff1d(article, article[rows])
    return np.sort(np.concatenate([rows, _smallest_overlapping(lonely, article, size, held)]))


def _smallest_overlapping(
    wanted: NDArray[np.int64], article: NDArray[np.int64], size: NDArray[np.int64], held: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return one row for each wanted article: its smallest element with highlighted text, the first of equals."""
    rows = np.flatnonzero(np.isin(article, wanted) & (held > 0))
    order = rows[np.lexsort((rows, size[rows], article[rows]))]
    _, first = np.unique(article[order], return_index=True)
    return order[first]


def _nearest_root(rows: NDArray[np.int64], elements: Elements) -> NDArray[np.int64]:
    """Climb from every row to the outermost element with the same text."""
    rows = rows.copy()
    climbing = np.arange(len(rows))
    while len(climbing):
        above = elements.parent[rows[climbing]]
        here = rows[climbing]
        same = (
            (above >= 0) & (elements.start[above] == elements.start[here]) & (elements.end[above] == elements.end[here])
        )
        climbing = climbing[same]
        rows[climbing] = above[same]
    return np.unique(rows)


def _outermost(rows: NDArray[np.int64], elements: Elements) -> NDArray[np.int64]:
    """Of rows that lie inside one another keep the outermost; rows stand in document order."""
    chosen = np.zeros(len(elements.start), np.bool_)
    chosen[rows] = True
    below = np.zeros(len(chosen), np.bool_)
    for depth in range(2, int(elements.depth.max(initial=1)) + 1):
        level = np.flatnonzero(elements.depth == depth)
        parent = elements.parent[level]
        below[level] = below[parent] | chosen[parent]
    return np.flatnonzero(chosen & ~below)
