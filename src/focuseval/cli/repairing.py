"""From the option ``--repairs`` to a file that lists every span that is not where it was said to be."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.judged import convert_judged, is_project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.formats import Format


def write_repairs_of(gold: str, runs: Sequence[str], index: Any, options: dict[str, Any]) -> None:
    """Write what was moved, respelt, ambiguous or lost in the gold and the runs, if ``--repairs`` asks for it."""
    if not options["repairs"]:
        return
    _refuse_standard_input(gold, *runs)
    from focuseval.formats.carried import all_repairs, write_repairs  # noqa: PLC0415  only asked for by name

    formats = {name: options[name] for name in ("gold_format", "run_format")}
    if not is_project(gold):
        write_repairs(all_repairs(gold, runs, index, **formats), options["repairs"])
        return
    with tempfile.TemporaryDirectory() as folder:  # a project's judgements are checked like those of any file
        exported = str(Path(folder) / "gold.jsonl")
        convert_judged(gold, exported, "gold-jsonl", {**options, "lossy": True})
        formats["gold_format"] = "gold-jsonl"
        write_repairs(all_repairs(exported, runs, index, **formats), options["repairs"])


def write_repairs_of_one(source: str, index: Any, options: dict[str, Any], given: Format | None = None) -> None:
    """Write the same for one file, a run or a gold, if ``--repairs`` asks for it."""
    if not options["repairs"]:
        return
    _refuse_standard_input(source)
    from focuseval.errors import MissingDataError  # noqa: PLC0415  only asked for by name
    from focuseval.formats import detect  # noqa: PLC0415  as above
    from focuseval.formats.carried import check_quotes, run_repairs, write_repairs  # noqa: PLC0415  as above

    chosen = given or detect(source)
    if chosen.kind == "gold":
        found = check_quotes(source, index, format=chosen.name)[1].repairs()
    elif index is None:
        raise MissingDataError(f"{source}: --repairs compares texts with the documents; give them with --docs")
    else:
        found = run_repairs(source, index, format=chosen.name)
    write_repairs(found, options["repairs"])


def _refuse_standard_input(*sources: str) -> None:
    if "-" in sources:
        raise click.UsageError("--repairs reads the files once more, which - cannot be; save it as a file first")
