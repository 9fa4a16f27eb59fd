"""Make a run valid with the smallest loss: of two results that clash the higher-ranked stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.tasks import rules
from focuseval.measures.tasks.checks import first_row
from focuseval.measures.tasks.extents import Extents, extents
from focuseval.measures.tasks.findings import Broken, Findings
from focuseval.measures.tasks.overlap import first_come
from focuseval.measures.tasks.tasks import Task, find_task
from focuseval.placing import place_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection
    from focuseval.data.run import Run
    from focuseval.measures.tasks.rules import Rule

    Integers = NDArray[np.int64]


def repair(run: Run, task: Task | str, index: Collection | None = None) -> tuple[Run, Findings]:
    """Return a valid run and every change: what was dropped, moved, rescored and renumbered.

    Results without a place, repeated and overlapping ones are dropped, interleaved articles regrouped where each
    appears first, lists cut at the task's limit, scores made to fall, ranks renumbered.
    """
    chosen = find_task(task) if isinstance(task, str) else task
    found = extents(run if index is None else place_run(run, index, bad="keep"))
    changes: list[Broken] = []
    order = _drop(found, chosen, changes)
    if chosen.grouped:
        order = _regroup(order, found.group, changes)
    order = _cut(run, order, chosen, changes)
    lawful = take(run, order)
    if lawful.score is not None:
        lawful = replace(lawful, score=_falling(lawful.score, lawful.topic, order, chosen, changes))
    if run.rank is not None:
        lawful = replace(lawful, rank=_renumbered(run.rank, lawful.topic, order, changes))
    lawful = replace(lawful, task=chosen.name if run.task else "")
    if run.split_topics:  # its blocks are joined: the lines are those of the run as it is now
        joined = np.flatnonzero(run.line == run.split_topics[0][1])[:1]
        _change(changes, rules.SPLIT_TOPIC, joined)
        lawful = replace(lawful, line=None)
    return lawful, Findings(run, tuple(changes), chosen.limit, repaired=True)


def take(run: Run, order: Integers) -> Run:
    """Return a run of some rows of another, in the order given; every row knows its line."""
    if run.line is None:
        run = replace(run, line=np.arange(1, len(run) + 1))
    return run.take(order)


def _change(changes: list[Broken], rule: Rule, rows: Integers, others: Integers | None = None) -> None:
    if len(rows):
        changes.append(Broken(rule, rows, rows if others is None else others, "change"))


def _drop(found: Extents, task: Task, changes: list[Broken]) -> Integers:
    """Return the rows that stay; what one rule drops no longer stands in the way of others."""
    rows = np.arange(len(found.group))
    for rule, flags in (
        (rules.UNKNOWN_DOCUMENT, found.unknown_document),
        (rules.UNKNOWN_PATH, found.unknown_path),
        (rules.UNPLACED, found.unplaced),
        (rules.BAD_SPAN, found.bad_span),
    ):
        _change(changes, rule, rows[flags[rows]])
        rows = rows[~flags[rows]]
    rows = _once(rules.DUPLICATE, found.result, rows, changes)
    if task.one_per_article:
        rows = _once(rules.SECOND_RESULT, found.group, rows, changes)
    return rows if task.overlap else _apart(found, rows, changes)


def _once(rule: Rule, key: Integers, rows: Integers, changes: list[Broken]) -> Integers:
    """Keep the first row of every key."""
    first = first_row(key[rows])
    again = first < np.arange(len(rows))
    _change(changes, rule, rows[again], rows[first[again]])
    return rows[~again]


def _apart(found: Extents, rows: Integers, changes: list[Broken]) -> Integers:
    """Drop what overlaps a higher-ranked result that stays: spans first, then what only paths tell."""
    for start, end in ((found.start, found.end), (found.low, found.high)):
        stays, by = first_come(found.group[rows], start[rows], end[rows])
        _change(changes, rules.OVERLAP, rows[~stays], rows[by[~stays]])
        rows = rows[stays]
    return rows


def _regroup(order: Integers, group: Integers, changes: list[Broken]) -> Integers:
    """Move results up to the first result of their article."""
    _, first, which = np.unique(group[order], return_index=True, return_inverse=True)
    together = order[np.argsort(first[which.reshape(-1)], kind="stable")]
    before = np.r_[-1, group[order][:-1]][: len(order)]
    returns = order[(group[order] != before) & (first[which.reshape(-1)] < np.arange(len(order)))]
    _change(changes, rules.INTERLEAVED, returns)
    return together


def _cut(run: Run, order: Integers, task: Task, changes: list[Broken]) -> Integers:
    if task.limit is None:
        return order
    topic = run.topic[order]
    over = np.arange(len(order)) - np.searchsorted(topic, topic) >= task.limit
    _change(changes, rules.TOO_MANY, order[over])
    return order[~over]


def _falling(
    given: NDArray[np.float64], topic: NDArray[np.int32], order: Integers, task: Task, changes: list[Broken]
) -> NDArray[np.float64]:
    """Return finite scores; where the task ranks results, each is lowered to the lowest before it in its topic."""
    score = _filled(given, topic)
    _change(changes, rules.BAD_SCORE, order[~np.isfinite(given)])
    if task.grouped or not len(score):
        return score
    # Dense ranks make scores integers, so that one running minimum serves all topics: later topics start lower.
    levels, level = np.unique(score, return_inverse=True)
    offset = topic.astype(np.int64) * len(levels)
    fallen = levels[np.minimum.accumulate(level.reshape(-1) - offset) + offset]
    _change(changes, rules.SCORE_ORDER, order[(fallen != score) & np.isfinite(given)])
    return fallen


def _filled(score: NDArray[np.float64], topic: NDArray[np.int32]) -> NDArray[np.float64]:
    """Replace what is no number by the last number before it in the topic, else the first after it, else 0.

    Behind a topic's last number each is a little lower than the one before, in single precision too: where ranking is
    by score, ties would be ranked anew.
    """
    rows = np.arange(len(score))
    finite = np.isfinite(score)
    before = np.maximum.accumulate(np.where(finite, rows, -1))
    after = np.minimum.accumulate(np.where(finite, rows, len(score))[::-1])[::-1]
    led, followed = before >= np.searchsorted(topic, topic), after < np.searchsorted(topic, topic, "right")
    source = np.where(led, before, np.where(followed, after, len(score)))
    filled: NDArray[np.float64] = np.append(np.where(finite, score, 0.0), 0.0)[source]
    step = np.maximum(np.abs(filled), 1.0) * 1e-6
    return np.where(led & ~followed, filled - (rows - before) * step, filled)


def _renumbered(
    given: NDArray[np.int32], topic: NDArray[np.int32], order: Integers, changes: list[Broken]
) -> NDArray[np.int32]:
    """Return consecutive ranks, from 0 if the run counts from 0, else from 1."""
    base = 0 if given.min(initial=1) == 0 else 1
    rank = np.arange(len(order)) - np.searchsorted(topic, topic) + base
    _change(changes, rules.RENUMBERED, order[rank != given[order]])
    return rank.astype(np.int32)
