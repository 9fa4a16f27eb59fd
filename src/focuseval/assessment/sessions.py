"""Which sessions are over, and how often a password may be guessed.

A cookie that was copied must not outlive a logout. The cookie itself says whose session it is and is signed; a server
that restarts knows it again. What a signature cannot say is that a session was ended, so every end is a line in the
project's ``sessions.jsonl``::

    {"ended": "the hash of a session's number", "until": 1790000000}
    {"revoked": "ann"}

``focuseval project users log-out PROJECT ann`` writes a line of the second kind while the server runs.

Guesses of passwords are limited so that guessers are kept out, and nobody else. Tries are counted before a password is
looked at, so that forty at once are forty tries. They are counted for an address and a name together, and for an
address: a stranger's guesses never lock a named person out who sits elsewhere. A browser in which somebody has logged
in before has a count of its own, so that not even guesses from the same address keep its owner out.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import logging
import os
import secrets
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from focuseval.assessment.files import locked, make_private, stamp_of, write_private
from focuseval.data.fields import json_line, numbered_lines

FILE = "sessions.jsonl"
DAYS = 7  # how long a session lasts that nobody ends
BY_NAME, BY_ADDRESS = 5, 30
"""Failures in a minute: of one name from one address or browser, and of one address under all names."""
KNOWN = 100_000  # keys that are remembered at once


class Sessions:
    """The ends of sessions, in memory and in a file, which others may append to; without a path in memory alone."""

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock, self._stamp = path, threading.Lock(), (0, 0, 0)
        self._ended: dict[str, float] = {}
        self._revoked: Counter[str] = Counter()
        self._refresh()

    def begin(self, user: str) -> dict[str, Any]:
        """Return what the cookie of a new session says."""
        self._refresh()
        return {"user": user, "id": secrets.token_urlsafe(16), "epoch": self._revoked[user]}

    def lives(self, cookie: Mapping[str, Any]) -> bool:
        """Whether a session was neither ended nor revoked."""
        self._refresh()
        number, user = str(cookie.get("id", "")), str(cookie.get("user", ""))
        return bool(number) and _hash(number) not in self._ended and cookie.get("epoch") == self._revoked[user]

    def end(self, cookie: Mapping[str, Any]) -> None:
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
            write_private(self._path, b"".join(json_line(line, "replace") for line in kept))

    def _append(self, line: dict[str, Any]) -> None:
        """Remember an end at once, and write it; a full disk keeps nobody from logging out."""
        with self._lock:
            if "revoked" in line:
                self._revoked[line["revoked"]] += 1
            else:
                self._ended[line["ended"]] = line["until"]
        if self._path is None:
            return
        try:
            with locked(self._path):
                make_private(self._path)
                with self._path.open("ab") as file:
                    file.write(json_line(line, "replace"))
                    file.flush()
                    os.fsync(file.fileno())
        except OSError as error:
            logging.getLogger(__name__).warning("%s: %s; the end of a session was not kept", self._path, error)

    def _refresh(self) -> None:
        """Read the file again if it has changed."""
        if self._path is None:
            return
        stamp = stamp_of(self._path)
        with self._lock:
            if stamp is None or stamp == self._stamp:
                return
            lines = _lines(self._path)
            self._revoked = Counter(line["revoked"] for line in lines if "revoked" in line)
            self._ended |= {line["ended"]: line["until"] for line in lines if "ended" in line}
            self._stamp = stamp


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines that are whole."""
    values = []
    for _, line in numbered_lines(path.read_bytes()):
        with suppress(ValueError):
            values.append(json.loads(line))
    return [value for value in values if isinstance(value, dict)]


def _hash(number: str) -> str:
    return hashlib.sha256(number.encode()).hexdigest()


class Attempts:
    """Failures in the last `window` seconds, by key."""

    def __init__(self, window: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._window, self._clock = window, clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, limits: Mapping[str, int]) -> float:
        """Count a try, as a failure until it succeeds, under keys with limits; or return the seconds to wait."""
        with self._lock:
            now, longest = self._clock(), 0.0
            for key, limit in limits.items():
                failures = self._failures.get(key, deque())
                while failures and now - failures[0] >= self._window:
                    failures.popleft()
                if len(failures) >= limit:
                    longest = max(longest, self._window - (now - failures[0]))
            if longest > 0:
                return longest
            for key in limits:
                self._failures.setdefault(key, deque()).append(now)
                self._failures.move_to_end(key)
            while len(self._failures) > KNOWN:  # a flood must not fill the memory, nor free those who made it
                self._failures.popitem(last=False)
            return 0.0

    def succeeded(self, limits: Mapping[str, int]) -> None:
        """Take a try back that was none of a guesser's; the name's own count begins anew."""
        with self._lock:
            for key in limits:
                failures = self._failures.get(key)
                if failures and key.startswith("address "):
                    failures.pop()
                else:
                    self._failures.pop(key, None)


def limits_of(address: str, name: str, *, browser: str = "") -> dict[str, int]:
    """Return the keys under which a try counts: the known browser's, or the address with and without the name.

    >>> sorted(limits_of("2001:db8::1", "ann"))
    ['address 2001:db8::/64', 'name 2001:db8::/64 ann']
    >>> limits_of("192.0.2.7", "ann", browser="b1")
    {'browser b1': 5}
    """
    if browser:
        return {f"browser {browser}": BY_NAME}
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        place = address
    else:  # of version 6 the network that one customer has
        place = str(ipaddress.ip_network((parsed, 64), strict=False) if parsed.version == 6 else parsed)
    return {f"name {place} {name}": BY_NAME, f"address {place}": BY_ADDRESS}
