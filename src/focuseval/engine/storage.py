"""Files and folders by path or URL (``s3://``, ``gs://``, ``file://``), and the content of compressed ones.

`location` turns what a user names into a `Path`, or into a `Remote` that has the same methods, so that readers and
writers need not know which of them they have. Objects are listed, read by range and written whole through `pyarrow.fs`,
which is loaded when the first URL is used: that takes 20 ms.

::

    s3://BUCKET/KEY
    s3://BUCKET/KEY?endpoint_override=http://localhost:9000&region=eu-west-1&anonymous=true

Keys and passwords do not belong in a URL, which ends up in logs and in the history of a shell: they are refused, and
never repeated in a message. Arrow's own messages can repeat request headers and keys, so nothing of them is shown but
the name of the error.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from os import PathLike
from pathlib import Path
from posixpath import basename, splitext
from typing import Any, BinaryIO, NamedTuple, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa

from focuseval.errors import FormatError, InputError, UsageError

T = TypeVar("T")

SCHEMES = ("s3://", "gs://")
OPTIONS = ("endpoint_override", "region", "scheme", "anonymous")  # what may be set in a URL's query
PAUSES = (0.2, 1.0)  # seconds before each further attempt, after those of the library itself
_ATTEMPTS = 4  # how often Arrow sends a request that is answered by 500 or 503, or not at all
_SECONDS = 30.0  # how long a connection may take
_LARGE = 5 << 20  # bytes from which on an object is written in several parts
_CHUNK = 1 << 26  # bytes that are handed over for writing at once
_BLOCK = 1 << 20  # bytes of a file that are unpacked at once
_SECRETS = "give credentials in the environment (AWS_ACCESS_KEY_ID …) or in a profile (AWS_PROFILE)"
_CREDENTIALS = "check AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"


def is_url(path: object) -> bool:
    """Say whether a name is a URL of object storage; ``file://`` names a local file.

    >>> is_url("s3://bucket/run.txt"), is_url("run.txt"), is_url("file:///tmp/run.txt")
    (True, False, False)
    """
    return isinstance(path, Remote) or (isinstance(path, str) and path.startswith(SCHEMES))


def location(path: str | PathLike[str] | Remote) -> Location:
    """Return where a file or folder is.

    >>> location("run.txt"), str(location("s3://bucket/runs/") / "a.txt")
    (PosixPath('run.txt'), 's3://bucket/runs/a.txt')
    >>> location("file:///tmp/a%20b.txt")
    PosixPath('/tmp/a b.txt')
    """
    if isinstance(path, (Remote, Path)):
        return path
    path = os.fspath(path)  # a run that is being read has a name, too
    if "://" not in path:
        return Path(path)
    if path.startswith("file://"):
        parts = urlsplit(path)
        if parts.netloc not in {"", "localhost"}:
            raise UsageError(f"expected file:///PATH, found the host {parts.netloc!r}; a path has three slashes")
        return Path(unquote(parts.path))
    if path.startswith(SCHEMES):
        return Remote(*split_url(path))
    scheme = path.partition("://")[0]
    raise UsageError(f"expected a path, or a URL of s3://, gs:// or file://, found {scheme}://; download it first")


def local_path(path: str | PathLike[str]) -> Path:
    """Return the path of a local file, of which a ``file://`` URL is another name."""
    place = location(path)
    if isinstance(place, Remote):
        raise UsageError(f"{place}: expected a local file, found a URL; download it first")
    return place


def in_order(files: Iterable[Location]) -> list[Location]:
    """Return files in the order of their names, folder by folder."""
    return sorted(files, key=lambda file: file.parts)


def split_url(url: str) -> tuple[str, str, str]:
    """Return the scheme, the bucket with the key, and the query of a URL; a key is taken as it is written.

    >>> split_url("s3://bucket/a/b.txt?region=eu-west-1")
    ('s3', 'bucket/a/b.txt', 'region=eu-west-1')
    """
    scheme, _, rest = url.partition("://")
    found = re.search(r"(?s)\?([\w-]+=.*)\Z", rest)
    path, query = (rest[: found.start()] if found else rest).rstrip("/"), found[1] if found else ""
    bucket = path.partition("/")[0]
    if "@" in bucket or ":" in bucket:
        raise UsageError(f"expected {scheme}://BUCKET/KEY, found a user or a password before the bucket; {_SECRETS}")
    if not bucket:
        raise UsageError(f"expected {scheme}://BUCKET/KEY, found no bucket; name one")
    for name, _ in parse_qsl(query, keep_blank_values=True):
        if name not in OPTIONS:
            what = f"{scheme}://{path}: expected one of the options {', '.join(OPTIONS)}, found {name!r}"
            raise UsageError(f"{what}; {_SECRETS}")
    return scheme, path, query


class RemoteError(OSError):
    """An operation on object storage that failed; `strerror` is a line of our own, `filename` the URL."""

    again: bool = False  # whether it may work a moment later


class MissingObjectError(RemoteError, FileNotFoundError):
    """An object or a bucket that is not there."""


class DeniedError(RemoteError, PermissionError):
    """An operation that the store does not allow."""


_FAILURES = {
    "NO_SUCH_KEY": (errno.ENOENT, "no such object"),
    "RESOURCE_NOT_FOUND": (errno.ENOENT, "no such object"),
    "NO_SUCH_BUCKET": (errno.ENOENT, "no such bucket"),
    "ACCESS_DENIED": (errno.EACCES, f"access denied by the store; {_CREDENTIALS}"),
    "INVALID_ACCESS_KEY_ID": (errno.EACCES, f"the store does not know the access key; {_CREDENTIALS}"),
    "SIGNATURE_DOES_NOT_MATCH": (errno.EACCES, f"the store does not accept the secret key; {_CREDENTIALS}"),
    "EXPIRED_TOKEN": (errno.EACCES, "the credentials have expired; fetch new ones"),
    "NO_SUCH_UPLOAD": (errno.EIO, "the upload was lost"),
    "NETWORK_CONNECTION": (errno.EIO, "the store cannot be reached, or broke the connection off"),
    "SLOW_DOWN": (errno.EIO, "the store asks for fewer requests (503)"),
    "SERVICE_UNAVAILABLE": (errno.EIO, "the store is not available (503)"),
    "INTERNAL_FAILURE": (errno.EIO, "the store failed (500)"),
    "REQUEST_TIMEOUT": (errno.EIO, "the store did not answer in time"),
}
"""What Arrow's errors of the AWS library mean; those with `errno.EIO` may pass."""
_STATUS = {"403": "ACCESS_DENIED", "404": "NO_SUCH_KEY", "500": "INTERNAL_FAILURE", "503": "SERVICE_UNAVAILABLE"}


def failure(name: str, number: int, message: str, *, again: bool = False) -> RemoteError:
    """Return the error of an operation on a URL."""
    classes: dict[int, type[RemoteError]] = {errno.ENOENT: MissingObjectError, errno.EACCES: DeniedError}
    error = classes.get(number, RemoteError)(number, message, name)
    error.again = again
    return error


def as_remote(error: Exception, name: str) -> RemoteError:
    """Return an error of Arrow's as one of ours."""
    found = re.search(r"(?a)AWS Error (\w+)(?:\s*\(HTTP status (\d+)\))?", str(error))
    code, status = found.groups() if found else ("", None)
    code = "NO_SUCH_KEY" if isinstance(error, FileNotFoundError) else code
    if known := _FAILURES.get(code) or _FAILURES.get(_STATUS.get(status or "", "")):
        return failure(name, *known, again=known[0] == errno.EIO)
    refused = f"the store refused: {code.lower().replace('_', ' ')}"
    return failure(name, errno.EIO, refused if found else f"the store failed ({type(error).__name__})")


class Stat(NamedTuple):
    """What `os.stat_result` says of a file, as far as a store knows it."""

    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True)
class Remote:
    """A file or folder (all keys below it) on object storage, with the methods of `pathlib.Path` that are used here."""

    scheme: str
    path: str  # the bucket and the key, as they are
    query: str = ""
    known: Stat | None = field(default=None, compare=False)  # of a file that was listed: its size and time

    def __str__(self) -> str:
        return f"{self.scheme}://{self.path}" + (f"?{self.query}" if self.query else "")

    def __truediv__(self, name: str) -> Remote:
        return replace(self, path=f"{self.path}/{name}", known=None)

    @property
    def parts(self) -> tuple[str, ...]:
        """The bucket and the parts of the key between slashes, by which files are ordered, as paths are."""
        return tuple(self.path.split("/"))

    @property
    def name(self) -> str:
        """The last part of the key."""
        return basename(self.path)

    @property
    def suffix(self) -> str:
        """The ending of the name, with its dot."""
        return splitext(self.name)[1]

    @property
    def parent(self) -> Remote:
        """The folder around this one."""
        return replace(self, path=self.path.rpartition("/")[0], known=None)

    def absolute(self) -> Remote:
        """Return itself: a URL depends on no folder."""
        return self

    def relative_to(self, folder: Remote) -> str:
        """Return the key inside a folder."""
        return self.path.removeprefix(folder.path + "/")

    def stat(self) -> Stat:
        """Return size and time, of the listing where there was one."""
        known = self.known or _known(self._info())
        if known is None:
            raise failure(str(self), *_FAILURES["NO_SUCH_KEY"])
        return known

    def is_file(self) -> bool:
        """Say whether there is an object of this name."""
        return self.known is not None or self._info().type.name == "File"

    def is_dir(self) -> bool:
        """Say whether there are objects below this name."""
        return self.known is None and self._info().type.name == "Directory"

    def exists(self) -> bool:
        """Say whether there is a file or a folder of this name."""
        return self.known is not None or self._info().type.name in {"File", "Directory"}

    def iterdir(self) -> Iterator[Remote]:
        """Yield the files and folders in this folder, in the order of names."""
        return iter(self._listed(deep=False))

    def rglob(self, pattern: str) -> Iterator[Remote]:
        """Yield all files below this folder that a pattern fits, ``*`` or ``*.xml``."""
        return (file for file in self._listed(deep=True) if fnmatchcase(file.name, pattern))

    def open(self, mode: str = "rb") -> Any:
        """Return a stream that reads the file in large ranges and can seek, or one that writes it when it is closed."""
        if mode == "wb":
            return ObjectWriter(self)
        if mode != "rb":
            raise ValueError(f"expected mode 'rb' or 'wb', found {mode!r}")
        return io.BufferedReader(ObjectReader(self), 1 << 22)

    def read_bytes(self) -> bytes:
        """Return the whole content."""
        with ObjectReader(self) as file:
            return file.readall()

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the whole content as text."""
        return self.read_bytes().decode(encoding)

    def write_bytes(self, data: Any) -> None:
        """Write the whole file from bytes that are all there; it appears at the end, a large one in several parts.

        Closing a stream completes its object whatever happened before, so nothing that may fail stands in between. A
        large object is begun by a request of its own: if that fails, no stream is there that would leave an empty one.
        """
        whole = memoryview(data).cast("B")
        system = self.system(delayed=len(whole) < _LARGE)

        def once() -> None:
            with system.open_output_stream(self.path, compression=None) as stream:
                for start in range(0, len(whole), _CHUNK):
                    stream.write(whole[start : start + _CHUNK])

        self.attempt(once)

    def unlink(self) -> None:
        """Remove the file; one that is gone already is no error."""
        with suppress(FileNotFoundError):
            self.attempt(lambda: self.system().delete_file(self.path))

    def attempt(self, work: Callable[[], T]) -> T:
        """Return what an operation gives; a passing failure is tried again, and a lasting one is a `RemoteError`."""
        for pause in (*PAUSES, None):
            try:
                return work()
            except (OSError, ValueError, RuntimeError) as error:  # Arrow's errors are of these
                known = error if isinstance(error, RemoteError) else as_remote(error, str(self))
                if pause is None or not known.again:
                    raise known from None
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def system(self, *, delayed: bool = True) -> Any:
        """Return the file system that holds this place."""
        options = dict(parse_qsl(self.query, keep_blank_values=True))
        own = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
        endpoint = options.get("endpoint_override") or own
        bucket = "" if endpoint else self.path.partition("/")[0]
        return _connected(self.scheme, bucket, endpoint, tuple(sorted(options.items())), delayed=delayed)

    def _info(self) -> Any:
        return self.attempt(lambda: self.system().get_file_info(self.path))

    def _listed(self, *, deep: bool) -> list[Remote]:
        """Return what a folder holds in the order of names, files with their sizes; a request lists a thousand."""
        from pyarrow.fs import FileSelector  # noqa: PLC0415  20 ms, for URLs alone

        found = self.attempt(lambda: self.system().get_file_info(FileSelector(self.path, recursive=deep)))
        files = [replace(self, path=info.path, known=_known(info)) for info in found if info.is_file or not deep]
        return sorted(files, key=lambda file: file.parts)


Location = Path | Remote


def delete_folder(place: Remote) -> None:
    """Delete all objects below a name."""
    with suppress(FileNotFoundError):
        place.attempt(lambda: place.system().delete_dir(place.path))


def _known(info: Any) -> Stat | None:
    return Stat(info.size, info.mtime_ns or 0) if info.is_file else None


@lru_cache(maxsize=64)
def _connected(scheme: str, bucket: str, endpoint: str, options: tuple[tuple[str, str], ...], *, delayed: bool) -> Any:
    """Return a file system; an Arrow older than 21 cannot delay an object, and writes small ones as large ones."""
    from pyarrow import __version__, fs  # noqa: PLC0415  20 ms, for URLs alone

    given = dict(options)
    anonymous = given.get("anonymous", "").lower() in {"1", "true", "yes"}
    if scheme == "gs":
        return fs.GcsFileSystem(anonymous=anonymous, retry_time_limit=timedelta(seconds=_SECONDS))
    region = given.get("region")
    if not region and bucket and os.environ.keys().isdisjoint(("AWS_REGION", "AWS_DEFAULT_REGION")):
        with suppress(OSError):  # a bucket of Amazon's own answers in its own region alone
            region = fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(
        anonymous=anonymous,
        region=region or None,
        scheme=given.get("scheme"),
        endpoint_override=endpoint or None,
        connect_timeout=_SECONDS,
        request_timeout=_SECONDS,
        **({"allow_delayed_open": delayed} if int(__version__.partition(".")[0]) >= 21 else {}),
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
    )


class ObjectReader(io.RawIOBase):
    """An object as a file that reads ranges and can seek; a range that fails is asked for again."""

    def __init__(self, place: Remote) -> None:
        super().__init__()
        self.name = str(place)
        self._place, self._at = place, 0
        self._file: Any = None
        self._file = place.attempt(lambda: place.system().open_input_file(place.path))
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

    def readinto(self, buffer: Any) -> int:
        """Read the next range."""
        data = self.readall(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self, most: int | None = None) -> bytes:
        """Read all that is left, or so much of it, as one range; Python would ask for eight kilobytes at a time."""
        left = max(0, self._size - self._at)
        size = left if most is None else min(most, left)

        def once() -> bytes:
            data: bytes = self._file.read_at(size, self._at)
            if len(data) != size:
                what = f"expected {size:,} bytes, found {len(data):,}: the object or its transfer is cut short"
                raise failure(self.name, errno.EIO, what, again=True)
            return data

        data = self._place.attempt(once) if size else b""
        self._at += size
        return data

    def close(self) -> None:
        """Close it; one that could not be opened, too: Python closes what it throws away."""
        if not self.closed and self._file is not None:
            self._file.close()
        super().close()


class ObjectWriter(io.BytesIO):
    """A new object, which is written when it is closed."""

    def __init__(self, place: Remote) -> None:
        super().__init__()
        self.name = str(place)
        self._place = place

    def close(self) -> None:
        """Write it."""
        if not self.closed:
            self._place.write_bytes(self.getvalue())
        super().close()


UNPACKED, RATIO = 1 << 26, 100
"""Bytes that any compressed file may hold, and how many times its own size a large one may: texts shrink to a tenth."""


def unpacked(raw: bytes, name: str) -> bytes:
    """Return the content of a file: what it holds if it is compressed (gzip or zstd), else the file as it is.

    A file that holds much more than its size suggests is refused before it fills the memory.

    >>> unpacked(gzip.compress(b"topics"), "topics.gz"), unpacked(b"as it is", "topics")
    (b'topics', b'as it is')
    """
    return b"".join(unpacked_blocks(io.BytesIO(raw), len(raw), name)) if _packing(raw[:4]) else raw


def _packing(head: bytes) -> str:
    """Return how a file is compressed, by its first bytes; nothing where it is not."""
    return "gzip" if head[:2] == b"\x1f\x8b" else "zstd" if head == b"\x28\xb5\x2f\xfd" else ""


def unpacked_blocks(file: BinaryIO, size: int, name: str) -> Iterator[bytes]:
    """Yield the content of an open file of this size as `unpacked` returns it, a block at a time."""
    how, most, total = _packing(file.read(4)), max(UNPACKED, RATIO * size), 0
    file.seek(0)
    with _complete(name) if how else nullcontext():
        stream = _unpacking(file, how)
        while block := stream.read(_BLOCK):
            total += len(block)
            if how and total > most:
                what = f"expected at most {most >> 20} MB when it is unpacked, found more"
                raise FormatError(what, at=name, remedy="unpack it yourself, if it is what you expect")
            yield block


def inflated(raw: bytes, how: str, name: str, *, largest: int, error: type[InputError] = FormatError) -> bytes:
    """Return what compressed bytes hold, one byte more than `largest` at most; broken ones raise the error."""
    with _complete(name, error):
        return bytes(_unpacking(io.BytesIO(raw), how).read(largest + 1))


def _unpacking(file: BinaryIO, how: str) -> Any:
    if how == "gzip":
        return gzip.GzipFile(fileobj=file)
    return pa.CompressedInputStream(file, how) if how else file


@contextmanager
def _complete(name: str, error: type[InputError] = FormatError) -> Iterator[None]:
    """Name the file that cannot be unpacked; Arrow's errors are OSError and ValueError."""
    try:
        yield
    except (EOFError, OSError, ValueError, zlib.error) as broken:
        what = f"expected a complete compressed file, found: {broken}"
        raise error(what, at=name, remedy="fetch it again, or compress it again") from None
