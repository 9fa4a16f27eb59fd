"""Files: compressed ones, recognised by their first bytes, and those that have to be on the disk."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from focuseval.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"

_AT_ONCE = 8
"""Files that are pushed to the disk at once."""

Data = TypeVar("Data")
"""Bytes, or a mapped file."""


def unpacked(raw: Data, name: str, *, largest: int = -1) -> Data | bytes:
    """Return the content of a file: what it holds if it is compressed (gzip or zstd), else the file as it is.

    A file that holds more than `largest` bytes is refused before it fills the memory, where that is given.

    >>> import gzip
    >>> unpacked(gzip.compress(b"topics"), "topics.gz"), unpacked(b"as it is", "topics")
    (b'topics', b'as it is')
    """
    head: bytes = raw[:4]  # type: ignore[index]  # bytes and maps have slices, and no common type that says so
    if head[:2] != _GZIP and head != _ZSTD:
        return raw
    content = inflated(raw, "gzip" if head[:2] == _GZIP else "zstd", name, largest=largest)
    if 0 <= largest < len(content):
        raise FormatError(f"expected at most {largest >> 20} MB when it is unpacked, found more", at=name)
    return content


def inflated(raw: object, how: str, name: str, *, largest: int = -1, error: type[InputError] = FormatError) -> bytes:
    """Return what compressed bytes hold, one byte more than `largest` at most; broken ones raise the error."""
    try:
        if how == "zstd":
            stream = pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(raw)), "zstd")
            content: bytes = stream.read() if largest < 0 else stream.read(largest + 1)
            return content
        if largest < 0:
            return gzip.decompress(raw)  # type: ignore[arg-type]  # bytes and maps alike
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:  # type: ignore[arg-type]  # as above
            return file.read(largest + 1)
    except (EOFError, OSError, ValueError, zlib.error) as broken:  # Arrow's errors are OSError and ValueError
        what = f"expected a complete compressed file, found: {broken}"
        raise error(what, at=name, remedy="fetch it again, or compress it again") from None


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
    begun: list[Future[None]] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield lambda path: begun.append(pool.submit(sync, path))
    for one in begun:
        with suppress(FileNotFoundError):
            one.result()
