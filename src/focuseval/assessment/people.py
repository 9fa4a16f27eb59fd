"""Who may come in: invitations by link, roles, resets and removals; every step is an event of the project.

An invitation is a link that works once, for two weeks. The log keeps the hash of its secret alone, so that nobody who
reads the log can use it. Whoever follows the link chooses a password; a *reset* is an invitation of somebody who has
one. What a removed person judged stays in the project.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from focuseval.assessment.plan import Assessor, assessors, know_role, record, register
from focuseval.assessment.users import ROLES, User, add_user, change_role, check_name, remove_user
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from focuseval.assessment.sessions import Sessions
    from focuseval.assessment.store import Store
    from focuseval.assessment.users import UsersFile

DAYS = 14
"""How long an invitation can be followed."""
SHORTEST = 8
"""Characters of a password that somebody chooses in the browser."""
INVITE, RESET, ACCEPT, REVOKE = "invite", "reset", "accept", "revoke"
_LOCK = threading.Lock()
"""One change of the users file at a time: an invitation that is followed twice at once works once."""


@dataclass(frozen=True)
class Invitation:
    """A link that was given to somebody, and what became of it."""

    id: str
    name: str
    """Whom it lets in; '' leaves the name to them."""
    role: str
    until: str
    did: str
    """Whether it invites somebody new, or resets a password."""
    state: str = "open"

    def is_open(self) -> bool:
        """Whether it can still be followed."""
        return self.state == "open"


def invite(store: Store, name: str, role: str, *, actor: str, did: str = INVITE) -> str:
    """Record an invitation and return the secret of its link, which nobody can ask for again."""
    if role not in ROLES:
        raise AssessError(f"expected the role {', '.join(ROLES)}, found {role!r}")
    if name:
        check_name(name, "the invitation")
        _refuse_imported(store, name)
    token = secrets.token_urlsafe(32)
    until = (datetime.now(UTC) + timedelta(days=DAYS)).isoformat(timespec="seconds")
    told = {"kind": "people", "did": did, "name": name, "role": role, "id": _hash(token), "until": until}
    record(store, told, actor=actor)
    return token


def invite_first_lead(store: Store, *, actor: str) -> str:
    """Return the secret of a link for the first lead; only the newest of these links is valid."""
    _revoke_all(store, "", actor)
    return invite(store, "", "lead", actor=actor)


def invitations(store: Store) -> list[Invitation]:
    """Return all invitations, oldest first."""
    found: dict[str, Invitation] = {}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for _, told in store.project_events("people"):
        if told["did"] in (INVITE, RESET):
            late = "expired" if told["until"] <= now else "open"
            found[told["id"]] = Invitation(told["id"], told["name"], told["role"], told["until"], told["did"], late)
        elif told["did"] in (ACCEPT, REVOKE) and told["id"] in found:
            before = found[told["id"]]
            state = {ACCEPT: "accepted", REVOKE: "revoked"}[told["did"]]
            name = told.get("name") or before.name
            found[told["id"]] = Invitation(before.id, name, before.role, before.until, before.did, state)
    return list(found.values())


def invited(store: Store, token: str) -> Invitation | None:
    """Return the invitation that a link's secret belongs to, as long as it can be followed."""
    wanted = _hash(token)
    return next((one for one in invitations(store) if one.id == wanted and one.is_open()), None)


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
        else:
            _refuse_taken(store, users, found, name)
        check_name(name, "your name")
        if role != "reader":
            register(store, Assessor(name))
        add_user(users.path, name, password, role=role)
        record(store, {"kind": "people", "did": ACCEPT, "name": name, "role": role, "id": found.id}, actor=name)
        know_role(store, name, role)
        return users[name]


def revoke(store: Store, number: str, *, actor: str) -> None:
    """Make an invitation invalid."""
    found = next((one for one in invitations(store) if one.id == number and one.is_open()), None)
    if found is None:
        raise AssessError("there is no such open invitation")
    record(store, {"kind": "people", "did": REVOKE, "name": found.name, "id": number}, actor=actor)


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
    record(store, {"kind": "people", "did": "log out", "name": name}, actor=actor)


def remove(store: Store, users: UsersFile, sessions: Sessions, name: str, *, actor: str) -> None:
    """Take somebody's access away, their open invitations included; what they judged stays."""
    with _LOCK:
        _refuse_unknown(users, name)
        _refuse_last_lead(users, name)
        _revoke_all(store, name, actor)
        remove_user(users.path, name)
        sessions.revoke(name)
        record(store, {"kind": "people", "did": "remove", "name": name}, actor=actor)


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
        change_role(users.path, name, role)
        record(store, {"kind": "people", "did": "role", "name": name, "role": role}, actor=actor)
        know_role(store, name, role, actor=actor)


def note_people(store: Store, did: str, name: str, *, actor: str) -> None:
    """Write to the log what was done to the users file from the command line."""
    record(store, {"kind": "people", "did": did, "name": name}, actor=actor)


def removed(store: Store) -> set[str]:
    """Return the names of people who were removed, and not let in again since."""
    found: set[str] = set()
    for _, told in store.project_events("people"):
        if told["did"] == "remove":
            found.add(told["name"])
        elif told["did"] in (ACCEPT, "add"):
            found.discard(told["name"])
    return found


def _revoke_all(store: Store, name: str, actor: str) -> None:
    for one in invitations(store):
        if one.name == name and one.is_open():
            revoke(store, one.id, actor=actor)


def _refuse_taken(store: Store, users: UsersFile, found: Invitation, name: str) -> None:
    """Refuse a name that somebody has, or has judged under, unless the invitation is for that very name."""
    known = {one.name for one in assessors(store)}
    if name in users or (not found.name and name in known):
        raise AssessError(f"the name {name} is taken; choose another")
    _refuse_imported(store, name)


def _refuse_imported(store: Store, name: str) -> None:
    others = {one.name for one in assessors(store) if one.origin != Assessor(name).origin}
    if name in others:
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
