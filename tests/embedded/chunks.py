"""Two ways of cutting the example's articles into chunks, as a RAG system would, and a ranking of the chunks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from embedded.rank import Unit, bm25, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from focuseval.collection import Index


def windows(text: str, size: int = 400, step: int = 300) -> Iterator[tuple[int, int]]:
    """Cut every `step` characters, whatever stands there; neighbours overlap.

    >>> list(windows("x" * 10, size=6, step=4))
    [(0, 6), (4, 10)]
    """
    for start in range(0, max(1, len(text) - (size - step)), step):
        yield start, min(start + size, len(text))


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


_CUTS: dict[str, Callable[[str], Iterator[tuple[int, int]]]] = {"windows": windows, "paragraphs": paragraphs}


def chunk_units(index: Index, cut: str) -> list[Unit]:
    """Return the chunks of all articles, as `windows` or `paragraphs` cut them."""
    split = _CUTS[cut]
    found = []
    for row, document in enumerate(index.ids.to_pylist()):
        text = index.text(row)
        for start, end in split(text):
            counted = Counter(words(text[start:end]))
            if counted:
                found.append(Unit(row, document, "", cut, start, end, counted))
    return found


def rank_chunks(query: str, chunks: Sequence[Unit], most: int = 10) -> list[tuple[Unit, float]]:
    """Return the best chunks for a query, best first, with rounded scores."""
    scored = [(unit, round(score, 4)) for unit, score in zip(chunks, bm25(words(query), chunks), strict=True)]
    return sorted((pair for pair in scored if pair[1] > 0), key=lambda pair: -pair[1])[:most]
