"""What a measure takes into account: the table of requirements of Kazai and Lalmas (2005), filled by running it.

Size, near misses, overlap, degrees of relevance and normalisation are *observed* on the constructed cases; what cannot
be observed comes from the measure's declaration and is marked so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from focuseval.errors import FocusevalError
from focuseval.evaluation.evaluation import evaluate
from focuseval.measures.measure import TRAITS, parse
from focuseval.measures.quantise import ONE_SIDED
from focuseval.studies import cases
from focuseval.studies.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from focuseval.data.run import Run

    Score = Callable[[Run], float]

REQUIREMENTS = ("element size", "near misses", "overlap", "degrees of relevance", "normalisation")
"""Observed; the declared ones are `focuseval.measures.measure.TRAITS`."""

OF_GRADES = ("strict", "gen", "sog", *ONE_SIDED)
"""Quantisations of graded assessments; all others are tested on highlights."""

_TINY = 1e-9


@dataclass(frozen=True)
class Answer:
    """One cell of the table: the answer, and whether it was seen or only declared."""

    requirement: str
    answer: str
    observed: bool


def requirements(measure: str) -> tuple[Answer, ...]:
    """Return a measure's answers; one that cannot be run on the cases answers ``?`` with its reason."""
    asked = parse(measure)
    graded = "grades" in asked.needs or asked.given.get("quant") in OF_GRADES
    score = _scorer(measure, grades=graded)
    observed = tuple(Answer(name, _answer(name, score), observed=True) for name in REQUIREMENTS)
    declared = tuple(Answer(t, "yes" if t in asked.measure.traits else "no", observed=False) for t in TRAITS)
    return (*observed, *declared)


def _scorer(measure: str, *, grades: bool) -> Score:
    gold, index = cases.gold(grades=grades), cases.collection()

    def score(run: Run) -> float:
        return float(evaluate(gold, [run], [measure], task="thorough", index=index).mean[0, 0])

    return score


def _answer(requirement: str, score: Score) -> str:
    test = {
        "element size": element_size,
        "near misses": near_misses,
        "overlap": overlap,
        "degrees of relevance": degrees,
        "normalisation": normalisation,
    }[requirement]
    try:
        return test(score)
    except FocusevalError as why:
        return f"? ({why})"


def element_size(score: Score) -> str:
    """Say yes if a wrong result costs by its length, indirectly if only the share of relevant text matters."""
    before = [score(cases.run_of(wrong, cases.SECTION)) for wrong in cases.WRONG_ELSEWHERE]
    after = [score(cases.run_of(cases.SECTION, wrong)) for wrong in cases.WRONG_BESIDE]
    if any(abs(small - large) > _TINY for small, large in (before, after)):
        return "yes"
    half, quarter = score(cases.run_of(cases.HALF)), score(cases.run_of(cases.QUARTER))
    return "indirectly" if abs(half - quarter) > _TINY else "no"


def near_misses(score: Score) -> str:
    """Say yes if an element around the right one scores less than it, but more than a wrong one.

    ``as a hit`` means that it scores the same as the right one.
    """
    first = (cases.SECTION, cases.ARTICLE, cases.WRONG_ARTICLE)
    exact, near, wrong = (score(cases.run_of(result, cases.QUARTER, cases.HALF)) for result in first)
    if near <= wrong + _TINY:
        return "no"
    return "yes" if near < exact - _TINY else "as a hit"


def overlap(score: Score) -> str:
    """Say yes, the requirement is met, if paragraphs of a section that was already returned add nothing."""
    alone = score(cases.run_of(cases.SECTION))
    repeated = score(cases.run_of(cases.SECTION, *cases.PARAGRAPHS))
    return "no" if repeated > alone + _TINY else "yes"


def degrees(score: Score) -> str:
    """Say yes if the same amount of relevant text scores higher where it is a larger share of its element."""
    if score(cases.run_of(cases.HALF)) > score(cases.run_of(cases.QUARTER)) + _TINY:
        return "yes"
    falling = (cases.SHORT, cases.HALF, cases.QUARTER)
    return "yes" if score(cases.run_of(*falling)) > score(cases.run_of(*falling[::-1])) + _TINY else "no"


def normalisation(score: Score) -> str:
    """Say yes if some perfect run reaches exactly 1."""
    gold, index = cases.gold(grades=False), cases.collection()
    best = max(_score_or_zero(score, simulate(gold, kind, index)) for kind in ("ideal", "full", "S-R", "S_L-R"))
    return "yes" if abs(best - 1) <= _TINY else "no"


def _score_or_zero(score: Score, run: Run) -> float:
    """Score a perfect run; one that the measure cannot read (passages for elements) is no candidate."""
    try:
        return score(run)
    except FocusevalError:
        return 0.0
