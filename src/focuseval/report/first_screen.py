"""The first screen: verdict, means with intervals, counts, the topics that decide, and what to keep in mind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.report.verdict import Against, Verdict, topics, verdict
from focuseval.significance.intervals import bca
from focuseval.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.evaluate import Counts
    from focuseval.report.evidence import Evidence
    from focuseval.significance.settings import Settings

MOST_DECIDING = 5
MOST_MEASURES = 5
"""Measures beside the verdict; all of them stand further down."""


@dataclass(frozen=True)
class Mean:
    """One run's mean under one measure, with its 95 % interval."""

    measure: str
    mean: float | None
    low: float | None
    high: float | None
    topics: int


@dataclass(frozen=True)
class RunLine:
    """One run: means, counts, and how it stands against the reference."""

    run: str
    file: str
    role: str
    """``A``, ``B`` or nothing."""
    means: tuple[Mean, ...]
    counts: Counts
    against: str = ""
    """``better``, ``worse``, ``cannot tell`` or nothing."""


@dataclass(frozen=True)
class Deciding:
    """One topic: what A and B score, and by how much they differ."""

    topic: str
    title: str
    a: float
    b: float | None
    difference: float


@dataclass(frozen=True)
class FirstScreen:
    """Everything above the fold."""

    verdict: Verdict
    a: str
    b: str | None
    measure: str
    topics: int
    runs: tuple[RunLine, ...]
    deciding: tuple[Deciding, ...]
    per_topic: tuple[Deciding, ...]
    """Every topic, from A's greatest loss to its greatest gain."""


def first_screen(evidence: Evidence) -> FirstScreen:
    """Return what the first screen shows."""
    said = verdict(evidence)
    first, second = evidence.pair or (0, None)
    per_topic = by_topic(evidence)
    key = (lambda d: -abs(d.difference)) if second is not None else (lambda d: d.a)
    deciding = [d for d in sorted(per_topic, key=key) if second is None or d.difference]
    return FirstScreen(
        verdict=said,
        a=evidence.labels[first],
        b=None if second is None else evidence.labels[second],
        measure=evidence.measure,
        topics=len(evidence.scores.topics),
        runs=run_lines(evidence, said.against),
        deciding=tuple(deciding[:MOST_DECIDING]),
        per_topic=tuple(per_topic),
    )


def by_topic(evidence: Evidence) -> list[Deciding]:
    """Return every topic with what A and B score under the first measure, A's greatest loss first."""
    first, second = evidence.pair or (0, None)
    values = evidence.values()
    a = values[first]
    b = values[second] if second is not None else np.zeros(len(a))
    kept = np.flatnonzero(~np.isnan(a) & ~np.isnan(b))
    order = kept[np.argsort(a[kept] - b[kept], kind="stable")]
    return [
        Deciding(
            topic := evidence.scores.topics[i],
            evidence.title(topic),
            float(a[i]),
            None if second is None else float(b[i]),
            float(a[i] - b[i]),
        )
        for i in order.tolist()
    ]


def run_lines(evidence: Evidence, against: tuple[Against, ...]) -> tuple[RunLine, ...]:
    """Return a line for every run, best first."""
    means = [intervals(evidence.values(name), evidence.settings) for name in evidence.scores.measures]
    words = {a.run: a.word for a in against} if evidence.baseline is not None else {}
    pair = evidence.pair or (-1, -1)
    role = {pair[0]: "A", pair[1]: "B"}
    return tuple(
        RunLine(
            run=evidence.labels[run],
            file=evidence.scores.files[run] if evidence.scores.files else "",
            role=role.get(run, ""),
            means=tuple(_mean(n, means[i][run]) for i, n in enumerate(evidence.scores.measures)),
            counts=evidence.scores.counts[run],
            against="baseline" if run == evidence.baseline else words.get(run, ""),
        )
        for run in evidence.order.tolist()
    )


def intervals(values: NDArray[np.float64], settings: Settings) -> NDArray[np.float64]:
    """Return mean, low, high and number of topics of every row; NaN where a run has no topic.

    Rows that lack the same topics share their resamples.

    >>> from focuseval.significance.settings import Settings
    >>> intervals(np.array([[0.5, 0.5, np.nan]]), Settings()).tolist()
    [[0.5, 0.5, 0.5, 2.0]]
    """
    found = np.full((len(values), 4), np.nan)
    counted = ~np.isnan(values)
    patterns, group = np.unique(counted, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(group.reshape(-1) == number)
        found[rows, 3] = pattern.sum()
        if pattern.any():
            here = values[np.ix_(rows, pattern)]
            low, high = bca(here, resamples=settings.of_interval, seed=settings.seed)
            found[rows, :3] = np.stack([here.mean(axis=1), low, high], axis=1)
    return found


def _mean(measure: str, row: NDArray[np.float64]) -> Mean:
    mean, low, high = (None if np.isnan(v) else float(v) for v in row[:3])
    return Mean(measure, mean, low, high, int(np.nan_to_num(row[3])))


def remarks(evidence: Evidence) -> tuple[str, ...]:
    """Say what a reader of the numbers should know: gaps, leftovers, limits."""
    scores, said = evidence.scores, []
    if len(scores.topics) == 1:
        said.append("One topic: its values have no interval, and nothing follows for other topics.")
    if scores.counts and scores.counts[0].excluded:
        said.append(f"Nothing is relevant in {topics(scores.counts[0].excluded)} of the gold: left out.")
    said += _gaps(evidence)
    unjudged = [c.unjudged for c in scores.counts]
    if any(unjudged):
        words = "a run" if len(unjudged) == 1 else "the runs"
        said.append(
            f"Up to {max(unjudged):,} results of {words} are in documents that nobody judged: they count as wrong."
        )
    for label, counts in zip(evidence.labels, scores.counts, strict=True):
        if counts.unknown:
            said.append(f"{label}: left out {topics(counts.unknown)} that the gold does not have.")
        if counts.unplaced:
            said.append(f"{label}: {counts.unplaced:,} results have no known place in their document and gain nothing.")
    if len(evidence.drawn) < len(evidence.labels):
        said.append(f"{len(evidence.labels)} runs: curves and heat map show the {len(evidence.drawn)} best.")
    return tuple(said)


def _gaps(evidence: Evidence) -> list[str]:
    """Say which runs leave topics unanswered, the worst first."""
    counts = evidence.scores.counts
    rule = "they are left out of its mean" if "missing:skip" in evidence.scores.signature else "they score 0"
    order = sorted((n for n in range(len(counts)) if counts[n].missing), key=lambda n: -counts[n].missing)
    said = [
        f"{evidence.labels[n]} does not answer {counts[n].missing} of {topics(len(evidence.scores.topics))}: {rule}."
        for n in order[:3]
    ]
    if len(order) > 3:
        said.append(f"{len(order) - 3} more runs do not answer every topic; the table of runs counts them.")
    return said
