"""Parts of the topics: those of a tag, and those whose answer is short or long, in one piece or many, early or late."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.report.evidence import intervals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from focuseval.inference.settings import Settings
    from focuseval.report.evidence import Evidence

    Floats = NDArray[np.float64]

MOST_TAGS = 12
RESAMPLES = 1_000
"""Of every slice's interval: there are many of them."""


@dataclass(frozen=True, eq=False)
class Slice:
    """Some of the topics."""

    group: str
    """What the topics were divided by: ``tag``, ``length of the answer`` …"""
    name: str
    topics: tuple[int, ...]
    """Numbers of the counted topics."""


def slices_of(evidence: Evidence) -> tuple[Slice, ...]:
    """Return the slices that the gold allows: its tags, most frequent first, and buckets of its highlights.

    A group that puts all topics into one slice says nothing and is left out.
    """
    found = (*_tags(evidence), *_buckets(evidence))
    alone = {one.group for one in found if len(one.topics) == len(evidence.scores.topics)}
    return tuple(one for one in found if one.group == "tag" or one.group not in alone)


def _tags(evidence: Evidence) -> Iterator[Slice]:
    found: dict[str, list[int]] = {}
    for number, topic in enumerate(evidence.scores.topics):
        for tag in evidence.scores.tags.get(topic, ()):
            found.setdefault(tag, []).append(number)
    for tag, topics in sorted(found.items(), key=lambda item: -len(item[1]))[:MOST_TAGS]:
        yield Slice("tag", tag, tuple(topics))


def _buckets(evidence: Evidence) -> Iterator[Slice]:
    prepared = evidence.prepared
    try:
        spans = prepared.highlights
    except MissingDataError:
        return
    topics, topic = len(prepared.topics), prepared.topic[spans.group]
    pieces = np.bincount(topic, minlength=topics)
    if not (pieces > 0).any():
        return
    yield from _thirds("length of the answer", "characters", prepared.trel_of_topic.astype(np.float64), pieces > 0)
    for here, name in ((pieces == 1, "1 span"), (pieces == 2, "2 spans"), (pieces > 2, "3 or more spans")):
        yield from _named("number of spans", name, here)
    length = prepared.length[spans.group].astype(np.float64)
    known = length > 0
    place = _mean((spans.start + spans.end)[known] / 2 / length[known], topic[known], topics)
    for low, high, name in ((0, 1 / 3, "first third"), (1 / 3, 2 / 3, "middle third"), (2 / 3, np.inf, "last third")):
        yield from _named("position in the document", name, (place >= low) & (place < high))
    lengths = _mean(length[known], topic[known], topics)
    yield from _thirds("length of the document", "characters", lengths, lengths > 0)


def _mean(values: Floats, topic: NDArray[np.integer], topics: int) -> Floats:
    """Return the mean of each topic's values, NaN where it has none."""
    number = np.bincount(topic, minlength=topics)
    total = np.bincount(topic, values, topics)
    mean = np.full(topics, np.nan)
    np.divide(total, number, out=mean, where=number > 0)
    return mean


def _thirds(group: str, unit: str, values: Floats, counted: NDArray[np.bool_]) -> Iterator[Slice]:
    """Divide topics into three of about the same number, by a value; fewer where many values are equal."""
    cuts = np.unique(np.quantile(values[counted], [1 / 3, 2 / 3])) if counted.any() else np.zeros(0)
    code = np.searchsorted(cuts, values)
    for number in range(len(cuts) + 1):
        here = counted & (code == number)
        if here.any():
            low, high = values[here].min(), values[here].max()
            name = f"{low:,.0f} {unit}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f} {unit}"
            yield from _named(group, name, here)


def _named(group: str, name: str, here: NDArray[np.bool_]) -> Iterator[Slice]:
    if here.any():
        yield Slice(group, name, tuple(np.flatnonzero(here).tolist()))


def slice_intervals(differences: Floats, slices: tuple[Slice, ...], settings: Settings) -> Floats:
    """Return, for every slice and row of differences over topics, the 95 % interval of the mean; NaN for one topic."""
    few = replace(settings, resamples=RESAMPLES)
    found = np.full((len(slices), len(differences), 2), np.nan)
    for number, one in enumerate(slices):
        told = intervals(differences[:, list(one.topics)], few)
        found[number] = np.where(told[:, 3:] > 1, told[:, 1:3], np.nan)
    return found
