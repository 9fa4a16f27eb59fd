"""Every place of texts in one document, word for word; and where the document says nearly the same.

*Word for word*, many texts are found in one pass over the document. One ``str.find`` per text would read the whole
document for each. Here each text is represented by sixteen of its characters (of several candidates those that the
document has least often), every second of the document's sixteen-grams is hashed once, and only where a hash agrees is
the text itself compared: no hash ever decides.

*Nearly*: seeds of shared k-grams, then the fewest edits in narrow windows. *Similarity* is ``1 − edits / characters of
the chunk``, both in the normal form; edits are insertions, deletions and substitutions. Two facts make the search quick
without losing matches: a k-gram survives unless an edit touches it, so that a text of m characters within e edits of
the document shares at least ``m − k + 1 − k·e`` k-grams with it (the q-gram lemma), and all of these lie on at most
e + 1 neighbouring diagonals. Windows with fewer are never looked at. Only very common k-grams and very many windows are
left out, see the limits below.

The place in a window that is fewest edits away is found by Myers' bit-parallel algorithm: Gene Myers, *A fast
bit-vector algorithm for approximate string matching based on dynamic programming*, Journal of the ACM 46(3), 1999. A
column of the edit-distance table is two integers of as many bits as the pattern is long; Python's integers have any
length, so one short loop over the text serves patterns of any size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.boundaries import code_points
from focuseval.data.spans import spread

Hashes = NDArray[np.uint32]
GRAM = 16
_ODD = (np.uint32(0x9E3779B1), np.uint32(0x85EBCA77), np.uint32(0xC2B2AE3D), np.uint32(0x27D4EB2F))
_MIX = np.uint32(0x2C1B3C6D)
_BITS = 20
_DIRECT = 4_000_000  # up to so many characters of work (texts × document) plain searching is faster than hashing
_COMMON = 2_000  # a k-gram that the document has more often than this says little, and is not used as a seed
_WINDOWS = 64  # so many windows, those with most seeds, are compared at most


def occurrences(document: str, texts: Sequence[str]) -> list[list[int]]:
    """Return the increasing starts of every text in a document, overlapping ones included; none for an empty text.

    >>> occurrences("abcabca", ["abca", "c", "x", ""])
    [[0, 3], [2, 5], [], []]
    """
    if len(texts) * len(document) <= _DIRECT:
        return [find_all(document, text) for text in texts]
    hashed = iter(_hashed(document, [text for text in texts if len(text) > GRAM]))
    return [next(hashed) if len(text) > GRAM else find_all(document, text) for text in texts]


def find_all(document: str, text: str) -> list[int]:
    """Return all starts of one text, by plain search."""
    starts: list[int] = []
    at = document.find(text) if text else -1
    while at >= 0:
        starts.append(at)
        at = document.find(text, at + 1)
    return starts


def gram_hashes(codes: Hashes, size: int = GRAM) -> Hashes:
    """Hash every run of `size` (a power of two) code points along the last axis."""
    hashes = codes * _MIX
    for level in range(size.bit_length() - 1):
        hashes = hashes[..., : -(1 << level)] * _ODD[level] + hashes[..., 1 << level :]
    hashes = hashes ^ (hashes >> np.uint32(15))
    return hashes * _MIX


def even_hashes(codes: Hashes) -> Hashes:
    """Hash the sixteen-grams that begin at even places: every second of `gram_hashes`, for less than half the work."""
    mixed = codes[: len(codes) // 2 * 2] * _MIX
    hashes: Hashes = mixed[::2] * _ODD[0] + mixed[1::2]
    for level, odd in enumerate(_ODD[1:]):
        hashes = hashes[: -(1 << level)] * odd + hashes[1 << level :]
    hashes = hashes ^ (hashes >> np.uint32(15))
    return hashes * _MIX


def _hashed(document: str, texts: list[str]) -> list[list[int]]:
    """Find texts of more than sixteen characters through hashes of the document's grams at even places."""
    found: list[list[int]] = [[] for _ in texts]
    codes, block = code_points(document), 1 << 15  # blocks stay in the processor's cache
    parts = [even_hashes(codes[i : i + block + GRAM - 2]) for i in range(0, max(len(codes) - GRAM + 1, 0), block)]
    if not parts or not texts:
        return found
    hashes = np.concatenate(parts)
    offsets, anchors, rarest = _anchors(texts, hashes)
    column = np.arange(len(texts))
    anchor = anchors[:, rarest, column].ravel()
    wanted, shift = np.zeros(1 << _BITS, np.bool_), np.uint32(32 - _BITS)
    wanted[anchor >> shift] = True
    places = np.flatnonzero(wanted[hashes >> shift])  # few others are among them
    by_hash = np.argsort(anchor, kind="stable")
    first = np.searchsorted(anchor[by_hash], hashes[places], "left")
    count = np.searchsorted(anchor[by_hash], hashes[places], "right") - first
    place, which = np.repeat(places, count), by_hash[spread(first, count)]  # all pairs of equal hashes
    odd, text = np.divmod(which, len(texts))
    start = 2 * place - odd - offsets[rarest, column][text]
    within = (start >= 0) & (start <= len(document) - np.array([len(t) for t in texts])[text])
    start, text = start[within], text[within]
    for other, grams in zip(offsets, anchors.swapaxes(0, 1), strict=True):
        odd = (start + other[text]) % 2
        agree = hashes[(start + other[text] + odd) // 2] == grams[odd, text]
        start, text = start[agree], text[agree]
    for i, at in zip(text.tolist(), start.tolist(), strict=True):
        if document.startswith(texts[i], at):
            found[i].append(at)
    return [sorted(places) for places in found]


def _anchors(texts: list[str], hashes: Hashes) -> tuple[NDArray[np.int64], Hashes, NDArray[np.int64]]:
    """Return three sixteen-grams of each text and which is rarest: offsets, and hashes there and one place further."""
    last = np.array([len(text) - GRAM - 1 for text in texts])
    offsets = np.stack([last // 7, last // 2, last - last // 5])
    grams = "".join(text[o : o + GRAM + 1] for row in offsets.tolist() for text, o in zip(texts, row, strict=True))
    anchors = np.moveaxis(gram_hashes(code_points(grams).reshape(3, len(texts), GRAM + 1)), -1, 0)
    sample = hashes[:: 1 + len(hashes) // (1 << 20)]
    often = np.bincount(sample >> np.uint32(16), minlength=1 << 16)[anchors >> np.uint32(16)].sum(axis=0)
    return offsets, anchors, often.argmin(axis=0)


def distances(pattern: str, text: str, *, anchored: bool = False) -> list[int]:
    """Return, for every end in the text, the edits between the pattern and the best stretch that ends there.

    With `anchored` the stretch must begin where the text does. Entry j speaks of ``text[:j]``.

    >>> distances("abc", "xxabd")
    [3, 3, 3, 2, 1, 1]
    >>> distances("abc", "ab", anchored=True)
    [3, 2, 1]
    """
    size = len(pattern)
    full, top = (1 << size) - 1, (1 << size) >> 1
    equal: dict[str, int] = defaultdict(int)
    for i, character in enumerate(pattern):
        equal[character] |= 1 << i
    plus, minus, score, first = full, 0, size, int(anchored)
    scores = [score]
    for character in text:
        same = equal.get(character, 0)
        vertical = same | minus
        horizontal = (((same & plus) + plus) ^ plus) | same
        up = minus | (~(horizontal | plus) & full)
        down = plus & horizontal
        score += bool(up & top) - bool(down & top)
        scores.append(score)
        up = (up << 1) | first
        down <<= 1
        plus = (down | ~(vertical | up)) & full
        minus = up & vertical & full
    return scores


def nearest_stretches(pattern: str, text: str, allowed: int) -> tuple[int, list[tuple[int, int]]]:
    """Return the fewest edits, and every stretch of a text that needs no more; none when it takes more than `allowed`.

    Ends within that many edits of each other belong to one stretch: cutting a wrong last character off costs as
    much as keeping it. The longer reading is taken, and the beginning that makes it most nearly as long as the pattern.

    >>> nearest_stretches("similar", "a simylar, simylar text", 2)
    (1, [(2, 9), (11, 18)])
    """
    scores = distances(pattern, text)
    edits = min(scores)
    if edits > allowed:
        return edits, []
    ends = [end for end, score in enumerate(scores) if score == edits]
    lasts = [end for end, following in pairwise([*ends, len(text) + edits + 1]) if following - end > edits]
    stretches = []
    for end in lasts:
        back = distances(pattern[::-1], text[max(0, end - len(pattern) - edits) : end][::-1], anchored=True)
        lengths = [length for length, score in enumerate(back) if score == edits]
        stretches.append((end - min(lengths, key=lambda length: (abs(length - len(pattern)), length)), end))
    return edits, stretches


class Near(NamedTuple):
    """A stretch of a document and its similarity to a chunk."""

    start: int
    end: int
    similarity: float


class Grams:
    """The k-grams of one document, sorted, for texts that are nowhere in it as they stand."""

    def __init__(self, document: str) -> None:
        self.document = document
        self._tables: dict[int, tuple[NDArray[np.uint32], NDArray[np.int64]]] = {}

    def hits(self, text: str, size: int) -> tuple[NDArray[np.int64], int]:
        """Return the sorted diagonals (document − text) of shared k-grams, and how many grams were too common."""
        if size not in self._tables:  # the hashes of all k-grams in increasing order, and where each stands
            codes = code_points(self.document)
            every = gram_hashes(codes, size) if len(codes) >= size else np.zeros(0, np.uint32)
            order = np.argsort(every, kind="stable")
            self._tables[size] = every[order], order
        hashes, position = self._tables[size]
        grams = gram_hashes(code_points(text), size)
        first = np.searchsorted(hashes, grams, "left")
        count = np.searchsorted(hashes, grams, "right") - first
        common = count > _COMMON
        count = np.where(common, 0, count)
        diagonals = position[spread(first, count)] - np.repeat(np.arange(len(grams)), count)
        return np.sort(diagonals), int(common.sum())


def near_places(grams: Grams, text: str, similarity: float) -> list[Near]:
    """Return the stretches of a document that are nearest to a text, all equally near; none below `similarity`.

    >>> near_places(Grams("the cat sat on the mat, the dog sat on it"), "the cat sat an the mat", 0.9)
    [Near(start=0, end=22, similarity=0.9545454545454546)]
    """
    allowed = int((1 - similarity) * len(text) + 1e-9)
    if not allowed:
        return []
    found: dict[tuple[int, int], int] = {}
    for frm, to in _windows(grams, text, allowed):
        edits, stretches = nearest_stretches(text, grams.document[frm:to], allowed)
        found |= {(frm + start, frm + end): edits for start, end in stretches}
    fewest = min(found.values(), default=0)
    best = sorted(span for span, edits in found.items() if edits == fewest)
    return [Near(start, end, 1 - fewest / len(text)) for start, end in _apart(best, fewest)]


def _windows(grams: Grams, text: str, allowed: int) -> list[tuple[int, int]]:
    """Return windows of the document that share enough k-grams with a text to be within the allowed edits."""
    longest = (len(text) - allowed - 1) // (allowed + 1) + 1
    size = 8 if longest >= 8 else 4 if longest >= 4 else 2
    if len(text) < size:
        return []
    diagonals, common = grams.hits(text, size)
    least = max(1, len(text) - size + 1 - size * allowed - common)
    shared = np.searchsorted(diagonals, diagonals + allowed, "right") - np.arange(len(diagonals))
    rich = np.flatnonzero(shared >= least)
    if not len(rich):
        return []
    cut = np.flatnonzero(np.diff(diagonals[rich]) > allowed + 1) + 1
    groups = [(int(shared[g].max()), int(diagonals[g[0]]), int(diagonals[g[-1]])) for g in np.split(rich, cut)]
    groups = sorted(groups, key=lambda group: (-group[0], group[1]))[:_WINDOWS]
    margin = 2 * allowed + 1
    return [(max(0, low - margin), high + len(text) + margin) for _, low, high in groups]


def _apart(spans: list[tuple[int, int]], edits: int) -> list[tuple[int, int]]:
    """Keep of spans that start within `edits` of each other the first: they are one place, seen twice."""
    kept: list[tuple[int, int]] = []
    for span in spans:
        if not kept or span[0] - kept[-1][0] > edits:
            kept.append(span)
    return kept
