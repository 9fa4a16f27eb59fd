"""Whether a run is worse than a baseline: a paired test over the topics, and a smallest drop that matters.

The direction is fixed beforehand: only a drop is asked for. Everything else is judged as any pair of runs is.

One measure decides; others are shown. Among runs that differ from the baseline on the same topics, a worse one never
passes where a better one fails. For the randomisation test that holds because p is the chance that the losses and
gains of a random part of the topics add up to no loss, which can only fall where some topic loses more. It holds for
the bootstrap and the sign test as well, but not for Student's t (one huge loss adds more to the deviation than to the
mean); of Wilcoxon's ranks it is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isclose, isfinite

import numpy as np
from numpy.typing import NDArray

from focuseval.data.tables import one_line
from focuseval.errors import MeasureError, counted
from focuseval.inference.clusters import Clusters
from focuseval.inference.paired import POWER, judge_pairs, smallest_p
from focuseval.inference.paired_tests import EXACT, adjust, paired_differences
from focuseval.inference.sentences import shown_p
from focuseval.inference.settings import Settings

Change = tuple[str, Sequence[str], NDArray[np.float64], NDArray[np.float64]]
"""A measure, its topics, and their values before and after."""

PASS, REGRESSION, CANNOT_TELL, SHOWN = "pass", "regression", "cannot tell", "shown"
"""What is said of a measure; one that does not decide is only shown."""
DECIDE = ("one", "all")
MOST_NAMES = 20  # questions that a sentence names
ZETA = 2.6124  # a little more than the sum of k to the power of −3/2 over all k from 1 on


@dataclass(frozen=True)
class GateRule(Settings):
    """When a run is worse: its mean drops by `min_effect` or more, significantly; or too many topics lose that much.

    The direction is fixed beforehand, so the test has one tail. The first measure decides, or all of them, corrected.
    """

    tails: int = 1
    min_effect: float = 0.0
    max_lost: int | str | None = None
    """How many topics may lose `min_effect` or more, whatever the others gain: a number, or a share such as ``75%``."""
    decide: str = DECIDE[0]
    strict: bool = False
    """Whether a gate that cannot tell fails."""

    def __post_init__(self) -> None:
        """Refuse what does not exist, and an effect below zero or beyond all numbers."""
        super().__post_init__()
        if not (isfinite(self.min_effect) and self.min_effect >= 0):
            raise MeasureError(f"expected a smallest effect of 0 or more, found {self.min_effect:g}")
        if self.decide not in DECIDE:
            raise MeasureError(f"expected {' or '.join(DECIDE)} of the measures to decide, found {self.decide!r}")
        try:
            self.allowed(0)
        except ValueError:
            what = "expected how many topics may get worse, or which share, such as 75%"
            raise MeasureError(f"{what}, found {self.max_lost!r}") from None

    def allowed(self, topics: int) -> int:
        """Return how many of so many topics may lose `min_effect` or more.

        >>> GateRule(max_lost=3).allowed(5), GateRule(max_lost="75%").allowed(5), GateRule().allowed(5)
        (3, 3, 5)
        """
        if self.max_lost is None:
            return topics
        text = str(self.max_lost)
        number = float(text.removesuffix("%")) if text.endswith("%") else int(text)
        if not 0 <= number <= (100 if text.endswith("%") else number):
            raise ValueError(text)
        return int(topics * number / 100 + 1e-9) if text.endswith("%") else int(number)

    def spent(self, test: int) -> float:
        """Return the level of the nth test against an anchor, from 1: the levels of all add up to less than `alpha`.

        So the chance of any false alarm is below `alpha`, however many tests there are and depend on each other.

        >>> [round(GateRule().spent(n), 5) for n in (1, 2, 20)]
        [0.01914, 0.00677, 0.00021]
        """
        return float(self.alpha / (ZETA * test**1.5))

    def large(self, drop: float) -> bool:
        """Whether something lost as much as the smallest effect, but for rounding."""
        return drop > 0 and (drop >= self.min_effect or isclose(drop, self.min_effect, rel_tol=1e-9))


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
    """Topics that got worse, the largest loss first: topic, before, after."""
    rule: GateRule
    measures: int = 1
    """How many measures decide together."""
    decides: bool = True
    detectable: float = float("nan")
    """The smallest drop that these topics show with probability .8."""
    anchor: str = ""
    """The pinned release that the run is held against, in place of the baseline."""
    clusters: tuple[int, int] | None = None
    """In how many clusters the topics are judged, and how many of them differ; None for topics."""
    by_document: tuple[int, float] | None = None
    """Where topics share documents and no clusters were asked for: how many clusters by document there are, and p."""
    gained: int = 0
    """Topics that got better from 0."""

    @property
    def name(self) -> str:
        """The measure, and the anchor where the run is held against one."""
        return f"{self.measure} against {self.anchor}" if self.anchor else self.measure

    @property
    def difference(self) -> float:
        """Return after less before; what is only rounding noise is no difference."""
        return float(paired_differences(np.array([[self.after]]), np.array([[self.before]]))[0, 0])

    @property
    def level(self) -> float:
        """What p has to reach where it is the smallest of those that decide."""
        return self.rule.level(self.measures)

    @property
    def units(self) -> tuple[int, int]:
        """How many topics, or clusters, are judged, and how many changed."""
        return self.clusters or (self.topics, self.differing)

    def few(self, number: int) -> str:
        """Say why no outcome could be significant where so many units change; empty where one could."""
        changed, own, said = np.array([number]), replace(self.rule, alpha=self.level), ""
        if smallest_p(changed, self.units[0], own)[0] > self.level:
            said = f"too few for any outcome to be significant at {self.level:.3g}"
        elif smallest_p(changed, self.units[0], own, 1)[0] > self.level:
            said = f"{own.draws(1)} resamples are too few at {self.level:.3g}, so pin a newer release"
        return said

    @property
    def collapsed(self) -> int:
        """How many topics lost as much as the smallest effect."""
        return sum(self.rule.large(before - after) for _, before, after in self.lost)

    @property
    def word(self) -> str:
        """``regression``, ``pass`` or ``cannot tell``; ``shown`` where the measure does not decide.

        The run is worse where the drop is large enough to matter and significant, or where more topics lost than may.
        Nothing can be told of a drop where so few topics changed that no outcome could be significant.
        """
        if not self.decides:
            return SHOWN
        if self.collapsed > self.rule.allowed(self.topics):
            return REGRESSION
        if not self.rule.large(-self.difference):
            return PASS
        if self.few(self.units[1]):
            return CANNOT_TELL
        return REGRESSION if self.corrected <= self.rule.alpha else PASS

    @property
    def fails(self) -> bool:
        """Whether a build fails: the run is worse, or nothing can be told where the rule is strict."""
        return self.word == REGRESSION or (self.rule.strict and self.word == CANNOT_TELL)

    def __str__(self) -> str:
        """Return the verdict in one line, with the test behind it."""
        tails = "one-tailed" if self.rule.tails == 1 else "two-tailed"
        p = f"p of a drop {shown_p(self.p, self.rule)}"
        if self.decides and self.measures > 1 and self.rule.correction != "none":
            p += f", over {self.measures} measures by {self.rule.correction} {shown_p(self.corrected, self.rule)}"
        change = f"{self.before:.4f} → {self.after:.4f} ({self.difference:+.4f}"
        interval = f"95 % interval [{self.low:+.4f}, {self.high:+.4f}]"
        at = f" at {self.rule.alpha:.3g}" if self.decides else ""
        inside = "" if self.clusters is None else f" in {counted(self.clusters[0], 'cluster')}"
        test = f"{p}, {self.rule.test}, {tails}{at}) over {counted(self.topics, 'topic')}{inside}"
        remark = f"; {self.remark}" if self.decides and self.remark else ""
        if self.by_document is not None and self.differing:
            number, other = self.by_document
            remark += f"; topics share documents: in {counted(number, 'cluster')} by document"
            remark += f" (--cluster-by document) p would be {shown_p(other, self.rule)}"
        return f"{self.word.upper()} {self.name}: {change}, {interval}, {test}{remark}"

    @property
    def remark(self) -> str:
        """What decided where it was not the test alone, and of a pass what could have been seen."""
        effect, said = self.rule.min_effect, ""
        if (lost := self.collapsed) > (most := self.rule.allowed(self.topics)):
            by = f"lost {effect:g} or more" if effect else "got worse"
            said = f"{counted(lost, 'question')} {by}, --max-lost {self.rule.max_lost} allows {most} of {self.topics}"
        elif self.word == CANNOT_TELL:
            said = f"{self.changed()}: {self.few(self.units[1])}"
        elif self.word == PASS and (few := self.few(self.units[0])):
            hint = "give --max-lost" if self.rule.max_lost is None else "--max-lost alone decides"
            hint = "pin a newer release" if self.anchor else hint
            whole = counted(self.units[0], "topic" if self.clusters is None else "cluster")
            said = f"{whole} {'is' if self.units[0] == 1 else 'are'} {few}: {hint}"
        elif self.word == PASS and self.difference < 0 and self.corrected <= self.rule.alpha:
            said = f"the drop is real but below --min-effect {effect:g}"
        elif self.word == PASS and self.detectable > 0:
            none = self.detectable > abs(self.before)
            drop = "could not show any drop" if none else f"show a drop of {self.detectable:.4f}"
            said = f"these topics {drop} with probability {POWER:g}"
        return said

    def changed(self) -> str:
        """Say which questions changed: ``3 questions lost their answer, none gained: q1, q2 and q3``."""
        names, better = [topic for topic, *_ in self.lost], self.differing - len(self.lost)
        verb, other = "got worse", "better"
        if all(after == 0 for _, _, after in self.lost):
            verb = f"lost {'its' if len(names) == 1 else 'their'} answer"
            other = "gained" if self.gained == better else "got better"
        shown = names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"{len(names) - MOST_NAMES:,} more"]
        return f"{counted(len(names), 'question')} {verb}, {better or 'none'} {other}: {one_line(', '.join(shown))}"


def outcome(verdicts: Sequence[GateVerdict]) -> str:
    """Return the word over some verdicts: ``regression`` where one says so, else ``cannot tell``, else ``pass``."""
    found = {verdict.word for verdict in verdicts}
    return next((word for word in (REGRESSION, CANNOT_TELL) if word in found), PASS)


def judge_changes(
    changes: Sequence[Change], rule: GateRule, anchor: str = "", clusters: Sequence[Clusters] | None = None,
    shared: Sequence[Clusters] | None = None,
) -> list[GateVerdict]:  # fmt: skip
    """Judge what became of a run under some measures: the first decides, or all of them, corrected for their number.

    A test against an anchor is at a level that falls from test to test; what is no longer to be told is said. Else a
    level that resamples cannot reach is refused. `shared` are the clusters by document, where topics share documents
    and no clusters were asked for: of what decides, p is given by them, too.
    """
    family = len(changes) if rule.decide == "all" else 1
    own = replace(rule, alpha=rule.level(family))
    differences = [paired_differences(before[None], after[None]) for _, _, before, after in changes]
    inside: Sequence[Clusters | None] = clusters or [None] * len(changes)
    found = [judge_pairs(rows, own, clusters=one) for rows, one in zip(differences, inside, strict=True)]
    p = np.array([float(one.p[0]) for one in found])
    corrected = [*adjust(p[:family], rule.correction).tolist(), *p[family:].tolist()]
    verdicts = []
    for number, (measure, topics, before, after) in enumerate(changes):
        lost, one, by = differences[number][0], found[number], None
        if shared is not None and number < family:
            by = shared[number].number, float(judge_pairs(differences[number], own, clusters=shared[number]).p[0])
        worse = [i for i in np.argsort(-lost, kind="stable").tolist() if lost[i] > 0]
        within = None if one.clusters is None else (one.clusters.number, int(one.units[0]))
        verdicts.append(GateVerdict(
            measure, float(before.mean()), float(after.mean()), -float(one.high[0]) + 0.0, -float(one.low[0]) + 0.0,
            float(p[number]), corrected[number], len(topics), int(one.differing[0]),
            tuple((topics[i], float(before[i]), float(after[i])) for i in worse), rule, family, number < family,
            float(one.detectable[0]), anchor, within, by, int(np.count_nonzero((lost < 0) & (before == 0))),
        ))  # fmt: skip
    most = max(verdict.units[1] for verdict in verdicts[:family])
    if not anchor and most > EXACT and smallest_p(np.array([most]), most, own, 1)[0] > own.alpha:
        few = f"{own.draws(1)} resamples are too few for any outcome to be significant at {own.alpha:g}"
        raise MeasureError(f"{few}; give a larger --alpha, or another --test")
    return verdicts
