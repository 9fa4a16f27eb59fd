"""Bytes from a file, a folder or standard input: decompressed, hashed, without their byte-order mark.

Small files are read; large ones are mapped, and hashed by a second thread while they are parsed.
"""

from __future__ import annotations

import hashlib
import mmap
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.engine.storage import Location, in_order, location, unpacked
from focuseval.errors import FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Data = bytes | mmap.mmap

BOM = b"\xef\xbb\xbf"
_LARGE = 1 << 24


@dataclass(frozen=True)
class Source:
    """The content of one file, by the name that the user gave it."""

    name: str
    data: Data
    digest: Callable[[], str]
    """Returns the content's SHA-256, waiting for it if need be."""

    @property
    def stem(self) -> str:
        """The file's name without folder and endings: the name of a run that has none of its own."""
        return location(self.name).name.split(".")[0]

    def at(self, line: int | None = None, column: int | None = None) -> Place:
        """Return a place in this file."""
        return Place(self.name, line, column)

    def line_of(self, offset: int) -> int:
        """Return the line (from 1) that holds the byte at `offset`."""
        return self.data[:offset].count(b"\n") + 1

    def release(self, end: int) -> None:
        """Let go of a mapped file's pages up to a byte; they come back if they are asked for again."""
        whole = end // mmap.PAGESIZE * mmap.PAGESIZE
        if isinstance(self.data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") and whole:
            self.data.madvise(mmap.MADV_DONTNEED, 0, whole)

    def head(self, size: int = 1 << 16) -> bytes:
        """Return the first bytes, enough to tell formats apart."""
        return self.data[:size]


def open_source(path: str | Location | Source, *, hashed: bool = True) -> Source:
    """Return the content of one file; ``-`` is standard input, and what was opened before is returned as it is.

    Its hash is left empty where nobody asks for it (`hashed`): a campaign of runs is read a tenth faster.
    """
    if isinstance(path, Source):
        return path
    name = "<stdin>" if str(path) == "-" else str(path)
    try:
        raw = sys.stdin.buffer.read() if name == "<stdin>" else _load(location(path))
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        raise FormatError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}",
            at=name,
            remedy="check the name and the permissions",
        ) from error
    return source_of(raw, name, hashed=hashed)


def source_of(raw: Data, name: str = "<memory>", *, hashed: bool = True) -> Source:
    """Return a source made of given bytes: decompressed, without byte-order mark; a large one is hashed beside."""
    data = unpacked(raw, name)
    state = hashlib.sha256()
    thread = threading.Thread(target=state.update, args=(data,))
    if hashed and len(data) < _LARGE:
        state.update(data)
    elif hashed:
        thread.start()

    def digest() -> str:
        if thread.is_alive():
            thread.join()
        return state.hexdigest() if hashed else ""

    return Source(name, data[len(BOM) :] if data[:3] == BOM else data, digest)


def open_sources(path: str | Path | Source) -> tuple[Source, ...]:
    """Return a file's content, or that of every file in a folder, in the order of their names."""
    if isinstance(path, Source):
        return (path,)
    folder = location(path)
    if str(path) == "-" or not folder.is_dir():
        return (open_source(path),)
    inner = folder / "qrels" if (folder / "qrels").is_dir() else folder  # of BEIR, beside corpus and queries
    files = [file for file in in_order(inner.rglob("*")) if file.is_file() and not file.name.startswith(".")]
    if inner != folder:  # the judgements that are used for testing, or the only ones
        files = [file for file in files if file.name.split(".")[0] == "test"] or files
        if len(files) > 1:
            names = ", ".join(file.name for file in files)
            raise FormatError(f"expected one file of judgements, found {names}", at=str(inner), remedy="name one")
    if not files:
        raise FormatError(
            "expected assessment files, found an empty folder", at=str(path), remedy="name the folder that holds them"
        )
    return tuple(open_source(file) for file in files)


def joint_digest(sources: Sequence[Source]) -> str:
    """Return the hash of a gold: its file's, or that of its files' hashes in order."""
    if len(sources) == 1:
        return sources[0].digest()
    return hashlib.sha256("\n".join(source.digest() for source in sources).encode()).hexdigest()


def refuse_nul(source: Source) -> None:
    """Raise at the first NUL byte: no text format has one."""
    at = source.data.find(b"\0")
    if at >= 0:
        remedy = (
            "save it as UTF-8" if source.data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "the file is damaged or binary"
        )
        raise FormatError("expected text, found a NUL byte", at=source.at(source.line_of(at)), remedy=remedy)


def _load(path: Location) -> Data:
    if not isinstance(path, Path):
        return path.read_bytes()
    with path.open("rb") as file:
        if path.stat().st_size < _LARGE:
            return file.read()
        if not hasattr(mmap, "MAP_POPULATE"):
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        flags = mmap.MAP_SHARED | mmap.MAP_POPULATE  # one call in place of a fault for every few pages
        return mmap.mmap(file.fileno(), 0, flags, mmap.PROT_READ)
