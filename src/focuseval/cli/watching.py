"""A bar on the terminal while something takes long."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


class Move(Protocol):
    """Moves the bar: how much is done, of how much in all if that is known, and what to say of it."""

    def __call__(self, done: float, total: float | None, what: str | None = None, /) -> None:
        """Move it."""


@contextmanager
def watched(what: str, *, in_bytes: bool = False) -> Iterator[Move | None]:
    """Give a function that moves a bar on a terminal, which is seen from its first move on; None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415  only a terminal needs it
    from rich.progress import DownloadColumn, Progress, TaskProgressColumn  # noqa: PLC0415  as above

    description, drawn, _, left = Progress.get_default_columns()
    columns = (description, drawn, DownloadColumn() if in_bytes else TaskProgressColumn(), left)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, visible=False)

        def move(done: float, total: float | None, now: str | None = None, /) -> None:
            bar.update(task, completed=done, total=total, description=now, visible=True)

        yield move
