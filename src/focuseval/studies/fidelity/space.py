"""The S×R space: whether a measure orders its simulated runs as it should (Pehcevski and Thom, 2007).

Along S, a run that returns more irrelevant or less relevant text must score lower (S → S_L → S_LD, S → S_S → S_ST).
Along R, a run with an intruder on top must score lower (R → R_I, R_S → R_SI). Swapping the first two articles changes
nothing for perfect passages, because every article's score is 1; elsewhere the swap is printed, not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.evaluation.planning import evaluate
from focuseval.inference.paired_tests import paired_differences, t_test
from focuseval.studies.simulation import SPACE, simulate
from focuseval.studies.simulation.parts import SELECTIONS
from focuseval.studies.simulation.ranking import RANKINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.data.gold import Gold
    from focuseval.evaluation.scores import Scores

_S_STEPS = (("S", "S_L"), ("S", "S_S"), ("S_L", "S_LD"), ("S_S", "S_ST"))
_R_STEPS = (("R", "R_S"), ("R", "R_I"), ("R_S", "R_SI"), ("R_I", "R_SI"))


@dataclass(frozen=True)
class Change:
    """Two neighbouring runs of the space, and what is expected of their scores: ``>``, ``=`` or nothing (``?``)."""

    first: str
    second: str
    expected: str
    dimension: str

    def __str__(self) -> str:
        """Return ``S-R → S_L-R``."""
        return f"{self.first} → {self.second}"


def steps() -> tuple[Change, ...]:
    """Return the 36 neighbouring pairs of the space: those along S first, then those along R.

    >>> len(steps()), str(steps()[0])
    (36, 'S-R → S_L-R')
    """
    along_s = [Change(f"{a}-{r}", f"{b}-{r}", ">", "S") for r in RANKINGS for a, b in _S_STEPS]
    along_r = [Change(f"{s}-{a}", f"{s}-{b}", _expected(s, a, b), "R") for s in SELECTIONS for a, b in _R_STEPS]
    return (*along_s, *along_r)


def _expected(selection: str, before: str, after: str) -> str:
    if before.count("I") != after.count("I"):
        return ">"
    return "=" if selection == "S" else "?"


@dataclass(frozen=True)
class Outcome:
    """What one measure says of one step."""

    step: Change
    difference: float
    """Mean of the first less mean of the second, in percent points."""
    greater: int
    equal: int
    less: int
    p: float

    @property
    def kept(self) -> bool | None:
        """Whether the expected order was found; None where none is expected."""
        if self.step.expected == "?":
            return None
        if self.step.expected == "=":
            return self.greater == self.less == 0
        return self.difference > 0


@dataclass(frozen=True)
class SpaceTest:
    """Every measure's outcome at every step of the space."""

    measures: tuple[str, ...]
    scores: Scores
    outcomes: tuple[tuple[Outcome, ...], ...]
    """Per measure, one outcome per step."""

    def verdict(self, measure: str, dimension: str | None = None) -> tuple[int, int]:
        """Return how many expected orders were found, and how many were expected (on one dimension or all)."""
        own = self.outcomes[self.measures.index(measure)]
        judged = [o.kept for o in own if o.kept is not None and dimension in (None, o.step.dimension)]
        return sum(judged), len(judged)

    def mean(self, measure: str) -> dict[str, float]:
        """Return the mean of every run of the space: the grid."""
        column = self.scores.measures.index(measure)
        return dict(zip(self.scores.runs, self.scores.mean[:, column].tolist(), strict=True))


def space_test(gold: Gold, measures: Sequence[str], index: Any, **policies: Any) -> SpaceTest:
    """Build the 20 runs of the space, score them, and hold every step against what is expected."""
    runs = [simulate(gold, kind, index) for kind in SPACE]
    scores = evaluate(gold, runs, measures, task="relevant-in-context", index=index, **policies)
    found = tuple(_outcomes(scores, column) for column in range(len(scores.measures)))
    return SpaceTest(scores.measures, scores, found)


def _outcomes(scores: Scores, column: int) -> tuple[Outcome, ...]:
    row = {kind: i for i, kind in enumerate(SPACE)}
    values = scores.values[:, :, column]
    values = values[:, ~np.isnan(values).any(axis=0)]
    chosen = steps()
    first, second = [row[s.first] for s in chosen], [row[s.second] for s in chosen]
    differences = paired_differences(values[first], values[second])
    p = t_test(differences, tails=2)
    return tuple(
        Outcome(
            step,
            100 * float(d.mean()) if len(d) else float("nan"),
            int((d > 0).sum()),
            int((d == 0).sum()),
            int((d < 0).sum()),
            float(p[i]),
        )
        for i, (step, d) in enumerate(zip(chosen, differences, strict=True))
    )
