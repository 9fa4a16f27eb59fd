"""Recall bases: the relevant elements of every topic, full, filtered and ideal."""

from focuseval.measures.recall_base.assessed import Assessed, assessed_elements
from focuseval.measures.recall_base.base import (
    SLACK,
    Ideal,
    PathTree,
    RecallBase,
    ideal_rows,
    nesting,
    path_tree,
)

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
]
