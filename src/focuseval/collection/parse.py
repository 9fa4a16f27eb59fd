"""Bytes of many documents → one block: in C where a document allows it, by events in Python elsewhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from focuseval.collection.block import Block, from_columns, joined, make_block, plant
from focuseval.collection.compiled import read_compiled
from focuseval.collection.document_files import DOCUMENTS
from focuseval.collection.trees import Tree, plain_tree, read_html, read_plain, read_tree, transcoded
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.collection.compiled import Memory


_XML = frozenset(("trec", *(extension for extension, kind in DOCUMENTS.items() if kind == "xml")))


class Raw(NamedTuple):
    """A document as it was found: its id, the name to show in errors, its bytes, what they are."""

    id: str
    file: str
    data: bytes
    kind: str = ".xml"
    """The extension that says what it is; ``trec`` or ``text`` where it stands in a file with others."""


@dataclass
class ParseReport:
    """What happened while documents were parsed: nothing is left out without being counted."""

    documents: int = 0
    bytes: int = 0
    failures: list[str] = field(default_factory=list)
    """One line for every document that could not be read."""
    named: int = 0
    """Entities of unread DTDs replaced by the character of that name."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Entities that nothing read could define, by name."""
    lenient: int = 0
    """Documents read as browsers read pages, because they are HTML or no well-formed XML."""

    def add(self, other: ParseReport) -> None:
        """Add the counts of another batch."""
        self.documents += other.documents
        self.bytes += other.bytes
        self.failures += other.failures
        self.named += other.named
        self.left_out.update(other.left_out)
        self.lenient += other.lenient


def parse_documents(
    raws: Sequence[Raw], *, keep_going: bool = False, fast: bool = True, memory: Memory | None = None
) -> tuple[Block | None, ParseReport]:
    """Parse documents into one block, in their order; None when not one of them could be read.

    Without `keep_going` the first document that cannot be read raises its error. `fast` = False reads every XML
    document by events in Python, which gives the same block more slowly. A block in a given `memory` lasts until
    another one is parsed into it.
    """
    columns = read_compiled([raw.data if raw.kind in _XML else None for raw in raws], memory) if fast else None
    read = [] if columns is None else columns.read.tolist()
    failures: dict[int, CollectionError] = {}
    trees: dict[int, Tree] = {}
    for place in sorted(set(range(len(raws))) - set(read)):
        try:
            trees[place] = _read_slowly(raws[place])
        except CollectionError as error:
            if not keep_going:
                raise
            failures[place] = error
    report = ParseReport(len(read) + len(trees), sum(len(raws[place].data) for place in (*read, *trees)))
    report.failures += [f"{error.at}: {error.what}" for error in failures.values()]
    for tree in trees.values():
        report.named += tree.named
        report.left_out.update(tree.left_out)
        report.lenient += tree.lenient
    blocks = []
    if columns is not None and read:
        documents = describe_documents(
            [raws[place] for place in read], columns.text, columns.elements["end"][columns.element_bounds[:-1]]
        )
        elements, nodes = (columns.element_bounds, columns.elements), (columns.node_bounds, columns.nodes)
        blocks.append(from_columns(documents, columns.text, columns.tags, elements, nodes))
    if trees:
        text, tags, forest = plant(list(trees.values()))
        length = forest.end[forest.element_bounds[:-1]]
        documents = describe_documents([raws[place] for place in trees], text, length)
        blocks.append(make_block(documents, text, tags, forest))
    if len(blocks) < 2:
        return (blocks[0] if blocks else None), report
    block = joined(blocks)
    return Block(block.batch.take(pa.array(np.argsort([*read, *trees]))), block.tags), report


def _read_slowly(raw: Raw) -> Tree:
    """Read one document in Python; TREC's documents that are no well-formed XML are read as HTML is."""
    kind = DOCUMENTS.get(raw.kind, raw.kind)
    if kind == "plain":
        return read_plain(raw.data, raw.file)
    if kind == "text":
        return plain_tree(raw.data.decode(), raw.file)
    if kind == "html":
        return read_html(raw.data, raw.file)
    try:
        return read_tree(transcoded(raw.data, raw.file) or raw.data, raw.file)
    except CollectionError:
        if kind != "trec":
            raise
        return read_html(raw.data, raw.file, "doc")


def describe_documents(raws: Sequence[Raw], text: pa.Array, length: NDArray[np.integer]) -> dict[str, Any]:
    """Return the columns of documents."""
    offsets = np.frombuffer(text.buffers()[1], np.int64)[text.offset :]
    content = memoryview(text.buffers()[2] or b"")
    cuts = offsets[: len(raws) + 1].tolist()
    return {
        "id": [raw.id for raw in raws],
        "file": [raw.id + raw.kind if raw.kind[0] == "." else raw.id for raw in raws],
        "bytes": [len(raw.data) for raw in raws],
        "length": length,
        "sha256": [hashlib.sha256(content[a:b]).hexdigest() for a, b in pairwise(cuts)],
    }
