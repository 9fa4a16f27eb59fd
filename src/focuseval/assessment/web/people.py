"""Coming in and going out: link, login, invitation; and for a lead the people of a project."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from flask import Blueprint, abort, make_response, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from focuseval.assessment import users as accounts
from focuseval.assessment.plan import Assessor, give_known, know_role, register
from focuseval.assessment.sessions import BY_NAME, limits_of
from focuseval.assessment.web.desk import desk, leads_only, user
from focuseval.assessment.web.guard import csrf_token
from focuseval.errors import AssessError, FocusevalError

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
        if accounts.verify(access.users, name, request.form.get("password", "")[:1000]):
            access.attempts.succeeded(limits)
            return _let_in(name, browser or secrets.token_urlsafe(16))
        wrong = True
    return render_template("login.html", wrong=wrong, name=name)


@door.route("/invited", methods=["GET", "POST"])
def invited() -> str | Response | tuple[str, int]:
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
def logout() -> Response:
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


def _let_in(name: str, browser: str) -> Response:
    """Begin a session; the browser gets a number by which it is known as one that this user has logged in with."""
    _begin(name)
    access, answer, year, secure = desk().access, redirect(url_for("pages.topics")), 365 * 86_400, request.is_secure
    value = access.browser_of(name, browser)
    answer.set_cookie(
        access.browser_cookie, value, max_age=year, httponly=True, samesite="Strict", secure=secure, path="/login"
    )
    return answer


def _begin_try(limits: Mapping[str, int]) -> None:
    """Count a try, or refuse who guesses."""
    wait = desk().access.attempts.begin(limits)
    if wait:
        seconds = int(wait) + 1
        message = f"too many attempts; wait {seconds} seconds"
        page = render_template("error.html", status=429, message=message)
        abort(make_response(page, 429, {"Retry-After": str(seconds)}))


people = Blueprint("people", __name__)
people.before_request(leads_only)

SHOWN = 50  # steps of the log that the page shows


@people.get("/people")
def everyone(message: str = "", link: str = "", done: str = "") -> str:
    """List users and invitations."""
    store, users = desk().store, desk().access.users
    desk().overview.rows()
    return render_template(
        "people.html",
        users=sorted((users or {}).values(), key=lambda one: (one.role != "lead", one.name)),
        managed=isinstance(users, accounts.UsersFile),
        roles=accounts.ROLES,
        invitations=accounts.invitations(store),
        log=store.project_log("people")[: -SHOWN - 1 : -1],
        seen={**desk().overview.pace.last, **desk().seen},
        message=message,
        link=link,
        done=done,
    )


@people.post("/people")
def change() -> str | tuple[str, int] | Response:
    """Invite, revoke, reset, remove, log out, or give a role: one thing that the form names."""
    users = desk().access.users
    do = request.form.get("do", "")
    if do not in ("invite", "reset", "revoke", "remove", "log out", "role"):
        abort(400, "no such action")
    if not isinstance(users, accounts.UsersFile):
        abort(409, "this server has no users file; start it with --users FILE")
    store, sessions, name = desk().store, desk().access.sessions, request.form.get("name", "").strip()[:100]
    role, link = request.form.get("role", "assessor" if do == "invite" else ""), ""
    try:
        if do == "invite":
            link = accounts.invite(store, name, role, actor=user())
            done = f"An invitation for {name or 'somebody'} as {role}:"
        elif do == "reset":
            link = accounts.reset(store, users, sessions, name, actor=user())
            done = f"With this link {name} chooses a new password:"
        elif do == "revoke":
            accounts.revoke(store, request.form.get("id", ""), actor=user())
            done = f"The invitation {f'of {name} ' if name else ''}is not valid any more."
        elif do == "remove":
            accounts.remove(store, users, sessions, name, actor=user())
            done = f"{name} may not log in any more; what {name} judged stays."
        elif do == "log out":
            accounts.log_out(store, users, sessions, name, actor=user())
            done = f"Every session of {name} has ended."
        else:
            accounts.give_role(store, users, name, role, actor=user())
            done = f"{name} is now a {role}."
    except FocusevalError as error:
        return everyone(message=str(error).removeprefix(f"{users.path}: ")), 422
    if not desk().access.leads(user()):  # somebody gave themselves another role, or left
        return redirect(url_for("pages.topics"))
    return everyone(link=f"{request.host_url}invited?token={link}" if link else "", done=done)
