"""Differences of pairs over topics, judged as one family: what every command says of a pair is read from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.inference.corrections import adjust
from focuseval.inference.intervals import bca, effect_size
from focuseval.inference.paired_tests import EXACT, p_values
from focuseval.inference.power import detectable, smallest_drawn_p, smallest_p, topics_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.inference.settings import Settings

    Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Paired:
    """One family of pairs; each column has a value per pair."""

    settings: Settings
    difference: Vector
    """Means: first less second."""
    low: Vector
    high: Vector
    """The 95 % interval of the difference, not corrected."""
    p: Vector
    """Of the test, not corrected."""
    corrected: Vector
    """p, corrected for the family."""
    effect: Vector
    """Cohen's d: the mean of the topics' differences over their standard deviation."""
    differing: NDArray[np.int64]
    """Topics on which the two differ."""
    tied: NDArray[np.int64]
    """Topics on which both score the same."""
    detectable: Vector
    """The smallest difference that these topics show with probability .8."""
    needed: Vector
    """Topics with which the observed difference would be the smallest detectable one."""

    @property
    def family(self) -> int:
        """How many pairs are judged together."""
        return len(self.p)

    @property
    def reachable(self) -> NDArray[np.bool_]:
        """For every pair, whether any outcome could be significant: enough topics differ, and resamples are enough."""
        bar = self.settings.level(self.family)
        few = smallest_p(self.differing, self.settings.tails) > bar
        return ~few & (smallest_drawn_p(self.differing, self.settings, self.family) <= bar)

    @property
    def significant(self) -> NDArray[np.bool_]:
        """For every pair, whether the first improves significantly on the second."""
        return self.reachable & (self.corrected <= self.settings.alpha) & (self.difference > 0)

    @property
    def exact(self) -> bool:
        """Whether no p was estimated from random flips."""
        return self.settings.test == "randomisation" and bool((self.differing <= EXACT).all())

    def verdict(self, pair: int) -> str:
        """Return ``better`` or ``cannot tell``, with the reason where no outcome could be significant."""
        if self.significant[pair]:
            return "better"
        return "cannot tell" if self.reachable[pair] else self.hopeless(self.differing[[pair]])

    def hopeless(self, differing: NDArray[np.int64]) -> str:
        """Say why no outcome could be significant, for pairs that differ on so many topics."""
        bar = self.settings.level(self.family)
        few = differing[smallest_p(differing, self.settings.tails) > bar]
        if not len(few):
            return f"cannot tell: {self.settings.draws(self.family)} resamples are too few for {self.family} pairs"
        fewest, most = int(few.min()), int(few.max())
        number = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        return f"cannot tell: {number} topic{' differs' if most == 1 else 's differ'}, no outcome could be significant"


def judge_pairs(differences: NDArray[np.float64], settings: Settings) -> Paired:
    """Judge a family of pairs, one row of differences each; a single topic says nothing about others.

    >>> from focuseval.inference.settings import Settings
    >>> judge_pairs(np.array([[0.5, 0.25, 0.5]]), Settings()).verdict(0)
    'cannot tell: 3 topics differ, no outcome could be significant'
    """
    pairs, topics = differences.shape
    if not differences.size:
        none, zero = np.full(pairs, np.nan), np.zeros(pairs, np.int64)
        return Paired(settings, none, none, none, none, none, none, zero, zero, none, none)
    mean = differences.mean(axis=1)
    low, high = bca(differences, resamples=settings.of_interval, seed=settings.seed)
    p = p_values(differences, settings) if topics > 1 else np.ones(pairs)
    deviation = differences.std(axis=1, ddof=1) if topics > 1 else np.zeros(pairs)
    differing = (differences != 0).sum(axis=1)
    return Paired(
        settings=settings, difference=mean, low=low, high=high, p=p, corrected=adjust(p, settings.correction),
        effect=effect_size(differences), differing=differing, tied=topics - differing,
        detectable=detectable(deviation, topics, settings),
        needed=topics_needed(mean, deviation, settings, pairs),
    )  # fmt: skip
