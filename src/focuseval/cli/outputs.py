"""What a command may write: never a file that it reads, and never two outputs into one file.

Every command is a `Command`, which looks at its parameters before it does anything. A parameter is known by its name;
a test holds that each parameter that names a file stands in `READ` or in `WRITTEN`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

READ = (
    "gold", "run", "runs", "qrels", "source", "file", "files", "index", "docs", "topics", "chunks", "baseline", "pool",
    "retriever", "spec", "tokenizer", "top_up", "users", "stability", "folder", "project", "restore", "prompt",
    "add_runs", "guidelines", "against",
)  # fmt: skip
"""Parameters that name what is read."""

WRITTEN = ("output", "target", "repaired", "export", "archive", "repairs", "curves", "junit", "markdown", "figures")
"""Parameters that name what is written."""


NO, READS, WRITES = "no", "reads", "writes"
"""What a command does to an assessment project that it is given."""


class Command(click.Command):
    """A command that refuses to write over what it reads, and declares whether it opens an assessment project.

    Parameters
    ----------
    opens
        `NO`, `READS` or `WRITES`; where that depends on an option, the parameter's name → one of these. Each of them is
        tested beside a running server.
    """

    def __init__(self, *args: Any, opens: str | Mapping[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self.opens = opens

    def invoke(self, ctx: click.Context) -> Any:
        """Check inputs and outputs, then run the command."""
        refuse_databases(ctx.params)
        refuse_overwriting(ctx.params)
        return super().invoke(ctx)


def refuse_databases(given: dict[str, Any]) -> None:
    """Refuse a project's database as an input: read beside SQLite, it would lose its locks."""
    for _, path in _paths(given, READ):
        file = Path(path)
        if file.name.startswith("assess.db") and (file.parent / "project.json").is_file():
            raise click.UsageError(f"{path} is the database of a project; name the project, {file.parent}")


def refuse_overwriting(given: dict[str, Any]) -> None:
    """Refuse an output that is an input, or another output: by name, by link, or inside a folder that is read."""
    written = list(_paths(given, WRITTEN))
    for number, (option, path) in enumerate(written):
        for name, read in _paths(given, READ):
            if path != "-" and (relation := _destroyed(path, read, (option, name))):
                raise click.UsageError(f"{path} {relation}, and would be written over; give the output another name")
        if any(_same(path, other) for _, other in written[:number]):
            raise click.UsageError(f"{path} would be written twice; give each output a name of its own")


def _paths(given: dict[str, Any], names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of every parameter that names a file; devices and pipes are no files."""
    for name in names:
        value = given.get(name)
        for path in value if isinstance(value, tuple) else (value,):
            named = str(path).removeprefix("tokenizers:")
            if isinstance(path, str | Path) and named and not _is_device(named):
                yield name, named


def _is_device(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)  # noqa: PTH110, PTH112, PTH113  paths with loops and NULs are only asked about


def _same(one: str, other: str) -> bool:
    """Say whether two names are of one file, be it through links or spelling; a file need not be there yet."""
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return _real(one) == _real(other)


def _real(path: str) -> str:
    """Return a path without links; one that goes round in circles stays as it is."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _destroyed(path: str, read: str, names: tuple[str, str]) -> str:
    """Say how writing a path would destroy what is read: the file, one in the folder, or a folder around it."""
    option, name = names
    if _same(path, read):
        return "is read"
    if _inside(path, read):
        owned = name != "project" and any((Path(read) / own).is_file() for own in ("documents.arrow", "assess.db"))
        endings = _endings(name)
        there = Path(path).is_file() and (endings is None or Path(path).suffix.lower() in endings)
        return f"lies in {read}, which is read" if owned or there else ""
    return f"holds {read}, which is read" if option != "figures" and _inside(read, path) else ""


def _endings(name: str) -> tuple[str, ...] | None:
    """Return how the files end that are read where a folder is named: documents, scores; None for all files."""
    from focuseval.collection.document_files import (  # noqa: PLC0415  only a folder needs it
        CONTAINERS,
        DOCUMENTS,
        PACKED,
    )

    return {"docs": (*DOCUMENTS, *CONTAINERS, *PACKED), "folder": (".json",)}.get(name)


def _inside(path: str, folder: str) -> bool:
    """Say whether a path lies in a folder."""
    return Path(folder).is_dir() and Path(_real(folder)) in Path(_real(path)).parents
