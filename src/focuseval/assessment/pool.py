r"""A pool: the documents to judge, from runs, by a depth or a size, in an order; over columns, not over results.

Its file says where it came from, and has a line for every document::

    {"pool": 1, "depth": 100, "size": null, "order": "runs", "seed": 0,
     "runs": [{"run": "VSM", "file": "vsm.xml", "sha256": "…", "batch": 0, "depth": 100, "size": null}]}
    {"topic": "544", "doc": "9996", "runs": 3, "best": 1, "by": [0, 2], "batch": 0}

``runs`` counts the runs that returned the document at all, ``best`` is its best rank among documents, ``by`` says which
runs brought it into the pool. More runs can be added later: what is there keeps its place, new documents follow; every
run says in which batch it came and how deep it was pooled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.assessment.files import json_line, lines_of, read_line
from focuseval.errors import FormatError, MissingDataError, Place
from focuseval.formats.content import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.data.run import Run

ORDERS = ("runs", "shuffled")


@dataclass(frozen=True)
class Contributor:
    """A run that was pooled."""

    run: str
    file: str = ""
    sha256: str = ""
    batch: int = 0
    depth: int | None = None
    """How deep it was pooled, or with `size` until how many documents: a later batch may differ."""
    size: int | None = None


@dataclass(frozen=True)
class Entry:
    """A document to judge for a topic."""

    topic: str
    document: str
    runs: int
    best: int
    by: tuple[int, ...]
    batch: int = 0


@dataclass(frozen=True)
class Pool:
    """Documents to judge, topic by topic in judging order, and where they come from."""

    contributors: tuple[Contributor, ...]
    entries: tuple[Entry, ...]
    depth: int | None = None
    size: int | None = None
    order: str = "runs"
    seed: int = 0


class _Ranked(NamedTuple):
    """First appearances of documents in runs: one row per run, topic and document."""

    topic: NDArray[np.int64]
    document: NDArray[np.int64]
    run: NDArray[np.int64]
    rank: NDArray[np.int64]

    def take(self, rows: NDArray[Any]) -> _Ranked:
        """Return some of the rows."""
        return _Ranked(*(column[rows] for column in self))

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
    if order not in ORDERS:
        raise MissingDataError(f"expected the order {' or '.join(ORDERS)}, found {order!r}")
    topics, documents, ranked = _ranked(runs)
    chosen, by = _chosen(ranked, depth, size or 0)
    pairs, counts = np.unique(ranked.pair, return_counts=True)
    returned = counts[np.searchsorted(pairs, chosen.pair)]
    brought: dict[int, list[int]] = {}
    for pair, run in zip(by.pair.tolist(), by.run.tolist(), strict=True):
        brought.setdefault(pair, []).append(run)
    columns = zip(chosen.topic.tolist(), chosen.document.tolist(), returned.tolist(), chosen.rank.tolist(), strict=True)
    entries = [
        Entry(topics[topic], documents[document], count, rank, tuple(brought[(topic << 32) | document]))
        for topic, document, count, rank in columns
    ]
    known = {(entry.topic, entry.document) for entry in base.entries} if base else set()
    batch = 1 + max((one.batch for one in base.contributors), default=0) if base else 0
    fresh = [replace(entry, batch=batch) for entry in entries if (entry.topic, entry.document) not in known]
    place = {topic: k for k, topic in enumerate(dict.fromkeys(entry.topic for entry in fresh))}
    if order == "runs":
        fresh.sort(key=lambda entry: (place[entry.topic], -entry.runs, entry.best, entry.document))
    else:
        names = sorted((entry.topic, entry.document) for entry in fresh)
        drawn = dict(zip(names, np.random.default_rng(seed).permutation(len(names)).tolist(), strict=True))
        fresh.sort(key=lambda entry: (place[entry.topic], drawn[entry.topic, entry.document]))
    how = (batch, depth, size)
    contributors = tuple(Contributor(run.run_id, Path(run.file).name, run.sha256, *how) for run in runs)
    added = Pool(contributors, tuple(fresh), depth, size, order, seed)
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
    return topics, documents, _Ranked(*map(np.concatenate, zip(*parts, strict=True)))


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


def write_pool(pool: Pool, path: str | Path) -> None:
    """Write a pool's file, whole or not at all."""
    how = {name: getattr(pool, name) for name in ("depth", "size", "order", "seed")}
    head = {"pool": 1, **how, "runs": [vars(one) for one in pool.contributors]}
    rows = (
        {"topic": one.topic, "doc": one.document, "runs": one.runs, "best": one.best, "by": one.by, "batch": one.batch}
        for one in pool.entries
    )
    write_whole(path, (json_line(value).encode() for value in chain([head], rows)))


def read_pool(path: str | Path) -> Pool:
    """Read a pool's file."""
    try:
        lines = lines_of(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        remedy = "check the name and the permissions"
        raise FormatError(f"expected a pool, found: {error}", at=str(path), remedy=remedy) from error
    remedy = "write one object on each line"
    values = [read_line(line, Place(str(path), number), remedy) for number, line in enumerate(lines, 1)]
    if not values or values[0].get("pool") != 1:
        raise FormatError('expected {"pool": 1, …}', at=Place(str(path), 1), remedy="make a pool with 'focuseval pool'")
    head, entries, expected = values[0], list[Entry](), "a pooled document, found no"
    try:
        for value in values[1:]:
            by = tuple(value["by"])
            entries.append(Entry(value["topic"], value["doc"], value["runs"], value["best"], by, value["batch"]))
        expected = "runs, depth, size, order and seed of the pool, found:"
        contributors = tuple(Contributor(**run) for run in head["runs"])
        return Pool(contributors, tuple(entries), head["depth"], head["size"], head["order"], head["seed"])
    except (KeyError, TypeError) as error:
        at = Place(str(path), len(entries) + 2 if len(entries) + 1 < len(values) else 1)
        remedy = "make the pool with 'focuseval pool'"
        raise FormatError(f"expected {expected} {error}", at=at, remedy=remedy) from error


@dataclass(frozen=True, eq=False)
class PoolStatistics:
    """Counts over a pool; rows and columns of `overlap` are runs."""

    topics: int
    documents: int
    per_topic: tuple[int, float, int]
    """Fewest, mean and most documents of a topic."""
    runs: tuple[str, ...]
    brought: tuple[int, ...]
    alone: tuple[int, ...]
    """Documents that no other run brought."""
    overlap: NDArray[np.float64]
    """Jaccard: documents that both brought, as a share of those that either did."""


def describe_pool(pool: Pool) -> PoolStatistics:
    """Return the statistics of a pool."""
    runs = len(pool.contributors)
    member = np.zeros((len(pool.entries), runs), np.int64)
    rows = [row for row, entry in enumerate(pool.entries) for _ in entry.by]
    member[rows, [run for entry in pool.entries for run in entry.by]] = 1
    _, sizes = np.unique([entry.topic for entry in pool.entries], return_counts=True)
    shared = member.T @ member
    brought = np.diag(shared)
    either = brought[:, None] + brought - shared
    return PoolStatistics(
        len(sizes),
        len(pool.entries),
        (int(sizes.min()), float(sizes.mean()), int(sizes.max())) if len(sizes) else (0, 0.0, 0),
        tuple(contributor.run for contributor in pool.contributors),
        tuple(brought.tolist()),
        tuple((member * (member.sum(axis=1, keepdims=True) == 1)).sum(axis=0).tolist()),
        np.divide(shared, either, out=np.zeros((runs, runs)), where=either > 0),
    )
