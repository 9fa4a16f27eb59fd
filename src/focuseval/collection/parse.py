"""Bytes of many documents → one block, by the fast path where a document allows it and by expat's events elsewhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.collection.arrange import Forest, spread
from focuseval.collection.block import Block, make_block
from focuseval.collection.events import WHITE, Tree, read_tree, transcoded
from focuseval.collection.plain import read_plain
from focuseval.collection.structure import ordinary_body, read_structure, well_formed
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Raw:
    """A document as it was found: its id, the name to show in errors, its bytes."""

    id: str
    file: str
    data: bytes


@dataclass
class Report:
    """What happened while documents were parsed: nothing is left out without being counted."""

    documents: int = 0
    bytes: int = 0
    failures: list[str] = field(default_factory=list)
    """One line for every document that could not be read."""
    named: int = 0
    """Entities of unread DTDs replaced by the character of that name."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Entities that nothing read could define, by name."""

    def add(self, other: Report) -> None:
        """Add the counts of another batch."""
        self.documents += other.documents
        self.bytes += other.bytes
        self.failures += other.failures
        self.named += other.named
        self.left_out.update(other.left_out)


def parse_documents(raws: Sequence[Raw], *, keep_going: bool = False, fast: bool = True) -> tuple[Block | None, Report]:
    """Parse documents into one block, in their order; None when not one of them could be read.

    Without `keep_going` the first document that cannot be read raises its error. `fast` = False reads every XML
    document by expat's events, which gives the same block more slowly.
    """
    report = Report()
    trees: dict[int, Tree] = {}
    bodies: dict[int, bytes] = {}
    for place, raw in enumerate(raws):
        try:
            body = ordinary_body(raw.data) if fast and is_xml(raw.file) else None
            if body is None:
                trees[place] = _read_slowly(raw)
            else:
                well_formed(raw.data, raw.file)
                bodies[place] = body
        except CollectionError as error:
            if not keep_going:
                raise
            report.failures.append(str(error))
    for tree in trees.values():
        report.named += tree.named
        report.left_out.update(tree.left_out)
    kept = [*bodies, *trees]
    report.documents = len(kept)
    report.bytes = sum(len(raws[place].data) for place in kept)
    block = _assemble(raws, bodies, trees) if kept else None
    return block, report


def is_xml(file: str) -> bool:
    """Tell XML from plain text by the file's extension."""
    return file[-4:].lower() == ".xml"


def _read_slowly(raw: Raw) -> Tree:
    if not is_xml(raw.file):
        return read_plain(raw.data, raw.file)
    return read_tree(transcoded(raw.data, raw.file) or raw.data, raw.file)


def _assemble(raws: Sequence[Raw], bodies: dict[int, bytes], trees: dict[int, Tree]) -> Block:
    """Join what the two paths read, in the documents' own order."""
    parts = []
    if bodies:
        parts.append(read_structure(list(bodies.values())))
    if trees:
        parts.append(plant(list(trees.values())))
    (text, tags, forest), *rest = parts
    if rest:
        text, tags, forest = join((text, tags, forest), rest[0])
        order = np.argsort(np.fromiter([*bodies, *trees], np.int64))
        text, forest = text.take(pa.array(order)), select(forest, order)
    kept = [raws[place] for place in sorted([*bodies, *trees])]
    return make_block(describe_documents(kept, text, forest), text, tags, forest)


def describe_documents(raws: Sequence[Raw], text: Any, forest: Forest) -> dict[str, Any]:
    """Return the columns of documents; the root ends where the text does."""
    offsets = np.frombuffer(text.buffers()[1], np.int64)[text.offset :]
    content = memoryview(text.buffers()[2] or b"")
    cuts = offsets[: len(raws) + 1].tolist()
    return {
        "id": [raw.id for raw in raws],
        "file": [raw.file for raw in raws],
        "bytes": [len(raw.data) for raw in raws],
        "length": forest.end[forest.element_bounds[:-1]],
        "sha256": [hashlib.sha256(content[a:b]).hexdigest() for a, b in pairwise(cuts)],
    }


def plant(trees: Sequence[Tree]) -> tuple[Any, tuple[str, ...], Forest]:
    """Turn trees read one by one into columns: their texts, their tags, their forest."""
    codes = pa.array([name for tree in trees for name in tree.tag], pa.string()).dictionary_encode()
    elements = np.array([len(tree.tag) for tree in trees], np.int64)
    nodes = np.array([len(tree.node_start) for tree in trees], np.int64)
    element_bounds = np.append(0, np.cumsum(elements))
    node_bounds = np.append(0, np.cumsum(nodes))
    parent = _column(tree.parent for tree in trees)
    texts = [tree.text for tree in trees]
    solid = [
        bool(text[a:b].strip(WHITE))
        for text, tree in zip(texts, trees, strict=True)
        for a, b in zip(tree.node_start, tree.node_end, strict=True)
    ]
    forest = Forest(
        element_bounds,
        codes.indices.to_numpy(),
        _column(tree.depth for tree in trees),
        _column(tree.start for tree in trees),
        _column(tree.end for tree in trees),
        np.where(parent < 0, -1, parent + np.repeat(element_bounds[:-1], elements)),
        node_bounds,
        _column(tree.node_parent for tree in trees) + np.repeat(element_bounds[:-1], nodes),
        _column(tree.node_start for tree in trees),
        _column(tree.node_end for tree in trees),
        np.array(solid, np.bool_),
    )
    return pa.array(texts, pa.large_string()), tuple(codes.dictionary.to_pylist()), forest


def _column(parts: Iterable[Any]) -> NDArray[Any]:
    return np.concatenate([np.asarray(part) for part in parts])


Parsed = tuple[Any, tuple[str, ...], Forest]
"""Texts, tags and forest of the same documents."""


def join(one: Parsed, two: Parsed) -> Parsed:
    """Append the documents of `two` to those of `one`."""
    (text, tags, a), (more_text, more_tags, b) = one, two
    names = dict.fromkeys((*tags, *more_tags))
    code = {name: i for i, name in enumerate(names)}
    recode = np.array([code[name] for name in more_tags], np.int32)
    shift = a.element_bounds[-1]
    forest = Forest(
        np.append(a.element_bounds, b.element_bounds[1:] + shift),
        np.append(a.tag, recode[b.tag]),
        np.append(a.depth, b.depth),
        np.append(a.start, b.start),
        np.append(a.end, b.end),
        np.append(a.parent, np.where(b.parent < 0, -1, b.parent + shift)),
        np.append(a.node_bounds, b.node_bounds[1:] + a.node_bounds[-1]),
        np.append(a.node_parent, b.node_parent + shift),
        np.append(a.node_start, b.node_start),
        np.append(a.node_end, b.node_end),
        np.append(a.node_solid, b.node_solid),
    )
    return pa.concat_arrays([text, more_text]), tuple(names), forest


def select(forest: Forest, documents: NDArray[np.int64]) -> Forest:
    """Return the given documents of a forest, in the given order."""
    elements = np.diff(forest.element_bounds)[documents]
    nodes = np.diff(forest.node_bounds)[documents]
    rows = spread(forest.element_bounds[:-1][documents], elements)
    node_rows = spread(forest.node_bounds[:-1][documents], nodes)
    bounds = np.append(0, np.cumsum(elements))
    moved = bounds[:-1] - forest.element_bounds[:-1][documents]
    parent = forest.parent[rows]
    return Forest(
        bounds,
        forest.tag[rows],
        forest.depth[rows],
        forest.start[rows],
        forest.end[rows],
        np.where(parent < 0, -1, parent + np.repeat(moved, elements)),
        np.append(0, np.cumsum(nodes)),
        forest.node_parent[node_rows] + np.repeat(moved, nodes),
        forest.node_start[node_rows],
        forest.node_end[node_rows],
        forest.node_solid[node_rows],
    )
