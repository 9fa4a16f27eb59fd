"""From run files to a pool's file, and what the terminal shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focuseval.pool import Pool


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
) -> Pool:
    """Read the runs, build the pool and write it."""
    from focuseval.formats import read_run  # noqa: PLC0415  help must not wait for it
    from focuseval.pool import build_pool, read_pool, write_pool  # noqa: PLC0415  as above

    if depth is None and size is None:
        depth = 100
    read = [read_run(path, format=run_format) for path in runs]
    base = read_pool(top_up) if top_up else None
    pool = build_pool(read, depth=depth, size=size, order=order, seed=seed, base=base)
    write_pool(pool, output)
    return pool


def show_pool(pool: Pool) -> None:
    """Print what every run brought, what it brought alone, and its overlap with the others."""
    from rich.console import Console  # noqa: PLC0415  help must not wait for it
    from rich.table import Table  # noqa: PLC0415  as above

    from focuseval.pool import describe_pool  # noqa: PLC0415  as above

    told = describe_pool(pool)
    fewest, mean, most = told.per_topic
    table = Table(
        title=f"{told.documents} documents for {told.topics} topics: {fewest}–{most}, on average {mean:.1f}",
        title_justify="left",
        box=None,
    )
    for name in ("run", "documents", "alone", "overlap with the others"):
        table.add_column(name, justify="left" if name == "run" else "right")
    for row, run in enumerate(told.runs):
        others = [told.overlap[row][other] for other in range(len(told.runs)) if other != row]
        share = f"{min(others):.2f}–{max(others):.2f}" if others else "–"
        table.add_row(run, str(told.brought[row]), str(told.alone[row]), share)
    Console().print(table)
