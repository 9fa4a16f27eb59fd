"""``focuseval project users VERB PROJECT``: the named assessors of a server on a network."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Any

import click

from focuseval.assessment.project import is_project, open_judgements
from focuseval.assessment.sessions import FILE, Sessions
from focuseval.assessment.users import ROLES, add_user, note_people, read_users, remove_user
from focuseval.assessment.users import invite as invite_user
from focuseval.cli.options import combined
from focuseval.cli.output import WRITES, Verbs
from focuseval.errors import AssessError


@click.group(cls=Verbs, subcommand_metavar="VERB PROJECT …")
def users() -> None:
    r"""Add, remove, invite and log out the named assessors of a server on a network.

    A running server knows of every change at once.

    \b
    Examples:
      focuseval project users add sea ann --users people
      focuseval project users invite sea lea --users people --role lead
      focuseval project users log-out sea ann
    """


users_option = click.option(
    "--users", required=True, metavar="FILE", help="Named assessors with passwords, for 'focuseval assess'."
)
role_option = click.option("--role", type=click.Choice(ROLES), default=ROLES[0], help="Judge, also lead, or only read.")
address_options = combined(
    click.option("--host", default="127.0.0.1", help="Address to listen on."),
    click.option("--port", type=click.IntRange(0, 65535), default=8475, help="0 takes a free one."),
    click.option("--name", "names", multiple=True, help="Name by which browsers reach the server; may be repeated."),
    click.option("--trusted-proxy", metavar="ADDRESS", help="Believe this proxy about the sender's address and HTTPS."),
)
actor_option = click.option("--actor", metavar="NAME", help="Name to write to the log, if not your own.")


def my_name(options: dict[str, Any]) -> str:
    """Return whose name stands in the log: as the option says, or who assesses by 'focuseval assess', or who calls."""
    name: str = options.get("actor") or options.get("assessor") or getpass.getuser()
    return name


def _note_user(folder: str, did: str, name: str) -> None:
    """Write to the project's log what was done to its users, if the project is there already."""
    if is_project(folder):
        with open_judgements(Path(folder)) as store:
            note_people(store, did, name, actor=getpass.getuser())


@users.verb("add", WRITES, users_option, role_option)
@click.argument("name")
def add(project: str, name: str, users: str, role: str, **_: Any) -> None:
    r"""Add a user, and ask for the password.

    \b
    Examples:
      focuseval project users add sea ann --users people
      focuseval project users add sea lea --users people --role lead
    """
    hidden = sys.stdin.isatty()  # what a pipe sends is not echoed anyway
    password = click.prompt("Password", hide_input=hidden, confirmation_prompt=True, err=True)
    add_user(users, name, password, role=role)
    _note_user(project, "add", name)
    click.echo(f"{users}: {name} may log in as {role}", err=True)


@users.verb("remove", WRITES, users_option)
@click.argument("name")
def remove(project: str, name: str, users: str, **_: Any) -> None:
    r"""Remove a user from the file; judgements stay.

    \b
    Examples:
      focuseval project users remove sea ann --users people
    """
    remove_user(users, name)
    _note_user(project, "remove", name)
    click.echo(f"{users}: {name} may not log in any more", err=True)


@users.verb("invite", WRITES, users_option, role_option, address_options, actor_option)
@click.argument("name")
def invite(project: str, name: str, role: str, users: str, **options: Any) -> None:
    r"""Print a link with which somebody chooses a password; it works once.

    \b
    Examples:
      focuseval project users invite sea lea --users people --role lead
      focuseval project users invite sea ann --users people --name judge.example.org --trusted-proxy 127.0.0.1
    """
    if not is_project(project):
        raise AssessError(f"{project}: expected a project, found none; begin one with 'focuseval assess'")
    with open_judgements(Path(project)) as store, store.database.translated("nothing more was done"):
        known = read_users(users) if Path(users).exists() else ()
        token = invite_user(store, name, role, actor=my_name(options), users=known)
    for link in printed_links(options, options["port"], f"invited?token={token}"):
        click.echo(link)
    click.echo(f"{name} can come in as {role} with this link, once, within two weeks", err=True)


def printed_links(options: dict[str, Any], port: int, path: str) -> list[str]:
    """Return the addresses to print; behind a proxy the names are the proxy's, which speaks HTTPS."""
    from focuseval.assessment.web.serve import links  # noqa: PLC0415  loads a server, for two commands of many

    if options["trusted_proxy"] and options["names"]:
        return [f"https://{name}/{path}" for name in options["names"]]
    return links(options["host"], port, options["names"], path)


@users.verb("log-out", WRITES)
@click.argument("name")
def log_out(project: str, name: str, **_: Any) -> None:
    r"""End all sessions of a user.

    \b
    Examples:
      focuseval project users log-out sea ann
    """
    if not is_project(project):
        raise AssessError(f"{project}: expected a project, found none")
    Sessions(Path(project) / FILE).revoke(name)
    _note_user(project, "log out", name)
    click.echo(f"{name}: every session has ended", err=True)
