"""One worker: parses batches and writes their blocks into its own part of the index.

`Worker` works in the process that made it. `main` is the other end of a pipe: a line of JSON for every batch in, a
line for every result out; when the input ends the part is finished.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.collection.batches import Batch
from focuseval.collection.block import Block, joined
from focuseval.collection.parse import ParseReport, Raw, parse_documents
from focuseval.collection.store import PartWriter
from focuseval.errors import CollectionError, Place
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PARSE_BYTES = 2_000_000
"""Bytes parsed at once: large enough for arrays to pay, small enough for caches and memory."""


@dataclass
class Worker:
    """Parses batches into the blocks of one part."""

    folder: Path
    part: int
    keep_going: bool = False

    def __post_init__(self) -> None:
        """Open the part."""
        self._writer = PartWriter(self.folder / f"part-{self.part}.arrow")

    def run(self, batch: Batch) -> dict[str, Any]:
        """Parse and write one batch; return its row of the table of blocks and its report."""
        report = ParseReport()
        blocks: list[Block] = []
        for raws in portions(self._readable(batch, report)):
            block, one = parse_documents(raws, keep_going=self.keep_going)
            report.add(one)
            blocks += [block] if block else []
        if not blocks:
            return {"block": None, "report": report.to_json()}
        block = joined(blocks)
        row = {"part": self.part, "batch": self._writer.write(block), "documents": len(block), "tags": block.tags}
        counts = [int(block.element_bounds[-1]), int(block.node_bounds[-1])]
        return {"block": row, "counts": counts, "sha256": fingerprint(block), "report": report.to_json()}

    def _readable(self, batch: Batch, report: ParseReport) -> Iterator[Raw]:
        """Yield the documents that can be read; the others are listed, or the first of them is raised."""
        for found in batch.read():
            if isinstance(found, Raw):
                yield found
            elif self.keep_going:
                report.failures.append(f"{found.at}: {found.what}")
            else:
                raise found

    def close(self) -> None:
        """Finish the part."""
        self._writer.close()


def portions(raws: Iterable[Raw]) -> Iterator[list[Raw]]:
    """Cut documents into lists of about `PARSE_BYTES`."""
    portion: list[Raw] = []
    size = 0
    for raw in raws:
        portion.append(raw)
        size += len(raw.data)
        if size >= PARSE_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


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


def packed(error: CollectionError) -> list[Any]:
    """Return an error in a form that JSON can carry."""
    return [error.what, error.at and [error.at.file, error.at.line, error.at.column], error.remedy]


def unpacked(values: list[Any]) -> CollectionError:
    """Return the error that `packed` packed."""
    what, at, remedy = values
    return CollectionError(what, at=at and Place(*at), remedy=remedy)


def main() -> None:
    """Serve batches from standard input until it ends."""
    folder, part, keep_going = json.loads(sys.stdin.readline())
    worker: Worker | None = None
    for line in sys.stdin:
        try:
            worker = worker or Worker(Path(folder), part, keep_going)
            task = json.loads(line)
            answer = worker.run(Batch([tuple(row) for row in task["documents"]], task["spool"]))
        except CollectionError as error:
            answer = {"error": packed(error)}
        except OSError as error:
            answer = {"error": packed(unwritable(error, folder))}
        if not _answered(answer):
            return
    if worker:
        worker.close()


def _answered(answer: dict[str, Any]) -> bool:
    """Send an answer; say False where the parent has gone, with which its folder goes, too."""
    try:
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # else Python complains of it once more at its end
        return False
    return True
