"""Build an index from a collection, with all cores and flat memory; it appears whole or not at all.

It is made in a folder that becomes the index at the end, and is removed if anything goes wrong. On a disk the folder
stands beside the target and is renamed. On object storage it is a folder ``blocks-…`` in the target, which
``metadata.json`` names. What a killed program left behind is removed by the next build, or continued by it.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from glob import escape
from itertools import chain, islice
from pathlib import Path
from socket import gethostname
from time import time_ns
from typing import Any
from uuid import uuid4

from focuseval.collection.batches import MEMORY, ON_WORKER, IndexedBatch, IndexTask, batches, index_batch, unwritable
from focuseval.collection.document_files import DOCUMENTS
from focuseval.collection.parse import ParseReport
from focuseval.collection.pdf import PdfRules
from focuseval.collection.sources import Sources, all_new
from focuseval.collection.store import SCRATCH, documents_table, finish, is_index, part_name, read_metadata, stored
from focuseval.engine.files import sync, syncing
from focuseval.engine.storage import Location, Remote, delete_folder, location
from focuseval.engine.workers import WorkerError, Workers, given, is_alive, sweep
from focuseval.errors import CollectionError

_PARTIAL = ".partial"
_BLOCKS = "blocks-"


def check_target(target: Location, *, force: bool) -> None:
    """Refuse to overwrite anything, except an index when forced."""
    if isinstance(target, Path) and not target.parent.is_dir():
        raise CollectionError("no such directory", at=str(target.parent), remedy="make it first")
    exists = is_index(target) if isinstance(target, Remote) else os.path.lexists(target)
    if isinstance(target, Remote) and not exists and target.is_dir():
        other = next((file for file in target.iterdir() if not file.name.startswith(_BLOCKS)), None)
        if other is not None:
            what = f"expected no objects there, or an index, found {other.name!r}"
            raise CollectionError(what, at=str(target), remedy="choose another name")
    if exists and not force:
        remedy = "choose another name, or replace it with force=True"
        raise CollectionError("exists already", at=str(target), remedy=remedy)
    if exists and isinstance(target, Path) and not is_index(target):  # an older one may be replaced, too
        read_metadata(target)


@contextmanager
def _on_disk(target: Path, *, resume: bool) -> Iterator[Path]:
    """Give the folder to work in; `resume` asks for the newest that a program that does not live any more left."""
    ours = f".{target.name}.{gethostname()}."
    found = target.parent.glob(f"{escape(f'.{target.name}.')}*{_PARTIAL}") if resume else ()
    owners = {folder: folder.name.removesuffix(_PARTIAL).rpartition(".")[2] for folder in found}
    left = [folder for folder, owner in owners.items() if not folder.name.startswith(ours) or not is_alive(owner)]
    folder, old = (target.with_name(f"{ours}{os.getpid()}{ending}") for ending in (_PARTIAL, ".old"))
    if left:
        max(left, key=lambda other: other.stat().st_mtime_ns).rename(folder)
    sweep(target.parent, ours, _PARTIAL)
    (folder / SCRATCH).mkdir(parents=True, exist_ok=True)
    try:
        yield folder
        shutil.rmtree(folder / SCRATCH)
        needed = {*read_metadata(folder)["files"], "metadata.json"} if resume else set()
        for file in folder.iterdir() if resume else ():
            if file.name not in needed:  # an earlier build made it
                file.unlink()
        sync(folder)
        if os.path.lexists(target):
            target.rename(old)
        folder.rename(target)
        sync(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _on_store(target: Remote, *, resume: bool) -> Iterator[Remote]:
    """Give the folder to work in, on object storage."""
    before = stored(target).get("folder") if is_index(target) else None
    held = target.iterdir() if target.is_dir() else ()
    left = [folder for folder in held if folder.name.startswith(_BLOCKS) and folder.name != before]
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


@dataclass
class Built:
    """What an index holds and what was left out of it."""

    report: ParseReport = field(default_factory=ParseReport)
    passed_over: Counter[str] = field(default_factory=Counter)
    """Files that are no documents, by extension."""
    first: dict[str, str] = field(default_factory=dict)
    """The first of them with each extension, by name."""
    elements: int = 0
    nodes: int = 0
    fingerprint: int = 0
    blocks: list[dict[str, Any]] = field(default_factory=list)
    pdf: str = ""
    """The rules by which PDFs were read."""
    reused: int = 0
    """Documents that were kept from an interrupted build."""

    def add(self, done: IndexedBatch) -> None:
        """Add what became of one batch."""
        self.report.add(done.report)
        if done.rows is not None:
            counts, documents = done.counts, len(done.rows)
            named = {"part": counts["number"], "tags": counts["tags"], "crc": counts["check"]}
            self.blocks.append({**named, "batch": 0, "documents": documents})
            self.reused += documents if done.known else 0
            self.elements += counts["elements"]
            self.nodes += counts["nodes"]
            self.fingerprint = (self.fingerprint + counts["fingerprint"]) % 2**256

    def metadata(self) -> dict[str, Any]:
        """Return what is stored beside the index."""
        return {
            "documents": self.report.documents,
            "elements": self.elements,
            "text_nodes": self.nodes,
            "bytes": self.report.bytes,
            "sha256": f"{self.fingerprint:064x}",
            "passed_over": dict(self.passed_over),
            "first_passed_over": self.first,
            "unreadable": self.report.failures,
            "entities_by_name": self.report.named,
            "entities_left_out": dict(self.report.left_out),
            "read_leniently": self.report.lenient,
            "html": "words apart",
            **({"pdf": self.pdf, "pages_without_text": self.report.scanned} if self.report.pages else {}),
        }


def _seen_here(results: Iterator[IndexedBatch]) -> Generator[IndexedBatch]:
    """Yield results; a file that a worker does not see, and this process does, is no bad file."""
    try:
        yield from results
    except CollectionError as error:
        if ON_WORKER not in error.what or error.at is None or not location(error.at.file).exists():
            raise
        remedy = "share its folder with all workers, or index from object storage"
        raise WorkerError(f"{error.at.file}: {error.what}, found on the client; {remedy}") from None


def build_index(
    sources: str | Path | Sequence[str | Path],
    target: str | Path,
    *,
    jobs: int | None = None,
    workers: Workers | None = None,
    keep_going: bool = False,
    force: bool = False,
    resume: bool = False,
    pdf: str = "",
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
        Continue the work of a build whose program was killed: batches that have not changed are not done again.
    pdf
        How PDFs are read where that is not the default: ``hyphens=keep,ligatures=keep,repeated=drop,original=drop``.
    progress
        Called with the counts so far after every batch.
    """
    paths = [location(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    goal = location(target)
    rules = PdfRules.parse(pdf)
    built = Built()
    try:
        check_target(goal, force=force)
        with _on_store(goal, resume=resume) if isinstance(goal, Remote) else _on_disk(goal, resume=resume) as folder:
            mark = folder / SCRATCH / "far"
            if workers is not None:
                mark.write_bytes(b"far")
            # Workers of a cluster read documents by whole paths; whoever resumes their work needs the same batches.
            far = workers is not None or (resume and mark.is_file())
            every = [path.absolute() for path in paths] if far else paths
            found = Sources(every, built.passed_over, built.first, whole=far)
            tasks = (
                IndexTask(number, batch, str(folder.absolute()), keep_going, resume, rules, workers is not None)
                for number, batch in enumerate(batches(found.groups(), folder / SCRATCH, far=far))
            )
            seen, head, checks = set[int](), list(islice(tasks, 2)), dict[str, int]()
            with (
                given(1 if len(head) < 2 else jobs, workers) as crew,  # a single task is not worth other processes
                documents_table(folder, checks) as add,
                syncing() as push,
                closing(_seen_here(crew.in_order(index_batch, chain(head, tasks)))) as results,
            ):
                for done in results:
                    if far and done.rows is not None and not all_new(ids := done.rows.column("id").to_pylist(), seen):
                        found.refuse_twins(ids)  # only the workers of a cluster see all ids
                    built.add(done)
                    if done.rows is not None:
                        add(done.rows)
                        if isinstance(folder, Path):
                            push(folder / part_name(done.counts["number"]))
                    if done.spool:
                        location(done.spool).unlink()
                    if progress:
                        progress(built.report)
            if not built.report.documents:
                others, unreadable = sum(built.passed_over.values()), len(built.report.failures)
                what = f"expected documents ({', '.join(DOCUMENTS)}), found none"
                counts = f"({others} other files, {unreadable} unreadable)"
                raise CollectionError(f"{what} {counts}", at=str(paths[0]), remedy="archives must be named themselves")
            built.pdf = rules.signature() if built.report.pages else ""
            noted = {"checksums": checks, "sources": [str(path.absolute()) for path in paths]}
            finish(goal, folder, built.blocks, built.metadata() | noted)
    except OSError as error:
        raise unwritable(error, goal) from None
    finally:
        MEMORY.clear()
    return built
