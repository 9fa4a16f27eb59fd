"""Paths and pointers → positions, inside one block, for all queries at once.

A path is followed step by step from the root. The children of an element stand sorted by tag, so every step is a
binary search among them, run for all queries together; nothing is hashed, so nothing can be mistaken for another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from focuseval.collection.block import Block
    from focuseval.collection.paths import Steps


def find_elements(
    block: Block, document: NDArray[np.int64], path: NDArray[np.int64], steps: Steps
) -> NDArray[np.int64]:
    """Return the row (in the block) of the element at each (document, path), −1 where there is none."""
    local = pc.index_in(pa.array(steps.tags, pa.string()), pa.array(block.tags, pa.string()))
    code = np.append(local.fill_null(-1).to_numpy(zero_copy_only=False), -1).astype(np.int64)
    base = block.element_bounds[document]
    size = np.diff(block.element_bounds)[document]
    at = np.full(len(document), -1, np.int64)
    depth = np.where(path >= 0, steps.depth[path] if len(steps.depth) else 0, 0)
    alive = np.flatnonzero(depth > 0)
    for level in range(int(depth.max(initial=0))):
        alive = alive[depth[alive] > level]
        step = steps.first[path[alive]] + level
        here = _children(block, base[alive], size[alive], at[alive], tag=code[steps.tag[step]], n=steps.n[step])
        at[alive] = here
        alive = alive[here >= 0]
    return np.where(at >= 0, at + base, -1)


def _children(
    block: Block,
    base: NDArray[np.int64],
    size: NDArray[np.int64],
    parent: NDArray[np.int64],
    *,
    tag: NDArray[np.int64],
    n: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return, counted from its document's first element, the n-th child with a tag; parent −1 asks for the root."""
    child, first_child, tags = (block.element(name) for name in ("child", "first_child", "tag"))
    root = parent < 0
    low = np.where(root, 0, first_child[base + np.maximum(parent, 0)])
    after = np.minimum(parent + 1, size - 1)
    high = np.where(root, 1, np.where(parent + 1 < size, first_child[base + after], size))
    place = _lower_bound(lambda at, which: tags[base[which] + child[base[which] + at]] < tag[which], low, high)
    place += n - 1
    found = (tag >= 0) & (n >= 1) & (place < high)
    place = np.where(found, place, 0)
    element = child[base + place].astype(np.int64)
    return np.where(found & (tags[base + element] == tag), element, -1)


def _lower_bound(
    less: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the first place in ``low … high`` of every query that is not `less`; one round halves all ranges."""
    low, high = low.astype(np.int64), high.astype(np.int64)
    open_ = np.flatnonzero(low < high)
    while len(open_):
        middle = (low[open_] + high[open_]) >> 1
        smaller = less(middle, open_)
        low[open_[smaller]] = middle[smaller] + 1
        high[open_[~smaller]] = middle[~smaller]
        open_ = open_[low[open_] < high[open_]]
    return low


def find_nodes(
    block: Block, document: NDArray[np.int64], element: NDArray[np.int64], n: NDArray[np.int64], *, strip: bool
) -> NDArray[np.int64]:
    """Return the row (in the block) of the n-th text node of each element; −1 where there is none.

    With `strip`, nodes of white space alone are not counted.
    """
    solid, first_node = block.node("solid"), block.element("first_node")
    base = block.node_bounds[document]
    low = base + first_node[element]
    last = block.element_bounds[document + 1] - 1
    after = first_node[np.minimum(element + 1, last)]
    high = np.where(element < last, base + after, block.node_bounds[document + 1])
    place = _lower_bound(lambda at, which: solid[at] < n[which], low, high) if strip else low + n - 1
    return np.where((n >= 1) & (place >= low) & (place < high), place, -1)
