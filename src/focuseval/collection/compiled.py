"""XML documents into columns by `xml.c`: handlers in C on the expat that Python itself carries.

`pyexpat` offers its expat to other C code in a capsule. Where that, or the compiled library, is not as expected, and
for documents that `xml.c` leaves alone (entities, rare encodings, anything wrong), the events in Python are the way.
"""

from __future__ import annotations

import pyexpat
import threading
from dataclasses import dataclass
from functools import cache
from struct import unpack
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.collection.trees import MAX_DEPTH
from focuseval.engine import native

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ctypes import CDLL

    from numpy.typing import NDArray

_NAME = b"pyexpat.expat_CAPI"
_MAGIC = b"pyexpat.expat_CAPI 1.1"
_MAJOR = 2
_SIZE = 24 + 15 * 8
"""Bytes of the capsule's struct up to the last member used."""

_MOST_TAGS = 1 << 16
_NAME_BYTES = 16
"""Bytes that the names of tags may have on the average; a document with longer ones is left to Python."""

_COUNTS = ("elements", "nodes", "bytes", "tags", "most_tags", "name_bytes", "most_name_bytes", "slots", "most_depth")
_COLUMNS = (
    *("elements", "tag", "start", "end", "parent", "depth", "nodes", "node_parent", "node_start", "node_end"),
    *("node_solid", "bytes", "text", "tags", "most_tags", "name_bytes", "most_name_bytes", "slots", "names"),
    *("name_start", "table", "slot_of_tag", "element_bounds", "node_bounds", "byte_bounds", "most_depth"),
)
"""`struct columns`: numbers, and where arrays begin."""

_ARRANGED = ("n", "child", "first_child", "first_node", "node_start", "node_end", "node_solid")
"""`struct arranged`."""


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


@dataclass(frozen=True, eq=False)
class Columns:
    """What was read: texts, tags and columns of the documents that were not left to Python."""

    read: NDArray[np.int64]
    """Which of the documents given."""
    text: pa.Array
    tags: tuple[str, ...]
    """In the order of their names."""
    element_bounds: NDArray[np.int64]
    elements: dict[str, NDArray[Any]]
    node_bounds: NDArray[np.int64]
    nodes: dict[str, NDArray[Any]]


@cache
def expat() -> int | None:
    """Return where the capsule's struct stands; None where it is not one that `xml.c` knows."""
    import ctypes  # noqa: PLC0415  a Python may come without it

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    try:
        address: int | None = get(pyexpat.expat_CAPI, _NAME)
    except (AttributeError, ValueError):
        return None
    if not address or ("sizeof(XML_Char)", 1) not in pyexpat.features:
        return None
    magic, size, major = unpack("Pii", ctypes.string_at(address, 16))
    known = ctypes.string_at(magic) == _MAGIC and major == _MAJOR and size >= _SIZE
    return address if known else None


def read_compiled(documents: Sequence[bytes | None], memory: Memory | None = None) -> Columns | None:
    """Read those documents that can be read in C; None is one that is no XML. None where nothing can be."""
    library = native.library()
    if library is None or (address := expat()) is None or not documents:
        return None
    from ctypes import addressof, c_char_p  # noqa: PLC0415  where there is a library, there is this

    size = np.array([len(data or b"") for data in documents], np.int64)
    left = np.array([data is None for data in documents], np.uint8)
    places = (c_char_p * len(documents))(*documents)
    room = np.zeros(2, np.int64)
    where = (addressof(places), size.ctypes.data, len(documents))
    library.xml_room(*where, left.ctypes.data, room.ctypes.data, room[1:].ctypes.data)
    memory = memory or Memory()
    arrays = _arrays(memory, len(documents), *room.tolist())
    struct = native.struct(_COLUMNS, arrays)
    struct["most_tags"], struct["slots"] = len(arrays["name_start"]), len(arrays["table"])
    struct["most_name_bytes"], struct["most_depth"] = len(arrays["names"]), MAX_DEPTH
    if not library.xml_read(address, *where, struct.ctypes.data, left.ctypes.data):
        return None
    return _columns(library, struct, memory, arrays, left == 0)


def _arrays(memory: Memory, documents: int, marks: int, size: int) -> dict[str, NDArray[Any]]:
    """Return memory for the most that the documents can hold: every element and every text node has its own ``<``."""
    tags = min(marks, _MOST_TAGS)
    kinds: dict[str, tuple[int, type[np.generic]]] = {
        **dict.fromkeys(("tag", "start", "end", "parent"), (marks, np.int32)),
        **dict.fromkeys(("node_parent", "node_start", "node_end", "node_solid"), (marks, np.int32)),
        **dict.fromkeys(("element_bounds", "node_bounds", "byte_bounds"), (documents + 1, np.int64)),
        **dict.fromkeys(("name_start", "slot_of_tag"), (tags, np.int32)),
        "depth": (marks, np.int16),
        "text": (size, np.uint8),
        "names": (min(_NAME_BYTES * tags + size // 64, size) + 64, np.uint8),
        "table": (1 << (2 * tags).bit_length(), np.int32),
    }
    return {name: memory.array(name, count, kind) for name, (count, kind) in kinds.items()}


def _columns(
    library: CDLL, struct: NDArray[Any], memory: Memory, arrays: dict[str, NDArray[Any]], read: NDArray[np.bool_]
) -> Columns | None:
    """Arrange what was read, and let go of what is not needed."""
    counts = {name: int(struct[name][0]) for name in _COUNTS}
    names = arrays["names"][: counts["name_bytes"]].tobytes().decode().split("\0")[: counts["tags"]]
    tags = sorted(names)
    code = {name: place for place, name in enumerate(tags)}
    rank = np.array([code[name] for name in names], np.int32)
    elements, nodes = counts["elements"], counts["nodes"]
    rows = {name: nodes if name.startswith("node_") else elements for name in _ARRANGED}
    arranged = {name: memory.array(f"arranged {name}", count, np.int32) for name, count in rows.items()}
    target = native.struct(_ARRANGED, arranged)
    if not library.xml_arrange(struct.ctypes.data, len(read), rank.ctypes.data, target.ctypes.data):
        return None
    kept = np.append(True, read)
    cuts = arrays["byte_bounds"][kept]
    text = pa.py_buffer(arrays["text"][: counts["bytes"]])
    return Columns(
        np.flatnonzero(read),
        pa.LargeStringArray.from_buffers(len(cuts) - 1, pa.py_buffer(cuts), text),
        tuple(tags),
        arrays["element_bounds"][kept],
        {name: arrays[name][:elements] for name in ("tag", "depth", "start", "end", "parent")}
        | {name: arranged[name] for name in ("n", "child", "first_child", "first_node")},
        arrays["node_bounds"][kept],
        {"start": arranged["node_start"], "end": arranged["node_end"], "solid": arranged["node_solid"]},
    )
