"""Gold from a file, or from the folder of an assessment project with its own collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.options import open_collection
from focuseval.engine.storage import is_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from focuseval.data.gold import Gold


MERGES = ("lead", "majority", "union", "intersection")
WHOSE = ("assessor", "adjudicated", "merge", "imported", "include")


def assessor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add how a gold is read: whose judgements of a project are meant, and whether documents may be unknown."""
    return whose_options(unknown_option(command))


def whose_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add whose judgements of a project are meant."""
    imported = "With --merge: also use imported assessors."
    command = click.option("--imported", is_flag=True, help=imported)(command)
    command = include_option(command)
    merge = "One gold from all assessors of a project: decisions, single judgements, else this rule."
    command = click.option("--merge", type=click.Choice(MERGES), help=merge)(command)
    adjudicated = "The decisions of the adjudication, when the gold is a project of 'focuseval assess'."
    command = click.option("--adjudicated", is_flag=True, help=adjudicated)(command)
    assessor = "Whose judgements, when the gold is a project of 'focuseval assess'."
    return click.option("--assessor", metavar="NAME", help=assessor)(command)


def unknown_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add whether the judged documents may be unknown to the collection."""
    said = "Continue although the index has almost none of the judged documents."
    return click.option("--allow-unknown", is_flag=True, help=said)(command)


def include_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--include``: whose judgements a merge uses besides people's."""
    include = "With --merge: also use this language model or imported assessor; may be repeated."
    return click.option("--include", multiple=True, metavar="NAME", help=include)(command)


def is_project(path: str) -> bool:
    """Whether a path is the folder of an assessment project."""
    return not is_url(path) and (Path(path) / "assess.db").is_file()


def is_archive(path: str) -> bool:
    """Whether a path is a finished collection, as 'focuseval assess --archive' writes it."""
    if Path(path).suffix.lower() != ".zip" or not Path(path).is_file():
        return False
    import zipfile  # noqa: PLC0415  only a file of that name needs it

    try:
        with zipfile.ZipFile(path) as archive:
            return "manifest.json" in archive.namelist() and "judgements.jsonl" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def read_judged(gold: str, options: dict[str, Any], *, graded: bool = False) -> tuple[Gold, Any]:
    """Return the gold and the collection: a project brings its own, unless ``--index`` or ``--docs`` names another."""
    index = open_collection(options)
    if is_project(gold):
        from focuseval.assessment.golds import Whose, read_project  # noqa: PLC0415  only a project needs it

        whose = Whose(**{name: options[name] for name in WHOSE})
        return read_project(gold, whose, index=index, graded=graded)  # its documents are those of its collection
    refuse_assessor(gold, options)
    if is_archive(gold):
        from focuseval.assessment.archived import archive_gold  # noqa: PLC0415  only an archive needs it

        return archive_gold(gold, index=index), index
    from focuseval.formats import read_gold  # noqa: PLC0415  help must not wait for it

    judged = read_gold(gold, format=options["gold_format"], index=index)
    if not options["allow_unknown"]:
        refuse_unknown(judged)
    return judged, index


LEAST = 0.1
"""The share of the judged documents that an index has to know."""


def refuse_unknown(gold: Gold) -> None:
    """Refuse a collection that knows almost none of the judged documents: it is hardly the gold's own."""
    if gold.placement is None or not len(gold.documents):
        return
    rows, index = gold.placement.document, gold.placement.collection
    known = int((rows >= 0).sum())
    if known >= LEAST * len(rows):
        return
    from focuseval.errors import NotComparableError  # noqa: PLC0415  help must not wait for it

    has = f"it has {index.ids[0].as_py()!r}" if len(index) else "it has none"
    unknown = gold.documents[int((rows < 0).argmax())].as_py()
    raise NotComparableError(
        f"{gold.file or 'the gold'}: expected documents of {index.name}, found {known} of {len(rows)} judged ones in "
        f"it, not {unknown!r} ({has}); give the gold's own collection, or go on with --allow-unknown"
    )


def refuse_assessor(path: str, options: dict[str, Any]) -> None:
    """Refuse ``--assessor`` and the like where there is no project to which they could apply."""
    if any(options[name] for name in WHOSE):
        raise click.UsageError(f"--assessor, --adjudicated and --merge need an assessment project, {path} is none")


def convert_judged(project: str, target: str, wanted: str | None, options: dict[str, Any]) -> tuple[str, ...]:
    """Write a project's judgements in a gold format, and return the remarks."""
    from focuseval.assessment.exports import write_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.formats.convert import format_of  # noqa: PLC0415  as above

    after = format_of(target, wanted, "gold")
    gold, index = read_judged(project, options, graded=after.name == "inex-2005")
    return (*gold.remarks, *write_judged(gold, target, after.name, index, lossy=options["lossy"]))
