"""Cut a stream of documents into batches for the workers, and read a batch back in a worker.

A batch grows with what came before it (from `SMALLEST` to `LARGEST` bytes), so that a small collection still keeps
all cores busy and a large one has few blocks. Documents of an archive can be read only once, in order: their bytes
are laid down in a temporary file per batch, which goes when the batch is done.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.collection.events import KEEP_GOING
from focuseval.collection.kinds import MAX_BYTES, unpacked
from focuseval.collection.parse import Raw
from focuseval.errors import CollectionError
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from focuseval.collection.sources import Member

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
SMALLEST = 4_000_000
LARGEST = 16_000_000
_SHARE = 32
"""A batch is at most this part of what came before it."""


Row = tuple[str, str, str, int]
"""A document's id, the name of its file, its kind, and its size there."""


@dataclass(frozen=True)
class Batch:
    """Documents to be parsed together: id, name, kind and size of each; the spool file that holds them, if any."""

    documents: list[Row]
    spool: str | None = None

    def read(self) -> Iterator[Raw | CollectionError]:
        """Read the documents, or say why one cannot be read."""
        with nullcontext() if self.spool is None else Path(self.spool).open("rb") as stream:
            for name, file, kind, size in self.documents:
                data = stream.read(size) if stream else None  # whatever becomes of this one, the next follows it
                try:
                    yield Raw(name, file, unpacked(read_file(file) if data is None else data, file), kind)
                except CollectionError as error:
                    yield error


def read_file(file: str) -> bytes:
    """Read a document from the disk."""
    try:
        handle = os.open(file, _READ)  # `open` would ask the system four things more
        try:
            size = os.fstat(handle).st_size
            if size > MAX_BYTES:
                what = f"refused: more than {MAX_BYTES // 2**20} MB"
                raise CollectionError(what, at=file, remedy="split the document")
            data = os.read(handle, size + 1)
            while len(data) < size and (more := os.read(handle, size - len(data))):
                data += more
        finally:
            os.close(handle)
    except OSError as error:
        raise CollectionError(f"cannot read: {error.strerror}", at=file, remedy=KEEP_GOING) from None
    return data


def batches(members: Iterable[Member], scratch: Path) -> Iterator[Batch]:
    """Cut documents into batches, in order; a batch never mixes files on disk with members of archives."""
    total, size, most = 0, 0, SMALLEST
    documents: list[Row] = []
    spool: Any = None
    try:
        for number, member in enumerate(members):
            if documents and (size >= most or (spool is None) != (member.read is None)):
                yield _closed(documents, spool)
                total += size
                documents, spool, size, most = [], None, 0, min(max(SMALLEST, total // _SHARE), LARGEST)
            if member.read is not None:
                spool = spool or (scratch / f"spool-{number}").open("wb")
                spool.write(member.read())
            documents.append((member.id, member.file, member.kind, member.size))
            size += member.size
        if documents:
            yield _closed(documents, spool)
    finally:
        if spool:
            spool.close()


def _closed(documents: list[Row], spool: Any) -> Batch:
    if spool is None:
        return Batch(documents)
    spool.close()
    return Batch(documents, spool.name)
