"""Gold from a file, from an archived collection, or from an assessment project with its own collection."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.options import WHOSE, open_collection
from focuseval.engine.storage import is_url
from focuseval.errors import NotComparableError
from focuseval.formats.files import read_gold

if TYPE_CHECKING:
    from focuseval.data.gold import Gold

LEAST = 0.1
"""The share of the judged documents that an index has to know."""


def is_project(path: str) -> bool:
    """Whether a path is the folder of an assessment project."""
    return not is_url(path) and (Path(path) / "assess.db").is_file()


def is_archive(path: str) -> bool:
    """Whether a path is a finished collection, as 'focuseval project archive' writes it."""
    if Path(path).suffix.lower() != ".zip" or not Path(path).is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return {"manifest.json", "judgements.jsonl"} <= {*archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return False


def read_judged(gold: str, options: dict[str, Any], *, graded: bool = False) -> tuple[Gold, Any]:
    """Return the gold and the collection: a project brings its own, unless ``--index`` or ``--docs`` names another."""
    index = open_collection(options)
    if is_project(gold):
        from focuseval.assessment.golds import Whose, read_project  # noqa: PLC0415  a gold file needs no assessments

        whose = Whose(**{name: options[name] for name in WHOSE})
        return read_project(gold, whose, index=index, graded=graded)  # its documents are those of its collection
    refuse_assessor(gold, options)
    if is_archive(gold):
        from focuseval.assessment.archive import archive_gold  # noqa: PLC0415  as above

        return archive_gold(gold, index=index), index
    judged = read_gold(gold, format=options["gold_format"], index=index)
    if not options["allow_unknown"]:
        refuse_unknown(judged)
    return judged, index


def refuse_unknown(gold: Gold) -> None:
    """Refuse a collection that knows almost none of the judged documents: it is hardly the gold's own."""
    if gold.placement is None or not len(gold.documents):
        return
    rows, index = gold.placement.document, gold.placement.collection
    known = int((rows >= 0).sum())
    if known >= LEAST * len(rows):
        return
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
