"""Read the members of .zip, .tar, .tar.gz and .tar.zst archives, in one pass and without trusting them.

A member that is a link, has an absolute name or climbs out with ``..`` is refused by name, and so is one that expands
beyond `MAX_BYTES`. An archive that ends too early is an error, never a shorter collection.
"""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
import zlib
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from focuseval.collection.document_files import MAX_BYTES
from focuseval.engine.storage import RemoteError
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from focuseval.engine.storage import Location

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")

_BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, OSError, NotImplementedError, RuntimeError)


class _Marked(tarfile.TarInfo):
    """A header whose absence is an error: a whole tar ends with blocks of zeros."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> _Marked:
        """Read the next header."""
        try:
            return super().fromtarfile(archive)
        except tarfile.EmptyHeaderError:  # type: ignore[attr-defined]  # exists, undeclared
            raise tarfile.ReadError("the archive ends without its end marker") from None


def is_archive(path: Location) -> bool:
    """Tell an archive by its name."""
    return path.name.lower().endswith(SUFFIXES)


def archive_members(path: Location) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    """Yield name, size and a way to read each file of an archive; directories are passed over."""
    with _whole(path):
        members = _zip_members(path) if path.name.lower().endswith(".zip") else _tar_members(path)
        for name, size, kind, read in members:
            parts = PurePosixPath(name.replace("\\", "/"))
            wrong = (  # what could reach outside the archive or fill the memory
                (kind if kind != "file" else "")
                or ("an absolute name" if parts.is_absolute() or parts.drive or name[1:2] == ":" else "")
                or ("'..' in its name" if ".." in parts.parts else "")
                or (f"more than {MAX_BYTES // 2**20} MB" if size > MAX_BYTES else "")
            )
            if wrong:
                what = f"refused member {name!r}: {wrong}"
                raise CollectionError(what, at=str(path), remedy="re-pack the archive without it")
            yield name, size, partial(_read, path, read, size, name)


def _read(path: Location, read: Callable[[], bytes], size: int, name: str) -> bytes:
    """Read a member, but never more or less than it says it holds."""
    with _whole(path):
        data = read()
        if len(data) != size:
            raise tarfile.ReadError(f"member {name!r} does not have the {size:,} bytes that it declares")
        return data


@contextmanager
def _whole(path: Location) -> Iterator[None]:
    """Turn whatever the library says of a broken archive into one line."""
    try:
        yield
    except RemoteError:
        raise
    except _BROKEN as error:
        what = f"expected a whole archive, found: {error or type(error).__name__}"
        raise CollectionError(what, at=str(path), remedy="fetch it again, or re-pack it") from None


def _zip_members(path: Location) -> Iterator[tuple[str, int, str, Callable[[], bytes]]]:
    with path.open("rb") as stream:
        stream.read(1)  # what keeps it from being read is said here; zipfile would say that it is no archive
        with zipfile.ZipFile(stream) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    kind = "a link" if stat.S_ISLNK(info.external_attr >> 16) else "file"
                    yield info.filename, info.file_size, kind, partial(_inflate, archive, info)


def _inflate(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as stream:
        return stream.read(info.file_size + 1)


def _tar_members(path: Location) -> Iterator[tuple[str, int, str, Callable[[], bytes]]]:
    with (
        _decompressed(path) as stream,
        tarfile.open(fileobj=stream, mode="r|", tarinfo=_Marked) as archive,
    ):
        for info in archive:
            archive.members = []  # type: ignore[attr-defined]  # else it keeps every header of a huge archive
            if info.isdir():
                continue
            kind = "file" if info.isreg() else "a link" if info.issym() or info.islnk() else "a device"
            yield info.name, info.size, kind, partial(_extract, archive, info)
        while stream.read(1 << 20):  # a checksum stands behind the last member, and only reading it compares it
            pass


def _extract(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(info)
    return stream.read() if stream else b""


@contextmanager
def _decompressed(path: Location) -> Iterator[Any]:
    name = path.name.lower()
    if name.endswith(".zst"):
        source = pa.OSFile(str(path)) if isinstance(path, Path) else pa.PythonFile(path.open("rb"), "r")
        with pa.CompressedInputStream(source, "zstd") as stream:
            yield stream
    elif name.endswith(("gz", "tgz")):
        with path.open("rb") as file, gzip.open(file) as stream:
            yield stream
    else:
        with path.open("rb") as stream:
            yield stream
