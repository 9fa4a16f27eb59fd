"""Objects of a store through `pyarrow.fs`: listed, read by range, written whole, deleted; with retries."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import fs

from focuseval.engine.storage.faults import attempted, missing, truncated
from focuseval.engine.storage.remote import Remote, Stat
from focuseval.engine.storage.urls import url_options

if TYPE_CHECKING:
    from collections.abc import Sequence

_ATTEMPTS = 4
"""How often Arrow sends a request that is answered by 500 or 503, or not at all."""

_SECONDS = 30.0
"""How long a connection may take."""

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_LARGE = 5 << 20
"""Bytes from which on an object is written in several parts."""

_CHUNK = 1 << 26
"""Bytes that are handed over for writing at once."""


def _system(place: Remote, *, delayed: bool = True) -> Any:
    """Return the file system that holds a place."""
    options = url_options(place.query)
    endpoint = options.get("endpoint_override") or next(filter(None, map(os.environ.get, _ENDPOINTS)), "")
    bucket = "" if endpoint else place.path.partition("/")[0]
    return _connected(place.scheme, bucket, endpoint, tuple(sorted(options.items())), delayed=delayed)


_DELAYS = int(pa.__version__.partition(".")[0]) >= 21
"""Whether Arrow can begin an object when its first bytes come; an older one writes small objects as large ones."""


@lru_cache(maxsize=64)
def _connected(scheme: str, bucket: str, endpoint: str, options: tuple[tuple[str, str], ...], *, delayed: bool) -> Any:
    given = dict(options)
    anonymous = given.get("anonymous", "").lower() in {"1", "true", "yes"}
    if scheme == "gs":
        from datetime import timedelta  # noqa: PLC0415  only this store needs it

        return fs.GcsFileSystem(anonymous=anonymous, retry_time_limit=timedelta(seconds=_SECONDS))
    return fs.S3FileSystem(
        anonymous=anonymous,
        region=given.get("region") or _region(bucket),
        scheme=given.get("scheme"),
        endpoint_override=endpoint or None,
        connect_timeout=_SECONDS,
        request_timeout=_SECONDS,
        **({"allow_delayed_open": delayed} if _DELAYS else {}),
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
    )


def _region(bucket: str) -> str | None:
    """Return the region of a bucket of Amazon's own, which answers in no other; None where the environment says it."""
    if not bucket or any(name in os.environ for name in ("AWS_REGION", "AWS_DEFAULT_REGION")):
        return None
    with suppress(OSError):
        found: str = fs.resolve_s3_region(bucket)
        return found
    return None


def _info(place: Remote) -> Any:
    return attempted(str(place), lambda: _system(place).get_file_info(place.path))


def kind(place: Remote) -> str:
    """Return ``file``, ``folder`` or nothing."""
    return {fs.FileType.File: "file", fs.FileType.Directory: "folder"}.get(_info(place).type, "")


def stat(place: Remote) -> Stat:
    """Return the size and time of an object."""
    found = _info(place)
    if found.type != fs.FileType.File:
        raise missing(str(place))
    return Stat(found.size, found.mtime_ns or 0)


def listed(place: Remote, *, deep: bool) -> Sequence[Remote]:
    """Return what a folder holds in the order of names, files with their sizes: a thousand of them for a request."""
    selector = fs.FileSelector(place.path, recursive=deep)
    found = attempted(str(place), lambda: _system(place).get_file_info(selector))
    files = [info for info in found if info.type == fs.FileType.File or not deep]
    return sorted((replace(place, path=info.path, known=_known(info)) for info in files), key=lambda file: file.parts)


def _known(info: Any) -> Stat | None:
    return Stat(info.size, info.mtime_ns or 0) if info.type == fs.FileType.File else None


def read(place: Remote) -> bytes:
    """Return all bytes of an object; one that ends too early is an error."""

    def once() -> bytes:
        with _system(place).open_input_file(place.path) as file:
            size = file.size()
            data: bytes = file.read(size)
        if len(data) != size:
            raise truncated(str(place), len(data), size)
        return data

    return attempted(str(place), once)


class ObjectReader(io.RawIOBase):
    """An object as a file that reads ranges and can seek; a range that fails is asked for again."""

    def __init__(self, place: Remote) -> None:
        """Open an object."""
        super().__init__()
        self.name = str(place)
        self._place, self._at = place, 0
        self._file = attempted(self.name, lambda: _system(place).open_input_file(place.path))
        self._size: int = self._file.size()

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that any place can be read."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        """Return the place."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read the next range."""
        wanted = max(0, min(len(buffer), self._size - self._at))
        if wanted:
            buffer[:wanted] = attempted(self.name, lambda: self._range(wanted))
            self._at += wanted
        return wanted

    def readall(self) -> bytes:
        """Read all that is left as one range; Python would ask for eight kilobytes at a time."""
        left = max(0, self._size - self._at)
        data = attempted(self.name, lambda: self._range(left)) if left else b""
        self._at += left
        return data

    def _range(self, wanted: int) -> bytes:
        data: bytes = self._file.read_at(wanted, self._at)
        if len(data) != wanted:
            raise truncated(self.name, len(data), wanted)
        return data

    def close(self) -> None:
        """Close it."""
        if not self.closed:
            self._file.close()
        super().close()


class ObjectWriter(io.BytesIO):
    """A new object, which is written when it is closed."""

    def __init__(self, place: Remote) -> None:
        """Begin an object."""
        super().__init__()
        self.name = str(place)
        self._place = place

    def close(self) -> None:
        """Write it."""
        if not self.closed:
            write(self._place, self.getvalue())
        super().close()


def write(place: Remote, data: Any) -> None:
    """Write an object from bytes that are all there; a large one goes in several parts, and is visible at its end.

    Closing a stream completes its object whatever happened before, so nothing that may fail stands in between. A large
    object is begun by a request of its own: if that fails, no stream is there that would leave an empty object.
    """
    whole = pa.py_buffer(data)
    system = _system(place, delayed=whole.size < _LARGE)

    def once() -> None:
        with system.open_output_stream(place.path, compression=None) as stream:
            for start in range(0, whole.size, _CHUNK):
                stream.write(whole.slice(start, min(_CHUNK, whole.size - start)))

    attempted(str(place), once)


def delete(place: Remote) -> None:
    """Delete an object; one that is gone already is no error."""
    with suppress(FileNotFoundError):
        attempted(str(place), lambda: _system(place).delete_file(place.path))


def delete_folder(place: Remote) -> None:
    """Delete all objects below a name."""
    with suppress(FileNotFoundError):
        attempted(str(place), lambda: _system(place).delete_dir(place.path))
