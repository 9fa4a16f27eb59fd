"""Chunks: documents cut by characters, words, sentences, tokens, elements or a splitter, with exact offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.lazy import attributes

if TYPE_CHECKING:
    from focuseval.chunks.columns import Chunks
    from focuseval.chunks.cut import chunk
    from focuseval.chunks.extent import Extent, extent
    from focuseval.chunks.files import read_chunks, write_chunks
    from focuseval.chunks.spec import Spec, parse_spec

__all__ = ["Chunks", "Extent", "Spec", "chunk", "extent", "parse_spec", "read_chunks", "write_chunks"]

__getattr__ = attributes(
    __name__,
    {
        "Chunks": "columns",
        "Extent": "extent",
        "Spec": "spec",
        "chunk": "cut",
        "extent": "extent",
        "parse_spec": "spec",
        "read_chunks": "files",
        "write_chunks": "files",
    },
)
