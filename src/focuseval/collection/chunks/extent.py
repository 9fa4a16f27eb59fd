"""How much text a chunking holds: what it costs to index, what it repeats, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.chunks.boundaries import between_blanks, boundaries, texts_of
from focuseval.data.spans import union
from focuseval.errors import counted

if TYPE_CHECKING:
    from focuseval.collection import Collection
    from focuseval.collection.chunks.boundaries import Boundaries
    from focuseval.collection.chunks.columns import Chunks
    from focuseval.data.spans import Spans


@dataclass(frozen=True)
class Extent:
    """Numbers of one chunking."""

    chunks: int
    documents: int
    """Documents that have a chunk."""
    characters: int
    """Characters in all chunks, repeats included."""
    text: int
    """Characters of all documents."""
    least: int
    most: int
    """Characters of the smallest and of the largest chunk."""
    left_out: int
    """Characters in no chunk, white space not counted."""
    tokens: int | None = None
    """Tokens in all chunks, repeats included; None without a tokenizer."""

    @property
    def mean(self) -> float:
        """Characters of a chunk."""
        return self.characters / self.chunks if self.chunks else 0.0

    @property
    def times(self) -> float:
        """How often the text is indexed: 1 without overlap and gaps."""
        return self.characters / self.text if self.text else 0.0

    def sentence(self) -> str:
        """Say it in a line.

        >>> Extent(2, 1, 8, 6, 4, 4, 0).sentence()
        '2 chunks of 4 to 4 characters (mean 4) in 1 document: 1.33 × the text, 0 characters in no chunk'
        """
        sizes = f"{self.least:,} to {self.most:,} characters (mean {self.mean:,.0f})"
        where = f"{counted(self.chunks, 'chunk')} of {sizes} in {counted(self.documents, 'document')}"
        tokens = "" if self.tokens is None else f", {counted(self.tokens, 'token')}"
        return f"{where}: {self.times:.2f} × the text{tokens}, {counted(self.left_out, 'character')} in no chunk"


def extent(chunks: Chunks, documents: Collection, tokens: Boundaries | None = None) -> Extent:
    """Count what a chunking of documents holds; `tokens` are those of all documents, in their order."""
    document, start, end = chunks.rows(documents), chunks.start, chunks.end
    size = end - start
    return Extent(
        chunks=len(chunks),
        documents=len(np.unique(document)),
        characters=int(size.sum()),
        text=int(documents.lengths.sum()),
        least=int(size.min(initial=size.max(initial=0))),
        most=int(size.max(initial=0)),
        left_out=_left_out(documents, union(document, start, end)),
        tokens=None if tokens is None else int(tokens.count(document, start, end).sum()),
    )


def _left_out(documents: Collection, covered: Spans) -> int:
    """Count the characters of documents outside of some spans, white space not counted."""
    whole = covered.total(len(documents))
    open_ = np.flatnonzero(whole < documents.lengths)
    words = boundaries(texts_of(documents, open_), between_blanks)
    row = open_[np.repeat(np.arange(len(open_)), np.diff(words.bounds))]
    inside = covered.covered(row, words.start, words.end)
    return int((words.end - words.start - inside).sum())
