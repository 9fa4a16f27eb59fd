"""Recall bases: the relevant elements of every topic, full, filtered and ideal."""

from focuseval.measures.recall_base.assessed import Assessed, assessed_elements
from focuseval.measures.recall_base.base import SLACK, Ideal, RecallBase, running
from focuseval.measures.recall_base.ideal import ideal_rows, nesting
from focuseval.measures.recall_base.tree import PathTree, path_tree

__all__ = [
    "SLACK",
    "Assessed",
    "Ideal",
    "PathTree",
    "RecallBase",
    "assessed_elements",
    "ideal_rows",
    "nesting",
    "path_tree",
    "running",
]
