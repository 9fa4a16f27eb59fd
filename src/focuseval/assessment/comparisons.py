"""Every two judgements of one text, compared document by document: the sums from which all agreement follows.

A row stands for two assessors and one document that both finished, and holds what adds up over documents: verdicts,
highlighted characters, and the moments of the specificity of the document's elements. Moments are taken around the
document's own mean, so that adding them up loses no digits.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data import highlights as spans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from focuseval.assessment.store import Saved
    from focuseval.collection.rendering import Document, Extents

    Floats = NDArray[np.float64]


_SIDES = ("relevant", "size", "mean", "square", "least", "most")
"""What is known of either side: the verdict, characters, and of the specificity mean, sum of squares and range."""
ROW = np.dtype(
    [(name, np.int64) for name in ("left", "right")]
    + [(name, np.float64) for name in ("common", "distance", "elements", "product")]
    + [(f"{side}_{name}", np.float64) for side in ("left", "right") for name in _SIDES]
)


def extents_of(page: Document) -> Extents:
    """Return where the elements with text of a document are."""
    elements = [element for element in page.elements if element.start < element.end]
    start, end = np.array([(element.start, element.end) for element in elements], np.int64).reshape(-1, 2).T
    return page.sha256, start, end


def compare_sides(sides: Sequence[Saved], places: Sequence[int], extents: Callable[[str], Extents]) -> NDArray[np.void]:
    """Return a row for every two of the judgements of one document that are of the same text.

    Parameters
    ----------
    sides, places
        Finished judgements of one document, and the number of each assessor, which the rows carry.
    extents
        What gives the elements of a document. Of a text that is another one now, no element is compared.
    """
    texts: dict[str, list[int]] = {}
    for k, saved in enumerate(sides):
        texts.setdefault(saved.text_sha256, []).append(k)
    parts = [_compared([sides[k] for k in same], extents) for same in texts.values() if len(same) > 1]
    numbers = [np.array([places[k] for k in same]) for same in texts.values() if len(same) > 1]
    for part, number in zip(parts, numbers, strict=True):
        part["left"], part["right"] = number[part["left"]], number[part["right"]]
    return joined(parts)


def joined(parts: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """Return the rows of several lists as one; as bytes, since NumPy compares the fields of every two lists first."""
    return np.concatenate([np.zeros(0, np.uint8), *(part.view(np.uint8) for part in parts)]).view(ROW)


def _compared(sides: Sequence[Saved], extents: Callable[[str], Extents]) -> NDArray[np.void]:
    """Compare judgements of one text, each with each."""
    left, right = _pairs(len(sides))
    found = np.zeros(len(left), ROW)
    found["left"], found["right"] = left, right
    found["common"], found["distance"] = 0.0, np.nan
    relevant = [k for k, saved in enumerate(sides) if saved.judgement.highlights]
    known, products, found["elements"] = _specificity(sides, relevant, extents)
    for name, values in zip(_SIDES, known, strict=True):
        found[f"left_{name}"], found[f"right_{name}"] = values[left], values[right]
    found["product"] = products[left, right]
    marked = set(relevant)
    for row, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if a in marked and b in marked:
            one, other = sides[a].judgement, sides[b].judgement
            found["common"][row] = spans.size(spans.intersect(one.highlights, other.highlights))
            found["distance"][row] = abs((one.entry_point or 0) - (other.entry_point or 0))
    return found


def _specificity(
    sides: Sequence[Saved], relevant: list[int], extents: Callable[[str], Extents]
) -> tuple[Floats, Floats, int]:
    """Return what is known of each side, the sums of products of every two, and the number of elements."""
    sha256, start, end = extents(sides[0].key.document)
    if sha256 != sides[0].text_sha256:
        start = end = start[:0]
    known, products = np.zeros((len(_SIDES), len(sides))), np.zeros((len(sides), len(sides)))
    known[1] = [spans.size(saved.judgement.highlights) for saved in sides]
    known[0] = known[1] > 0
    known[4:] = 0.0 if len(start) else np.array([[np.inf], [-np.inf]])
    if len(start) and relevant:
        shares = np.stack([_covered(sides[k].judgement.highlights, start, end) for k in relevant]) / (end - start)
        mean = shares.mean(axis=1)
        around = shares - mean[:, None]
        both = around @ around.T
        products[np.ix_(relevant, relevant)] = both
        known[2:, relevant] = [mean, np.diagonal(both), shares.min(axis=1), shares.max(axis=1)]
    return known, products, len(start)


def _covered(highlights: spans.Spans, start: NDArray[np.int64], end: NDArray[np.int64]) -> Floats:
    """Return how many highlighted characters each element has."""
    edges = np.array(highlights, np.float64).ravel()
    sizes = np.zeros(len(edges))
    sizes[1::2] = edges[1::2] - edges[::2]
    sums = np.cumsum(sizes)
    return np.interp(end, edges, sums) - np.interp(start, edges, sums)


@cache
def _pairs(number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    left, right = np.triu_indices(number, 1)
    return left, right
