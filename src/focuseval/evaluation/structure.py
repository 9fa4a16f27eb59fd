"""Strict structure (SCAS): only elements that match the target of their topic's query count, in run and recall base."""

from __future__ import annotations

from dataclasses import fields, replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MeasureError, MissingDataError, NotComparableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from focuseval.data.gold import Gold
    from focuseval.data.run import Run


def queries_of(topics: Iterable[Any] | str | PathLike[str] | None, gold: Gold) -> dict[str, Any]:
    """Return topic → structural query; one without structure restricts nothing, one not given is refused."""
    if topics is None:
        raise MeasureError("strict structure (SCAS) needs the topics' queries; give the topics with --topics")
    queries = {topic.id: topic.query for topic in _read(topics)}
    unknown = [name for name in gold.topics if name not in queries]
    if unknown:
        raise NotComparableError(
            f"{len(unknown)} topics of {gold.file or 'the gold'} are not among the topics given ({unknown[0]} …), so "
            "what they ask for is unknown; give the topics of the gold's campaign with --topics"
        )
    if all(queries[name] is None for name in gold.topics):
        raise MissingDataError("no topic asks for structure, so nothing can be read strictly; leave out --cas strict")
    return {name: query for name, query in queries.items() if query is not None}


def _read(topics: Iterable[Any] | str | PathLike[str]) -> Iterable[Any]:
    """Return topics, read where a path is given."""
    if not isinstance(topics, (str, PathLike)):
        return topics
    from focuseval.data.topics import read_topics  # noqa: PLC0415  the command line has read them

    return read_topics(fspath(topics))


def strict_run(run: Run, queries: Mapping[str, Any]) -> Run:
    """Return the run without the results that are not what their topic asks for."""
    if run.path is None:
        return run
    return run.take(np.flatnonzero(matching(run.topics, run.topic, run.path, queries)))


def strict_gold(gold: Gold, queries: Mapping[str, Any]) -> Gold:
    """Return the gold without the elements that are not what their topic asks for."""
    elements = gold.elements
    rows = np.flatnonzero(matching(gold.topics, elements.topic, elements.path, queries))
    kept = {
        part.name: column.take(rows)
        for part in fields(elements)
        if (column := getattr(elements, part.name)) is not None
    }
    return replace(gold, elements=replace(elements, **kept))


def matching(
    topics: tuple[str, ...], topic: NDArray[np.integer], path: Any, queries: Mapping[str, Any]
) -> NDArray[np.bool_]:
    """Return, for every row, whether its path is the target of its topic's query, read strictly."""
    kept = np.ones(len(topic), np.bool_)
    order = np.argsort(topic, kind="stable")
    bounds = np.searchsorted(topic[order], np.arange(len(topics) + 1))
    for number, name in enumerate(topics):
        if name in queries:
            rows = order[bounds[number] : bounds[number + 1]]
            kept[rows] = queries[name].matches(path.take(rows), "strict")
    return kept
