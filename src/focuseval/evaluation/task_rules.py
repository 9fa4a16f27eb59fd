"""Refuse a run that breaks its task's rules: its score would mean nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from focuseval.errors import Place, TaskError, counted

if TYPE_CHECKING:
    from focuseval.data.run import Run


def refuse_invalid(run: Run, task: str | None, *, cutoff: int | None = None, official: bool = False) -> None:
    """Raise the first error that `check` finds, in any topic; results beyond the cut-off are ignored.

    A file without topics is refused, too; a run in memory may be empty. The official tool (`official`) looks for
    overlap in focused runs only.
    """
    if task is None:
        return
    from focuseval.measures.checks import check  # noqa: PLC0415  three modules that only a task needs
    from focuseval.measures.tasks import DUPLICATE, OVERLAP, find_task  # noqa: PLC0415  as above

    if run.file and not run.topics:
        raise TaskError(f"not valid for task {task}: it answers no topic", at=run.file)
    chosen = find_task(task)
    chosen = chosen if cutoff is None else replace(chosen, limit=cutoff, cut=True)
    findings = check(run, chosen, warnings=False)
    if official and chosen.grouped:
        kept = tuple(part for part in findings.broken if part.rule not in {OVERLAP, DUPLICATE})
        findings = replace(findings, broken=kept)
    first = findings.first_error
    if first is not None:
        remedy = f"see 'focuseval validate --task {task}', which also repairs runs"
        raise TaskError(
            f"topic {first.topic}: {first.what} ({counted(findings.errors, 'error')} for the task {task})",
            at=Place(first.file, first.line) if run.file else run.run_id,
            remedy=remedy if official else f"{remedy}, or score with '--repair'",
        )
