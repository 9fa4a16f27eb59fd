"""The people of a project, for a lead: who may come in, as what; invitations by link; what was done to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, abort, redirect, render_template, request, url_for

from focuseval.assessment.users import ROLES, UsersFile, give_role, invitations, invite, log_out, remove, reset, revoke
from focuseval.assessment.web.desk import desk, leads_only, user
from focuseval.errors import FocusevalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from werkzeug.wrappers import Response

people = Blueprint("people", __name__)

SHOWN = 50
"""Steps of the log that the page shows."""


@people.get("/people")
def everyone(message: str = "", link: str = "", done: str = "") -> str:
    """List users and invitations."""
    leads_only()
    store, users = desk().store, desk().access.users
    desk().overview.rows()
    return render_template(
        "people.html",
        users=sorted((users or {}).values(), key=lambda one: (one.role != "lead", one.name)),
        managed=isinstance(users, UsersFile),
        roles=ROLES,
        invitations=[one for one in invitations(store) if one.is_open()],
        log=store.project_log("people")[: -SHOWN - 1 : -1],
        seen={**desk().overview.pace.last, **desk().seen},
        message=message,
        link=link,
        done=done,
    )


@people.post("/people")
def change() -> str | tuple[str, int] | Response:
    """Invite, revoke, reset, remove, log out, or give a role: one thing that the form names."""
    leads_only()
    users = desk().access.users
    act = _ACTS.get(request.form.get("do", ""))
    if act is None:
        abort(400, "no such action")
    if not isinstance(users, UsersFile):
        abort(409, "this server has no users file; start it with --users FILE")
    try:
        link, done = act(users, request.form.get("name", "").strip()[:100])
    except FocusevalError as error:
        return everyone(message=str(error).removeprefix(f"{users.path}: ")), 422
    if not desk().access.leads(user()):  # somebody gave themselves another role, or left
        return redirect(url_for("pages.topics"))
    return everyone(link=f"{request.host_url}invited?token={link}" if link else "", done=done)


def _invite(_: UsersFile, name: str) -> tuple[str, str]:
    role = request.form.get("role", "assessor")
    return invite(desk().store, name, role, actor=user()), f"An invitation for {name or 'somebody'} as {role}:"


def _reset(users: UsersFile, name: str) -> tuple[str, str]:
    token = reset(desk().store, users, desk().access.sessions, name, actor=user())
    return token, f"With this link {name} chooses a new password:"


def _revoke(_: UsersFile, name: str) -> tuple[str, str]:
    revoke(desk().store, request.form.get("id", ""), actor=user())
    return "", f"The invitation {f'of {name} ' if name else ''}is not valid any more."


def _remove(users: UsersFile, name: str) -> tuple[str, str]:
    remove(desk().store, users, desk().access.sessions, name, actor=user())
    return "", f"{name} may not log in any more; what {name} judged stays."


def _log_out(users: UsersFile, name: str) -> tuple[str, str]:
    log_out(desk().store, users, desk().access.sessions, name, actor=user())
    return "", f"Every session of {name} has ended."


def _role(users: UsersFile, name: str) -> tuple[str, str]:
    role = request.form.get("role", "")
    give_role(desk().store, users, name, role, actor=user())
    return "", f"{name} is now a {role}."


_ACTS: dict[str, Callable[[UsersFile, str], tuple[str, str]]] = {
    "invite": _invite,
    "reset": _reset,
    "revoke": _revoke,
    "remove": _remove,
    "log out": _log_out,
    "role": _role,
}
