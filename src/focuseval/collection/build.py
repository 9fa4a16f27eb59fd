"""Build an index from a collection, with all cores and flat memory; it appears whole or not at all."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.collection.appear import appearing, check_target
from focuseval.collection.batches import batches
from focuseval.collection.kinds import DOCUMENTS
from focuseval.collection.members import MetIds
from focuseval.collection.parse import ParseReport
from focuseval.collection.sources import Sources
from focuseval.collection.store import SCRATCH, documents_table, finish, part_name
from focuseval.collection.worker import MEMORY, IndexTask, index_batch, unwritable
from focuseval.engine.disk import syncing
from focuseval.engine.storage import Remote, location
from focuseval.engine.workers import given
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from focuseval.collection.worker import IndexedBatch
    from focuseval.engine.storage import Location
    from focuseval.engine.workers import Workers


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
