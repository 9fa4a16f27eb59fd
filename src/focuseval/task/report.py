"""Findings as text and as JSON: counts of every rule always, sentences up to a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.task.findings import Findings
    from focuseval.task.tasks import Task


def as_lines(findings: Findings, task: Task, limit: int | None = None) -> Iterator[str]:
    """Yield one line for each of the first findings, then counts by rule, then the verdict."""
    yield from map(str, findings[:limit])
    if limit is not None and len(findings) > limit:
        yield f"… and {len(findings) - limit:,} more"
    yield from (f"{count:>9,}  {rule}" for rule, count in findings.counts.items())
    run = findings.run
    size = f"{len(run):,} results, {len(run.topics):,} topics"
    if findings.repaired:
        yield f"{run.file or run.run_id}: {size}: {len(findings):,} changes for task {task.name}"
    elif findings.errors:
        yield f"{run.file or run.run_id}: {size}: {findings.errors:,} findings against task {task.name}"
    else:
        warnings = f", {len(findings):,} warnings" if len(findings) else ""
        yield f"{run.file or run.run_id}: {size}: lawful for task {task.name}{warnings}"


def as_json(findings: Findings, task: Task, limit: int | None = None) -> dict[str, Any]:
    """Return the verdict, the counts by rule and the first findings."""
    run = findings.run
    return {
        "file": run.file,
        "run": run.run_id,
        "task": task.name,
        "results": len(run),
        "topics": len(run.topics),
        "lawful": findings.repaired or not findings.errors,
        "repaired": findings.repaired,
        "counts": findings.counts,
        "findings": [finding.as_json() for finding in findings[:limit]],
    }
