"""Paths and XPointers of runs and gold → spans of code points, with an index; what the two disagree on is counted."""

from __future__ import annotations

from focuseval.resolve.golds import resolve_gold
from focuseval.resolve.runs import resolve_run

__all__ = ["resolve_gold", "resolve_run"]
