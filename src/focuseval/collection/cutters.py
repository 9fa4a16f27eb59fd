"""Ways to cut a text that follow what it says: its headings, its blank lines and blanks, or where its subject changes.

::

    headings:2       Markdown: a new chunk at every heading of the first or second level
    recursive:400    at empty lines, else lines, else blanks, else anywhere: as much as fits into 400 characters
    semantic:95      before a sentence that is farther from the one before it than 95 % of the document's sentences are

White space at the ends of a chunk belongs to none.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.boundaries import moved_left, sentences, trimmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Spans = list[tuple[int, int]]
    Embed = Callable[[Sequence[str]], NDArray[np.float32]]

_LINE = re.compile(r"(?m)^ {0,3}(?:(`{3,}|~{3,})|(#{1,6})(?:[ \t]|$)|(=+|-+)[ \t]*$)|^[^\n]*$")
SEPARATORS = ("\n\n", "\n", " ")


def headings(text: str, level: int) -> Spans:
    r"""Return the sections of a Markdown text, each from a heading of this level or above to the next.

    A heading begins with ``#``, or is underlined by ``=`` or ``-``; in a fenced block there is none.

    >>> text = "Intro\n# A\none\n### B\ntwo\nC\n---\nthree"
    >>> [text[a:b] for a, b in headings(text, 2)]
    ['Intro', '# A\none\n### B\ntwo', 'C\n---\nthree']
    """
    edges, fence, before = [0], "", 0
    for line in _LINE.finditer(text):
        mark, hashes, rule = line.groups()
        if mark and not fence:
            fence = mark
        elif fence:
            closes = mark and mark[0] == fence[0] and len(mark) >= len(fence)
            fence = "" if closes else fence
        elif hashes and len(hashes) <= level:
            edges.append(line.start())
        elif rule and text[before : line.start()].strip() and (1 if rule[0] == "=" else 2) <= level:
            edges.append(before)
        before = line.start()
    return trimmed(text, pairwise([*sorted(set(edges)), len(text)]))


def recursive(text: str, size: int) -> Spans:
    r"""Return as much of a text as fits into so many characters, cut at the coarsest separator that makes pieces fit.

    >>> text = "One two.\n\nThree four five six.\nSeven."
    >>> [text[a:b] for a, b in recursive(text, 12)]
    ['One two.', 'Three four', 'five six.', 'Seven.']
    """
    return trimmed(text, _fitting(text, 0, len(text), size, SEPARATORS))


def _fitting(text: str, start: int, end: int, size: int, separators: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pieces of a span that fit, neighbours together as long as they do."""
    if len(text[start:end].strip()) <= size:
        yield start, end
        return
    if not separators:
        edges = moved_left(text, np.arange(start, end, size)).tolist()
        yield from pairwise([*dict.fromkeys(edges), end])
        return
    first, *rest = separators
    cuts = [found.end() for found in re.finditer(re.escape(first), text[start:end])]
    begin = upto = start
    for low, high in pairwise([start, *(start + cut for cut in cuts if start + cut < end), end]):
        if len(text[begin:high].strip()) <= size:
            upto = high
            continue
        if upto > begin:
            yield begin, upto
        begin = upto = low
        if len(text[low:high].strip()) <= size:
            upto = high
            continue
        yield from _fitting(text, low, high, size, rest)
        begin = upto = high
    if upto > begin:
        yield begin, upto


def semantic(texts: Sequence[str], percent: int, embed: Embed) -> list[Spans]:
    """Return the chunks of every text: sentences that follow each other, as long as their vectors stay near."""
    cut = [sentences(text) for text in texts]
    flat = [text[a:b] for text, (start, end) in zip(texts, cut, strict=True) for a, b in zip(start, end, strict=True)]
    vectors = np.asarray(embed(flat), np.float64) if flat else np.zeros((0, 1))
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    found, at = [], 0
    for start, end in cut:
        own = vectors[at : at + len(start)]
        at += len(start)
        far = 1 - np.einsum("ij,ij->i", own[1:], own[:-1])
        breaks = np.flatnonzero(far > np.percentile(far, percent)) + 1 if len(far) else np.zeros(0, np.int64)
        edges = [0, *breaks.tolist(), len(start)] if len(start) else [0]
        found.append([(int(start[a]), int(end[b - 1])) for a, b in pairwise(edges)])
    return found
