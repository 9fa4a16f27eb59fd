"""Two ways of cutting the example's articles into chunks, as a RAG system would, and a ranking of the chunks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from embedded.rank import Unit, bm25, words
from focuseval.collection.chunks import cuts, parse_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.collection.index import Index


def paragraphs(text: str, least: int = 120) -> Iterator[tuple[int, int]]:
    r"""Cut at the ends of lines, and join what is short to what follows it.

    >>> list(paragraphs("A title\nand its text, which is longer\nanother\n", least=12))
    [(0, 38), (38, 46)]
    """
    start = end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if end - start >= least:
            yield start, end
            start = end
    if start < end:
        yield start, end


WINDOWS = parse_spec("characters:400/300")
"""Chunks that are cut whatever stands there; neighbours overlap."""


def chunk_units(index: Index, cut: str) -> list[Unit]:
    """Return the chunks of all articles, as ``windows`` or ``paragraphs``."""
    found = []
    ids, texts = index.ids.to_pylist(), [index.text(row) for row in range(len(index))]
    for row, start, end in _windows(index) if cut == "windows" else _paragraphs(texts):
        counted = Counter(words(texts[row][start:end]))
        if counted:
            found.append(Unit(row, ids[row], "", cut, start, end, counted))
    return found


def _windows(index: Index) -> Iterator[tuple[int, int, int]]:
    return zip(*(column.tolist() for column in cuts(index, WINDOWS)), strict=True)


def _paragraphs(texts: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    return ((row, start, end) for row, text in enumerate(texts) for start, end in paragraphs(text))


def rank_chunks(query: str, chunks: Sequence[Unit], most: int = 10) -> list[tuple[Unit, float]]:
    """Return the best chunks for a query, best first, with rounded scores."""
    scored = [(unit, round(score, 4)) for unit, score in zip(chunks, bm25(words(query), chunks), strict=True)]
    return sorted((pair for pair in scored if pair[1] > 0), key=lambda pair: -pair[1])[:most]
