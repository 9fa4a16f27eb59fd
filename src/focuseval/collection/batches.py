"""The tasks of an index: cut a stream of documents into batches; read, parse and write one batch in a worker.

A batch grows with what came before it (from `SMALLEST` to `LARGEST` bytes), so that a small collection still keeps
all cores busy and a large one has few blocks. Documents of an archive can be read only once, in order: their bytes
are written to a temporary file per batch, which is removed when the batch is done. On a cluster a file of several
documents that is not too large is a document of a batch itself, and the worker takes it apart.

Every batch that is done leaves a file in the index's scratch folder: the rows of its documents, and what was counted.
A build that continues another one's work (`IndexTask.resume`) uses these in place of batches that have not changed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import pyarrow as pa

from focuseval.collection.block import as_stored, fingerprint
from focuseval.collection.document_files import MAX_BYTES, WHOLE, contained, unpacked
from focuseval.collection.parse import Memory, ParseReport, Raw, parse_documents
from focuseval.collection.pdf import PdfRules
from focuseval.collection.sources import Files, Member
from focuseval.collection.store import SCRATCH, document_rows, part_name, write_arrow
from focuseval.collection.trees import KEEP_GOING
from focuseval.engine.storage import Location, is_url, location
from focuseval.engine.version import __version__
from focuseval.errors import CollectionError

SMALLEST = 4_000_000
LARGEST = 16_000_000
_AT_ONCE = 16  # objects of a store that are asked for at once: an answer takes longer than the content of a small one


@dataclass(frozen=True)
class Batch:
    """Documents to be parsed together, and the spool file that holds them, if any."""

    groups: list[Member | Files]
    spool: str | None = None
    check: int = 0  # a checksum of the spool file's content

    def documents(self) -> list[Member]:
        """Return the documents one by one."""
        return [member for group in self.groups for member in group.members()]

    def read(self) -> Iterator[Raw | CollectionError]:
        """Read the documents, or say why one cannot be read."""
        documents = self.documents()
        if self.groups[0].kind in WHOLE:  # files that hold several documents
            for _, file, kind, *_ in documents:
                try:
                    for name, at, what, data in contained(location(file), WHOLE[kind]):
                        yield Raw(name, at, data, what)
                except OSError as error:
                    raise CollectionError(f"cannot read: {error.strerror}", at=file, remedy="try again") from None
            return
        if self.spool is not None:
            with location(self.spool).open("rb") as stream:
                yield from (_raw(member, stream.read(member.size)) for member in documents)
        elif any(is_url(member.file) for member in documents):
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                yield from pool.map(_raw, documents)
        else:
            yield from map(_raw, documents)

    def stamp(self) -> str:
        """Return a hash that changes when a document does: its name, size or time, or the content of the spool file."""
        state = hashlib.sha256(f"{self.check}".encode())
        for name, file, kind, size, time, _ in self.documents():
            known = (size, time)
            if not time and not self.spool:
                known = (0, 0)
                with suppress(OSError):  # it is named when it is read
                    stat = os.stat(file)  # noqa: PTH116  asked of every file of a collection
                    known = stat.st_size, stat.st_mtime_ns
            state.update(f"{name}\0{file}\0{kind}\0{known}\n".encode("utf-8", "surrogateescape"))
        return state.hexdigest()


def _raw(member: Member, content: bytes | None = None) -> Raw | CollectionError:
    file = member.file
    try:
        return Raw(member.id, file, unpacked(read_file(file) if content is None else content, file), member.kind)
    except CollectionError as error:
        return error


def read_file(file: str) -> bytes:
    """Read a document from the disk or from a store."""
    try:
        if is_url(file):
            size, data = 0, location(file).read_bytes()
        else:
            with open(file, "rb", buffering=0) as stream:  # noqa: PTH123  every file of a collection
                size = os.fstat(stream.fileno()).st_size
                data = stream.readall() if size <= MAX_BYTES else b""
    except OSError as error:
        raise CollectionError(f"cannot read: {error.strerror}", at=file, remedy=KEEP_GOING) from None
    if max(size, len(data)) > MAX_BYTES:
        what = f"refused: more than {MAX_BYTES // 2**20} MB"
        raise CollectionError(what, at=file, remedy="split the document")
    return data


def batches(found: Iterable[Member | Files], scratch: Location, *, far: bool = False) -> Iterator[Batch]:
    """Cut documents into batches, in order; a batch never mixes what is read in different ways."""
    least = min(3 * SMALLEST, LARGEST) if far else SMALLEST  # on a cluster a task costs more
    total, size, most, check = 0, 0, least, 0
    groups: list[Member | Files] = []
    spool: Any = None

    def closed() -> Batch:
        if spool is None:
            return Batch(groups)
        spool.close()
        return Batch(groups, spool.name, check)

    try:
        for number, group in enumerate(found):
            rest: Member | Files | None = group
            while rest is not None:
                alike = (spool is None) == (rest.read is None) and (
                    not groups or (groups[-1].kind in WHOLE) == (rest.kind in WHOLE)
                )
                if groups and (size >= most or not alike):
                    yield closed()
                    total += size
                    groups, spool, size, most = [], None, 0, min(max(least, total // 32), LARGEST)
                if rest.read is not None:
                    content = rest.read()
                    check = crc32(content, check if spool else 0)
                    spool = spool or (scratch / f"spool-{number}").open("wb")
                    spool.write(content)
                if isinstance(rest, Member):
                    groups.append(rest._replace(read=None))
                    size += rest.size
                    rest = None
                else:  # as many of the files as there is room for, and at least one
                    count = max(1, -(-(most - size) // max(1, rest.size)))
                    some, others = rest.names[:count], rest.names[count:]
                    groups.append(rest._replace(names=some))
                    size += rest.size * len(some)
                    rest = rest._replace(names=others) if others else None
        if groups:
            yield closed()
    finally:
        if spool:
            spool.close()


MEMORY = Memory()  # every thread's own, used for one block after another


@dataclass(frozen=True)
class IndexTask:
    """A batch, and where its block is written."""

    number: int
    batch: Batch
    folder: str
    keep_going: bool = False
    resume: bool = False  # whether the folder may hold what another build has done
    pdf: PdfRules | None = None
    far: bool = False  # whether it is done by a cluster, whose workers may not see a file that the client sees

    def done_file(self) -> Location:
        """Return the file that says what became of the batch."""
        return location(self.folder) / SCRATCH / f"done-{self.number}.arrow"


@dataclass(frozen=True)
class IndexedBatch:
    """What became of a batch."""

    report: ParseReport
    spool: str | None  # the batch's temporary file, if it has one: it is not needed any more
    rows: Any = None  # an Arrow record batch, a row per document; None where none of them could be read
    counts: dict[str, Any] = field(default_factory=dict)
    """Of the block: its number and tags, its elements, text nodes and bytes, its fingerprint."""
    known: bool = False  # whether an earlier build had done it


_MISSING = os.strerror(errno.ENOENT)
ON_WORKER = " on worker "


def index_batch(task: IndexTask) -> IndexedBatch:
    """Parse and write one batch, unless it was done before; done twice, it is the same."""
    stamp = f"{__version__} {task.keep_going} {task.pdf} {task.batch.stamp()}"  # all that the block depends on
    if task.resume and (known := _done_before(task, stamp)) is not None:
        return known
    report, raws = ParseReport(), []
    try:
        for found in task.batch.read():
            if isinstance(found, Raw):
                raws.append(found)
            elif task.keep_going and not (task.far and _MISSING in found.what):
                report.failures.append(f"{found.at}: {found.what}")
            else:
                raise found
        block, parsed = parse_documents(raws, keep_going=task.keep_going, memory=MEMORY, pdf=task.pdf)
        report.add(parsed)
        if block is None:
            return IndexedBatch(report, task.batch.spool)
        counts: dict[str, Any] = {
            "number": task.number,
            "tags": list(block.tags),
            "elements": int(block.element_bounds[-1]),
            "nodes": int(block.node_bounds[-1]),
            "fingerprint": fingerprint(block),
        }
        counts["size"], counts["check"] = write_arrow(as_stored(block), location(task.folder) / part_name(task.number))
        rows = document_rows(block)
        metadata = json.dumps({"stamp": stamp, "report": vars(report), "counts": counts})
        write_arrow(rows.replace_schema_metadata({"done": metadata}), task.done_file())
    except OSError as error:
        raise unwritable(error, task.folder) from None
    except CollectionError as error:
        if task.far and _MISSING in error.what:
            error.what = f"not found{ON_WORKER}{platform.node()}:{os.getpid()}"
        raise
    return IndexedBatch(report, task.batch.spool, rows, counts)


def _done_before(task: IndexTask, stamp: str) -> IndexedBatch | None:
    """Return what another build has done of this task; None where it has not, or where a document has changed."""
    try:
        rows = pa.ipc.open_file(pa.py_buffer(task.done_file().read_bytes())).get_batch(0)
        stored = json.loads(rows.schema.metadata[b"done"])
        size = (location(task.folder) / part_name(task.number)).stat().st_size
        if stored["stamp"] != stamp or size != stored["counts"]["size"]:
            return None
        report = ParseReport(**stored["report"] | {"left_out": Counter(stored["report"]["left_out"])})
        return IndexedBatch(report, task.batch.spool, rows.replace_schema_metadata(None), stored["counts"], known=True)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def unwritable(error: OSError, folder: object) -> CollectionError:
    """Return a full disk, or whatever else the system refused, as one line."""
    what = f"cannot write the index: {error.strerror or error}"
    return CollectionError(what, at=str(folder), remedy="nothing was written; make room, or choose another place")
