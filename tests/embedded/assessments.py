"""The example's gold as the assessors' files of 2005–2007 say it: a gold for each topic, with pointers and sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.gold import Articles, Gold, Passages
from focuseval.placing.pointers import with_elements, with_pointers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.collection.index import Index


def by_topic(gold: Gold, index: Index) -> Iterator[tuple[str, Gold]]:
    """Yield every topic with its own gold: XPointers for its spans, and all elements that hold relevant text."""
    for code, topic in enumerate(gold.topics):
        one = replace(
            gold,
            topics=(topic,),
            articles=_articles(gold.articles, code),
            passages=_passages(gold.passages, code),
            attributes={topic: {"pool": "1", "collection": "sea"}},
        )
        yield topic, with_elements(with_pointers(one, index), index)


def _articles(judged: Articles, code: int) -> Articles:
    """Return the articles that were judged for one topic."""
    kept = np.flatnonzero(judged.topic == code)
    return Articles(
        topic=np.zeros(len(kept), np.int32),
        document=judged.document[kept],
        relevance=judged.relevance[kept],
        length=judged.length[kept],
        rsize=judged.rsize[kept],
        bep=judged.bep[kept],
    )


def _passages(highlights: Passages, code: int) -> Passages:
    """Return the highlights of one topic."""
    kept = np.flatnonzero(highlights.topic == code)
    return Passages(
        topic=np.zeros(len(kept), np.int32),
        document=highlights.document[kept],
        start=highlights.start[kept],
        end=highlights.end[kept],
        size=highlights.size[kept],
    )
