"""One task of an index: read a batch of documents, parse them, write their block; done twice, it is the same."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.collection.compiled import Memory
from focuseval.collection.parse import ParseReport, Raw, parse_documents
from focuseval.collection.store import write_block
from focuseval.errors import CollectionError
from focuseval.values import dataclass

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


@dataclass(frozen=True)
class IndexedBatch:
    """What became of a batch."""

    report: ParseReport
    spool: str | None
    """The batch's temporary file, if it has one: it is not needed any more."""
    number: int = -1
    """Of the block; −1 where none of the documents could be read."""
    documents: int = 0
    tags: tuple[str, ...] = ()
    elements: int = 0
    nodes: int = 0
    fingerprint: int = 0


def index_batch(task: IndexTask) -> IndexedBatch:
    """Parse and write one batch."""
    report = ParseReport()
    try:
        raws = list(_readable(task, report))
        block, parsed = parse_documents(raws, keep_going=task.keep_going, memory=MEMORY)
        report.add(parsed)
        if block is None:
            return IndexedBatch(report, task.batch.spool)
        write_block(block, Path(task.folder) / f"part-{task.number}.arrow")
    except OSError as error:
        raise unwritable(error, task.folder) from None
    sizes = int(block.element_bounds[-1]), int(block.node_bounds[-1])
    return IndexedBatch(report, task.batch.spool, task.number, len(block), block.tags, *sizes, fingerprint(block))


def _readable(task: IndexTask, report: ParseReport) -> Iterator[Raw]:
    """Yield the documents that can be read; the others are listed, or the first of them is raised."""
    for found in task.batch.read():
        if isinstance(found, Raw):
            yield found
        elif task.keep_going:
            report.failures.append(f"{found.at}: {found.what}")
        else:
            raise found


def fingerprint(block: Block) -> int:
    """Return the sum of the hashes of (text's hash, id) pairs; sums of blocks add up to that of a collection.

    A sum does not depend on the order of documents, nor on how they were cut into blocks.
    """
    ids, digests = (block.batch.column(name).to_pylist() for name in ("id", "sha256"))
    pairs = (f"{digest} {name}".encode() for name, digest in zip(ids, digests, strict=True))
    return sum(int.from_bytes(hashlib.sha256(pair).digest(), "big") for pair in pairs) % 2**256


def unwritable(error: OSError, folder: str | Path) -> CollectionError:
    """Return a full disk, or whatever else the system refused, as one line."""
    what = f"cannot write the index: {error.strerror or error}"
    return CollectionError(what, at=str(folder), remedy="nothing was written; make room, or choose another place")
