"""Whether a measure measures what it should: the S×R space, recall-base runs, constructed cases, passages.

Along S, a run that returns more irrelevant or less relevant text must score lower (S → S_L → S_LD, S → S_S → S_ST).
Along R, a run with an intruder on top must score lower (R → R_I, R_S → R_SI). Swapping the first two articles changes
nothing for perfect passages, because every article's score is 1; elsewhere the swap is printed, not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.tables import Table, numbers, words
from focuseval.evaluation.evaluation import evaluate
from focuseval.inference.paired_tests import paired_differences, t_test
from focuseval.measures.matching.policies import Policies
from focuseval.measures.measure import parse
from focuseval.measures.profiles import profile_named
from focuseval.studies.mapping import Gap, passage_gap, to_elements, to_passages
from focuseval.studies.requirements import Answer, requirements
from focuseval.studies.simulation import RECALL_BASE_KINDS, SPACE, simulate
from focuseval.studies.space_runs import RANKINGS, SELECTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.data.gold import Gold
    from focuseval.data.tables import Row
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


__all__ = ["Answer", "Fidelity", "Gap", "SpaceTest", "fidelity", "requirements", "to_elements", "to_passages"]

IN_CONTEXT = ("MAgP", "MAgP(gain=length)", "AP")
"""The measures of Pehcevski and Thom: the defaults of the S×R space."""
OF_ELEMENTS = ("i2AP(quant=spec)", "MAep", "nxCG@10", "PRUM")
"""The measures of Kazai and Lalmas that highlights allow: the defaults of the recall-base runs."""


@dataclass(frozen=True)
class Fidelity:
    """Everything the tests found."""

    space: SpaceTest
    recall_base: Scores
    """The four runs of the recall base (full, ideal, reversed, leaves) under measures of elements."""
    requirements: dict[str, tuple[Answer, ...]]
    gaps: tuple[Gap, ...]


def fidelity(
    gold: Gold,
    measures: Sequence[str] | None = None,
    index: Any = None,
    *,
    profile: str | None = None,
    drop_tags: tuple[str, ...] = (),
) -> Fidelity:
    """Run every test of fidelity on a gold; `measures` replaces the defaults of both families.

    A measure of elements is shown on the runs of the recall base, any other in the S×R space; the table of
    requirements has them all. A profile sets the policies of its tasks, its recall base and, where no measure is named,
    its official ones; `drop_tags` are left out of the recall base.
    """
    official = dict.fromkeys(names[0] for names in profile_named(profile).tasks.values()) if profile else ()
    asked = tuple(measures or official or (*IN_CONTEXT, *OF_ELEMENTS))
    of_elements = [m for m in asked if {"elements", "grades"} & set(parse(m).needs)] or list(OF_ELEMENTS)
    in_context = [m for m in asked if m not in of_elements] or list(IN_CONTEXT)
    policies = {task: policies_under(profile, task) for task in ("thorough", "relevant-in-context")}
    without = Policies(drop_tags=drop_tags).but(**policies["thorough"]).left_out()
    runs = [simulate(gold, kind, index, without=without) for kind in RECALL_BASE_KINDS]
    of_base = policies["thorough"] | {"drop_tags": drop_tags}
    return Fidelity(
        space=space_test(gold, in_context, index, **policies["relevant-in-context"]),
        recall_base=evaluate(gold, runs, of_elements, task="thorough", index=index, **of_base),
        requirements={measure: requirements(measure) for measure in (*in_context, *of_elements)},
        gaps=passage_gap(gold, [m for m in in_context if m != "AP"] or ["MAgP"], index),
    )


def policies_under(profile: str | None, task: str) -> dict[str, Any]:
    """Return the policies of a profile's task; of a task that it does not have, those of the whole profile."""
    if profile is None:
        return {}
    chosen = profile_named(profile)
    return chosen.policies_of(task) if task in chosen.tasks else dict(chosen.policies)


def tables(found: Fidelity) -> list[Table]:
    """Return everything as tables, the verdict first."""
    return [
        verdict_table(found.space),
        *(space_table(found.space, measure) for measure in found.space.measures),
        *(steps_table(found.space, measure) for measure in found.space.measures),
        recall_base_table(found),
        requirements_table(found),
        gap_table(found),
    ]


def verdict_table(test: SpaceTest) -> Table:
    """Return how many expected orders every measure keeps, on each dimension and in all."""
    rows = tuple(
        (measure, *("{} / {}".format(*test.verdict(measure, dimension)) for dimension in ("S", "R", None)))
        for measure in test.measures
    )
    notes = ("S: which parts of an article; R: the order of articles. Kept / expected orders of neighbouring runs.",)
    return Table("Expected orders kept", (*words("measure"), *numbers("S", "R", "all")), rows, notes)


def space_table(test: SpaceTest, measure: str) -> Table:
    """Return the mean of every run of the space under one measure."""
    means = test.mean(measure)
    rows: tuple[Row, ...] = tuple((s, *(means[f"{s}-{r}"] for r in RANKINGS)) for s in SELECTIONS)
    return Table(f"S×R space under {measure}", (*words(""), *numbers(*RANKINGS)), rows)


def steps_table(test: SpaceTest, measure: str) -> Table:
    """Return the table of Pehcevski and Thom: difference, topics greater, equal and less, p of a paired t-test."""
    own = test.outcomes[test.measures.index(measure)]
    columns = (
        *words("run ordering"),
        *numbers("diff %", ">", "=", "<", form="+.2f"),
        *numbers("p", form=".2g"),
        *words("order"),
    )
    mark = {None: "", True: "✓", False: "✗"}
    rows = tuple(
        (str(o.step), o.difference, o.greater, o.equal, o.less, o.p if o.greater or o.less else None, mark[o.kept])
        for o in own
    )
    topics = len(test.scores.topics)
    notes = (f"{topics} topics; ✓ the expected order, ✗ another one, blank where none is expected.",)
    return Table(f"Steps of the S×R space under {measure}", columns, rows, notes)


def recall_base_table(found: Fidelity) -> Table:
    """Return the four runs of the recall base under measures of elements."""
    scores = found.recall_base
    rows = tuple((run, *means) for run, means in zip(scores.runs, scores.mean.tolist(), strict=True))
    notes = ("An overlap-free ideal run should not lose to the full recall base, nor to leaves.",)
    return Table("Runs of the recall base", (*words("run"), *numbers(*scores.measures)), rows, notes)


def requirements_table(found: Fidelity) -> Table:
    """Return the table of requirements: one row each, one column per measure."""
    answers = list(found.requirements.values())
    rows = tuple(
        (first.requirement + ("" if first.observed else " (declared)"), *(own[row].answer for own in answers))
        for row, first in enumerate(answers[0])
    )
    notes = ("Observed by running the measure on constructed cases, except where it says declared.",)
    return Table("Requirements", words("", *found.requirements), rows, notes)


def gap_table(found: Fidelity) -> Table:
    """Return passages against elements: every run and its counterpart of the other kind."""
    rows: tuple[Row, ...] = tuple((name, *(gap.means[name] for gap in found.gaps)) for name in found.gaps[0].means)
    notes = tuple(f"No run of elements comes closer than {100 * g.gap:.1f} % under {g.measure}." for g in found.gaps)
    return Table("Passages and elements", (*words("run"), *numbers(*(gap.measure for gap in found.gaps))), rows, notes)


def as_json(found: Fidelity) -> dict[str, Any]:
    """Return everything the tables show, as plain values."""
    test = found.space
    return {
        "space": {measure: test.mean(measure) for measure in test.measures},
        "kept": {
            measure: dict(zip(("kept", "expected"), test.verdict(measure), strict=True)) for measure in test.measures
        },
        "steps": {
            measure: [
                {
                    "first": o.step.first,
                    "second": o.step.second,
                    "expected": o.step.expected,
                    "difference": o.difference,
                    "topics": [o.greater, o.equal, o.less],
                    "p": o.p,
                    "kept": o.kept,
                }
                for o in own
            ]
            for measure, own in zip(test.measures, test.outcomes, strict=True)
        },
        "recall_base": found.recall_base.means(),
        "requirements": {
            measure: {a.requirement: {"answer": a.answer, "observed": a.observed} for a in answers}
            for measure, answers in found.requirements.items()
        },
        "passages_and_elements": {gap.measure: {"means": gap.means, "gap": gap.gap} for gap in found.gaps},
    }
