"""Events and judgements as rows of the project's tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from focuseval.assessment.rules import Edit
    from focuseval.assessment.store import Quote, Saved


def append(connection: sqlite3.Connection, saved: Saved, edit: Edit, actor: str, token: str) -> None:
    """Append what led to a judgement to the log."""
    stamps = {"version": saved.version, "text_sha256": saved.text_sha256, "key": token}
    insert_event(connection, {"at": saved.at, "actor": actor, **saved.key._asdict(), "edit": edit, **stamps})


def insert_event(connection: sqlite3.Connection, event: Mapping[str, Any]) -> None:
    """Append one event to the log."""
    connection.execute(
        "INSERT INTO events (at, actor, assessor, topic, document, version, edit, text_sha256, key)"
        " VALUES (:at, :actor, :assessor, :topic, :document, :version, :edit, :text_sha256, :key)",
        {**event, "edit": json.dumps(event["edit"], ensure_ascii=False)},
    )


def save(connection: sqlite3.Connection, before: Saved, after: Saved, text: str) -> None:
    """Write the new state; of the highlights only those that changed, unless the text itself did."""
    same_text = before.text_sha256 == after.text_sha256
    kept = set(before.judgement.highlights) & set(after.judgement.highlights) if same_text else set()
    gone = [(*after.key, start) for start, end in before.judgement.highlights if (start, end) not in kept]
    connection.executemany(
        "DELETE FROM highlights WHERE assessor = ? AND topic = ? AND document = ? AND start = ?", gone
    )
    new = [(start, end, text[start:end]) for start, end in after.judgement.highlights if (start, end) not in kept]
    insert_judgement(connection, after, new)


def insert_judgement(connection: sqlite3.Connection, saved: Saved, quotes: Iterable[Quote]) -> None:
    """Write a judgement, and the highlights of it that are not there yet."""
    judgement = saved.judgement
    connection.executemany(
        "INSERT INTO highlights VALUES (?, ?, ?, ?, ?, ?)", [(*saved.key, *quote) for quote in quotes]
    )
    connection.execute(
        "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *saved.key,
            saved.version,
            judgement.status,
            judgement.flagged,
            judgement.bep,
            judgement.note,
            json.dumps(dict(judgement.grades), ensure_ascii=False),
            saved.text_sha256,
            saved.length,
            saved.at,
        ),
    )
