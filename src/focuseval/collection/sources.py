"""Where documents come from: directories, archives and single files, in a fixed order.

A document's id is its path inside the source, without extension; documents of a file that holds several bring their
own. Files that are no documents are counted; two documents with the same id are refused, both by name.

The members of .zip, .tar, .tar.gz and .tar.zst archives are read in one pass and without trusting them: one that is a
link, has an absolute name or climbs out with ``..`` is refused by name, and so is one that expands beyond `MAX_BYTES`.
An archive that ends too early is an error, never a shorter collection.

A program that lists a directory for others has no time for a step of Python per file: `Files` are found, checked and
sent to a worker as a list of names, and only the worker makes documents of them.
"""

from __future__ import annotations

import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from operator import attrgetter
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple

from focuseval.collection.document_files import (
    CONTAINERS,
    DOCUMENTS,
    MAX_BYTES,
    contained,
    holds_documents,
    kind_of,
    opened,
)
from focuseval.collection.names import EXTENSION
from focuseval.engine.storage import Location, Remote, RemoteError, location
from focuseval.errors import CollectionError


class Member(NamedTuple):
    """A document still in its source."""

    id: str
    file: str  # the name to show: a path, or ``archive.zip:path``
    kind: str  # the extension that says what it is, or the kind of file that it stands in (`document_files.WHOLE`)
    size: int  # bytes; of a file in a directory what is typical there
    time: int = 0  # when an object of a store was written; files on disk are asked when they are read
    read: Callable[[], bytes] | None = None  # how to read it, now or never, from an archive; None for a file of its own

    def ids(self) -> list[str]:
        """Return its id."""
        return [self.id]

    def members(self) -> Iterator[Member]:
        """Yield this one."""
        yield self


class Files(NamedTuple):
    """Documents of one directory, all with the same extension."""

    folder: str  # what stands before a name in a path
    inside: str  # what stands before a name in an id
    kind: str
    size: int  # bytes of a typical file
    names: list[str]
    time: int = 0
    read: None = None

    def ids(self) -> list[str]:
        """Return the documents' ids."""
        inside, cut = self.inside, -len(self.kind)
        return [inside + name[:cut] for name in self.names]

    def members(self) -> Iterator[Member]:
        """Yield the documents."""
        for name, file in zip(self.ids(), self.names, strict=True):
            yield Member(name, self.folder + file, self.kind, self.size)


def all_new(ids: list[str], seen: set[int]) -> bool:
    """Say whether ids are met for the first time, by the hashes of all before: a third of the memory of ids."""
    before = len(seen)
    seen.update(map(hash, ids))
    return len(seen) == before + len(ids)


def usual(entries: Sequence[os.DirEntry[str]]) -> tuple[str, list[bool]]:
    """Return the extension of a directory's first document, and which entries are such files with plain names."""
    extensions = (kind_of(entry.name)[1] for entry in entries if entry.name[0] != ".")
    extension = next((found for found in extensions if found in DOCUMENTS), "")
    names = [entry.name for entry in entries]
    together = "\n".join(("", *names))
    if extension and together.isascii() and "\n." not in together and "\\" not in together:
        files = map(os.DirEntry.is_file, entries)
        with suppress(OSError):  # of a link that leads to itself
            return extension, list(map(min, map(str.endswith, names, repeat(extension)), files))
    return extension, [False] * len(entries)


_NAME = attrgetter("name")
_WHOLE = 32_000_000  # bytes up to which a file of several documents is one task


@dataclass
class Sources:
    """The documents of several sources, and a count of what was passed over."""

    paths: Sequence[Location]
    passed_over: Counter[str] = field(default_factory=Counter)  # files that are no documents, by extension
    first: dict[str, str] = field(default_factory=dict)  # the first of them with each extension, by name
    whole: bool = False
    """Whether files of several documents are left to the workers, where they are not too large for one of them."""

    def __iter__(self) -> Iterator[Member]:
        """Yield every document once; a repeated id raises."""
        return (member for group in self.groups() for member in group.members())

    def groups(self) -> Iterator[Member | Files]:
        """Yield every document once, those of a directory together; a repeated id raises."""
        self.passed_over.clear()
        seen = set[int]()
        try:
            for group in self._groups():
                if not self.whole and not all_new(ids := group.ids(), seen):  # else the workers find them all
                    self.refuse_twins(ids)
                yield group
        except RemoteError as error:
            raise CollectionError(f"cannot read: {error.strerror}", at=error.filename, remedy="try again") from None

    def _groups(self) -> Iterator[Member | Files]:
        for path in self.paths:
            if path.is_dir():
                yield from self._remote(path) if isinstance(path, Remote) else self._directory(os.path.normpath(path))
                continue
            if not path.exists():
                raise CollectionError("no such file or directory", at=str(path), remedy="check the name")
            if path.name.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")):
                for name, size, read in archive_members(path):
                    stem, extension = kind_of(name.removeprefix("./"))
                    if extension in DOCUMENTS:
                        yield Member(_id(stem, str(path)), f"{path}:{name}", extension, size, read=read)
                    else:
                        self._skip(extension, f"{path}:{name}")
                continue
            stem, extension = kind_of(path.name)
            if extension in DOCUMENTS:
                yield Member(_id(stem, str(path)), str(path), extension, _size(path))
            elif extension in CONTAINERS:
                yield from self._contained(extension, str(path), surely=True)
            else:
                known = ", ".join((*DOCUMENTS, *CONTAINERS))
                what = f"expected a directory, an archive or one of {known}, found {path.suffix or 'none'}"
                remedy = _PDF if extension == ".pdf" else "rename it, or name its directory"
                raise CollectionError(what, at=str(path), remedy=remedy)

    def _directory(self, root: str, inside: str = "") -> Iterator[Member | Files]:
        """Walk a directory in sorted order; links to directories and hidden files are passed over."""
        try:
            entries = sorted(os.scandir(f"{root}/{inside}"), key=_NAME)
        except OSError as error:
            at = os.path.normpath(f"{root}/{inside}")
            raise CollectionError(f"cannot read: {error.strerror}", at=at, remedy="check the permissions") from None
        # Files are taken to be of the mean size of a few: to ask for each would take as long as to list them.
        some = [size for entry in entries[:: len(entries) // 8 + 1] if (size := _size(entry))]
        size, begin = sum(some) // len(some) if some else 0, 0
        extension, plain = usual(entries)
        for end in (*(row for row, found in enumerate(plain) if not found), len(entries)):
            if names := [entry.name for entry in entries[begin:end]]:
                yield Files(f"{root}/{inside}", inside, extension, size, names)
            if end < len(entries):
                yield from self._entry(entries[end], root, inside, size)
            begin = end + 1

    def _entry(self, entry: os.DirEntry[str], root: str, inside: str, size: int) -> Iterator[Member | Files]:
        """Yield what one entry of a directory holds; a link that leads nowhere is named when it is read."""
        stem, extension = kind_of(entry.name)
        link = entry.is_symlink()  # one may lead to itself: `os.path` answers, where the entry raises
        file, folder = (os.path.isfile(entry), os.path.isdir(entry)) if link else (entry.is_file(), entry.is_dir())  # noqa: PTH112, PTH113
        if entry.name[0] == ".":
            self.passed_over[entry.name if link else "hidden"] += 1
        elif extension in DOCUMENTS and (file or (link and not folder)):
            yield Member(_id(inside + stem, entry.path), entry.path, extension, size if file else 0)
        elif file:
            yield from self._contained(extension, entry.path, surely=False)
        elif folder and not link:
            yield from self._directory(root, f"{inside}{entry.name}/")
        else:
            self.passed_over[entry.name if link else "no regular file"] += 1

    def _remote(self, root: Remote) -> Iterator[Member | Files]:
        """Yield the documents below a name on object storage, in the order of a walk; hidden files are passed over."""
        for file in root.rglob("*"):
            inside = file.relative_to(root)
            stem, extension = kind_of(inside)
            if inside.startswith(".") or "/." in inside:
                self.passed_over["hidden"] += 1
            elif extension in DOCUMENTS:
                size, time = file.stat()
                yield Member(_id(stem, str(file)), str(file), extension, size, time=time)
            else:
                yield from self._contained(extension, str(file), surely=False)

    def _contained(self, extension: str, file: str, *, surely: bool) -> Iterator[Member | Files]:
        """Yield the documents of a file that holds several; what is none is counted, unless it surely should be one."""
        kind, place = CONTAINERS.get(extension, ""), location(file)
        if not kind or not (surely or holds_documents(place, kind)):
            self._skip(extension, file)
        elif self.whole and (found := place.stat()).st_size <= _WHOLE:
            yield Member(file, file, f"{kind}-file", found.st_size, time=found.st_mtime_ns)
        else:
            for inner, at, what, data in contained(place, kind):
                yield Member(inner, at, what, len(data), read=partial(bytes, data))

    def _skip(self, extension: str, file: str) -> None:
        """Count a file that is no document."""
        self.passed_over[extension or "no extension"] += 1
        self.first.setdefault(extension, file)

    def refuse_twins(self, ids: Iterable[str]) -> None:
        """Name the first two files that share one of the ids, unless only the hashes of their ids agree."""
        asked, first = frozenset(ids), dict[str, str]()
        for member in (one for group in Sources(self.paths)._groups() for one in group.members()):  # noqa: SLF001
            if member.id in first:
                what = f"two documents have the id {member.id!r}: {first[member.id]} and {member.file}"
                raise CollectionError(what, remedy="rename one of them, or leave it out")
            if member.id in asked:
                first[member.id] = member.file


_PDF = "PDFs need the extra 'pdf' (pip install 'focuseval[pdf]')"


def left_out(metadata: Mapping[str, Any]) -> str:
    """Return which files of a collection look like documents and were not read, and what to do; nothing for none."""
    first = metadata.get("first_passed_over") or {}
    kinds = {kind: name for kind, name in first.items() if re.search(EXTENSION, kind)}
    counts = metadata.get("passed_over") or {}
    said = "; ".join(f"{counts[kind]:,} {kind}, first {name}" for kind, name in kinds.items())
    remedy = f"{_PDF}, or save others" if ".pdf" in kinds else "save them"
    return f"not read: {said}; {remedy} as text, Markdown, HTML or .docx" if said else ""


def _size(path: Location | os.DirEntry[str]) -> int:
    """Return a file's size; what cannot be read now is named when it is."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _id(stem: str, file: str) -> str:
    """Return the id of a document; names that are not UTF-8 cannot be written down."""
    try:
        stem.encode("utf-8")
    except UnicodeEncodeError:
        shown = file.encode("utf-8", "backslashreplace").decode()
        raise CollectionError("expected a file name in UTF-8", at=shown, remedy="rename the file") from None
    return stem.replace("\\", "/")


_Archived = tuple[str, int, str, "Callable[[], IO[bytes] | None]"]
"""A member's name and size, whether it is a file, a link or a device, and how to open it."""
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


def archive_members(path: Location) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    """Yield name, size and a way to read each file of an archive; directories are passed over."""
    with _whole(path):
        members = _zip_members(path) if path.name.lower().endswith(".zip") else _tar_members(path)
        for name, size, kind, open_ in members:
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
            yield name, size, partial(_read, path, open_, size, name)


def _read(path: Location, open_: Callable[[], IO[bytes] | None], size: int, name: str) -> bytes:
    """Read a member, but never more or less than it says it holds."""
    with _whole(path):
        stream = open_()
        data = stream.read(size + 1) if stream else b""
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


def _zip_members(path: Location) -> Iterator[_Archived]:
    with path.open("rb") as stream:
        stream.read(1)  # what keeps it from being read is said here; zipfile would say that it is no archive
        with zipfile.ZipFile(stream) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    kind = "a link" if stat.S_ISLNK(info.external_attr >> 16) else "file"
                    yield info.filename, info.file_size, kind, partial(archive.open, info)


def _tar_members(path: Location) -> Iterator[_Archived]:
    with opened(path) as stream, tarfile.open(fileobj=stream, mode="r|", tarinfo=_Marked) as archive:
        for info in archive:
            archive.members = []  # type: ignore[attr-defined]  # else it keeps every header of a huge archive
            if info.isdir():
                continue
            kind = "file" if info.isreg() else "a link" if info.issym() or info.islnk() else "a device"
            yield info.name, info.size, kind, partial(archive.extractfile, info)
        while stream.read(1 << 20):  # a checksum stands behind the last member, and only reading it compares it
            pass
