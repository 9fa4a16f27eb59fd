"""Files that have to be on the disk, not only in the system's memory, before anybody relies on them."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

_AT_ONCE = 8
"""Files that are pushed to the disk at once."""


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name != "posix":  # elsewhere only an open writer may ask for it
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def syncing() -> Iterator[Callable[[Path], None]]:
    """Give a function that begins to push a file to the disk while other work goes on; at the end all are there.

    A file that has vanished meanwhile is missed by whoever needs it.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  most commands write little

    begun: list[Future[None]] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield lambda path: begun.append(pool.submit(sync, path))
    for one in begun:
        with suppress(FileNotFoundError):
            one.result()
