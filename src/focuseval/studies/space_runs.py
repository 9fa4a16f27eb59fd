"""The S×R space: every selection of parts under every ranking of articles, as a run (Pehcevski and Thom, 2007).

Dimension S: which parts of every relevant article a simulated run returns (Pehcevski and Thom, 2007).

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

Dimension R: in which order a simulated run returns the articles of a topic (Pehcevski and Thom, 2007).

====== ==========================================================================================================
R      relevant articles by decreasing amount of highlighted text
R_S    the first two swapped
R_I    a document that is not relevant inserted on top: one judged so, else one that nobody judged
R_SI   both: the inserted document above the swapped pair
====== ==========================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.placement import Placement
from focuseval.data.run import Run
from focuseval.data.spans import pack
from focuseval.errors import MissingDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.index import Elements
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
    # Climb from every row to the outermost element with the same text.
    rows = np.unique(row)
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
    # Of an article without such an element, its smallest element with highlighted text, the first of equals.
    others = np.flatnonzero(np.isin(article, lonely) & (held > 0))
    others = others[np.lexsort((others, size[others], article[others]))]
    _, first = np.unique(article[others], return_index=True)
    return np.sort(np.concatenate([rows, others[first]]))


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


RANKINGS = ("R", "R_S", "R_I", "R_SI")


def article_ranks(ranking: str, prepared: Prepared) -> NDArray[np.int64]:
    """Return, for every article of the gold, its rank among the relevant ones of its topic (from 1), 0 for others."""
    articles = np.flatnonzero(prepared.relevant & (prepared.topic >= 0) & (prepared.trel > 0))
    order = articles[np.lexsort((articles, -prepared.trel[articles], prepared.topic[articles]))]
    topic = prepared.topic[order]
    first = np.searchsorted(topic, topic)
    ranks = np.zeros(len(prepared.topic), np.int64)
    ranks[order] = np.arange(len(order)) - first + 1
    if ranking in ("R_S", "R_SI"):
        several = np.bincount(topic, minlength=len(prepared.topics))[np.maximum(prepared.topic, 0)] > 1
        top = (ranks > 0) & (ranks <= 2) & several
        ranks[top] = 3 - ranks[top]
    return ranks


def intruders(prepared: Prepared) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return, for every counted topic, the length and the id of a document that is not relevant to it."""
    articles = prepared.gold.articles
    known = prepared.gold.documents.to_pylist()
    chosen: list[tuple[int, str]] = []
    for topic, name in enumerate(prepared.topics):
        judged = np.flatnonzero(prepared.topic == topic)
        wrong = judged[~prepared.relevant[judged]]
        if len(wrong):
            row = int(wrong[0])
            chosen.append((int(prepared.length[row]), known[int(articles.document[row])]))
        else:
            chosen.append(_unjudged(prepared, judged, name))
    return np.array([length for length, _ in chosen], np.int64), tuple(document for _, document in chosen)


def _unjudged(prepared: Prepared, judged: NDArray[np.int64], name: str) -> tuple[int, str]:
    """Return a document that nobody judged for this topic: from the index, else from another topic's pool."""
    articles = prepared.gold.articles
    taken = np.unique(articles.document[judged])
    if prepared.index is not None:
        free = np.setdiff1d(np.arange(len(prepared.index)), prepared.document_rows[taken])
        if len(free):
            row = int(free[0])
            return int(prepared.index.lengths[row]), str(prepared.index.ids[row])
    others = np.flatnonzero(~np.isin(articles.document, taken) & (prepared.length >= 0))
    if not len(others):
        raise MissingDataError(f"topic {name}: every known document is relevant, so none can be inserted on top")
    row = int(others[0])
    return int(prepared.length[row]), str(prepared.gold.documents[int(articles.document[row])])


@dataclass(frozen=True, eq=False)
class Listed:
    """Parts with their place in the ranking of articles: what becomes a run once it is sorted."""

    topic: NDArray[np.int64]
    """A counted topic."""
    place: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    document: Any
    path: Any = None

    def __add__(self, other: Listed) -> Listed:
        """Return both lists on end."""
        columns = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("topic", "place", "start", "end")
        }
        path = None if self.path is None else pa.concat_arrays([self.path, other.path])
        return Listed(**columns, document=pa.concat_arrays([self.document, other.document]), path=path)


def space_run(prepared: Prepared, kind: str) -> Run:
    """Return the run ``selection-ranking``: parts of each article in document order, articles in rank order."""
    selection, ranking = kind.split("-")
    parts = select(selection, prepared)
    listed = Listed(
        topic=prepared.topic[parts.article].astype(np.int64),
        place=article_ranks(ranking, prepared)[parts.article],
        start=parts.start,
        end=parts.end,
        document=prepared.gold.documents.take(pa.array(prepared.gold.articles.document[parts.article])),
        path=parts.path,
    )
    if "I" in ranking:
        # One whole document that is not relevant, before all others of its topic.
        length, document = intruders(prepared)
        zeros = np.zeros(len(length), np.int64)
        path = None if parts.path is None else root_paths(prepared, document)
        names = pa.array(document, pa.string())
        listed += Listed(np.arange(len(length)), zeros, zeros, np.maximum(length, 1), names, path)
    return build_run(prepared, kind, "relevant-in-context", listed)


def root_paths(prepared: Prepared, documents: tuple[str, ...]) -> pa.Array:
    """Return the path of the root element of every document, null where the index does not know it."""
    if prepared.index is None:
        return pa.nulls(len(documents), pa.string())
    rows = Placement(prepared.index, pa.array(documents, pa.string())).document
    known = np.unique(rows[rows >= 0])
    elements = prepared.index.elements_of(known)
    roots = elements.path_strings(np.flatnonzero(elements.parent < 0)).to_pylist()
    paths = dict(zip(known.tolist(), roots, strict=True))
    return pa.array([paths.get(int(row)) for row in rows], pa.string())


def build_run(prepared: Prepared, name: str, task: str, listed: Listed) -> Run:
    """Return a run from parts in any order: sorted by topic, place and start, ranks from 1, scores falling."""
    order = np.lexsort((listed.start, listed.place, listed.topic))
    topic = listed.topic[order]
    rank = (np.arange(len(order)) - np.searchsorted(topic, topic) + 1).astype(np.int32)
    return Run(
        run_id=name,
        topics=prepared.topics,
        topic=topic.astype(np.int32),
        document=listed.document.take(pa.array(order)),
        rank=rank,
        score=1.0 / rank,
        start=listed.start[order],
        end=listed.end[order],
        path=None if listed.path is None else listed.path.take(pa.array(order)),
        task=task,
    )
