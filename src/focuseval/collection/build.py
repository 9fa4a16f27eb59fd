"""Build an index from a collection, with all cores and flat memory; it appears whole or not at all.

It is made in a folder that becomes the index at the end, and is removed if anything goes wrong. On a disk the folder
stands beside the target and is renamed. On object storage it is a folder ``blocks-…`` in the target, which
``metadata.json`` names. What a killed program left behind is removed by the next build, or continued by it.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from focuseval.collection.batches import MEMORY, IndexTask, batches, index_batch, unwritable
from focuseval.collection.document_files import DOCUMENTS
from focuseval.collection.parse import ParseReport
from focuseval.collection.sources import MetIds, Sources
from focuseval.collection.store import SCRATCH, documents_table, finish, is_index, part_name, read_metadata
from focuseval.engine.files import sync, syncing
from focuseval.engine.storage import Remote, location
from focuseval.engine.workers import given, is_alive, sweep
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from focuseval.collection.batches import IndexedBatch
    from focuseval.engine.storage import Location
    from focuseval.engine.workers import Workers


_PARTIAL = ".partial"
_BLOCKS = "blocks-"


def check_target(target: Location, *, force: bool) -> None:
    """Refuse to overwrite anything, except an index when forced."""
    if isinstance(target, Remote):
        _check_remote(target, force=force)
        return
    if not target.parent.is_dir():
        raise CollectionError("no such directory", at=str(target.parent), remedy="make it first")
    if os.path.lexists(target):
        _refuse(target, force=force)
        read_metadata(target)


def _check_remote(target: Remote, *, force: bool) -> None:
    if is_index(target):
        _refuse(target, force=force)
    elif target.is_dir() and (other := next((f for f in target.iterdir() if not _own(f)), None)) is not None:
        what = f"expected no objects there, or an index, found {other.name!r}"
        raise CollectionError(what, at=str(target), remedy="choose another name")


def _refuse(target: Location, *, force: bool) -> None:
    if not force:
        raise CollectionError(
            "exists already", at=str(target), remedy="choose another name, or replace it with --force"
        )


def appearing(target: Location, *, resume: bool = False) -> AbstractContextManager[Location]:
    """Give the folder to work in; `resume` asks for the one that a killed program left."""
    return _on_store(target, resume=resume) if isinstance(target, Remote) else _on_disk(target, resume=resume)


@contextmanager
def _on_disk(target: Path, *, resume: bool) -> Iterator[Path]:
    own = f".{target.name}.{gethostname()}.{os.getpid()}"
    folder, old = target.with_name(own + _PARTIAL), target.with_name(own + ".old")
    if resume and (left := _left_on_disk(target)):
        left.rename(folder)
    sweep(target.parent, f".{target.name}.{gethostname()}.", _PARTIAL)
    (folder / SCRATCH).mkdir(parents=True, exist_ok=True)
    try:
        yield folder
        shutil.rmtree(folder / SCRATCH)
        if resume:
            _remove_others(folder)
        sync(folder)
        if os.path.lexists(target):
            target.rename(old)
        folder.rename(target)
        sync(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _left_on_disk(target: Path) -> Path | None:
    """Return the newest folder that a build of this target left, unless its program lives on this machine."""
    found = [
        folder
        for folder in target.parent.iterdir()
        if folder.name.startswith(f".{target.name}.") and folder.name.endswith(_PARTIAL)
        if f".{gethostname()}." not in folder.name or not is_alive(_owner(folder))
    ]
    return max(found, key=lambda folder: folder.stat().st_mtime_ns, default=None)


def _owner(folder: Path) -> str:
    """Return the number of the process that made a folder."""
    return folder.name.removesuffix(_PARTIAL).rpartition(".")[2]


def _remove_others(folder: Path) -> None:
    """Remove what an earlier build made and this one did not need."""
    files = read_metadata(folder)["files"]
    for file in folder.iterdir():
        if file.name not in files and file.name != "metadata.json":
            file.unlink()


@contextmanager
def _on_store(target: Remote, *, resume: bool) -> Iterator[Remote]:
    from time import time_ns  # noqa: PLC0415  only object storage needs it
    from uuid import uuid4  # noqa: PLC0415  as above

    from focuseval.engine.storage import delete_folder  # noqa: PLC0415  as above

    before = read_metadata(target).get("folder") if is_index(target) else None
    left = [folder for folder in _own_folders(target) if folder.name != before]
    fresh = target / f"{_BLOCKS}{time_ns():x}-{uuid4().hex[:6]}"  # names in the order of time
    folder = left.pop() if resume and left else fresh
    for other in left:
        delete_folder(other)
    try:
        yield folder
    except BaseException:
        delete_folder(folder)
        raise
    delete_folder(folder / SCRATCH)
    if before:
        delete_folder(target / before)


def _own(folder: Remote) -> bool:
    return folder.name.startswith(_BLOCKS)


def _own_folders(target: Remote) -> list[Remote]:
    return [folder for folder in target.iterdir() if _own(folder)] if target.is_dir() else []


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
    reused: int = 0
    """Documents that were kept from an interrupted build."""

    def add(self, done: IndexedBatch) -> None:
        """Add what became of one batch."""
        self.report.add(done.report)
        if done.number >= 0:
            self.blocks.append({"part": done.number, "batch": 0, "documents": len(done.rows), "tags": done.tags})
            self.reused += len(done.rows) if done.known else 0
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
    workers: Workers | None = None,
    keep_going: bool = False,
    force: bool = False,
    resume: bool = False,
    progress: Callable[[ParseReport], None] | None = None,
) -> Built:
    """Index directories, archives or files into the folder `target`; all may be URLs of object storage.

    Parameters
    ----------
    sources
        A path, or several: directories, ``.zip``, ``.tar``, ``.tar.gz``, ``.tar.zst``, or single files, of one document
        or, as JSON lines or TREC's ``<doc>``, of several.
    target
        The index: must not exist, unless `force` says to replace an older index.
    jobs
        Processes to use; all cores if not given.
    workers
        Other workers in place of processes, such as those of `focuseval.connected`.
    keep_going
        Leave unreadable documents out and list them in the report, instead of stopping at the first.
    resume
        Take up the work of a build whose program was killed: batches that have not changed are not done again.
    progress
        Called with the counts so far after every batch.
    """
    paths = [location(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    goal = location(target)
    built = Built()
    try:
        check_target(goal, force=force)
        with appearing(goal, resume=resume) as folder:
            found = _found(paths, folder / SCRATCH, built.passed_over, far=workers is not None, resume=resume)
            tasks = _tasks(found, folder, keep_going=keep_going, resume=resume)
            with documents_table(folder) as add, syncing() as push, closing(_results(tasks, jobs, workers)) as results:
                for done in _with_ids_once(results, found):
                    built.add(done)
                    if done.rows is not None:
                        add(done.rows)
                        if isinstance(folder, Path):
                            push(folder / part_name(done.number))
                    if done.spool:
                        location(done.spool).unlink()
                    if progress:
                        progress(built.report)
            if not built.report.documents:
                raise CollectionError(_nothing(built), at=str(paths[0]), remedy="archives must be named themselves")
            finish(goal, folder, built.blocks, built.metadata())
    except OSError as error:
        raise unwritable(error, goal) from None
    finally:
        MEMORY.clear()
    return built


def _found(paths: list[Location], scratch: Location, passed: Counter[str], *, far: bool, resume: bool) -> Sources:
    """Return the sources for workers on this machine, or for those of a cluster (`far`), which need whole paths.

    An index that was begun on a cluster is resumed with the same paths and batches here, so that its results are found.
    """
    mark = scratch / "far"
    if far:
        mark.write_bytes(b"far")
    elif not (resume and mark.is_file()):
        return Sources(paths, passed)
    return Sources([path.absolute() for path in paths], passed, whole=True)


def _with_ids_once(results: Iterable[IndexedBatch], found: Sources) -> Iterator[IndexedBatch]:
    """Yield results; an id that occurs twice is refused here where only the workers have seen all of them."""
    seen = MetIds()
    for done in results:
        ids = done.rows.column("id").to_pylist() if found.whole and done.rows is not None else []
        if not seen.first(ids):
            found.refuse_twins(ids)
        yield done


def _tasks(found: Sources, folder: Location, *, keep_going: bool, resume: bool) -> Iterator[IndexTask]:
    """Yield a task for every batch; workers on other machines need whole paths."""
    name = str(folder if isinstance(folder, Remote) else folder.absolute())
    for number, batch in enumerate(batches(found.groups(), folder / SCRATCH, far=found.whole)):
        yield IndexTask(number, batch, name, keep_going, resume)


def _nothing(built: Built) -> str:
    passed = sum(built.passed_over.values())
    unreadable = len(built.report.failures)
    return f"expected documents ({', '.join(DOCUMENTS)}), found none ({passed} other files, {unreadable} unreadable)"


def _results(
    tasks: Iterator[IndexTask], jobs: int | None, others: Workers | None
) -> Generator[IndexedBatch, None, None]:
    """Do all tasks; a single one is not worth other processes."""
    head = list(islice(tasks, 2))
    with given(1 if len(head) < 2 else jobs, others) as workers:
        yield from workers.in_order(index_batch, chain(head, tasks))
