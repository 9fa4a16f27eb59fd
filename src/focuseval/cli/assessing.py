"""What ``focuseval assess`` can be asked for, one function each."""

from __future__ import annotations

import getpass
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.judged import WHOSE, is_archive
from focuseval.errors import AssessError, counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from focuseval.assessment.project import Project
    from focuseval.data.tables import Table

Options = dict[str, Any]


def assess_project(folder: str, options: Options) -> None:
    """Do what the options ask for; without a particular wish, serve."""
    options["role"] = options["role"] or ("lead" if options["lead"] else "assessor")
    if options["anonymous"] and not options["archive"]:
        raise click.UsageError("--anonymous goes with --archive FILE")
    if options["against"] and not options["check"]:
        raise click.UsageError("--against FILE goes with --check")
    unopened = [name for name, _ in _UNOPENED if options[name]]
    for name, act in _UNOPENED:
        if name in unopened:
            act(Path(folder), options)
    if unopened:
        return
    from focuseval.assessment.project import open_project  # noqa: PLC0415  help must not wait for it

    if options["source"] and is_archive(options["source"]):
        from focuseval.cli.assess_campaign import import_archive  # noqa: PLC0415  only an archive needs it

        import_archive(folder, options)
        return
    given = {name: options[name] for name in ("topics", "pool", "exhaustivity")}
    collection = options["index"] or options["docs"]
    actor = None if options["source"] else my_name(options)  # an export of everything has the wording in its own events
    with closing(open_project(folder, collection=collection, actor=actor, **given)) as project:
        wishes = [(name, do) for name, do in _WISHES if options[name]]
        with project.store.database.translated("nothing more was done"):
            for _, do in wishes:
                do(project, options)
        if not wishes:
            from focuseval.cli.assess_serving import serve  # noqa: PLC0415  only a server needs it

            serve(project, options, my_name(options))


def _check(project: Project, options: Options) -> None:
    from focuseval.assessment.check import check_project  # noqa: PLC0415  only a check needs it

    against = Path(options["against"]) if options["against"] else None
    checked = check_project(project.store, project.documents.get, against)
    for line in (*checked.remarks, *checked.defects):
        click.echo(line, err=True)
    click.echo(str(checked))
    if checked.defects:
        raise AssessError(f"{project.folder}: {counted(len(checked.defects), 'defect')}; see the lines above")


def _import(project: Project, options: Options) -> None:
    from focuseval.assessment.exchange import import_everything, import_judgements  # noqa: PLC0415  only an import does

    try:
        lines = Path(options["source"]).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AssessError(f"{options['source']}: expected lines of JSON, found: {error}") from error
    if lines and lines[0].startswith('{"focuseval": "assessments"'):
        count = import_everything(project.store, lines, file=options["source"])
        click.echo(f"{count} events", err=True)
        return
    name, file = options["assessor"] or "", Path(options["source"]).name
    topics = {topic.id for topic in project.topics}
    documents, actor = project.documents.get, my_name({})
    told = import_judgements(project.store, lines, documents, topics=topics, actor=actor, assessor=name, file=file)
    click.echo(str(told), err=True)


def _export(project: Project, options: Options) -> None:
    from focuseval.assessment.exchange import export_everything  # noqa: PLC0415  only an export needs these
    from focuseval.assessment.golds import Whose, export_gold  # noqa: PLC0415  only an export needs these
    from focuseval.formats.output import write_whole  # noqa: PLC0415

    target = Path(options["export"])
    if options["wanted"] == "everything":
        with project.store.database.snapshot():
            write_whole(target, (line.encode() for line in export_everything(project.store)))
        return
    whose = Whose(**{name: options[name] for name in WHOSE})
    store, documents, queries = project.store, project.documents, project.queries
    for remark in export_gold(store, documents, target, options["wanted"], whose=whose, queries=queries):
        click.echo(remark, err=True)


def _split(project: Project, options: Options) -> None:
    from focuseval.assessment.plan import give_known, pool, split  # noqa: PLC0415  only a split needs these

    names = [name.strip() for name in (options["among"] or "").split(",") if name.strip()]
    if not names:
        raise AssessError("expected --among NAME,NAME…: the assessors to deal out to")
    split(project.store, names, by=options["split"], overlap=options["overlap"], actor=my_name(options))
    give_known(project.store, actor=my_name(options))
    for name in names:
        click.echo(f"{name}: {len(pool(project.store, name))} documents")


def _agreement(project: Project, options: Options) -> None:
    from focuseval.cli.agreeing import show_agreement  # noqa: PLC0415  only this needs it

    show_agreement(project, options)


def _stability(project: Project, options: Options) -> None:
    if options["agreement"]:  # which has the order of these runs among the rest
        return
    from focuseval.assessment.stability import project_stability  # noqa: PLC0415  only this needs it
    from focuseval.data.tables import Table, numbers, words  # noqa: PLC0415

    swaps = project_stability(project.store, project.documents, list(options["stability"]), options["measure"])
    columns = (*words("judged by", "and by"), *numbers("documents", form=".0f"), *numbers("τ", form=".3f"))
    rows = tuple((swap.left, swap.right, swap.documents, swap.tau) for swap in swaps)
    note = "Two assessors are compared over the documents that both finished; – where nothing can be compared."
    show_table(Table("Stability of the ranking of runs", columns, rows, (note,)), options)


def show_table(table: Table, options: Options) -> None:
    """Print a table in the layout asked for."""
    from focuseval.cli.printing import json_text, tables_text  # noqa: PLC0415  only tables need it

    json = options["layout"] == "json"
    click.echo(json_text(table.to_json()) if json else tables_text([table], {"output": None, **options}), nl=False)


def _restore(folder: Path, options: Options) -> None:
    from focuseval.assessment.backup import restore  # noqa: PLC0415  only this needs it
    from focuseval.cli.assess import NEWEST  # noqa: PLC0415  the command imports this module

    backup = None if options["restore"] == NEWEST else Path(options["restore"])
    others = (Path(options["backup_to"]),) if options["backup_to"] else ()
    click.echo(str(restore(folder, backup, folders=others, actor=my_name(options))), err=True)


def _log_out(folder: Path, options: Options) -> None:
    from focuseval.assessment.project import is_project  # noqa: PLC0415  only this needs these
    from focuseval.assessment.sessions import FILE, Sessions  # noqa: PLC0415

    if not is_project(folder):
        raise AssessError(f"{folder}: expected a project, found none")
    Sessions(folder / FILE).revoke(options["log_out"])
    _note(folder, "log out", options["log_out"])
    click.echo(f"{options['log_out']}: every session has ended", err=True)


def _remove_user(folder: Path, options: Options) -> None:
    from focuseval.assessment.users import remove_user  # noqa: PLC0415  only this needs it

    remove_user(users_file(options), options["remove_user"])
    _note(folder, "remove", options["remove_user"])
    click.echo(f"{options['users']}: {options['remove_user']} may not log in any more", err=True)


def users_file(options: Options) -> str:
    """Return the file with the users, which has to be named."""
    if not options["users"]:
        raise AssessError("expected --users FILE, the file with the users")
    file: str = options["users"]
    return file


def _add_user(folder: Path, options: Options) -> None:
    from focuseval.assessment.users import add_user  # noqa: PLC0415  only this needs it

    users_file(options)
    hidden = sys.stdin.isatty()  # what a pipe sends is not echoed anyway
    password = click.prompt("Password", hide_input=hidden, confirmation_prompt=True, err=True)
    role = options["role"]
    add_user(options["users"], options["add_user"], password, role=role)
    _note(folder, "add", options["add_user"])
    click.echo(f"{options['users']}: {options['add_user']} may log in as {role}", err=True)


def _note(folder: Path, did: str, name: str) -> None:
    """Write to the project's log what was done to its users, if the project is there already."""
    from focuseval.assessment.project import is_project, open_judgements  # noqa: PLC0415
    from focuseval.assessment.users import note_people  # noqa: PLC0415  only this needs these

    if is_project(folder):
        with open_judgements(folder) as store:
            note_people(store, did, name, actor=my_name({}))


def my_name(options: Options) -> str:
    """Return whose name stands in the log."""
    name: str = options.get("assessor") or getpass.getuser()
    return name


_UNOPENED = (("add_user", _add_user), ("remove_user", _remove_user), ("log_out", _log_out), ("restore", _restore))
"""Option → what to do without opening the project."""


def _campaign(name: str) -> Callable[[Project, Options], None]:
    """Return a function of `assess_campaign`, which is imported when it is asked for."""

    def act(project: Project, options: Options) -> None:
        from focuseval.cli import assess_campaign  # noqa: PLC0415  help must not wait for it

        getattr(assess_campaign, name)(project, options)

    return act


_WISHES = (
    ("source", _import),
    ("add_runs", _campaign("add_runs")),
    ("guidelines", _campaign("set_guidelines")),
    ("split", _split),
    ("invite", _campaign("invite_user")),
    ("reanchor", _campaign("move_judgements")),
    ("check", _check),
    ("export", _export),
    ("archive", _campaign("archive")),
    ("progress", _campaign("progress")),
    ("agreement", _agreement),
    ("stability", _stability),
)
"""Option → what to do; several are done in this order."""
