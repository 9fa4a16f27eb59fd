"""``focuseval project VERB PROJECT``: everything about an assessment project but serving it, one function a verb."""

from __future__ import annotations

import getpass
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.assessment.archive import changed_documents, named_after, open_archive, topics_of, write_archive
from focuseval.assessment.backup import restore as restore_backup
from focuseval.assessment.check import check_project
from focuseval.assessment.exchange import export_everything, import_everything, import_judgements
from focuseval.assessment.files import lines_of
from focuseval.assessment.golds import Whose, export_gold
from focuseval.assessment.growth import add_pool, grown, keep_run
from focuseval.assessment.models.agreement_page import render_agreement
from focuseval.assessment.models.trust import project_trust, tables
from focuseval.assessment.plan import assessors, give_known, pool, record
from focuseval.assessment.plan import split as split_pool
from focuseval.assessment.progress import Overview, summed
from focuseval.assessment.project import check_pool, is_project, open_judgements, open_project
from focuseval.assessment.reanchor import reanchor_all
from focuseval.assessment.sessions import FILE, Sessions
from focuseval.assessment.stability import project_stability
from focuseval.assessment.users import add_user, note_people, remove_user
from focuseval.assessment.users import invite as invite_user
from focuseval.assessment.wording import guidelines as guidelines_of
from focuseval.assessment.wording import write_guidelines
from focuseval.cli.golds import is_archive
from focuseval.cli.options import GRIDS, MERGES, WHOSE, collection_options, combined, layout_option, whose_options
from focuseval.cli.output import READS, WRITES, Command, echo_lines, json_text, say_written, tables_text, write_text
from focuseval.data.tables import Table, numbers, words
from focuseval.errors import AssessError, counted
from focuseval.formats.content import write_whole
from focuseval.formats.files import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from focuseval.assessment.project import Project

EXPORTS = ("everything", "gold-jsonl", "inex-2005", "inex-2008", "trec-qrels")
ROLES = ("assessor", "lead", "reader")


class Verbs(click.Group):
    """A group whose help lists its commands in the order of this file, each with the first sentence of its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names in their own order."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  as above
        """Write names and first sentences."""
        with formatter.section("Verbs"):
            rows = [(name, (verb.help or "").partition("\n\n")[0]) for name, verb in self.commands.items()]
            formatter.write_dl([(name, " ".join(text.split()).removesuffix(".")) for name, text in rows])


@click.group(cls=Verbs, subcommand_metavar="VERB PROJECT …")
def project() -> None:
    r"""Work on an assessment project: judgements in and out, users, runs, agreement, progress, checks, backups.

    'focuseval assess PROJECT' makes the project and serves it; all verbs but restore may be used while the server runs.

    \b
    Examples:
      focuseval project export sea gold.jsonl --to gold-jsonl --merge union
      focuseval project users add sea ann --users people
      focuseval project check sea
    """


def verb(name: str, opens: str, group: click.Group = project) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a function a verb, whose first argument is the project."""

    def decorate(function: Callable[..., Any]) -> Command:
        command = click.command(name, cls=Command, opens=opens)(click.argument("project")(function))
        group.add_command(command)
        return command

    return decorate


begin_options = combined(
    collection_options,
    click.option("--topics", metavar="FILE", help="Topics or questions, as for 'focuseval retrieve'; needed once."),
    click.option("--pool", metavar="POOL", help="Documents to judge, made by 'focuseval pool'; later ones top up."),
    click.option("--exhaustivity", is_flag=True, help="2005 mode: grade elements 2, 1 or ? in a second pass."),
)


def begun(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `open_project` that `begin_options` name."""
    given = {name: options[name] for name in ("topics", "pool", "exhaustivity")}
    return {"collection": options["index"] or options["docs"], **given}


actor_option = click.option("--actor", metavar="NAME", help="Whose name stands in the log, if not your own.")


def my_name(options: dict[str, Any]) -> str:
    """Return whose name stands in the log: as the option says, or who assesses by 'focuseval assess', or who calls."""
    name: str = options.get("actor") or options.get("assessor") or getpass.getuser()
    return name


@contextmanager
def _opened(folder: str, options: dict[str, Any]) -> Iterator[Project]:
    """Open a project that exists; a collection that has moved may be named again."""
    if not (Path(folder) / "project.json").is_file() and not is_project(folder):
        raise AssessError(f"{folder}: expected a project, found none; begin one with 'focuseval assess'")
    collection = options["index"] or options["docs"]
    with (
        closing(open_project(folder, collection=collection, actor=my_name(options))) as opened,
        opened.store.database.translated("nothing more was done"),
    ):
        yield opened


def _print_table(table: Table, options: dict[str, Any]) -> None:
    """Print a table in the layout that is chosen."""
    plain = options["layout"] == "json"
    click.echo(json_text(table.to_json()) if plain else tables_text([table], {"output": None, **options}), nl=False)


@verb("export", READS)
@click.argument("target", metavar="FILE")
@click.option("--to", "wanted", type=click.Choice(EXPORTS), default=EXPORTS[0], help="Format of FILE.")
@whose_options("")
@collection_options
def export(project: str, target: str, **options: Any) -> None:
    r"""Write judgements to FILE: a gold, or everything there is, events included.

    'focuseval project import' makes the same project again from everything.

    \b
    Examples:
      focuseval project export sea everything.jsonl
      focuseval project export sea gold.jsonl --to gold-jsonl --merge union
      focuseval project export sea qrels.txt --to inex-2008 --assessor ann
    """
    with _opened(project, options) as opened:
        if options["wanted"] == EXPORTS[0]:
            with opened.store.database.snapshot():
                write_whole(target, (line.encode() for line in export_everything(opened.store)))
            return
        whose = Whose(**{name: options[name] for name in WHOSE})
        store, documents, queries = opened.store, opened.documents, opened.queries
        echo_lines(export_gold(store, documents, Path(target), options["wanted"], whose=whose, queries=queries))


@verb("import", WRITES)
@click.argument("source", metavar="FILE")
@click.option("--assessor", metavar="NAME", help="Whose judgements they are, where FILE does not say.")
@begin_options
def import_file(project: str, source: str, **options: Any) -> None:
    r"""Read an archive, an export of everything, or judgements made elsewhere.

    An archive and an export of everything become a new project, which needs the collection.

    \b
    Examples:
      focuseval project import sea answers.jsonl --assessor model-x
      focuseval project import again sea.zip --docs articles
      focuseval project import copy everything.jsonl --docs articles --topics topics.xml
    """
    if is_archive(source):
        archived = open_archive(source)
        lines = archived.lines("judgements.jsonl")
        archived.hashes()  # what cannot be read is refused before anything is made
        with tempfile.TemporaryDirectory() as scratch, named_after(archived, scratch):
            own = {"topics": options["topics"] or str(topics_of(archived, Path(scratch))), "pool": None}
            own["exhaustivity"] = bool(archived.manifest.get("exhaustivity"))
            with closing(open_project(project, **(begun(options) | own))) as opened:
                count = import_everything(opened.store, lines, file=f"{source}: judgements.jsonl")
                other = changed_documents(archived, opened.documents.index)
        click.echo(f"{count} events", err=True)
        if other:
            what = f"{len(other)} documents read otherwise than when they were judged"
            click.echo(f"{what}, the first is {other[0]}", err=True)
        return
    with (  # without an actor: an export of everything has the wording of topics in its own events
        closing(open_project(project, **begun(options))) as opened,
        opened.store.database.translated("nothing more was done"),
    ):
        try:
            lines = lines_of(Path(source).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise AssessError(f"{source}: expected lines of JSON, found: {error}") from error
        if lines and lines[0].startswith('{"focuseval": "assessments"'):
            count = import_everything(opened.store, lines, file=source)
            click.echo(f"{count} events", err=True)
            return
        name, file, actor = options["assessor"] or "", Path(source).name, getpass.getuser()
        ids, documents = {topic.id for topic in opened.topics}, opened.documents.get
        stored = import_judgements(opened.store, lines, documents, topics=ids, actor=actor, assessor=name, file=file)
        click.echo(str(stored), err=True)


@verb("archive", READS)
@click.argument("target", metavar="FILE")
@click.option(
    "--merge", type=click.Choice(MERGES), help="How the gold of several assessors is merged.  [default: union]"
)
@click.option("--imported", is_flag=True, help="Also use imported assessors.")
@click.option("--anonymous", is_flag=True, help="Call people a1, a2 … instead of by their names.")
@collection_options
def archive(project: str, target: str, **options: Any) -> None:
    r"""Write the finished collection as one .zip to publish.

    \b
    Examples:
      focuseval project archive sea sea.zip
      focuseval project archive sea sea.zip --merge majority --anonymous
    """
    with _opened(project, options) as opened:
        rule, imported, anonymous = options["merge"] or "union", options["imported"], options["anonymous"]
        how = {"rule": rule, "imported": imported, "anonymous": anonymous}
        echo_lines(write_archive(opened.store, opened.documents, opened.topics, Path(target), **how))
    click.echo(f"{target}: score against it with 'focuseval score {target} RUN --docs DOCS'", err=True)


@verb("split", WRITES)
@click.argument("by", type=click.Choice(["topics", "pool"]))
@click.option("--among", required=True, metavar="NAMES", help="Assessors, separated by commas.")
@click.option("--overlap", type=click.IntRange(1), default=1, help="How many assessors get each.")
@actor_option
@collection_options
def split(project: str, by: str, **options: Any) -> None:
    r"""Deal out topics, or the documents of the pool, among assessors.

    \b
    Examples:
      focuseval project split sea topics --among ann,bob
      focuseval project split sea pool --among ann,bob,cy --overlap 2
    """
    names = [name.strip() for name in options["among"].split(",") if name.strip()]
    if not names:
        raise AssessError("expected --among NAME,NAME…: the assessors to deal out to")
    with _opened(project, options) as opened:
        split_pool(opened.store, names, by=by, overlap=options["overlap"], actor=my_name(options))
        give_known(opened.store, actor=my_name(options))
        for name in names:
            click.echo(f"{name}: {len(pool(opened.store, name))} documents")


@verb("add-run", WRITES)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--depth", type=click.IntRange(1), default=10, help="How deep the runs are pooled.")
@click.option("--preview", is_flag=True, help="Only say what would be added.")
@layout_option(*GRIDS, what="How the documents to judge are printed.")
@actor_option
@collection_options
def add_run(project: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Pool more runs: their documents come behind those that are in the pool already.

    \b
    Examples:
      focuseval project add-run sea new.xml --depth 20 --preview
      focuseval project add-run sea new.xml other.xml --depth 20
    """
    with _opened(project, options) as opened:
        index, paths = opened.documents.index, [Path(run) for run in runs]
        after, rows = grown(opened.store, [read_run(path, index=index) for path in paths], depth=options["depth"])
        check_pool(after, {topic.id for topic in opened.topics}, opened.documents, ", ".join(runs))
        columns = (*words("topic"), *numbers("in the pool", "judged", "returned", "of these judged", "new", form=".0f"))
        cells = tuple((row.topic, row.pooled, row.judged, row.returned, row.judged_returned, row.fresh) for row in rows)
        more = counted(sum(row.fresh for row in rows), "more document")
        _print_table(Table(f"To depth {options['depth']}: {more} to judge", columns, cells), options)
        if options["preview"]:
            return
        for path in paths:
            kept = keep_run(opened.folder, path.name, path.read_bytes(), index=index)
            record(opened.store, {"kind": "run", "did": "keep", "file": kept.name}, actor=my_name(options))
        count = add_pool(opened.store, after, actor=my_name(options))
    click.echo(f"{counted(count, 'document')} added to the pool", err=True)


@project.group(cls=Verbs, subcommand_metavar="VERB PROJECT …")
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
    "--users", required=True, metavar="FILE", help="Named assessors with passwords, as 'focuseval assess' reads them."
)
role_option = click.option("--role", type=click.Choice(ROLES), default=ROLES[0], help="Judge, also lead, or only look.")
address_options = combined(
    click.option("--host", default="127.0.0.1", help="Address to listen on."),
    click.option("--port", type=click.IntRange(0, 65535), default=8475, help="0 takes a free one."),
    click.option("--name", "names", multiple=True, help="Name by which browsers reach the server; may be repeated."),
    click.option(
        "--trusted-proxy", metavar="ADDRESS", help="Take the sender's address and HTTPS from this proxy's word."
    ),
)


def _note_user(folder: str, did: str, name: str) -> None:
    """Write to the project's log what was done to its users, if the project is there already."""
    if is_project(folder):
        with open_judgements(Path(folder)) as store:
            note_people(store, did, name, actor=getpass.getuser())


@verb("add", WRITES, users)
@click.argument("name")
@users_option
@role_option
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


@verb("remove", WRITES, users)
@click.argument("name")
@users_option
def remove(project: str, name: str, users: str, **_: Any) -> None:
    r"""Take a user out of the file; judgements stay.

    \b
    Examples:
      focuseval project users remove sea ann --users people
    """
    remove_user(users, name)
    _note_user(project, "remove", name)
    click.echo(f"{users}: {name} may not log in any more", err=True)


@verb("invite", WRITES, users)
@click.argument("name")
@users_option
@role_option
@address_options
@actor_option
def invite(project: str, name: str, role: str, **options: Any) -> None:
    r"""Print a link with which somebody chooses a password; it works once.

    \b
    Examples:
      focuseval project users invite sea lea --users people --role lead
      focuseval project users invite sea ann --users people --name judge.example.org --trusted-proxy 127.0.0.1
    """
    if not is_project(project):
        raise AssessError(f"{project}: expected a project, found none; begin one with 'focuseval assess'")
    with open_judgements(Path(project)) as store, store.database.translated("nothing more was done"):
        token = invite_user(store, name, role, actor=my_name(options))
    for link in printed_links(options, options["port"], f"invited?token={token}"):
        click.echo(link)
    click.echo(f"{name} comes in as {role} with this link, once, within two weeks", err=True)


def printed_links(options: dict[str, Any], port: int, path: str) -> list[str]:
    """Return the addresses to print; behind a proxy the names are the proxy's, which speaks HTTPS."""
    from focuseval.assessment.web.serve import links  # noqa: PLC0415  loads a server, for two commands of many

    if options["trusted_proxy"] and options["names"]:
        return [f"https://{name}/{path}" for name in options["names"]]
    return links(options["host"], port, options["names"], path)


@verb("log-out", WRITES, users)
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


measure_option = click.option("-m", "--measure", default="MAgP", help="Measure by which runs are ranked.")


@verb("agreement", READS)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@measure_option
@layout_option(*GRIDS, what="How the agreement is printed.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file; a page if it ends in .html.")
@collection_options
def agreement(project: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Say how far assessors agree; with RUNs also whether the runs keep their order.

    \b
    Examples:
      focuseval project agreement sea
      focuseval project agreement sea run1.xml run2.xml -m MAgP -o agreement.html
    """
    output = options["output"]
    with _opened(project, options) as opened:
        read = [read_run(path, index=opened.documents.index) for path in runs]
        trust = project_trust(opened, read, options["measure"])
    if output and Path(output).suffix.lower() in (".html", ".htm"):
        text = render_agreement(trust, f"Agreement in {Path(project).resolve().name}")
    elif options["layout"] == "json":
        text = json_text(trust.to_json())
    else:
        text = tables_text(tables(trust), options)
    write_text(text, output)
    if output:
        say_written(output, f"the agreement of {len(trust.assessors)} assessors")


@verb("stability", READS)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option
@layout_option(*GRIDS, what="How the correlations are printed.")
@collection_options
def stability(project: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Rank RUNs with other assessors and depths: to see whether the ranking holds.

    \b
    Examples:
      focuseval project stability sea run1.xml run2.xml run3.xml -m MAgP
    """
    with _opened(project, options) as opened:
        swaps = project_stability(opened.store, opened.documents, list(runs), options["measure"])
    columns = (*words("judged by", "and by"), *numbers("documents", form=".0f"), *numbers("τ", form=".3f"))
    rows = tuple((swap.left, swap.right, swap.documents, swap.tau) for swap in swaps)
    note = "Two assessors are compared over the documents that both finished; – where nothing can be compared."
    _print_table(Table("Stability of the ranking of runs", columns, rows, (note,)), options)


@verb("progress", READS)
@layout_option(*GRIDS, what="How the progress is printed.")
@collection_options
def progress(project: str, **options: Any) -> None:
    r"""Print what every assessor has done and has to do.

    \b
    Examples:
      focuseval project progress sea
      focuseval project progress sea --json
    """
    with _opened(project, options) as opened:
        overview = Overview(opened.store)
        labels = {one.name: one.label for one in assessors(opened.store)}
        counts = ("documents", "to do", "in progress", "done", "skipped", "flagged", "disagreed", "seconds a document")
        columns = (*words("assessor"), *numbers(*counts, form=".0f"), *words("last edit (UTC)"))
        rows = tuple(
            (
                labels.get(row.assessor, row.assessor),
                *(row.total, row.todo, row.in_progress, row.done, row.skipped, row.flagged, row.disagreed),
                row.per_document,
                overview.pace.last.get(row.assessor, "")[:16].replace("T", " "),
            )
            for row in summed(overview.rows(), "assessor")
        )
    _print_table(Table("Progress", columns, rows), options)


@verb("check", READS)
@click.option("--against", metavar="FILE", help="Every event of this export, archive or backup must be in the log.")
@collection_options
def check(project: str, **options: Any) -> None:
    r"""Verify the file, the log, every quote and the newest backup.

    \b
    Examples:
      focuseval project check sea
      focuseval project check sea --against everything.jsonl
    """
    against = Path(options["against"]) if options["against"] else None
    with _opened(project, options) as opened:
        checked = check_project(opened.store, opened.documents.get, against)
    echo_lines((*checked.remarks, *checked.defects))
    click.echo(str(checked))
    if checked.defects:
        raise AssessError(f"{project}: {counted(len(checked.defects), 'defect')}; see the lines above")


@verb("restore", WRITES)
@click.argument("backup", required=False)
@click.option("--backup-to", metavar="DIR", help="Where the server keeps its backups, if not in PROJECT/backups.")
@actor_option
def restore(project: str, backup: str | None, **options: Any) -> None:
    r"""Put back a backup, the newest without a name; what was there is kept. Not while a server runs.

    \b
    Examples:
      focuseval project restore sea
      focuseval project restore sea sea/backups/20260401T120000.db
    """
    others = (Path(options["backup_to"]),) if options["backup_to"] else ()
    chosen = Path(backup) if backup else None
    click.echo(str(restore_backup(Path(project), chosen, folders=others, actor=my_name(options))), err=True)


@verb("guidelines", WRITES)
@click.argument("file")
@actor_option
@collection_options
def guidelines(project: str, file: str, **options: Any) -> None:
    r"""Take FILE, Markdown that every assessor reads, in place of the guidelines that are there.

    \b
    Examples:
      focuseval project guidelines sea guidelines.md
    """
    with _opened(project, options) as opened:
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise AssessError(f"{file}: expected Markdown, found: {error}") from error
        version = guidelines_of(opened.store).version
        after = write_guidelines(opened.store, text, version=version, actor=my_name(options))
    click.echo(f"guidelines: version {after.version}", err=True)


@verb("reanchor", WRITES)
@actor_option
@collection_options
def reanchor(project: str, **options: Any) -> None:
    r"""Move judgements to texts that changed, where every quote is found again.

    \b
    Examples:
      focuseval project reanchor sea
    """
    with _opened(project, options) as opened:
        moved, left = reanchor_all(opened.store, opened.documents.get, finished=False, actor=my_name(options))
    judgements = counted(moved, "judgement")
    click.echo(f"{judgements} moved to the new text, open again; {left} left to their assessors", err=True)
