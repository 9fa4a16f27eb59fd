"""One task of an index: read a batch of documents, parse them, write their block; done twice, it is the same.

Every batch that is done leaves a file in the index's scratch folder: the rows of its documents, and what was counted.
A build that takes up another one's work (`IndexTask.resume`) takes these in place of batches that have not changed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from focuseval.collection.compiled import Memory
from focuseval.collection.parse import ParseReport, Raw, parse_documents
from focuseval.collection.store import SCRATCH, document_rows, part_name, write_arrow
from focuseval.engine.storage import Location, location
from focuseval.engine.version import __version__
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.collection.batches import Batch
    from focuseval.collection.block import Block


MEMORY = Memory()
"""Every thread's own, used for one block after another."""


@dataclass(frozen=True)
class IndexTask:
    """A batch, and where its block goes."""

    number: int
    batch: Batch
    folder: str
    keep_going: bool = False
    resume: bool = False
    """Whether the folder may hold what another build has done."""

    def done_file(self) -> Location:
        """Return the file that says what became of the batch."""
        return location(self.folder) / SCRATCH / f"done-{self.number}.arrow"

    def stamp(self) -> str:
        """Return a hash of all that the block depends on."""
        return f"{__version__} {self.keep_going} {self.batch.stamp()}"


@dataclass(frozen=True)
class IndexedBatch:
    """What became of a batch."""

    report: ParseReport
    spool: str | None
    """The batch's temporary file, if it has one: it is not needed any more."""
    rows: Any = None
    """An Arrow record batch, a row per document; None where none of them could be read."""
    number: int = -1
    """Of the block; −1 where none of the documents could be read."""
    tags: tuple[str, ...] = ()
    elements: int = 0
    nodes: int = 0
    fingerprint: int = 0
    size: int = 0
    """Bytes of the block's file."""
    known: bool = False
    """Whether an earlier build had done it."""


def index_batch(task: IndexTask) -> IndexedBatch:
    """Parse and write one batch, unless it was done before."""
    stamp = task.stamp()
    if task.resume and (known := _done_before(task, stamp)) is not None:
        return known
    report = ParseReport()
    try:
        raws = list(_readable(task, report))
        block, parsed = parse_documents(raws, keep_going=task.keep_going, memory=MEMORY)
        report.add(parsed)
        if block is None:
            return IndexedBatch(report, task.batch.spool)
        size = write_arrow(block.batch, location(task.folder) / part_name(task.number))
        sizes = int(block.element_bounds[-1]), int(block.node_bounds[-1])
        counts = (task.number, block.tags, *sizes, fingerprint(block), size)
        done = IndexedBatch(report, task.batch.spool, document_rows(block), *counts)
        write_arrow(_with_counts(done, stamp), task.done_file())
    except OSError as error:
        raise unwritable(error, task.folder) from None
    return done


def _readable(task: IndexTask, report: ParseReport) -> Iterator[Raw]:
    """Yield the documents that can be read; the others are listed, or the first of them is raised."""
    for found in task.batch.read():
        if isinstance(found, Raw):
            yield found
        elif task.keep_going:
            report.failures.append(f"{found.at}: {found.what}")
        else:
            raise found


def _with_counts(done: IndexedBatch, stamp: str) -> Any:
    """Return the rows of a batch with all else that is known of it as the metadata of their schema."""
    report = {name: getattr(done.report, name) for name in _REPORTED}
    counts = {name: getattr(done, name) for name in _COUNTED} | {"fingerprint": f"{done.fingerprint:x}"}
    return done.rows.replace_schema_metadata({"done": json.dumps({"stamp": stamp, "report": report} | counts)})


def _done_before(task: IndexTask, stamp: str) -> IndexedBatch | None:
    """Return what another build has done of this task; None where it has not, or where a document has changed."""
    try:
        rows = pa.ipc.open_file(pa.py_buffer(task.done_file().read_bytes())).get_batch(0)
        said = json.loads(rows.schema.metadata[b"done"])
        if said["stamp"] != stamp or (location(task.folder) / part_name(task.number)).stat().st_size != said["size"]:
            return None
        report = ParseReport(**said["report"] | {"left_out": Counter(said["report"]["left_out"])})
        counts = {name: said[name] for name in _COUNTED}
        known = counts | {"tags": tuple(said["tags"]), "fingerprint": int(said["fingerprint"], 16)}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return IndexedBatch(report, task.batch.spool, rows.replace_schema_metadata(None), known=True, **known)


_REPORTED = ("documents", "bytes", "failures", "named", "left_out", "lenient")
_COUNTED = ("number", "tags", "elements", "nodes", "size")


def fingerprint(block: Block) -> int:
    """Return the sum of the hashes of (text's hash, id) pairs; sums of blocks add up to that of a collection.

    A sum does not depend on the order of documents, nor on how they were cut into blocks.
    """
    ids, digests = (block.batch.column(name).to_pylist() for name in ("id", "sha256"))
    pairs = (f"{digest} {name}".encode() for name, digest in zip(ids, digests, strict=True))
    return sum(int.from_bytes(hashlib.sha256(pair).digest(), "big") for pair in pairs) % 2**256


def unwritable(error: OSError, folder: object) -> CollectionError:
    """Return a full disk, or whatever else the system refused, as one line."""
    what = f"cannot write the index: {error.strerror or error}"
    return CollectionError(what, at=str(folder), remedy="nothing was written; make room, or choose another place")
