"""What the papers' tables say of a collection."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from focuseval.collection.index import Index


@dataclass(frozen=True)
class CollectionStatistics:
    """Counts and means of a collection.

    Papers that speak of an article's "nodes" mean its elements; `nodes_per_article` counts text nodes too. A mean depth
    can be taken over all elements of the collection, or over articles, each with its own mean: long articles with much
    mathematics pull the two apart, so both are given.
    """

    documents: int
    elements: int
    text_nodes: int
    bytes: int
    characters: int
    elements_per_article: float
    nodes_per_article: float
    """Elements and text nodes."""
    mean_depth: float
    """Over all elements; a root has depth 1."""
    mean_depth_of_articles: float
    """Over articles, of the mean depth of their elements."""
    max_depth: int
    unique_tags: int
    mean_length: float
    """Characters of a document's text."""
    tags: tuple[tuple[str, int], ...]
    """Every tag with its count, the most frequent first."""


def describe(index: Index) -> CollectionStatistics:
    """Return the figures that papers print of a collection, one block at a time."""
    tags: Counter[str] = Counter()
    depth = deepest = 0
    article_depth = 0.0
    for number in range(len(index.blocks)):
        block = index.blocks[number]
        counts = np.bincount(block.element("tag"), minlength=len(block.tags))
        tags.update(dict(zip(block.tags, counts.tolist(), strict=True)))
        depths = block.element("depth")
        sums = np.add.reduceat(depths, block.element_bounds[:-1], dtype=np.int64)
        depth += int(sums.sum())
        article_depth += float((sums / np.diff(block.element_bounds)).sum())
        deepest = max(deepest, int(depths.max(initial=0)))
    columns = ("bytes", "length", "elements", "nodes")
    size, length, elements, nodes = (int(index.documents.column(name).to_numpy().sum()) for name in columns)
    articles = len(index)
    return CollectionStatistics(
        documents=articles,
        elements=elements,
        text_nodes=nodes,
        bytes=size,
        characters=length,
        elements_per_article=elements / articles,
        nodes_per_article=(elements + nodes) / articles,
        mean_depth=depth / elements,
        mean_depth_of_articles=article_depth / articles,
        max_depth=deepest,
        unique_tags=len(tags),
        mean_length=length / articles,
        tags=tuple(sorted(tags.items(), key=lambda item: (-item[1], item[0]))),
    )
