"""What each task allows: check a run, and repair it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.lazy import attributes

if TYPE_CHECKING:
    from focuseval.task.checks import check
    from focuseval.task.findings import Broken, Finding, Findings
    from focuseval.task.repairs import repair
    from focuseval.task.rules import RULES, Rule
    from focuseval.task.tasks import TASKS, Task, find_task

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
