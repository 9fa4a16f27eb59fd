"""Copies of the project's file: one at every start, more as time goes by, the old ones thinned out."""

from __future__ import annotations

import logging
import os
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from focuseval.errors import FocusevalError

if TYPE_CHECKING:
    from pathlib import Path

    from focuseval.assess.store import Store

KEEP = 20
"""Backups that stay; the oldest go first."""


def back_up(store: Store, folder: Path, *, keep: int = KEEP) -> Path:
    """Write one backup, whole or not at all, and return where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db"
    partial = target.with_suffix(".partial")
    try:
        store.database.backup(partial)
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    for old in sorted(folder.glob("[0-9]*.db"))[:-keep]:
        old.unlink()
    return target


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
