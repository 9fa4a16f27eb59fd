"""The fast XML parser: arrays over all bytes of a batch of ordinary, well-formed documents.

Crossing into Python once per tag caps any parser; here every step is one pass over a thousand documents.
``<`` and ``>`` alternate; the byte after ``<`` tells an opening tag from a closing one; depth is a running sum; at
each depth opening and closing tags alternate, so a stable sort by depth pairs them; between ``>`` and ``<`` is text,
and the running sum of its pieces gives every start and end. The result equals that of `events.read_tree`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.collection.forest import Forest
from focuseval.collection.references import replace_references
from focuseval.collection.windows import strings_at
from focuseval.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.ordinary import Marks


@dataclass(frozen=True, eq=False)
class Tags:
    """All tags of a batch, in order."""

    left: NDArray[np.int64]
    """Place of ``<``."""
    right: NDArray[np.int64]
    """Place of ``>``."""
    closes: NDArray[np.bool_]
    level: NDArray[np.int32]
    """How many elements are open after the tag."""
    depth: NDArray[np.int16]
    """Depth of the tag's own element."""
    empty: NDArray[np.bool_]
    """Whether it opens and closes at once."""
    bounds: NDArray[np.int64]
    """Where each document's tags begin, and the end of the last."""


@dataclass(frozen=True, eq=False)
class Text:
    """The text of a batch: its bytes, and where the text after every tag begins."""

    data: NDArray[np.uint8]
    byte: NDArray[np.int64]
    """Bytes of text before each tag, and one more entry for all."""
    point: NDArray[np.int64]
    """Code points of text before each tag, and one more entry for all."""


def read_structure(marks: Marks) -> tuple[Any, tuple[str, ...], Forest]:
    """Read ordinary documents; return their texts, their tags' names and their forest."""
    tags = find_tags(marks)
    names = strings_at(marks.data, tags.left[~tags.closes] + 1, b"/>")
    text = find_text(marks.data, tags)
    cuts = np.ascontiguousarray(text.byte[tags.bounds])
    texts = pa.LargeStringArray.from_buffers(len(cuts) - 1, pa.py_buffer(cuts), pa.py_buffer(text.data))
    return texts, tuple(name.decode() for name in names.distinct), _forest(tags, text, names.code)


def find_tags(marks: Marks) -> Tags:
    """Tell opening, closing and empty tags apart, and how deep each stands."""
    left, right = (np.ascontiguousarray(marks.both[side::2]) for side in (0, 1))
    closes = marks.data[left + 1] == ord("/")
    empty = (marks.data[right - 1] == ord("/")) & ~closes
    change = np.ones(len(closes), np.int8)
    change[closes] = -1
    change[empty] = 0
    level = np.cumsum(change, dtype=np.int32)
    depth = level + (change <= 0)
    bounds = np.searchsorted(left, marks.cuts)
    return Tags(left, right, closes, level, depth.astype(np.int16), empty, bounds)


def find_text(data: NDArray[np.uint8], tags: Tags) -> Text:
    """Gather the text between tags, with references replaced; text after the root element is none."""
    size = np.append(tags.left[1:], tags.right[-1] + 1) - tags.right - 1
    gap = size.copy()
    size[tags.level == 0] = 0
    run = np.empty(2 * len(size) + 1, np.int64)
    run[0:-1:2] = tags.right - tags.left + 1
    run[1::2] = gap
    run[-1] = len(data) - tags.right[-1] - 1
    flags = np.zeros(len(run), np.bool_)
    flags[1::2] = tags.level > 0
    is_text = np.repeat(flags, run)
    places, less = replace_references(data, is_text)
    np.subtract.at(size, np.searchsorted(tags.right, places) - 1, less)
    kept = data[is_text]
    byte = np.append(0, np.cumsum(size))
    return Text(kept, byte, _points(kept, byte))


def _points(kept: NDArray[np.uint8], byte: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn places in UTF-8 into code points: bytes that continue a character do not count."""
    continuing = np.flatnonzero(kept.view(np.int8) < -64)  # 0x80 … 0xBF
    return byte - np.searchsorted(continuing, byte) if len(continuing) else byte


def _forest(tags: Tags, text: Text, code: NDArray[np.int32]) -> Forest:
    opens = np.flatnonzero(~tags.closes)
    bounds = np.searchsorted(opens, tags.bounds)
    close = _closing(tags, opens)
    element = _elements_of_tags(tags, opens, close)
    parent = _parents(tags, opens, element)
    base = text.point[tags.bounds[:-1]]
    before = np.repeat(base, np.diff(bounds))
    start = text.point[opens] - before
    end = text.point[close] - before
    nodes = np.flatnonzero(np.diff(text.byte))
    inside = np.where(tags.closes[nodes] | tags.empty[nodes], parent[element[nodes]], element[nodes])
    solid = np.maximum.reduceat(text.data, text.byte[nodes]) > ord(" ") if len(nodes) else np.zeros(0, np.bool_)
    node_bounds = np.searchsorted(nodes, tags.bounds)
    moved = np.repeat(base, np.diff(node_bounds))
    return Forest(
        bounds,
        code,
        tags.depth[opens].astype(np.int32),
        start.astype(np.int32),
        end.astype(np.int32),
        parent,
        node_bounds,
        inside,
        (text.point[nodes] - moved).astype(np.int32),
        (text.point[nodes + 1] - moved).astype(np.int32),
        solid,
    )


def _closing(tags: Tags, opens: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tag that closes each element: in order of depth, opening and closing tags alternate."""
    pairs = np.flatnonzero(~tags.empty)
    pairs = pairs[np.argsort(tags.depth[pairs], kind="stable")]
    close = np.arange(len(tags.left))
    close[pairs[0::2]] = pairs[1::2]
    return close[opens]


def _elements_of_tags(tags: Tags, opens: NDArray[np.int64], close: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the element that each tag opens or closes."""
    element = np.empty(len(tags.left), np.int64)
    element[close] = np.arange(len(opens))
    element[opens] = np.arange(len(opens))
    return element


def _parents(tags: Tags, opens: NDArray[np.int64], element: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each element's parent; −1 for a root.

    An element right after an opening tag is that element's first child. All others have the parent of the element
    before them at the same depth, so in order of depth a parent is handed on until the next first child.
    """
    before = np.maximum(opens - 1, 0)
    leads = ~(tags.closes[before] | tags.empty[before])
    depth = tags.depth[opens]
    order = np.argsort(depth, kind="stable")
    source = np.maximum.accumulate(np.where(leads[order], np.arange(len(order)), 0))
    parent = np.empty(len(order), np.int64)
    parent[order] = element[before[order[source]]]
    parent[depth == 1] = -1
    return parent
