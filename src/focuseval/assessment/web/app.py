"""The app, put together from what it is given: what every request passes on its way, and the door.

In: the Host is one of ours (a rebound name is not), a request that changes something comes from our own pages (Origin)
and carries the session's token, and there is a session. Out: headers that keep scripts, frames and other machines
away from the page. Nothing here writes a token, a cookie or a password anywhere.

The door lets people in by the printed link, by name and password, or by an invitation.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from flask import Blueprint, Flask, Response, abort, g, jsonify, redirect, render_template, request, session, url_for
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from focuseval.assessment import users as accounts
from focuseval.assessment.plan import Assessor, give_known, know_role, register
from focuseval.assessment.project import render_markdown
from focuseval.assessment.sessions import BY_NAME, DAYS, limits_of
from focuseval.assessment.store import Store, now
from focuseval.assessment.web.adjudication import adjudication, quality
from focuseval.assessment.web.desk import SAFE, Access, Desk, desk, limit_of, state_of
from focuseval.assessment.web.exchange import exchange, growing
from focuseval.assessment.web.pages import api, pages
from focuseval.assessment.web.work import dashboard, people, work
from focuseval.collection.rendering import STATIC, DocumentCache
from focuseval.data.topics import Topic
from focuseval.errors import AssessError, ChangedTextError, ConflictError, FocusevalError, StorageError, counted

_STATUS = ((ConflictError, 409), (ChangedTextError, 409), (StorageError, 507), (FocusevalError, 422))
"""Error → HTTP status; the first that fits."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
DOOR = ("door.enter", "door.login", "door.invited")
FILES = ("static", "rendering.static")  # what nobody needs a session for: the door, and the pages' own files
door = Blueprint("door", __name__)


class SchemeSessions(SecureCookieSessionInterface):
    """Sessions whose cookie is for HTTPS alone when it was given over HTTPS, a trusted proxy's included."""

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002  Flask's signature
        """Whether the cookie is to be sent over HTTPS alone."""
        return bool(request.is_secure)

    def should_set_cookie(self, app: Flask, session: SessionMixin) -> bool:
        """Whether an answer sets the cookie: not for what is fetched beforehand, which may come after a logout."""
        return request.headers.get("Purpose") != "prefetch" and super().should_set_cookie(app, session)


def create_app(
    store: Store, documents: DocumentCache, topics: Iterable[Topic], access: Access, *, title: str = "Assessments"
) -> Flask:
    """Return the web app of a project; `access` says who may come in, and by which names the server answers."""
    app = Flask("focuseval.assessment", static_folder="static", template_folder="templates")
    app.secret_key = access.secret
    app.session_interface = SchemeSessions()
    app.config.update(
        SESSION_COOKIE_NAME=access.cookie,
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_HTTPONLY=True,
        PERMANENT_SESSION_LIFETIME=timedelta(days=DAYS),
        MAX_FORM_MEMORY_SIZE=2**20,
        TRUSTED_HOSTS=None,  # `check_sender` does, with ports
    )
    known = {topic.id: topic for topic in topics}
    app.extensions["focuseval"] = Desk(store, documents, known, access, title)
    for check in (check_sender, check_session, check_size, check_change):
        app.before_request(check)
    app.after_request(add_headers)
    app.jinja_env.globals["csrf_token"] = csrf_token
    shared = Blueprint("rendering", __name__, static_folder=STATIC, static_url_path="/rendering")
    for part in (shared, door, pages, api, dashboard, work, people, adjudication, quality, growing, exchange):
        app.register_blueprint(part)
    app.register_error_handler(FocusevalError, _refused)
    app.register_error_handler(HTTPException, _refused)
    app.jinja_env.filters |= {"duration": duration, "moment": moment, "counted": counted, "markdown": render_markdown}
    app.context_processor(lambda: {"desk": app.extensions["focuseval"]})
    return app


def duration(seconds: float | None) -> str:
    """Return a span of time as people say it.

    >>> duration(95), duration(40), duration(7300), duration(None)
    ('1 min 35 s', '40 s', '2 h 1 min', '–')
    """
    if not seconds:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def moment(at: str | None) -> str:
    """Return a time of the log without its seconds; all times are UTC.

    >>> moment("2026-11-15T22:15:18.123+00:00")
    '2026-11-15 22:15'
    """
    return at[:16].replace("T", " ") if at else "–"


def _refused(error: FocusevalError | HTTPException) -> tuple[Any, int]:
    """Answer an error with its one line, a conflict also with the newer state: as a page, or as JSON to a script."""
    more: dict[str, Any] = {}
    if isinstance(error, HTTPException):
        status, ours = error.code or 500, error.description != type(error).description
        message = error.description if ours and error.description else f"{error.name}."
    else:
        status = next(code for kind, code in _STATUS if isinstance(error, kind))
        message = str(error).removeprefix(f"{desk().store.database.path}: ")  # where it lies concerns nobody outside
        more["changed"] = isinstance(error, ChangedTextError)
    if isinstance(error, ConflictError):
        more["state"] = state_of(error.newer)  # type: ignore[arg-type]
    if request.path.startswith("/api/"):
        return jsonify({"error": message, **more}), status
    return render_template("error.html", status=status, message=message), status


def check_sender() -> None:
    """Refuse a Host that is not ours, such as a stranger's name for this machine, and changes by other sites' pages."""
    host = request.headers.get("Host", "").lower()
    if host not in desk().access.hosts:
        abort(403, "this server does not answer to that name")
    ours = request.headers.get("Origin", "").lower() in (f"http://{host}", f"https://{host}")
    if request.method not in SAFE and not ours:
        abort(403, "changes are taken from our own pages only")


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


def check_size() -> None:
    """Bound what may be sent, before anything reads it."""
    limit = limit_of(g.user, request.path, desk().access)
    request.max_content_length = limit
    if request.method not in SAFE and request.content_length is None:
        abort(411)
    if (request.content_length or 0) > limit:
        abort(413, f"at most {limit >> 20 or 1} MB are taken at once")


def check_change() -> None:
    """Refuse a change without the token of this session's pages, and all that a reader asks for, but to leave."""
    if request.method in SAFE:
        return
    given = request.headers.get("X-CSRF-Token") or request.form.get("csrf", "")
    if not hmac.compare_digest(given.encode(), str(session.get("csrf", "")).encode()) or not given:
        abort(403, "the page is out of date; reload it")
    reads = bool(g.user) and desk().access.role(g.user) == "reader"
    if reads and request.endpoint not in (*DOOR, "door.logout"):
        abort(403, "a reader sees everything and changes nothing")


def csrf_token() -> str:
    """Return the token that forms and scripts of this session send back."""
    return str(session.setdefault("csrf", secrets.token_urlsafe(24)))


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


@door.get("/enter")
def enter() -> str:
    """Take the link's token and give a session for it.

    The page goes on by itself: a redirect would carry the foreign origin of the click, and a strict cookie would
    stay behind. Only wrong tokens are slowed down: else any web page could lock the owner out with a few of them.
    """
    name = desk().access.enter(request.args.get("token", ""))
    if name is None:
        _begin_try({f"link {request.remote_addr}": BY_NAME})
        abort(403, "this link is not valid; use the one that the server printed at its last start")
    _begin(name)
    return render_template("enter.html")


@door.route("/login", methods=["GET", "POST"])
def login() -> str | AnyResponse:
    """Show the form, or check a name and a password."""
    access = desk().access
    if access.users is None:
        abort(403, "open the link that the server printed")
    wrong, name = False, ""
    if request.method == "POST":
        name = request.form.get("name", "")[:100]
        browser = access.known_browser(name, request.cookies.get(access.browser_cookie, ""))
        limits = limits_of(request.remote_addr or "", name, browser=browser)
        _begin_try(limits)
        if accounts.verify(access.users, name, request.form.get("password", "")[:1000]):
            access.attempts.succeeded(limits)
            return _let_in(name, browser or secrets.token_urlsafe(16))
        wrong = True
    return render_template("login.html", wrong=wrong, name=name)


@door.route("/invited", methods=["GET", "POST"])
def invited() -> str | AnyResponse | tuple[str, int]:
    """Show who is invited, or let them in with the password that they chose."""
    access, store, token = desk().access, desk().store, request.values.get("token", "")
    found = accounts.invited(store, token) if isinstance(access.users, accounts.UsersFile) else None
    if found is None or not isinstance(access.users, accounts.UsersFile):
        _begin_try({f"invitation {request.remote_addr}": BY_NAME})
        abort(403, "this invitation is not valid any more; ask for another")
    message = ""
    if request.method == "POST":
        password = request.form.get("password", "")[:1000]
        try:
            if password != request.form.get("again", "")[:1000]:
                raise AssessError("the two passwords differ")
            name = accounts.accept(store, access.users, token, request.form.get("name", "")[:100], password).name
        except FocusevalError as error:
            message = str(error).removeprefix(f"{access.users.path}: ")
        else:
            return _let_in(name, secrets.token_urlsafe(16))
    page = render_template("invited.html", invitation=found, token=token, message=message, shortest=accounts.SHORTEST)
    return (page, 422) if message else page


@door.post("/logout")
def logout() -> AnyResponse:
    """End the session, for every copy of its cookie."""
    desk().access.sessions.end(session)
    session.clear()
    return redirect(url_for("door.login"))


def _begin(name: str) -> None:
    session.clear()
    session.update(desk().access.begin(name))
    csrf_token()  # else pages that are asked for at once would each make one, and all but the last be out of date
    session.permanent = True
    role = desk().access.role(name)
    if role != "reader":
        register(desk().store, Assessor(name))
    if desk().access.users is not None:
        know_role(desk().store, name, role)
    give_known(desk().store, actor=name)


def _let_in(name: str, browser: str) -> AnyResponse:
    """Begin a session; the browser gets a number by which it is known as one that this user has logged in with."""
    _begin(name)
    access, answer = desk().access, redirect(url_for("pages.topics"))
    cookie = (access.browser_cookie, access.browser_of(name, browser), 365 * 86_400)  # for a year
    answer.set_cookie(*cookie, path="/login", httponly=True, samesite="Strict", secure=request.is_secure)
    return answer


def _begin_try(limits: Mapping[str, int]) -> None:
    """Count a try, or refuse who guesses."""
    if wait := desk().access.attempts.begin(limits):
        seconds = int(wait) + 1
        page = render_template("error.html", status=429, message=f"too many attempts; wait {seconds} seconds")
        abort(Response(page, 429, {"Retry-After": str(seconds)}))
