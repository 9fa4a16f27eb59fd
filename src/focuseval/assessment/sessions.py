"""Which sessions are over: a cookie that was copied must not outlive a logout.

The cookie itself says whose session it is and is signed; a server that restarts knows it again. What a signature cannot
say is that a session was ended, so every end is a line in the project's ``sessions.jsonl``::

    {"ended": "the hash of a session's number", "until": 1790000000}
    {"revoked": "ann"}

``focuseval project users log-out PROJECT ann`` writes a line of the second kind while the server runs.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from focuseval.assessment.durable import locked, make_private, write_private

if TYPE_CHECKING:
    from pathlib import Path

FILE = "sessions.jsonl"
DAYS = 7
"""How long a session lasts that nobody ends."""


class Sessions:
    """The ends of sessions, in memory and in a file, which others may append to.

    Parameters
    ----------
    path
        The file; None keeps the ends in memory alone.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock, self._stamp = path, threading.Lock(), (0, 0, 0)
        self._ended: dict[str, float] = {}
        self._revoked: Counter[str] = Counter()
        self._refresh()

    def begin(self, user: str) -> dict[str, Any]:
        """Return what the cookie of a new session says."""
        self._refresh()
        return {"user": user, "id": secrets.token_urlsafe(16), "epoch": self._revoked[user]}

    def lives(self, cookie: dict[str, Any]) -> bool:
        """Whether a session was neither ended nor revoked."""
        self._refresh()
        number, user = str(cookie.get("id", "")), str(cookie.get("user", ""))
        return bool(number) and _hash(number) not in self._ended and cookie.get("epoch") == self._revoked[user]

    def end(self, cookie: dict[str, Any]) -> None:
        """End one session."""
        if cookie.get("id"):
            self._append({"ended": _hash(str(cookie["id"])), "until": int(time.time()) + DAYS * 86_400})

    def revoke(self, user: str) -> None:
        """End all sessions of a user."""
        self._append({"revoked": user})

    def forget(self) -> None:
        """Drop the ends of sessions that would be too old by now; a command may append one at the same time."""
        if self._path is None or not self._path.exists():
            return
        now = time.time()
        with locked(self._path):
            kept = [line for line in _lines(self._path) if line.get("until", now) >= now]
            write_private(self._path, "".join(f"{json.dumps(line)}\n" for line in kept))

    def _append(self, line: dict[str, Any]) -> None:
        """Remember an end at once, and write it; a full disk keeps nobody from logging out."""
        self._take(line)
        if self._path is None:
            return
        try:
            with locked(self._path):
                make_private(self._path)
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(line)}\n")
                    file.flush()
                    os.fsync(file.fileno())
        except OSError as error:
            logging.getLogger(__name__).warning("%s: %s; the end of a session was not kept", self._path, error)

    def _refresh(self) -> None:
        """Read the file again if it has changed."""
        try:
            found = self._path.stat() if self._path else None
        except OSError:
            return
        if self._path is None or found is None:
            return
        with self._lock:
            stamp = found.st_mtime_ns, found.st_size, found.st_ino
            if stamp == self._stamp:
                return
            lines = _lines(self._path)
            self._revoked = Counter(line["revoked"] for line in lines if "revoked" in line)
            self._ended |= {line["ended"]: line["until"] for line in lines if "ended" in line}
            self._stamp = stamp

    def _take(self, line: dict[str, Any]) -> None:
        with self._lock:
            if "revoked" in line:
                self._revoked[line["revoked"]] += 1
            else:
                self._ended[line["ended"]] = line["until"]


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines that are whole."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _hash(number: str) -> str:
    return hashlib.sha256(number.encode()).hexdigest()
