"""Units and scores into a run: paths for elements, offsets for passages and plain texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.paths import path_strings
from focuseval.collection.trees import TAG
from focuseval.data.run import Run
from focuseval.retrieval.unit_sets import ElementUnits, with_ancestors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.collection.index import Index
    from focuseval.retrieval.lists import Listed
    from focuseval.retrieval.settings import RetrievalSettings
    from focuseval.retrieval.unit_sets import UnitSet

    Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Places:
    """Where units lie, a row each."""

    document: pa.Array
    """Ids."""
    path: pa.Array | None
    """Null for plain texts; None where no unit has a path."""
    start: Integers
    end: Integers
    """Code points in the document."""
    by_offset: NDArray[np.bool_]
    """Whether a unit has no path."""


def places(units: UnitSet, rows: Integers) -> Places:
    """Return where units lie."""
    index = units.words.index
    document = units.document(rows)
    names = index.ids.take(pa.array(document))
    if not isinstance(units, ElementUnits):
        return Places(names, None, *units.spans(rows), np.ones(len(rows), np.bool_))
    every = with_ancestors([np.unique(rows).astype(np.int32)], units.words["parent"])
    n, start, end = _from_blocks(index, every, ("n", "start", "end"))
    at, tag, parent = np.searchsorted(every, rows), units.words["tag"][every], units.words["parent"][every]
    above = np.where(parent < 0, -1, np.searchsorted(every, parent))
    plain = np.diff(index.element_bounds)[document] == 1
    plain &= np.append(np.array(units.words.tags) == TAG, False)[tag[at]]
    paths = None
    if not plain.all():
        paths = pc.if_else(pa.array(~plain), path_strings(at, above, tag, n, units.words.tags), None)
    return Places(names, paths, start[at], end[at], plain)


def _from_blocks(index: Index, elements: Integers, names: Sequence[str]) -> list[Integers]:
    """Return columns of some elements of the collection, given ascending."""
    bounds = index.element_bounds[index.first]
    cuts = np.searchsorted(elements, bounds)
    columns = [np.zeros(len(elements), np.int64) for _ in names]
    for number in np.flatnonzero(np.diff(cuts)).tolist():
        block, here = index.blocks[number], slice(int(cuts[number]), int(cuts[number + 1]))
        inside = elements[here] - bounds[number] + block.element_bounds[0]
        for name, column in zip(names, columns, strict=True):
            column[here] = block.element(name)[inside]
    return columns


def as_run(
    units: UnitSet,
    lists: Mapping[str, Listed],
    settings: RetrievalSettings,
    run_id: str,
    description: str,
) -> Run:
    """Return the lists of topics as a run that says how it was made."""
    sizes = [len(listed[0]) for listed in lists.values()]
    rows, score = (
        np.concatenate([np.zeros(0, kind), *(listed[part] for listed in lists.values())])
        for part, kind in enumerate((np.int64, np.float64))
    )
    found = places(units, rows)
    spans = bool(found.by_offset.any()) or found.path is None
    return Run(
        run_id=run_id,
        topics=tuple(lists),
        topic=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        document=found.document,
        rank=np.concatenate([np.zeros(0, np.int32), *(np.arange(1, size + 1, dtype=np.int32) for size in sizes)]),
        score=score,
        start=np.where(found.by_offset, found.start, -1) if spans else None,
        end=np.where(found.by_offset, found.end, -1) if spans else None,
        path=found.path,
        task=settings.rules.name,
        attributes={"description": description},
    )
