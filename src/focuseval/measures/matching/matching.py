"""Bring a run's topics into the gold's order and cut its lists: the first step of every evaluation."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import NotComparableError
from focuseval.measures.matching.matched import Matched
from focuseval.measures.matching.policies import Policies
from focuseval.measures.matching.prepared import Prepared, prepare
from focuseval.placing import place_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.collection.protocol import Collection
    from focuseval.collection.tokens import Tokenizer
    from focuseval.data.gold import Gold
    from focuseval.data.run import Run


def match(
    run: Run,
    gold: Gold | Prepared,
    policies: Policies | None = None,
    index: Collection | None = None,
    *,
    chunks: Chunks | None = None,
    tokenizer: Tokenizer | None = None,
) -> Matched:
    """Return the table of a run's results against the gold; pass `prepare(gold, index)` to share work between runs."""
    prepared = gold if isinstance(gold, Prepared) else prepare(gold, index)
    policies = policies or Policies()
    run = run if prepared.index is None else place_run(run, prepared.index)
    run = by_topic_id(run, prepared.gold)
    run = in_file_order(run) if policies.compat == "inex_eval" else run
    rows, bounds = _order(run, prepared, policies.cutoff)
    return Matched(prepared, run, policies, rows, bounds, chunks, tokenizer=tokenizer)


def by_topic_id(run: Run, gold: Gold) -> Run:
    """Return the run with the gold's ids for topics that it names by their questions, as tools without ids do."""
    known = set(gold.topics)
    if not gold.queries or known.issuperset(run.topics):
        return run
    often = Counter(gold.queries.values())
    ids = {query: topic for topic, query in gold.queries.items() if often[query] == 1}
    topics = tuple(name if name in known else ids.get(name, name) for name in run.topics)
    return replace(run, topics=topics) if len(set(topics)) == len(topics) else run


def in_file_order(run: Run) -> Run:
    """Return the run as its file has it, as the official tool reads it: ranks and scores do not count."""
    if run.line is None:
        return run
    return run.take(np.lexsort((run.line, run.topic)))


def _order(run: Run, prepared: Prepared, cutoff: int | None) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Find each counted topic's block in the run; rows are None when the run stands in that order already."""
    position = _positions(run, prepared)
    _refuse_strangers(run, prepared, position)
    starts = run.bounds
    length = np.diff(starts)
    kept = np.minimum(length, cutoff) if cutoff else length
    kept = np.where(position >= 0, kept, 0)
    blocks = np.zeros(len(prepared.topics), np.int64)
    blocks[position[position >= 0]] = kept[position >= 0]
    bounds = np.r_[0, np.cumsum(blocks)]
    counted = position[position >= 0]
    if bounds[-1] == len(run) and (np.diff(counted) > 0).all():
        return None, bounds
    first = np.zeros(len(prepared.topics), np.int64)
    first[counted] = starts[:-1][position >= 0]
    return np.arange(bounds[-1]) + np.repeat(first - bounds[:-1], blocks), bounds


def _positions(run: Run, prepared: Prepared) -> NDArray[np.int64]:
    """Return for every topic of the run its number among the counted topics, or −1."""
    if run.topics == prepared.topics:
        return np.arange(len(run.topics))
    number = {name: position for position, name in enumerate(prepared.topics)}
    return np.array([number.get(name, -1) for name in run.topics], np.int64)


def _refuse_strangers(run: Run, prepared: Prepared, position: NDArray[np.int64]) -> None:
    """Refuse a run whose topics are all unknown to the gold: it belongs to another collection."""
    if len(run) and not (position >= 0).any() and not set(run.topics) & set(prepared.gold.topics):
        raise NotComparableError(
            f"{run.file or run.run_id}: no topic in common with {prepared.gold.file or 'the gold'} "
            f"(run: {run.topics[0]} …, gold: {prepared.gold.topics[0] if prepared.gold.topics else 'none'} …); "
            "give the gold of the run's collection"
        )
