"""What stands beside every mean, declared once: name, heading, how it is counted, how it adds up over topics.

A count is a field of `Counts`. Those with a function are counted for every topic and added up, whatever topics are
asked for (all, a tag's, a block's); the others belong to the gold or the run as a whole. Tables, JSON and the report
take names and headings from the fields: a new count is one more field. Remarks on counts have their words, by the same
names, in `focuseval.data.remarks`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.remarks import Remark
from focuseval.measures.topicwise import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    ByTopic = Callable[[Matched], NDArray[np.int64]]


def _in_mean(m: Matched) -> NDArray[np.int64]:
    return np.asarray(m.answered | (m.policies.missing != "skip"), np.int64)


def _missing(m: Matched) -> NDArray[np.int64]:
    return np.asarray(~m.answered, np.int64)


def _unjudged(m: Matched) -> NDArray[np.int64]:
    return np.asarray(count(~m.judged, m.bounds), np.int64)


def _unplaced(m: Matched) -> NDArray[np.int64]:
    if not m.places_asked_for:
        return np.zeros(m.topics, np.int64)
    return np.asarray(count(m.places.unplaced, m.bounds), np.int64)


def _empty(m: Matched) -> NDArray[np.int64]:
    if not m.places_asked_for or m.places.points:
        return np.zeros(m.topics, np.int64)
    empty = (m.places.end == m.places.start) & ~m.places.unplaced
    return np.asarray(count(empty, m.bounds), np.int64)


def _count(heading: str, by_topic: ByTopic | None = None, *, remarked: bool = False) -> Any:
    """Declare a count: what it is, how a topic's is counted, and whether there is a remark on it where it is not 0."""
    return field(default=0, metadata={"heading": heading, "by_topic": by_topic, "remarked": remarked})


@dataclass(frozen=True)
class Counts:
    """What stands beside one run's means."""

    topics: int = _count("topics in the mean", _in_mean)
    missing: int = _count("topics not answered", _missing)
    excluded: int = _count("topics without relevance")
    unjudged: int = _count("results not judged", _unjudged)
    unplaced: int = _count("results without a known place", _unplaced, remarked=True)
    unknown: int = _count("topics not in the gold", remarked=True)
    empty: int = _count("results without text", _empty, remarked=True)

    def remarks(self, run: str) -> Iterator[Remark]:
        """Yield what a reader should know of a run's counts that are not always printed."""
        for part in fields(self):
            if part.metadata["remarked"] and (number := getattr(self, part.name)):
                yield Remark(part.name, number, file=run)

    def printed(self) -> dict[str, int]:
        """Return the counts that every table prints."""
        return {name: getattr(self, name) for name in PRINTED}

    def others(self) -> dict[str, int]:
        """Return the other counts, those that are not 0."""
        found = ((part.name, getattr(self, part.name)) for part in fields(self) if part.name not in PRINTED)
        return {name: number for name, number in found if number}


PRINTED = tuple(part.name for part in fields(Counts) if not part.metadata["remarked"])
"""The counts that every table prints."""
BY_TOPIC = tuple(part for part in fields(Counts) if part.metadata["by_topic"])
"""The counts that add up over topics, in the order of the columns of `count_topics`."""


def count_topics(matched: Matched) -> NDArray[np.int64]:
    """Return every topic's counts: topics × `BY_TOPIC`."""
    return np.stack([part.metadata["by_topic"](matched) for part in BY_TOPIC], axis=1)


def total(by_topic: NDArray[np.int64], *, excluded: int, unknown: int = 0) -> Counts:
    """Add up the counts of some topics."""
    sums = by_topic.sum(axis=0).tolist()
    added = {part.name: number for part, number in zip(BY_TOPIC, sums, strict=True)}
    return Counts(**added, excluded=excluded, unknown=unknown)


def headings() -> dict[str, str]:
    """Return what the printed counts are, by name."""
    return {part.name: part.metadata["heading"] for part in fields(Counts) if part.name in PRINTED}


def column(name: str) -> int:
    """Return which column of `count_topics` holds a count."""
    return [part.name for part in BY_TOPIC].index(name)
