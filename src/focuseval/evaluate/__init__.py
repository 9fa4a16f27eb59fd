"""Runs × measures → `Scores`, with the counts that belong beside every mean."""

import sys
from types import ModuleType
from typing import Any

from focuseval.evaluate.evaluation import evaluate
from focuseval.evaluate.scores import Counts, Scores

__all__ = ["Counts", "Scores", "evaluate"]


class _Callable(ModuleType):
    """A module that is also its one function.

    Importing any part of this package binds ``focuseval.evaluate`` to the module, over the public function of the
    same name; ``focuseval.evaluate(gold, run)`` must work before and after.
    """

    def __call__(self, *arguments: Any, **options: Any) -> Scores:
        """Evaluate; see `focuseval.evaluate.evaluation.evaluate`."""
        return evaluate(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
