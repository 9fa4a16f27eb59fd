"""The S×R space: every selection of parts under every ranking of articles, as a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.placement import Placement
from focuseval.data.run import Run
from focuseval.studies.simulation.parts import select
from focuseval.studies.simulation.ranking import article_ranks, intruders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.prepared import Prepared


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
        listed += _inserted(prepared, elements=parts.path is not None)
    return build_run(prepared, kind, "relevant-in-context", listed)


def _inserted(prepared: Prepared, *, elements: bool) -> Listed:
    """Return one whole document for every topic that is not relevant to it, to stand before all others."""
    length, document = intruders(prepared)
    zeros = np.zeros(len(length), np.int64)
    path = root_paths(prepared, document) if elements else None
    return Listed(np.arange(len(length)), zeros, zeros, np.maximum(length, 1), pa.array(document, pa.string()), path)


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
