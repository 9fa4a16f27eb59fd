"""A block: the columns of a few hundred to a few thousand documents, in memory or mapped from an index.

On disk a block is one Arrow record batch with a row per document; its elements and text nodes are lists inside that
row, so every column is one flat array and a document is a slice of it. Numbers inside a document (parents,
children, text nodes) count from that document's own beginning, so blocks can be joined without rewriting. On disk
columns have the fewest bytes that hold their numbers, and long texts are compressed, each by itself.

What was `Parsed` is arranged for searching: siblings are ranked, children sorted by tag and text nodes by parent, for
all documents at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.trees import TAG, WHITE, Tree
from focuseval.engine.lazy import cached_property

Lists = tuple["NDArray[np.int64]", "dict[str, NDArray[Any]]"]
"""Where every document's rows begin, with the end of the last, and the columns of all rows."""


class Parsed(NamedTuple):
    """Many documents as they were parsed; rows are numbered through all of them, positions (code points) are not."""

    text: Any
    tags: tuple[str, ...]
    elements: Lists  # in document order: tag, depth, start, end, and the row of the parent, −1 for a root
    nodes: Lists  # text nodes: the row of the parent, start, end, and whether there is more than white space (solid)

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Code points of every document: its root ends there."""
        bounds, columns = self.elements
        return columns["end"][bounds[:-1]]


def plant(trees: Sequence[Tree]) -> Parsed:
    """Turn trees read one by one into columns: their texts, their tags, their forest."""
    codes = pa.array([name for tree in trees for name in tree.tag], pa.string()).dictionary_encode()
    elements = np.array([len(tree.tag) for tree in trees], np.int64)
    nodes = np.array([len(tree.node_start) for tree in trees], np.int64)
    element_bounds = np.append(0, np.cumsum(elements))
    texts, solid = [tree.text for tree in trees], list[bool]()
    for text, tree in zip(texts, trees, strict=True):
        solid += [bool(text[a:b].strip(WHITE)) for a, b in zip(tree.node_start, tree.node_end, strict=True)]

    def column(name: str) -> NDArray[Any]:
        return np.concatenate([np.asarray(getattr(tree, name)) for tree in trees])

    columns = {"tag": codes.indices.to_numpy()} | {name: column(name) for name in ("depth", "start", "end", "parent")}
    columns["parent"] += np.where(columns["parent"] < 0, 0, np.repeat(element_bounds[:-1], elements))
    inside = {name: column(f"node_{name}") for name in ("parent", "start", "end")}
    inside["parent"] += np.repeat(element_bounds[:-1], nodes)
    inside["solid"] = np.array(solid, np.bool_)
    found = (element_bounds, columns), (np.append(0, np.cumsum(nodes)), inside)
    return Parsed(pa.array(texts, pa.large_string()), tuple(codes.dictionary.to_pylist()), *found)


def plain_texts(texts: Sequence[str]) -> Parsed:
    """Return many texts as columns at once: each is one element with at most one text node."""
    size = np.array([len(text) for text in texts], np.int32)
    none, filled = np.zeros(len(texts), np.int32), np.flatnonzero(size)
    solid = np.array([bool(texts[row].strip(WHITE)) for row in filled.tolist()], np.bool_)
    parent = np.full(len(texts), -1, np.int64)
    bounds, filled_bounds = np.arange(len(texts) + 1), np.append(0, np.cumsum(size > 0))
    elements: Lists = bounds, {"tag": none, "depth": none + 1, "start": none, "end": size, "parent": parent}
    nodes: Lists = filled_bounds, {"parent": filled, "start": none[filled], "end": size[filled], "solid": solid}
    return Parsed(pa.array(texts, pa.large_string()), (TAG,), elements, nodes)


def sibling_order(
    bounds: NDArray[np.int64], tag: NDArray[np.int32], parent: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return, counted from their document's first element: ``n`` of every step, children by tag, first child.

    Children of element e are ``child[first_child[e] : first_child[e + 1]]``, sorted by tag and then by place, so
    that the n-th child with a tag is one binary search away. Entry 0 of every document is its root.
    """
    size, roots = len(tag), bounds[:-1]
    parent_key = parent + 1
    parent_key[roots] = roots
    child = np.lexsort((tag, parent_key))
    fresh = np.ones(size, np.bool_)
    fresh[1:] = (np.diff(parent_key[child]) != 0) | (np.diff(tag[child]) != 0)
    heads = np.flatnonzero(fresh)
    n = np.empty(size, np.int32)
    n[child] = np.arange(1, size + 1) - np.repeat(heads, np.diff(np.append(heads, size)))
    first_child = np.cumsum(np.bincount(parent_key, minlength=size))[:size]
    base = np.repeat(roots, np.diff(bounds))
    return n, (child - base).astype(np.int32), (first_child - base).astype(np.int32)


_COLUMNS = ("tag", "n", "depth", "start", "end", "parent", "child", "first_child", "first_node")
ELEMENT = dict.fromkeys(_COLUMNS, "i4") | {"depth": "i2"}
"""Columns of the elements, in document order; `child` alone is in the order of `sibling_order`."""

NODE = dict.fromkeys(("start", "end", "solid"), "i4")
"""Columns of the text nodes, grouped by their parent element; `solid` counts those that are not blank, up to this."""

DOCUMENT = {"id": pa.string(), "file": pa.string(), "bytes": pa.int64(), "length": pa.int64(), "sha256": pa.string()}
"""What is known of every document besides its text."""

CODEC, _LONG = pa.Codec("zstd"), 2000
"""How texts are compressed, and how many bytes they must have on average: a call for each short one would take long."""


@dataclass(frozen=True)
class Block:
    """Documents as columns; tags are in the order of names, by which children are sorted, also in joined blocks."""

    batch: Any  # the Arrow record batch behind it
    tags: tuple[str, ...]

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    @cached_property
    def element_bounds(self) -> NDArray[np.int64]:
        """Where each document's elements begin, and the end of the last."""
        return np.asarray(self.batch.column("elements").offsets)

    @cached_property
    def node_bounds(self) -> NDArray[np.int64]:
        """Where each document's text nodes begin, and the end of the last."""
        return np.asarray(self.batch.column("nodes").offsets)

    def texts(self, documents: NDArray[np.int64] | None = None) -> Any:
        """Return the texts of some documents, or of all, as a large string array."""
        column = self.batch.column("text")
        column = column if documents is None else column.take(pa.array(documents))
        if pa.types.is_large_string(column.type):
            return column
        sizes = self.batch.column("text_bytes").to_numpy()
        sizes = sizes if documents is None else sizes[documents]
        pairs = zip(column, sizes.tolist(), strict=True)
        parts = [CODEC.decompress(text.as_buffer(), size, asbytes=True) for text, size in pairs]
        bounds = pa.py_buffer(np.append(0, np.cumsum(sizes)))
        return pa.Array.from_buffers(pa.large_string(), len(parts), [None, bounds, pa.py_buffer(b"".join(parts))])

    def element(self, column: str) -> NDArray[Any]:
        """Return a column of all elements, without copying; its integers may be short ones."""
        return np.asarray(self.batch.column("elements").values.field(column).to_numpy(zero_copy_only=True))

    def node(self, column: str) -> NDArray[Any]:
        """Return a column of all text nodes, without copying; as above."""
        return np.asarray(self.batch.column("nodes").values.field(column).to_numpy(zero_copy_only=True))


def make_block(documents: dict[str, Any], parsed: Parsed) -> Block:
    """Arrange parsed documents into a block."""
    (bounds, elements), (node_bounds, nodes) = parsed.elements, parsed.nodes
    names = sorted(set(parsed.tags))
    tag = recoded(parsed.tags, names)[elements["tag"]]
    n, child, first_child = sibling_order(bounds, tag, elements["parent"])
    sizes = np.diff(bounds)
    parent = np.where(elements["parent"] < 0, -1, elements["parent"] - np.repeat(bounds[:-1], sizes))
    order = np.argsort(nodes["parent"], kind="stable")
    per_element = np.bincount(nodes["parent"], minlength=len(tag))
    first = np.cumsum(per_element) - per_element
    running = np.cumsum(nodes["solid"][order])
    solid = running - np.repeat(np.append(0, running)[first], per_element)  # among those of the same parent
    first_node = first - np.repeat(node_bounds[:-1], sizes)
    columns = elements | {"tag": tag, "n": n, "parent": parent, "child": child}
    columns |= {"first_child": first_child, "first_node": first_node}
    inside = {"start": nodes["start"][order], "end": nodes["end"][order], "solid": solid}
    return from_columns(documents, parsed.text, names, (bounds, columns), (node_bounds, inside))


def from_columns(documents: dict[str, Any], text: Any, tags: Sequence[str], elements: Lists, nodes: Lists) -> Block:
    """Return arranged columns as a block."""
    known = {name: pa.array(documents[name], kind) for name, kind in DOCUMENT.items()}
    columns = known | {"text": text, "elements": lists(*elements, ELEMENT), "nodes": lists(*nodes, NODE)}
    return Block(pa.RecordBatch.from_pydict(columns), tuple(tags))


def as_stored(block: Block) -> Any:
    """Return the batch of a block as it is written: short integers; long texts compressed, where that saves a fifth."""
    batch, text = block.batch, block.batch.column("text")
    for name in ("elements", "nodes"):
        fields, values = {}, batch.column(name).values
        for field in values.type:
            numbers = values.field(field.name).to_numpy(zero_copy_only=True)
            least = min(int(numbers.min(initial=0)), -1 - int(numbers.max(initial=0)))
            fields[field.name] = pa.array(numbers.astype(np.min_scalar_type(least)))  # the shortest type with a sign
        short = _listed(batch.column(name).offsets, fields)
        batch = batch.set_column(batch.schema.get_field_index(name), name, short)
    sizes = np.diff(np.frombuffer(text.buffers()[1], np.int64, len(text) + 1, 8 * text.offset))
    if not len(text) or sizes.mean() < _LONG:
        return batch
    packed = pa.array([CODEC.compress(value.as_buffer(), asbytes=True) for value in text], pa.large_binary())
    if 5 * packed.nbytes > 4 * text.nbytes:
        return batch
    batch = batch.set_column(batch.schema.get_field_index("text"), "text", packed)
    return batch.append_column("text_bytes", pa.array(sizes))


def recoded(tags: Sequence[str], names: Sequence[str]) -> NDArray[np.int32]:
    """Return the place in `names` of every tag."""
    place = {name: code for code, name in enumerate(names)}
    return np.array([place[tag] for tag in tags], np.int32)


def lists(bounds: NDArray[np.int64], columns: dict[str, NDArray[Any]], kinds: dict[str, str]) -> Any:
    """Return rows of columns as lists, one for every document."""
    arrays = {name: pa.array(np.ascontiguousarray(columns[name], kind)) for name, kind in kinds.items()}
    return _listed(pa.array(bounds, pa.int64()), arrays)


def _listed(offsets: Any, arrays: dict[str, Any]) -> Any:
    return pa.LargeListArray.from_arrays(offsets, pa.StructArray.from_arrays(list(arrays.values()), list(arrays)))


def joined(blocks: Sequence[Block]) -> Block:
    """Join blocks into one: tags are coded anew, everything else is appended."""
    if len(blocks) == 1:
        return blocks[0]
    names = sorted({tag for block in blocks for tag in block.tags})
    batches = []
    for block in blocks:
        elements = block.batch.column("elements")
        fields = {name: elements.values.field(name) for name in ELEMENT}
        fields["tag"] = pa.array(recoded(block.tags, names)[block.element("tag")])
        place = block.batch.schema.get_field_index("elements")
        batches.append(block.batch.set_column(place, "elements", _listed(elements.offsets, fields)))
    tables = [pa.Table.from_batches([batch]) for batch in batches]  # some may have the columns of pages
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    return Block(table.to_batches()[0], tuple(names))


def fingerprint(block: Block) -> int:
    """Return the sum of the hashes of (text's hash, id) pairs, to which order and cutting into blocks do not matter."""
    ids, digests = (block.batch.column(name).to_pylist() for name in ("id", "sha256"))
    pairs = (f"{digest} {name}".encode() for name, digest in zip(ids, digests, strict=True))
    return sum(int.from_bytes(hashlib.sha256(pair).digest(), "big") for pair in pairs) % 2**256
