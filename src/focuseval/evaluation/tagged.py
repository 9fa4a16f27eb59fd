"""Scores by tag: the same means over the topics of each tag, as LegalBench-RAG and chunking_evaluation report them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.evaluation.counts import total

if TYPE_CHECKING:
    from focuseval.data.gold import Gold
    from focuseval.evaluation.scores import Scores


def tags_of(gold: Gold) -> dict[str, tuple[str, ...]]:
    """Return the tags of every topic that has any."""
    said = {topic: attributes.get("tags", "") for topic, attributes in gold.attributes.items()}
    return {topic: tuple(filter(None, tags.split(","))) for topic, tags in said.items() if tags}


def by_tag(scores: Scores) -> dict[str, Scores]:
    """Return the scores of each tag's topics, tags in the order in which the gold names them."""
    names = dict.fromkeys(tag for tags in scores.tags.values() for tag in tags)
    if not names:
        raise MissingDataError("no topic of the gold has a tag; our JSONL and LegalBench-RAG say them as 'tags'")
    return {tag: _only(scores, tag) for tag in names}


def _only(scores: Scores, tag: str) -> Scores:
    """Return the part of the scores that one tag's topics make, with their own counts."""
    mine = {topic for topic, tags in scores.tags.items() if tag in tags}
    kept = np.array([i for i, topic in enumerate(scores.topics) if topic in mine], np.int64)
    if scores.by_topic is None:
        raise MissingDataError("these scores have no counts of single topics, which tables by tag add up")
    by_topic = scores.by_topic[:, kept]
    return replace(
        scores,
        topics=tuple(scores.topics[i] for i in kept),
        values=scores.values[:, kept],
        counts=tuple(total(own, excluded=len(mine) - len(kept)) for own in by_topic),
        by_topic=by_topic,
        noticed=(),
        evaluation=None,
    )


def tags_json(scores: Scores) -> list[dict[str, Any]]:
    """Return, for every run, tag → counts and means, as plain values."""
    parts = {tag: part.to_json()["runs"] for tag, part in by_tag(scores).items()}
    named = ("run", "file", "excluded_per_measure")
    return [
        {tag: {key: value for key, value in runs[n].items() if key not in named} for tag, runs in parts.items()}
        for n in range(len(scores.runs))
    ]
