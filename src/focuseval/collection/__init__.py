"""Documents as text with exact offsets, and every element's path and span: build an index, open it, ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.lazy import attributes

if TYPE_CHECKING:
    from focuseval.collection.build import Built, build_index
    from focuseval.collection.documents import open_documents
    from focuseval.collection.elements import Elements, IndexedDocument, IndexedElement
    from focuseval.collection.index import Index
    from focuseval.collection.names import Names
    from focuseval.collection.protocol import Collection
    from focuseval.collection.statistics import CollectionStatistics, describe
    from focuseval.collection.store import open_index

__all__ = [
    "Built",
    "Collection",
    "CollectionStatistics",
    "Elements",
    "Index",
    "IndexedDocument",
    "IndexedElement",
    "Names",
    "build_index",
    "describe",
    "open_documents",
    "open_index",
]

__getattr__ = attributes(  # most of the package asks for one of these, few for all
    __name__,
    {
        "Built": "build",
        "Collection": "protocol",
        "CollectionStatistics": "statistics",
        "IndexedDocument": "elements",
        "IndexedElement": "elements",
        "Elements": "elements",
        "Index": "index",
        "Names": "names",
        "build_index": "build",
        "describe": "statistics",
        "open_documents": "documents",
        "open_index": "store",
    },
)
