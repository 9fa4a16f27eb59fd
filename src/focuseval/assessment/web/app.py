"""The app, put together from what it is given."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from flask import Blueprint, Flask, jsonify, render_template, request
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from werkzeug.exceptions import HTTPException

from focuseval.assessment.sessions import DAYS
from focuseval.assessment.store import Store
from focuseval.assessment.web.adjudication import adjudication, quality
from focuseval.assessment.web.desk import Access, Desk, desk, state_of
from focuseval.assessment.web.exchange import exchange, growing
from focuseval.assessment.web.guard import guard
from focuseval.assessment.web.pages import api, pages
from focuseval.assessment.web.people import door, people
from focuseval.assessment.web.work import dashboard, work
from focuseval.assessment.wording import render_markdown
from focuseval.collection.rendering import STATIC, DocumentCache
from focuseval.data.topics import Topic
from focuseval.errors import ChangedTextError, ConflictError, FocusevalError, StorageError, counted

_STATUS = ((ConflictError, 409), (ChangedTextError, 409), (StorageError, 507), (FocusevalError, 422))
"""Error → HTTP status; the first that fits."""


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
        TRUSTED_HOSTS=None,  # the guard checks names and ports
    )
    known = {topic.id: topic for topic in topics}
    app.extensions["focuseval"] = Desk(store, documents, known, access, title)
    guard(app)
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
