"""The project's SQLite file (see ``schema.sql``): one writer at a time, each commit on the disk before its answer.

While a process has the file open, it must not open, read, copy or sync it, or the ``-wal`` and ``-shm`` beside it, in
any other way than through SQLite: closing such a handle drops every POSIX lock that the process holds on the file, and
another process then takes itself for the last one and removes the log that this one writes to. ``os.stat`` and chmod
open nothing.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from shutil import disk_usage

from focuseval.assessment.files import make_private
from focuseval.errors import StorageError

VERSION = 2  # 1: until 0.1.0; 2: language models among the assessors, whom an older focuseval would take for people
_UNOPENED = "the project was not opened"

SCHEMA, INDEXES = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("schema.sql", "indexes.sql"))


def restore_remedy(project: Path, backup: Path | None = None) -> str:
    """Return what to do about a file that is damaged or gone."""
    return f"restore a backup with 'focuseval project restore {project}{f' {backup}' if backup else ''}'"


class Database:
    """Connections to one file: a single writer behind a lock, one reader per thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._names = (os.path.abspath(path), os.path.abspath(f"{path}-wal"))  # noqa: PTH100  strings, for every write
        self._lock = threading.RLock()  # a thread's first read may be in the middle of its own write
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._lost = ""  # what is said of a log that was removed while this process wrote to it
        try:
            make_private(path)  # before the first connection; what SQLite keeps beside it has the same rights
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}; {_UNOPENED}") from error
        self._writer = self._connect()
        try:
            self._prepare()
        except StorageError:
            self._writer.close()
            raise
        self._opened = self._named_files()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: everything in the block is on the disk when it ends, or nothing is."""
        with self._lock, self.translated("nothing of this edit was kept"):
            self._refuse_lost()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:  # a full disk may have rolled back already
                    self._writer.execute("ROLLBACK")
                raise
            self._refuse_lost()

    def read(self) -> sqlite3.Connection:
        """Return this thread's connection for reading; it never waits for the writer."""
        if not hasattr(self._local, "connection"):
            with self._lock:
                self._refuse_lost()
            self._local.connection = self._connect()
            self._readers.append(self._local.connection)
        connection: sqlite3.Connection = self._local.connection
        return connection

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Several reads of one and the same state, whatever is written meanwhile; one inside another is the same."""
        connection = self.read()
        if connection.in_transaction:
            yield connection
            return
        connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.execute("ROLLBACK")

    def backup(self, target: Path) -> None:
        """Copy the file as of this moment, while others go on working."""
        with self.translated("no backup was made"), closing(sqlite3.connect(target)) as copy:
            self.read().backup(copy)

    def close(self) -> None:
        """Close every connection; the log is folded into the main file."""
        for connection in (*self._readers, self._writer):
            connection.close()

    def _prepare(self) -> None:
        """Make the tables, unless they are there: a project opens for reading on a full disk too."""
        with self.translated(_UNOPENED):
            self._writer.execute("PRAGMA journal_mode=WAL")
            (version,) = self._writer.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise StorageError(f"{self.path}: written by a newer focuseval; update this one")
            try:
                if version < VERSION:
                    self._writer.executescript(SCHEMA)
                    self._writer.execute(f"PRAGMA user_version={VERSION}")
            except sqlite3.OperationalError:
                if not version:  # an older project on a full disk is read without the tables that are missing
                    raise
        with suppress(sqlite3.OperationalError):  # an older project on a full disk does without
            self._writer.executescript(INDEXES)

    def _connect(self) -> sqlite3.Connection:
        """Return a new connection, closed again when the file turns out not to be readable."""
        with self.translated(_UNOPENED):
            connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10)
            try:
                connection.row_factory = sqlite3.Row
                connection.execute("PRAGMA synchronous=FULL")  # the first read of the file
            except sqlite3.Error:
                connection.close()
                raise
        return connection

    def _named_files(self) -> tuple[tuple[int, int] | None, ...]:
        """Return which files have the names of the file and its log now; this opens nothing."""
        files: list[tuple[int, int] | None] = []
        for path in self._names:
            try:
                status = os.stat(path)  # noqa: PTH116  as above
            except OSError:
                files.append(None)
            else:
                files.append((status.st_dev, status.st_ino))
        return tuple(files)

    def _refuse_lost(self) -> None:
        """Refuse to go on when the file or its log has lost its name: what is written there would vanish."""
        now = self._named_files()
        if not self._lost and now == self._opened:
            return
        if not self._lost and self._opened[1] is None and now[0] == self._opened[0]:
            self._opened = now  # the log begins with the first write, or there is none on this file system
            return
        self._lost = self._lost or self._rescue()
        raise StorageError(self._lost)

    def _rescue(self) -> str:
        """Copy all that this process can still read, and say what to do; the log would vanish with the process."""
        if sys.version_info >= (3, 12):  # without it, closing may write this log into what the others made of the file
            for connection in (*self._readers, self._writer):
                connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE)
        project = self.path.parent
        what = f"{self.path}: another program removed it, or its log, while this one wrote to it; nothing more is saved"
        copy = self.path.with_name(f"rescued-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db")
        try:
            if self._writer.in_transaction:  # a thread's first read in its own edit: nothing of that is kept
                self._writer.execute("ROLLBACK")  # else the copy waits for its end, which never comes
            make_private(copy)
            with closing(sqlite3.connect(copy)) as target:
                self._writer.backup(target)
        except (OSError, sqlite3.Error) as error:
            return f"{what}, and no copy could be made ({error}); end the server, then {restore_remedy(project)}"
        return f"{what}; all until now is in {copy}; end the server, then {restore_remedy(project, copy)}"

    @contextmanager
    def translated(self, consequence: str) -> Iterator[None]:
        """Turn what SQLite says in the block into one line: what is wrong, and what follows or is to be done."""
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
            damaged = not isinstance(error, sqlite3.OperationalError)
            rest = restore_remedy(self.path.parent) if damaged else consequence
            # A commit or the beginning of a log may need so many bytes; SQLite says 'I/O error' where it cannot begin.
            full = disk_usage(self.path.parent).free < 2**16
            raise StorageError(f"{self.path}: {'the disk is full' if full else error}; {rest}") from error
