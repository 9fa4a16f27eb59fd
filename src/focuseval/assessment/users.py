"""Who may come in: named users with their passwords as scrypt hashes, invitations by link, roles and removals.

A users file has one line per person, ``name:role:scrypt$16384$8$1$salt$hash``. An ``assessor`` judges, a ``lead`` may
also see and change everything else, a ``reader`` sees everything and changes nothing. Such a line is written by
``focuseval project users add PROJECT NAME --users FILE``, and for whoever follows an invitation.

An invitation is a link that works once, for two weeks. The log keeps the hash of its secret alone, so that nobody who
reads the log can use it. Whoever follows the link chooses a password; a *reset* is an invitation of somebody who has
one. What a removed person judged stays in the project. Every step is an event of the project.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
import secrets
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from focuseval.assessment.files import locked, stamp_of, write_private
from focuseval.assessment.plan import PERSON, Assessor, assessors, know_role, labels, record, register
from focuseval.assessment.sessions import Sessions
from focuseval.assessment.store import ADJUDICATED, Store
from focuseval.data.fields import numbered_lines
from focuseval.errors import AssessError, FormatError, Place

ROLES = ("assessor", "lead", "reader")
_COST = (2**14, 8, 1)
_LINE = re.compile(rf"(.*):({'|'.join(ROLES)}):(scrypt(?:\$\d+){{3}}(?:\$[\w+/=]+){{2}})", re.DOTALL)
RESERVED = (ADJUDICATED, "merged")
DAYS = 14  # how long an invitation can be followed
SHORTEST = 8  # characters of a password that somebody chooses in the browser
INVITE, RESET, ACCEPT, REVOKE = "invite", "reset", "accept", "revoke"
_LOCK = threading.Lock()
"""One change of the users file at a time: an invitation that is followed twice at once works once."""
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
    encoded = (base64.b64encode(data).decode("ascii") for data in (salt, _scrypt(password, salt, *_COST)))
    return "$".join(("scrypt", *map(str, _COST), *encoded))


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
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"expected a users file, found: {error}", at=str(path)) from error
    for number, line in numbered_lines(text):
        if not line.startswith("#"):
            found = _LINE.fullmatch(line.strip())
            if found is None:
                at = Place(str(path), number)
                raise FormatError("expected name:role:scrypt$…", at=at, remedy="write the line with --add-user")
            users[found[1]] = User(*found.groups())
    return users


class UsersFile(Mapping[str, User]):
    """The users of a file as it is now: whoever is added or removed while the server runs is so at once."""

    def __init__(self, path: str | Path) -> None:
        self.path, self._users = Path(path), read_users(path)
        self._stamp = stamp_of(self.path)

    def __getitem__(self, name: str) -> User:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def _now(self) -> dict[str, User]:
        """Return the users, read again if the file has changed; one that cannot be read changes nothing."""
        stamp = stamp_of(self.path)
        if stamp != self._stamp:
            try:
                self._users = read_users(self.path)
            except FormatError as error:
                logging.getLogger(__name__).warning("%s; the users stay as they were", error)
            self._stamp = stamp
        return self._users


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
            lines = (f"{user.name}:{user.role}:{user.password}\n" for user in users.values())
            write_private(Path(path), "".join(lines).encode())
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", at=str(path)) from error


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=2**27)


@dataclass(frozen=True)
class Invitation:
    """A link that was given to somebody."""

    id: str
    name: str  # whom it lets in; '' leaves the name to them
    role: str
    until: str
    did: str  # whether it invites somebody new, or resets a password


def invite(store: Store, name: str, role: str, *, actor: str, users: Collection[str] = (), did: str = INVITE) -> str:
    """Record an invitation and return the secret of its link, which nobody can ask for again."""
    if role not in ROLES:
        raise AssessError(f"expected the role {', '.join(ROLES)}, found {role!r}")
    if name:
        check_name(name, "the invitation")
        if name in users:
            raise AssessError(f"{name} is a user already; under People, New password makes a link for them")
        _refuse_imported(store, name)
    token = secrets.token_urlsafe(32)
    until = (datetime.now(UTC) + timedelta(days=DAYS)).isoformat(timespec="seconds")
    note_people(store, did, name, actor=actor, role=role, id=_hash(token), until=until)
    return token


def invite_first_lead(store: Store, *, actor: str) -> str:
    """Return the secret of a link for the first lead; only the newest of these links is valid."""
    _revoke_all(store, "", actor)
    return invite(store, "", "lead", actor=actor)


def invitations(store: Store) -> list[Invitation]:
    """Return the invitations that can still be followed, oldest first."""
    known: dict[str, Invitation] = {}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for _, edit in store.project_events("people"):
        did, number = edit["did"], edit.get("id", "")
        if did in (INVITE, RESET):
            known[number] = Invitation(number, edit["name"], edit["role"], edit["until"], did)
        elif did in (ACCEPT, REVOKE):
            known.pop(number, None)
    return [one for one in known.values() if one.until > now]


def invited(store: Store, token: str) -> Invitation | None:
    """Return the invitation that a link's secret belongs to, as long as it can be followed."""
    wanted = _hash(token)
    return next((one for one in invitations(store) if one.id == wanted), None)


def accept(store: Store, users: UsersFile, token: str, name: str, password: str) -> User:
    """Let somebody in who follows an invitation, with the password that they chose."""
    with _LOCK:
        found = invited(store, token)
        if found is None:
            raise AssessError("this invitation is not valid any more; ask for another")
        name, role = found.name or name.strip(), found.role
        if len(password) < SHORTEST:
            raise AssessError(f"expected a password of at least {SHORTEST} characters")
        if found.did == RESET:
            if name not in users:
                raise AssessError(f"there is no user {name} any more; ask for another invitation")
            role = users[name].role
        else:  # a name that somebody has judged under is for whoever is invited by that very name
            if name in users or (not found.name and name in labels(store)):
                raise AssessError(f"the name {name} is taken; choose another")
            _refuse_imported(store, name)
        check_name(name, "your name")
        if role != "reader":
            register(store, Assessor(name))
        add_user(users.path, name, password, role=role)
        note_people(store, ACCEPT, name, actor=name, role=role, id=found.id)
        know_role(store, name, role)
        return users[name]


def revoke(store: Store, number: str, *, actor: str) -> None:
    """Make an invitation invalid."""
    found = next((one for one in invitations(store) if one.id == number), None)
    if found is None:
        raise AssessError("there is no such open invitation")
    note_people(store, REVOKE, found.name, actor=actor, id=number)


def reset(store: Store, users: UsersFile, sessions: Sessions, name: str, *, actor: str) -> str:
    """End somebody's sessions, and return the secret of a link that lets them choose a new password."""
    _refuse_unknown(users, name)
    _revoke_all(store, name, actor)
    sessions.revoke(name)
    return invite(store, name, users[name].role, actor=actor, did=RESET)


def log_out(store: Store, users: UsersFile, sessions: Sessions, name: str, *, actor: str) -> None:
    """End all sessions of somebody."""
    _refuse_unknown(users, name)
    sessions.revoke(name)
    note_people(store, "log out", name, actor=actor)


def remove(store: Store, users: UsersFile, sessions: Sessions, name: str, *, actor: str) -> None:
    """Take somebody's access away, their open invitations included; what they judged stays."""
    with _LOCK:
        _refuse_unknown(users, name)
        _refuse_last_lead(users, name)
        _revoke_all(store, name, actor)
        remove_user(users.path, name)
        sessions.revoke(name)
        note_people(store, "remove", name, actor=actor)


def give_role(store: Store, users: UsersFile, name: str, role: str, *, actor: str) -> None:
    """Give somebody another role; it holds for the sessions they have."""
    with _LOCK:
        _refuse_unknown(users, name)
        if role not in ROLES:
            raise AssessError(f"expected the role {', '.join(ROLES)}, found {role!r}")
        if role != "lead":
            _refuse_last_lead(users, name)
        if role != "reader":
            register(store, Assessor(name), actor=actor)
        with _changed(users.path) as changed:
            changed[name] = replace(changed[name], role=role)
        note_people(store, "role", name, actor=actor, role=role)
        know_role(store, name, role, actor=actor)


def note_people(store: Store, did: str, name: str, *, actor: str, **facts: str) -> None:
    """Write to the log what was done about a person."""
    record(store, {"kind": "people", "did": did, "name": name, **facts}, actor=actor)


def removed(store: Store) -> set[str]:
    """Return the names of people who were removed, and not let in again since."""
    found: set[str] = set()
    for _, edit in store.project_events("people"):
        if edit["did"] == "remove":
            found.add(edit["name"])
        elif edit["did"] in (ACCEPT, "add"):
            found.discard(edit["name"])
    return found


def _revoke_all(store: Store, name: str, actor: str) -> None:
    for one in invitations(store):
        if one.name == name:
            revoke(store, one.id, actor=actor)


def _refuse_imported(store: Store, name: str) -> None:
    if any(one.name == name and one.origin != PERSON for one in assessors(store)):
        raise AssessError(f"{name} is the name of an assessor whose judgements were imported; choose another")


def _refuse_unknown(users: UsersFile, name: str) -> None:
    if name not in users:
        raise AssessError(f"there is no user {name!r}")


def _refuse_last_lead(users: UsersFile, name: str) -> None:
    leads = [user.name for user in users.values() if user.role == "lead"]
    if leads == [name]:
        raise AssessError(f"{name} is the only lead; make somebody else a lead first")


def _hash(token: str) -> str:
    return hashlib.sha256(f"invitation {token}".encode("utf-8", "surrogatepass")).hexdigest()
