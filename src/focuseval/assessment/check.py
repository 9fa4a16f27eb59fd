"""Is the project whole? The file, the log against the tables, every quote against its text, and copies against the log.

A log whose last events are gone is as sound as one that never had them. Only a copy can tell: an export of everything,
an archive or a backup, each of whose events must still be in the log.

A judgement of a text that is another one now can be re-anchored: what `focuseval.placing.anchor` finds again moves, and
what it does not find is dropped when its assessor says so.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from glob import iglob
from pathlib import Path
from typing import Any, NamedTuple

from focuseval.assessment.archive import open_archive
from focuseval.assessment.backup import newest_backup, open_copy
from focuseval.assessment.database import restore_remedy
from focuseval.assessment.exchange import EVENT_FIELDS
from focuseval.assessment.rules import OPEN, TODO, Judgement, as_dict
from focuseval.assessment.store import Key, Quote, Request, Saved, Store
from focuseval.collection.rendering import Document
from focuseval.data import highlights as spans
from focuseval.data.fields import numbered_lines
from focuseval.errors import AssessError, counted
from focuseval.placing.anchor import MOVED, REMEDY, Proposal, propose

_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Checked:
    """What was looked at, and every defect found, one line each."""

    judgements: int
    highlights: int
    events: int
    defects: tuple[str, ...]
    remarks: tuple[str, ...] = ()  # what is no defect but should be known: that a backup was restored
    copy: str = ""  # what the log was compared with, and how many events that has

    def __str__(self) -> str:
        numbers = ((self.judgements, "judgement"), (self.highlights, "highlight"), (self.events, "event"))
        looked = ", ".join(counted(*one) for one in numbers)
        if self.defects:
            return f"{looked}: {counted(len(self.defects), 'defect')}"
        known = f"nothing is missing of {self.copy}" if self.copy else "only a copy tells whether any are missing"
        return f"{looked}: no defect; {known}"


def check_project(store: Store, document: Callable[[str], Document], against: Path | None = None) -> Checked:
    """Verify a project, as it is at one moment.

    `document` gives the text of an id, and raises a FocusevalError for one that is gone. `against` is a copy whose
    events must all be in the log: an export of everything, an archive, or a backup; without it, the newest of the
    project's own backups.
    """
    path, remedy = store.database.path, restore_remedy(store.database.path.parent)
    try:
        found = [line for (line,) in store.rows("PRAGMA integrity_check")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    if found != ["ok"]:  # with any of it the rest cannot be read
        return Checked(0, 0, 0, tuple(f"{path}: {line}; {remedy}" for line in found if line != "ok"))
    own = None if against else newest_backup(store)
    copy = against or (own.path if own else None)
    copied = _events_in(copy, path) if copy else []  # read first: what it holds was written before
    defects = list(_nameless_logs(path))
    with store.database.snapshot() as connection:
        keys, highlights = store.judged(), 0
        orphans = connection.execute(
            "SELECT DISTINCT assessor, topic, document FROM events WHERE assessor != ''"
            " EXCEPT SELECT assessor, topic, document FROM judgements"
        )
        defects += [f"{'/'.join(key)}: the log has events, the table has no judgement" for key in orphans]
        for key in keys:
            quotes = store.quotes(key)
            highlights += len(quotes)
            defects += [f"{'/'.join(key)}: {line}" for line in _defects(store, key, quotes, document)]
        log = {_identity(event) for event in store.events()}
        remarks = []
        for at, edit in store.project_events("restore"):
            before = f"; what was there before is in {edit['kept']}" if edit["kept"] else ""
            remarks.append(f"restored on {at} from {edit['from']}{before}")
    lost = [event for event in copied if _identity(event) not in log]
    if lost:
        what = "/".join(str(lost[0][name]) for name in ("assessor", "topic", "document") if lost[0][name])
        first = f"the first is of {lost[0]['at']} by {lost[0]['actor']}{f' on {what}' if what else ''}"
        defects.append(f"{copy}: {len(lost)} of {counted(len(copied), 'event')} are not in the log; {first}")
    name = f"{copy} ({counted(len(copied), 'event')})" if copy else ""
    return Checked(len(keys), highlights, len(log), tuple(defects), tuple(remarks), name)


def _identity(event: dict[str, Any]) -> tuple[Any, ...]:
    """Return what an event says as one value."""
    edit = json.dumps(event["edit"], sort_keys=True, ensure_ascii=False)
    return tuple(edit if name == "edit" else event[name] for name in EVENT_FIELDS)


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
            with closing(open_copy(copy, "&immutable=1" if alone else "")) as backup:
                backup.row_factory = sqlite3.Row
                rows = [dict(row) for row in backup.execute(f"SELECT {', '.join(EVENT_FIELDS)} FROM events")]  # noqa: S608  our own constant
            return [{**row, "edit": json.loads(row["edit"])} for row in rows]
        if head.startswith(b"PK"):
            archive = open_archive(copy)
            if archive.manifest.get("anonymous"):
                raise AssessError(f"{expected} with people's names, found an anonymous archive")
            text = archive.text("judgements.jsonl")
        else:
            text = copy.read_text(encoding="utf-8")
        values = [json.loads(line) for _, line in numbered_lines(text)]
        if not values or values[0].get("focuseval") != "assessments":
            raise AssessError(f"{expected}, found something else")
        events = [value["event"] for value in values if "event" in value]
        return [{name: event[name] for name in EVENT_FIELDS} for event in events]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, sqlite3.Error) as error:
        raise AssessError(f"{expected}, found: {error}") from error


def _nameless_logs(database: Path) -> Iterator[str]:
    """Say which running programs write to a file or log of the project that has no name any more (Linux tells)."""
    gone = tuple(f"{database.resolve()}{side} (deleted)" for side in ("", "-wal"))
    processes: dict[str, None] = {}
    for handle in iglob("/proc/[0-9]*/fd/*"):  # noqa: PTH207  a process may end meanwhile, which pathlib raises
        with suppress(OSError):  # it has ended, or is somebody else's
            if os.readlink(handle) in gone:  # noqa: PTH115  as is
                processes[handle.split("/")[2]] = None
    for process in processes:
        what = "writes to a log that was removed, and all that it saves ends with it"
        remedy = "before you end it, download everything from its page Exchange"
        yield f"{database}: process {process} {what}; {remedy}, then {restore_remedy(database.parent)}"


def _defects(store: Store, key: Key, quotes: list[Quote], document: Callable[[str], Document]) -> Iterator[str]:
    """Say what is wrong with one judgement: against its log, its rules, and the text."""
    saved = store.judgement(key)
    if store.timeline(key).now != saved.judgement:
        yield "the log gives another judgement than the table"
    if not spans.is_normal(saved.judgement.highlights):
        yield "highlights overlap or touch"
    try:
        page = document(key.document)
    except AssessError as error:
        yield str(error)
        return
    if saved.text_sha256 != page.sha256:
        yield f"the text has changed since it was assessed; {REMEDY}"
    for start, end, quote in quotes:
        if page.text[start:end] != quote:
            yield f"the quote at {start}–{end} is not the text there: {quote[:40]!r}"


def reanchor(store: Store, key: Key, document: Document, *, version: int, token: str, drop_lost: bool = False) -> Saved:
    """Move a judgement to the text as it is now; the document is open again.

    Raises AssessError when a quote is lost or stands in two nearest places, unless the assessor said to drop those.
    """
    saved = store.judgement(key)
    proposal = propose(saved.judgement.bep, store.quotes(key), document.text)
    doubtful = sum(one.after is None for one in proposal.highlights)
    if doubtful and not drop_lost:
        raise AssessError(f"{doubtful} of {len(proposal.highlights)} highlights were not found again; highlight anew")
    return store.edit(key, document, _edit(saved.judgement, proposal, document), version=version, token=token)


def _edit(judgement: Judgement, proposal: Proposal, document: Document, *, finished: bool = False) -> dict[str, object]:
    """Return the edit that moves a judgement; with `finished` it stays finished."""
    status = judgement.status if finished or judgement.status == TODO else OPEN
    kept = {path: grade for path, grade in judgement.grades.items() if path in document.row_of}
    moved = replace(judgement, highlights=proposal.spans, bep=proposal.bep, status=status, grades=kept)
    return {"kind": "replace", "judgement": as_dict(moved), "barrier": True, "source": "re-anchored"}


class ChangedText(NamedTuple):
    """A judgement of a text that is another one now, and what would become of its highlights."""

    saved: Saved
    document: Document
    proposal: Proposal
    moved: int
    lost: int


def changed_texts(store: Store, document: Callable[[str], Document]) -> list[ChangedText]:
    """Return the judgements whose text has changed since; documents that are gone are `check_project`'s business."""
    texts = "SELECT document, text_sha256 FROM judgements GROUP BY document, text_sha256 ORDER BY document"
    changed, found = {}, []
    for name, sha256 in store.rows(texts):
        with suppress(AssessError):
            if (now := document(name)).sha256 != sha256:
                changed[name, sha256] = now
    for saved in store.judgements() if changed else ():
        page = changed.get((saved.key.document, saved.text_sha256))
        if page is not None:
            proposal = propose(saved.judgement.bep, store.quotes(saved.key), page.text)
            moved = sum(one.verdict == MOVED for one in proposal.highlights)
            lost = sum(one.after is None for one in proposal.highlights)
            found.append(ChangedText(saved, page, proposal, moved, lost))
    return found


def reanchor_all(store: Store, document: Callable[[str], Document], *, finished: bool, actor: str) -> tuple[int, int]:
    """Move all judgements whose every highlight was found again, all of them or none.

    With `finished` finished judgements stay finished; else they are open again, for their assessors to look at. `actor`
    is whose name stands in the log. Return how many moved, and how many were left to their assessors because highlights
    are lost.
    """
    changed = changed_texts(store, document)
    requests = []
    for saved, page, proposal, _, lost in changed:
        if not lost:
            edit = _edit(saved.judgement, proposal, page, finished=finished)
            requests.append(Request(saved.key, page, edit, saved.version, actor))
    store.edit_all(requests)
    return len(requests), len(changed) - len(requests)
