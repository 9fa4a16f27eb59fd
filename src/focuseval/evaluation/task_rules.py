"""Refuse a run that breaks its task's rules: its score would mean nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.spans import crowded
from focuseval.errors import TaskError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched


def refuse_invalid(m: Matched, task: str | None, *, official: bool = False) -> None:
    """Check what can be seen in the matched table: overlap, interleaved articles, several entry points.

    The official tool (`official`) looks for overlap in focused runs only.
    """
    if not len(m):
        return
    overlap_matters = {"focused"} if official else {"focused", "relevant-in-context"}
    remedy = f"see 'focuseval validate --task {task}', which also repairs runs"
    remedy += "" if official else ", or score with '--repair'"
    if task in overlap_matters and m.run.start is not None:
        _refuse(m, task, np.flatnonzero(m.new_size < m.size), "returns text that an earlier result returned", remedy)
    elif task in overlap_matters and m.run.path is not None:
        _refuse_nested(m, task, remedy)
    if task == "relevant-in-context":
        _refuse(m, task, interleaved(m), "comes back to an article after another one", remedy)
    elif task == "best-in-context":
        _refuse(m, task, again(m), "is a second entry point into one article", remedy)


def _refuse_nested(m: Matched, task: str, remedy: str) -> None:
    """Refuse elements that contain one another, which their paths tell without an index."""
    if not _may_nest(m):
        return
    from focuseval.measures.tasks import check  # noqa: PLC0415  most runs are told by their spans
    from focuseval.measures.tasks.rules import OVERLAP  # noqa: PLC0415  as above

    overlaps = [part for part in check(m.run, task).broken if part.rule is OVERLAP and len(part.rows)]
    if overlaps:
        rows = overlaps[0].rows
        raise TaskError(
            f"topic {m.run.topics[int(m.run.topic[rows[0]])]}: a result overlaps an earlier one, which the task {task} "
            f"forbids ({len(rows)} such results)",
            at=m.run.at(int(rows[0])) if m.run.file else m.run.run_id,
            remedy=remedy,
        )


def _may_nest(m: Matched) -> bool:
    """Say whether an element that is looked at may contain another of its article, or be returned twice."""
    from focuseval.measures.tasks.extents import nested_paths  # noqa: PLC0415  most runs are told by their spans

    if m.run.end_path is not None:
        return True
    low, high = nested_paths(m.path)
    return len(crowded(m.article, low, high)) > 0


def again(m: Matched) -> NDArray[np.int64]:
    """Return the results whose article was returned before."""
    later = np.ones(len(m), np.bool_)
    later[m.a_first] = False
    return np.flatnonzero(later)


def interleaved(m: Matched) -> NDArray[np.int64]:
    """Return the results that come back to an article."""
    rows = again(m)
    return np.asarray(rows[m.article[rows] != m.article[rows - 1]])


def _refuse(m: Matched, task: str, rows: NDArray[np.int64], what: str, remedy: str) -> None:
    if not len(rows):
        return
    topic = m.prepared.topics[int(m.topic[rows[0]])]
    document = m.column(m.run.document)[int(rows[0])].as_py()
    raise TaskError(
        f"topic {topic}: the result at rank {int(m.rank[rows[0]])} ({document}) {what}, which the task {task} forbids "
        f"({len(rows)} such results)",
        at=m.run.at(int(rows[0] if m.rows is None else m.rows[rows[0]])) if m.run.file else m.run.run_id,
        remedy=remedy,
    )
