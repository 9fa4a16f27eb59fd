"""How a difference is judged: the test, its tails, its level, the correction for many pairs."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from focuseval.errors import MeasureError

TESTS = ("randomisation", "studentised", "bootstrap", "t", "wilcoxon", "sign")
INTERVALS = ("t", "studentised", "bca")
"""How a 95 % interval is made: by Student's t, by the studentised bootstrap, or by the BCa bootstrap."""
CORRECTIONS = ("none", "holm", "bh")
"""Corrections for many pairs: none, Holm (family-wise error), Benjamini–Hochberg (false discovery rate)."""
MOST_RESAMPLES = 1_000_000


@dataclass(frozen=True)
class Settings:
    """How a difference is judged; by default by a two-tailed randomisation test with Holm's correction."""

    test: str = "randomisation"
    tails: int = 2
    resamples: int = 10_000
    alpha: float = 0.05
    correction: str = "holm"
    seed: int = 0
    interval: str = "t"

    def __post_init__(self) -> None:
        """Refuse what does not exist."""
        choices = {"a test": (self.test, TESTS), "an interval": (self.interval, INTERVALS)}
        for what, (found, known) in (choices | {"a correction": (self.correction, CORRECTIONS)}).items():
            if found not in known:
                raise MeasureError(f"expected {what} among {', '.join(known)}, found {found!r}")
        if self.tails not in (1, 2):
            raise MeasureError(f"expected 1 or 2 tails, found {self.tails}")
        if not 1 <= self.resamples <= MOST_RESAMPLES:
            raise MeasureError(f"expected 1 to {MOST_RESAMPLES} resamples, found {self.resamples}")
        if not 0 < self.alpha < 1:
            raise MeasureError(f"expected a level alpha between 0 and 1, found {self.alpha}")
        if self.seed < 0:
            raise MeasureError(f"expected a seed of 0 or more, found {self.seed}")

    def level(self, family: int) -> float:
        """Return the level that the smallest p of a family of pairs has to reach.

        >>> Settings().level(5), Settings(correction="none").level(5)
        (0.01, 0.05)
        """
        return self.alpha / (max(1, family) if self.correction == "holm" else 1)

    def draws(self, family: int) -> int:
        """Return how many resamples a small p of a family is estimated from: it may be half of what it has to be."""
        return max(self.resamples, min(ceil(2 / self.level(family)), MOST_RESAMPLES))

    def __str__(self) -> str:
        """Return what was done, in words.

        >>> str(Settings()), str(Settings("t", tails=1, correction="none"))
        ('randomisation, two-tailed at 0.05, 10000 resamples, seed 0, Holm', 't, one-tailed at 0.05, uncorrected')
        """
        return self.words()

    def words(self, *, exact: bool = False, family: str = "") -> str:
        """Return test, tails, level and correction; an exact test draws nothing, a family is what is corrected for."""
        resampled = self.test in {"randomisation", "studentised", "bootstrap"}
        drawn = f", {self.resamples} resamples, seed {self.seed}" if resampled else ""
        tails = "one-tailed" if self.tails == 1 else "two-tailed"
        correction = {"none": "uncorrected", "holm": "Holm", "bh": "Benjamini–Hochberg"}[self.correction]
        over = f" over {family}" if family else ""
        return f"{self.test}, {tails} at {self.alpha:g}{', exact' if exact else drawn}, {correction}{over}"


def settings_of(**given: Any) -> Settings:
    """Return settings from what is given; None stands for the default.

    The one-tailed bootstrap is the test of the papers, and by default as they ran it: 1,000 resamples, uncorrected.

    >>> str(settings_of(test="bootstrap", tails=1, seed=None))
    'bootstrap, one-tailed at 0.05, 1000 resamples, seed 0, uncorrected'
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    if (chosen.get("test"), chosen.get("tails")) == ("bootstrap", 1):
        chosen = {"resamples": 1000, "correction": "none"} | chosen
    return Settings(**chosen)
