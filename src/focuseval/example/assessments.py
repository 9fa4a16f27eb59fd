"""The example's gold as the assessors' files of 2005–2007 say it: XPointers, and sizes of all relevant elements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.spans import union

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.collection import Index

_HIGHLY_EXHAUSTIVE = 2
"""What every element got from 2006 on."""


def by_topic(gold: Gold, index: Index) -> Iterator[tuple[str, Gold]]:
    """Yield one gold for each topic, with pointers and elements; rows of documents must be the index's."""
    for code, topic in enumerate(gold.topics):
        yield topic, _one_topic(gold, index, code)


def _one_topic(gold: Gold, index: Index, code: int) -> Gold:
    passages = _passages(gold.passages, index, code)
    return replace(
        gold,
        topics=(gold.topics[code],),
        articles=_articles(gold.articles, index, code),
        passages=passages,
        elements=_relevant_elements(index, passages),
        attributes={gold.topics[code]: {"pool": "1", "collection": "sea"}},
    )


def _articles(judged: Articles, index: Index, code: int) -> Articles:
    """One topic's judged articles, their entry points as pointers."""
    kept = np.flatnonzero(judged.topic == code)
    document, bep = judged.document[kept], judged.bep[kept]
    entries = [pointer(index, int(row), int(at)) if at >= 0 else None for row, at in zip(document, bep, strict=True)]
    return Articles(
        topic=np.zeros(len(kept), np.int32),
        document=document,
        relevance=judged.relevance[kept],
        length=judged.length[kept],
        rsize=judged.rsize[kept],
        bep=bep,
        bep_path=pa.array(entries, pa.string()),
    )


def _passages(highlights: Passages, index: Index, code: int) -> Passages:
    """One topic's highlights, from pointer to pointer."""
    kept = np.flatnonzero(highlights.topic == code)
    document, start, end = highlights.document[kept], highlights.start[kept], highlights.end[kept]
    return Passages(
        topic=np.zeros(len(kept), np.int32),
        document=document,
        start=start,
        end=end,
        size=end - start,
        start_path=pa.array([pointer(index, int(r), int(at)) for r, at in zip(document, start, strict=True)]),
        end_path=pa.array([pointer(index, int(r), int(at), end=True) for r, at in zip(document, end, strict=True)]),
    )


def pointer(index: Index, row: int, position: int, *, end: bool = False) -> str:
    """Return the XPointer of a position; with `end`, of a passage's end, which belongs to the text before it."""
    table, inside = index.elements(row), position - 1 if end else position
    holding = np.flatnonzero((table.start <= inside) & (inside < table.end))
    path = table.path_strings(holding[[-1]])[0].as_py()  # the last in document order is the deepest
    nodes = list(_text_nodes(index, row, path))
    number, begin = max((n, at) for n, at in nodes if at <= inside)
    return f"{path}/text()[{number}].{position - begin}"


def _text_nodes(index: Index, row: int, path: str) -> Iterator[tuple[int, int]]:
    """Yield the number and the beginning of an element's text nodes."""
    number = 1
    while (begin := int(index.resolve_points([row], pa.array([f"{path}/text()[{number}].0"]))[0])) >= 0:
        yield number, begin
        number += 1


def _relevant_elements(index: Index, passages: Passages) -> GradedElements:
    """Return every element that holds highlighted text, in document order."""
    table = index.elements_of(np.unique(passages.document))
    highlighted = union(passages.document, passages.start, passages.end)
    rsize = highlighted.covered(table.document, table.start, table.end)
    kept = np.flatnonzero(rsize > 0)
    return GradedElements(
        topic=np.zeros(len(kept), np.int32),
        document=table.document[kept].astype(np.int32),
        path=table.path_strings(kept),
        exhaustivity=np.full(len(kept), _HIGHLY_EXHAUSTIVE, np.int8),
        specificity=np.full(len(kept), UNKNOWN, np.int8),
        size=(table.end - table.start)[kept],
        rsize=rsize[kept],
    )
