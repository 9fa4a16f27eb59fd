"""From the option ``--repairs`` to a file that lists every span that is not where its file says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from focuseval.collection import Collection
    from focuseval.evaluation.scores import Scores
    from focuseval.formats import Format


def write_repairs_of(scores: Scores, options: dict[str, Any]) -> None:
    """Write what was moved, respelt, ambiguous or lost in the gold and the runs, if ``--repairs`` asks for it."""
    if options["repairs"] and scores.evaluation is not None:
        from focuseval.formats.embedded import write_repairs  # noqa: PLC0415  only asked for by name

        write_repairs(scores.evaluation.repairs(), options["repairs"])


def write_repairs_of_one(source: Any, index: Collection | None, options: dict[str, Any], given: Format) -> None:
    """Write the same for one file, a run or a gold, if ``--repairs`` asks for it."""
    if not options["repairs"]:
        return
    from focuseval.data.alignment import repairs_of  # noqa: PLC0415  only asked for by name
    from focuseval.errors import MissingDataError  # noqa: PLC0415  as above
    from focuseval.formats import read_gold, read_run  # noqa: PLC0415  as above
    from focuseval.formats.embedded import write_repairs  # noqa: PLC0415  as above

    read = read_gold if given.kind == "gold" else read_run
    placement = read(source, given.name, index).placement
    if placement is None:
        where = getattr(source, "name", source)
        raise MissingDataError(f"{where}: --repairs compares texts with the documents; give them with --docs")
    write_repairs(repairs_of([placement.alignment]), options["repairs"])
