"""Findings as text and as JSON: counts of every rule always, sentences up to a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.measures.tasks.findings import Findings
    from focuseval.measures.tasks.tasks import Task


def as_lines(findings: Findings, task: Task, limit: int | None = None) -> Iterator[str]:
    """Yield one line for each of the first findings, then counts by rule, then the verdict."""
    yield from map(str, findings[:limit])
    if limit is not None and len(findings) > limit:
        yield f"… and {len(findings) - limit:,} more"
    for part in findings.broken:
        if len(part.rows):
            yield f"{len(part.rows):>9,}  {part.rule.name} ({part.level})"
    run = findings.run
    held = f"{counted(len(run), 'result')}, {counted(len(run.topics), 'topic')}"
    yield f"{run.file or run.run_id}: {held}: {verdict(findings, task)}"


def verdict(findings: Findings, task: Task) -> str:
    """Return what became of the check, in numbers that add up to those of the rules."""
    if not findings.run.topics:
        return f"not valid for task {task.name}: it answers no topic"
    if findings.repaired:
        return f"{len(findings):,} changes for task {task.name}"
    errors, warnings = findings.errors, findings.of_level("warning")
    found = ((errors, "error"), (warnings, "warning"))
    counted = [f"{number:,} {what}{'s' * (number > 1)}" for number, what in found if number]
    said = "not valid" if errors else "valid"
    return f"{said} for task {task.name}" + (f": {' and '.join(counted)}" if counted else "")


def as_json(findings: Findings, task: Task, limit: int | None = None) -> dict[str, Any]:
    """Return the verdict, the counts by rule and the first findings."""
    run = findings.run
    return {
        "file": run.file,
        "run": run.run_id,
        "task": task.name,
        "results": len(run),
        "topics": len(run.topics),
        "lawful": findings.lawful,
        "repaired": findings.repaired,
        "errors": findings.errors,
        "warnings": findings.of_level("warning"),
        "counts": findings.counts,
        "findings": [finding.as_json() for finding in findings[:limit]],
    }
