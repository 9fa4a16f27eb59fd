"""Where documents come from: directories, archives and single files, in a fixed order.

A document's id is its path inside the source, without extension; documents of a file that holds several bring their
own. Files that are no documents are counted; two documents with the same id are refused, both by name.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from focuseval.collection.archives import archive_members, is_archive
from focuseval.collection.containers import contained, holds_documents
from focuseval.collection.kinds import CONTAINERS, DOCUMENTS, kind_of
from focuseval.collection.members import Files, Member, MetIds, usual
from focuseval.engine.storage import Location, Remote, location
from focuseval.engine.storage.faults import RemoteError
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


_NAME = attrgetter("name")
_WHOLE = 32_000_000
"""Bytes up to which a file of several documents is one task."""

_SAMPLED = 8
"""Files of a directory whose size is asked for."""


@dataclass
class Sources:
    """The documents of several sources, and a count of what was passed over."""

    paths: Sequence[Location]
    passed_over: Counter[str] = field(default_factory=Counter)
    """Files that are no documents, by extension."""
    whole: bool = False
    """Whether files of several documents are left to the workers, where they are not too large for one of them."""

    def __iter__(self) -> Iterator[Member]:
        """Yield every document once; a repeated id raises."""
        return (member for group in self.groups() for member in group.members())

    def groups(self) -> Iterator[Member | Files]:
        """Yield every document once, those of a directory together; a repeated id raises."""
        self.passed_over.clear()
        seen = MetIds()
        try:
            for group in self._groups():
                ids = [] if self.whole else group.ids()  # else the workers find them all
                if not seen.first(ids):
                    self.refuse_twins(ids)
                yield group
        except RemoteError as error:
            raise CollectionError(f"cannot read: {error.strerror}", at=error.filename, remedy="try again") from None

    def _groups(self) -> Iterator[Member | Files]:
        for path in self.paths:
            if path.is_dir():
                yield from self._remote(path) if isinstance(path, Remote) else self._directory(os.path.normpath(path))
            elif is_archive(path):
                yield from self._archive(path)
            else:
                yield from self._file(path)

    def _directory(self, root: str, inside: str = "") -> Iterator[Member | Files]:
        """Walk a directory in sorted order; links to directories and hidden files are passed over."""
        try:
            entries = sorted(os.scandir(f"{root}/{inside}"), key=_NAME)
        except OSError as error:
            at = os.path.normpath(f"{root}/{inside}")
            raise CollectionError(f"cannot read: {error.strerror}", at=at, remedy="check the permissions") from None
        size, begin = _typical(entries), 0
        extension, plain = usual(entries)
        for end in (*(row for row, found in enumerate(plain) if not found), len(entries)):
            if names := [entry.name for entry in entries[begin:end]]:
                yield Files(f"{root}/{inside}", inside, extension, size, names)
            if end < len(entries):
                yield from self._entry(entries[end], root, inside, size)
            begin = end + 1

    def _entry(self, entry: os.DirEntry[str], root: str, inside: str, size: int) -> Iterator[Member | Files]:
        """Yield what one entry of a directory holds."""
        if entry.name[0] == ".":
            self.passed_over[entry.name if entry.is_symlink() else "hidden"] += 1
        elif entry.is_file():
            stem, extension = kind_of(entry.name)
            if extension in DOCUMENTS:
                yield Member(_id(inside + stem, entry.path), entry.path, extension, size)
            else:
                yield from self._contained(extension, entry.path, surely=False)
        elif entry.is_dir() and not entry.is_symlink():
            yield from self._directory(root, f"{inside}{entry.name}/")
        else:
            yield from self._other(entry, inside)

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

    def _other(self, entry: os.DirEntry[str], inside: str) -> Iterator[Member | Files]:
        """Yield a link that leads nowhere, so that it is named when it is read; all else is counted."""
        stem, extension = kind_of(entry.name)
        if entry.is_symlink() and not entry.is_dir() and extension in DOCUMENTS:
            yield Member(_id(inside + stem, entry.path), entry.path, extension, 0)
        else:
            self.passed_over[entry.name if entry.is_symlink() else "no regular file"] += 1

    def _archive(self, path: Location) -> Iterator[Member | Files]:
        for name, size, read in archive_members(_existing(path)):
            stem, extension = kind_of(name.removeprefix("./"))
            if extension in DOCUMENTS:
                yield Member(_id(stem, str(path)), f"{path}:{name}", extension, size, read=read)
            else:
                self.passed_over[extension or "no extension"] += 1

    def _file(self, path: Location) -> Iterator[Member | Files]:
        stem, extension = kind_of(_existing(path).name)
        if extension in DOCUMENTS:
            yield Member(_id(stem, str(path)), str(path), extension, _size(path))
        elif extension in CONTAINERS:
            yield from self._contained(extension, str(path), surely=True)
        else:
            known = ", ".join((*DOCUMENTS, *CONTAINERS))
            what = f"expected a directory, an archive or one of {known}, found {path.suffix or 'none'}"
            raise CollectionError(what, at=str(path), remedy="rename it, or name its directory")

    def _contained(self, extension: str, file: str, *, surely: bool) -> Iterator[Member | Files]:
        """Yield the documents of a file that holds several; what is none is counted, unless it surely should be one."""
        kind, place = CONTAINERS.get(extension, ""), location(file)
        if not kind or not (surely or holds_documents(place, kind)):
            self.passed_over[extension or "no extension"] += 1
        elif self.whole and (found := place.stat()).st_size <= _WHOLE:
            yield Member(file, file, f"{kind}-file", found.st_size, time=found.st_mtime_ns)
        else:
            for inner, at, what, data in contained(place, kind):
                yield Member(inner, at, what, len(data), read=partial(bytes, data))

    def refuse_twins(self, ids: Iterable[str]) -> None:
        """Name the first two files that share one of the ids, unless only the hashes of their ids agree."""
        asked, first = frozenset(ids), dict[str, str]()
        for member in (one for group in Sources(self.paths)._groups() for one in group.members()):  # noqa: SLF001
            if member.id in first:
                what = f"two documents have the id {member.id!r}: {first[member.id]} and {member.file}"
                raise CollectionError(what, remedy="rename one of them, or leave it out")
            if member.id in asked:
                first[member.id] = member.file


def _existing(path: Location) -> Location:
    if not path.exists():
        raise CollectionError("no such file or directory", at=str(path), remedy="check the name")
    return path


def _size(path: Location | os.DirEntry[str]) -> int:
    """Return a file's size; what cannot be read now is named when it is."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _typical(entries: Sequence[os.DirEntry[str]]) -> int:
    """Return about what size a directory's files have: to ask for each would take as long as to list them."""
    some = [size for entry in entries[:: len(entries) // _SAMPLED + 1] if (size := _size(entry))]
    return sum(some) // len(some) if some else 0


def _id(stem: str, file: str) -> str:
    """Return the id of a document; names that are not UTF-8 cannot be written down."""
    if "\\" in stem:
        stem = stem.replace("\\", "/")
    if stem.isascii():
        return stem
    try:
        stem.encode("utf-8")
    except UnicodeEncodeError:
        shown = file.encode("utf-8", "backslashreplace").decode()
        raise CollectionError("expected a file name in UTF-8", at=shown, remedy="rename the file") from None
    return stem
