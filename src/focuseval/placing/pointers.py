"""Places as files say them ↔ positions: an element's span, an XPointer's point, the end of a range.

The other way round, spans become the XPointers into text nodes and the elements with highlighted text of 2005–2007.

Pages and boxes of PDFs stand for the characters whose middle lies in a box. A box comes in many conventions: points or
shares of the page, counted from its top or from its bottom, or pixels of a picture whose size is given. `PageBox` keeps
what was said; `seen` turns it into points from the upper left corner of the page as it is shown, as the index has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.gold import UNKNOWN, Gold, GradedElements
from focuseval.data.spans import dense, pack, spread, union
from focuseval.engine.native import indices
from focuseval.errors import FormatError, MissingDataError, Place

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.index import Collection
    from focuseval.collection.pages import Pages

    Edges = tuple[NDArray[np.int64], NDArray[np.int64]]


def strings(column: Any) -> Any:
    """Return one plain string array of a column that may be chunked or dictionary-encoded."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(pa.string())


def is_pointer(paths: Any) -> NDArray[np.bool_]:
    """Say which paths point into a text node; null is not one."""
    return np.asarray(pc.fill_null(pc.match_substring(paths, "text()"), False))


def starts_and_ends(index: Collection, rows: NDArray[Any], first: Any, last: Any, whitespace: str = "keep") -> Edges:
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


def _edges(index: Collection, rows: NDArray[np.int64], paths: pa.Array, whitespace: str) -> Edges:
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
    node, start = np.zeros(len(rows), np.int64), np.full(len(rows), -1, np.int64)
    alive, n = np.arange(len(rows)), 0
    while len(alive):
        n += 1
        tried = pa.array([f"{innermost[row]}/text()[{n}].0" for row in alive.tolist()])
        found = index.resolve_points(rows[alive], tried)
        inside = (found >= 0) & (found <= inner[alive])
        alive = alive[inside]
        node[alive], start[alive] = n, found[inside]
    said = zip(innermost, node.tolist(), (positions - start).tolist(), strict=True)
    return pa.array([f"{path}/text()[{n}].{offset}" for path, n, offset in said], pa.string())


def with_pointers(gold: Gold, index: Collection) -> Gold:
    """Return the gold with XPointers for its spans and entry points; empty spans, which have none, are left out."""
    rows = index.find(gold.documents).astype(np.int64)
    if (rows < 0).any():
        name = gold.documents[int(np.argmax(rows < 0))].as_py()
        raise FormatError(f"expected documents of the index, found {name!r}", remedy="is it the same collection?")
    p, a = gold.passages, gold.articles
    kept = p.take(np.flatnonzero(p.end > p.start))
    where = rows[kept.document]
    first, last = pointers(index, where, kept.start, after=False), pointers(index, where, kept.end, after=True)
    passages = replace(kept, start_path=first, end_path=last)
    said = np.flatnonzero(a.bep >= 0)
    at_end = a.bep[said] >= index.lengths[rows[a.document[said]]]
    bep = np.full(len(a.bep), None, object)
    for after in (False, True):
        here = said[at_end == after]
        bep[here] = pointers(index, rows[a.document[here]], a.bep[here], after=after).to_pylist()
    return replace(gold, passages=passages, articles=replace(a, bep_path=pa.array(bep.tolist(), pa.string())))


def with_elements(gold: Gold, index: Collection) -> Gold:
    """Return the gold with its elements, or else with all that hold highlighted text, as in 2006."""
    if len(gold.elements.topic):
        return gold
    elements = highlighted_elements(gold, index)
    return replace(gold, elements=elements.take(np.argsort(gold.article_of(elements), kind="stable")))


BATCH = 1 << 17  # elements that are looked at together: their columns take some 30 MB


def highlighted_elements(gold: Gold, index: Collection | None, batch: int = BATCH) -> GradedElements:
    """Return every element that holds highlighted text, with its size and highlighted size.

    Rows stand by document in the order of the index, then by topic. A batch holds the relevant (topic, document) pairs
    whose elements begin within the next `batch` elements of all pairs.
    """
    passages, where = gold.passages, gold.file or "the gold"
    if index is None:
        what = f"{where}: highlights without assessed elements, so elements and their sizes are unknown"
        raise MissingDataError(f"{what}; build the collection's index with 'focuseval index' and give index=")
    if (passages.start < 0).any():
        raise MissingDataError(f"{where}: passages whose place is unknown; read the gold with the collection's index")
    pair = dense(pack(passages.topic, passages.document))
    highlights = union(pair, passages.start, passages.end)
    _, first = np.unique(pair, return_index=True)
    row = np.asarray(index.find(gold.documents.take(passages.document[first])), np.int64)
    # Documents that the index does not know have no elements; reading the gold with the index has reported them.
    order = np.argsort(row, kind="stable")
    order = order[row[order] >= 0]
    sizes = np.diff(index.element_bounds)
    size = sizes[row[order]]
    columns, paths = list[Any](), list[Any]()
    for some in np.split(order, np.flatnonzero(np.diff((np.cumsum(size) - size) // batch)) + 1):
        distinct, place = np.unique(row[some], return_inverse=True)
        table, own = index.elements_of(distinct), sizes[distinct]
        element, of = spread((np.cumsum(own) - own)[place], own[place]), np.repeat(some, own[place])
        rsize = highlights.covered(of, table.start[element], table.end[element])
        held = np.flatnonzero(rsize)
        element = element[held]
        columns.append((of[held], table.end[element] - table.start[element], rsize[held]))
        said = np.zeros(len(table.start), np.bool_)  # a path is written once, for however many topics
        said[element] = True
        path = table.path_strings(np.flatnonzero(said)).dictionary_encode()
        which = path.indices.take(pa.array((np.cumsum(said) - 1)[element]))
        paths.append(pa.DictionaryArray.from_arrays(which, path.dictionary))
    of, size, rsize = (np.concatenate(column) for column in zip(*columns, strict=True))
    return GradedElements(
        topic=passages.topic[first][of],
        document=passages.document[first][of],
        path=pa.chunked_array(paths).unify_dictionaries().combine_chunks(),
        exhaustivity=np.full(len(of), 2, np.int8),  # of all highlighted text, from 2006 on
        specificity=np.full(len(of), UNKNOWN, np.int8),
        size=size.astype(np.int64),
        rsize=rsize.astype(np.int64),
    )


def differing_elements(gold: Gold, index: Collection) -> int:
    """Return how many assessed elements say what the passages and the index do not: other sizes, other grades."""

    def listed(e: GradedElements) -> set[tuple[Any, ...]]:
        columns = (e.topic, e.document, e.size, e.rsize, e.exhaustivity)
        return set(zip(*(column.tolist() for column in columns), e.path.to_pylist(), strict=True))

    return len(listed(gold.elements) ^ listed(highlighted_elements(gold, index)))


Box = tuple[float, float, float, float]  # left, top, right, bottom, in points of the page as it is seen


class PageBox(NamedTuple):
    """A page (from 1), or a box on it, as somebody wrote it."""

    page: int
    box: Box | None = None  # the smaller and the larger x and y: x0, y0, x1, y1; None for the whole page
    origin: str = ""  # whether y counts from the ``top`` or the ``bottom``; nothing where that is not said
    frame: tuple[float, float] | None = None
    """Width and height of the page in the unit of the box; None where that is points, or shares of the page."""


def seen(place: PageBox, size: tuple[float, float], at: Place | None = None) -> Box | None:
    """Return a box in points from the upper left corner; None for a whole page.

    >>> seen(PageBox(1, (0.1, 0.2, 0.5, 0.25), "bottom"), (600, 800))
    (60.0, 600.0, 300.0, 640.0)
    """
    if place.box is None:
        return None
    width, height = size
    frame = place.frame or ((1.0, 1.0) if max(place.box) <= 1 and min(place.box) >= 0 else size)
    x0, y0, x1, y1 = (value * side / whole for value, side, whole in zip(place.box, size * 2, frame * 2, strict=True))
    if max(x0, x1) > 1.5 * width or max(y0, y1) > 1.5 * height:
        found = ", ".join(f"{value:g}" for value in place.box)
        what = f"expected a box on a page of {width:g} × {height:g} points, found {found}"
        raise FormatError(what, at=at, remedy="for pixels, give page_width and page_height beside the box")
    return (x0, height - y1, x1, height - y0) if place.origin == "bottom" else (x0, y0, x1, y1)


def covered_spans(pages: Pages, places: Sequence[PageBox], at: Place | None = None) -> list[tuple[int, int]]:
    """Return the spans of all characters in some boxes or on some pages; none where they are empty."""
    for place in places:
        if not 1 <= place.page <= len(pages):
            remedy = "pages are counted from 1; of a field called 'page' from 0 if one of the file is 0"
            raise FormatError(f"expected a page from 1 to {len(pages)}, found {place.page}", at=at, remedy=remedy)
    return pages.covered([(place.page, seen(place, pages.size(place.page), at)) for place in places])
