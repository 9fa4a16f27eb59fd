"""Fidelity as grids: the space and its steps, the runs of the recall base, the requirements, the gap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.compare.grid import Grid
from focuseval.fidelity.space import steps
from focuseval.simulate.parts import SELECTIONS
from focuseval.simulate.ranking import RANKINGS

if TYPE_CHECKING:
    from focuseval.fidelity import Fidelity
    from focuseval.fidelity.space import Outcome, SpaceTest


def grids(found: Fidelity) -> list[Grid]:
    """Return everything as grids, the verdict first."""
    return [
        verdict_grid(found.space),
        *(space_grid(found.space, measure) for measure in found.space.measures),
        steps_grid(found.space),
        recall_base_grid(found),
        requirements_grid(found),
        gap_grid(found),
    ]


def verdict_grid(test: SpaceTest) -> Grid:
    """Return how many expected orders every measure keeps, on each dimension and in all."""
    body = tuple(
        (measure, *(_share(test.verdict(measure, dimension)) for dimension in ("S", "R", None)))
        for measure in test.measures
    )
    notes = ("S: which parts of an article; R: the order of articles. Kept / expected orders of neighbouring runs.",)
    return Grid("Expected orders kept", ("measure", "S", "R", "all"), body, notes)


def _share(verdict: tuple[int, int]) -> str:
    return f"{verdict[0]} / {verdict[1]}"


def space_grid(test: SpaceTest, measure: str) -> Grid:
    """Return the mean of every run of the space under one measure."""
    means = test.mean(measure)
    body = tuple((s, *(f"{means[f'{s}-{r}']:.4f}" for r in RANKINGS)) for s in SELECTIONS)
    return Grid(f"S×R space under {measure}", ("", *RANKINGS), body)


def steps_grid(test: SpaceTest) -> Grid:
    """Return the table of Pehcevski and Thom: difference, topics greater, equal and less, p of a paired t-test."""
    head = ["run ordering"]
    for measure in test.measures:
        head += [f"{measure} diff %", ">", "=", "<", "p", ""]
    body = tuple(
        (str(step), *(cell for own in test.outcomes for cell in _cells(own[row]))) for row, step in enumerate(steps())
    )
    topics = len(test.scores.topics)
    notes = (f"{topics} topics; ✓ the expected order, ✗ another one, blank where none is expected.",)
    return Grid("Steps of the S×R space", tuple(head), body, notes)


def _cells(outcome: Outcome) -> tuple[str, ...]:
    mark = {None: "", True: "✓", False: "✗"}[outcome.kept]
    p = "—" if outcome.greater == outcome.less == 0 else f"{outcome.p:.2g}"
    return (f"{outcome.difference:+.2f}", str(outcome.greater), str(outcome.equal), str(outcome.less), p, mark)


def recall_base_grid(found: Fidelity) -> Grid:
    """Return the four runs of the recall base under measures of elements."""
    scores = found.recall_base
    body = tuple(
        (run, *(f"{mean:.4f}" for mean in row)) for run, row in zip(scores.runs, scores.mean.tolist(), strict=True)
    )
    notes = ("An overlap-free ideal run should not lose to the full recall base, nor to leaves.",)
    return Grid("Runs of the recall base", ("run", *scores.measures), body, notes)


def requirements_grid(found: Fidelity) -> Grid:
    """Return the table of requirements: one row each, one column per measure."""
    answers = list(found.requirements.values())
    body = tuple(
        (first.requirement + ("" if first.observed else " (declared)"), *(own[row].answer for own in answers))
        for row, first in enumerate(answers[0])
    )
    notes = ("Observed by running the measure on constructed cases, except where it says declared.",)
    return Grid("Requirements", ("", *found.requirements), body, notes)


def gap_grid(found: Fidelity) -> Grid:
    """Return passages against elements: every run and its counterpart of the other kind."""
    names = list(found.gaps[0].means)
    body = tuple((name, *(f"{gap.means[name]:.4f}" for gap in found.gaps)) for name in names)
    notes = tuple(f"No run of elements comes closer than {100 * g.gap:.1f} % under {g.measure}." for g in found.gaps)
    return Grid("Passages and elements", ("run", *(gap.measure for gap in found.gaps)), body, notes)


def as_json(found: Fidelity) -> dict[str, Any]:
    """Return everything the grids show, as plain values."""
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
