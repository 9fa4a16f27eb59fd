"""Agreement at four levels: characters, elements, documents, entry points; for every pair of assessors.

Only what both finished counts, and only where both read the same text. Characters are compared where at least one of
the two found something relevant. The specificity of elements is compared over all elements with text of the judged
documents: what neither touched is part of what they agree on, and leaving it out would make good agreement look bad.

Judgements are compared document by document. A row of type `ROW` stands for two assessors and one document that both
finished, and holds what adds up over documents: verdicts, highlighted characters, and the moments of the specificity of
the document's elements. Moments are taken around the document's own mean, so that adding them up loses no digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.assessment.plan import Unit, machines
from focuseval.assessment.store import ADJUDICATED, Saved, Store
from focuseval.collection.rendering import Extents
from focuseval.data import highlights as spans
from focuseval.inference import agreement as inference

Floats = NDArray[np.float64]
_SIDES = ("relevant", "size", "mean", "square", "least", "most")
"""What is known of either side: the verdict, characters, and of the specificity mean, sum of squares and range."""
ROW = np.dtype(
    [(name, np.int64) for name in ("left", "right")]
    + [(name, np.float64) for name in ("common", "distance", "elements", "product")]
    + [(f"{side}_{name}", np.float64) for side in ("left", "right") for name in _SIDES]
)
Finished = dict[str, dict[Unit, Saved]]  # assessor → (topic, document) → the finished judgement
_NAN = float("nan")
_LABELS = np.array([0.0, 1.0])
_ADDED = ("left_relevant", "right_relevant", "both_relevant", "common", "left_size", "right_size")


def compare_sides(sides: Sequence[Saved], places: Sequence[int], extents: Callable[[str], Extents]) -> NDArray[np.void]:
    """Return a row for every two finished judgements of one document, by numbered assessors, of the same text."""
    texts: dict[str, list[int]] = {}
    for k, saved in enumerate(sides):
        texts.setdefault(saved.text_sha256, []).append(k)
    parts = []
    for same in texts.values():
        if len(same) == 1:
            continue
        here, number = [sides[k] for k in same], np.array([places[k] for k in same])
        left, right = np.triu_indices(len(same), 1)
        rows = np.zeros(len(left), ROW)
        rows["left"], rows["right"], rows["distance"] = number[left], number[right], np.nan
        relevant = [k for k, saved in enumerate(here) if saved.judgement.highlights]
        known, products, rows["elements"] = _specificity(here, relevant, extents)
        for name, values in zip(_SIDES, known, strict=True):
            rows[f"left_{name}"], rows[f"right_{name}"] = values[left], values[right]
        rows["product"] = products[left, right]
        marked = set(relevant)
        for row, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            if a in marked and b in marked:
                one, other = here[a].judgement, here[b].judgement
                rows["common"][row] = spans.size(spans.intersect(one.highlights, other.highlights))
                rows["distance"][row] = abs((one.entry_point or 0) - (other.entry_point or 0))
        parts.append(rows)
    return joined(parts)


def joined(parts: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """Return the rows of several lists as one; as bytes, since NumPy compares the fields of every two lists first."""
    return np.concatenate([np.zeros(0, np.uint8), *(part.view(np.uint8) for part in parts)]).view(ROW)


def _specificity(
    sides: Sequence[Saved], relevant: list[int], extents: Callable[[str], Extents]
) -> tuple[Floats, Floats, int]:
    """Return what is known of each side, the sums of products of every two, and the number of elements."""
    sha256, start, end = extents(sides[0].key.document)
    if sha256 != sides[0].text_sha256:  # of a text that is another one now, no element is compared
        start = end = start[:0]
    known, products = np.zeros((len(_SIDES), len(sides))), np.zeros((len(sides), len(sides)))
    known[1] = [spans.size(saved.judgement.highlights) for saved in sides]
    known[0] = [saved.judgement.found for saved in sides]
    known[4:] = 0.0 if len(start) else np.array([[np.inf], [-np.inf]])
    if len(start) and relevant:
        covered = []
        for k in relevant:  # how many highlighted characters each element has
            edges = np.array(sides[k].judgement.highlights, np.float64).ravel()
            sizes = np.zeros(len(edges))
            sizes[1::2] = edges[1::2] - edges[::2]
            sums = np.cumsum(sizes)
            covered.append(np.interp(end, edges, sums) - np.interp(start, edges, sums))
        shares = np.stack(covered) / (end - start)
        mean = shares.mean(axis=1)
        around = shares - mean[:, None]
        both = around @ around.T
        products[np.ix_(relevant, relevant)] = both
        known[2:, relevant] = [mean, np.diagonal(both), shares.min(axis=1), shares.max(axis=1)]
    return known, products, len(start)


@dataclass(frozen=True)
class Agreement:
    """How far two assessors agree; NaN where nothing can be said."""

    left: str
    right: str
    documents: int = 0  # documents that both finished
    kappa: float = _NAN
    jaccard: float = _NAN
    f: float = _NAN
    elements: int = 0  # elements with text of the documents that both finished
    specificity: float = _NAN  # correlation of the elements' specificity
    entry_points: int = 0  # documents that both found relevant
    distance: float = _NAN  # median distance of the entry points, in characters
    relevant: tuple[int, int] = (0, 0)  # documents that each found relevant, of those that both finished
    highlighted: tuple[int, int] = (0, 0)  # characters that each highlighted there
    common: int = 0  # characters that both did
    intervals: Mapping[str, inference.Interval] = field(default_factory=dict)
    """Where they were asked for: 95 % intervals of fields and properties, by name; NaN of too few topics."""

    @property
    def ratio(self) -> float:
        """How much the right one highlights for every character of the left one."""
        left, right = self.highlighted
        return right / left if left else float("nan")

    @property
    def precision(self) -> float:
        """The share of the right one's text that is the left one's, too."""
        return self.common / self.highlighted[1] if self.highlighted[1] else float("nan")

    @property
    def recall(self) -> float:
        """The share of the left one's text that the right one highlights, too."""
        return self.common / self.highlighted[0] if self.highlighted[0] else float("nan")


def finished(store: Store, *, by_people: bool = False) -> Finished:
    """Return the finished judgements of everyone, or of people alone; the adjudication is nobody's."""
    found: Finished = {}
    apart = {ADJUDICATED, *(machines(store) if by_people else ())}
    for saved in store.judgements():
        key = saved.key
        if saved.judgement.finished and key.assessor not in apart:
            found.setdefault(key.assessor, {})[key.topic, key.document] = saved
    return found


def agreements(found: Finished, extents: Callable[[str], Extents], *, resamples: int = 0) -> list[Agreement]:
    """Return the agreement of every two who finished documents in common; with intervals where there are resamples."""
    places, names, extents = {name: place for place, name in enumerate(found)}, list(found), cache(extents)
    parts, topics, pairs = list[NDArray[np.void]](), list[str](), set[tuple[int, int]]()
    for (topic, _), sides in sorted(by_unit(found).items()):
        numbers = [places[saved.key.assessor] for saved in sides]
        pairs.update(combinations(numbers, 2))
        if len(sides) > 1:
            parts.append(compare_sides(sides, numbers, extents))
            topics.append(topic)
    known = {(pair.left, pair.right): pair for pair in summed(parts, names, topics, resamples=resamples)}
    wanted = [(names[left], names[right]) for left, right in sorted(pairs)]
    return [known.get(pair) or Agreement(*pair) for pair in wanted]


def by_unit(found: Finished) -> dict[Unit, list[Saved]]:
    """Return (topic, document) → what everybody says of it."""
    units: dict[Unit, list[Saved]] = {}
    for judged in found.values():
        for unit, saved in judged.items():
            units.setdefault(unit, []).append(saved)
    return units


def alpha(found: Finished) -> float:
    """Return Krippendorff's α of all assessors: relevant or not, document by document."""
    return alpha_of([[saved.judgement.found for saved in sides] for sides in by_unit(found).values()])


def alpha_of(verdicts: Iterable[Sequence[bool]]) -> float:
    """Return Krippendorff's α from the verdicts on each document."""
    return float(inference.alpha_of_sums(_coincidences(verdicts).sum(axis=0), _LABELS))


def alpha_interval(found: Finished, resamples: int) -> inference.Interval:
    """Return the 95 % interval of α, NaN where documents of too few topics were judged by two or more."""
    units = {unit: sides for unit, sides in by_unit(found).items() if len(sides) > 1}
    if not units:
        return _NAN, _NAN
    pairs = _coincidences([[saved.judgement.found for saved in sides] for sides in units.values()])
    topics, topic = np.unique([topic for topic, _ in units], return_inverse=True)
    sums = [drawn @ pairs.reshape(-1, 4) for drawn in inference.drawn_documents(topic, resamples)]
    return inference.middle_of(inference.alpha_of_sums(np.concatenate(sums).reshape(-1, 2, 2), _LABELS), len(topics))


def _coincidences(verdicts: Iterable[Sequence[bool]]) -> Floats:
    """Return the pairs of verdicts on each document that two or more judged."""
    relevant = [(len(each) - sum(each), sum(each)) for each in verdicts if len(each) > 1]
    return inference.coincidences(np.array(relevant, np.float64).reshape(-1, 2))


def summed(
    parts: Sequence[NDArray[np.void]], names: Sequence[str], topics: Sequence[str] = (), *, resamples: int = 0
) -> Iterator[Agreement]:
    """Yield the agreement of every two assessors whom comparisons of documents, of some topics, name by numbers."""
    rows = joined(parts)
    pair = rows["left"] * len(names) + rows["right"]
    order = np.argsort(pair, kind="stable")
    rows, pair = rows[order], pair[order]
    topic = np.repeat(np.unique(topics, return_inverse=True)[1], list(map(len, parts)))[order] if resamples else order
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    if not len(first):
        return
    elements, documents = _moments(rows, first), np.diff(first, append=len(rows))
    both = rows["left_relevant"] * rows["right_relevant"]  # document by document, what adds up
    columns = np.stack([both if name == "both_relevant" else rows[name] for name in _ADDED])
    added = dict(zip(_ADDED, np.add.reduceat(columns, first, axis=1), strict=True))
    sums = np.add.reduceat(elements, first, axis=1)
    left, right, alike = (added[name] / documents for name in _ADDED[:3])
    jaccard, f = inference.overlap_of_sums(added["common"], added["left_size"] + added["right_size"])
    levels = {
        "kappa": inference.beyond_chance(1 - left - right + 2 * alike, left * right + (1 - left) * (1 - right)),
        "jaccard": jaccard,
        "f": f,
        "elements": sums[0].astype(np.int64),
        "specificity": inference.correlation_of_moments(sums),
    }
    for k, (begin, end) in enumerate(zip(first.tolist(), [*first[1:].tolist(), len(rows)], strict=True)):
        part, distances = slice(begin, end), rows["distance"][begin:end]
        known = np.sort(distances[~np.isnan(distances)])
        drawn = columns[:, part], elements[:, part], distances, topic[part]
        yield Agreement(
            names[rows["left"][begin]],
            names[rows["right"][begin]],
            **{name: values[k].item() for name, values in levels.items()},
            documents=end - begin,
            entry_points=len(known),
            distance=float(known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2 if len(known) else _NAN,
            relevant=(int(added["left_relevant"][k]), int(added["right_relevant"][k])),
            highlighted=(int(added["left_size"][k]), int(added["right_size"][k])),
            common=int(added["common"][k]),
            intervals=inference.intervals(*drawn, resamples) if resamples else {},
        )


def _moments(rows: NDArray[np.void], first: NDArray[np.int64]) -> Floats:
    """Return the six moments of every row, of values around their pair's mean and over a range of one."""
    number, around, squares, ranges = rows["elements"], [], [], []
    sizes = np.diff(first, append=len(rows))
    total = np.maximum(np.add.reduceat(number, first), 1)  # documents of changed texts have no elements
    for side in ("left", "right"):
        mean = rows[f"{side}_mean"]
        shift = mean - np.repeat(np.add.reduceat(number * mean, first) / total, sizes)
        widths = np.maximum.reduceat(rows[f"{side}_most"], first) - np.minimum.reduceat(rows[f"{side}_least"], first)
        reach = np.repeat(np.where(widths > 0, widths, 1.0), sizes)  # what never varies has no correlation
        around.append(number * shift / reach)
        squares.append((rows[f"{side}_square"] + number * shift**2) / reach**2)
        ranges.append((shift, reach))
    (x, wide), (y, high) = ranges
    return np.stack([number, *around, *squares, (rows["product"] + number * x * y) / wide / high])


def without_nan(value: Any) -> Any:
    """Return plain values for JSON: what is not a number, or not finite, is None."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value
