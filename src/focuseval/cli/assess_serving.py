"""``focuseval assess PROJECT`` without a particular wish: serve it until Ctrl-C."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.assessment.backup import FOLDER, Backups
from focuseval.assessment.files import held, make_private
from focuseval.assessment.plan import Assessor, know_role, register
from focuseval.assessment.project import DATABASE, secret
from focuseval.assessment.sessions import FILE, Sessions
from focuseval.assessment.users import UsersFile, invite_first_lead
from focuseval.assessment.web import Access, create_app
from focuseval.assessment.web.serve import Server, bind, links, names_of
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from focuseval.assessment.project import Project


def serve(project: Project, options: dict[str, Any], me: str) -> None:
    """Serve the project until Ctrl-C, with a backup now and from time to time; one server at a time."""
    key = secret(project.folder)
    refusal = f"{project.folder}: another server serves this project; use that one, or end it"
    with held(project.folder / "secret", alone=True, refusal=refusal):
        _serve(project, options, me, key)


def _serve(project: Project, options: dict[str, Any], me: str, key: bytes) -> None:
    users = _users(options["users"]) if options["users"] else None
    if users is None and options["host"] not in ("127.0.0.1", "localhost"):
        raise AssessError("a network needs named assessors; make them with --users FILE --add-user NAME")
    for name in users if users is not None else [me]:
        if users is None or users[name].role != "reader":
            register(project.store, Assessor(name))
        if users is not None:
            know_role(project.store, name, users[name].role)
    _make_private(project.folder)
    listening = bind(options["host"], options["port"])
    port = listening.getsockname()[1]
    hosts = names_of(options["host"], port, options["names"])
    sessions = Sessions(project.folder / FILE)
    sessions.forget()
    access = Access(key, hosts, assessor=me, users=users, sessions=sessions)
    app = create_app(project.store, project.documents, project.topics, access, title=project.folder.resolve().name)
    place = Path(options["backup_to"]) if options["backup_to"] else project.folder / FOLDER
    server, backups = Server(app, listening, proxy=options["trusted_proxy"] or ""), Backups(project.store, place)
    backups.start()
    server.start()
    path = "login" if users is not None else f"enter?token={access.token}"
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)  # what systemd sends
    try:
        for link in printed_links(options, port, path):
            click.echo(f"Open {link}")
        if users is not None and not any(user.role == "lead" for user in users.values()):
            token = invite_first_lead(project.store, actor=me)
            click.echo("There is no lead yet. With this link, once, you become one:", err=True)
            click.echo(f"Open {printed_links(options, port, f'invited?token={token}')[0]}")
        app.extensions["focuseval"].overview.rows()  # so that the lead's first look need not read the whole log
        app.extensions["focuseval"].shared.documents()
        click.echo("Ctrl-C ends the server; everything is saved as it is done.", err=True)
        server.wait()
    except KeyboardInterrupt:
        click.echo("Done.", err=True)
    finally:
        server.close()
        backups.stop()


def _users(path: str) -> UsersFile:
    """Return the users of a file, which is made where there is none yet: the first lead comes by an invitation."""
    try:
        make_private(Path(path))
    except OSError as error:
        raise AssessError(f"{path}: expected a file for the users, found: {error.strerror}") from error
    return UsersFile(path)


def printed_links(options: dict[str, Any], port: int, path: str) -> list[str]:
    """Return the addresses to print; behind a proxy the names are the proxy's, which speaks HTTPS."""
    if options["trusted_proxy"] and options["names"]:
        return [f"https://{name}/{path}" for name in options["names"]]
    return links(options["host"], port, options["names"], path)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _make_private(folder: Path) -> None:
    """Take everybody else's rights from files that an older version wrote for all to read."""
    for path in (*folder.glob(f"{DATABASE}*"), *(folder / FOLDER).glob("*.db")):
        with suppress(OSError):
            path.chmod(0o600)
