r"""A pool: the documents to judge, from runs, by a depth or a size, in an order; and the project's own, as it grows.

Its file says where it came from, and has a line for every document::

    {"pool": 1, "depth": 100, "size": null, "order": "runs", "seed": 0,
     "runs": [{"run": "VSM", "file": "vsm.xml", "sha256": "…", "batch": 0, "depth": 100, "size": null}]}
    {"topic": "544", "doc": "9996", "runs": 3, "best": 1, "by": [0, 2], "batch": 0}

``runs`` counts the runs that returned the document at all, ``best`` is its best rank among documents, ``by`` says which
runs brought it into the pool. More runs can be added later: what is there keeps its place, new documents follow; every
run says in which batch it came and how deep it was pooled.

The events of a project say which runs were pooled and what they brought; `project_pool` gives the pool back from them.
Files of runs are kept under names that say what they hold: ``runs/0123456789ab-vsm.xml``.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.assessment.files import make_private, settle
from focuseval.assessment.plan import COMPARISON, RANDOM, RANK, Pooled, Unit, add_to_pool, pool
from focuseval.assessment.rules import FINISHED
from focuseval.assessment.store import Store
from focuseval.collection.index import Index
from focuseval.data.fields import json_line, numbered_lines, read_object
from focuseval.data.placement import SPAN
from focuseval.data.run import Run
from focuseval.errors import FocusevalError, FormatError, MissingDataError, Place, StorageError
from focuseval.formats import read_run
from focuseval.formats.content import write_whole

ORDERS = ("runs", "shuffled")
FOLDER = "runs"
_KEPT = re.compile(r"[0-9a-f]{12}-[\w.-]{1,80}")


@dataclass(frozen=True)
class Contributor:
    """A run that was pooled; two are equal when the same run was pooled as deep, under whatever name and whenever."""

    run: str
    file: str = field(default="", compare=False)
    sha256: str = ""
    batch: int = field(default=0, compare=False)
    depth: int | None = None
    """How deep it was pooled, or with `size` until how many documents: a later batch may differ."""
    size: int | None = None


@dataclass(frozen=True)
class Pool:
    """Documents to judge, topic by topic in judging order, and where they come from."""

    contributors: tuple[Contributor, ...]
    entries: tuple[Pooled, ...]
    depth: int | None = None
    size: int | None = None
    order: str = "runs"
    seed: int = 0

    @property
    def runs(self) -> list[tuple[str, str]]:
        """The runs, each once, however often it was pooled: name, and SHA-256 of its file."""
        return list(dict.fromkeys((one.run, one.sha256) for one in self.contributors))


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
    pairs, inverse, counts = np.unique(ranked.pair, return_inverse=True, return_counts=True)
    places = np.searchsorted(pairs, chosen.pair)
    returned = counts[places]
    brought: dict[int, list[int]] = {}
    for pair, run in zip(by.pair.tolist(), by.run.tolist(), strict=True):
        brought.setdefault(pair, []).append(run)
    columns = zip(chosen.topic.tolist(), chosen.document.tolist(), returned.tolist(), chosen.rank.tolist(), strict=True)
    entries = [
        Pooled(topics[topic], documents[document], 0, count, rank, tuple(brought[(topic << 32) | document]))
        for topic, document, count, rank in columns
    ]
    known = {entry[:2] for entry in base.entries} if base else set()
    batch = 1 + max((one.batch for one in base.contributors), default=0) if base else 0
    fresh = [entry._replace(batch=batch) for entry in entries if entry[:2] not in known]
    place = {topic: k for k, topic in enumerate(dict.fromkeys(entry.topic for entry in fresh))}
    within = _drawn(fresh, seed) if order == "shuffled" else _by_rank
    fresh.sort(key=lambda entry: (place[entry.topic], within(entry)))
    how = (batch, depth, size)
    contributors = tuple(Contributor(run.run_id, Path(run.file).name, run.sha256, *how) for run in runs)
    added = Pool(contributors, tuple(fresh), depth, size, order, seed)
    if base is None:
        return added
    counted = set(base.runs)  # a run that is pooled again, deeper, returned no more than it did
    new = np.array([(run.run_id, run.sha256) not in counted for run in runs])
    more_runs = np.bincount(inverse, new[ranked.run], len(pairs))[places].astype(np.int64).tolist()
    again = {entry[:2]: entry._replace(runs=count) for entry, count in zip(entries, more_runs, strict=True)}
    shift = len(base.contributors)
    kept = []
    for entry in base.entries:  # in place, with the new runs counted
        more = again.get(entry[:2], Pooled(*entry[:2], best=entry.best))
        brought_by = (*entry.by, *(run + shift for run in more.by))
        kept.append(entry._replace(runs=entry.runs + more.runs, best=min(entry.best, more.best), by=brought_by))
    fresh = [entry._replace(by=tuple(run + shift for run in entry.by)) for entry in fresh]
    return replace(added, contributors=(*base.contributors, *contributors), entries=(*kept, *fresh))


def _by_rank(row: Pooled) -> tuple[Any, ...]:
    """Sort what more runs returned first, then the better rank."""
    return -row.runs, row.best, row.document


def _drawn(rows: Sequence[Pooled], seed: int) -> Callable[[Pooled], Any]:
    """Return a key that sorts rows at random; equal seeds give equal orders, however the rows are sorted before."""
    names = sorted(row[:2] for row in rows)
    drawn = dict(zip(names, np.random.default_rng(seed).permutation(len(names)).tolist(), strict=True))
    return lambda row: drawn[row[:2]]


def _ranked(runs: Sequence[Run]) -> tuple[list[str], list[str], _Ranked]:
    """Return the names of topics and documents, and every document's rank in every run."""
    names = []
    for run in runs:  # the collection's names, where the run is placed in one and it has them
        joined = run.document.combine_chunks() if isinstance(run.document, pa.ChunkedArray) else run.document
        own = pc.cast(joined, pa.string())
        if run.placement is not None:
            row = run.placement.document
            known = run.placement.collection.ids.take(pa.array(np.maximum(row, 0)))
            own = pc.if_else(pa.array(row >= 0), known, own)
        names.append(own)
    ids = pa.chunked_array(names).dictionary_encode().unify_dictionaries()
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


def write_pool(pool: Pool, path: str | Path) -> None:
    """Write a pool's file, whole or not at all."""
    how = {name: getattr(pool, name) for name in ("depth", "size", "order", "seed")}
    head = {"pool": 1, **how, "runs": [vars(one) for one in pool.contributors]}
    rows = (
        {"topic": one.topic, "doc": one.document, "runs": one.runs, "best": one.best, "by": one.by, "batch": one.batch}
        for one in pool.entries
    )
    write_whole(path, map(json_line, chain([head], rows)))


def read_pool(path: str | Path) -> Pool:
    """Read a pool's file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        remedy = "check the name and the permissions"
        raise FormatError(f"expected a pool, found: {error}", at=str(path), remedy=remedy) from error
    places = ((Place(str(path), number), line) for number, line in numbered_lines(text))
    values = [(at, read_object(line, at, "write one object on each line")) for at, line in places]
    at, head = values[0] if values else (Place(str(path), 1), {})
    remedy = "make the pool with 'focuseval pool'"
    if head.get("pool") != 1:
        raise FormatError('expected {"pool": 1, …}', at=at, remedy=remedy)
    entries, expected = list[Pooled](), "runs, depth, size, order and seed of the pool, found:"
    try:
        contributors = tuple(Contributor(**run) for run in head["runs"])
        how = [head[name] for name in ("depth", "size", "order", "seed")]
        expected = "a pooled document, found no"
        for at, one in values[1:]:  # noqa: B007  the error names the line at hand
            by, batch = tuple(one["by"]), one["batch"]
            entries.append(Pooled(one["topic"], one["doc"], 0, one["runs"], one["best"], by, batch))
    except (KeyError, TypeError) as error:
        raise FormatError(f"expected {expected} {error}", at=at, remedy=remedy) from error
    return Pool(contributors, tuple(entries), *how)


@dataclass(frozen=True, eq=False)
class PoolStatistics:
    """Counts over a pool; rows and columns of `overlap` are runs, each once, however often it was pooled."""

    topics: int
    documents: int
    per_topic: tuple[int, float, int]  # fewest, mean and most documents of a topic
    runs: tuple[str, ...]
    brought: tuple[int, ...]
    alone: tuple[int, ...]  # documents that no other run brought
    overlap: NDArray[np.float64]  # Jaccard: documents that both brought, as a share of those that either did


def describe_pool(pool: Pool) -> PoolStatistics:
    """Return the statistics of a pool."""
    names = pool.runs
    runs, column = len(names), [names.index((one.run, one.sha256)) for one in pool.contributors]
    member = np.zeros((len(pool.entries), runs))  # NumPy multiplies integers without BLAS
    rows = [row for row, entry in enumerate(pool.entries) for _ in entry.by]
    member[rows, [column[by] for entry in pool.entries for by in entry.by]] = 1
    _, sizes = np.unique([entry.topic for entry in pool.entries], return_counts=True)
    shared = (member.T @ member).astype(np.int64)
    brought = np.diag(shared)
    either = brought[:, None] + brought - shared
    per_topic = (int(sizes.min()), float(sizes.mean()), int(sizes.max())) if len(sizes) else (0, 0.0, 0)
    alone = member[member.sum(axis=1) == 1].sum(axis=0).astype(np.int64)
    counts = (tuple(name for name, _ in names), tuple(brought.tolist()), tuple(alone.tolist()))
    overlap = np.divide(shared, either, out=np.zeros((runs, runs)), where=either > 0)
    return PoolStatistics(len(sizes), len(pool.entries), per_topic, *counts, overlap)


def project_pool(store: Store) -> Pool:
    """Return the project's pool; which runs brought the documents is unknown where an older version added them."""
    runs: list[Contributor] = []
    by, batches = dict[Unit, tuple[int, ...]](), dict[Unit, int]()
    for batch, (_, edit) in enumerate(store.project_events("pool")):
        number = {}
        for k, one in enumerate(edit.get("runs", ())):
            contributor = replace(Contributor(**one), batch=batch)
            if contributor not in runs:
                runs.append(contributor)
            number[k] = runs.index(contributor)
        returned = [[*row, places] for row, places in zip(edit["rows"], edit.get("by", ()), strict=False)]
        returned += edit.get("again", ())  # documents of the pool that more runs returned
        for topic, document, *_, brought in returned:
            known_by = by.get((topic, document), ())
            by[topic, document] = tuple(dict.fromkeys((*known_by, *(number[k] for k in brought))))
        for topic, document, *_ in edit["rows"]:
            batches.setdefault((topic, document), batch)
    rows = (row._replace(position=0, by=by.get(row[:2], ()), batch=batches.get(row[:2], 0)) for row in pool(store))
    return Pool(tuple(runs), tuple(rows))


def add_pool(store: Store, wanted: Pool, *, actor: str) -> int:
    """Add the documents that the project does not have, and return how many; of the others note who returned them."""
    known = project_pool(store)
    units = {entry[:2] for entry in known.entries}
    fresh = {k for k, one in enumerate(wanted.contributors) if one not in known.contributors}
    again = [row for row in wanted.entries if row[:2] in units and fresh & set(row.by)]
    runs = [vars(one) for one in wanted.contributors]
    return add_to_pool(store, wanted.entries, actor=actor, runs=runs, again=again)


@dataclass(frozen=True)
class Growth:
    """What more runs would add to the pool of one topic."""

    topic: str
    pooled: int  # documents that the pool has
    judged: int  # documents of it that somebody has finished
    returned: int  # documents that the new runs returned, as deep as they would be pooled
    fresh: int  # those of them that the pool does not have
    judged_returned: int  # those of them that somebody has finished: what the runs can be scored with as it is


def grown(store: Store, runs: Sequence[Run], *, depth: int) -> tuple[Pool, list[Growth]]:
    """Return the pool with more runs in it, and what they would add topic by topic; nothing is changed."""
    base = project_pool(store)
    alone = build_pool(runs, depth=depth)
    after = build_pool(runs, depth=depth, base=base) if base.contributors or base.entries else alone
    units = {entry[:2] for entry in base.entries}
    judged = "SELECT DISTINCT topic, document FROM judgements WHERE status IN (?, ?)"
    finished = {(topic, document) for topic, document in store.rows(judged, FINISHED)}
    returned = [entry[:2] for entry in alone.entries]
    counts = [
        Counter(topic for topic, _ in some)
        for some in (units, finished & units, returned, set(returned) - units, set(returned) & finished)
    ]
    topics = sorted({entry.topic for entry in after.entries})
    return after, [Growth(topic, *(count[topic] for count in counts)) for topic in topics]


def ordered(store: Store, by: str, *, seed: int = 0, runs: Sequence[Run] = ()) -> list[Pooled]:
    """Return the project's pool in another order, topic by topic.

    ``rank``: what more runs returned comes first, then the better rank. ``random``: drawn with a seed. ``comparison``:
    those first of which the runs would gain most differently: the widest range, over the runs, of the discount that
    nDCG has at a document's rank, which is 0 for a run that did not return it.
    """
    rows = pool(store)
    if by in (RANK, RANDOM):
        within = _drawn(rows, seed) if by == RANDOM else _by_rank
        return sorted(rows, key=lambda row: (row.topic, within(row)))
    if by != COMPARISON or len(runs) < 2:
        what = f"expected {RANK}, {RANDOM}, or {COMPARISON} with two runs or more that are kept with the project"
        raise MissingDataError(f"{what}, found {by!r} and {len(runs)} runs")
    topics, documents, ranked = _ranked(runs)
    gains: dict[tuple[str, str], list[float]] = {}
    discount = 1 / np.log2(1 + ranked.rank)
    for topic, document, gain in zip(ranked.topic.tolist(), ranked.document.tolist(), discount.tolist(), strict=True):
        gains.setdefault((topics[topic], documents[document]), []).append(gain)

    def moves(row: Pooled) -> float:
        own = gains.get(row[:2], [0.0])
        return max(own) - (min(own) if len(own) == len(runs) else 0.0)

    return sorted(rows, key=lambda row: (row.topic, -moves(row), _by_rank(row)))


def why_pooled(found: Pool, topic: str, document: str) -> tuple[Pooled | None, list[Contributor]]:
    """Return how a document came into a pool: its entry, and the runs that brought it, each once."""
    entry = next((one for one in found.entries if one[:2] == (topic, document)), None)
    runs: dict[tuple[str, str], Contributor] = {}
    for one in (found.contributors[k] for k in entry.by) if entry else ():
        runs.setdefault((one.run, one.sha256), one)
    return entry, [*runs.values()]


def keep_run(project: Path, name: str, data: bytes, *, index: Index | None) -> Path:
    """Keep a run's file, after it was read as one; the same file is kept once."""
    safe = re.sub(r"[^\w.-]+", "_", name.replace("\\", "/").rpartition("/")[2], flags=re.ASCII)[-80:]
    target = project / FOLDER / f"{hashlib.sha256(data).hexdigest()[:12]}-{safe.lstrip('.') or 'run'}"
    partial = target.with_name(f"partial-{target.name}")
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        make_private(partial)
        partial.write_bytes(data)
        read_run(partial, index=index)
        settle(partial, target)
    except FocusevalError as error:  # the file's own name, not where we put it for a moment
        raise FormatError(str(error).replace(str(partial), name)) from error
    except OSError as error:
        raise StorageError(f"{name}: {error.strerror}; the run was not kept") from error
    finally:
        partial.unlink(missing_ok=True)
    return target


def kept_runs(project: Path) -> list[Path]:
    """Return the runs that a project keeps, by name."""
    return sorted(path for path in (project / FOLDER).glob("*") if _KEPT.fullmatch(path.name))


def returned_parts(
    runs: Iterable[Run], topic: str, document: int, *, without: Collection[str] = ()
) -> dict[tuple[int, int], list[str]]:
    """Return which spans of a document, the row of the collection, placed runs returned for a topic, and which runs.

    Elements whose tag is among `without` are left out.
    """
    found: dict[tuple[int, int], list[str]] = {}
    for run in runs:
        if topic in run.topics and run.placement is not None and run.placement.status is not None:
            mine = (run.topic == run.topics.index(topic)) & (run.placement.document == document)
            rows = np.flatnonzero(mine & (run.placement.status == SPAN))
            if without and run.path is not None:
                tags = ((run.path[row].as_py() or "").rpartition("/")[2].partition("[")[0] for row in rows.tolist())
                rows = rows[[tag not in without for tag in tags]]
            for span in zip(run.start[rows].tolist(), run.end[rows].tolist(), strict=True):  # type: ignore[index]
                names = found.setdefault(span, [])
                names += [run.run_id] if run.run_id not in names else []
    return dict(sorted(found.items()))
