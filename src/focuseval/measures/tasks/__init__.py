"""What each task allows: check a run, and repair it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.lazy import attributes

if TYPE_CHECKING:
    from focuseval.measures.tasks.checks import check
    from focuseval.measures.tasks.findings import Broken, Finding, Findings
    from focuseval.measures.tasks.repairs import repair
    from focuseval.measures.tasks.rules import RULES, Rule
    from focuseval.measures.tasks.tasks import TASKS, Task, find_task

__all__ = ["RULES", "TASKS", "Broken", "Finding", "Findings", "Rule", "Task", "check", "find_task", "repair"]

__getattr__ = attributes(  # a score needs a task's name, and rarely its rules
    __name__,
    {
        "RULES": "rules",
        "TASKS": "tasks",
        "Broken": "findings",
        "Finding": "findings",
        "Findings": "findings",
        "Rule": "rules",
        "Task": "tasks",
        "check": "checks",
        "find_task": "tasks",
        "repair": "repairs",
    },
)
