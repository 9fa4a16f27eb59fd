"""Runs × measures → `Scores`, with the counts that belong beside every mean."""

from focuseval.callable_module import call_by_name
from focuseval.evaluate.evaluation import evaluate
from focuseval.evaluate.scores import Counts, Scores

__all__ = ["Counts", "Scores", "evaluate"]

call_by_name(__name__)
