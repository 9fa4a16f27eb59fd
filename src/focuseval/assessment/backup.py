"""Copies of the project's file: one at every start, more as time goes by, the old ones thinned out; and back again.

A backup is as new as the last event in it. File names and the computer's clock decide nothing: a clock that was set
back must not make the newest copies look old.

A backup that is copied over ``assess.db`` by hand meets the write-ahead log of the file before it, and SQLite mixes the
two. `restore` copies the old file and its log to ``before-restore/TIME`` first and then takes them away together. The
numbers of later events go on from the highest that was ever given, so that the restored project is newer than every
backup.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from focuseval.assessment.files import held, make_private, settle
from focuseval.assessment.plan import record
from focuseval.assessment.project import DATABASE, IN_USE
from focuseval.assessment.store import Store
from focuseval.engine.files import sync
from focuseval.errors import AssessError, FocusevalError

FOLDER = "backups"
LAST = 12  # the newest backups stay whatever their time; ten minutes apart they are two hours of work
HOURLY, DAILY = timedelta(days=1), timedelta(days=31)
"""How far back one backup for each hour, and one for each day, stays."""
KEPT = "before-restore"
SIDES = ("-wal", "-shm")  # what SQLite keeps beside its file


@dataclass(frozen=True)
class Backup:
    """A copy of a project, and what it holds."""

    path: Path
    project: str  # differs between projects that keep their backups in one folder
    seq: int  # number of the last event: the larger, the newer
    at: datetime  # when that event happened, by the clock of that moment

    @property
    def order(self) -> tuple[int, str]:
        """Sorts backups from old to new."""
        return self.seq, self.path.name


def back_up(store: Store, folder: Path) -> Path:
    """Write one backup, whole or not at all, thin out the older ones, and return where it is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    clean(store, folder)
    partial = folder / f"{_name(store.database.read())}.partial"
    try:
        make_private(partial)
        store.database.backup(partial)
        target = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db"
        settle(partial, target)
    finally:
        clean(store, folder)
    mine = [backup for backup in backups_in(folder) if backup.project == _name(store.database.read())]
    for old in superfluous(mine):
        old.path.unlink()
    return target


def backups_in(*folders: Path) -> list[Backup]:
    """Return the readable backups of some folders, oldest first; other files are nobody's business here."""
    paths = [path for folder in folders for path in folder.glob("[0-9]*.db")]
    return sorted((backup for path in paths if (backup := read_backup(path))), key=lambda backup: backup.order)


def read_backup(path: Path) -> Backup | None:
    """Return what a copy holds; None when it cannot be read."""
    with suppress(sqlite3.Error, ValueError), closing(open_copy(path, "&immutable=1")) as copy:
        last = copy.execute("SELECT seq, at FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        seq, at = last or (0, "1970-01-01T00:00:00+00:00")
        return Backup(path, _name(copy), seq, datetime.fromisoformat(at))
    return None


def open_copy(path: Path, how: str = "") -> sqlite3.Connection:
    """Open a copy of a project's file for reading alone; ``&immutable=1`` makes nothing beside it."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro{how}", uri=True)


def newest_backup(store: Store) -> Backup | None:
    """Return the newest of a project's own backups since one was last put back: older ones may have what it has not."""
    reader = store.database.read()
    restored = "SELECT coalesce(max(seq), 0) FROM events WHERE assessor = '' AND edit LIKE '{\"kind\": \"restore\"%'"
    (since,) = reader.execute(restored).fetchone()
    found = backups_in(store.database.path.parent / FOLDER)
    mine = [backup for backup in found if backup.project == _name(reader) and backup.seq >= since]
    return mine[-1] if mine else None


def superfluous(backups: Iterable[Backup]) -> list[Backup]:
    """Return what may go: all but the last few, one for each hour of a day and one for each day of a month."""
    newest_first = sorted(backups, key=lambda backup: backup.order, reverse=True)
    distinct = list({backup.seq: backup for backup in reversed(newest_first)}.values())[::-1]
    kept = {backup.path for backup in distinct[:LAST]}
    for span, form in ((HOURLY, "%Y%m%d%H"), (DAILY, "%Y%m%d")):
        near = [backup for backup in distinct if abs(distinct[0].at - backup.at) < span]
        kept |= {backup.path for backup in {f"{backup.at:{form}}": backup for backup in reversed(near)}.values()}
    return [backup for backup in newest_first if backup.path not in kept]


def clean(store: Store, folder: Path) -> None:
    """Remove what a backup that was interrupted left behind."""
    partial = folder / f"{_name(store.database.read())}.partial"
    left = [partial, partial.with_name(f"{partial.name}-journal"), *folder.glob("[0-9]*.partial")]
    for path in left:
        path.unlink(missing_ok=True)


def _name(connection: sqlite3.Connection) -> str:
    """Return a name for the project: its first event is no other project's."""
    first = connection.execute("SELECT at, actor, key FROM events ORDER BY seq LIMIT 1").fetchone()
    return "p" + hashlib.sha256(repr(tuple(first or ())).encode()).hexdigest()[:16]


class Backups:
    """A thread that backs up every `interval` seconds while something has changed."""

    def __init__(self, store: Store, folder: Path, *, interval: float = 600.0) -> None:
        self._store, self._folder, self._interval = store, folder, interval
        self._stop, self._seen = threading.Event(), -1
        self._thread = threading.Thread(target=self._repeat, name="backups", daemon=True)

    def start(self) -> None:
        """Back up now, and from time to time; a disk without room for it keeps nobody from reading."""
        self._try()
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join(timeout=5)

    def once(self) -> Path | None:
        """Back up if there are events since the last time."""
        (last,) = self._store.rows("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        if last == self._seen:
            return None
        self._seen = last
        return back_up(self._store, self._folder)

    def _repeat(self) -> None:
        while not self._stop.wait(self._interval):
            self._try()

    def _try(self) -> None:
        """Back up, or say why not and forget that it was tried."""
        try:
            self.once()
        except (FocusevalError, OSError) as error:
            logging.getLogger(__name__).warning("no backup this time: %s", error)
            self._seen = -1


def restore(project: Path, backup: Path | None, *, folders: tuple[Path, ...] = (), actor: str) -> str:
    """Restore a project that nobody has open, and say in one line from what, and where the file before it is.

    `backup` is the copy to restore; None is the newest sound one of the project's backups and of those in `folders`.
    `actor` is whose name stands in the log for it.
    """
    if not (project / "project.json").is_file():
        raise AssessError(f"{project}: expected a project, found no project.json")
    with held(project, alone=True, refusal=f"{project}: {IN_USE}; end the server or command first"):
        known = backups_in(project / FOLDER, *folders)
        source = backup or next((one.path for one in reversed(known) if not _defect(one.path)), None)
        if source is None:
            place = project / FOLDER
            raise AssessError(f"{project}: expected a backup in {place}, found none that is sound; name one")
        defect = "no such file" if not source.is_file() else _defect(source)
        if defect:
            raise AssessError(f"{source}: expected a backup of a project, found: {defect}")
        partial = project / f"{DATABASE}.partial"
        try:
            partial.unlink(missing_ok=True)
            make_private(partial)
            with closing(open_copy(source)) as old, closing(sqlite3.connect(partial)) as new:
                old.backup(new)  # page by page, its own write-ahead log included
            highest = max([_highest(project / DATABASE), _highest(partial), *(one.seq for one in known)])
            kept = _set_aside(project)
            settle(partial, project / DATABASE)
        except sqlite3.Error as error:
            raise AssessError(f"{source}: could not be copied: {error}; nothing was changed") from error
        finally:
            for side in ("", "-journal", *SIDES):
                partial.with_name(partial.name + side).unlink(missing_ok=True)
        with closing(Store(project / DATABASE)) as store:  # the restoration is numbered after all that was ever written
            (events,) = store.rows("SELECT count(*) FROM events").fetchone()
            with store.database.write() as connection:
                connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'", (highest,))
            edit = {"kind": "restore", "from": str(source), "kept": str(kept.relative_to(project)) if kept else ""}
            record(store, edit, actor=actor)
        before = f"what was there is in {kept}" if kept else "nothing was there before"
        return f"restored {events} events from {source}; {before}"


def _defect(path: Path) -> str:
    """Return what is wrong with a copy, '' when nothing is."""
    try:
        with closing(open_copy(path)) as copy:
            copy.execute("SELECT seq FROM events LIMIT 1")
            state: str = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
            return "" if state == "ok" else state
    except sqlite3.Error as error:
        return str(error)


def _highest(path: Path) -> int:
    """Return the number of the last event ever written to a file, 0 when that cannot be read."""
    if not path.is_file():
        return 0
    with suppress(sqlite3.Error), closing(open_copy(path)) as file:
        last = file.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
        return int(last[0]) if last else 0
    return 0


def _set_aside(project: Path) -> Path | None:
    """Copy the file and its log to a folder of their own, then take the log away from where it would do harm."""
    present = [path for side in ("", *SIDES) if (path := project / f"{DATABASE}{side}").exists()]
    if not present:
        return None
    kept = project / KEPT / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    kept.mkdir(mode=0o700, parents=True)
    for path in present:  # nobody has it open, so that a plain copy does no harm; it also takes a damaged file
        shutil.copy2(path, kept / path.name)
        sync(kept / path.name)
    sync(kept)
    with suppress(sqlite3.Error), closing(sqlite3.connect(project / DATABASE)) as old:
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a crash after this line leaves a whole project, the old one
    for side in SIDES:
        (project / f"{DATABASE}{side}").unlink(missing_ok=True)
    return kept
