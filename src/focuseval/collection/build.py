"""Build an index from a collection, with all cores and flat memory; it appears whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from contextlib import contextmanager
from dataclasses import field
from itertools import chain, islice
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from focuseval.collection.batches import batches
from focuseval.collection.kinds import DOCUMENTS
from focuseval.collection.parse import ParseReport
from focuseval.collection.sources import Sources
from focuseval.collection.store import finish, read_metadata, sync
from focuseval.collection.worker import MEMORY, IndexTask, index_batch, unwritable
from focuseval.errors import CollectionError
from focuseval.values import dataclass
from focuseval.workers import cores, processes, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from focuseval.collection.worker import IndexedBatch

_PARTIAL = ".partial"


@dataclass
class Built:
    """What an index holds and what was left out of it."""

    report: ParseReport = field(default_factory=ParseReport)
    passed_over: Counter[str] = field(default_factory=Counter)
    """Files that are no documents, by extension."""
    elements: int = 0
    nodes: int = 0
    fingerprint: int = 0
    blocks: list[dict[str, Any]] = field(default_factory=list)

    def add(self, done: IndexedBatch) -> None:
        """Add what became of one batch."""
        self.report.add(done.report)
        if done.number >= 0:
            self.blocks.append({"part": done.number, "batch": 0, "documents": done.documents, "tags": done.tags})
            self.elements += done.elements
            self.nodes += done.nodes
            self.fingerprint = (self.fingerprint + done.fingerprint) % 2**256

    def metadata(self) -> dict[str, Any]:
        """Return what is written down beside the index."""
        return {
            "documents": self.report.documents,
            "elements": self.elements,
            "text_nodes": self.nodes,
            "bytes": self.report.bytes,
            "sha256": f"{self.fingerprint:064x}",
            "passed_over": dict(self.passed_over),
            "unreadable": self.report.failures,
            "entities_by_name": self.report.named,
            "entities_left_out": dict(self.report.left_out),
            "read_leniently": self.report.lenient,
        }


def build_index(
    sources: str | Path | Sequence[str | Path],
    target: str | Path,
    *,
    jobs: int | None = None,
    keep_going: bool = False,
    force: bool = False,
    progress: Callable[[ParseReport], None] | None = None,
) -> Built:
    """Index directories, archives or files into the folder `target`.

    Parameters
    ----------
    sources
        A path, or several: directories, ``.zip``, ``.tar``, ``.tar.gz``, ``.tar.zst``, or single files, of one document
        or, as JSON lines or TREC's ``<doc>``, of several.
    target
        The index: must not exist, unless `force` says to replace an older index.
    jobs
        Processes to use; all cores if not given.
    keep_going
        Leave unreadable documents out and list them in the report, instead of stopping at the first.
    progress
        Called with the counts so far after every batch.
    """
    paths = [Path(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    goal = Path(target)
    check_target(goal, force=force)
    found = Sources(paths)
    built = Built(passed_over=found.passed_over)
    try:
        with _appearing(goal) as folder:
            tasks = (IndexTask(n, batch, str(folder), keep_going) for n, batch in enumerate(batches(found, folder)))
            for done in _results(tasks, jobs or cores()):
                built.add(done)
                if done.spool:
                    Path(done.spool).unlink()
                if progress:
                    progress(built.report)
            if not built.report.documents:
                raise CollectionError(_nothing(built), at=str(paths[0]), remedy="archives must be named themselves")
            finish(folder, built.blocks, built.metadata())
    except OSError as error:
        raise unwritable(error, goal) from None
    finally:
        MEMORY.clear()
    return built


def _nothing(built: Built) -> str:
    passed = sum(built.passed_over.values())
    unreadable = len(built.report.failures)
    return f"expected documents ({', '.join(DOCUMENTS)}), found none ({passed} other files, {unreadable} unreadable)"


def check_target(target: Path, *, force: bool) -> None:
    """Refuse to overwrite anything, except an index when forced."""
    if not target.parent.is_dir():
        raise CollectionError("no such directory", at=str(target.parent), remedy="make it first")
    if not os.path.lexists(target):
        return
    if not force:
        raise CollectionError(
            "exists already", at=str(target), remedy="choose another name, or replace it with --force"
        )
    read_metadata(target)


def _results(tasks: Iterator[IndexTask], jobs: int) -> Iterator[IndexedBatch]:
    """Do all tasks; a single one is not worth other processes."""
    head = list(islice(tasks, 2))
    with processes(1 if len(head) < 2 else jobs) as workers:
        yield from workers.in_order(index_batch, chain(head, tasks))


@contextmanager
def _appearing(target: Path) -> Iterator[Path]:
    """Give a folder beside `target` that takes its name at the end, and vanishes if anything goes wrong."""
    own = f".{target.name}.{gethostname()}.{os.getpid()}"
    folder, old = target.with_name(own + _PARTIAL), target.with_name(own + ".old")
    sweep(target.parent, f".{target.name}.{gethostname()}.", _PARTIAL)
    folder.mkdir()
    try:
        yield folder
        sync(folder)
        if os.path.lexists(target):
            target.rename(old)
        folder.rename(target)
        sync(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
