"""Named assessors on a network: passwords as scrypt hashes, and a limit on guessing.

A users file has one line per person, ``name:role:scrypt$16384$8$1$salt$hash``; the role ``lead`` may also adjudicate,
import and export. ``focuseval assess PROJECT --users FILE --add-user NAME`` writes such a line.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.assess.durable import write_private
from focuseval.assess.store import ADJUDICATED
from focuseval.errors import FormatError, Place
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROLES = ("assessor", "lead")
_COST = (2**14, 8, 1)
_NAME = re.compile(r"[^\s:/\\][^:/\\\n]{0,63}")
_NOBODY = "scrypt$16384$8$1$AAAAAAAAAAAAAAAAAAAAAA==$AAAA"


@dataclass(frozen=True)
class User:
    """One person: name, role and the hash of the password."""

    name: str
    role: str
    password: str


def hash_password(password: str) -> str:
    """Return a salted scrypt hash as text."""
    salt = secrets.token_bytes(16)
    return "$".join(("scrypt", *map(str, _COST), _text(salt), _text(_scrypt(password, salt, *_COST))))


def verify(users: Mapping[str, User], name: str, password: str) -> User | None:
    """Return the user if the password is theirs; an unknown name takes as long as a wrong password."""
    user = users.get(name)
    _, n, r, p, salt, digest = (user.password if user else _NOBODY).split("$")
    found = _scrypt(password, base64.b64decode(salt), int(n), int(r), int(p))
    return user if hmac.compare_digest(found, base64.b64decode(digest)) and user else None


def read_users(path: str | Path) -> dict[str, User]:
    """Return the users of a file by name; a line that is no user is refused with its number, its hash unshown."""
    users = {}
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"expected a users file, found: {error}", at=str(path)) from error
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            user = _user(line, Place(str(path), number))
            users[user.name] = user
    return users


class UsersFile(Mapping[str, User]):
    """The users of a file as it is now: whoever is added or removed while the server runs is so at once."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._users = read_users(path)
        self._stamp = self._stamp_now()

    def __getitem__(self, name: str) -> User:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def _now(self) -> dict[str, User]:
        """Return the users, read again if the file has changed; one that cannot be read changes nothing."""
        stamp = self._stamp_now()
        if stamp != self._stamp:
            try:
                self._users = read_users(self._path)
            except FormatError as error:
                logging.getLogger(__name__).warning("%s; the users stay as they were", error)
            self._stamp = stamp
        return self._users

    def _stamp_now(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def remove_user(path: str | Path, name: str) -> None:
    """Take a user out of a file."""
    users = read_users(path)
    if users.pop(name, None) is None:
        raise FormatError(f"expected one of the users {', '.join(users) or '(none)'}, found {name!r}", at=str(path))
    _write(path, users)


def add_user(path: str | Path, name: str, password: str, *, role: str = "assessor") -> None:
    """Add a user to a file, or give one a new password; nobody else may read the file."""
    if not _NAME.fullmatch(name) or name == ADJUDICATED:
        raise FormatError(f"expected a name without colon or slash, found {name!r}", at=str(path))
    users = read_users(path) if Path(path).exists() else {}
    users[name] = User(name, role, hash_password(password))
    _write(path, users)


def _write(path: str | Path, users: Mapping[str, User]) -> None:
    try:
        write_private(Path(path), "".join(f"{u.name}:{u.role}:{u.password}\n" for u in users.values()))
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", at=str(path)) from error


class Attempts:
    """At most `limit` failures in `window` seconds for each key; a success forgets them."""

    def __init__(self, limit: int = 5, window: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._window, self._clock = limit, window, clock
        self._failures: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def wait(self, key: str) -> float:
        """Return how many seconds to wait before the next attempt; 0 when it may be made now."""
        with self._lock:
            failures, now = self._failures.get(key, deque()), self._clock()
            while failures and now - failures[0] >= self._window:
                failures.popleft()
            return self._window - (now - failures[0]) if len(failures) >= self._limit else 0.0

    def failed(self, key: str) -> None:
        """Count a failure."""
        with self._lock:
            if len(self._failures) > 10_000:  # a flood of invented names must not fill the memory
                self._failures.clear()
            self._failures.setdefault(key, deque()).append(self._clock())

    def succeeded(self, key: str) -> None:
        """Forget the failures of a key."""
        with self._lock:
            self._failures.pop(key, None)


def _user(line: str, at: Place) -> User:
    parts = line.strip().rsplit(":", 2)
    if len(parts) != 3 or parts[1] not in ROLES or not re.fullmatch(r"scrypt(\$\d+){3}(\$[\w+/=]+){2}", parts[2]):
        raise FormatError("expected name:role:scrypt$…", at=at, remedy="write the line with --add-user")
    return User(*parts)


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=2**27)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
