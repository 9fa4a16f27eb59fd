"""Fidelity as tables: the space and its steps, the runs of the recall base, the requirements, the gap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.data.tables import Table, numbers, words
from focuseval.studies.simulation.parts import SELECTIONS
from focuseval.studies.simulation.ranking import RANKINGS

if TYPE_CHECKING:
    from focuseval.data.tables import Row
    from focuseval.studies.fidelity import Fidelity
    from focuseval.studies.fidelity.space import Outcome, SpaceTest


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
    rows = tuple((str(outcome.step), *_step(outcome)) for outcome in own)
    topics = len(test.scores.topics)
    notes = (f"{topics} topics; ✓ the expected order, ✗ another one, blank where none is expected.",)
    return Table(f"Steps of the S×R space under {measure}", columns, rows, notes)


def _step(outcome: Outcome) -> Row:
    mark = {None: "", True: "✓", False: "✗"}[outcome.kept]
    p = None if outcome.greater == outcome.less == 0 else outcome.p
    return (outcome.difference, outcome.greater, outcome.equal, outcome.less, p, mark)


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
