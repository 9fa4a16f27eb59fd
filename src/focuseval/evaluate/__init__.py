"""Runs × measures → `Scores`, with the counts that belong beside every mean."""

from focuseval.callable_module import call_by_name
from focuseval.evaluate.counts import Counts
from focuseval.evaluate.evaluation import Evaluation, evaluate, plan_evaluation
from focuseval.evaluate.scores import Scores

__all__ = ["Counts", "Evaluation", "Scores", "evaluate", "plan_evaluation"]

call_by_name(__name__)
