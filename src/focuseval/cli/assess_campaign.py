"""What ``focuseval assess`` can be asked for by the lead of a campaign, one function each."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.assessing import my_name, show_table, users_file
from focuseval.errors import AssessError, counted

if TYPE_CHECKING:
    from focuseval.assessment.project import Project

Options = dict[str, Any]


def archive(project: Project, options: Options) -> None:
    """Write the finished collection as one file."""
    from focuseval.assessment.archive import write_archive  # noqa: PLC0415  only this needs it

    target = Path(options["archive"])
    rule = options["merge"] or "union"
    how = {"rule": rule, "imported": options["imported"], "anonymous": options["anonymous"]}
    for line in write_archive(project.store, project.documents, project.topics, target, **how):
        click.echo(line, err=True)
    click.echo(f"{target}: score against it with 'focuseval score {target} RUN --docs DOCS'", err=True)


def import_archive(folder: str, options: Options) -> None:
    """Make a project again from its archive."""
    from focuseval.assessment.archive import changed_documents, named_after, open_archive, topics_of  # noqa: PLC0415
    from focuseval.assessment.exchange import import_everything  # noqa: PLC0415
    from focuseval.assessment.project import open_project  # noqa: PLC0415  only an import needs these

    found = open_archive(options["source"])
    lines = found.lines("judgements.jsonl")
    found.hashes()  # what cannot be read is refused before anything is made
    with tempfile.TemporaryDirectory() as scratch, named_after(found, scratch):
        topics = options["topics"] or str(topics_of(found, Path(scratch)))
        given = {"collection": options["index"] or options["docs"], "topics": topics}
        exhaustivity = bool(found.manifest.get("exhaustivity"))
        with closing(open_project(folder, **given, exhaustivity=exhaustivity)) as project:
            count = import_everything(project.store, lines, file=f"{options['source']}: judgements.jsonl")
            other = changed_documents(found, project.documents.index)
    click.echo(f"{count} events", err=True)
    if other:
        click.echo(
            f"{len(other)} documents read otherwise than when they were judged, the first is {other[0]}", err=True
        )


def invite_user(project: Project, options: Options) -> None:
    """Print a link with which somebody becomes a user."""
    from focuseval.assessment.users import invite  # noqa: PLC0415  only this needs it
    from focuseval.cli.assess_serving import printed_links  # noqa: PLC0415

    users_file(options)
    token = invite(project.store, options["invite"], options["role"], actor=my_name(options))
    for link in printed_links(options, options["port"], f"invited?token={token}"):
        click.echo(link)
    click.echo(f"{options['invite']} comes in as {options['role']} with this link, once, within two weeks", err=True)


def add_runs(project: Project, options: Options) -> None:
    """Pool more runs, or say what they would add."""
    from focuseval.assessment.growth import add_pool, grown, keep_run  # noqa: PLC0415  only this needs these
    from focuseval.assessment.plan import record  # noqa: PLC0415
    from focuseval.assessment.project import check_pool  # noqa: PLC0415
    from focuseval.data.tables import Table, numbers, words  # noqa: PLC0415
    from focuseval.formats import read_run  # noqa: PLC0415

    index, paths = project.documents.index, [Path(path) for path in options["add_runs"]]
    runs = [read_run(path, index=index) for path in paths]
    after, rows = grown(project.store, runs, depth=options["depth"])
    check_pool(after, {topic.id for topic in project.topics}, project.documents, ", ".join(options["add_runs"]))
    columns = (*words("topic"), *numbers("in the pool", "judged", "returned", "of these judged", "new", form=".0f"))
    told = tuple((row.topic, row.pooled, row.judged, row.returned, row.judged_returned, row.fresh) for row in rows)
    fresh = sum(row.fresh for row in rows)
    title = f"To depth {options['depth']}: {counted(fresh, 'more document')} to judge"
    show_table(Table(title, columns, told), options)
    if options["preview"]:
        return
    for path in paths:
        kept = keep_run(project.folder, path.name, path.read_bytes(), index=index)
        record(project.store, {"kind": "run", "did": "keep", "file": kept.name}, actor=my_name(options))
    count = add_pool(project.store, after, actor=my_name(options))
    click.echo(f"{counted(count, 'document')} added to the pool", err=True)


def set_guidelines(project: Project, options: Options) -> None:
    """Take the guidelines from a file."""
    from focuseval.assessment.wording import guidelines, write_guidelines  # noqa: PLC0415  only this needs it

    try:
        text = Path(options["guidelines"]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AssessError(f"{options['guidelines']}: expected Markdown, found: {error}") from error
    version = guidelines(project.store).version
    after = write_guidelines(project.store, text, version=version, actor=my_name(options))
    click.echo(f"guidelines: version {after.version}", err=True)


def move_judgements(project: Project, options: Options) -> None:
    """Move judgements to texts that have changed."""
    from focuseval.assessment.reanchor import reanchor_all  # noqa: PLC0415  only this needs it

    moved, left = reanchor_all(project.store, project.documents.get, finished=False, actor=my_name(options))
    click.echo(
        f"{counted(moved, 'judgement')} moved to the new text, open again; {left} left to their assessors", err=True
    )


def progress(project: Project, options: Options) -> None:
    """Print what everybody has done."""
    from focuseval.assessment.plan import assessors  # noqa: PLC0415
    from focuseval.assessment.progress import Overview, summed  # noqa: PLC0415  only this needs these
    from focuseval.data.tables import Table, numbers, words  # noqa: PLC0415

    found = Overview(project.store)
    labels = {one.name: one.label for one in assessors(project.store)}
    counts = ("documents", "to do", "in progress", "done", "skipped", "flagged", "disagreed", "seconds a document")
    columns = (*words("assessor"), *numbers(*counts, form=".0f"), *words("last edit (UTC)"))
    rows = tuple(
        (
            labels.get(row.assessor, row.assessor),
            *(row.total, row.todo, row.in_progress, row.done, row.skipped, row.flagged, row.disagreed),
            row.per_document,
            found.pace.last.get(row.assessor, "")[:16].replace("T", " "),
        )
        for row in summed(found.rows(), "assessor")
    )
    show_table(Table("Progress", columns, rows), options)
