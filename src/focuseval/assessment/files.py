"""The files of a project: private, written whole or not at all, and on the disk when a function returns."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from focuseval.engine.files import sync
from focuseval.errors import AssessError

try:
    import fcntl
except ImportError:  # pragma: no cover  Windows: a folder cannot be locked there
    import msvcrt

    fcntl = None  # type: ignore[assignment]


def make_private(path: Path) -> None:
    """Create an empty file that only its owner reads, unless it is there."""
    if path.exists():  # to open and close it would drop the locks that SQLite holds on it for this process
        return
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def write_private(path: Path, data: bytes) -> None:
    """Write a small file whole or not at all; nobody else reads it. Of several writers the last one counts."""
    handle, name = tempfile.mkstemp(".partial", f".{path.name}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        settle(Path(name), path)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until nobody else changes a file; the lock is on one beside it, because the file itself is replaced."""
    handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_EX)
        else:  # the first byte, for which it waits ten seconds; closing the file lets it go
            msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
        yield
    finally:
        os.close(handle)


def settle(partial: Path, target: Path) -> None:
    """Move a finished file into its place; both are on the disk afterwards."""
    sync(partial)
    partial.replace(target)
    sync(target.parent)


@contextmanager
def appearing(target: Path, otherwise: str) -> Iterator[Path]:
    """Give a path to write a file to, which gets its name when the block ends well; `otherwise` says what then is not.

    Nobody sees a part of it, and none is left behind.
    """
    partial = target.with_name(f".{target.name}.partial")
    try:
        yield partial
        settle(partial, target)
    except OSError as error:
        raise AssessError(f"{target}: {error.strerror}; {otherwise}") from error
    finally:
        partial.unlink(missing_ok=True)


def stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Return what differs after a file has changed; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


@contextmanager
def held(path: Path, *, alone: bool, refusal: str) -> Iterator[None]:
    """Hold a file or folder while the block runs, with others or alone; refuse at once when that cannot be."""
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
