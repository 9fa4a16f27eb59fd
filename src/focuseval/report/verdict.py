"""The answer: better, worse, or cannot tell, in a sentence with the numbers behind it.

The question has two sides, so the test has two tails, and where several runs are held against one run Holm's
correction keeps the chance of any false verdict at the level. The matrix of stars follows the papers instead, which
ask one-tailed and uncorrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.significance.comparison import Settings
from focuseval.significance.intervals import bca
from focuseval.significance.paired_tests import adjust, p_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.report.ground import Ground

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


def verdict(ground: Ground) -> Verdict:
    """Judge the runs under the first measure."""
    if ground.pair is None:
        return _alone(ground)
    first, second = ground.pair
    values = ground.values()
    common = ~np.isnan(values).any(axis=0)
    if not common.any():
        return Verdict("cannot tell", "Cannot tell.", f"No topic has a value in every run under {ground.measure}.")
    reference = first if ground.baseline is None else second
    others = [run for run in range(len(ground.labels)) if run != reference]
    found = held_against(values[:, common], reference, others, ground.settings)
    if len(ground.labels) == 2:
        return _two(ground, found[0], int(common.sum()))
    return _baseline(ground, found) if ground.baseline is not None else _ranking(ground, found)


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


def _alone(ground: Ground) -> Verdict:
    counts = ground.scores.counts[0]
    mean = ground.scores.mean[0, 0]
    said = "no value" if np.isnan(mean) else f"{mean:.4f}"
    headline = f"{ground.labels[0]}: {ground.measure} is {said} over {topics(counts.topics)}."
    return Verdict("alone", headline, "One run has nothing to be compared with: give a second one for a verdict.")


def _two(ground: Ground, found: Against, common: int) -> Verdict:
    """Judge A against B."""
    first, second = ground.pair or (0, 1)
    a, b = ground.labels[first], ground.labels[second]
    turned = found if found.run == first else _turned(found)
    headline = {
        "better": f"{a} is better than {b}.",
        "worse": f"{a} is worse than {b}.",
        "cannot tell": f"Cannot tell {a} and {b} apart.",
    }[turned.word]
    means = ground.scores.mean[:, 0]
    reason = (
        f"{ground.measure} {means[first]:.4f} against {means[second]:.4f} over {topics(common)}: "
        f"{numbers(turned, ground.settings)}."
    )
    if common < 2:
        reason += " One topic says nothing about others."
    return Verdict(turned.word, headline, reason, (found,))


def _turned(found: Against) -> Against:
    word = {"better": "worse", "worse": "better"}.get(found.word, found.word)
    return Against(found.run, -found.difference, -found.high, -found.low, found.p, word)


def _ranking(ground: Ground, found: tuple[Against, ...]) -> Verdict:
    """Say whether the best run is really the best."""
    first, runs = int(ground.order[0]), len(ground.labels)
    best, mean = ground.labels[first], ground.scores.mean[first, 0]
    open_ = [against for against in found if against.word != "worse"]
    nearest = max(found, key=lambda against: against.difference)
    reason = (
        f"{ground.measure}: {mean:.4f}, ahead of {ground.labels[nearest.run]} by "
        f"{numbers(_turned(nearest), ground.settings)}."
    )
    if not open_:
        return Verdict("better", f"{best} is the best of {runs} runs.", reason, found)
    if len(open_) == len(found):
        headline = f"{best} leads, but none of the other {len(found)} runs can be told apart from it."
        return Verdict("cannot tell", headline, reason, found)
    names = _names(ground, open_)
    headline = f"{best} leads, but cannot be told apart from {names}."
    rest = [against for against in found if against.word == "worse"]
    return Verdict("cannot tell", headline, f"{reason} It is better than {_names(ground, rest)}.", found)


def _baseline(ground: Ground, found: tuple[Against, ...]) -> Verdict:
    """Say whether the best of the other runs improves on the baseline, and how many do."""
    best = max(found, key=lambda against: against.difference)
    a, b = ground.labels[best.run], ground.labels[ground.baseline or 0]
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
        f"The best one, {a}, differs by {numbers(best, ground.settings)} in {ground.measure}. "
        f"Of {len(found)} runs {_listed(parts)}."
    )
    return Verdict(best.word, headline, reason, found)


def _names(ground: Ground, found: Sequence[Against]) -> str:
    """Name the nearest two or three; count the others."""
    names = [ground.labels[a.run] for a in sorted(found, key=lambda a: -a.difference)]
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
