"""Every place of many texts in one document, in one pass over the document.

One ``str.find`` per text would read the whole document for each. Here each text is represented by sixteen of its
characters (of several candidates those that the document has least often), every second of the document's sixteen-grams
is hashed once, and only where a hash agrees is the text itself compared: no hash ever decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.boundaries import code_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

GRAM = 16
_ODD = (np.uint32(0x9E3779B1), np.uint32(0x85EBCA77), np.uint32(0xC2B2AE3D), np.uint32(0x27D4EB2F))
_MIX = np.uint32(0x2C1B3C6D)
_BITS = 20
_DIRECT = 4_000_000
"""Up to so many characters of work (texts × document) plain searching is faster than hashing."""


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


def gram_hashes(codes: NDArray[np.uint32], size: int = GRAM) -> NDArray[np.uint32]:
    """Hash every run of `size` (a power of two) code points along the last axis."""
    hashes = codes * _MIX
    step, level = 1, 0
    while step < size:
        hashes = hashes[..., :-step] * _ODD[level] + hashes[..., step:]
        step, level = step * 2, level + 1
    hashes = hashes ^ (hashes >> np.uint32(15))
    return hashes * _MIX


def even_hashes(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Hash the sixteen-grams that begin at even places: every second of `gram_hashes`, for less than half the work."""
    mixed = codes[: len(codes) // 2 * 2] * _MIX
    hashes: NDArray[np.uint32] = mixed[::2] * _ODD[0] + mixed[1::2]
    step = 1
    for odd in _ODD[1:]:
        hashes = hashes[:-step] * odd + hashes[step:]
        step *= 2
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
    place, which = _same(hashes, anchors[:, rarest, column].ravel())
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


def _same(hashes: NDArray[np.uint32], anchor: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of a document's position and a text whose hashes are equal, by position."""
    wanted = np.zeros(1 << _BITS, np.bool_)
    shift = np.uint32(32 - _BITS)
    wanted[anchor >> shift] = True
    places = np.flatnonzero(wanted[hashes >> shift])
    order = np.argsort(anchor, kind="stable")
    first = np.searchsorted(anchor[order], hashes[places], "left")
    count = np.searchsorted(anchor[order], hashes[places], "right") - first
    row = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
    return np.repeat(places, count), order[row]


def _anchors(
    texts: list[str], hashes: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    """Return three sixteen-grams of each text and which is rarest: offsets, and hashes there and one place further."""
    last = np.array([len(text) - GRAM - 1 for text in texts])
    offsets = np.stack([last // 7, last // 2, last - last // 5])
    grams = "".join(text[o : o + GRAM + 1] for row in offsets.tolist() for text, o in zip(texts, row, strict=True))
    anchors = np.moveaxis(gram_hashes(code_points(grams).reshape(3, len(texts), GRAM + 1)), -1, 0)
    sample = hashes[:: 1 + len(hashes) // (1 << 20)]
    often = np.bincount(sample >> np.uint32(16), minlength=1 << 16)[anchors >> np.uint32(16)].sum(axis=0)
    return offsets, anchors, often.argmin(axis=0)
