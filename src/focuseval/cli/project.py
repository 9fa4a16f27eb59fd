"""``focuseval project VERB PROJECT``: everything about an assessment project but serving it, one function a verb.

The verbs of ``project users`` are in `focuseval.cli.project_users`.
"""

from __future__ import annotations

import getpass
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from focuseval.assessment import archive as archives
from focuseval.assessment import golds, plan
from focuseval.assessment.backup import restore as restore_backup
from focuseval.assessment.check import check_project, reanchor_all
from focuseval.assessment.exchange import export_everything, import_everything, import_judgements
from focuseval.assessment.models.judging import read_drafts, review_drafts
from focuseval.assessment.models.trust import project_trust, render_agreement, tables
from focuseval.assessment.pool import add_pool, grown, keep_run
from focuseval.assessment.progress import Overview, summed
from focuseval.assessment.project import SETTINGS, Project, check_pool, is_project, open_project, write_guidelines
from focuseval.assessment.project import guidelines as guidelines_of
from focuseval.assessment.rules import COVERAGE, EXHAUSTIVITY, PAIRS
from focuseval.assessment.sampling import draw_sample, sample_state
from focuseval.assessment.stability import project_stability
from focuseval.cli.options import MERGES, WHOSE, collection_options, combined, is_archive, layout_option, whose_options
from focuseval.cli.output import READS, WRITES, Verbs, echo_lines, is_page, say_written, write_results
from focuseval.cli.project_users import actor_option, my_name, users
from focuseval.data.fields import json_line, numbered_lines
from focuseval.data.tables import Table, numbers, words
from focuseval.errors import AssessError, counted
from focuseval.formats.content import write_whole
from focuseval.formats.files import read_run

EXPORTS = ("everything", *golds.EXPORTS)


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


SCALE_OF = {"inex2002": COVERAGE, "inex2003": PAIRS, "inex2005": EXHAUSTIVITY}
"""How a scale is named on the command line, after the first year that had it."""
SCALE = "Grade elements as in that year; highlights alone without it."
ELEMENTS = "filtered: judge and export no links, which INEX 2006 left out as too small; all: judge every element."
begin_options = combined(
    collection_options,
    click.option("--topics", metavar="FILE", help="Topics or questions, as for 'focuseval retrieve'; needed once."),
    click.option("--pool", metavar="POOL", help="Documents to judge, made by 'focuseval pool'; later ones top up."),
    click.option("--scale", type=click.Choice([*SCALE_OF]), help=SCALE),
    click.option("--exhaustivity", is_flag=True, hidden=True, help="--scale inex2005, as 0.2.0 had it."),
    click.option("--elements", type=click.Choice(SETTINGS["elements"]), help=ELEMENTS),
)


def begun(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `open_project` that `begin_options` name."""
    given = {name: options[name] for name in ("topics", "pool")}
    given["scale"] = SCALE_OF.get(options["scale"], EXHAUSTIVITY if options["exhaustivity"] else "")
    return {"collection": options["index"] or options["docs"], **given, "elements": options["elements"]}


@contextmanager
def _opened(folder: str, options: dict[str, Any], **how: Any) -> Iterator[Project]:
    """Open a project that exists, or begin one `how` it is said; a collection that has moved may be named again."""
    if not how and not (Path(folder) / "project.json").is_file() and not is_project(folder):
        raise AssessError(f"{folder}: expected a project, found none; begin one with 'focuseval assess'")
    how = how or {"collection": options["index"] or options["docs"], "actor": my_name(options)}
    with closing(open_project(folder, **how)) as opened, opened.store.database.translated("nothing more was done"):
        yield opened


def _print_table(table: Table, options: dict[str, Any]) -> None:
    """Print a table in the layout that is chosen."""
    write_results({"layout": options["layout"]}, table.to_json, lambda: [table])


@project.verb("export", READS, collection_options)
@click.argument("target", metavar="FILE")
@click.option("--to", "wanted", type=click.Choice(EXPORTS), default=EXPORTS[0], help="Format of FILE.")
@whose_options("")
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
                write_whole(target, export_everything(opened.store))
            return
        whose = golds.Whose(**{name: options[name] for name in WHOSE})
        store, documents, queries = opened.store, opened.documents, opened.queries
        remarks = golds.export_gold(store, documents, Path(target), options["wanted"], whose=whose, queries=queries)
        echo_lines(remark.sentence for remark in remarks)


@project.verb("import", WRITES, begin_options)
@click.argument("source", metavar="FILE")
@click.option("--assessor", metavar="NAME", help="Whose judgements they are, where FILE does not say.")
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
        archived = archives.open_archive(source)
        lines = numbered_lines(archived.text("judgements.jsonl"))
        archived.documents()  # what cannot be read is refused before anything is made
        with tempfile.TemporaryDirectory() as scratch, archives.named_after(archived, scratch):
            own = {"topics": options["topics"] or str(archives.topics_of(archived, Path(scratch)))}
            own |= {"pool": None, "scale": archived.scale}
            with closing(open_project(project, **(begun(options) | own))) as opened:
                count = import_everything(opened.store, lines, file=f"{source}: judgements.jsonl")
                runs = archives.keep_runs(archived, opened.folder, opened.documents.index)
                other = archives.changed_documents(archived, opened.documents.index)
        kept = f", {counted(runs, 'run')}" if runs else ""
        click.echo(f"{counted(count, 'event')}{kept}", err=True)
        if other:
            changed = counted(len(other), "document has", "documents have")
            click.echo(f"{changed} changed since the judgements were made; the first is {other[0]}", err=True)
        return
    # without an actor: an export of everything has the wording of topics in its own events
    with _opened(project, options, **begun(options)) as opened:
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise AssessError(f"{source}: expected lines of JSON, found: {error}") from error
        if text.startswith('{"focuseval": "assessments"'):
            count = import_everything(opened.store, numbered_lines(text), file=source)
            click.echo(counted(count, "event"), err=True)
            return
        whose = {"actor": getpass.getuser(), "assessor": options["assessor"] or "", "file": Path(source).name}
        ids, documents = {topic.id for topic in opened.topics}, opened.documents.get
        click.echo(str(import_judgements(opened.store, text, documents, topics=ids, **whose)), err=True)


@project.verb("archive", READS, collection_options)
@click.argument("target", metavar="FILE")
@click.option("--merge", type=click.Choice(MERGES), help="How people's judgements are merged.  [default: union]")
@click.option("--imported", is_flag=True, help="Also use imported assessors.")
@click.option("--anonymous", is_flag=True, help="Replace people's names by a1, a2 ….")
def archive(project: str, target: str, **options: Any) -> None:
    r"""Write the finished collection as one .zip to publish.

    \b
    Examples:
      focuseval project archive sea sea.zip
      focuseval project archive sea sea.zip --merge majority --anonymous
    """
    how = {"rule": options["merge"] or "union", "imported": options["imported"], "anonymous": options["anonymous"]}
    with _opened(project, options) as opened:
        echo_lines(archives.write_archive(opened.store, opened.documents, opened.topics, Path(target), **how))
    click.echo(f"{target}: score against it with 'focuseval score {target} RUN --docs DOCS'", err=True)


@project.verb("split", WRITES, actor_option, collection_options)
@click.argument("by", type=click.Choice(["topics", "pool", "authors"]))
@click.option("--among", required=True, metavar="NAMES", help="Assessors, separated by commas.")
@click.option("--overlap", type=click.IntRange(1), default=1, help="How many assessors get each.")
def split(project: str, by: str, **options: Any) -> None:
    r"""Divide topics, or the documents of the pool, among assessors.

    With 'authors' a topic goes to its author, the element or attribute 'author' of the topic, and the others in turn.

    \b
    Examples:
      focuseval project split sea topics --among ann,bob
      focuseval project split sea pool --among ann,bob,cy --overlap 2
      focuseval project split sea authors --among ann,bob,cy
    """
    names = [name.strip() for name in options["among"].split(",") if name.strip()]
    if not names:
        raise AssessError("expected --among NAME,NAME…: the assessors to divide among")
    with _opened(project, options) as opened:
        authors, overlap = plan.authors_of(opened.topics), options["overlap"]
        plan.split(opened.store, names, by=by, overlap=overlap, authors=authors, actor=my_name(options))
        plan.give_known(opened.store, actor=my_name(options))
        for name in names:
            click.echo(f"{name}: {counted(len(plan.pool(opened.store, name)), 'document')}")


@project.verb("sample", WRITES, actor_option, collection_options)
@click.argument("number", type=click.IntRange(1))
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed; equal seeds give equal samples.")
def sample(project: str, number: int, **options: Any) -> None:
    r"""Draw NUMBER topics at random for people to judge, in a random order; a larger NUMBER adds to them.

    The topics come first on every assessor's page, in this order. 'focuseval estimate PROJECT RUN... --model NAME' uses
    the longest finished beginning of it.

    \b
    Examples:
      focuseval project sample sea 20
      focuseval project sample sea 30
    """
    with _opened(project, options) as opened:
        topics = {topic.id for topic in opened.topics}
        order = draw_sample(opened.store, topics, number, seed=options["seed"], actor=my_name(options))
        state = sample_state(opened.store)
    for topic in order:
        click.echo(topic)
    done = f"{len(state.finished)} finished in this order, {state.waiting} more behind them"
    click.echo(f"{counted(len(order), 'sampled topic')}; {done}", err=True)


@project.verb("drafts", WRITES, actor_option, collection_options)
@click.argument("file")
@click.option("--assessor", required=True, metavar="NAME", help="Who reviews them.")
def drafts(project: str, file: str, **options: Any) -> None:
    r"""Lay the questions of 'focuseval draft' before an assessor; the project is made if there is none.

    Each draft is a topic with one document, its quotes highlighted. In the browser, finishing a document as relevant
    accepts the draft, skipping it rejects it, Shift+T edits its question, and highlights are changed as always.
    'focuseval project export' then writes the gold, which says of every topic that it was drafted and that its
    assessor saw suggestions.

    \b
    Examples:
      focuseval project drafts review drafts.jsonl --docs docs/ --assessor ann
      focuseval assess review --assessor ann
      focuseval project export review gold.jsonl --to gold-jsonl
    """
    lines = read_drafts(Path(file))
    collection, topics = options["index"] or options["docs"], None
    with tempfile.TemporaryDirectory() as scratch:
        if not is_project(project):
            topics = Path(scratch) / "topics.jsonl"
            topics.write_bytes(b"".join(json_line({"id": one["topic"], "query": one["query"]}) for one in lines))
        actor = my_name(options)
        begin = {"collection": collection, "topics": topics and str(topics), "actor": actor}
        with _opened(project, options, **begin) as opened:
            count = review_drafts(opened, lines, options["assessor"], actor=actor)
    serve = f"'focuseval assess {project} --assessor {options['assessor']}'"
    click.echo(f"{counted(count, 'draft')} to review: {serve}", err=True)


@project.verb("add-run", WRITES, actor_option, collection_options)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--depth", type=click.IntRange(1), default=10, help="How deep the runs are pooled.")
@click.option("--preview", is_flag=True, help="Only say what would be added.")
@layout_option(what="How the documents to judge are printed.")
def add_run(project: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Pool more runs: their documents are added behind those of the pool.

    \b
    Examples:
      focuseval project add-run sea new.xml --depth 20 --preview
      focuseval project add-run sea new.xml other.xml --depth 20
    """
    with _opened(project, options) as opened:
        index, paths = opened.documents.index, [*map(Path, runs)]
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
            plan.record(opened.store, {"kind": "run", "did": "keep", "file": kept.name}, actor=my_name(options))
        count = add_pool(opened.store, after, actor=my_name(options))
    click.echo(f"{counted(count, 'document')} added to the pool", err=True)


project.add_command(users)

measure_option = click.option("-m", "--measure", default="MAgP", help="Measure by which runs are ranked.")


@project.verb("agreement", READS, collection_options)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@measure_option
@layout_option(what="How the agreement is printed.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file; a page if it ends in .html.")
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
    title = f"Agreement in {Path(project).resolve().name}"
    page = partial(render_agreement, trust, title) if output and is_page(output) else None
    write_results(options, trust.to_json, lambda: tables(trust), text=page)
    if output:
        say_written(output, f"the agreement of {len(trust.assessors)} assessors")


@project.verb("stability", READS, collection_options)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option
@layout_option(what="How the correlations are printed.")
def stability(project: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Rank RUNs by each assessor's judgements and at several depths, to see whether the ranking holds.

    \b
    Examples:
      focuseval project stability sea run1.xml run2.xml run3.xml -m MAgP
    """
    with _opened(project, options) as opened:
        read = [read_run(path, index=opened.documents.index) for path in runs]
        swaps = project_stability(opened.store, opened.documents, read, options["measure"])
    columns = (*words("judged by", "and by"), *numbers("documents", form=".0f"), *numbers("τ", form=".3f"))
    rows = tuple((swap.left, swap.right, swap.documents, swap.tau) for swap in swaps)
    note = "Two assessors are compared over the documents that both finished; – where nothing can be compared."
    _print_table(Table("Stability of the ranking of runs", columns, rows, (note,)), options)


@project.verb("progress", READS, collection_options)
@layout_option(what="How the progress is printed.")
def progress(project: str, **options: Any) -> None:
    r"""Print what every assessor has done and has to do.

    \b
    Examples:
      focuseval project progress sea
      focuseval project progress sea --json
    """
    with _opened(project, options) as opened:
        overview = Overview(opened.store)
        names, apart = plan.labels(opened.store), plan.machines(opened.store)
        counts = ("documents", "to do", "in progress", "done", "skipped", "flagged", "disagreed", "seconds a document")
        columns = (*words("assessor"), *numbers(*counts, form=".0f"), *words("last edit (UTC)"))
        rows = []
        for row in sorted(summed(overview.rows(), "assessor"), key=lambda row: row.assessor in apart):
            done = (row.total, row.todo, row.in_progress, row.done, row.skipped, row.flagged, row.disagreed)
            last = overview.last.get(row.assessor, "")[:16].replace("T", " ")
            rows.append((names.get(row.assessor, row.assessor), *done, row.per_document, last))
    _print_table(Table("Progress", columns, tuple(rows)), options)


@project.verb("check", READS, collection_options)
@click.option("--against", metavar="FILE", help="Every event of this export, archive or backup must be in the log.")
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


@project.verb("restore", WRITES, actor_option)
@click.argument("backup", required=False)
@click.option("--backup-to", metavar="DIR", help="Where the server keeps its backups, if not in PROJECT/backups.")
def restore(project: str, backup: str | None, **options: Any) -> None:
    r"""Restore a backup, the newest if none is named; what it replaces is kept. Not while a server runs.

    \b
    Examples:
      focuseval project restore sea
      focuseval project restore sea sea/backups/20260401T120000.db
    """
    others = (Path(options["backup_to"]),) if options["backup_to"] else ()
    chosen = Path(backup) if backup else None
    click.echo(restore_backup(Path(project), chosen, folders=others, actor=my_name(options)), err=True)


@project.verb("guidelines", WRITES, actor_option, collection_options)
@click.argument("file")
def guidelines(project: str, file: str, **options: Any) -> None:
    r"""Replace the guidelines, which every assessor reads, by FILE, in Markdown.

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


@project.verb("reanchor", WRITES, actor_option, collection_options)
def reanchor(project: str, **options: Any) -> None:
    r"""Move judgements to texts that changed, where every quote is found again.

    \b
    Examples:
      focuseval project reanchor sea
    """
    with _opened(project, options) as opened:
        moved, left = reanchor_all(opened.store, opened.documents.get, finished=False, actor=my_name(options))
    judgements = counted(moved, "judgement")
    click.echo(f"{judgements} moved to the new text and reopened; {left} left to their assessors", err=True)
