"""Gold from a file, or from the folder of an assessment project with its own collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from focuseval.gold import Gold


def assessor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--assessor`` and ``--adjudicated``: whose judgements of a project are meant."""
    adjudicated = "The decisions of the adjudication, when GOLD is an assessment project."
    command = click.option("--adjudicated", is_flag=True, help=adjudicated)(command)
    return click.option("--assessor", metavar="NAME", help="Whose judgements, when GOLD is a project.")(command)


def read_judged(gold: str, options: dict[str, Any], index: Any) -> tuple[Gold, Any]:
    """Return the gold and the collection: a project brings its own, unless another was given."""
    if not (Path(gold) / "assess.db").is_file():
        if options.get("assessor") or options.get("adjudicated"):
            raise click.UsageError(f"--assessor and --adjudicated need an assessment project, {gold} is none")
        from focuseval.formats import read_gold  # noqa: PLC0415  help must not wait for it

        return read_gold(gold, format=options["gold_format"], index=index), index
    from focuseval.assess import open_project, project_gold  # noqa: PLC0415  only a project needs it

    judged = project_gold(gold, assessor=options.get("assessor"), adjudicated=bool(options.get("adjudicated")))
    if index is None:
        project = open_project(gold)
        index = project.documents.index
        project.close()
    return judged, index
