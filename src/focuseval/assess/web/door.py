"""Coming in and going out: the printed link, the login form, the logout button."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, abort, redirect, render_template, request, session, url_for

from focuseval.assess.plan import Assessor, know_role, register
from focuseval.assess.web.desk import desk

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

door = Blueprint("door", __name__)


@door.get("/enter")
def enter() -> str:
    """Take the link's token and give a session for it.

    The page goes on by itself: a redirect would carry the foreign origin of the click, and a strict cookie would
    stay behind. Only wrong tokens are slowed down: else any web page could lock the owner out with a few of them.
    """
    name = desk().access.enter(request.args.get("token", ""))
    if name is None:
        _slow_down("link")
        desk().access.attempts.failed(_who("link"))
        abort(403, "this link is not valid; use the one that the server printed at its last start")
    _begin(name)
    return render_template("enter.html")


@door.route("/login", methods=["GET", "POST"])
def login() -> str | Response:
    """Show the form, or check a name and a password."""
    if desk().access.users is None:
        abort(403, "open the link that the server printed")
    wrong, name = False, ""
    if request.method == "POST":
        name = request.form.get("name", "")[:100]
        _slow_down(name)
        found = desk().access.log_in(name, request.form.get("password", "")[:1000])
        if found:
            desk().access.attempts.succeeded(_who(name))
            _begin(found)
            return redirect(url_for("pages.topics"))
        desk().access.attempts.failed(_who(name))
        desk().access.attempts.failed(_who(""))
        wrong = True
    return render_template("login.html", wrong=wrong, name=name)


@door.post("/logout")
def logout() -> Response:
    """End the session, for every copy of its cookie."""
    desk().access.sessions.end(dict(session))
    session.clear()
    return redirect(url_for("door.login"))


def _begin(name: str) -> None:
    session.clear()
    session.update(desk().access.begin(name))
    session.permanent = True
    register(desk().store, Assessor(name))
    if desk().access.users is not None:
        know_role(desk().store, name, "lead" if desk().access.leads(name) else "assessor")


def _slow_down(name: str) -> None:
    """Refuse who guesses: by name, whoever asks, and by address, whatever the name."""
    wait = max(desk().access.attempts.wait(_who(name)), desk().access.attempts.wait(_who("")))
    if wait:
        abort(429, f"too many attempts; wait {int(wait) + 1} seconds")


def _who(name: str) -> str:
    return f"name {name}" if name else f"address {request.remote_addr}"
