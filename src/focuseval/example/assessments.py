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
    from typing import TypeAlias

    from numpy.typing import NDArray

    from focuseval.collection import Index

    Rows: TypeAlias = NDArray[np.integer]

_HIGHLY_EXHAUSTIVE = 2
"""What every element got from 2006 on."""


def by_topic(gold: Gold, index: Index) -> Iterator[tuple[str, Gold]]:
    """Yield one gold for each topic, with pointers and elements; rows of documents must be the index's."""
    for code, topic in enumerate(gold.topics):
        yield topic, _one_topic(gold, index, code)


def _one_topic(gold: Gold, index: Index, code: int) -> Gold:
    judged, highlights = gold.articles, gold.passages
    articles = np.flatnonzero(judged.topic == code)
    passages = np.flatnonzero(highlights.topic == code)
    rows, start, end = (column[passages] for column in (highlights.document, highlights.start, highlights.end))
    entries = [
        pointer(index, int(row), int(bep)) if bep >= 0 else None
        for row, bep in zip(judged.document[articles], judged.bep[articles], strict=True)
    ]
    zero = np.zeros(len(passages), np.int32)
    return replace(
        gold,
        topics=(gold.topics[code],),
        articles=Articles(
            topic=np.zeros(len(articles), np.int32),
            **{name: getattr(judged, name)[articles] for name in ("document", "relevance", "length", "rsize", "bep")},
            bep_path=pa.array(entries, pa.string()),
        ),
        passages=Passages(
            topic=zero,
            document=rows,
            start=start,
            end=end,
            size=end - start,
            start_path=pa.array([pointer(index, int(r), int(s)) for r, s in zip(rows, start, strict=True)]),
            end_path=pa.array([pointer(index, int(r), int(e), end=True) for r, e in zip(rows, end, strict=True)]),
        ),
        elements=_relevant_elements(index, rows, start, end),
        attributes={gold.topics[code]: {"pool": "1", "collection": "sea"}},
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


def _relevant_elements(index: Index, rows: Rows, start: Rows, end: Rows) -> GradedElements:
    """Return every element that holds highlighted text, in document order."""
    table = index.elements_of(np.unique(rows))
    rsize = union(rows, start, end).covered(table.document, table.start, table.end)
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
