"""A bar on the terminal while large runs are scored."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LONG = 1 << 26
"""Bytes of runs from which on somebody may wonder whether anything happens."""


@contextmanager
def watched(runs: Sequence[str]) -> Iterator[Callable[[float], None] | None]:
    """Give a function that moves a bar by the share that is done; None for small runs, and where nobody looks."""
    size = sum(path.stat().st_size for run in runs if (path := Path(run)).is_file())
    if size < LONG or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415  only a terminal needs it
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415  same

    columns = (TextColumn("scoring"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=size)
        yield lambda share: bar.update(task, completed=share * size)
