"""A gold without the passages that nobody could place: ambiguous or lost quotes are counted, never guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.gold import Passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.gold import Gold


def usable(gold: Gold) -> Gold:
    """Return a gold whose passages all have their spans.

    A document all of whose passages are ambiguous or lost counts as not relevant, and a topic without any other is left
    out of every mean: both are among the remarks.
    """
    p = gold.passages
    lost = (p.start < 0) | (p.end < 0)
    if not gold.aligned or not lost.any():
        return gold
    a, size = gold.articles, len(gold.documents)
    pair, mine = a.topic.astype(np.int64) * size + a.document, p.topic.astype(np.int64) * size + p.document
    bare = np.isin(pair, mine[lost]) & ~np.isin(pair, mine[~lost]) & (a.relevance > 0)
    articles = replace(a, relevance=np.where(bare, 0, a.relevance), rsize=np.where(bare, 0, a.rsize))
    kept = replace(gold, articles=articles, passages=_rows(p, ~lost))
    topics = int(np.count_nonzero(gold.relevant_topics & ~kept.relevant_topics))
    remark = (
        f"{np.count_nonzero(lost):,} ambiguous or lost spans are left out; for want of others "
        f"{np.count_nonzero(bare):,} documents count as not relevant and {topics:,} topics are in no mean"
    )
    return replace(kept, remarks=(*gold.remarks, remark))


def _rows(p: Passages, kept: NDArray[np.bool_]) -> Passages:
    """Return some rows of the passages."""
    rows = np.flatnonzero(kept)
    first, last, quote = (None if c is None else c.take(rows) for c in (p.start_path, p.end_path, p.quote))
    line = None if p.line is None else p.line[rows]
    numbers = p.topic[rows], p.document[rows], p.start[rows], p.end[rows], p.size[rows]
    return Passages(*numbers, start_path=first, end_path=last, quote=quote, line=line)


def refuse_unplaced(gold: Gold) -> None:
    """Refuse passages without spans, and say what would give them one."""
    p = gold.passages
    if not ((p.start < 0).any() or (p.end < 0).any()):
        return
    quotes = p.start_path is None and p.quote is not None
    said = "quotes without offsets" if quotes else "paths"
    remedy = (
        "give the documents with --docs"
        if quotes
        else "build the collection's index with 'focuseval index' and give it with --index"
    )
    raise MissingDataError(
        f"{gold.file or 'the gold'}: passages are given as {said}, so their characters are unknown; {remedy}"
    )
