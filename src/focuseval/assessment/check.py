"""Is the project whole? The file, the log against the tables, every quote against its text, and copies against the log.

A log whose last events are gone is as sound as one that never had them. Only a copy can tell: an export of everything,
an archive or a backup, each of whose events must still be in the log.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.assessment.archived import open_archive
from focuseval.assessment.backup import newest_backup
from focuseval.assessment.database import restore_remedy
from focuseval.data import highlights as spans
from focuseval.errors import AssessError, counted
from focuseval.placing.anchor import REMEDY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from focuseval.assessment.store import Key, Store
    from focuseval.collection.rendering import Document

_SQLITE = b"SQLite format 3\0"
_TOLD = ("at", "actor", "assessor", "topic", "document", "version", "edit", "text_sha256", "key")
"""What an event says, but for its number, which an import gives anew."""


@dataclass(frozen=True)
class Checked:
    """What was looked at, and every defect found, one line each."""

    judgements: int
    highlights: int
    events: int
    defects: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """What is no defect but should be known: that a backup was restored."""
    copy: str = ""
    """What the log was compared with, and how many events that has."""

    def __str__(self) -> str:
        """Return one line for the terminal."""
        looked = (
            f"{counted(self.judgements, 'judgement')}, {counted(self.highlights, 'highlight')}, "
            f"{counted(self.events, 'event')}"
        )
        if self.defects:
            return f"{looked}: {counted(len(self.defects), 'defect')}"
        known = f"nothing is missing of {self.copy}" if self.copy else "only a copy tells whether any are missing"
        return f"{looked}: no defect; {known}"


def check_project(store: Store, document: Callable[[str], Document], against: Path | None = None) -> Checked:
    """Verify a project, as it is at one moment.

    Parameters
    ----------
    store
        The project's store.
    document
        Gives the text of an id; raises a FocusevalError for one that is gone.
    against
        A copy whose events must all be in the log: an export of everything, an archive, or a backup; without it, the
        newest of the project's own backups.
    """
    broken = _integrity(store)
    if broken:
        return Checked(0, 0, 0, tuple(broken))
    own = None if against else newest_backup(store)
    copy = against or (own.path if own else None)
    copied = _events_in(copy, store.database.path) if copy else []  # read first: what it holds was written before
    defects = list(_nameless_logs(store.database.path))
    with store.database.snapshot():
        keys = store.judged()
        defects += _orphans(store)
        highlights = 0
        for key in keys:
            quotes = store.quotes(key)
            highlights += len(quotes)
            defects += _log(store, key)
            defects += _quotes(store, key, quotes, document)
        log = {_told(event) for event in store.events()}
        remarks = tuple(_restored(store))
    lost = [event for event in copied if _told(event) not in log]
    if lost:
        what = "/".join(str(lost[0][name]) for name in ("assessor", "topic", "document") if lost[0][name])
        first = f"the first is of {lost[0]['at']} by {lost[0]['actor']}{f' on {what}' if what else ''}"
        defects.append(f"{copy}: {len(lost)} of {counted(len(copied), 'event')} are not in the log; {first}")
    name = f"{copy} ({counted(len(copied), 'event')})" if copy else ""
    return Checked(len(keys), highlights, len(log), tuple(defects), remarks, name)


def _told(event: dict[str, Any]) -> tuple[Any, ...]:
    """Return what an event says as one value."""
    edit = json.dumps(event["edit"], sort_keys=True, ensure_ascii=False)
    return tuple(edit if name == "edit" else event[name] for name in _TOLD)


def _events_in(copy: Path, database: Path) -> list[dict[str, Any]]:
    """Return the events of an export, an archive or a backup."""
    expected = f"{copy}: expected an export of everything, an archive or a backup"
    try:
        if copy.samefile(database):  # see `focuseval.assessment.database`: this process has it open
            raise AssessError(f"{expected}, found the project's own file")
        with copy.open("rb") as file:
            head = file.read(len(_SQLITE))
        if head == _SQLITE:
            alone = not copy.with_name(f"{copy.name}-wal").exists()  # then nothing has to be made beside it to read it
            address = f"{copy.resolve().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"
            with closing(sqlite3.connect(address, uri=True)) as backup:
                backup.row_factory = sqlite3.Row
                rows = [dict(row) for row in backup.execute(f"SELECT {', '.join(_TOLD)} FROM events")]  # noqa: S608  our own constant
            return [{**row, "edit": json.loads(row["edit"])} for row in rows]
        if head.startswith(b"PK"):
            archive = open_archive(copy)
            if archive.manifest.get("anonymous"):
                raise AssessError(f"{expected} with people's names, found an anonymous archive")
            lines: Iterable[str] = archive.lines("judgements.jsonl")
        else:
            lines = copy.read_text(encoding="utf-8").split("\n")
        values = [json.loads(line) for line in lines if line.strip()]
        if not values or values[0].get("focuseval") != "assessments":
            raise AssessError(f"{expected}, found something else")
        events = [value["event"] for value in values if "event" in value]
        return [{name: event[name] for name in _TOLD} for event in events]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, sqlite3.Error) as error:
        raise AssessError(f"{expected}, found: {error}") from error


def _nameless_logs(database: Path) -> Iterator[str]:
    """Say which running programs write to a file or log of the project that has no name any more (Linux tells)."""
    gone = tuple(f"{database.resolve()}{side} (deleted)" for side in ("", "-wal"))
    found: dict[str, bool] = {}
    for handle in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            found[handle.parts[2]] = found.get(handle.parts[2]) or os.readlink(handle) in gone  # noqa: PTH115  as is
        except OSError:  # it has ended, or is somebody else's
            continue
    for process in (number for number, nameless in found.items() if nameless):
        what = "writes to a log that was removed, and all that it saves ends with it"
        remedy = "before you end it, download everything from its page Exchange"
        yield f"{database}: process {process} {what}; {remedy}, then {restore_remedy(database.parent)}"


def _integrity(store: Store) -> list[str]:
    """Return what SQLite itself finds wrong; with any of it the rest cannot be read."""
    try:
        found = [line for (line,) in store.database.read().execute("PRAGMA integrity_check")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    remedy = restore_remedy(store.database.path.parent)
    return [f"{store.database.path}: {line}; {remedy}" for line in found if line != "ok"]


def _restored(store: Store) -> Iterator[str]:
    """Say of every restoration what was put back, and where the file before it is kept."""
    for at, told in store.project_events("restore"):
        before = f"; what was there before is in {told['kept']}" if told["kept"] else ""
        yield f"restored on {at} from {told['from']}{before}"


def _orphans(store: Store) -> Iterator[str]:
    """Judgements that the log speaks of and the tables do not."""
    rows = store.database.read().execute(
        "SELECT DISTINCT assessor, topic, document FROM events WHERE assessor != ''"
        " EXCEPT SELECT assessor, topic, document FROM judgements"
    )
    return (f"{_name(key)}: the log has events, the table has no judgement" for key in rows.fetchall())


def _log(store: Store, key: Key) -> Iterator[str]:
    saved = store.judgement(key)
    if store.rebuilt(key) != saved.judgement:
        yield f"{_name(key)}: the log gives another judgement than the table"
    if not spans.is_normal(saved.judgement.highlights):
        yield f"{_name(key)}: highlights overlap or touch"


def _quotes(
    store: Store, key: Key, quotes: list[tuple[int, int, str]], document: Callable[[str], Document]
) -> Iterator[str]:
    try:
        page = document(key.document)
    except AssessError as error:
        yield f"{_name(key)}: {error}"
        return
    if store.judgement(key).text_sha256 != page.sha256:
        yield f"{_name(key)}: the text has changed since it was assessed; {REMEDY}"
    for start, end, quote in quotes:
        if page.text[start:end] != quote:
            yield f"{_name(key)}: the quote at {start}–{end} is not the text there: {quote[:40]!r}"


def _name(key: Key | tuple[str, str, str]) -> str:
    return "/".join(key)
