"""What every request passes on its way in and out.

In: the Host is one of ours (a rebound name is not), a request that changes something comes from our own pages (Origin)
and carries the session's token, and there is a session. Out: headers that keep scripts, frames and other machines
away from the page. Nothing here writes a token, a cookie or a password anywhere.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

from flask import Flask, Response, abort, g, redirect, request, session, url_for
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import BadData
from werkzeug.http import parse_cookie
from werkzeug.wrappers import Response as AnyResponse

from focuseval.assessment.store import now
from focuseval.assessment.web.desk import Access, desk

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
DOOR_LIMIT = 64 * 2**10
EDIT_LIMIT = 8 * 2**20
UPLOAD_LIMIT = 64 * 2**20
UPLOADS = ("/import", "/pool")  # where a lead may send a file
DOOR = ("door.enter", "door.login", "door.invited")
FILES = ("static", "rendering.static")  # what nobody needs a session for: the door, and the pages' own files
SAFE = ("GET", "HEAD", "OPTIONS")


def guard(app: Flask) -> None:
    """Put the checks around every route of the app."""
    for check in (check_host, check_origin, check_session, check_size, check_csrf, check_reader):
        app.before_request(check)
    app.after_request(add_headers)
    app.jinja_env.globals["csrf_token"] = csrf_token


def check_host() -> None:
    """Refuse a Host that is not ours: a name of the attacker's that now points at this machine."""
    if request.headers.get("Host", "").lower() not in desk().access.hosts:
        abort(403, "this server does not answer to that name")


def check_origin() -> None:
    """Refuse a change that another site's page asks for."""
    if request.method in SAFE:
        return
    host = request.headers["Host"].lower()
    if request.headers.get("Origin", "").lower() not in (f"http://{host}", f"https://{host}"):
        abort(403, "changes are taken from our own pages only")


def check_size() -> None:
    """Bound what may be sent, before anything reads it."""
    limit = _limit(g.user, request.path, desk().access)
    request.max_content_length = limit
    if request.method not in SAFE and request.content_length is None:
        abort(411)
    if (request.content_length or 0) > limit:
        abort(413, f"at most {limit >> 20 or 1} MB are taken at once")


def _limit(user: str, path: str, access: Access) -> int:
    """Return the bytes of a body that a user may send to a path."""
    if not user:
        return DOOR_LIMIT
    return UPLOAD_LIMIT if path in UPLOADS and access.leads(user) else EDIT_LIMIT


def body_limit(app: Flask) -> Callable[[str, str], int]:
    """Return a function that tells the server, from a request's path and cookies, how large its body may be.

    An app without a door of ours, a report's, is sent nothing large.
    """
    if "focuseval" not in app.extensions:
        return lambda _path, _cookies: DOOR_LIMIT
    access: Access = app.extensions["focuseval"].access

    def limit(path: str, cookies: str) -> int:
        try:
            signed = parse_cookie(cookies).get(access.cookie, "")
            seconds = int(app.permanent_session_lifetime.total_seconds())
            cookie = SecureCookieSessionInterface().get_signing_serializer(app).loads(signed, max_age=seconds)  # type: ignore[union-attr]
        except (BadData, UnicodeError):
            return DOOR_LIMIT
        return _limit(access.user_of(cookie), path, access)

    return limit


def check_session() -> AnyResponse | None:
    """Let in who has a session; others may see the door and the static files."""
    g.user = desk().access.user_of(session)
    if g.user:
        desk().seen[g.user] = now()
        return None
    if request.endpoint in (*DOOR, *FILES):
        return None
    if request.method not in SAFE or request.path.startswith("/api/"):
        abort(401, "your session has ended; log in again in another tab")
    return redirect(url_for("door.login"))


def check_csrf() -> None:
    """Refuse a change without the token of this session's pages."""
    if request.method in SAFE:
        return
    given = request.headers.get("X-CSRF-Token") or request.form.get("csrf", "")
    if not hmac.compare_digest(given.encode(), str(session.get("csrf", "")).encode()) or not given:
        abort(403, "the page is out of date; reload it")


def check_reader() -> None:
    """Refuse every change that a reader asks for, but to leave."""
    reads = bool(g.user) and desk().access.role(g.user) == "reader"
    if reads and request.method not in SAFE and request.endpoint not in (*DOOR, "door.logout"):
        abort(403, "a reader sees everything and changes nothing")


def csrf_token() -> str:
    """Return the token that forms and scripts of this session send back."""
    if "csrf" not in session:
        session["csrf"] = secrets.token_urlsafe(24)
    token: str = session["csrf"]
    return token


def add_headers(response: Response) -> Response:
    """Tell the browser what this page may never do."""
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["X-Frame-Options"] = "DENY"
    response.headers["Referrer-Policy"] = "same-origin"  # with "no-referrer" forms would be sent without an Origin
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers.setdefault("Cache-Control", "no-store" if request.endpoint not in FILES else "no-cache")
    return response
