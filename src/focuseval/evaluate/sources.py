"""What may be given as runs: `Run` values, paths, frames, and several of them."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.run import Run

if TYPE_CHECKING:
    from focuseval.evaluate.plan import Plan
    from focuseval.match import Prepared


def as_runs(runs: Any) -> tuple[Any, ...]:
    """Return the runs one by one, still unread where they are paths.

    A list of dictionaries is one frame of rows, not many runs.
    """
    if isinstance(runs, (Run, str, PathLike)) or not isinstance(runs, (list, tuple)):
        return (runs,)
    if runs and all(isinstance(row, dict) for row in runs):
        return (runs,)
    return tuple(runs)


def load(source: Any, prepared: Prepared, plan: Plan) -> Run:
    """Return one run: as it is, read from its file, or made of a frame's columns."""
    if isinstance(source, Run):
        run = source
    elif isinstance(source, (str, PathLike)):
        from focuseval.formats import read_run  # noqa: PLC0415  a run in memory needs no reader

        run = read_run(
            Path(source) if isinstance(source, PathLike) else source, format=plan.run_format, index=prepared.index
        )
    else:
        from focuseval.formats.frames import run_from_frame  # noqa: PLC0415  only frames need it

        run = run_from_frame(source)
    if plan.repair and plan.task:
        from focuseval.task import repair  # noqa: PLC0415  only asked for by name

        run, _ = repair(run, plan.task, index=prepared.index)
    return strict_only(run, plan.queries) if plan.queries else run


def strict_only(run: Run, queries: dict[str, Any]) -> Run:
    """Keep the results whose path matches the target of their topic strictly (SCAS)."""
    if run.path is None:
        return run
    paths = run.path.to_pylist()
    kept = np.array(
        [
            path is not None and (query := queries.get(run.topics[topic])) is not None and query.matches(path, "strict")
            for topic, path in zip(run.topic.tolist(), paths, strict=True)
        ],
        np.bool_,
    )
    rows = np.flatnonzero(kept)
    columns = ("topic", "document", "rank", "score", "start", "end", "path", "end_path", "text", "line")
    return replace(run, **{c: v.take(rows) for c in columns if (v := getattr(run, c)) is not None})
