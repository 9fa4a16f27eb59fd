"""From runs to a pool: first appearances, a depth or a size, an order; over columns, not over results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.assessment.pool.model import ORDERS, Contributor, Entry, Pool
from focuseval.errors import MissingDataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.data.run import Run


@dataclass(frozen=True, eq=False)
class _Ranked:
    """First appearances of documents in runs: one row per run, topic and document."""

    topic: NDArray[np.int64]
    document: NDArray[np.int64]
    run: NDArray[np.int64]
    rank: NDArray[np.int64]

    def take(self, rows: NDArray[Any]) -> _Ranked:
        """Return some of the rows."""
        return _Ranked(self.topic[rows], self.document[rows], self.run[rows], self.rank[rows])

    @property
    def pair(self) -> NDArray[np.int64]:
        """Topic and document as one key."""
        return (self.topic << 32) | self.document


def build_pool(
    runs: Sequence[Run],
    *,
    depth: int | None = None,
    size: int | None = None,
    order: str = "runs",
    seed: int = 0,
    base: Pool | None = None,
) -> Pool:
    """Return the pool of some runs.

    Parameters
    ----------
    runs
        The runs; elements and passages count for their documents, at the rank of the first. Runs that are placed in a
        collection (read with an index) may name a document with or without its extension.
    depth, size
        Every document down to this rank, or rank by rank in turn until a topic has so many. Exactly one of the two.
    order
        ``runs``: what more runs returned comes first, then the better rank; ``shuffled``: at random.
    seed
        Of the shuffle.
    base
        A pool to add to: its documents keep their places.
    """
    if (depth is None) == (size is None) or not runs:
        raise MissingDataError("a pool needs runs, and either a depth or a size")
    topics, documents, ranked = _ranked(runs)
    chosen, by = _chosen(ranked, depth, size or 0)
    entries = _entries(chosen, by, ranked, topics, documents)
    known = {(entry.topic, entry.document) for entry in base.entries} if base else set()
    fresh = [entry for entry in entries if (entry.topic, entry.document) not in known]
    fresh = sorted(fresh, key=_order(fresh, order, seed))
    batch = 1 + max((one.batch for one in base.contributors), default=0) if base else 0
    how = (batch, depth, size)
    contributors = tuple(Contributor(run.run_id, Path(run.file).name, run.sha256, *how) for run in runs)
    added = Pool(contributors, tuple(replace(entry, batch=batch) for entry in fresh), depth, size, order, seed)
    return _joined(base, added, entries) if base else added


def _ranked(runs: Sequence[Run]) -> tuple[list[str], list[str], _Ranked]:
    """Return the names of topics and documents, and every document's rank in every run."""
    ids = pa.chunked_array([_ids(run) for run in runs]).dictionary_encode().unify_dictionaries()
    documents = ids.chunk(0).dictionary.to_pylist() if ids.num_chunks else []
    topics = list(dict.fromkeys(topic for run in runs for topic in run.topics))
    code = {topic: k for k, topic in enumerate(topics)}
    parts = []
    for number, run in enumerate(runs):
        topic = np.array([code[name] for name in run.topics], np.int64)[run.topic]
        document = ids.chunk(number).indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, first = np.unique((topic << 32) | document, return_index=True)
        first.sort()
        topic, document = topic[first], document[first]
        starts = np.flatnonzero(np.r_[True, topic[1:] != topic[:-1]]) if len(topic) else np.zeros(0, np.int64)
        rank = np.arange(len(topic)) - np.repeat(starts, np.diff(np.r_[starts, len(topic)])) + 1
        parts.append(_Ranked(topic, document, np.full(len(topic), number, np.int64), rank))
    columns = ([getattr(part, name) for part in parts] for name in ("topic", "document", "run", "rank"))
    return topics, documents, _Ranked(*(np.concatenate(column) for column in columns))


def _ids(run: Run) -> pa.Array:
    """Return the ids of a run's documents: the collection's, where the run is placed in one and it has them."""
    joined = run.document.combine_chunks() if isinstance(run.document, pa.ChunkedArray) else run.document
    names = pc.cast(joined, pa.string())
    if run.placement is None:
        return names
    row = run.placement.document
    known = run.placement.collection.ids.take(pa.array(np.maximum(row, 0)))
    return pc.if_else(pa.array(row >= 0), known, names)


def _chosen(ranked: _Ranked, depth: int | None, size: int) -> tuple[_Ranked, _Ranked]:
    """Return each pooled document at its best rank, and every row that brought one in."""
    in_turn = ranked.take(np.lexsort((ranked.run, ranked.rank, ranked.topic)))
    _, first = np.unique(in_turn.pair, return_index=True)
    first.sort()
    best = in_turn.take(first)
    if depth is not None:
        return best.take(best.rank <= depth), ranked.take(ranked.rank <= depth)
    starts = np.searchsorted(best.topic, best.topic)
    taken = best.take(np.arange(len(starts)) - starts < size)
    reach = np.zeros(int(ranked.topic.max(initial=-1)) + 1, np.int64)
    np.maximum.at(reach, taken.topic, taken.rank)
    return taken, ranked.take((ranked.rank <= reach[ranked.topic]) & np.isin(ranked.pair, taken.pair))


def _entries(
    chosen: _Ranked, by: _Ranked, ranked: _Ranked, topics: Sequence[str], documents: Sequence[str]
) -> list[Entry]:
    pairs, counts = np.unique(ranked.pair, return_counts=True)
    returned = counts[np.searchsorted(pairs, chosen.pair)]
    brought: dict[int, list[int]] = {}
    for pair, run in zip(by.pair.tolist(), by.run.tolist(), strict=True):
        brought.setdefault(pair, []).append(run)
    rows = zip(chosen.topic.tolist(), chosen.document.tolist(), returned.tolist(), chosen.rank.tolist(), strict=True)
    return [
        Entry(topics[topic], documents[document], count, rank, tuple(brought[(topic << 32) | document]))
        for topic, document, count, rank in rows
    ]


def _order(entries: Sequence[Entry], order: str, seed: int) -> Any:
    """Return the sort key of judging order; topics stay in the order of the runs."""
    if order not in ORDERS:
        raise MissingDataError(f"expected the order {' or '.join(ORDERS)}, found {order!r}")
    place = {topic: k for k, topic in enumerate(dict.fromkeys(entry.topic for entry in entries))}
    if order == "runs":
        return lambda entry: (place[entry.topic], -entry.runs, entry.best, entry.document)
    names = sorted((entry.topic, entry.document) for entry in entries)
    drawn = dict(zip(names, np.random.default_rng(seed).permutation(len(names)).tolist(), strict=True))
    return lambda entry: (place[entry.topic], drawn[entry.topic, entry.document])


def _joined(base: Pool, added: Pool, entries: Sequence[Entry]) -> Pool:
    """Return a pool with more runs: old entries in place, with the new runs counted, then the new entries."""
    shift = len(base.contributors)
    again = {(entry.topic, entry.document): entry for entry in entries}
    kept = []
    for entry in base.entries:
        found = again.get((entry.topic, entry.document))
        if found is not None:
            by = (*entry.by, *(run + shift for run in found.by))
            entry = replace(entry, runs=entry.runs + found.runs, best=min(entry.best, found.best), by=by)  # noqa: PLW2901  the same document
        kept.append(entry)
    fresh = [replace(entry, by=tuple(run + shift for run in entry.by)) for entry in added.entries]
    return replace(added, contributors=(*base.contributors, *added.contributors), entries=(*kept, *fresh))
