"""Places as files say them ↔ positions: an element's span, an XPointer's point, the end of a range.

The other way round, spans become the XPointers into text nodes and the elements with highlighted text of 2005–2007.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.gold import UNKNOWN, GradedElements
from focuseval.data.spans import union
from focuseval.engine.native import indices
from focuseval.errors import FormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.index import Collection
    from focuseval.data.gold import Gold


def strings(column: Any) -> Any:
    """Return one plain string array of a column that may be chunked or dictionary-encoded."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(pa.string())


def is_pointer(paths: Any) -> NDArray[np.bool_]:
    """Say which paths point into a text node; null is not one."""
    return np.asarray(pc.fill_null(pc.match_substring(paths, "text()"), False))


def starts_and_ends(
    index: Collection, rows: NDArray[Any], first: Any, last: Any, whitespace: str = "keep"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where passages begin and end, −1 where the index has no such place.

    `last` is an XPointer (exclusive), an element (its own end) or null: then `first` is an element and its end counts,
    or an XPointer alone, an entry point without end.
    """
    whole = pc.is_null(last).to_numpy(zero_copy_only=False)
    start, end = _edges(index, rows, first, whitespace)
    end = np.where(whole & ~is_pointer(first), end, -1)
    ranges = np.flatnonzero(~whole)
    if len(ranges):
        end[ranges] = _edges(index, rows[ranges], last.take(indices(ranges)), whitespace)[1]
    return start, np.where(start < 0, -1, end)


def _edges(
    index: Collection, rows: NDArray[np.int64], paths: pa.Array, whitespace: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where elements start and end; a pointer does both at its one position."""
    start, end = index.resolve(rows, paths)
    points = np.flatnonzero(start < 0)
    if len(points):
        start[points] = index.resolve_points(rows[points], paths.take(indices(points)), whitespace)
        end[points] = np.where(is_pointer(paths)[points], start[points], end[points])
    return start, end


def pointers(index: Collection, rows: NDArray[Any], positions: NDArray[Any], *, after: bool) -> Any:
    """Return an XPointer to every position: to the character there, or (`after`) just behind the one before it."""
    inner = positions - 1 if after else positions
    innermost = list[str]()
    for row, at in zip(rows.tolist(), inner.tolist(), strict=True):
        elements = index.elements(row)
        around = np.flatnonzero((elements.start <= at) & (at < elements.end))
        if not len(around):
            raise FormatError(f"expected a position inside {index.ids[row].as_py()!r}, found {at}")
        innermost.append(elements.path_strings(around[-1:])[0].as_py())
    paths = pa.array(innermost, pa.string())
    node = np.zeros(len(rows), np.int64)
    start = np.full(len(rows), -1, np.int64)
    alive, n = np.arange(len(rows)), 0
    while len(alive):
        n += 1
        tried = pa.array([f"{path}/text()[{n}].0" for path in paths.take(pa.array(alive)).to_pylist()])
        found = index.resolve_points(rows[alive], tried)
        inside = (found >= 0) & (found <= inner[alive])
        alive = alive[inside]
        node[alive], start[alive] = n, found[inside]
    said = zip(paths.to_pylist(), node.tolist(), (positions - start).tolist(), strict=True)
    return pa.array([f"{path}/text()[{n}].{offset}" for path, n, offset in said], pa.string())


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
    """Return the gold with its elements, or else with all that hold highlighted text, as in 2006."""
    return gold if len(gold.elements.topic) else replace(gold, elements=_highlighted_elements(gold, index))


def _highlighted_elements(gold: Gold, index: Collection) -> GradedElements:
    a, p = gold.articles, gold.passages
    group = gold.article_of(p)
    judged = np.unique(group)
    rows = _rows(gold, index)[a.document[judged]]
    table = index.elements_of(rows)
    article = np.repeat(judged, np.diff(index.element_bounds)[rows])
    rsize = union(group, p.start, p.end).covered(article, table.start, table.end)
    held = np.flatnonzero(rsize > 0)
    count = len(held)
    return GradedElements(
        a.topic[article[held]],
        a.document[article[held]],
        table.path_strings(held).dictionary_encode(),
        np.full(count, 2, np.int8),
        np.full(count, UNKNOWN, np.int8),
        (table.end - table.start)[held],
        rsize[held],
    )


def differing_elements(gold: Gold, index: Collection) -> int:
    """Return how many assessed elements say what the passages and the index do not: other sizes, other grades."""

    def listed(e: GradedElements) -> set[tuple[Any, ...]]:
        columns = (e.topic, e.document, e.size, e.rsize, e.exhaustivity)
        return set(zip(*(column.tolist() for column in columns), e.path.to_pylist(), strict=True))

    return len(listed(gold.elements) ^ listed(_highlighted_elements(gold, index)))


def _rows(gold: Gold, index: Collection) -> NDArray[np.int64]:
    rows = index.find(gold.documents).astype(np.int64)
    if (rows < 0).any():
        name = gold.documents[int(np.argmax(rows < 0))].as_py()
        raise FormatError(f"expected documents of the index, found {name!r}", remedy="is it the same collection?")
    return rows
