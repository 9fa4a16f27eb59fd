"""Whether a run is worse than a baseline: a paired test over the topics, and a smallest drop that matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MeasureError, NotComparableError
from focuseval.gate.baseline import refuse_other_ground
from focuseval.significance.intervals import bca
from focuseval.significance.paired_tests import p_values
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.evaluate import Scores
    from focuseval.gate.baseline import Baseline


@dataclass(frozen=True)
class GateRule:
    """When a drop counts: significant at `alpha` (one-tailed), and at least `min_effect` on average."""

    alpha: float = 0.05
    min_effect: float = 0.0
    test: str = "bootstrap"
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a level that is no probability and an effect below zero."""
        if not 0 < self.alpha < 1:
            raise MeasureError(f"expected a level alpha between 0 and 1, found {self.alpha:g}")
        if self.min_effect < 0:
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
    """Chance of such a drop if the run were no worse."""
    topics: int
    lost: tuple[tuple[str, float, float], ...]
    """Topics that lost most: topic, before, after."""
    rule: GateRule

    @property
    def difference(self) -> float:
        """Return after less before."""
        return self.after - self.before

    @property
    def regression(self) -> bool:
        """Whether the run is worse: the drop is significant and large enough to matter."""
        return self.difference < 0 and self.p <= self.rule.alpha and -self.difference >= self.rule.min_effect

    @property
    def shown_p(self) -> str:
        """The chance as it is printed: what no resample showed is rarer than one in all of them, not impossible."""
        never = self.p == 0 and self.rule.test == "bootstrap"
        return f"<{1 / self.rule.resamples:.2g}" if never else f"{self.p:.3g}"

    def __str__(self) -> str:
        """Return the verdict in one line."""
        word = "REGRESSION" if self.regression else "PASS"
        line = (
            f"{word} {self.measure}: {self.before:.4f} → {self.after:.4f} ({self.difference:+.4f}, 95 % interval "
            f"[{self.low:+.4f}, {self.high:+.4f}], p of a drop {self.shown_p}) over {self.topics} topics"
        )
        tolerated = self.difference < 0 and self.p <= self.rule.alpha and not self.regression
        return line + (f"; the drop is real but below --min-effect {self.rule.min_effect:g}" if tolerated else "")


def judge(
    baseline: Baseline, scores: Scores, measures: Sequence[str], rule: GateRule | None = None
) -> list[GateVerdict]:
    """Judge the one run of `scores` against the baseline, measure by measure, over exactly the same topics."""
    if len(scores.runs) != 1:
        raise NotComparableError(f"expected one run to judge, found {len(scores.runs)}; call the gate once for each")
    refuse_other_ground(baseline, scores)
    now = scores.topics_of(0)
    return [_judged(baseline, now, measure, rule or GateRule()) for measure in measures]


def _judged(baseline: Baseline, now: dict[str, dict[str, float]], measure: str, rule: GateRule) -> GateVerdict:
    old = baseline.values(measure)
    new = {topic: values[measure] for topic, values in now.items() if measure in values}
    _refuse_other_topics(baseline, measure, old, new)
    names = list(new)
    before = np.array([old[topic] for topic in names], np.float64)
    after = np.array([new[topic] for topic in names], np.float64)
    change = after - before
    low, high = bca(change[None, :], resamples=max(1000, rule.resamples), seed=rule.seed)
    p = p_values(rule.test, -change[None, :], tails=1, resamples=rule.resamples, seed=rule.seed)
    lost = _lost(names, before, after)
    return GateVerdict(
        measure,
        float(before.mean()),
        float(after.mean()),
        float(low[0]),
        float(high[0]),
        float(p[0]),
        len(names),
        lost,
        rule,
    )


def _refuse_other_topics(baseline: Baseline, measure: str, old: dict[str, float], new: dict[str, float]) -> None:
    if not old:
        raise NotComparableError(f"{baseline.file}: {measure} is not in the baseline; score it again with -m {measure}")
    if old.keys() != new.keys():
        odd = sorted(old.keys() ^ new.keys())
        raise NotComparableError(
            f"{baseline.file}: other topics than now under {measure} ({len(odd)} differ, the first is {odd[0]}); "
            "score the baseline again on the same ground"
        )
    if len(new) < 2:
        raise NotComparableError(f"{measure}: {len(new)} topic says nothing about others; no verdict is possible")


def _lost(
    names: list[str], before: NDArray[np.float64], after: NDArray[np.float64]
) -> tuple[tuple[str, float, float], ...]:
    """Return the five topics that lost most."""
    order = np.argsort(after - before, kind="stable")[:5].tolist()
    return tuple((names[i], float(before[i]), float(after[i])) for i in order if after[i] < before[i])
