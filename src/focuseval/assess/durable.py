"""Files that nobody else reads, that appear whole, and that are on the disk when a function returns."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from focuseval.disk import sync
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover  Windows: a file in use cannot be replaced there anyway
    fcntl = None  # type: ignore[assignment]


def make_private(path: Path) -> None:
    """Create an empty file that only its owner reads, unless it is there."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))


def write_private(path: Path, text: str) -> None:
    """Write a small file whole or not at all; nobody else reads it."""
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    make_private(partial)
    try:
        partial.write_text(text, encoding="utf-8")
        settle(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def settle(partial: Path, target: Path) -> None:
    """Move a finished file into its place; both are on the disk afterwards."""
    sync(partial)
    partial.replace(target)
    sync(target.parent)


@contextmanager
def held(path: Path, *, alone: bool, refusal: str) -> Iterator[None]:
    """Hold a file or folder while the block runs, with others or alone; refuse at once when that cannot be.

    The system lets go when the process ends, however it ends.
    """
    handle = os.open(path, os.O_RDONLY) if fcntl else -1
    try:
        if fcntl:
            try:
                fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except BlockingIOError:
                raise AssessError(refusal) from None
        yield
    finally:
        if handle >= 0:
            os.close(handle)
