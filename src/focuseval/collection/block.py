"""A block: the columns of a few hundred to a few thousand documents, in memory or mapped from an index.

On disk a block is one Arrow record batch with a row per document; its elements and text nodes are lists inside that
row, so every column is one flat array and a document is a slice of it. Numbers inside a document (parents,
children, text nodes) count from that document's own beginning, so blocks can be joined without rewriting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.collection.arrange import node_order, sibling_order
from focuseval.engine.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.collection.forest import Forest

ELEMENT = {
    "tag": pa.int32(),
    "n": pa.int32(),
    "depth": pa.int16(),
    "start": pa.int32(),
    "end": pa.int32(),
    "parent": pa.int32(),
    "child": pa.int32(),
    "first_child": pa.int32(),
    "first_node": pa.int32(),
}
"""Columns of the elements, in document order; `child` alone is in the order of `arrange.sibling_order`."""

NODE = {"start": pa.int32(), "end": pa.int32(), "solid": pa.int32()}
"""Columns of the text nodes, grouped by their parent element."""

DOCUMENT = {"id": pa.string(), "file": pa.string(), "bytes": pa.int64(), "length": pa.int64(), "sha256": pa.string()}
"""What is known of every document besides its text."""

SCHEMA = pa.schema(
    [
        *DOCUMENT.items(),
        ("text", pa.large_string()),
        ("elements", pa.large_list(pa.struct(list(ELEMENT.items())))),
        ("nodes", pa.large_list(pa.struct(list(NODE.items())))),
    ]
)


Lists = tuple["NDArray[np.int64]", "dict[str, NDArray[Any]]"]
"""Where every document's rows begin, with the end of the last, and the columns of all rows."""


@dataclass(frozen=True)
class Block:
    """Documents as columns; `tags[code]` is the name of a tag, and tags stand in the order of their names.

    Children are sorted by their tag's code: codes in the order of names keep that order when blocks are joined.
    """

    batch: Any
    """The Arrow record batch behind it."""
    tags: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of documents."""
        return int(self.batch.num_rows)

    @cached_property
    def element_bounds(self) -> NDArray[np.int64]:
        """Where each document's elements begin, and the end of the last."""
        return _bounds(self.batch.column("elements"))

    @cached_property
    def node_bounds(self) -> NDArray[np.int64]:
        """Where each document's text nodes begin, and the end of the last."""
        return _bounds(self.batch.column("nodes"))

    def element(self, column: str) -> NDArray[Any]:
        """Return a column of all elements, without copying."""
        return _flat(self.batch.column("elements"), column)

    def node(self, column: str) -> NDArray[Any]:
        """Return a column of all text nodes, without copying."""
        return _flat(self.batch.column("nodes"), column)


def _bounds(lists: Any) -> NDArray[np.int64]:
    offsets: NDArray[np.int64] = lists.offsets.to_numpy()
    return offsets


def _flat(lists: Any, column: str) -> NDArray[Any]:
    values: NDArray[Any] = lists.values.field(column).to_numpy(zero_copy_only=True)
    return values


def make_block(documents: dict[str, Any], text: Any, tags: Sequence[str], forest: Forest) -> Block:
    """Arrange parsed documents into a block."""
    names = sorted(set(tags))
    forest = replace(forest, tag=_recode(tags, names)[forest.tag])
    n, child, first_child = sibling_order(forest)
    order, first_node, solid = node_order(forest)
    base = np.repeat(forest.element_bounds[:-1], np.diff(forest.element_bounds))
    parent = np.where(forest.parent < 0, -1, forest.parent - base)
    columns = (forest.tag, n, forest.depth, forest.start, forest.end, parent, child, first_child, first_node)
    nodes = (forest.node_start[order], forest.node_end[order], solid)
    return from_columns(
        documents,
        text,
        names,
        (forest.element_bounds, dict(zip(ELEMENT, columns, strict=True))),
        (forest.node_bounds, dict(zip(NODE, nodes, strict=True))),
    )


def from_columns(
    documents: dict[str, Any], text: pa.Array, tags: Sequence[str], elements: Lists, nodes: Lists
) -> Block:
    """Return arranged columns as a block."""
    arrays = [
        *(pa.array(documents[name], kind) for name, kind in DOCUMENT.items()),
        text,
        _lists(*elements, ELEMENT),
        _lists(*nodes, NODE),
    ]
    return Block(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA), tuple(tags))


def _recode(tags: Sequence[str], names: Sequence[str]) -> NDArray[np.int32]:
    """Return the place in `names` of every tag."""
    place = {name: code for code, name in enumerate(names)}
    return np.array([place[tag] for tag in tags], np.int32)


def _lists(bounds: NDArray[np.int64], columns: dict[str, NDArray[Any]], kinds: dict[str, Any]) -> Any:
    arrays = [pa.array(np.ascontiguousarray(columns[name], str(kind))) for name, kind in kinds.items()]
    values = pa.StructArray.from_arrays(arrays, fields=[pa.field(*item) for item in kinds.items()])
    return pa.LargeListArray.from_arrays(pa.array(bounds, pa.int64()), values)


def joined(blocks: Sequence[Block]) -> Block:
    """Join blocks into one: tags are coded anew, everything else is appended."""
    if len(blocks) == 1:
        return blocks[0]
    names = sorted({tag for block in blocks for tag in block.tags})
    batches = []
    for block in blocks:
        elements = block.batch.column("elements")
        fields = [elements.values.field(name) for name in ELEMENT]
        fields[0] = pa.array(_recode(block.tags, names)[block.element("tag")])
        values = pa.StructArray.from_arrays(fields, fields=[pa.field(*item) for item in ELEMENT.items()])
        place = SCHEMA.get_field_index("elements")
        batches.append(
            block.batch.set_column(place, SCHEMA.field(place), pa.LargeListArray.from_arrays(elements.offsets, values))
        )
    table = pa.Table.from_batches(batches).combine_chunks()
    return Block(table.to_batches()[0], tuple(names))
