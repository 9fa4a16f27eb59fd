"""Chunks: documents cut by characters, words, sentences, tokens, elements or a splitter, with exact offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.lazy import attributes

if TYPE_CHECKING:
    from focuseval.collection.chunks.columns import Chunks
    from focuseval.collection.chunks.extent import Extent, extent
    from focuseval.collection.chunks.spec import Spec, parse_spec

__all__ = ["Chunks", "Extent", "Spec", "extent", "parse_spec"]

__getattr__ = attributes(
    __name__,
    {
        "Chunks": "columns",
        "Extent": "extent",
        "Spec": "spec",
        "extent": "extent",
        "parse_spec": "spec",
    },
)
