"""Dimension R: in which order a simulated run returns the articles of a topic (Pehcevski and Thom, 2007).

====== ==========================================================================================================
R      relevant articles by decreasing amount of highlighted text
R_S    the first two swapped
R_I    a document that is not relevant inserted on top: one judged so, else one that nobody judged
R_SI   both: the inserted document above the swapped pair
====== ==========================================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MissingDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.prepared import Prepared

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
