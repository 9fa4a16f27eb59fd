"""Local files: those that have to be on the disk, and a cache of copies of objects."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

from focuseval.engine.storage import Remote
from focuseval.errors import UsageError

T = TypeVar("T")

FOLDER, GIGABYTES = "FOCUSEVAL_CACHE", "FOCUSEVAL_CACHE_GB"
"""Environment variables: the folder of the cache, and how large it may grow."""

_DEFAULT = 10.0
_PARTIAL = ".partial"
_AT_ONCE = 8  # files that are pushed to the disk at once


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
    """Give a function that begins to push a file to the disk while other work goes on; at the end all are there."""
    begun: list[Future[None]] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield lambda path: begun.append(pool.submit(sync, path))
    for one in begun:
        with suppress(FileNotFoundError):  # whoever needs a file that has vanished misses it
            one.result()


def checksum(file: Path) -> int:
    """Return the CRC-32 of a file's bytes."""
    check = 0
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            check = crc32(piece, check)
    return check


def sealed(values: Mapping[str, Any]) -> bytes:
    """Return values as JSON, with a checksum of them."""
    check = crc32(json.dumps(values, sort_keys=True).encode())
    return f"{json.dumps({**values, 'check': check}, ensure_ascii=False, indent=1)}\n".encode()


def unsealed(content: bytes) -> dict[str, Any]:
    """Return what `sealed` was given; a ValueError where the content has changed."""
    values: dict[str, Any] = dict(json.loads(content))
    check = values.pop("check", None)
    if check != crc32(json.dumps(values, sort_keys=True).encode()):
        raise ValueError("the content is not what was written")
    return values


@dataclass(frozen=True)
class Cache:
    """A folder of copies of objects: bounded, least recently used first out, safe for several processes."""

    folder: str
    most: int  # bytes that it may hold; the copy that was just asked for stays, however large it is

    def fetch(self, file: Remote, opened: Callable[[Path], T]) -> T:
        """Return what is opened of a local copy of a file: its name may vanish at any time, when others make room."""
        while True:
            copy = self._copy(file)
            with suppress(FileNotFoundError):
                return opened(copy)

    def _copy(self, file: Remote) -> Path:
        """Return the name of a local copy, made when there is none of its size and time."""
        size, written = file.stat()
        digest = hashlib.sha256(f"{file}\0{size}\0{written}".encode()).hexdigest()[:32]
        copy = Path(self.folder) / f"{digest}-{file.name}"
        with suppress(OSError):
            if copy.stat().st_size == size:
                now = time.time_ns()  # the system's own stamp is up to 10 ms old
                os.utime(copy, ns=(now, now))  # it was used now: others leave before it
                return copy
        content = file.read_bytes()
        copy.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(_PARTIAL, dir=copy.parent)
        try:  # a copy appears whole: another process may be making the same one
            with os.fdopen(handle, "wb") as out:
                out.write(content)
            Path(name).replace(copy)
        finally:
            Path(name).unlink(missing_ok=True)
        self._shrink(copy)
        return copy

    def _shrink(self, kept: Path) -> None:
        """Remove the copies that were not used for longest; a process that has one mapped keeps it until it is done."""
        found, total = [], 0
        for entry in os.scandir(self.folder):
            with suppress(OSError):  # another process was faster
                if not entry.name.endswith(_PARTIAL):
                    found.append((entry.stat().st_mtime_ns, entry.stat().st_size, entry.path))
                    total += found[-1][1]
        for _, size, path in sorted(found):
            if total > self.most and path != str(kept):
                Path(path).unlink(missing_ok=True)
                total -= size


def cache_from_environment() -> Cache | None:
    """Return the cache that the environment names, if any."""
    if not (folder := os.environ.get(FOLDER)):
        return None
    size = os.environ.get(GIGABYTES) or str(_DEFAULT)
    try:
        most = int(float(size) * 1e9)
    except (ValueError, OverflowError):
        raise UsageError(f"{GIGABYTES}: expected a number of gigabytes, found {size!r}; give one such as 10") from None
    return Cache(str(Path(folder).absolute()), most)
