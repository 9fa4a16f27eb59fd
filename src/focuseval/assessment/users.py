"""Named assessors on a network, with their passwords as scrypt hashes.

A users file has one line per person, ``name:role:scrypt$16384$8$1$salt$hash``. An ``assessor`` judges, a ``lead`` may
also see and change everything else, a ``reader`` sees everything and changes nothing. Such a line is written by
``focuseval project users add PROJECT NAME --users FILE``, and for whoever follows an invitation.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.assessment.durable import locked, write_private
from focuseval.assessment.store import ADJUDICATED
from focuseval.errors import FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

ROLES = ("assessor", "lead", "reader")
_COST = (2**14, 8, 1)
RESERVED = (ADJUDICATED, "merged")
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
        self.path = Path(path)
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
                self._users = read_users(self.path)
            except FormatError as error:
                logging.getLogger(__name__).warning("%s; the users stay as they were", error)
            self._stamp = stamp
        return self._users

    def _stamp_now(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def remove_user(path: str | Path, name: str) -> None:
    """Take a user out of a file."""
    with _changed(path) as users:
        if users.pop(name, None) is None:
            raise FormatError(f"expected one of the users {', '.join(users) or '(none)'}, found {name!r}", at=str(path))


def add_user(path: str | Path, name: str, password: str, *, role: str = "assessor") -> None:
    """Add a user to a file, or give one a new password; nobody else may read the file."""
    check_name(name, path)
    if not password or any("\ud800" <= letter <= "\udfff" for letter in password):
        raise FormatError("expected a password that can be typed, found none or half a character", at=str(path))
    user = User(name, role, hash_password(password))
    with _changed(path) as users:
        users[name] = user


def change_role(path: str | Path, name: str, role: str) -> None:
    """Give a user of a file another role."""
    with _changed(path) as users:
        users[name] = replace(users[name], role=role)


def check_name(name: str, path: str | Path) -> None:
    """Refuse a name that a line of the file could not hold, or that somebody else has for good."""
    storable = name.isprintable() and name == name.strip() and not name.startswith("#") and not set(name) & set(":/\\")
    if not (storable and 1 <= len(name) <= 64):
        what = "a name of 1 to 64 printable characters, without colon or slash, not beginning with #"
        raise FormatError(f"expected {what}, found {name!r}", at=str(path))
    if name in RESERVED:
        raise FormatError(f"expected a person's name, found {name!r}, which the project uses itself", at=str(path))


@contextmanager
def _changed(path: str | Path) -> Iterator[dict[str, User]]:
    """Give the users of a file to be changed, and write them; the server and commands change it one after another."""
    try:
        with locked(Path(path)):
            users = read_users(path) if Path(path).exists() else {}
            yield users
            write_private(Path(path), "".join(f"{u.name}:{u.role}:{u.password}\n" for u in users.values()))
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", at=str(path)) from error


def _user(line: str, at: Place) -> User:
    parts = line.strip().rsplit(":", 2)
    if len(parts) != 3 or parts[1] not in ROLES or not re.fullmatch(r"scrypt(\$\d+){3}(\$[\w+/=]+){2}", parts[2]):
        raise FormatError("expected name:role:scrypt$…", at=at, remedy="write it with 'focuseval project users add'")
    return User(*parts)


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=2**27)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
