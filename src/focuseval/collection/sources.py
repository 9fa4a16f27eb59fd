"""Where documents come from: directories, archives and single files, in a fixed order.

A document's id is its path inside the source, without extension. Files that are no documents are counted; two files
with the same id are refused, both by name.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING

from focuseval.collection.archives import archive_members, is_archive
from focuseval.collection.names import EXTENSIONS
from focuseval.errors import CollectionError
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Member:
    """A document still in its source."""

    id: str
    file: str
    """The name to show: a path, or ``archive.zip:path``."""
    size: int
    read: Callable[[], bytes] | None = None
    """How to read it, now or never, from an archive; None for a file on disk."""


@dataclass
class Sources:
    """The documents of several sources, and a count of what was passed over."""

    paths: Sequence[Path]
    passed_over: Counter[str] = field(default_factory=Counter)
    """Files that are no documents, by extension."""

    def __iter__(self) -> Iterator[Member]:
        """Yield every document once; a repeated id raises."""
        self.passed_over.clear()
        seen: set[int] = set()  # hashes: a third of the memory of the ids themselves
        for member in self._members():
            key = hash(member.id)
            if key in seen:
                self._refuse_twin(member)
            seen.add(key)
            yield member

    def _members(self) -> Iterator[Member]:
        for path in self.paths:
            if path.is_dir():
                yield from self._directory(path)
            elif is_archive(path):
                yield from self._archive(path)
            else:
                yield from self._file(path)

    def _directory(self, root: Path, inside: str = "") -> Iterator[Member]:
        """Walk a directory in sorted order; links to directories and hidden files are passed over."""
        try:
            entries = sorted(os.scandir(root / inside), key=lambda entry: entry.name)
        except OSError as error:
            raise CollectionError(
                f"cannot read: {error.strerror}", at=str(root / inside), remedy="check the permissions"
            ) from None
        for entry in entries:
            name = f"{inside}/{entry.name}" if inside else entry.name
            if entry.name.startswith(".") or (entry.is_dir() and entry.is_symlink()):
                self.passed_over[entry.name if entry.is_symlink() else "hidden"] += 1
            elif entry.is_dir():
                yield from self._directory(root, name)
            elif not (entry.is_file() or entry.is_symlink()):
                self.passed_over["no regular file"] += 1
            elif self._is_document(name):
                yield Member(_id(name, entry.path), entry.path, _size(entry))

    def _archive(self, path: Path) -> Iterator[Member]:
        for name, size, read in archive_members(_existing(path)):
            if self._is_document(name):
                yield Member(_id(name.removeprefix("./"), str(path)), f"{path}:{name}", size, read)

    def _file(self, path: Path) -> Iterator[Member]:
        if path.suffix.lower() not in EXTENSIONS:
            what = f"expected a directory, an archive or one of {', '.join(EXTENSIONS)}, found {path.suffix or 'none'}"
            raise CollectionError(what, at=str(_existing(path)), remedy="rename it, or name its directory")
        yield Member(_id(path.name, str(path)), str(path), _size(_existing(path)))

    def _is_document(self, name: str) -> bool:
        extension = os.path.splitext(name)[1].lower()  # noqa: PTH122  a member's name is no path of this machine
        if extension not in EXTENSIONS:
            self.passed_over[extension or "no extension"] += 1
        return extension in EXTENSIONS

    def _refuse_twin(self, second: Member) -> None:
        """Name both files that have the same id, unless only the hashes of their ids agree."""
        same = (member.file for member in Sources(self.paths)._members() if member.id == second.id)  # noqa: SLF001  own class
        if len(twins := list(islice(same, 2))) == 2:
            what = f"two files have the document id {second.id!r}: {twins[0]} and {twins[1]}"
            raise CollectionError(what, remedy="rename one of them, or leave it out")


def _existing(path: Path) -> Path:
    if not path.exists():
        raise CollectionError("no such file or directory", at=str(path), remedy="check the name")
    return path


def _size(path: Path | os.DirEntry[str]) -> int:
    """Return a file's size; what cannot be read now is named when it is."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _id(name: str, file: str) -> str:
    """Return a name without its extension; names that are not UTF-8 cannot be written down."""
    stem = name.replace("\\", "/").rpartition(".")[0]
    try:
        stem.encode("utf-8")
    except UnicodeEncodeError:
        shown = file.encode("utf-8", "backslashreplace").decode()
        raise CollectionError("expected a file name in UTF-8", at=shown, remedy="rename the file") from None
    return stem
