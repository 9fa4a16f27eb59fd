"""The answer: better, worse, or cannot tell, in a sentence with the numbers behind it.

Every number comes from the comparison of the runs, which ``focuseval compare`` prints, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.inference.sentences import shown_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.inference.comparison import Comparison
    from focuseval.inference.settings import Settings
    from focuseval.report.evidence import Evidence

SAME = 1e-12
"""Means that differ by less differ by rounding alone."""


@dataclass(frozen=True)
class Against:
    """One run held against another."""

    run: int
    difference: float
    low: float
    high: float
    p: float
    """Not corrected."""
    p_corrected: float
    word: str
    """``better``, ``worse`` or ``cannot tell``."""
    reason: str
    """The word, and why it cannot be told where no outcome could be significant."""
    ties: int
    """Topics on which both score the same."""
    detectable: float | None
    topics_needed: int | None
    """Topics that the difference would need; None where no number of them would do."""


@dataclass(frozen=True)
class Verdict:
    """What the first screen says."""

    word: str
    """``better``, ``worse``, ``cannot tell``, or ``alone`` for a single run."""
    headline: str
    reason: str
    against: tuple[Against, ...] = ()
    """Every other run, held against the reference (or the best run against every other)."""
    caveat: str = ""
    """Measures under which the order is another one, in a sentence."""


def verdict(evidence: Evidence) -> Verdict:
    """Judge the runs under the measure that decides."""
    if evidence.pair is None:
        return _alone(evidence)
    found = evidence.compared(evidence.measure)
    if found is None:
        return Verdict("cannot tell", "Cannot tell.", f"No topic has a value in every run under {evidence.measure}.")
    first, second = evidence.pair
    places = {int(run): place for place, run in enumerate(evidence.order)}
    reference = first if evidence.baseline is None else second
    others = [run for run in places if run != reference]
    against = tuple(held_against(found, run, places[run], places[reference]) for run in sorted(others))
    if len(places) == 2:
        said = _two(evidence, against[0], found)
    else:
        said = _ranking(evidence, against) if evidence.baseline is None else _baseline(evidence, against)
    reason = f"{said.reason} Test: {found.method}; the interval is uncorrected."
    return replace(said, reason=reason, caveat=caveat(evidence))


def held_against(found: Comparison, run: int, other: int, reference: int) -> Against:
    """Return how a run, whose place in the comparison is `other`, stands against a reference."""
    k = found.pair(other, reference)
    sure = bool(found.significant[k])
    needed = float(found.needed[k])
    against = Against(
        run=run,
        difference=float(found.difference[k]),
        low=float(found.low[k]),
        high=float(found.high[k]),
        p=float(found.p[k]),
        p_corrected=float(found.corrected[k]),
        word="better" if sure else "cannot tell",
        reason=found.verdict(k),
        ties=int(found.tied[k]),
        detectable=float(found.detectable[k]) if np.isfinite(found.detectable[k]) else None,
        topics_needed=int(needed) if np.isfinite(needed) else None,
    )
    return against if found.better[k] == other else _turned(against)


def _alone(evidence: Evidence) -> Verdict:
    counts = evidence.scores.counts[0]
    mean = evidence.means[0]
    said = "no value" if np.isnan(mean) else f"{mean:.4f}"
    headline = f"{evidence.labels[0]}: {evidence.measure} is {said} over {topics(counts.topics)}."
    return Verdict("alone", headline, "One run has nothing to be compared with: give a second one for a verdict.")


def _two(evidence: Evidence, found: Against, comparison: Comparison) -> Verdict:
    """Judge A against B."""
    first, second = evidence.pair or (0, 1)
    a, b = evidence.labels[first], evidence.labels[second]
    turned = found if found.run == first else _turned(found)
    headline = {
        "better": f"{a} is better than {b}.",
        "worse": f"{a} is worse than {b}.",
        "cannot tell": f"Cannot tell {a} and {b} apart.",
    }[turned.word]
    means = evidence.means
    reason = (
        f"{evidence.measure} {means[first]:.4f} against {means[second]:.4f} over {topics(len(comparison.topics))} "
        f"({found.ties} tied): {numbers(turned, evidence.settings)}. {power(turned)}"
    )
    return Verdict(turned.word, headline, reason, (found,))


def _turned(found: Against) -> Against:
    turned = {"better": "worse", "worse": "better"}
    word, reason = (turned.get(said, said) for said in (found.word, found.reason))
    return replace(found, difference=-found.difference, low=-found.high, high=-found.low, word=word, reason=reason)


def _ranking(evidence: Evidence, found: tuple[Against, ...]) -> Verdict:
    """Say whether the best run is really the best."""
    first, runs = int(evidence.order[0]), len(evidence.labels)
    best, mean = evidence.labels[first], evidence.means[first]
    open_ = [against for against in found if against.word != "worse"]
    nearest = max(found, key=lambda against: against.difference)
    reason = (
        f"{evidence.measure}: {mean:.4f}, ahead of {evidence.labels[nearest.run]} by "
        f"{numbers(_turned(nearest), evidence.settings)}. {power(nearest)}"
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
        f"{power(best)} Of {len(found)} runs {listed(parts)}."
    )
    return Verdict(best.word, headline, reason, found)


def caveat(evidence: Evidence) -> str:
    """Name the measures under which B is ahead of A, or under which another run leads where the best one is judged."""
    first, second = evidence.pair or (0, 0)
    means, measures = evidence.scores.mean, evidence.scores.measures
    ranking = len(evidence.labels) > 2 and evidence.baseline is None
    rivals = np.delete(np.arange(len(means)), first) if ranking else np.array([second])
    ahead = means[rivals] - means[first]
    ahead *= np.where(evidence.means[first] >= evidence.means[second], 1, -1)
    turned = [measures[m] for m in np.flatnonzero((np.nan_to_num(ahead) > SAME).any(axis=0))]
    if not turned or turned == [evidence.measure]:
        return ""
    rest = f"{len(turned) - 3:,} more of the {len(measures) - 1:,} other measures"
    named = listed(turned if len(turned) <= 4 else [*turned[:3], rest])
    return f"Under {named} {'another run leads' if ranking else 'the order is the other way round'}."


def _names(evidence: Evidence, found: Sequence[Against]) -> str:
    """Name the nearest two or three; count the others."""
    names = [evidence.labels[a.run] for a in sorted(found, key=lambda a: -a.difference)]
    return listed(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def listed(parts: Sequence[str]) -> str:
    """Put names into a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def topics(number: int) -> str:
    """Return ``1 topic`` or ``6 topics``."""
    return "1 topic" if number == 1 else f"{number:,} topics"


def numbers(found: Against, settings: Settings) -> str:
    """Print a difference with its interval and p, corrected where that differs, and why nothing can be told."""
    said = f"{signed(found.difference)} [{signed(found.low)}, {signed(found.high)}], p {_equals(found.p, settings)}"
    if found.p_corrected != found.p:
        said += f" (corrected {shown_p(found.p_corrected, settings)})"
    return said if found.reason == found.word else f"{said}; {found.reason}"


def _equals(p: float, settings: Settings) -> str:
    shown = shown_p(p, settings)
    return f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"


def power(found: Against) -> str:
    """Say what these topics could have shown, and what the observed difference would need.

    >>> power(Against(0, 0.07, -0.01, 0.15, 0.1, 0.1, "cannot tell", "cannot tell", 0, 0.2, 41))
    'With probability .8 these topics would have shown a difference of 0.2000; the observed one needs 41 topics.'
    """
    if found.detectable is None:
        return "One topic says nothing about others."
    shown = f"With probability .8 these topics would have shown a difference of {found.detectable:.4f}"
    if found.topics_needed is None:
        return f"{shown}; no number of topics would show the observed one."
    return f"{shown}; the observed one needs {found.topics_needed:,} topics."


def signed(value: float) -> str:
    """Print a difference with its sign, a minus as long as a plus."""
    return f"{value:+.4f}".replace("-", "−")
