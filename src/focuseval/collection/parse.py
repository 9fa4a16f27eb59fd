"""Bytes of many documents → one block, by the fast path where a document allows it and by expat's events elsewhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import field
from itertools import pairwise
from os.path import splitext
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.collection.block import Block, make_block
from focuseval.collection.events import Tree, read_tree, transcoded
from focuseval.collection.forest import Forest, join, plant, select
from focuseval.collection.ordinary import Marks, find_marks, ordinary_body, well_formed
from focuseval.collection.plain import read_plain
from focuseval.collection.structure import read_structure
from focuseval.collection.windows import UnusualNamesError
from focuseval.errors import CollectionError
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Raw:
    """A document as it was found: its id, the name to show in errors, its bytes."""

    id: str
    file: str
    data: bytes


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

    def add(self, other: ParseReport) -> None:
        """Add the counts of another batch."""
        self.documents += other.documents
        self.bytes += other.bytes
        self.failures += other.failures
        self.named += other.named
        self.left_out.update(other.left_out)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON can carry them."""
        return {**vars(self), "left_out": dict(self.left_out)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ParseReport:
        """Return the counts that `to_json` gave."""
        return cls(**{**values, "left_out": Counter(values["left_out"])})


def parse_documents(
    raws: Sequence[Raw], *, keep_going: bool = False, fast: bool = True
) -> tuple[Block | None, ParseReport]:
    """Parse documents into one block, in their order; None when not one of them could be read.

    Without `keep_going` the first document that cannot be read raises its error. `fast` = False reads every XML
    document by expat's events, which gives the same block more slowly.
    """
    failures: dict[int, CollectionError] = {}
    bodies, marks = _read_fast(raws, failures) if fast else ([], None)
    trees: dict[int, Tree] = {}
    for place in sorted(set(range(len(raws))) - set(bodies) - set(failures)):
        try:
            trees[place] = _read_slowly(raws[place])
        except CollectionError as error:
            failures[place] = error
    if failures and not keep_going:
        raise failures[min(failures)]
    kept = [*bodies, *trees]
    report = ParseReport(len(kept), sum(len(raws[place].data) for place in kept))
    report.failures += [f"{error.at}: {error.what}" for _, error in sorted(failures.items())]
    for tree in trees.values():
        report.named += tree.named
        report.left_out.update(tree.left_out)
    return (_assemble(raws, bodies, marks, trees) if kept else None), report


def _read_fast(raws: Sequence[Raw], failures: dict[int, CollectionError]) -> tuple[list[int], Marks | None]:
    """Find the ordinary documents and let expat check them; those that fail the check are noted."""
    bodies = {p: body for p, raw in enumerate(raws) if is_xml(raw.file) and (body := ordinary_body(raw.data))}
    if not bodies:
        return [], None
    marks = find_marks(list(bodies.values()))
    good = [place for place, plain in zip(bodies, marks.ordinary().tolist(), strict=True) if plain]
    for place in good:
        try:
            well_formed(raws[place].data, raws[place].file)
        except CollectionError as error:
            failures[place] = error
    good = [place for place in good if place not in failures]
    if not good:
        return [], None
    return good, marks if len(good) == len(bodies) else find_marks([bodies[place] for place in good])


def is_xml(file: str) -> bool:
    """Tell XML from plain text by the file's extension."""
    return file[-4:].lower() == ".xml"


def _read_slowly(raw: Raw) -> Tree:
    if not is_xml(raw.file):
        return read_plain(raw.data, raw.file)
    return read_tree(transcoded(raw.data, raw.file) or raw.data, raw.file)


def _assemble(raws: Sequence[Raw], bodies: list[int], marks: Marks | None, trees: dict[int, Tree]) -> Block:
    """Join what the two paths read, in the documents' own order."""
    try:
        parts = [read_structure(marks)] if marks else []
    except UnusualNamesError:
        parts, trees, bodies = [], {place: _read_slowly(raws[place]) for place in sorted([*bodies, *trees])}, []
    if trees:
        parts.append(plant(list(trees.values())))
    (text, tags, forest), *rest = parts
    places = [*bodies, *trees]
    if rest:
        text, tags, forest = join((text, tags, forest), rest[0])
        order = np.argsort(np.array(places))
        text, forest = text.take(pa.array(order)), select(forest, order)
    kept = [raws[place] for place in sorted(places)]
    return make_block(describe_documents(kept, text, forest), text, tags, forest)


def describe_documents(raws: Sequence[Raw], text: Any, forest: Forest) -> dict[str, Any]:
    """Return the columns of documents; the root ends where the text does."""
    offsets = np.frombuffer(text.buffers()[1], np.int64)[text.offset :]
    content = memoryview(text.buffers()[2] or b"")
    cuts = offsets[: len(raws) + 1].tolist()
    return {
        "id": [raw.id for raw in raws],
        "file": [raw.id + splitext(raw.file)[1] for raw in raws],  # noqa: PTH122  a Path a document is slow
        "bytes": [len(raw.data) for raw in raws],
        "length": forest.end[forest.element_bounds[:-1]],
        "sha256": [hashlib.sha256(content[a:b]).hexdigest() for a, b in pairwise(cuts)],
    }
