"""The answer: better, worse, or cannot tell, in a sentence with the numbers behind it.

The question has two sides, so the test has two tails, and where several runs are held against one run Holm's
correction keeps the chance of any false verdict at the level. The matrix of stars follows the papers instead, which
ask one-tailed and uncorrected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.significance.comparison import Settings
from focuseval.significance.intervals import bca
from focuseval.significance.paired_tests import adjust, p_values
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.report.evidence import Evidence

VERDICT = Settings(tails=2, correction="holm")
"""How a verdict is reached unless the user says otherwise."""


@dataclass(frozen=True)
class Against:
    """One run held against another."""

    run: int
    difference: float
    low: float
    high: float
    p: float
    word: str
    """``better``, ``worse`` or ``cannot tell``."""


@dataclass(frozen=True)
class Verdict:
    """What the first screen says."""

    word: str
    """``better``, ``worse``, ``cannot tell``, or ``alone`` for a single run."""
    headline: str
    reason: str
    against: tuple[Against, ...] = ()
    """Every other run, held against the reference (or the best run against every other)."""


def verdict(evidence: Evidence) -> Verdict:
    """Judge the runs under the first measure."""
    if evidence.pair is None:
        return _alone(evidence)
    first, second = evidence.pair
    values = evidence.values()
    common = ~np.isnan(values).any(axis=0)
    if not common.any():
        return Verdict("cannot tell", "Cannot tell.", f"No topic has a value in every run under {evidence.measure}.")
    reference = first if evidence.baseline is None else second
    others = [run for run in range(len(evidence.labels)) if run != reference]
    found = held_against(values[:, common], reference, others, evidence.settings)
    if len(evidence.labels) == 2:
        return _two(evidence, found[0], int(common.sum()))
    return _baseline(evidence, found) if evidence.baseline is not None else _ranking(evidence, found)


def held_against(
    values: NDArray[np.float64], reference: int, others: Sequence[int], settings: Settings
) -> tuple[Against, ...]:
    """Hold every other run against a reference: difference (other minus reference), interval, p, word."""
    differences = values[list(others)] - values[reference]
    low, high = bca(differences, resamples=max(1000, settings.resamples), seed=settings.seed)
    p = np.ones(len(differences))
    if differences.shape[1] > 1:
        drawn = {"tails": settings.tails, "resamples": settings.resamples, "seed": settings.seed}
        signed = differences * np.where(differences.mean(axis=1, keepdims=True) < 0, -1, 1)
        p = adjust(p_values(settings.test, signed, **drawn), settings.correction)
    mean = differences.mean(axis=1)
    sure = (p <= settings.alpha) & (mean != 0)
    words = np.where(~sure, "cannot tell", np.where(mean > 0, "better", "worse")).tolist()
    columns = (mean.tolist(), low.tolist(), high.tolist(), p.tolist(), words)
    return tuple(Against(run, *row) for run, *row in zip(others, *columns, strict=True))


def _alone(evidence: Evidence) -> Verdict:
    counts = evidence.scores.counts[0]
    mean = evidence.scores.mean[0, 0]
    said = "no value" if np.isnan(mean) else f"{mean:.4f}"
    headline = f"{evidence.labels[0]}: {evidence.measure} is {said} over {topics(counts.topics)}."
    return Verdict("alone", headline, "One run has nothing to be compared with: give a second one for a verdict.")


def _two(evidence: Evidence, found: Against, common: int) -> Verdict:
    """Judge A against B."""
    first, second = evidence.pair or (0, 1)
    a, b = evidence.labels[first], evidence.labels[second]
    turned = found if found.run == first else _turned(found)
    headline = {
        "better": f"{a} is better than {b}.",
        "worse": f"{a} is worse than {b}.",
        "cannot tell": f"Cannot tell {a} and {b} apart.",
    }[turned.word]
    means = evidence.scores.mean[:, 0]
    reason = (
        f"{evidence.measure} {means[first]:.4f} against {means[second]:.4f} over {topics(common)}: "
        f"{numbers(turned, evidence.settings)}."
    )
    if common < 2:
        reason += " One topic says nothing about others."
    return Verdict(turned.word, headline, reason, (found,))


def _turned(found: Against) -> Against:
    word = {"better": "worse", "worse": "better"}.get(found.word, found.word)
    return Against(found.run, -found.difference, -found.high, -found.low, found.p, word)


def _ranking(evidence: Evidence, found: tuple[Against, ...]) -> Verdict:
    """Say whether the best run is really the best."""
    first, runs = int(evidence.order[0]), len(evidence.labels)
    best, mean = evidence.labels[first], evidence.scores.mean[first, 0]
    open_ = [against for against in found if against.word != "worse"]
    nearest = max(found, key=lambda against: against.difference)
    reason = (
        f"{evidence.measure}: {mean:.4f}, ahead of {evidence.labels[nearest.run]} by "
        f"{numbers(_turned(nearest), evidence.settings)}."
    )
    if not open_:
        return Verdict("better", f"{best} is the best of {runs} runs.", reason, found)
    if len(open_) == len(found):
        headline = f"{best} leads, but none of the other {len(found)} runs can be told apart from it."
        return Verdict("cannot tell", headline, reason, found)
    names = _names(evidence, open_)
    headline = f"{best} leads, but cannot be told apart from {names}."
    rest = [against for against in found if against.word == "worse"]
    return Verdict("cannot tell", headline, f"{reason} It is better than {_names(evidence, rest)}.", found)


def _baseline(evidence: Evidence, found: tuple[Against, ...]) -> Verdict:
    """Say whether the best of the other runs improves on the baseline, and how many do."""
    best = max(found, key=lambda against: against.difference)
    a, b = evidence.labels[best.run], evidence.labels[evidence.baseline or 0]
    headline = {
        "better": f"{a} is better than the baseline {b}.",
        "worse": f"Every run is worse than the baseline {b}.",
        "cannot tell": f"No run is better than the baseline {b}.",
    }[best.word]
    number = {word: sum(a.word == word for a in found) for word in ("better", "worse", "cannot tell")}
    parts = [f"{n} {_is(n)} {w}" for w, n in number.items() if n and w != "cannot tell"]
    if number["cannot tell"]:
        parts.append(f"{number['cannot tell']} cannot be told apart from it")
    reason = (
        f"The best one, {a}, differs by {numbers(best, evidence.settings)} in {evidence.measure}. "
        f"Of {len(found)} runs {_listed(parts)}."
    )
    return Verdict(best.word, headline, reason, found)


def _names(evidence: Evidence, found: Sequence[Against]) -> str:
    """Name the nearest two or three; count the others."""
    names = [evidence.labels[a.run] for a in sorted(found, key=lambda a: -a.difference)]
    return _listed(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def topics(number: int) -> str:
    """Return ``1 topic`` or ``6 topics``."""
    return "1 topic" if number == 1 else f"{number:,} topics"


def numbers(found: Against, settings: Settings) -> str:
    """Print a difference with its interval and p.

    >>> numbers(Against(0, 0.07, -0.01, 0.15, 0.128, "cannot tell"), VERDICT)
    '+0.0700 [−0.0100, +0.1500], p = 0.128'
    """
    p = f"p = {found.p:.3f}" if found.p >= 0.001 else f"p < {max(0.001, 1 / settings.resamples):.3g}"
    return f"{signed(found.difference)} [{signed(found.low)}, {signed(found.high)}], {p}"


def signed(value: float) -> str:
    """Print a difference with its sign, a minus as long as a plus."""
    return f"{value:+.4f}".replace("-", "−")
