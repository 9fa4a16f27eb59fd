"""Whether a run is worse than a baseline: a paired test over the topics, and a smallest drop that matters.

The direction is fixed beforehand: only a drop is asked for. Everything else is judged as any pair of runs is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose, isfinite
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MeasureError, NotComparableError, counted
from focuseval.inference.paired import judge_pairs, smallest_p
from focuseval.inference.paired_tests import adjust, paired_differences
from focuseval.inference.sentences import shown_p
from focuseval.inference.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.inference.clusters import Clusters

    Change = tuple[str, Sequence[str], NDArray[np.float64], NDArray[np.float64]]
    """A measure, its topics, and their values before and after."""

_REMEDY = "give --min-effect to judge by the size of the drop"


@dataclass(frozen=True)
class GateRule(Settings):
    """When a drop counts: significant, and at least `min_effect` on average.

    The direction is fixed beforehand, so the test has one tail; each measure is judged by itself.
    """

    tails: int = 1
    correction: str = "none"
    min_effect: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what does not exist, and an effect below zero or beyond all numbers."""
        super().__post_init__()
        if not (isfinite(self.min_effect) and self.min_effect >= 0):
            raise MeasureError(f"expected a smallest effect of 0 or more, found {self.min_effect:g}")


@dataclass(frozen=True)
class GateVerdict:
    """One measure's verdict."""

    measure: str
    before: float
    after: float
    low: float
    high: float
    p: float
    """Chance of such a drop if the run were no worse; not corrected."""
    corrected: float
    """p, corrected for the measures that are judged together."""
    topics: int
    differing: int
    """Topics whose value changed."""
    lost: tuple[tuple[str, float, float], ...]
    """Topics that lost most: topic, before, after."""
    rule: GateRule
    measures: int = 1
    """How many measures are judged together."""
    clusters: tuple[int, int] | None = None
    """In how many clusters the topics are judged, and how many of them differ; None for topics."""

    @property
    def difference(self) -> float:
        """Return after less before; what is only rounding noise is no difference."""
        return float(paired_differences(np.array([[self.after]]), np.array([[self.before]]))[0, 0])

    @property
    def few(self) -> int | None:
        """How many topics are too few for any outcome to be significant: all, or after a drop those that differ."""
        whole, differing = self.clusters or (self.topics, self.differing)
        counts = (whole, differing) if self.difference < 0 else (whole,)
        bar = self.rule.level(self.measures)
        return next((n for n in counts if smallest_p(np.array([n]), whole, self.rule)[0] > bar), None)

    @property
    def matters(self) -> bool:
        """Whether there is a drop as large as the smallest effect, but for rounding."""
        drop = -self.difference
        return drop > 0 and (drop >= self.rule.min_effect or isclose(drop, self.rule.min_effect, rel_tol=1e-9))

    @property
    def word(self) -> str:
        """``regression``, ``pass``, or ``no verdict`` where neither a test nor a smallest effect could decide.

        The run is worse if the drop is large enough to matter, and significant where that can be told.
        """
        if self.few is not None and not self.rule.min_effect:
            return "no verdict"
        worse = self.matters and (self.few is not None or self.corrected <= self.rule.alpha)
        return "regression" if worse else "pass"

    @property
    def regression(self) -> bool:
        """Whether the run is worse."""
        return self.word == "regression"

    def __str__(self) -> str:
        """Return the verdict in one line, with the test behind it."""
        tails = "one-tailed" if self.rule.tails == 1 else "two-tailed"
        p = f"p of a drop {shown_p(self.p, self.rule)}"
        if self.rule.correction != "none":
            p += f", over {self.measures} measures by {self.rule.correction} {shown_p(self.corrected, self.rule)}"
        change = f"{self.before:.4f} → {self.after:.4f} ({self.difference:+.4f}"
        interval = f"95 % interval [{self.low:+.4f}, {self.high:+.4f}]"
        inside = "" if self.clusters is None else f" in {counted(self.clusters[0], 'cluster')}"
        test = f"{p}, {self.rule.test}, {tails}) over {counted(self.topics, 'topic')}{inside}"
        effect, remark = f"--min-effect {self.rule.min_effect:g}", ""  # what decided, where it was not the test alone
        if self.word == "no verdict":
            remark = f"; {self.too_few()}: {_REMEDY}"
        elif self.few is not None:
            remark = f"; {self.too_few()}: the size alone decides ({effect})"
        elif self.difference < 0 and self.corrected <= self.rule.alpha and not self.matters:
            remark = f"; the drop is real but below {effect}"
        return f"{self.word.upper()} {self.measure}: {change}, {interval}, {test}{remark}"

    def too_few(self) -> str:
        """Say how many topics are too few."""
        one = self.few == 1
        whole, noun = (self.topics, "topic") if self.clusters is None else (self.clusters[0], "cluster")
        if self.few == whole:
            which = f"{counted(whole, noun)} {'is' if one else 'are'}"
        else:
            which = f"{self.few} of {whole} {noun}s {'differs' if one else 'differ'},"
        return f"{which} too few for any outcome to be significant"


def judge_changes(
    changes: Sequence[Change], rule: GateRule, clusters: Sequence[Clusters] | None = None
) -> list[GateVerdict]:
    """Judge what became of a run under some measures, each by itself; p is corrected for their number if asked for.

    Where the topics are too few for any outcome to be significant, the size of a drop decides; without a smallest
    effect there is no verdict. That is refused, unless another measure regresses. `clusters` are those of each change's
    topics.
    """
    differences = [paired_differences(before[None], after[None]) for _, _, before, after in changes]
    inside: Sequence[Clusters | None] = clusters or [None] * len(changes)
    found = [judge_pairs(rows, rule, clusters=own) for rows, own in zip(differences, inside, strict=True)]
    corrected = adjust(np.array([float(one.p[0]) for one in found]), rule.correction).tolist()
    verdicts = []
    for (measure, topics, before, after), (lost,), one, p in zip(changes, differences, found, corrected, strict=True):
        most = [i for i in np.argsort(-lost, kind="stable")[:5].tolist() if lost[i] > 0]
        verdicts.append(
            GateVerdict(
                measure, float(before.mean()), float(after.mean()), -float(one.high[0]) + 0.0, -float(one.low[0]) + 0.0,
                float(one.p[0]), p, len(topics), int(one.differing[0]),
                tuple((topics[i], float(before[i]), float(after[i])) for i in most), rule, len(changes),
                None if one.clusters is None else (one.clusters.number, int(one.units[0])),
            )
        )  # fmt: skip
    for verdict in verdicts:
        whole, changed = verdict.clusters or (verdict.topics, verdict.differing)
        bar, differing = rule.level(verdict.measures), np.array([changed])
        if smallest_p(differing, whole, rule, 1)[0] > bar >= smallest_p(differing, whole, rule)[0]:
            drawn = f"{rule.draws(1)} resamples are too few for any outcome to be significant at {bar:g}"
            raise MeasureError(f"{drawn}; give a larger --alpha, or another --test")
        if verdict.word == "no verdict" and not any(other.regression for other in verdicts):
            raise NotComparableError(f"{verdict.measure}: {verdict.too_few()} at {bar:g}; {_REMEDY}")
    return verdicts
