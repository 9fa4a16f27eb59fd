"""Spans → the words of 2005–2007: XPointers into text nodes, and the elements that hold highlighted text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.gold import UNKNOWN, GradedElements
from focuseval.data.spans import union
from focuseval.errors import FormatError
from focuseval.placing.golds import place_gold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection
    from focuseval.data.gold import Gold

_NODES = 100_000


def pointers(index: Collection, rows: NDArray[Any], positions: NDArray[Any], *, after: bool) -> Any:
    """Return an XPointer to every position: to the character there, or (`after`) just behind the one before it."""
    inner = positions - 1 if after else positions
    paths = pa.array([_deepest(index, int(row), int(at)) for row, at in zip(rows, inner, strict=True)], pa.string())
    node = np.zeros(len(rows), np.int64)
    start = np.full(len(rows), -1, np.int64)
    alive = np.arange(len(rows))
    for n in range(1, _NODES):
        if not len(alive):
            break
        tried = pa.array([f"{path}/text()[{n}].0" for path in paths.take(pa.array(alive)).to_pylist()])
        found = index.resolve_points(rows[alive], tried)
        inside = (found >= 0) & (found <= inner[alive])
        alive = alive[inside]
        node[alive], start[alive] = n, found[inside]
    said = zip(paths.to_pylist(), node.tolist(), (positions - start).tolist(), strict=True)
    return pa.array([f"{path}/text()[{n}].{offset}" for path, n, offset in said], pa.string())


def _deepest(index: Collection, row: int, position: int) -> str:
    """Return the path of the innermost element around a character."""
    elements = index.elements(row)
    around = np.flatnonzero((elements.start <= position) & (position < elements.end))
    if not len(around):
        raise FormatError(f"expected a position inside {index.ids[row].as_py()!r}, found {position}")
    path: str = elements.path_strings(around[-1:])[0].as_py()
    return path


def with_pointers(gold: Gold, index: Collection) -> Gold:
    """Return the gold with XPointers for its spans and entry points; empty spans, which have none, are left out."""
    rows = _rows(gold, index)
    p, a = gold.passages, gold.articles
    real = np.flatnonzero(p.end > p.start)
    kept = p.take(real)
    where = rows[kept.document]
    passages = replace(
        kept,
        start_path=pointers(index, where, kept.start, after=False),
        end_path=pointers(index, where, kept.end, after=True),
    )
    said = np.flatnonzero(a.bep >= 0)
    at_end = a.bep[said] >= index.lengths[rows[a.document[said]]]
    bep = np.full(len(a.bep), None, object)
    for after in (False, True):
        here = said[at_end == after]
        bep[here] = pointers(index, rows[a.document[here]], a.bep[here], after=after).to_pylist()
    return replace(gold, passages=passages, articles=replace(a, bep_path=pa.array(bep.tolist(), pa.string())))


def with_elements(gold: Gold, index: Collection) -> Gold:
    """Return the gold with every element that holds highlighted text, as the assessments of 2006 list them."""
    if len(gold.elements.topic):
        return gold
    a, article, table, rsize = _covered(gold, index)
    held = np.flatnonzero(rsize > 0)
    count = len(held)
    elements = GradedElements(
        a.topic[article[held]],
        a.document[article[held]],
        table.path_strings(held).dictionary_encode(),
        np.full(count, 2, np.int8),
        np.full(count, UNKNOWN, np.int8),
        (table.end - table.start)[held],
        rsize[held],
    )
    return replace(gold, elements=elements)


def differing_elements(gold: Gold, index: Collection) -> int:
    """Return how many assessed elements say what the passages and the index do not: other sizes, other grades."""
    e = gold.elements
    derived = with_elements(replace(gold, elements=_none(e)), index).elements
    ours = set(zip(*_listed(derived), strict=True))
    theirs = set(zip(*_listed(e), strict=True))
    return len(theirs ^ ours)


def _listed(e: GradedElements) -> list[Any]:
    columns = (e.topic, e.document, e.size, e.rsize, e.exhaustivity)
    return [*(column.tolist() for column in columns), e.path.to_pylist()]


def _none(e: GradedElements) -> GradedElements:
    columns = {
        name: getattr(e, name)[:0] for name in ("topic", "document", "exhaustivity", "specificity", "size", "rsize")
    }
    return replace(e, **columns, path=e.path.slice(0, 0), inferred=None, inpool=None)


def _covered(gold: Gold, index: Collection) -> tuple[Any, NDArray[Any], Any, NDArray[np.int64]]:
    """Return the elements of every document with highlights: judged article, table, highlighted characters."""
    a, p = gold.articles, gold.passages
    group = gold.article_of(p)
    merged = union(group, p.start, p.end)
    judged = np.unique(group)
    rows = _rows(gold, index)[a.document[judged]]
    table = index.elements_of(rows)
    article = np.repeat(judged, np.diff(index.element_bounds)[rows])
    return a, article, table, merged.covered(article, table.start, table.end)


def _rows(gold: Gold, index: Collection) -> NDArray[np.int64]:
    placement = place_gold(gold, index).placement
    rows = placement.document if placement is not None else np.zeros(0, np.int64)
    if (rows < 0).any():
        name = gold.documents[int(np.flatnonzero(rows < 0)[0])].as_py()
        raise FormatError(f"expected documents of the index, found {name!r}", remedy="is it the same collection?")
    return rows
