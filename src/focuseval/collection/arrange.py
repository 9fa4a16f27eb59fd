"""From parsed documents to searchable columns: ranks among siblings, children by tag, text nodes by parent.

For all documents of a forest at once. Packing a sort key together with the row it belongs to lets one
plain sort of integers replace slower stable index sorts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.forest import Forest

_KEY_BITS = 63


def by_key(high: NDArray[np.int64], low: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the order that sorts rows by `high`, then `low`, then row; both keys are not negative.

    >>> by_key(np.array([1, 0, 1, 0]), np.array([0, 7, 0, 3]))
    array([3, 1, 0, 2])
    """
    rows = len(high)
    row_bits = max(rows - 1, 0).bit_length()
    low_bits = int(low.max(initial=0)).bit_length()
    if int(high.max(initial=0)).bit_length() + low_bits + row_bits > _KEY_BITS:
        return np.lexsort((low, high))
    key = (((high << low_bits) | low) << row_bits) | np.arange(rows)
    key.sort()
    key &= (1 << row_bits) - 1
    return key


def sibling_order(forest: Forest) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return, counted from their document's first element: ``n`` of every step, children by tag, first child.

    Children of element e are ``child[first_child[e] : first_child[e + 1]]``, sorted by tag and then by place, so
    that the n-th child with a tag is one binary search away. Entry 0 of every document is its root.
    """
    size = len(forest.tag)
    parent_key = forest.parent + 1
    roots = forest.element_bounds[:-1]
    parent_key[roots] = roots
    child = by_key(parent_key, forest.tag)
    fresh = np.ones(size, np.bool_)
    fresh[1:] = (np.diff(parent_key[child]) != 0) | (np.diff(forest.tag[child]) != 0)
    heads = np.flatnonzero(fresh)
    runs = np.diff(np.append(heads, size))
    n = np.empty(size, np.int32)
    n[child] = np.arange(1, size + 1) - np.repeat(heads, runs)
    first_child = np.cumsum(np.bincount(parent_key, minlength=size))[:size]
    base = np.repeat(roots, np.diff(forest.element_bounds))
    return n, (child - base).astype(np.int32), (first_child - base).astype(np.int32)


def node_order(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return the text nodes' order by parent, each element's first node, and the rank of nodes that are not blank.

    The rank counts the nodes of the same parent, up to and with this one, that hold more than white space.
    """
    order = by_key(forest.node_parent, np.zeros(1, np.int64))
    per_element = np.bincount(forest.node_parent, minlength=len(forest.tag))
    first = np.cumsum(per_element) - per_element
    running = np.cumsum(forest.node_solid[order])
    earlier = np.append(0, running)[first]
    solid = running - np.repeat(earlier, per_element)
    base = np.repeat(forest.node_bounds[:-1], np.diff(forest.element_bounds))
    return order, (first - base).astype(np.int32), solid.astype(np.int32)
