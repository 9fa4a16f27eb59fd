"""Who may come in: a secret link for one person, or named users; and by which names the server answers."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from focuseval.assessment.sessions import Attempts, Sessions
from focuseval.assessment.users import User, verify

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Access:
    """The server's door.

    Parameters
    ----------
    secret
        Signs the session cookies; kept with the project, so that a restart logs nobody out.
    hosts
        The values of the Host header that are ours, with their ports.
    assessor
        Whom the secret link lets in, without `users`.
    users
        Name → user; with it the link's token opens nothing.
    """

    secret: bytes = field(repr=False)
    hosts: frozenset[str] = frozenset()
    assessor: str = ""
    users: Mapping[str, User] | None = field(default=None, repr=False)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    attempts: Attempts = field(default_factory=Attempts, repr=False)
    sessions: Sessions = field(default_factory=Sessions, repr=False)

    @property
    def cookie(self) -> str:
        """The cookie's name, a project's own: browsers share cookies among the ports of a machine."""
        return f"focuseval-{hashlib.sha256(b'cookie' + self.secret).hexdigest()[:8]}"

    @property
    def browser_cookie(self) -> str:
        """The name of the cookie by which a browser is known again in which somebody has logged in."""
        return f"{self.cookie}-browser"

    def browser_of(self, name: str, number: str) -> str:
        """Return what that cookie holds: a number, and that it was given to this user."""
        signature = hmac.new(self.secret, f"browser {name} {number}".encode(), hashlib.sha256).hexdigest()[:32]
        return f"{number}.{signature}"

    def known_browser(self, name: str, cookie: str) -> str:
        """Return a browser's number if this user has logged in there before, else ''."""
        number = cookie.partition(".")[0]
        return number if number and hmac.compare_digest(cookie.encode(), self.browser_of(name, number).encode()) else ""

    def enter(self, token: str) -> str | None:
        """Return the assessor that the link's token lets in, or None."""
        if self.users is None and hmac.compare_digest(token.encode(), self.token.encode()):
            return self.assessor
        return None

    def log_in(self, name: str, password: str) -> str | None:
        """Return the name of the user whose password this is, or None."""
        user = verify(self.users, name, password) if self.users is not None else None
        return user.name if user else None

    def begin(self, name: str) -> dict[str, Any]:
        """Return what the cookie of a new session says."""
        return {**self.sessions.begin(name), "proof": self._proof(name)}

    def user_of(self, cookie: Mapping[str, Any]) -> str:
        """Return whose session a cookie stands for, '' when it stands for none any more.

        A session ends with a logout, when it is revoked, when its user is removed, gets another password, or has got
        in by the link of a server that has users now.
        """
        said = dict(cookie)
        name = str(said.get("user", ""))
        known = name in self.users if self.users is not None else name == self.assessor
        if not known or not name or not hmac.compare_digest(str(said.get("proof", "")), self._proof(name)):
            return ""
        return name if self.sessions.lives(said) else ""

    def role(self, name: str) -> str:
        """Return a user's role; somebody who came by the printed link leads."""
        if self.users is None:
            return "lead"
        user = self.users.get(name)
        return user.role if user is not None else ""

    def leads(self, name: str) -> bool:
        """Whether a user may see and change what others did."""
        return self.role(name) == "lead"

    def sees_all(self, name: str) -> bool:
        """Whether a user may see what others did: a lead, or a reader, who changes nothing."""
        return self.role(name) in ("lead", "reader")

    def _proof(self, name: str) -> str:
        """Return what only a cookie of the user's present password, or of the link, holds."""
        user = self.users.get(name) if self.users is not None else None
        what = user.password if user else "the link"
        return hmac.new(self.secret, what.encode(), hashlib.sha256).hexdigest()[:32]
