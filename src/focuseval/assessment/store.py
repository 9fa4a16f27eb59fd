"""Judgements on the disk: one transaction per edit, optimistic versions, retries that count once.

The log of events is the truth; the tables of judgements and highlights are its fold, kept so that reading is quick.
`Store.timeline` folds the log again, and `focuseval.assessment.check` compares the two.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from focuseval.assessment.database import Database
from focuseval.assessment.rules import HIGHLIGHTS, Edit, Judgement, Timeline, apply, check, replay, without_links
from focuseval.collection.rendering import Document
from focuseval.data.highlights import Span, Spans
from focuseval.errors import AssessError, ChangedTextError, ConflictError

Quote = tuple[int, int, str]  # a highlight with the text it covers

ADJUDICATED = "adjudicated"  # the assessor that no person is: what the adjudication decided
_LARGE = 100_000  # characters of an event of the project from which on it is read again each time
_OF_KEY = "WHERE assessor = ? AND topic = ? AND document = ?"
EVENTS_OF_KEY = f"{_OF_KEY} AND assessor != ''"
"""The index of events by judgement leaves the project's own out; SQLite uses it only where the query does, too."""


class Key(NamedTuple):
    """Whose judgement of what."""

    assessor: str
    topic: str
    document: str


@dataclass(frozen=True)
class Saved:
    """A judgement as it stands on the disk; version 0 is a document nobody touched."""

    key: Key
    version: int = 0
    judgement: Judgement = field(default_factory=Judgement)
    text_sha256: str = ""
    length: int = 0
    at: str = ""


class Request(NamedTuple):
    """One edit as it is asked for; see `Store.edit`."""

    key: Key
    document: Document
    edit: Edit
    version: int
    actor: str
    token: str = ""  # any, if not given: only what may be asked for twice needs one of its own


def now() -> str:
    """Return the time as the log writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Store:
    """Everything a project knows of its judgements."""

    def __init__(self, path: Path, *, scale: str = HIGHLIGHTS) -> None:
        self.database, self.scale = Database(path), scale
        self._log: dict[str, list[tuple[int, str, str, Edit | None]]] = {}
        self._log_end, self._log_lock = 0, threading.Lock()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def rows(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> sqlite3.Cursor:
        """Return what a query finds, by this thread's connection for reading."""
        return self.database.read().execute(query, values)

    def judgement(self, key: Key) -> Saved:
        """Return the newest state of one judgement."""
        with self.database.snapshot() as connection:
            return _load(connection, key)

    def timeline(self, key: Key) -> Timeline:
        """Return every state of one judgement, derived from its events."""
        return replay(_edits(self.database.read(), key))

    def edit(self, key: Key, document: Document, edit: Edit, *, version: int, token: str, actor: str = "") -> Saved:
        """Do one edit and return what is now on the disk.

        `version` is the one that the editor saw: another one on the disk raises ConflictError with the newer state. The
        client chooses the `token`: an edit that arrives twice under the same token is done once. `actor` is who does
        it, if not the assessor (an adjudicator, an import).
        """
        with self.database.write() as connection:
            return self._edit(connection, Request(key, document, edit, version, actor or key.assessor, token))

    def edit_all(self, requests: Iterable[Request]) -> list[Saved]:
        """Do many edits, all of them or none: an import is one thing that happens."""
        with self.database.write() as connection:
            return [self._edit(connection, request) for request in requests]

    def _edit(self, connection: sqlite3.Connection, request: Request) -> Saved:
        key, document, edit, version, actor, token = request
        token = token or uuid.uuid4().hex
        before = _load(connection, key)
        same = "SELECT assessor, topic, document FROM events WHERE actor = ? AND key = ?"
        seen = connection.execute(same, (actor, token)).fetchone()
        if seen is not None and tuple(seen) != key:
            raise AssessError("the token of this edit was used for another document; send it under a new one")
        if seen is not None:
            return before
        if before.version != version:
            raise ConflictError("the document was changed elsewhere in the meantime", before)
        same_text = before.text_sha256 == document.sha256
        if before.version and not same_text and not edit.get("barrier"):
            raise ChangedTextError(f"the text of {document.id} has changed since it was assessed; re-anchor it")
        if edit["kind"] in ("undo", "redo"):
            judgement = replay(_edits(connection, key)).step(edit)
        else:
            offered, known = self.offered(document), before.judgement
            if edit["kind"] == "grade" and edit["grade"] is not None:
                small = [path for path in edit["paths"] if path in document.row_of and path not in offered.row_of]
                if small:
                    raise AssessError(f"{small[0]} is a link, which this project does not judge on its own")
            withdrawn = edit["kind"] == "grade" and edit["grade"] is None  # what was graded before may be taken away
            if offered is not document:  # a link that was graded before does not count
                left = document.row_of.keys() - offered.row_of.keys()
                known = replace(known, grades={path: one for path, one in known.grades.items() if path not in left})
            check(known, edit, document if withdrawn else offered, scale=self.scale)
            judgement = apply(before.judgement, edit)
        after = Saved(key, before.version + 1, judgement, document.sha256, len(document.text), now())
        stamps = {"version": after.version, "text_sha256": after.text_sha256, "key": token}
        insert_event(connection, {"at": after.at, "actor": actor, **key._asdict(), "edit": edit, **stamps})
        old, new = before.judgement.highlights, judgement.highlights
        kept = {*old} & {*new} if same_text else set()  # only the highlights that changed are written
        gone = [(*key, start) for start, end in old if (start, end) not in kept]
        connection.executemany(f"DELETE FROM highlights {_OF_KEY} AND start = ?", gone)  # noqa: S608  our own constant
        fresh = [(start, end, document.text[start:end]) for start, end in new if (start, end) not in kept]
        insert_judgement(connection, after, fresh)
        return after

    def offered(self, document: Document) -> Document:
        """Return a document with the elements that may be judged: all, or where links are filtered, the others."""
        chosen = self.project_events("elements")
        return without_links(document) if chosen and chosen[-1][1]["to"] == "filtered" else document

    def judged(self, assessor: str | None = None, topic: str | None = None, document: str | None = None) -> list[Key]:
        """Return the judgements that exist, all or those of an assessor, a topic, a document, by their names."""
        where, values = _where(assessor, topic, document)
        keys = f"SELECT assessor, topic, document FROM judgements {where} ORDER BY 1, 2, 3"  # noqa: S608  fixed names
        return [Key(*row) for row in self.rows(keys, values)]

    def judgements(
        self, assessor: str | None = None, topic: str | None = None, document: str | None = None
    ) -> list[Saved]:
        """Return the same judgements with their highlights, which are found through judgements: these have an index."""
        where, values = _where(assessor, topic, document)
        source = "judgements CROSS JOIN highlights USING (assessor, topic, document)" if where else "highlights"
        spans: dict[Key, list[Span]] = {}
        with self.database.snapshot() as connection:
            highlights = f'SELECT assessor, topic, document, start, "end" FROM {source} {where} ORDER BY 1, 2, 3, 4'  # noqa: S608  two fixed strings
            for *key, start, end in connection.execute(highlights, values):
                spans.setdefault(Key(*key), []).append((start, end))
            rows = connection.execute(f"SELECT * FROM judgements {where} ORDER BY 1, 2, 3", values)  # noqa: S608  as above
            return [_saved(row, tuple(spans.get(Key(*row[:3]), ()))) for row in rows]

    def quotes(self, key: Key) -> list[Quote]:
        """Return the highlights of one judgement with their quotes."""
        quotes = f'SELECT start, "end", quote FROM highlights {_OF_KEY} ORDER BY start'  # noqa: S608  our own constant
        return [tuple(row) for row in self.rows(quotes, key)]

    def sources(self, key: Key) -> list[Edit]:
        """Return what is noted of where the states came from that were not edited step by step, oldest first."""
        edits = _edits(self.database.read(), key)
        found = (edit.get("source") for edit in edits if edit["kind"] == "replace")
        return [source for source in found if isinstance(source, dict)]

    def history(self, key: Key) -> list[tuple[str, str, Edit, Judgement]]:
        """Return every event of one judgement, oldest first: when it was made, by whom, what, and what it led to."""
        line, found = Timeline(), []
        rows = f"SELECT at, actor, edit FROM events {EVENTS_OF_KEY} ORDER BY version"  # noqa: S608  our own constant
        for at, actor, text in self.rows(rows, key):
            edit = json.loads(text)
            found.append((edit.get("made", at), actor, edit, line.step(edit)))
        return found

    def reopened(self, key: Key) -> tuple[str, str] | None:
        """Return who else opened a judgement again, and why, if nothing was done to it since."""
        last = f"SELECT actor, edit FROM events {EVENTS_OF_KEY} ORDER BY version DESC LIMIT 1"  # noqa: S608  our own constant
        row = self.rows(last, key).fetchone()
        if row is None or row["actor"] == key.assessor:
            return None
        edit = json.loads(row["edit"])
        return (row["actor"], edit.get("reason", "")) if edit["kind"] == "reopen" else None

    def last_event(self, key: Key) -> int:
        """Return the number of a judgement's last event, 0 when it has none."""
        last = f"SELECT seq FROM events {EVENTS_OF_KEY} ORDER BY version DESC LIMIT 1"  # noqa: S608  our own constant
        return int((self.rows(last, key).fetchone() or (0,))[0])

    def events(self) -> Iterator[dict[str, object]]:
        """Return the whole log, oldest first, each event as plain values."""
        for row in self.rows("SELECT * FROM events ORDER BY seq"):
            yield {**dict(row), "edit": json.loads(row["edit"])}

    def project_events(self, kind: str) -> list[tuple[str, Edit]]:
        """Return the events of the project itself of one kind, oldest first: when, and what."""
        return [(at, edit) for at, _, edit in self.project_log(kind)]

    def project_log(self, kind: str) -> list[tuple[str, str, Edit]]:
        """Return the events of the project itself of one kind, oldest first: when, who, and what.

        The log only grows: what was read once is kept, but for large events, a pool of a megabyte for instance.
        """
        read = self.database.read()
        with self._log_lock:
            (last,) = read.execute("SELECT coalesce(max(seq), 0) FROM events WHERE assessor = ''").fetchone()
            if last > self._log_end:
                query = "SELECT seq, at, actor, edit FROM events WHERE assessor = '' AND seq > ? ORDER BY seq"
                for seq, at, actor, text in read.execute(query, (self._log_end,)):
                    edit = json.loads(text)
                    kept = edit if len(text) < _LARGE else None
                    self._log.setdefault(edit["kind"], []).append((seq, at, actor, kept))
                self._log_end = last
            known = [row for row in self._log.get(kind, ()) if row[0] <= last]  # a snapshot may be an older state
        again = "SELECT edit FROM events WHERE seq = ?"
        return [
            (at, actor, json.loads(read.execute(again, (seq,)).fetchone()[0]) if edit is None else edit)
            for seq, at, actor, edit in known
        ]


def _where(*values: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the condition that assessor, topic and document are those given, and its values; None is any."""
    given = {name: value for name, value in zip(Key._fields, values, strict=True) if value is not None}
    return "WHERE " + " AND ".join(f"{name} = ?" for name in given) if given else "", tuple(given.values())


def _edits(connection: sqlite3.Connection, key: Key) -> Iterator[Edit]:
    rows = connection.execute(f"SELECT edit FROM events {EVENTS_OF_KEY} ORDER BY version", key)  # noqa: S608  our own constant
    return (json.loads(row["edit"]) for row in rows)


def _load(connection: sqlite3.Connection, key: Key) -> Saved:
    row = connection.execute(f"SELECT * FROM judgements {_OF_KEY}", key).fetchone()  # noqa: S608  our own constant
    if row is None:
        return Saved(key)
    spans = connection.execute(f'SELECT start, "end" FROM highlights {_OF_KEY} ORDER BY start', key)  # noqa: S608  our own constant
    return _saved(row, tuple((start, end) for start, end in spans))


def _saved(row: sqlite3.Row, highlights: Spans) -> Saved:
    """Return a judgement from its row and its highlights."""
    grades = json.loads(row["grades"]) if row["grades"] != "{}" else {}
    judgement = Judgement(highlights, row["bep"], row["status"], bool(row["flagged"]), row["note"], grades)
    key = Key(row["assessor"], row["topic"], row["document"])
    return Saved(key, row["version"], judgement, row["text_sha256"], row["length"], row["at"])


def insert_event(connection: sqlite3.Connection, event: Mapping[str, Any]) -> None:
    """Append one event to the log."""
    insert_row(connection, "events", {**event, "edit": json.dumps(event["edit"], ensure_ascii=False)})


def insert_row(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    """Write one row of a table; the names of its columns are the program's own."""
    names, places = ", ".join(f'"{name}"' for name in row), ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", row)  # noqa: S608  fixed names


def insert_judgement(connection: sqlite3.Connection, saved: Saved, quotes: Iterable[Quote]) -> None:
    """Write a judgement, and the highlights of it that are not there yet."""
    judgement, rows = saved.judgement, [(*saved.key, *quote) for quote in quotes]
    connection.executemany("INSERT INTO highlights VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.execute(
        "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(*saved.key, saved.version, judgement.status, judgement.flagged, judgement.bep, judgement.note),
            *(json.dumps(dict(judgement.grades), ensure_ascii=False), saved.text_sha256, saved.length, saved.at),
        ),
    )
