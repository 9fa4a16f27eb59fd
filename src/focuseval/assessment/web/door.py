"""Coming in and going out: the printed link, the login form, the logout button."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from flask import Blueprint, abort, make_response, redirect, render_template, request, session, url_for

from focuseval.assessment.plan import Assessor, give_known, know_role, register
from focuseval.assessment.sessions import BY_NAME, limits_of
from focuseval.assessment.users import SHORTEST, UsersFile, accept
from focuseval.assessment.users import invited as invited_by
from focuseval.assessment.web.desk import desk
from focuseval.errors import AssessError, FocusevalError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        _begin_try({f"link {request.remote_addr}": BY_NAME})
        abort(403, "this link is not valid; use the one that the server printed at its last start")
    _begin(name)
    return render_template("enter.html")


@door.route("/login", methods=["GET", "POST"])
def login() -> str | Response:
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
        found = access.log_in(name, request.form.get("password", "")[:1000])
        if found:
            access.attempts.succeeded(limits)
            _begin(found)
            return _remembered(redirect(url_for("pages.topics")), found, browser)
        wrong = True
    return render_template("login.html", wrong=wrong, name=name)


def _remembered(answer: Response, name: str, number: str) -> Response:
    """Give the browser a number by which it is known as one that this user has logged in with."""
    value = desk().access.browser_of(name, number or secrets.token_urlsafe(16))
    year = 365 * 86_400
    secure = request.is_secure
    answer.set_cookie(
        desk().access.browser_cookie,
        value,
        max_age=year,
        httponly=True,
        samesite="Strict",
        secure=secure,
        path="/login",
    )
    return answer


@door.route("/invited", methods=["GET", "POST"])
def invited() -> str | Response | tuple[str, int]:
    """Show who is invited, or let them in with the password that they chose."""
    access, store, token = desk().access, desk().store, request.values.get("token", "")
    found = invited_by(store, token) if isinstance(access.users, UsersFile) else None
    if found is None or not isinstance(access.users, UsersFile):
        _begin_try({f"invitation {request.remote_addr}": BY_NAME})
        abort(403, "this invitation is not valid any more; ask for another")
    message = ""
    if request.method == "POST":
        password = request.form.get("password", "")[:1000]
        try:
            if password != request.form.get("again", "")[:1000]:
                raise AssessError("the two passwords differ")
            name = accept(store, access.users, token, request.form.get("name", "")[:100], password).name
        except FocusevalError as error:
            message = str(error).removeprefix(f"{access.users.path}: ")
        else:
            _begin(name)
            return _remembered(redirect(url_for("pages.topics")), name, "")
    page = render_template("invited.html", invitation=found, token=token, message=message, shortest=SHORTEST)
    return (page, 422) if message else page


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
    role = desk().access.role(name)
    if role != "reader":
        register(desk().store, Assessor(name))
    if desk().access.users is not None:
        know_role(desk().store, name, role)
    give_known(desk().store, actor=name)


def _begin_try(limits: Mapping[str, int]) -> None:
    """Count a try, or refuse who guesses."""
    wait = desk().access.attempts.begin(limits)
    if wait:
        seconds = int(wait) + 1
        message = f"too many attempts; wait {seconds} seconds"
        page = render_template("error.html", status=429, message=message)
        abort(make_response(page, 429, {"Retry-After": str(seconds)}))
