"""How long people work on documents, as far as the log of their edits says it.

The time between two edits of one person belongs to the document of the later one: it was read in between. A gap of more
than `PAUSE` is a break, and belongs to none.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focuseval.assessment.store import Store

PAUSE = 300.0
"""Seconds between two edits beyond which somebody was away."""


def moment_of(at: str) -> datetime:
    """Return a time of the log; of one that was imported and is no time, the beginning of all.

    >>> moment_of("2026-01-01T10:00:00"), moment_of("yesterday").year
    (datetime.datetime(2026, 1, 1, 10, 0, tzinfo=datetime.timezone.utc), 1)
    """
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class Pace:
    """Seconds of work by assessor and topic, and when somebody last did something.

    Each look reads the events since the last one, so that only the first of them reads the whole log.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._seq = store, 0
        self._at: dict[str, datetime] = {}
        self.seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.last: dict[str, str] = {}
        """Assessor → the time of the last event, as the log writes it."""

    def refresh(self) -> set[tuple[str, str, str]]:
        """Take in what has happened since the last time, and return what it changed: assessor, topic, document.

        Only what assessors do to their own judgements is work. An event of the project itself is ('', '', '').
        """
        changed = set()
        rows = self._store.database.read().execute(
            "SELECT seq, at, actor, assessor, topic, document FROM events WHERE seq > ? ORDER BY seq", (self._seq,)
        )
        for seq, at, actor, *key in rows:
            changed.add(tuple(key))
            self._seq = seq
            if actor == key[0]:
                when, before = moment_of(at), self._at.get(actor)
                gap = (when - before).total_seconds() if before else 0.0
                if 0 < gap <= PAUSE:
                    self.seconds[actor, key[1]] += gap
                self._at[actor], self.last[actor] = when, at
        return changed
