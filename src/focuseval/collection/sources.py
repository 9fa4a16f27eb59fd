"""Where documents come from: directories, archives and single files, in a fixed order.

A document's id is its path inside the source, without extension; documents of a file that holds several bring their
own. Files that are no documents are counted; two documents with the same id are refused, both by name.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import field
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from focuseval.collection.archives import archive_members, is_archive
from focuseval.collection.containers import contained, holds_documents
from focuseval.collection.kinds import CONTAINERS, DOCUMENTS, kind_of
from focuseval.errors import CollectionError
from focuseval.storage import Location, Remote, location
from focuseval.storage.faults import RemoteError
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


_NAME = attrgetter("name")
_WHOLE = 32_000_000
"""Bytes up to which a file of several documents is one task."""

_SAMPLED = 64
"""Files of a directory whose size is asked for."""


class Member(NamedTuple):
    """A document still in its source."""

    id: str
    file: str
    """The name to show: a path, or ``archive.zip:path``."""
    kind: str
    """The extension that says what it is, or the kind of file that it stands in (`focuseval.collection.kinds`)."""
    size: int
    """Bytes; of a file in a directory what is typical there."""
    read: Callable[[], bytes] | None = None
    """How to read it, now or never, from an archive; None for a file of its own."""
    time: int = 0
    """When an object of a store was written; files on disk are asked when they are read."""


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
        self.passed_over.clear()
        seen: set[int] = set()  # hashes: a third of the memory of the ids themselves
        try:
            for member in self._members():
                key = hash(member.id)
                if key in seen:
                    self.refuse_twin(member.id)
                seen.add(key)
                yield member
        except RemoteError as error:
            raise CollectionError(f"cannot read: {error.strerror}", at=error.filename, remedy="try again") from None

    def _members(self) -> Iterator[Member]:
        for path in self.paths:
            if path.is_dir():
                yield from self._remote(path) if isinstance(path, Remote) else self._directory(os.path.normpath(path))
            elif is_archive(path):
                yield from self._archive(path)
            else:
                yield from self._file(path)

    def _directory(self, root: str, inside: str = "") -> Iterator[Member]:
        """Walk a directory in sorted order; links to directories and hidden files are passed over."""
        try:
            entries = sorted(os.scandir(f"{root}/{inside}"), key=_NAME)
        except OSError as error:
            at = os.path.normpath(f"{root}/{inside}")
            raise CollectionError(f"cannot read: {error.strerror}", at=at, remedy="check the permissions") from None
        size = _typical(entries)
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                self.passed_over[name if entry.is_symlink() else "hidden"] += 1
            elif entry.is_file():
                stem, extension = kind_of(name)
                if extension in DOCUMENTS:
                    yield Member(_id(inside + stem, entry.path), entry.path, extension, size)
                else:
                    yield from self._contained(extension, entry.path, surely=False)
            elif entry.is_dir() and not entry.is_symlink():
                yield from self._directory(root, f"{inside}{name}/")
            else:
                yield from self._other(entry, inside)

    def _remote(self, root: Remote) -> Iterator[Member]:
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

    def _other(self, entry: os.DirEntry[str], inside: str) -> Iterator[Member]:
        """Yield a link that leads nowhere, so that it is named when it is read; all else is counted."""
        stem, extension = kind_of(entry.name)
        if entry.is_symlink() and not entry.is_dir() and extension in DOCUMENTS:
            yield Member(_id(inside + stem, entry.path), entry.path, extension, 0)
        else:
            self.passed_over[entry.name if entry.is_symlink() else "no regular file"] += 1

    def _archive(self, path: Location) -> Iterator[Member]:
        for name, size, read in archive_members(_existing(path)):
            stem, extension = kind_of(name.removeprefix("./"))
            if extension in DOCUMENTS:
                yield Member(_id(stem, str(path)), f"{path}:{name}", extension, size, read)
            else:
                self.passed_over[extension or "no extension"] += 1

    def _file(self, path: Location) -> Iterator[Member]:
        stem, extension = kind_of(_existing(path).name)
        if extension in DOCUMENTS:
            yield Member(_id(stem, str(path)), str(path), extension, _size(path))
        elif extension in CONTAINERS:
            yield from self._contained(extension, str(path), surely=True)
        else:
            known = ", ".join((*DOCUMENTS, *CONTAINERS))
            what = f"expected a directory, an archive or one of {known}, found {path.suffix or 'none'}"
            raise CollectionError(what, at=str(path), remedy="rename it, or name its directory")

    def _contained(self, extension: str, file: str, *, surely: bool) -> Iterator[Member]:
        """Yield the documents of a file that holds several; what is none is counted, unless it surely should be one."""
        kind, place = CONTAINERS.get(extension, ""), location(file)
        if not kind or not (surely or holds_documents(place, kind)):
            self.passed_over[extension or "no extension"] += 1
        elif self.whole and (found := place.stat()).st_size <= _WHOLE:
            yield Member(file, file, f"{kind}-file", found.st_size, time=found.st_mtime_ns)
        else:
            for inner, at, what, data in contained(place, kind):
                yield Member(inner, at, what, len(data), partial(bytes, data))

    def refuse_twin(self, second: str) -> None:
        """Name both files that have the same id, unless only the hashes of their ids agree."""
        same = (member.file for member in Sources(self.paths)._members() if member.id == second)  # noqa: SLF001  own class
        if len(twins := list(islice(same, 2))) == 2:
            what = f"two documents have the id {second!r}: {twins[0]} and {twins[1]}"
            raise CollectionError(what, remedy="rename one of them, or leave it out")


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
