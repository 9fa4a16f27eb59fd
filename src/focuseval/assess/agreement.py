"""Agreement at four levels: characters, elements, documents, entry points; for every pair of assessors.

Only what both finished counts, and only where both read the same text. Characters are compared where at least one of
the two found something relevant. The specificity of elements is compared over all elements with text of the judged
documents: what neither touched is part of what they agree on, and leaving it out would make good agreement look bad.
"""

from __future__ import annotations

from dataclasses import field
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from focuseval.assess import spans
from focuseval.assess.agreement_intervals import intervals
from focuseval.assess.store import ADJUDICATED
from focuseval.significance.agreement import cohen_kappa, correlation, krippendorff_alpha, overlap
from focuseval.spans import Spans, union
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from focuseval.assess.agreement_intervals import Interval
    from focuseval.assess.document import Document
    from focuseval.assess.rules import Judgement
    from focuseval.assess.store import Saved, Store

Unit = tuple[str, str]
Finished = dict[str, dict["Unit", "Saved"]]


@dataclass(frozen=True)
class Agreement:
    """How far two assessors agree; NaN where nothing can be said."""

    left: str
    right: str
    documents: int
    """Documents that both finished."""
    kappa: float
    jaccard: float
    f: float
    elements: int
    """Elements with text of the documents that both finished."""
    specificity: float
    """Correlation of the elements' specificity."""
    entry_points: int
    """Documents that both found relevant."""
    distance: float
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
    found: Finished, document: Callable[[str], Document], *, common: bool = False, resamples: int = 0
) -> list[Agreement]:
    """Return the agreement of every pair of assessors, in their order.

    With `common` only of those who finished documents in common; with intervals where there are resamples.
    """
    extents = cache(lambda name: _extents(document(name)))
    pairs = _sharing(found) if common else combinations(found, 2)
    return [_pair(left, right, found, extents, resamples=resamples) for left, right in pairs]


def _sharing(found: Finished) -> list[tuple[str, str]]:
    """Return the pairs of assessors who finished a document in common: of 500 few do."""
    sides: dict[Unit, list[int]] = {}
    for place, judged in enumerate(found.values()):
        for unit in judged:
            sides.setdefault(unit, []).append(place)
    names = list(found)
    shared = {pair for places in sides.values() for pair in combinations(places, 2)}
    return [(names[left], names[right]) for left, right in sorted(shared)]


def alpha(found: Finished) -> float:
    """Return Krippendorff's α of all assessors: relevant or not, document by document."""
    units = sorted({unit for judged in found.values() for unit in judged})
    if not units:
        return float("nan")
    table = [[_label(judged.get(unit)) for unit in units] for judged in found.values()]
    return krippendorff_alpha(table)


def _pair(
    left: str, right: str, found: Finished, extents: Callable[[str], Extents], *, resamples: int = 0
) -> Agreement:
    shared = {unit: (found[left][unit], found[right][unit]) for unit in found[left].keys() & found[right].keys()}
    pairs = {unit: pair for unit, pair in sorted(shared.items()) if pair[0].text_sha256 == pair[1].text_sha256}
    judged = {unit: (a.judgement, b.judgement) for unit, (a, b) in pairs.items()}
    common = [spans.size(spans.intersect(a.highlights, b.highlights)) for a, b in judged.values()]
    sizes = [[spans.size(pair[side].highlights) for pair in judged.values()] for side in (0, 1)]
    labels = [[_label(pair[side]) for pair in pairs.values()] for side in (0, 1)]
    jaccard, f = overlap(common, *sizes)
    parts = _specificities(pairs, extents)
    specificity = np.concatenate([np.zeros((2, 0)), *parts], axis=1)
    distances = [abs(_entry(a) - _entry(b)) for a, b in judged.values() if a.highlights and b.highlights]
    drawn = intervals(labels, (common, *sizes), parts, distances, resamples) if resamples and judged else {}
    return Agreement(
        left,
        right,
        len(judged),
        cohen_kappa(*labels),
        jaccard,
        f,
        specificity.shape[1],
        correlation(*specificity),
        len(distances),
        float(np.median(distances)) if distances else float("nan"),
        (int(sum(labels[0])), int(sum(labels[1]))),
        (sum(sizes[0]), sum(sizes[1])),
        drawn,
    )


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


def over_time(found: Finished, periods: int = PERIODS) -> list[Period]:
    """Return how far assessors agree as time goes by: documents that several finished, in equal parts by time.

    A document counts at the time at which the last of its judgements was made.
    """
    units: dict[Unit, list[Saved]] = {}
    for judged in found.values():
        for unit, saved in judged.items():
            units.setdefault(unit, []).append(saved)
    shared = sorted((sides for sides in units.values() if len(sides) > 1), key=_newest)
    parts = [part for part in np.array_split(np.arange(len(shared)), min(periods, len(shared)) or 1) if len(part)]
    return [_period([shared[k] for k in part]) for part in parts]


def _period(documents: list[list[Saved]]) -> Period:
    alike = [len({bool(saved.judgement.highlights) for saved in sides}) == 1 for sides in documents]
    shares = [spans.jaccard([saved.judgement.highlights for saved in sides]) for sides in documents]
    return Period(_newest(documents[0]), len(documents), float(np.mean(alike)), float(np.mean(shares)))


def _newest(sides: list[Saved]) -> str:
    return max(saved.at for saved in sides)


Extents = tuple[str, "NDArray[np.int64]", "NDArray[np.int64]"]
"""A text's hash, and where its elements with text begin and end."""


def _extents(page: Document) -> Extents:
    elements = [element for element in page.elements if element.start < element.end]
    start, end = np.array([(element.start, element.end) for element in elements], np.int64).reshape(-1, 2).T
    return page.sha256, start, end


def _specificities(
    pairs: Mapping[Unit, tuple[Saved, Saved]], extents: Callable[[str], Extents]
) -> list[NDArray[np.float64]]:
    """Return two rows for every document: the specificity of each element with text, if the text is unchanged."""
    columns = []
    for (_, name), pair in pairs.items():
        sha256, start, end = extents(name)
        if sha256 != pair[0].text_sha256:
            start = end = np.zeros(0, np.int64)
        here = np.zeros(len(start), np.int64)
        covered = [_spans(saved.judgement).covered(here, start, end) for saved in pair]
        columns.append(np.stack(covered) / (end - start))
    return columns


def _spans(judgement: Judgement) -> Spans:
    start, end = np.array(judgement.highlights, np.int64).reshape(-1, 2).T
    return union(np.zeros(len(start), np.int64), start, end)


def _label(saved: Saved | None) -> float:
    return float("nan") if saved is None else float(bool(saved.judgement.highlights))


def _entry(judgement: Judgement) -> int:
    position = judgement.entry_point
    return -1 if position is None else position
