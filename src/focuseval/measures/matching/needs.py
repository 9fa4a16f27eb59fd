"""What a topic's reader needs: needed items, each with the alternative spans that show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.spans import dense, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.prepared import Prepared

    Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Needs:
    """The alternatives of all needed items, a row each: a passage of the gold with a place."""

    article: Integers
    start: Integers
    end: Integers
    item: Integers
    """For every alternative, its item; items are numbered from 0."""
    topic: Integers
    """For every item, its counted topic."""


def needs_of(prepared: Prepared) -> Needs:
    """Return the needed items of all counted topics.

    Passages of a topic with the same name are alternatives, in whatever documents they are; a passage without a name is
    an item of its own, as every passage of a gold that names nothing.
    """
    passages, article = prepared.gold.passages, prepared.article_of_passage
    here = np.flatnonzero((article >= 0) & (passages.start >= 0) & (passages.end > passages.start))
    topic = prepared.topic[article[here]].astype(np.int64)
    item = dense(pack(topic, _names(prepared, here)))
    topic_of = np.zeros(int(item.max(initial=-1)) + 1, np.int64)
    topic_of[item] = topic
    return Needs(article[here], passages.start[here], passages.end[here], item, topic_of)


def _names(prepared: Prepared, rows: Integers) -> Integers:
    """Return a number for every passage's name; a passage without one has a number of its own."""
    passages = prepared.gold.passages
    own = np.arange(len(rows))
    if passages.need is None:
        return own
    codes = passages.need.take(rows).dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.where(codes >= 0, codes.astype(np.int64), len(rows) + own)
