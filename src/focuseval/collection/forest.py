"""Parsed documents as columns, before they are arranged for searching.

A `Forest` is many documents' elements and text nodes in document order, numbered through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.collection.events import WHITE, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Forest:
    """Elements and text nodes of many documents; rows are numbered through all of them, positions are not."""

    element_bounds: NDArray[np.int64]
    """Where each document's elements begin, and one more entry for the end of the last."""
    tag: NDArray[np.int32]
    depth: NDArray[np.int32]
    start: NDArray[np.int32]
    """Code points from the start of the element's own document."""
    end: NDArray[np.int32]
    parent: NDArray[np.int64]
    """Row of the parent element; −1 for a root."""
    node_bounds: NDArray[np.int64]
    node_parent: NDArray[np.int64]
    node_start: NDArray[np.int32]
    node_end: NDArray[np.int32]
    node_solid: NDArray[np.bool_]
    """Whether the node holds more than white space."""


Parsed = tuple[Any, tuple[str, ...], Forest]
"""Texts, tags and forest of the same documents."""


def spread(first: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the integers ``first[i] … first[i] + count[i] − 1`` of every i, one after the other.

    >>> spread(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(first - ends + count, count) + np.arange(total)


def plant(trees: Sequence[Tree]) -> Parsed:
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
