"""From the option ``--repairs`` to a file that lists every span that is not where it was said to be."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.cli.judged import convert_judged, is_project

if TYPE_CHECKING:
    from collections.abc import Sequence


def write_repairs_of(gold: str, runs: Sequence[str], index: Any, options: dict[str, Any]) -> None:
    """Write what was moved, respelt, ambiguous or lost in the gold and the runs, if ``--repairs`` asks for it."""
    if not options["repairs"]:
        return
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
