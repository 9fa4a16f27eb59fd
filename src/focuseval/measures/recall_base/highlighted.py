"""Elements that hold highlighted text: from highlights and the collection's index to assessed elements.

From 2006 on an element's assessment is nothing but its size and the highlighted characters in it, so any gold of
highlights (a qrels file of 2008–10, spans for RAG over XML) becomes a recall base once an index says what elements
its documents have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focuseval.data.gold import UNKNOWN, GradedElements
from focuseval.data.spans import dense, pack, union, unpack
from focuseval.errors import MissingDataError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.data.gold import Gold
    from focuseval.data.spans import Spans

EXHAUSTIVE = 2
"""The exhaustivity of every element with highlighted text, from 2006 on."""

BATCH = 1 << 17
"""Elements that are looked at together: their columns take some 30 MB."""


def highlighted_elements(gold: Gold, index: Any, batch: int = BATCH) -> GradedElements:
    """Return every element that holds highlighted text, with its size and highlighted size.

    Rows stand by document in the order of the index, then by topic. A batch holds the relevant (topic, document) pairs
    whose elements begin within the next `batch` elements of all pairs.
    """
    _require(gold, index)
    passages = gold.passages
    pair = dense(pack(passages.topic, passages.document))
    highlights = union(pair, passages.start, passages.end)
    _, first = np.unique(pair, return_index=True)
    topic, document = passages.topic[first], passages.document[first]
    tags: dict[str, int] = {}
    row = np.asarray(index.find(gold.documents.take(document)), np.int64)
    held = _joined([_holding(index, row, some, highlights, tags) for some in _batches(index, row, batch)])
    return GradedElements(
        topic=topic[held.pair],
        document=document[held.pair],
        path=_paths(held, tuple(tags)),
        exhaustivity=np.full(len(held.pair), EXHAUSTIVE, np.int8),
        specificity=np.full(len(held.pair), UNKNOWN, np.int8),
        size=held.size.astype(np.int64),
        rsize=held.rsize.astype(np.int64),
    )


class _Held(NamedTuple):
    """Elements that hold highlighted text, once for every topic, a parent before its children."""

    pair: NDArray[np.int32]
    parent: NDArray[np.int32]
    """The row of the parent, which holds the same text; −1 for a root."""
    depth: NDArray[np.int16]
    tag: NDArray[np.int32]
    n: NDArray[np.int32]
    size: NDArray[np.int32]
    rsize: NDArray[np.int32]


def _batches(index: Any, row: NDArray[np.int64], batch: int) -> list[NDArray[np.int64]]:
    """Return the pairs of each batch, by the rows of their documents.

    Documents that the index does not know have no elements; reading the gold with the index has already reported them.
    """
    order = np.argsort(row, kind="stable")
    order = order[row[order] >= 0]
    size = np.diff(index.element_bounds)[row[order]]
    number = (np.cumsum(size) - size) // batch
    return np.split(order, np.flatnonzero(np.diff(number)) + 1)


def _holding(
    index: Any, row: NDArray[np.int64], some: NDArray[np.int64], highlights: Spans, tags: dict[str, int]
) -> _Held:
    """Return those elements of some pairs that hold highlighted text; `tags` gets the tags that it did not have."""
    from focuseval.collection.block import spread  # noqa: PLC0415  heavy, and not every gold needs an index

    distinct, place = np.unique(row[some], return_inverse=True)
    table = index.elements_of(distinct)
    sizes = np.diff(index.element_bounds)[distinct]
    element = spread((np.cumsum(sizes) - sizes)[place], sizes[place])
    pair = np.repeat(some, sizes[place])
    rsize = highlights.covered(pair, table.start[element], table.end[element])
    held = np.flatnonzero(rsize)
    element = element[held]
    up = table.parent[element]
    code = np.array([tags.setdefault(tag, len(tags)) for tag in table.tag_names], np.int32)
    return _Held(
        pair[held].astype(np.int32),
        np.where(up < 0, -1, np.searchsorted(held, held - (element - up))).astype(np.int32),
        table.depth[element],
        code[table.tag_code[element]],
        table.n[element],
        (table.end[element] - table.start[element]).astype(np.int32),
        rsize[held].astype(np.int32),
    )


def _joined(parts: list[_Held]) -> _Held:
    """Append the rows of all parts; parents are numbered through."""
    held = _Held(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    counts = [len(part.pair) for part in parts]
    shift = np.repeat(np.cumsum(counts) - counts, counts)
    return held._replace(parent=np.where(held.parent < 0, -1, held.parent + shift).astype(np.int32))


def _paths(held: _Held, tags: tuple[str, ...]) -> pa.Array:
    """Return the path of every element, dictionary-encoded: a string is made once for each distinct path.

    One pass per depth: the path of an element is the code of its parent's path and a step.
    """
    import pyarrow as pa  # noqa: PLC0415  heavy, and not every gold has highlights
    import pyarrow.compute as pc  # noqa: PLC0415  as above

    steps, step = np.unique(pack(held.tag, held.n), return_inverse=True)
    words = pa.array([f"/{tags[tag]}[{n}]" for tag, n in zip(*unpack(steps), strict=True)], pa.string())
    code, paths = np.zeros(len(step), np.int32), pa.array([""])
    for level in range(1, int(held.depth.max(initial=0)) + 1):
        here = np.flatnonzero(held.depth == level)
        above = code[held.parent[here]] if level > 1 else np.zeros(len(here), np.int32)
        keys, which = np.unique(pack(above, step[here]), return_inverse=True)
        code[here] = len(paths) + which
        head, word = unpack(keys)
        paths = pa.concat_arrays([paths, pc.binary_join_element_wise(paths.take(head), words.take(word), "")])
    return pa.DictionaryArray.from_arrays(code - 1, paths[1:])


def _require(gold: Gold, index: Any) -> None:
    """Say what is missing: passages, an index, or the places of passages."""
    where = gold.file or "the gold"
    if not len(gold.passages.topic):
        raise MissingDataError(
            f"{where}: no assessed elements and no highlighted passages, so no recall base of elements"
        )
    if index is None:
        raise MissingDataError(
            f"{where}: highlights without assessed elements, so elements and their sizes are unknown; "
            "build the collection's index with 'focuseval index' and give it with --index"
        )
    if (gold.passages.start < 0).any():
        raise MissingDataError(f"{where}: passages whose place is unknown; read the gold with the collection's index")
