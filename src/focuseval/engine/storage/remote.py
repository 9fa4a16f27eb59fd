"""A file or folder on object storage, with the methods of `pathlib.Path` that this package uses."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from posixpath import basename, splitext
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUFFER = 1 << 22
"""Bytes that are fetched at once by those who read a file in order."""


class Stat(NamedTuple):
    """What `os.stat_result` says of a file, as far as a store knows it."""

    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True)
class Remote:
    """A place on object storage; a folder is whatever begins with its name and a slash."""

    scheme: str
    path: str
    """The bucket and the key, as they are."""
    query: str = ""
    known: Stat | None = field(default=None, compare=False)
    """Of a file that was listed: its size and time."""

    def __str__(self) -> str:
        """Return the URL."""
        return f"{self.scheme}://{self.path}" + (f"?{self.query}" if self.query else "")

    @property
    def parts(self) -> tuple[str, ...]:
        """The bucket and the parts of the key between slashes, by which files are ordered, as paths are."""
        return tuple(self.path.split("/"))

    def __truediv__(self, name: str) -> Remote:
        """Return a file or folder inside this one."""
        return replace(self, path=f"{self.path}/{name}", known=None)

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
        from focuseval.engine.storage import objects  # noqa: PLC0415  loads Arrow's file systems

        return self.known or objects.stat(self)

    def is_file(self) -> bool:
        """Say whether there is an object of this name."""
        from focuseval.engine.storage import objects  # noqa: PLC0415  as above

        return self.known is not None or objects.kind(self) == "file"

    def is_dir(self) -> bool:
        """Say whether there are objects below this name."""
        from focuseval.engine.storage import objects  # noqa: PLC0415  as above

        return self.known is None and objects.kind(self) == "folder"

    def exists(self) -> bool:
        """Say whether there is a file or a folder of this name."""
        from focuseval.engine.storage import objects  # noqa: PLC0415  as above

        return self.known is not None or bool(objects.kind(self))

    def iterdir(self) -> Iterator[Remote]:
        """Yield the files and folders in this folder."""
        from focuseval.engine.storage import objects  # noqa: PLC0415  as above

        return iter(objects.listed(self, deep=False))

    def rglob(self, pattern: str) -> Iterator[Remote]:
        """Yield all files below this folder that a pattern fits, ``*`` or ``*.xml``."""
        from fnmatch import fnmatchcase  # noqa: PLC0415  only folders need it

        from focuseval.engine.storage import objects  # noqa: PLC0415  as above

        return (file for file in objects.listed(self, deep=True) if fnmatchcase(file.name, pattern))

    def open(self, mode: str = "rb") -> Any:
        """Return a stream that reads the file in large ranges and can seek, or one that writes it when it is closed."""
        from focuseval.engine.storage import objects  # noqa: PLC0415  as above

        if mode == "wb":
            return objects.ObjectWriter(self)
        if mode != "rb":
            raise ValueError(f"expected mode 'rb' or 'wb', found {mode!r}")
        return io.BufferedReader(objects.ObjectReader(self), _BUFFER)

    def read_bytes(self) -> bytes:
        """Return the whole content."""
        from focuseval.engine.storage import objects  # noqa: PLC0415  as above

        return objects.read(self)

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the whole content as text."""
        return self.read_bytes().decode(encoding)

    def write_bytes(self, data: Any) -> None:
        """Write the whole file; it appears when all of it is there."""
        from focuseval.engine.storage import objects  # noqa: PLC0415  as above

        objects.write(self, data)

    def unlink(self) -> None:
        """Remove the file; one that is gone already is no error."""
        from focuseval.engine.storage import objects  # noqa: PLC0415  as above

        objects.delete(self)
