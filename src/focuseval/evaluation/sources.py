"""What may be given as runs: `Run` values, paths, frames, a retriever's results by topic, and several of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from focuseval.data.gold import Gold
from focuseval.data.run import Run
from focuseval.engine.storage import location
from focuseval.errors import MissingDataError
from focuseval.evaluation.structure import strict_run
from focuseval.placing import place_gold, place_run

if TYPE_CHECKING:
    from focuseval.collection.protocol import Collection
    from focuseval.evaluation.plan import Plan


def as_runs(runs: Any) -> tuple[Any, ...]:
    """Return the runs one by one, still unread where they are paths.

    A list of dictionaries is one frame of rows, not many runs, unless each is what a retriever returned by topic.
    """
    if isinstance(runs, (Run, str, PathLike)) or not isinstance(runs, (list, tuple)):
        return (runs,)
    if runs and all(isinstance(row, dict) for row in runs) and not all(map(_by_topic, runs)):
        return (runs,)
    return tuple(runs)


def _by_topic(runs: Any) -> bool:
    """Say whether a value is what a retriever returned, topic by topic."""
    if not isinstance(runs, Mapping):
        return False
    from focuseval.formats.frameworks import is_results  # noqa: PLC0415  most runs are files

    return is_results(runs)


def absolute(source: Any) -> Any:
    """Return a run that another process can find, whatever its folder: a path whole, all else as it is."""
    return str(location(fspath(source)).absolute()) if isinstance(source, (str, PathLike)) else source


def as_index(collection: Any) -> Collection | None:
    """Return an index: as it is, or opened, where documents are given by a path or as a mapping from ids to texts."""
    if collection is None or hasattr(collection, "lengths"):
        opened: Collection | None = collection
        return opened
    from focuseval.formats.embedded import open_documents  # noqa: PLC0415  only documents in other forms need it

    return open_documents(collection)


def as_gold(gold: Any, index: Collection | None) -> Gold:
    """Return a gold: as it is, read from its file, or made of a frame; its quotes checked where there are documents."""
    if isinstance(gold, (str, PathLike)):
        from focuseval.formats import read_gold  # noqa: PLC0415  a gold in memory needs no reader

        return read_gold(fspath(gold), index=index)
    if not isinstance(gold, Gold):
        from focuseval.formats.frames import gold_from_frame  # noqa: PLC0415  only frames need it

        gold = gold_from_frame(gold, documents=index)
    return gold if index is None else place_gold(gold, index)


def read(source: Any, run_format: str | None, index: Collection | None) -> Run:
    """Return one run: as it is, read from its file, or made of a frame's columns; texts placed where they can be."""
    if isinstance(source, Run):
        if source.faults:
            raise source.faults[0]
        return _placed(source, index)
    if isinstance(source, (str, PathLike)):
        from focuseval.formats import read_run  # noqa: PLC0415  a run in memory needs no reader

        return read_run(fspath(source), format=run_format, index=index, hashed=False)
    if _by_topic(source):
        from focuseval.formats.frameworks import run_from_results  # noqa: PLC0415  only a retriever's output needs it

        return _placed(run_from_results(source, doc_key=None if index is None else ""), index)
    from focuseval.formats.frames import run_from_frame  # noqa: PLC0415  only frames need it

    return run_from_frame(source, documents=index)


def _placed(run: Run, index: Collection | None) -> Run:
    """Return a run in its collection, where there is one; texts without a document cannot be placed without it."""
    if index is not None:
        return place_run(run, index)
    if run.text is not None and len(nameless := run.nameless):
        raise MissingDataError(
            f"{run.at(int(nameless[0]))}: texts without a document are looked for in all of them; give docs or an index"
        )
    return run


def load(source: Any, plan: Plan, index: Collection | None) -> Run:
    """Return one run as the plan wants it: repaired where that is asked for, and with strict structure."""
    run = read(source, plan.run_format, index)
    if plan.repair and plan.task:
        run = _repaired(run, plan.task, index)
    return strict_run(run, plan.queries) if plan.queries else run


def _repaired(run: Run, task: str, index: Collection | None) -> Run:
    """Return the run as the task allows it, with a remark that counts every change."""
    from focuseval.measures.tasks.checks import repair  # noqa: PLC0415  only asked for by name

    lawful, changes = repair(run, task, index=index)
    if not changes.counts:
        return lawful
    counted = ", ".join(f"{number:,} × {rule}" for rule, number in changes.counts.items())
    return replace(lawful, remarks=(*lawful.remarks, f"repaired for {task}: {counted}"))
