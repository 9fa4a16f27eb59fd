"""What each task allows: check a run, and repair it."""

from focuseval.task.check import check
from focuseval.task.findings import Broken, Finding, Findings
from focuseval.task.repair import repair
from focuseval.task.rules import RULES, Rule
from focuseval.task.tasks import TASKS, Task, find_task

__all__ = ["RULES", "TASKS", "Broken", "Finding", "Findings", "Rule", "Task", "check", "find_task", "repair"]
