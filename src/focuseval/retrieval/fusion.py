"""Fusion: one ranking from several, by the ranks or by the scores that they give to the same results.

::

    rrf        Σ w / (k + rank)                       reciprocal rank fusion (Cormack, Clarke & Büttcher 2009); k is 60
    sum        Σ w · s                                CombSUM (Fox & Shaw 1994) of normalised scores s
    mnz        Σ w · s × rankings that hold it        CombMNZ (Fox & Shaw 1994)
    product    Π s^w                                  0 unless every ranking of the topic holds it

A ranking that does not hold a result adds nothing. Scores are made comparable for each topic of each run: ``min-max``,
from 0 to 1; ``z``, mean 0 and deviation 1; ``rank``, 1 − (rank − 1)/n; or ``none``, as they are. Equal fused scores
are ordered by the best rank, then by what stands first in the runs, in their order: a run fused with itself keeps its
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.data.run import Run
from focuseval.errors import FormatError, MissingDataError, UsageError, counted
from focuseval.evaluation.sources import as_index, read
from focuseval.placing.texts import column_of

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

METHODS = ("rrf", "sum", "mnz", "product")
NORMS = ("min-max", "z", "rank", "none")
DECIMALS = 12  # of a fused score: sums of the same numbers in another order are equal
_LEAST = 1e-9  # what a range or a deviation is divided by at least, as in ranx


@dataclass(frozen=True)
class Fusion:
    """How rankings are fused.

    >>> Fusion().description(), Fusion("sum", norm="z", weights=(0.7, 0.3)).description()
    ('rrf k=60', 'sum norm=z weights=0.7,0.3')
    """

    method: str = "rrf"
    k: float = 60  # of `rrf`: how little the first ranks differ
    norm: str = "min-max"  # of the other methods: how scores are made comparable
    weights: tuple[float, ...] = ()  # one for each ranking, in their order; all 1 where it is empty

    def __post_init__(self) -> None:
        """Refuse what does not exist or has no meaning."""
        for name, known in (("method", METHODS), ("norm", NORMS)):
            if getattr(self, name) not in known:
                what = f"expected {name} among {', '.join(known)}, found {getattr(self, name)!r}"
                raise UsageError(f"{what}; name one of these")
        for name, value in (("k", self.k), *(("weights", weight) for weight in self.weights)):
            if not 0 <= value < np.inf:
                raise UsageError(f"expected {name} from 0, found {value:g}; give another number")
        if self.method == "product" and self.norm == "z":
            what = "expected scores from 0 for a product, found norm z, which has negative ones"
            raise UsageError(f"{what}; use min-max or rank")

    def description(self) -> str:
        """Return method and parameters, as a run names them."""
        how = f"k={self.k:g}" if self.method == "rrf" else f"norm={self.norm}"
        weights = f" weights={','.join(f'{weight:g}' for weight in self.weights)}" if self.weights else ""
        return f"{self.method} {how}{weights}"


class Ranked(NamedTuple):
    """Results of several rankings of several topics, a row each."""

    ranking: Integers  # which ranking
    topic: Integers
    result: Integers  # numbers of the distinct results of all topics: the same in two topics are two
    rank: Integers  # from 1 in every ranking of every topic
    score: Numbers | None


def fused_scores(rows: Ranked, how: Fusion) -> Numbers:
    """Return the fused score of every distinct result.

    >>> a = Ranked(np.array([0, 0, 1]), np.zeros(3, int), np.array([0, 1, 1]), np.array([1, 2, 1]), None)
    >>> fused_scores(a, Fusion()).round(4)
    array([0.0164, 0.0325])
    """
    many = int(rows.result.max(initial=-1)) + 1
    weight = np.array(how.weights or (1.0,) * (int(rows.ranking.max(initial=0)) + 1))[rows.ranking]
    if how.method == "rrf":
        return np.round(np.bincount(rows.result, weight / (how.k + rows.rank), many), DECIMALS)
    _, own = np.unique(np.stack([rows.ranking, rows.topic]), axis=1, return_inverse=True)
    score = _normalised(rows, own.reshape(-1), how.norm)
    held = np.bincount(rows.result, minlength=many)
    if how.method == "product":
        product = np.ones(many)
        np.multiply.at(product, rows.result, score**weight)
        topic = np.zeros(many, np.int64)
        topic[rows.result] = rows.topic
        pairs = np.unique(np.stack([rows.topic, rows.ranking]), axis=1)
        asked = np.bincount(pairs[0])[topic]
        return np.asarray(np.round(np.where(held < asked, 0.0, product), DECIMALS), np.float64)
    total = np.bincount(rows.result, weight * score, many)
    return np.round(total * held if how.method == "mnz" else total, DECIMALS)


def _normalised(rows: Ranked, own: Integers, norm: str) -> Numbers:
    """Return scores that can be compared; `own` numbers the rankings of all topics."""
    size = np.bincount(own)
    if norm == "rank" or rows.score is None:
        return np.asarray(1 - (rows.rank - 1) / size[own])
    if norm == "none":
        return rows.score
    if norm == "z":
        centred = rows.score - (np.bincount(own, rows.score) / size)[own]
        return np.asarray(centred / np.maximum(np.sqrt(np.bincount(own, centred**2) / size), _LEAST)[own])
    low, high = np.full(len(size), np.inf), np.full(len(size), -np.inf)
    np.minimum.at(low, own, rows.score)
    np.maximum.at(high, own, rows.score)
    return np.asarray((rows.score - low[own]) / np.maximum(high - low, _LEAST)[own])


def fuse(
    runs: Sequence[Any],
    method: str = "rrf",
    *,
    k: float = 60,
    norm: str = "min-max",
    weights: Sequence[float] = (),
    index: Any = None,
    limit: int | None = None,
    run_id: str | None = None,
) -> Run:
    """Return one run from several: what they return for a topic, by its fused score.

    Parameters
    ----------
    runs
        Two or more, each as `focuseval.evaluate` takes it. Results are the same where document and span are; without
        a collection elements are the same where document and path are.
    method, k, norm, weights
        As in `Fusion`: ``rrf``, ``sum``, ``mnz`` or ``product``; weights in the order of the runs.
    index
        The collection, where some runs name elements and others spans.
    limit
        Most results of a topic.

    >>> a = {"topic": ["1", "1"], "doc": ["x", "y"], "score": [2.0, 1.0]}
    >>> b = {"topic": ["1", "1"], "doc": ["y", "z"], "score": [0.9, 0.3]}
    >>> fuse([a, b]).document.to_pylist()
    ['y', 'x', 'z']
    """
    how = Fusion(method, k, norm, tuple(weights))
    if len(runs) < 2:
        raise UsageError(f"expected two or more runs to fuse, found {len(runs)}; give another one")
    if weights and len(weights) != len(runs):
        raise UsageError(f"expected a weight for each of {len(runs)} runs, found {len(weights)}; give one for each")
    placed = [read(run, None, as_index(index)) for run in runs]
    table, rows = _rows(placed, how)
    score = fused_scores(rows, how)[rows.result]
    best = np.full(int(rows.result.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(best, rows.result, rows.rank)
    order = np.lexsort((np.arange(len(score)), best[rows.result], -score, rows.topic))
    _, first = np.unique(rows.result[order], return_index=True)
    kept = order[np.sort(first)]  # a result is written as the run that has it first in this order wrote it
    topic = rows.topic[kept]
    place = np.arange(len(kept)) - np.searchsorted(topic, topic)
    if limit is not None:
        kept, topic, place = (column[place < limit] for column in (kept, topic, place))
    names = [run.run_id for run in placed]
    tasks = {run.task for run in placed}
    joined = f"{method}-{'-'.join(dict.fromkeys(names))}"
    return replace(
        table.take(kept),
        rank=(place + 1).astype(np.int32),
        score=score[kept],
        run_id=run_id or (joined if len(joined) <= 60 else f"{method}-of-{len(runs)}-runs"),
        task=tasks.pop() if len(tasks) == 1 else "",
        attributes={"description": f"{how.description()} of {', '.join(names)}"},
        remarks=tuple(dict.fromkeys(remark for run in placed for remark in run.remarks)),
    )


def _rows(runs: Sequence[Run], how: Fusion) -> tuple[Run, Ranked]:
    """Return all results as one table, topic by topic, and what fusion reads of them."""
    if len({run.whole_documents for run in runs}) > 1:
        whole = next(run for run in runs if run.whole_documents)
        what = "expected results of one kind, found whole documents here and parts of documents elsewhere"
        raise FormatError(what, at=whole.file or whole.run_id, remedy="fuse runs of one kind")
    for run in runs:
        if run.score is None and how.method != "rrf" and how.norm != "rank":
            where = run.file or run.run_id
            raise MissingDataError(f"{where}: expected scores to add up, found none; use method rrf, or norm rank")
        if how.method == "product" and how.norm == "none" and run.score is not None and (run.score < 0).any():
            row = int(np.argmax(run.score < 0))
            what = f"expected scores from 0 for a product, found {run.score[row]:g}"
            raise FormatError(what, at=run.at(row), remedy="use norm min-max or rank")
    topics = tuple(dict.fromkeys(name for run in runs for name in run.topics))
    codes = {name: number for number, name in enumerate(topics)}
    parts, strings = [], ("document", "path", "end_path", "text")
    for number, run in enumerate(runs):
        none = pa.nulls(many := len(run), pa.string())
        texts = {name: none if (own := getattr(run, name)) is None else own.cast(pa.string()) for name in strings}
        numbers = {
            "topic": np.array([codes[name] for name in run.topics], np.int64)[run.topic],
            "ranking": np.full(many, number),
            "rank": np.arange(many) - run.bounds[run.topic] + 1,
            "row": column_of(None if run.placement is None else run.placement.document, many),
            "start": column_of(run.start, many),
            "end": column_of(run.end, many),
            "score": np.full(many, np.nan) if run.score is None else np.asarray(run.score, np.float64),
        }
        parts.append(pa.table(texts | numbers))
    whole = pa.concat_tables(parts)
    whole = whole.take(np.argsort(whole["topic"].to_numpy(), kind="stable"))
    topic, ranking, rank, row, start, end, score = (column.to_numpy() for column in whole.columns[len(strings) :])
    text = {name: whole[name].combine_chunks() for name in strings}
    by_path = (start < 0) & np.asarray(text["path"].is_valid())
    if (start >= 0).any() and by_path.any() and all(run.placement is None for run in runs):
        what = f"expected elements or spans, found both ({counted(int(by_path.sum()), 'path')})"
        raise MissingDataError(f"{what}, which only the collection can compare; give index= or docs=")
    known = [text["document"]]
    if all(run.placement is not None for run in runs):  # an id with its extension and without it are one document
        known = [pa.array(np.where(row < 0, -1 - _codes(text["document"]), row))]
    literal = [pa.compute.if_else(pa.array(start >= 0), None, text[name]) for name in ("path", "end_path", "text")]
    result = np.zeros(len(topic), np.int64)
    for column in (pa.array(topic), *known, pa.array(start), pa.array(end), *literal):
        code = _codes(column)
        _, result = np.unique(result * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
    key = result * len(runs) + ranking  # may be there twice: an element and its only child share a span
    again, order = np.empty(len(key), np.int64), np.argsort(key, kind="stable")
    again[order] = np.arange(len(order)) - np.searchsorted(key[order], key[order])
    _, result = np.unique(result * (int(again.max(initial=0)) + 1) + again, return_inverse=True)
    columns: dict[str, Any] = {name: column for name, column in text.items() if column.null_count < len(topic)}
    columns |= {name: column for name, column in (("start", start), ("end", end)) if (column >= 0).any()}
    table = Run("", topics, topic.astype(np.int32), **{"document": text["document"], **columns})
    return table, Ranked(ranking, topic, result, rank, None if any(run.score is None for run in runs) else score)


def _codes(column: pa.Array) -> Integers:
    """Return a number for every distinct value, nulls among them."""
    return np.asarray(column.dictionary_encode(null_encoding="encode").indices, np.int64)
