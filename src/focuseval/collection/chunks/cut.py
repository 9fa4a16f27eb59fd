"""Cut documents into chunks: one function for every way of cutting, and everything that retrieves or scores uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.collection.chunks.boundaries import Boundaries, boundaries, joined, texts_of, windows
from focuseval.collection.chunks.columns import Chunks
from focuseval.collection.chunks.graphemes import moved_left
from focuseval.collection.chunks.sentences import sentences
from focuseval.collection.chunks.words import cut_block
from focuseval.errors import CollectionError, UsageError, did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.chunks.spec import Spec
    from focuseval.collection.index import Index
    from focuseval.collection.tokens import Tokenizer

    Integers = NDArray[np.int64]
    Cuts = tuple[Integers, Integers, Integers]


def as_chunks(index: Index, found: Cuts, name: str) -> Chunks:
    """Return documents' rows and spans as chunks; empty ones are left out."""
    kept = found[2] > found[1]
    document, start, end = (column[kept].astype(np.int64) for column in found)
    ids = pa.DictionaryArray.from_arrays(pa.array(document, pa.int32()), index.ids)
    return Chunks(ids, start, end, name)


def cuts(index: Index, spec: Spec, tokenizer: str | Tokenizer | None = None) -> Cuts:
    """Return the row of its document, the start and the end of every chunk."""
    if spec.kind == "characters":
        return _characters(index, spec.size, spec.step)
    if spec.kind == "elements":
        return _elements(index, spec.names)
    pieces = word_boundaries(index) if spec.kind == "words" else _pieces(index, spec.kind, tokenizer)
    return pieces.windows(spec.size, spec.step)


def word_boundaries(index: Index) -> Boundaries:
    """Return all words of a collection, as they are counted in passages of ``retrieve``."""
    found = [cut_block(index.blocks[number]) for number in range(len(index.blocks))]
    return joined(
        (cut.start[low:high].astype(np.int64), cut.end[low:high].astype(np.int64))
        for cut in found
        for low, high in zip(cut.bounds[:-1].tolist(), cut.bounds[1:].tolist(), strict=True)
    )


def _pieces(index: Index, kind: str, tokenizer: str | Tokenizer | None) -> Boundaries:
    if kind == "sentences":
        return boundaries(texts_of(index), sentences)
    if tokenizer is None:
        what = "expected a tokenizer for chunks of tokens, found none"
        raise UsageError(f"{what}; give --tokenizer tiktoken:cl100k_base or --tokenizer tokenizers:FILE")
    from focuseval.collection.tokens import open_tokenizer  # noqa: PLC0415  only tokens need it

    spans = open_tokenizer(tokenizer).spans
    return boundaries(texts_of(index), lambda text: _disjoint(*spans(text)))


def _disjoint(start: Integers, end: Integers) -> tuple[Integers, Integers]:
    """Give a character that several tokens make up to the first of them, so that no two chunks share it."""
    return np.append(start[:1], np.maximum(start[1:], end[:-1])), end


def _characters(index: Index, size: int, step: int) -> Cuts:
    """Cut every so many code points; an edge inside of what is seen as one character moves before it."""
    document, start, end = windows(index.lengths, size, step)
    bounds = np.searchsorted(document, np.arange(len(index) + 1))
    for row, text in enumerate(texts_of(index)):
        here = slice(int(bounds[row]), int(bounds[row + 1]))
        start[here], end[here] = moved_left(text, start[here]), moved_left(text, end[here])
    return document, start, end


def _elements(index: Index, tags: tuple[str, ...]) -> Cuts:
    """Return every element of some tags, nested ones included."""
    seen = {tag for number in range(len(index.blocks)) for tag in index.blocks[number].tags}
    for tag in tags:
        if tag not in seen:
            remedy = did_you_mean(tag, seen, f"there are {', '.join(sorted(seen)[:10])}")
            raise CollectionError(f"expected a tag of the collection, found {tag!r}", at=index.name, remedy=remedy)
    parts = []
    for number in range(len(index.blocks)):
        block = index.blocks[number]
        own = slice(int(block.element_bounds[0]), int(block.element_bounds[-1]))
        wanted = np.flatnonzero(np.array([tag in tags for tag in block.tags])[block.element("tag")[own]])
        document = np.repeat(np.arange(len(block)), np.diff(block.element_bounds)) + index.first[number]
        columns = (block.element(name)[own] for name in ("start", "end"))
        parts.append((document[wanted], *(column[wanted].astype(np.int64) for column in columns)))
    document, start, end = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return document, start, end
