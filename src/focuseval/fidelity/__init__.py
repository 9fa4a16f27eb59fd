"""Whether a measure measures what it should: the S×R space, recall-base runs, constructed cases, passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.callable_module import call_by_name
from focuseval.evaluate.evaluation import evaluate
from focuseval.fidelity.mapping import Gap, passage_gap, to_elements, to_passages
from focuseval.fidelity.requirements import Answer, requirements
from focuseval.fidelity.space import SpaceTest, space_test
from focuseval.measures import parse
from focuseval.simulate import RECALL_BASE_KINDS, simulate
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.evaluate import Scores
    from focuseval.gold import Gold

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


def fidelity(gold: Gold, measures: Sequence[str] | None = None, index: Any = None) -> Fidelity:
    """Run every test of fidelity on a gold; `measures` replaces the defaults of both families.

    A measure of elements is shown on the runs of the recall base, any other in the S×R space; the table of
    requirements has them all.
    """
    asked = tuple(measures or (*IN_CONTEXT, *OF_ELEMENTS))
    of_elements = [m for m in asked if {"elements", "grades"} & set(parse(m).needs)] or list(OF_ELEMENTS)
    in_context = [m for m in asked if m not in of_elements] or list(IN_CONTEXT)
    runs = [simulate(gold, kind, index) for kind in RECALL_BASE_KINDS]
    return Fidelity(
        space=space_test(gold, in_context, index),
        recall_base=evaluate(gold, runs, of_elements, task="thorough", index=index),
        requirements={measure: requirements(measure) for measure in (*in_context, *of_elements)},
        gaps=passage_gap(gold, [m for m in in_context if m != "AP"] or ["MAgP"], index),
    )


call_by_name(__name__)
