"""Agreement at four levels: characters, elements, documents, entry points; for every pair of assessors.

Only what both finished counts, and only where both read the same text. Characters are compared where at least one of
the two found something relevant. The specificity of elements is compared over all elements with text of the judged
documents: what neither touched is part of what they agree on, and leaving it out would make good agreement look bad.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from focuseval.assessment.comparisons import compare_sides, joined
from focuseval.assessment.store import ADJUDICATED
from focuseval.inference.agreement import (
    alpha_of_counts,
    beyond_chance,
    correlation_of_moments,
    intervals,
    overlap_of_sums,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.assessment.store import Saved, Store
    from focuseval.collection.rendering.documents import Extents
    from focuseval.inference.agreement import Interval

    Floats = NDArray[np.float64]

Unit = tuple[str, str]
Finished = dict[str, dict["Unit", "Saved"]]
_NAN = float("nan")


@dataclass(frozen=True)
class Agreement:
    """How far two assessors agree; NaN where nothing can be said."""

    left: str
    right: str
    documents: int = 0
    """Documents that both finished."""
    kappa: float = _NAN
    jaccard: float = _NAN
    f: float = _NAN
    elements: int = 0
    """Elements with text of the documents that both finished."""
    specificity: float = _NAN
    """Correlation of the elements' specificity."""
    entry_points: int = 0
    """Documents that both found relevant."""
    distance: float = _NAN
    """Median distance of the entry points, in characters."""
    relevant: tuple[int, int] = (0, 0)
    """Documents that each found relevant, of those that both finished."""
    highlighted: tuple[int, int] = (0, 0)
    """Characters that each highlighted there."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """Where they were asked for: 95 % intervals by the names of the fields, and of ``ratio``."""

    @property
    def ratio(self) -> float:
        """How much the right one highlights for every character of the left one."""
        left, right = self.highlighted
        return right / left if left else float("nan")


def finished(store: Store, topic: str | None = None) -> Finished:
    """Return the finished judgements of everyone, of all topics or of one; the adjudication is nobody's."""
    found: Finished = {}
    for saved in store.judgements(topic=topic):
        key = saved.key
        if saved.judgement.finished and key.assessor != ADJUDICATED:
            found.setdefault(key.assessor, {})[key.topic, key.document] = saved
    return found


def agreements(
    found: Finished, extents: Callable[[str], Extents], *, common: bool = False, resamples: int = 0
) -> list[Agreement]:
    """Return the agreement of every pair of assessors, in their order.

    With `common` only of those who finished documents in common; with intervals where there are resamples.
    """
    places, names = {name: place for place, name in enumerate(found)}, list(found)
    parts = [
        compare_sides(sides, [places[saved.key.assessor] for saved in sides], cache(extents))
        for _, sides in sorted(by_unit(found).items())
        if len(sides) > 1
    ]
    known = {(pair.left, pair.right): pair for pair in summed(parts, names, resamples=resamples)}
    wanted = _sharing(found) if common else combinations(names, 2)
    return [known.get(pair) or Agreement(*pair) for pair in wanted]


def by_unit(found: Finished) -> dict[Unit, list[Saved]]:
    """Return (topic, document) → what everybody says of it."""
    units: dict[Unit, list[Saved]] = {}
    for judged in found.values():
        for unit, saved in judged.items():
            units.setdefault(unit, []).append(saved)
    return units


def _sharing(found: Finished) -> list[tuple[str, str]]:
    """Return the pairs of assessors who finished a document in common: of 500 few do."""
    places = {name: place for place, name in enumerate(found)}
    sides = ([places[saved.key.assessor] for saved in sides] for sides in by_unit(found).values())
    names = list(found)
    shared = {pair for one in sides for pair in combinations(one, 2)}
    return [(names[left], names[right]) for left, right in sorted(shared)]


def alpha(found: Finished) -> float:
    """Return Krippendorff's α of all assessors: relevant or not, document by document."""
    return alpha_of([[bool(saved.judgement.highlights) for saved in sides] for sides in by_unit(found).values()])


def alpha_of(verdicts: Iterable[Sequence[bool]]) -> float:
    """Return Krippendorff's α from the verdicts on each document."""
    relevant = [(len(said) - sum(said), sum(said)) for said in verdicts if len(said) > 1]
    return alpha_of_counts(np.array(relevant, np.float64).reshape(-1, 2), np.array([0.0, 1.0]))


def summed(parts: Sequence[NDArray[np.void]], names: Sequence[str], *, resamples: int = 0) -> Iterator[Agreement]:
    """Yield the agreement of every two assessors whom comparisons of documents name by their numbers."""
    rows = joined(parts)
    pair = rows["left"] * len(names) + rows["right"]
    order = np.argsort(pair, kind="stable")
    rows, pair = rows[order], pair[order]
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    if not len(first):
        return
    elements = _moments(rows, first)
    added = dict(zip(_ADDED, np.add.reduceat(_columns(rows), first, axis=1), strict=True))
    levels = _levels(added, np.add.reduceat(elements, first, axis=1), np.diff(first, append=len(rows)))
    for k, (begin, end) in enumerate(zip(first.tolist(), [*first[1:].tolist(), len(rows)], strict=True)):
        distances = rows["distance"][begin:end]
        known = np.sort(distances[~np.isnan(distances)])
        yield Agreement(
            names[rows["left"][begin]],
            names[rows["right"][begin]],
            **{name: values[k].item() for name, values in levels.items()},
            documents=end - begin,
            entry_points=len(known),
            distance=float(known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2 if len(known) else _NAN,
            relevant=(int(added["left_relevant"][k]), int(added["right_relevant"][k])),
            highlighted=(int(added["left_size"][k]), int(added["right_size"][k])),
            intervals=intervals(_columns(rows[begin:end]), elements[:, begin:end], known, resamples)
            if resamples
            else {},
        )


_ADDED = ("left_relevant", "right_relevant", "both_relevant", "common", "left_size", "right_size")


def _columns(rows: NDArray[np.void]) -> Floats:
    """Return, document by document, what adds up to agreement on documents and characters."""
    both = rows["left_relevant"] * rows["right_relevant"]
    return np.stack([both if name == "both_relevant" else rows[name] for name in _ADDED])


def _levels(added: Mapping[str, Floats], elements: Floats, documents: NDArray[np.int64]) -> dict[str, Floats]:
    """Return the agreement of many pairs on documents, characters and elements."""
    left, right, both = (added[name] / documents for name in _ADDED[:3])
    jaccard, f = overlap_of_sums(added["common"], added["left_size"] + added["right_size"])
    return {
        "kappa": beyond_chance(1 - left - right + 2 * both, left * right + (1 - left) * (1 - right)),
        "jaccard": jaccard,
        "f": f,
        "elements": elements[0].astype(np.int64),
        "specificity": correlation_of_moments(elements),
    }


def _moments(rows: NDArray[np.void], first: NDArray[np.int64]) -> Floats:
    """Return the six moments of every row, of values around their pair's mean and over a range of one.

    What never varies has a range of zero, and no correlation.
    """
    number, around, squares, ranges = rows["elements"], [], [], []
    for side in ("left", "right"):
        shift, reach = _shifted(rows, first, side)
        around.append(number * shift / reach)
        squares.append((rows[f"{side}_square"] + number * shift**2) / reach**2)
        ranges.append((shift, reach))
    (x, wide), (y, high) = ranges
    return np.stack([number, *around, *squares, (rows["product"] + number * x * y) / wide / high])


def _shifted(rows: NDArray[np.void], first: NDArray[np.int64], side: str) -> tuple[Floats, Floats]:
    """Return, for one side of every row, its mean less that of its pair, and how far its pair's values reach."""
    number, mean = rows["elements"], rows[f"{side}_mean"]
    sizes = np.diff(first, append=len(rows))
    total = np.maximum(np.add.reduceat(number, first), 1)  # documents of changed texts have no elements
    reach = np.maximum.reduceat(rows[f"{side}_most"], first) - np.minimum.reduceat(rows[f"{side}_least"], first)
    shift = mean - np.repeat(np.add.reduceat(number * mean, first) / total, sizes)
    return shift, np.repeat(np.where(reach > 0, reach, 1.0), sizes)


@dataclass(frozen=True)
class Period:
    """Agreement on the documents that were finished by a second assessor in some span of time."""

    begins: str
    documents: int
    right: float
    """Share of documents on whose relevance all agree."""
    jaccard: float
    """Mean of what all highlighted as a share of what any did."""


PERIODS = 12
"""Points of a curve over time, at most."""


def over_time(shared: Iterable[tuple[str, bool, float]], periods: int = PERIODS) -> list[Period]:
    """Return how far assessors agree as time goes by: documents that several finished, in equal parts by time.

    Each document is given by the time at which the last of its judgements was made, whether all agree that it is
    relevant or not, and the share of the highlighted text that is common to all.
    """
    told = sorted(shared)
    parts = [part for part in np.array_split(np.arange(len(told)), min(periods, len(told)) or 1) if len(part)]
    return [_period([told[k] for k in part]) for part in parts]


def _period(documents: Sequence[tuple[str, bool, float]]) -> Period:
    begins, alike, shares = zip(*documents, strict=True)
    return Period(begins[0], len(documents), float(np.mean(alike)), float(np.mean(shares)))
