"""Copies of the project's file: one at every start, more as time goes by, the old ones thinned out.

A backup is as new as the last event in it. File names and the computer's clock decide nothing: a clock that was set
back must not make the newest copies look old.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import threading
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from focuseval.assessment.durable import make_private, settle
from focuseval.errors import FocusevalError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from focuseval.assessment.store import Store

FOLDER = "backups"
LAST = 12
"""The newest backups stay whatever their time; ten minutes apart they are two hours of work."""
HOURLY, DAILY = timedelta(days=1), timedelta(days=31)
"""How far back one backup for each hour, and one for each day, stays."""


@dataclass(frozen=True)
class Backup:
    """A copy of a project, and what it holds."""

    path: Path
    project: str
    """Differs between projects that keep their backups in one folder."""
    seq: int
    """Number of the last event: the larger, the newer."""
    at: datetime
    """When that event happened, by the clock of that moment."""

    @property
    def order(self) -> tuple[int, str]:
        """Sorts backups from old to new."""
        return self.seq, self.path.name


def back_up(store: Store, folder: Path) -> Path:
    """Write one backup, whole or not at all, thin out the older ones, and return where it is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    clean(store, folder)
    partial = _partial(store, folder)
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
    try:
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as copy:
            found = copy.execute("SELECT seq, at FROM events ORDER BY seq DESC LIMIT 1").fetchone()
            seq, at = found or (0, "1970-01-01T00:00:00+00:00")
            return Backup(path, _name(copy), seq, datetime.fromisoformat(at))
    except (sqlite3.Error, ValueError):
        return None


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
    partial = _partial(store, folder)
    left = [partial, partial.with_name(f"{partial.name}-journal"), *folder.glob("[0-9]*.partial")]
    for path in left:
        path.unlink(missing_ok=True)


def _partial(store: Store, folder: Path) -> Path:
    return folder / f"{_name(store.database.read())}.partial"


def _name(connection: sqlite3.Connection) -> str:
    """Return a name for the project: its first event is no other project's."""
    first = connection.execute("SELECT at, actor, key FROM events ORDER BY seq LIMIT 1").fetchone()
    return "p" + hashlib.sha256(repr(tuple(first or ())).encode()).hexdigest()[:16]


class Backups:
    """A thread that backs up every `interval` seconds while something has changed."""

    def __init__(self, store: Store, folder: Path, *, interval: float = 600.0) -> None:
        self._store, self._folder, self._interval = store, folder, interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="backups", daemon=True)
        self._seen = -1

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
        (last,) = self._store.database.read().execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        if last == self._seen:
            return None
        self._seen = last
        return back_up(self._store, self._folder)

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            self._try()

    def _try(self) -> None:
        """Back up, or say why not and forget that it was tried."""
        try:
            self.once()
        except (FocusevalError, OSError) as error:
            logging.getLogger(__name__).warning("no backup this time: %s", error)
            self._seen = -1
