"""Is the project whole? The file, the log against the tables, and every quote against its text."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from focuseval.assess import spans
from focuseval.assess.anchor import REMEDY
from focuseval.assess.database import restore_remedy
from focuseval.errors import AssessError
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from focuseval.assess.document import Document
    from focuseval.assess.store import Key, Store


@dataclass(frozen=True)
class Checked:
    """What was looked at, and every defect found, one line each."""

    judgements: int
    highlights: int
    events: int
    defects: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """What is no defect but should be known: that a backup was restored."""

    def __str__(self) -> str:
        """Return one line for the terminal."""
        verdict = f"{len(self.defects)} defects" if self.defects else "all is well"
        return f"{self.judgements} judgements, {self.highlights} highlights, {self.events} events: {verdict}"


def check_project(store: Store, document: Callable[[str], Document]) -> Checked:
    """Verify a project.

    Parameters
    ----------
    store
        The project's store.
    document
        Gives the text of an id; raises a FocusevalError for one that is gone.
    """
    broken = _integrity(store)
    if broken:
        return Checked(0, 0, 0, tuple(broken))
    keys = store.judged()
    defects = list(_orphans(store))
    highlights = 0
    for key in keys:
        quotes = store.quotes(key)
        highlights += len(quotes)
        defects += _log(store, key)
        defects += _quotes(store, key, quotes, document)
    (events,) = store.database.read().execute("SELECT count(*) FROM events").fetchone()
    return Checked(len(keys), highlights, events, tuple(defects), tuple(_restored(store)))


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
