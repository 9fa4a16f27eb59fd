"""Bytes of many documents → one block: in C where a document allows it, by events in Python elsewhere.

XML is read into columns by `xml.c`: handlers in C on the expat that Python itself carries, which `pyexpat` offers to
other C code in a capsule. Where that, or the compiled library, is not as expected, and for documents that `xml.c`
leaves alone (entities, rare encodings, anything wrong), events in Python do the same.
"""

from __future__ import annotations

import ctypes
import hashlib
import pyexpat
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from struct import unpack
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.block import NODE, Block, Parsed, from_columns, joined, make_block, plant, recoded
from focuseval.collection.document_files import DOCUMENTS
from focuseval.collection.pages import with_pages
from focuseval.collection.pdf import PdfRules, page_ranges, read_pdf
from focuseval.collection.trees import MAX_DEPTH, ONE_ELEMENT, Tree, plain_tree, read_html, read_tree, transcoded
from focuseval.engine import native
from focuseval.errors import CollectionError

_NAME = b"pyexpat.expat_CAPI"
_COLUMNS = (
    *("elements", "tag", "start", "end", "parent", "depth", "nodes", "node_parent", "node_start", "node_end"),
    *("node_solid", "bytes", "text", "tags", "most_tags", "name_bytes", "most_name_bytes", "slots", "names"),
    *("name_start", "table", "slot_of_tag", "element_bounds", "node_bounds", "byte_bounds", "most_depth"),
)
"""`struct columns`: numbers, and where arrays begin."""
_ARRANGED = ("n", "child", "first_child", "first_node", "node_start", "node_end", "node_solid")  # `struct arranged`


class Memory(threading.local):
    """A thread's arrays, used again and again: memory that is new to a process costs a tenth of the parsing."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, count: int, kind: type[np.generic]) -> NDArray[Any]:
        """Return so many numbers, whatever they are now."""
        if len(self._arrays.get(name, ())) < count:
            self._arrays[name] = np.empty(count + count // 4, kind)
        return self._arrays.get(name, np.empty(0, kind))[:count]

    def clear(self) -> None:
        """Give the memory back."""
        self._arrays.clear()


@cache
def expat() -> int | None:
    """Return where the capsule's struct stands; None where it is not one that `xml.c` knows."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    try:
        address: int | None = get(pyexpat.expat_CAPI, _NAME)
    except (AttributeError, ValueError):
        address = None
    if not address or ("sizeof(XML_Char)", 1) not in pyexpat.features:
        return None
    magic, size, major = unpack("Pii", ctypes.string_at(address, 16))
    same = ctypes.string_at(magic) == b"pyexpat.expat_CAPI 1.1" and major == 2
    return address if same and size >= 24 + 15 * 8 else None  # up to the last member used


def read_compiled(
    documents: Sequence[bytes | None], memory: Memory | None = None
) -> tuple[NDArray[np.int64], Parsed] | None:
    """Return which documents could be read in C, and these, arranged; one that is no XML is given as None."""
    library = native.library()
    if library is None or (address := expat()) is None or not documents:
        return None
    size = np.array([len(data or b"") for data in documents], np.int64)
    left = np.array([data is None for data in documents], np.uint8)
    places = (ctypes.c_char_p * len(documents))(*documents)
    room = np.zeros(2, np.int64)
    where = (ctypes.addressof(places), size.ctypes.data, len(documents))
    library.xml_room(*where, left.ctypes.data, room.ctypes.data, room[1:].ctypes.data)
    memory = memory or Memory()
    marks, most = room.tolist()  # every element and every text node has its own ``<``
    tags = min(marks, 1 << 16)
    kinds: dict[str, tuple[int, type[np.generic]]] = {
        **dict.fromkeys(("tag", "start", "end", "parent"), (marks, np.int32)),
        **dict.fromkeys(("node_parent", "node_start", "node_end", "node_solid"), (marks, np.int32)),
        **dict.fromkeys(("element_bounds", "node_bounds", "byte_bounds"), (len(documents) + 1, np.int64)),
        **dict.fromkeys(("name_start", "slot_of_tag"), (tags, np.int32)),
        "depth": (marks, np.int16),
        "text": (most, np.uint8),
        "names": (min(16 * tags + most // 64, most) + 64, np.uint8),  # a document with longer ones is left to Python
        "table": (1 << (2 * tags).bit_length(), np.int32),
    }
    arrays = {name: memory.array(name, count, kind) for name, (count, kind) in kinds.items()}
    struct = native.struct(_COLUMNS, arrays)
    struct["most_tags"], struct["slots"] = len(arrays["name_start"]), len(arrays["table"])
    struct["most_name_bytes"], struct["most_depth"] = len(arrays["names"]), MAX_DEPTH
    if not library.xml_read(address, *where, struct.ctypes.data, left.ctypes.data):
        return None
    read = left == 0
    counts = {name: int(struct[name][0]) for name in ("elements", "nodes", "bytes", "tags", "name_bytes")}
    names = arrays["names"][: counts["name_bytes"]].tobytes().decode().split("\0")[: counts["tags"]]
    ordered = sorted(names)
    rank = recoded(names, ordered)
    elements, nodes = counts["elements"], counts["nodes"]
    rows = {name: nodes if name.startswith("node_") else elements for name in _ARRANGED}
    arranged = {name: memory.array(f"arranged {name}", count, np.int32) for name, count in rows.items()}
    target = native.struct(_ARRANGED, arranged)
    if not library.xml_arrange(struct.ctypes.data, len(documents), rank.ctypes.data, target.ctypes.data):
        return None
    kept = np.append(True, read)
    cuts = arrays["byte_bounds"][kept]
    as_read = {name: arrays[name][:elements] for name in ("tag", "depth", "start", "end", "parent")}
    text = pa.py_buffer(arrays["text"][: counts["bytes"]])
    return np.flatnonzero(read), Parsed(
        pa.LargeStringArray.from_buffers(len(cuts) - 1, pa.py_buffer(cuts), text),
        tuple(ordered),
        (arrays["element_bounds"][kept], as_read | arranged),
        (arrays["node_bounds"][kept], {name: arranged[f"node_{name}"] for name in NODE}),
    )


class Raw(NamedTuple):
    """A document as it was found: its id, the name to show in errors, its bytes, what they are."""

    id: str
    file: str
    data: bytes
    kind: str = ".xml"  # the extension that says what it is; ``trec`` or ``text`` where it stands in a file with others
    apart: bool = True  # whether words of HTML are separated where a browser breaks the line


@dataclass
class ParseReport:
    """What happened while documents were parsed: nothing is left out without being counted."""

    documents: int = 0
    bytes: int = 0
    failures: list[str] = field(default_factory=list)  # one line for every document that could not be read
    named: int = 0  # entities of unread DTDs replaced by the character of that name
    left_out: Counter[str] = field(default_factory=Counter)  # entities that nothing read could define, by name
    lenient: int = 0  # documents read as browsers read pages, because they are HTML or no well-formed XML
    pages: int = 0  # pages of PDFs
    scans: int = 0  # pages without text
    scanned: list[str] = field(default_factory=list)  # a line for every PDF with such pages: which

    def add(self, other: ParseReport) -> None:
        """Add the counts of another batch."""
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)


def parse_documents(
    raws: Sequence[Raw],
    *,
    keep_going: bool = False,
    fast: bool = True,
    memory: Memory | None = None,
    pdf: PdfRules | None = None,
) -> tuple[Block | None, ParseReport]:
    """Parse documents into one block, in their order; None when not one of them could be read.

    Without `keep_going` the first document that cannot be read raises its error. `fast` = False reads every XML
    document by events in Python, which gives the same block more slowly. A block in a given `memory` lasts until
    another one is parsed into it.
    """
    is_xml = [raw.kind == "trec" or DOCUMENTS.get(raw.kind) == "xml" for raw in raws]
    data = [raw.data if xml else None for raw, xml in zip(raws, is_xml, strict=True)]
    compiled = read_compiled(data, memory) if fast else None
    read = [] if compiled is None else compiled[0].tolist()
    report, trees = ParseReport(), dict[int, Tree]()
    for place in sorted(set(range(len(raws))) - set(read)):
        try:
            trees[place] = read_slowly(raws[place], pdf)
        except CollectionError as error:
            if not keep_going:
                raise
            report.failures.append(f"{error.at}: {error.what}")
    report.documents = len(read) + len(trees)
    report.bytes = sum(len(raws[place].data) for place in (*read, *trees))

    for tree in trees.values():
        report.named += tree.named
        report.left_out.update(tree.left_out)
        report.lenient += tree.lenient
        if tree.laid is not None:
            scans = np.flatnonzero(tree.laid.page["start"] == tree.laid.page["end"]) + 1
            report.pages += len(tree.laid)
            report.scans += len(scans)
            report.scanned += [f"{tree.file}: {page_ranges(scans)}"] if len(scans) else []
    blocks = []
    if compiled is not None and read:
        documents = describe_documents([raws[place] for place in read], compiled[1])
        blocks.append(from_columns(documents, *compiled[1]))
    if trees:
        parsed = plant(list(trees.values()))
        block = make_block(describe_documents([raws[place] for place in trees], parsed), parsed)
        blocks.append(with_pages(block, [tree.laid for tree in trees.values()]))
    if len(blocks) < 2:
        return (blocks[0] if blocks else None), report
    block = joined(blocks)
    return Block(block.batch.take(pa.array(np.argsort([*read, *trees]))), block.tags), report


def read_slowly(raw: Raw, pdf: PdfRules | None = None) -> Tree:
    """Read one document in Python; TREC's documents that are no well-formed XML are read as HTML is."""
    kind = DOCUMENTS.get(raw.kind, raw.kind)
    if kind in ONE_ELEMENT:
        return ONE_ELEMENT[kind](raw.data, raw.file)
    if kind == "text":
        return plain_tree(raw.data.decode(), raw.file)
    if kind == "pdf":
        return read_pdf(raw.data, raw.file, pdf)
    if kind == "html":
        return read_html(raw.data, raw.file, apart=raw.apart)
    try:
        return read_tree(transcoded(raw.data, raw.file) or raw.data, raw.file)
    except CollectionError:
        if kind != "trec":
            raise
        return read_html(raw.data, raw.file, "doc", apart=False)


def describe_documents(raws: Sequence[Raw], parsed: Parsed) -> dict[str, Any]:
    """Return the columns of documents."""
    _, offsets, data = parsed.text.buffers()
    content = memoryview(data or b"")
    cuts = np.frombuffer(offsets, np.int64, len(raws) + 1, 8 * parsed.text.offset).tolist()
    return {
        "id": [raw.id for raw in raws],
        "file": [raw.id + raw.kind if raw.kind[0] == "." else raw.id for raw in raws],
        "bytes": [len(raw.data) for raw in raws],
        "length": parsed.lengths,
        "sha256": [hashlib.sha256(content[a:b]).hexdigest() for a, b in pairwise(cuts)],
    }
