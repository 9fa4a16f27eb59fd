"""``focuseval assess``: make an assessment project and serve it."""

from __future__ import annotations

import signal
import threading
from contextlib import closing, suppress
from copy import copy
from pathlib import Path
from typing import Any

import click

from focuseval.assessment.backup import FOLDER, Backups
from focuseval.assessment.files import held, make_private
from focuseval.assessment.plan import Assessor, know_role, register
from focuseval.assessment.project import DATABASE, Project, open_project, secret
from focuseval.assessment.sampling import suggest_by
from focuseval.assessment.sessions import FILE, Sessions
from focuseval.assessment.users import UsersFile, invite_first_lead
from focuseval.cli import project as verbs
from focuseval.cli import project_users as users_verbs
from focuseval.cli.output import WRITES, Command
from focuseval.cli.project import begin_options, begun
from focuseval.cli.project_users import address_options, my_name, printed_links
from focuseval.errors import AssessError

NEWEST = "newest"


FORMER: dict[str, tuple[click.Option, Command]] = {
    "add_user": (click.Option(["--add-user"]), users_verbs.add),
    "remove_user": (click.Option(["--remove-user"]), users_verbs.remove),
    "log_out": (click.Option(["--log-out"]), users_verbs.log_out),
    "restore": (click.Option(["--restore"], is_flag=False, flag_value=NEWEST), verbs.restore),
    "source": (click.Option(["--import", "source"]), verbs.import_file),
    "add_runs": (click.Option(["--add-run", "add_runs"], multiple=True), verbs.add_run),
    "guidelines": (click.Option(["--guidelines"]), verbs.guidelines),
    "split": (click.Option(["--split"], type=click.Choice(["topics", "pool"])), verbs.split),
    "invite": (click.Option(["--invite"]), users_verbs.invite),
    "reanchor": (click.Option(["--reanchor"], is_flag=True), verbs.reanchor),
    "check": (click.Option(["--check"], is_flag=True), verbs.check),
    "export": (click.Option(["--export"]), verbs.export),
    "archive": (click.Option(["--archive"]), verbs.archive),
    "progress": (click.Option(["--progress"], is_flag=True), verbs.progress),
    "agreement": (click.Option(["--agreement"], is_flag=True), verbs.agreement),
    "stability": (click.Option(["--stability"], multiple=True), verbs.stability),
}
"""Parameters that work for one more version, not in the help, and the verbs that they are now, in the order of work."""

UNOPENED = ("add_user", "remove_user", "log_out", "restore")
"""Options that are done without making or opening the project, and then nothing else."""


def with_former_options(command: Command) -> Command:
    """Add the options of 0.2.0, those of the verbs among them, hidden."""
    options = [option for option, _ in FORMER.values()] + [click.Option(["--lead"], is_flag=True)]
    options += [one for _, verb in FORMER.values() for one in verb.params if isinstance(one, click.Option)]
    known = {text for parameter in command.params for text in parameter.opts}
    for option in options:
        if known.isdisjoint(option.opts):
            known.update(option.opts)
            hidden = copy(option)
            hidden.hidden, hidden.required = True, False
            command.params.append(hidden)
    return command


@with_former_options
@click.command(
    cls=Command,
    opens=dict.fromkeys(("topics", "pool", "suggest", "elements"), WRITES)
    | {name: verb.opens for name, (_, verb) in FORMER.items()},
)
@click.argument("project")
@begin_options
@click.option("--no-serve", is_flag=True, help="Make the project, or add to it, and exit.")
@click.option("--assessor", metavar="NAME", help="Who assesses, on this machine; by default who is logged in.")
@click.option("--suggest", metavar="MODEL", help="Show what this model highlighted as suggestions; none: no longer.")
@click.option("--users", metavar="FILE", help="Named assessors with passwords, for a network.")
@address_options
@click.option("--backup-to", metavar="DIR", help="Keep the server's backups here instead of in PROJECT/backups.")
@click.pass_context
def assess(ctx: click.Context, /, project: str, **options: Any) -> None:
    r"""Assess pooled documents in the browser: highlight what is relevant, get a recall base.

    Everything is kept in the folder PROJECT; the collection and the topics are needed once, and an index again when
    it has moved. The link that is printed opens the server; nobody else gets in. 'focuseval project' does everything
    else: exports and archives, users, agreement, progress, checks and backups.

    \b
    Examples:
      focuseval assess sea --index sea.idx --topics topics.xml --pool pool.jsonl
      focuseval assess sea
      focuseval assess sea --pool more.jsonl --no-serve
      focuseval assess sea --suggest model:llama3.1:8b
      focuseval assess old --docs articles --topics topics.xml --pool pool.jsonl --scale inex2003
      focuseval assess sea --users people --host 0.0.0.0 --name judge.example.org
      focuseval assess sea --users people --name judge.example.org --trusted-proxy 127.0.0.1
      focuseval project --help
    """
    for option, mode in (("anonymous", "archive"), ("against", "check")):
        if options[option] and not options[mode]:
            raise click.UsageError(f"--{option} goes with --{mode}")
    former = [name for name in FORMER if options[name]]
    without = [name for name in former if name in UNOPENED]
    new = any(options[name] for name in ("topics", "pool", "exhaustivity", "scale", "elements")) and not (
        without or options["source"]
    )
    if new or not former:
        with closing(open_project(project, actor=my_name(options), **begun(options))) as opened:
            if options["suggest"]:
                suggest_by(opened.store, options["suggest"], actor=my_name(options))
            if not former and not options["no_serve"]:
                _serve(opened, options, my_name(options))
    options["role"] = "lead" if options["lead"] else options["role"]
    for name in without or former:
        if name == "stability" and options["agreement"]:  # which has the order of the runs among the rest
            continue
        (former_option, verb), value = FORMER[name], options["stability" if name == "agreement" else name]
        flag, group = former_option.opts[0], "users " if verb in users_verbs.users.commands.values() else ""
        values = value if isinstance(value, tuple) else () if value in (True, NEWEST) else (value,)
        before = flag if name == "agreement" else " ".join(f"{flag} {value}" for value in values) or flag
        after = " ".join((f"{group}{verb.name}", project, *values))
        click.echo(f"note: 'focuseval assess {project} {before}' is now 'focuseval project {after}'", err=True)
        for one in verb.params:
            if isinstance(one, click.Option) and one.required and not options[one.name or ""]:
                raise AssessError(f"expected {one.opts[0]} {one.metavar}: {one.help}")
        arguments = {one.name or "": one for one in verb.params if isinstance(one, click.Argument)}
        own = {name: values if one.nargs < 0 else next(iter(values), None) for name, one in arguments.items()}
        ctx.invoke(verb, **(options | own | {"project": project}))


def _serve(project: Project, options: dict[str, Any], me: str) -> None:
    """Serve the project until Ctrl-C, with a backup now and from time to time; one server at a time."""
    from focuseval.assessment.web import Access, create_app  # noqa: PLC0415  Flask takes .2 s to load
    from focuseval.assessment.web.serve import Server, bind, names_of  # noqa: PLC0415  as above

    key = secret(project.folder)
    refusal = f"{project.folder}: another server serves this project; use that one, or end it"
    with held(project.folder / "secret", alone=True, refusal=refusal):
        users = _users(options["users"]) if options["users"] else None
        if users is None and options["host"] not in ("127.0.0.1", "localhost"):
            remedy = "make them with 'focuseval project users add PROJECT NAME --users FILE'"
            raise AssessError(f"a network needs named assessors; {remedy}")
        for name in users if users is not None else [me]:
            if users is None or users[name].role != "reader":
                register(project.store, Assessor(name))
            if users is not None:
                know_role(project.store, name, users[name].role)
        for path in (*project.folder.glob(f"{DATABASE}*"), *(project.folder / FOLDER).glob("*.db")):
            with suppress(OSError):
                path.chmod(0o600)  # an older version wrote them for all to read
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
        page = "login" if users is not None else f"enter?token={access.token}"
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # systemd's signal does what Ctrl-C does
        try:
            for link in printed_links(options, port, page):
                click.echo(f"Open {link}")
            if users is not None and not any(user.role == "lead" for user in users.values()):
                token = invite_first_lead(project.store, actor=me)
                click.echo("There is no lead yet. With this link, once, you become one:", err=True)
                click.echo(f"Open {printed_links(options, port, f'invited?token={token}')[0]}")
            app.extensions["focuseval"].overview.rows()  # so that the lead's first look need not read the whole log
            app.extensions["focuseval"].shared.documents()
            click.echo(f"{server.note}Ctrl-C ends the server; everything is saved as it is done.", err=True)
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
