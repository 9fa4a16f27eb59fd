"""What may be given as runs and gold, and how it is read: values, paths, frames, a retriever's results by topic.

Runs may have names: ``{"bm25": path_or_frame}``. Where structure is strict (SCAS), only elements that match the target
of their topic's query count, in run and gold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.fields import NAMES
from focuseval.data.gold import Gold
from focuseval.data.remarks import Remark
from focuseval.data.run import Run
from focuseval.errors import MeasureError, MissingDataError, NotComparableError
from focuseval.evaluation.plan import Plan
from focuseval.formats.ranking import RankingOrder, in_order
from focuseval.placing import place_gold, place_run
from focuseval.placing.pointers import highlighted_elements

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.index import Collection


def named_runs(runs: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return the names of runs, none where they have their own, and the runs one by one, unread where they are paths.

    A mapping from names to runs is told from a frame of columns and from a retriever's results by topic by its values:
    runs, paths, frames, or such mappings themselves. A list of dictionaries is one frame of rows, not many runs, unless
    each is what a retriever returned by topic. A list of runs under one name are trials: the name is repeated.

    >>> named_runs({"bm25": "a.run", "dense": "b.run"}), named_runs("a.run")
    ((('bm25', 'dense'), ('a.run', 'b.run')), ((), ('a.run',)))
    """
    if isinstance(runs, Mapping) and runs and all(_is_run(value) or _is_trials(value) for value in runs.values()):
        several = [(str(name), value if _is_trials(value) else [value]) for name, value in runs.items()]
        return tuple(name for name, own in several for _ in own), tuple(run for _, own in several for run in own)
    one = not isinstance(runs, (list, tuple))
    rows = not one and runs and all(isinstance(row, dict) for row in runs) and not all(map(_by_topic, runs))
    return (), (runs,) if one or rows else tuple(runs)


def _is_run(value: Any) -> bool:
    """Say whether a value of a mapping is a whole run: no column of a frame, and no list of a topic's results."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(row, dict) and not row.keys().isdisjoint(NAMES["topic"]) for row in value)
    frame = hasattr(value, "columns") or hasattr(value, "column_names")
    return isinstance(value, (Run, str, PathLike, Mapping)) or frame


def _is_trials(value: Any) -> bool:
    """Say whether a value of a mapping is a list of runs, or of files that exist: else it is a topic's results."""
    several = value if isinstance(value, (list, tuple)) else ()
    files = (isinstance(one, (str, PathLike)) and Path(one).is_file() for one in several)
    return bool(several) and all(file or isinstance(one, Run) for one, file in zip(several, files, strict=True))


def _by_topic(runs: Any) -> bool:
    """Say whether a value is what a retriever returned, topic by topic."""
    if not isinstance(runs, Mapping):
        return False
    from focuseval.formats.frameworks import is_results  # noqa: PLC0415  most runs are files

    return is_results(runs)


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


def read(source: Any, run_format: str | None, index: Collection | None, order: RankingOrder | None = None) -> Run:
    """Return one run: as it is, read from its file, or made of a frame's columns; texts placed where they can be."""
    if isinstance(source, Run):
        if source.faults:
            raise source.faults[0]
        return _placed(source, index)
    if isinstance(source, (str, PathLike)):
        from focuseval.formats import read_run  # noqa: PLC0415  a run in memory needs no reader

        return read_run(fspath(source), format=run_format, index=index, hashed=False, order=order)
    if _by_topic(source):
        from focuseval.formats.frameworks import run_from_results  # noqa: PLC0415  only a retriever's output needs it

        run = run_from_results(source, doc_key=None if index is None else "")
        return _placed(run if order is None else in_order(run, order), index)
    from focuseval.formats.frames import run_from_frame  # noqa: PLC0415  only frames need it

    return run_from_frame(source, documents=index, order=order)


def _placed(run: Run, index: Collection | None) -> Run:
    """Return a run in its collection, where there is one; texts without a document cannot be placed without it."""
    if index is not None:
        return place_run(run, index)
    if run.text is not None and len(nameless := run.nameless):
        raise MissingDataError(
            f"{run.at(int(nameless[0]))}: texts without a document are looked for in all of them; give docs= or index="
        )
    return run


def load(source: Any, plan: Plan, index: Collection | None) -> Run:
    """Return one run as the plan wants it: repaired where that is asked for, and with strict structure."""
    run = read(source, plan.run_format, index, plan.order)
    if plan.repair and plan.task:
        from focuseval.measures.checks import repair  # noqa: PLC0415  only asked for by name

        run, changes = repair(run, plan.task, index=index)
        if changes.counts:
            counts = ", ".join(f"{number:,} × {rule}" for rule, number in changes.counts.items())
            run = replace(run, remarks=(*run.remarks, Remark("repaired", details=(plan.task, counts))))
    if plan.refusals and run.answers:
        answers = dict(run.answers)
        for topic, one in run.answers.items():
            said = any(words.casefold() in one.text.casefold() for words in plan.refusals)
            answers[topic] = one._replace(abstains=one.abstains or said)
        run = replace(run, answers=answers)
    if plan.queries and run.path is not None:
        run = run.take(_asked_for(run.topics, run.topic, run.path, plan.queries))
    return run


def queries_of(topics: Any, gold: Gold, *, required: bool = True) -> dict[str, Any]:
    """Return topic → structural query; none at all is refused where it is `required`, one not given always."""
    if topics is None:
        if not required:
            return {}
        raise MeasureError("strict structure (SCAS) needs the topics' queries; give topics=")
    if isinstance(topics, (str, PathLike)):
        from focuseval.data.topics import read_topics  # noqa: PLC0415  NEXI's parser, which few evaluations need

        topics = read_topics(fspath(topics))
    queries = {topic.id: topic.query for topic in topics}
    if unknown := [name for name in gold.topics if name not in queries]:
        raise NotComparableError(
            f"{len(unknown)} topics of {gold.file or 'the gold'} are not among the topics given ({unknown[0]} …), so "
            "what they ask for is unknown; give those of the gold's campaign as topics="
        )
    if required and all(queries[name] is None for name in gold.topics):
        raise MissingDataError('no topic asks for structure, so nothing can be read strictly; leave out cas="strict"')
    return {name: query for name, query in queries.items() if query is not None}


def strict_gold(gold: Gold, queries: Mapping[str, Any], index: Any = None) -> Gold:
    """Return the gold without the elements, its own or those of its highlights, that their topic does not ask for."""
    elements = gold.elements
    if index is not None and len(gold.passages.topic) and not len(elements.topic):
        elements = highlighted_elements(gold := place_gold(gold, index), index)
    rows = _asked_for(gold.topics, elements.topic, elements.path, queries)
    return replace(gold, elements=elements.take(rows))


def _asked_for(
    topics: tuple[str, ...], topic: NDArray[np.integer], path: Any, queries: Mapping[str, Any]
) -> NDArray[np.int64]:
    """Return the rows whose path is the target of their topic's query, read strictly."""
    kept = np.ones(len(topic), np.bool_)
    order = np.argsort(topic, kind="stable")
    bounds = np.searchsorted(topic[order], np.arange(len(topics) + 1))
    for number, name in enumerate(topics):
        if name in queries:
            rows = order[bounds[number] : bounds[number + 1]]
            kept[rows] = queries[name].matches(path.take(rows), "strict")
    return np.flatnonzero(kept)
