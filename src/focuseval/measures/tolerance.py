"""Tolerance to irrelevance: a reader who gives up on an article after so much irrelevant text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.spans import fragments, union
from focuseval.errors import MissingDataError
from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.topicwise import ratio, running_count, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    Floats = NDArray[np.float64]


def tolerance_scores(m: Matched, irr: int) -> Floats:
    r"""Return T2I of every returned article, in the official form of 2010.

    The reader goes through the returned passages in document order, then through the text between them in document
    order, and stops once `irr` irrelevant characters are read.
    """
    readable = np.flatnonzero(m.a_relevant)
    article, length = m.a_article[readable], m.a_length[readable]
    if (length < 0).any():
        raise MissingDataError(
            f"{m.prepared.gold.file or 'the gold'}: T2I reads to the end of the article, whose length is unknown; "
            "build the collection's index with 'focuseval index' and give it with --index"
        )
    scores = np.zeros(len(m.a_first))
    scores[readable] = _read(m, article, length, irr)
    return scores


def _read(m: Matched, article: NDArray[np.int64], length: NDArray[np.int64], irr: int) -> Floats:
    """Cut the articles where passages and highlights begin and end; read the pieces in the reader's order."""
    number = np.full(len(m.prepared.topic), -1, np.int64)
    number[article] = np.arange(len(article))
    hits, highlights = m.hits, m.prepared.highlights
    place, end = number[m.article[hits]], m.end[hits]
    reach = length.copy()
    if m.policies.compat == "inex_eval":
        np.maximum.at(reach, place, end)  # what is returned past an article's end is read as irrelevant text
    returned = union(place, m.start[hits], np.minimum(end, reach[place]))
    mine = np.flatnonzero(number[highlights.group] >= 0)
    relevant = union(number[highlights.group[mine]], highlights.start[mine], highlights.end[mine])
    pieces = fragments(reach, returned, relevant)
    inside, good = pieces.inside
    last = np.where(inside, pieces.end, np.minimum(pieces.end, length[pieces.group]))
    order = np.lexsort((pieces.start, ~inside, pieces.group))
    group, size, good = pieces.group[order], np.maximum(last - pieces.start, 0)[order], good[order]
    bounds = np.searchsorted(group, np.arange(len(article) + 1))
    bad = np.where(good, 0, size)
    liked = total(np.where(good & (running_count(bad, bounds) < irr), size, 0), group, len(article))
    disliked = np.minimum(total(bad, group, len(article)), irr)
    return ratio(liked, liked + disliked)


def tolerance(m: Matched, irr: int) -> Floats:
    """Return the mean T2I over the topic's relevant articles; an article that was not returned scores 0.

    A reader goes through an article's returned passages, then through the text between them, each in document order,
    and stops once `irr` irrelevant characters are read.
    """
    return ratio(total(tolerance_scores(m, irr), m.a_topic, m.topics), m.prepared.numrel)


MEASURES = (
    Measure(
        "T2I",
        tolerance,
        "Tolerance to irrelevance, averaged over the relevant articles.",
        "arvola2011contextualization",
        needs=("spans",),
        traits=("grouped output",),
        parameters=(Parameter("irr", 300, "Irrelevant characters that a reader tolerates.", least=1),),
        formula=r"T2I(a) = \frac{\text{relevant read}}{\text{relevant read} + \text{irrelevant read}}",
        example="100 relevant characters are read before 300 irrelevant ones: 0.25.",
        perfect=False,
        tasks=("relevant-in-context",),
    ),
)
"""Reading with patience; as the score of ranked articles: ``MAgP(score=t2i, irr=300)``."""
