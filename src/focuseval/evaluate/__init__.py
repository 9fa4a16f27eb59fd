"""Runs × measures → an `Evaluation`, whose values are `Scores`, with the counts that belong beside every mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.callable_module import call_by_name
from focuseval.lazy import attributes

if TYPE_CHECKING:
    from focuseval.evaluate.counts import Counts
    from focuseval.evaluate.evaluation import Evaluation
    from focuseval.evaluate.planning import evaluate, plan_evaluation
    from focuseval.evaluate.scores import Scores

__all__ = ["Counts", "Evaluation", "Scores", "evaluate", "plan_evaluation"]

__getattr__ = attributes(
    __name__,
    {
        "Counts": "counts",
        "Evaluation": "evaluation",
        "Scores": "scores",
        "evaluate": "planning",
        "plan_evaluation": "planning",
    },
)

call_by_name(__name__)
