"""The first screen: verdict, means with intervals, counts, the topics that decide, and what to keep in mind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.inference.paired_tests import paired_differences
from focuseval.report.verdict import SAME, Against, Verdict, topics, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.evaluation.counts import Counts
    from focuseval.report.evidence import Evidence

MOST_DECIDING = 6


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
    alike: int = 1
    """Topics with the same difference, this one among them."""


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
    """Topics that carry the difference, in both directions; of topics that differ alike the first."""
    carried: str
    """On how many topics A is better, and how many of them carry the difference."""
    per_topic: tuple[Deciding, ...]
    """Every topic, from A's greatest loss to its greatest gain."""


def first_screen(evidence: Evidence) -> FirstScreen:
    """Return what the first screen shows."""
    said = verdict(evidence)
    first, second = evidence.pair or (0, None)
    per_topic = by_topic(evidence)
    weakest = sorted(per_topic, key=lambda d: d.a)[:MOST_DECIDING]
    return FirstScreen(
        verdict=said,
        a=evidence.labels[first],
        b=None if second is None else evidence.labels[second],
        measure=evidence.measure,
        topics=len(evidence.scores.topics),
        runs=run_lines(evidence, said.against),
        deciding=tuple(weakest if second is None else carrying(per_topic)),
        carried="" if second is None else carried(per_topic),
        per_topic=tuple(per_topic),
    )


def by_topic(evidence: Evidence) -> list[Deciding]:
    """Return every topic with what A and B score under the measure that decides, A's greatest loss first."""
    first, second = evidence.pair or (0, None)
    values = evidence.values()
    a = values[first]
    b = values[second] if second is not None else np.zeros(len(a))
    kept = np.flatnonzero(~np.isnan(a) & ~np.isnan(b))
    difference = np.full(len(a), np.nan)
    difference[kept] = paired_differences(a[None, kept], b[None, kept])[0]
    order = kept[np.argsort(difference[kept], kind="stable")]
    return [
        Deciding(
            topic := evidence.scores.topics[i],
            evidence.title(topic),
            float(a[i]),
            None if second is None else float(b[i]),
            float(difference[i]),
        )
        for i in order.tolist()
    ]


def carrying(per_topic: Sequence[Deciding], most: int = MOST_DECIDING) -> list[Deciding]:
    """Return the largest gains of A and of B, half of each where there are enough; equal ones once, counted."""
    alike = Counter(round(d.difference, 4) for d in per_topic)
    first = {round(d.difference, 4): d for d in reversed(per_topic)}
    told = [replace(first[size], alike=alike[size]) for size in sorted(first) if size]
    losses = [d for d in told if d.difference < 0]
    gains = [d for d in reversed(told) if d.difference > 0]
    half = most // 2
    kept = max(half, most - len(losses)), max(half, most - len(gains))
    return [*gains[: kept[0]], *losses[: kept[1]]]


def carried(per_topic: Sequence[Deciding]) -> str:
    """Say on how many topics A is better, and how few of them make the difference.

    >>> carried([Deciding("1", "", 0, 1, -1.0), Deciding("2", "", 1, 0, 1.0), Deciding("3", "", 1, 0, 1.0)])
    'A is better on 2, B on 1 and neither on 0 of 3 topics. Without the largest gain of A there would be no difference.'
    """
    differences = np.array([d.difference for d in per_topic])
    won, lost = int((differences > 0).sum()), int((differences < 0).sum())
    tied = len(differences) - won - lost
    said = f"A is better on {won:,}, B on {lost:,} and neither on {tied:,} of {topics(len(differences))}."
    total = float(differences.sum())
    if abs(total) <= SAME:
        return f"{said} Gains and losses are equal."
    if not min(won, lost):
        return said  # without a loss every gain is needed
    gains = np.cumsum(np.sort(np.sign(total) * differences)[::-1])
    needed = int(np.argmax(gains >= abs(total) - SAME)) + 1
    what = "largest gain" if needed == 1 else f"{needed:,} largest gains"
    return f"{said} Without the {what} of {'A' if total > 0 else 'B'} there would be no difference."


def run_lines(evidence: Evidence, against: tuple[Against, ...]) -> tuple[RunLine, ...]:
    """Return a line for every run, best first."""
    words = {a.run: a.word for a in against} if evidence.baseline is not None else {}
    pair = evidence.pair or (-1, -1)
    role = {pair[0]: "A", pair[1]: "B"}
    return tuple(
        RunLine(
            run=evidence.labels[run],
            file=evidence.scores.files[run] if evidence.scores.files else "",
            role=role.get(run, ""),
            means=tuple(_mean(n, evidence.intervals[i, run]) for i, n in enumerate(evidence.scores.measures)),
            counts=evidence.scores.counts[run],
            against="baseline" if run == evidence.baseline else words.get(run, ""),
        )
        for run in evidence.order.tolist()
    )


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
        said.append(
            f"{len(evidence.labels)} runs: curves, lists and what can be chosen are of the {len(evidence.drawn)} best."
        )
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
