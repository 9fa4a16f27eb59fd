"""The first screen: verdict, means with intervals, counts, the topics that decide, and what to keep in mind.

The verdict and every number of a comparison is what `focuseval.inference.comparison` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from focuseval.errors import counted
from focuseval.evaluation.counts import Counts
from focuseval.inference.comparison import Conclusion, other_order
from focuseval.inference.paired import CANNOT_TELL, wins_sentence
from focuseval.inference.paired_tests import paired_differences
from focuseval.inference.sentences import fill, named
from focuseval.report.evidence import Evidence

MOST_DECIDING = 6
CEILING = "ceiling("
"""How measures begin that say what chunks allow, not what a run reached: no other order is read from them."""
UNDECIDED = ("Cannot tell.", "No topic has a value in every run under {measure}.")
"""Headline and reason where no topic is compared."""


@dataclass(frozen=True)
class Verdict(Conclusion):
    """The verdict with what belongs to it."""

    against: tuple[dict[str, Any], ...] = ()
    """Every other run held against the baseline, or against A: the numbers of the pair."""
    caveat: str = ""  # measures under which the order is another one, in a sentence


@dataclass(frozen=True)
class Mean:
    """One run's mean under one measure, with its 95 % interval."""

    measure: str
    mean: float | None
    low: float | None
    high: float | None
    topics: int
    rank: str = ""
    """The interval of its rank, and the letters of runs that cannot be told from it: ``1–2 a``."""


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
    carried: str  # on how many topics A is better, and how many of them carry the difference
    per_topic: tuple[Deciding, ...]  # every topic, from A's greatest loss to its greatest gain


def first_screen(evidence: Evidence) -> FirstScreen:
    """Return what the first screen shows."""
    found = verdict(evidence)
    first, second = evidence.pair or (0, None)
    per_topic = by_topic(evidence)
    compared = evidence.compared
    return FirstScreen(
        verdict=found,
        a=evidence.labels[first],
        b=None if second is None else evidence.labels[second],
        measure=evidence.measure,
        topics=int((~np.isnan(evidence.scores.values)).any(axis=(0, 2)).sum()),
        runs=run_lines(evidence, {against["run"]: against["word"] for against in found.against}),
        deciding=tuple(sorted(per_topic, key=lambda d: d.a)[:MOST_DECIDING] if second is None else carrying(per_topic)),
        carried="" if compared is None or second is None else wins_sentence(compared.against(first, second)),
        per_topic=tuple(per_topic),
    )


def verdict(evidence: Evidence) -> Verdict:
    """Return what the comparison says under the measure that decides; of a single run its mean."""
    compared = evidence.comparisons[evidence.scores.deciding]
    if compared is None:
        return Verdict(CANNOT_TELL, UNDECIDED[0], UNDECIDED[1].format(measure=evidence.measure))
    if evidence.pair is None:
        return Verdict(**vars(compared.conclusion()))
    a, b = evidence.pair
    two, reference = len(evidence.labels) == 2, a if evidence.baseline is None else b
    found = compared.verdict_of(a, b) if two else compared.conclusion()
    against = []
    for run in sorted(compared.offered):
        if run != reference:
            pair = compared.against(run, reference)
            reason = f"{pair.word}: {pair.reason}" if pair.reason else pair.word
            sizes = {"difference": pair.difference, "low": pair.low, "high": pair.high}
            tests = {"p": pair.p, "p_corrected": pair.corrected, "word": pair.word, "reason": reason, "ties": pair.tied}
            power = {"detectable": pair.detectable, "topics_needed": pair.needed}
            between = {"topics_needed_interval": [pair.fewest, pair.most]}
            against.append({"run": run} | sizes | tests | power | between)
    rival = b if two or evidence.baseline is not None else None
    scored = [one for one in evidence.comparisons if one is None or not one.measure.startswith(CEILING)]
    caveat = other_order(scored, a, rival, evidence.measure)
    return Verdict(found.word, found.headline, found.reason, tuple(against), caveat)


def by_topic(evidence: Evidence) -> list[Deciding]:
    """Return every topic that is compared, with what A and B score under the measure that decides, losses first.

    Where no topic has a value in every run, those that A and B share.
    """
    first, second = evidence.pair or (0, None)
    values, compared = evidence.values(), evidence.compared
    a, b = values[first], None if second is None else values[second]
    kept = np.flatnonzero(~np.isnan(a if b is None else a + b))
    difference = a[kept] if b is None else paired_differences(a[None, kept], b[None, kept])[0]
    if compared is not None and second is not None:
        kept = np.flatnonzero(np.isin(evidence.scores.topics, compared.topics))
        difference = compared.differences(first, second)
    return [
        Deciding(
            topic := evidence.scores.topics[kept[i]],
            evidence.title(topic),
            float(a[kept[i]]),
            None if b is None else float(b[kept[i]]),
            float(difference[i]),
        )
        for i in np.argsort(difference, kind="stable").tolist()
    ]


def carrying(per_topic: Sequence[Deciding]) -> list[Deciding]:
    """Return the largest gains of A and of B, half of each where there are enough.

    Of topics whose differences are printed alike the first one stands for all, and they are counted.
    """
    alike: dict[str, list[Deciding]] = {}
    for one in per_topic:
        alike.setdefault(f"{one.difference:.4f}", []).append(one)
    shown = [replace(own[0], alike=len(own)) for size, own in alike.items() if float(size)]
    losses = [d for d in shown if d.difference < 0]
    gains = [d for d in reversed(shown) if d.difference > 0]
    half = MOST_DECIDING // 2
    return [*gains[: max(half, MOST_DECIDING - len(losses))], *losses[: max(half, MOST_DECIDING - len(gains))]]


def run_lines(evidence: Evidence, words: dict[int, str]) -> tuple[RunLine, ...]:
    """Return a line for every run, best first; with a baseline, with the word on the run against it."""
    roles = dict(zip(evidence.pair or (), "AB", strict=False))
    against = {**words, evidence.baseline: "baseline"} if evidence.baseline is not None else {}
    lines = []
    for run in evidence.order.tolist():
        means = []
        columns = (evidence.scores.measures, evidence.intervals[:, run].tolist(), evidence.comparisons)
        for measure, row, compared in zip(*columns, strict=True):
            mean, low, high, topics = (None if np.isnan(value) else value for value in row)
            rank = "" if compared is None else compared.standing(run)
            means.append(Mean(measure, mean, low, high, int(topics or 0), rank))
        file, counts = evidence.scores.files[run] if evidence.scores.files else "", evidence.scores.counts[run]
        of_run = evidence.labels[run], file, roles.get(run, "")
        lines.append(RunLine(*of_run, tuple(means), counts, against.get(run, "")))
    return tuple(lines)


def remarks(evidence: Evidence) -> tuple[str, ...]:
    """Say what a reader of the numbers should know: gaps, leftovers, limits."""
    scores, counts, lines, gold = evidence.scores, evidence.scores.counts, list[str](), evidence.prepared.gold
    if len(scores.topics) == 1:
        lines.append("There is one topic: no mean has an interval, and nothing can be said of other topics.")
    if counts and counts[0].excluded:
        names = [gold.topics[topic] for topic in np.flatnonzero(~evidence.prepared.based("relevance")).tolist()]
        few = f"{'topic' if len(names) == 1 else 'topics'} {named(names)}" if names else "some topics of the gold"
        lines.append(f"Nothing is relevant in {few}: left out.")
    rule = "left out of its mean" if "missing:skip" in scores.signature else "score 0"
    gaps = sorted((n for n in range(len(counts)) if counts[n].missing), key=lambda n: -counts[n].missing)
    fewest, most = (counts[n].missing for n in (gaps[-1], gaps[0])) if gaps else (0, 0)
    if len(gaps) > 3 or (len(gaps) > 1 and fewest == most):
        every = "Both" if len(gaps) == 2 else f"All {len(gaps)}"
        runs = every if len(gaps) == len(counts) else f"{len(gaps)} of {len(counts)}"
        number = f"{fewest:,} to {most:,} topics" if fewest < most else counted(most, "topic")
        lines.append(f"{runs} runs leave {number} unanswered ({rule}).")
    else:
        topics = counted(len(scores.topics), "topic")
        lines += [f"{evidence.labels[n]} leaves {counts[n].missing:,} of {topics} unanswered ({rule})." for n in gaps]
    shares = [100 * seen.unjudged for seen in evidence.observed]
    if any(shares):
        low, high = f"{min(shares):.0f} %", f"{max(shares):.0f} %"
        share = high if low == high else f"{low} to {high}"
        lines.append(f"Of the results read, {share} are in unjudged documents and count as misses.")
    labelled = zip(evidence.labels, counts, strict=True)
    lines += [f"{remark}." for label, own in labelled for remark in own.remarks(label)]
    return (*lines, *limits(evidence), *(evidence.compared.remarks() if evidence.compared is not None else ()))


def limits(evidence: Evidence) -> list[str]:
    """Say which of many runs have curves and lists, and which pairs are tested where all of them are too many."""
    runs, drawn, baseline = len(evidence.labels), len(evidence.drawn), evidence.baseline
    if drawn == runs:
        return []
    best = baseline is None or baseline in evidence.order[:drawn]
    chosen = f"the {drawn} best" if best else f"the {drawn - 1} best and the baseline"
    lines = [f"Of {runs:,} runs, {chosen} have curves and lists, and can be chosen."]
    found = (evidence.other_comparisons or evidence.comparisons)[evidence.scores.deciding]
    if found is not None and found.among is not None:
        tested = "" if baseline is None else ", and every run with the baseline"
        advice = "A report of fewer runs compares others."
        lines.append(fill("too many", runs=f"{runs:,}", these=f"these {drawn}", tested=tested, advice=advice))
    return lines
