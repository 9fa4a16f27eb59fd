"""Put a backup in the place of the project's file, and keep what was there.

A file copied over ``assess.db`` by hand meets the write-ahead log of the file before it, and SQLite mixes the two.
Here the old file and its log are copied to ``before-restore/TIME`` first and then taken away together. The numbers of
later events go on from the highest that was ever given, so that the restored project is newer than every backup.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from focuseval.assessment.backup import FOLDER, backups_in
from focuseval.assessment.durable import held, make_private, settle
from focuseval.assessment.plan import record
from focuseval.assessment.project import DATABASE, IN_USE
from focuseval.assessment.store import Store
from focuseval.engine.files import sync
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from pathlib import Path

KEPT = "before-restore"
SIDES = ("-wal", "-shm")
"""What SQLite keeps beside its file."""


@dataclass(frozen=True)
class Restored:
    """What was put back, and where the file that stood in its place is."""

    source: Path
    events: int
    kept: Path | None

    def __str__(self) -> str:
        """Return one line for the terminal."""
        before = f"what was there is in {self.kept}" if self.kept else "nothing was there before"
        return f"restored {self.events} events from {self.source}; {before}"


def restore(project: Path, backup: Path | None, *, folders: tuple[Path, ...] = (), actor: str) -> Restored:
    """Restore a project.

    Parameters
    ----------
    project
        Its folder; nobody may have it open.
    backup
        The copy to restore; None is the newest sound one of the project's backups and of `folders`.
    folders
        Where else backups are kept.
    actor
        Whose name stands in the log for it.
    """
    if not (project / "project.json").is_file():
        raise AssessError(f"{project}: expected a project, found no project.json")
    with held(project, alone=True, refusal=f"{project}: {IN_USE}; end the server or command first"):
        known = backups_in(project / FOLDER, *folders)
        source = backup or _newest_sound([one.path for one in reversed(known)], project)
        partial = project / f"{DATABASE}.partial"
        try:
            _copy(source, partial)
            highest = max([_highest(project / DATABASE), _highest(partial), *(one.seq for one in known)])
            kept = _set_aside(project)
            settle(partial, project / DATABASE)
        finally:
            for side in ("", "-journal", *SIDES):
                partial.with_name(partial.name + side).unlink(missing_ok=True)
        return Restored(source, _noted(project, source, kept, highest, actor), kept)


def _newest_sound(paths: list[Path], project: Path) -> Path:
    for path in paths:
        if not _defect(path):
            return path
    raise AssessError(f"{project}: expected a backup in {project / FOLDER}, found none that is sound; name one")


def _defect(path: Path) -> str:
    """Return what is wrong with a copy, '' when nothing is."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as copy:
            copy.execute("SELECT seq FROM events LIMIT 1")
            found: str = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
            return "" if found == "ok" else found
    except sqlite3.Error as error:
        return str(error)


def _copy(source: Path, partial: Path) -> None:
    """Copy a backup page by page, its own write-ahead log included, after it was found sound."""
    defect = "no such file" if not source.is_file() else _defect(source)
    if defect:
        raise AssessError(f"{source}: expected a backup of a project, found: {defect}")
    partial.unlink(missing_ok=True)
    make_private(partial)
    try:
        with (
            closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(partial)) as new,
        ):
            old.backup(new)
    except sqlite3.Error as error:
        raise AssessError(f"{source}: could not be copied: {error}; nothing was changed") from error


def _highest(path: Path) -> int:
    """Return the number of the last event ever written to a file, 0 when that cannot be read."""
    if not path.is_file():
        return 0
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as file:
        found = file.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
        return int(found[0]) if found else 0
    return 0


def _set_aside(project: Path) -> Path | None:
    """Copy the file and its log to a folder of their own, then take the log away from where it would do harm.

    Nobody has the file open, this process included, so that plain copies do no harm; they also take a damaged file.
    """
    present = [path for side in ("", *SIDES) if (path := project / f"{DATABASE}{side}").exists()]
    if not present:
        return None
    kept = project / KEPT / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    kept.mkdir(mode=0o700, parents=True)
    for path in present:
        shutil.copy2(path, kept / path.name)
        sync(kept / path.name)
    sync(kept)
    with suppress(sqlite3.Error), closing(sqlite3.connect(project / DATABASE)) as old:
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a crash after this line leaves a whole project, the old one
    for side in SIDES:
        (project / f"{DATABASE}{side}").unlink(missing_ok=True)
    return kept


def _noted(project: Path, source: Path, kept: Path | None, highest: int, actor: str) -> int:
    """Write the restoration to the log, numbered after everything that was ever written; return the events before."""
    with closing(Store(project / DATABASE)) as store:
        (events,) = store.database.read().execute("SELECT count(*) FROM events").fetchone()
        with store.database.write() as connection:
            connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'", (highest,))
        edit = {"kind": "restore", "from": str(source), "kept": str(kept.relative_to(project)) if kept else ""}
        record(store, edit, actor=actor)
        return int(events)
