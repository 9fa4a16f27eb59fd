"""Documents still in their source: one by one, or the files of a directory together.

A program that lists a directory for others has no time for a step of Python per file: `Files` are found, checked and
sent to a worker as a list of names, and only the worker makes documents of them.
"""

from __future__ import annotations

import os
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from focuseval.collection.kinds import DOCUMENTS, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Member(NamedTuple):
    """A document still in its source."""

    id: str
    file: str
    """The name to show: a path, or ``archive.zip:path``."""
    kind: str
    """The extension that says what it is, or the kind of file that it stands in (`focuseval.collection.kinds`)."""
    size: int
    """Bytes; of a file in a directory what is typical there."""
    time: int = 0
    """When an object of a store was written; files on disk are asked when they are read."""
    read: Callable[[], bytes] | None = None
    """How to read it, now or never, from an archive; None for a file of its own."""

    def ids(self) -> list[str]:
        """Return its id."""
        return [self.id]

    def members(self) -> Iterator[Member]:
        """Yield this one."""
        yield self


class Files(NamedTuple):
    """Documents of one directory, all with the same extension."""

    folder: str
    """What stands before a name in a path."""
    inside: str
    """What stands before a name in an id."""
    kind: str
    size: int
    """Bytes of a typical file."""
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

    def parted(self, count: int) -> tuple[Files, Files]:
        """Return the first documents, and the others."""
        return self._replace(names=self.names[:count]), self._replace(names=self.names[count:])


class MetIds:
    """Ids that were met, as hashes: a third of the memory of the ids themselves."""

    def __init__(self) -> None:
        self.hashes: set[int] = set()

    def first(self, ids: list[str]) -> bool:
        """Say whether all of these ids are met for the first time, as far as hashes can tell."""
        before = len(self.hashes)
        self.hashes.update(map(hash, ids))
        return len(self.hashes) == before + len(ids)


def usual(entries: Sequence[os.DirEntry[str]]) -> tuple[str, list[bool]]:
    """Return the extension of a directory's first document, and which entries are files whose id is plain to see.

    These are not hidden, have this extension in small letters, and need neither another encoding nor other slashes.
    """
    extensions = (kind_of(entry.name)[1] for entry in entries if entry.name[0] != ".")
    extension = next((found for found in extensions if found in DOCUMENTS), "")
    names = [entry.name for entry in entries]
    together = "\n".join(("", *names))
    if not extension or not together.isascii() or "\n." in together or "\\" in together:
        return extension, [False] * len(entries)
    return extension, list(map(min, map(str.endswith, names, repeat(extension)), map(os.DirEntry.is_file, entries)))
