"""What the page needs so that a reader can choose any pair of runs and any measure: values, intervals, tests, slices.

Every p and every interval is computed here, by `focuseval.inference`; the page only looks them up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.inference.sentences import shown_p
from focuseval.report.charts.chart import number
from focuseval.report.observe import cut_of
from focuseval.report.slices import Slice, slice_intervals, slices_of
from focuseval.report.verdict import held_against

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.report.evidence import Evidence

DIGITS = 6
MOST_INTERVALS = 20_000
"""Of slices, all pairs and measures together, beyond those of A and B: at about 12 bytes and 80 µs each."""
CODES = {"worse": -1, "cannot tell": 0, "better": 1}


@dataclass(frozen=True)
class Choices:
    """Every drawn run's values under every measure, and how each pair compares."""

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    decides: int
    """Number of the measure that decides."""
    a: int
    b: int | None
    topics: tuple[str, ...]
    titles: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    values: tuple[Any, ...]
    """Measures × runs × topics; None where a topic is not in the mean."""
    means: tuple[Any, ...]
    """Measures × runs: mean, low, high."""
    pairs: tuple[Any, ...]
    """Measures × pairs (first before second): what `pair_numbers` returns; None where it was not tested."""
    methods: tuple[str, ...]
    """How each measure's pairs were tested; empty where they were not."""
    cuts: tuple[list[int | str] | None, ...]
    """How much of a list each measure looks at."""
    slices: tuple[dict[str, Any], ...] = ()
    """Parts of the topics: group, name, topics, and under every measure ``intervals``: low and high of every pair's
    difference in ten-thousandths, one after the other; of A − B alone where there would be too many."""


def choices_of(evidence: Evidence) -> Choices:
    """Gather what can be chosen among the drawn runs."""
    scores, drawn = evidence.scores, list(evidence.drawn)
    pair = [drawn.index(run) for run in evidence.pair] if evidence.pair else [0]
    values = scores.values[drawn].transpose(2, 0, 1)
    tested = evidence.tested
    return Choices(
        runs=tuple(evidence.labels[run] for run in drawn),
        measures=scores.measures,
        decides=scores.deciding,
        a=pair[0],
        b=pair[1] if len(pair) > 1 else None,
        topics=scores.topics,
        titles=tuple(evidence.title(topic) for topic in scores.topics),
        tags=tuple(scores.tags.get(topic, ()) for topic in scores.topics),
        values=_rounded(values),
        means=_rounded(evidence.intervals[:, drawn, :3]),
        pairs=tuple(_pairs(evidence, name) if name in tested else None for name in scores.measures),
        methods=tuple(_method(evidence, name) if name in tested else "" for name in scores.measures),
        cuts=tuple(cut_of(asked) for asked in evidence.evaluation.plan.measures),
        slices=tuple(_slices(evidence, values, pair)),
    )


def _method(evidence: Evidence, measure: str) -> str:
    found = evidence.compared(measure)
    return "" if found is None else found.method


def _pairs(evidence: Evidence, measure: str) -> list[list[Any] | None] | None:
    """Return every pair of drawn runs under a measure, first less second; None for pairs outside of the family."""
    found = evidence.compared(measure)
    if found is None:
        return None
    places = {int(run): place for place, run in enumerate(evidence.order)}
    drawn = evidence.drawn
    return [
        pair_numbers(evidence, held_against(found, one, places[one], places[other]))
        if evidence.baseline in (None, one, other)
        else None
        for one, other in combinations(drawn, 2)
    ]


def pair_numbers(evidence: Evidence, found: Any) -> list[Any]:
    """Return difference, low, high, p, corrected p, code of the word, ties, detectable, topics needed, the reason."""
    p, corrected = (shown_p(value, evidence.settings) for value in (found.p, found.p_corrected))
    sizes = [number(value) for value in (found.difference, found.low, found.high)]
    power = [number(found.detectable), found.topics_needed]
    reason = [] if found.reason == found.word else [found.reason]
    return [*sizes, p, corrected, CODES[found.word], found.ties, *power, *reason]


def _slices(evidence: Evidence, values: NDArray[np.float64], pair: list[int]) -> list[dict[str, Any]]:
    """Return the slices with the intervals of all pairs under as many measures as allowed, the deciding one first."""
    slices = slices_of(evidence)
    if len(pair) < 2 or not slices:
        return [_slice(one) for one in slices]
    every = list(combinations(range(values.shape[1]), 2))
    order = sorted(range(len(values)), key=lambda measure: measure != evidence.scores.deciding)
    whole = set(order[: max(1, MOST_INTERVALS // (len(every) * len(slices)))])
    pairs = [every if measure in whole else [(pair[0], pair[1])] for measure in range(len(values))]
    rows = np.array([values[m, i] - values[m, j] for m, own in enumerate(pairs) for i, j in own])
    found = np.round(slice_intervals(rows, slices, evidence.settings) * 10**4)
    ends = np.cumsum([len(own) for own in pairs])[:-1]
    return [
        _slice(one) | {"intervals": [_whole(part.reshape(-1)) for part in np.split(told, ends)]}
        for one, told in zip(slices, found, strict=True)
    ]


def _whole(values: NDArray[np.float64]) -> list[int | None]:
    return [None if value != value else int(value) for value in values.tolist()]  # noqa: PLR0124  NaN


def _slice(one: Slice) -> dict[str, Any]:
    return {"group": one.group, "name": one.name, "topics": list(one.topics)}


def _rounded(values: NDArray[np.float64]) -> Any:
    """Return an array as nested lists, rounded for a page; None for NaN, whole numbers without a point."""
    rounded = np.round(values, DIGITS)
    plain = rounded.astype(object)
    whole = rounded == np.floor(rounded)
    plain[whole] = rounded[whole].astype(np.int64)
    plain[np.isnan(rounded)] = None
    found: Any = plain.tolist()
    return tuple(found)
