"""From run files to a pool's file, and what the terminal shows of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from focuseval.cli.judged import is_project
from focuseval.cli.options import open_collection
from focuseval.cli.printing import json_text, say_written
from focuseval.errors import counted

if TYPE_CHECKING:
    from focuseval.assessment.pool import Pool, PoolStatistics


def pool_files(
    runs: tuple[str, ...],
    output: str,
    *,
    depth: int | None,
    size: int | None,
    order: str,
    seed: int,
    top_up: str | None,
    run_format: str | None,
    index: str | None,
    docs: str | None,
) -> Pool:
    """Read the runs, build the pool and write it."""
    from focuseval.assessment.pool import build_pool, write_pool  # noqa: PLC0415  as above
    from focuseval.formats import read_run  # noqa: PLC0415  help must not wait for it

    if depth is not None and size is not None:
        raise click.UsageError("--depth and --size are two ways to pool; give one of them")
    if depth is None and size is None:
        depth = 100
    collection = open_collection({"index": index, "docs": docs})
    read = [read_run(path, format=run_format, index=collection) for path in runs]
    base = _base(top_up) if top_up else None
    if not any(run.topics for run in read):
        from focuseval.errors import FormatError  # noqa: PLC0415  help must not wait for it

        raise FormatError("expected results to pool, found runs without topics", at=runs[0], remedy="check the runs")
    pool = build_pool(read, depth=depth, size=size, order=order, seed=seed, base=base)
    write_pool(pool, output)
    documents, topics = len(pool.entries), len({entry.topic for entry in pool.entries})
    say_written(output, f"{counted(documents, 'document')} to judge for {counted(topics, 'topic')}")
    return pool


def _base(path: str) -> Pool:
    """Return the pool to add to: a file's, or that of an assessment project."""
    from focuseval.assessment.pool import read_pool  # noqa: PLC0415  help must not wait for it

    if not is_project(path):
        return read_pool(path)
    from focuseval.assessment.growth import project_pool  # noqa: PLC0415  only a project needs these
    from focuseval.assessment.project import open_judgements  # noqa: PLC0415

    with open_judgements(Path(path)) as store:
        return project_pool(store)


MATRIX = 12
"""Up to so many runs every pair's overlap is printed, beyond them the smallest and the largest."""


def show_pool(pool: Pool, layout: str = "table") -> None:
    """Print what every run brought, what it brought alone, and its overlap with the others."""
    from focuseval.assessment.pool import describe_pool  # noqa: PLC0415  help must not wait for it
    from focuseval.data.tables import Table, numbers, render, words  # noqa: PLC0415  as above

    told = describe_pool(pool)
    if layout == "json":
        click.echo(json_text(_plain(told)), nl=False)
        return
    fewest, mean, most = told.per_topic
    spread = f"{fewest} each" if fewest == most else f"{fewest}–{most}, on average {mean:.1f}"
    title = f"{counted(told.documents, 'document')} for {counted(told.topics, 'topic')}: {spread}"
    named = [str(number) for number in range(1, len(told.runs) + 1)]
    small = len(named) <= MATRIX
    rows = []
    for row, run in enumerate(told.runs):
        overlap = [float(share) if other != row else None for other, share in enumerate(told.overlap[row])]
        others = [share for share in overlap if share is not None]
        found = overlap if small else [f"{min(others):.2f} … {max(others):.2f}"]
        rows.append((named[row], run, int(told.brought[row]), int(told.alone[row]), *found))
    what = "Columns with numbers" if small else "overlap"
    note = f"{what}: documents that both runs brought, as a share of those that either did."
    shares = numbers(*(named if small else ["overlap"]), form=".2f")
    columns = (*words("", "run"), *numbers("documents", "alone"), *shares)
    click.echo(render([Table(title, columns, tuple(rows), (note,) if len(rows) > 1 else ())], "table"), nl=False)


def _plain(told: PoolStatistics) -> dict[str, object]:
    """Return the figures of a pool as plain values; overlap is a matrix in the order of the runs."""
    brought = zip(told.runs, told.brought, told.alone, strict=True)
    runs = [{"run": run, "documents": documents, "alone": alone} for run, documents, alone in brought]
    least, mean, most = told.per_topic
    per_topic = {"least": least, "mean": mean, "most": most}
    counts = {"topics": told.topics, "documents": told.documents, "per_topic": per_topic}
    return counts | {"runs": runs, "overlap": told.overlap.tolist()}
