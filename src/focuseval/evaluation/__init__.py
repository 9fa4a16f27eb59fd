"""Runs × measures → an `Evaluation`, whose values are `Scores`, with the counts that belong beside every mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.lazy import attributes

if TYPE_CHECKING:
    from focuseval.evaluation.counts import Counts
    from focuseval.evaluation.evaluation import Evaluation
    from focuseval.evaluation.planning import evaluate, plan_evaluation
    from focuseval.evaluation.scores import Scores

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
