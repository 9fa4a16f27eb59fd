"""Is a run valid for a task? One answer for every command: `check` finds what breaks the rules, `repair` mends it.

A finding is an error where the run cannot be scored under the task, and a warning where the measures have a rule for
it: a repeated result gains nothing, an empty span costs and gains nothing, the format decides the order of results.
Validity is a property of a run and a task; no gold decides it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.index import Collection
from focuseval.data.run import Run
from focuseval.measures import tasks as rules
from focuseval.measures.extents import Extents, extents, first_come, first_overlap
from focuseval.measures.tasks import Broken, Findings, Level, Rule, Task, find_task
from focuseval.measures.topicwise import Floats, Integers, first_row
from focuseval.placing import place_run


def check(run: Run, task: Task | str, index: Collection | None = None, *, warnings: bool = True) -> Findings:
    """Return everything in a run that breaks the task's rules, in the order of its lines.

    Without an index, documents and paths are not looked up, and elements overlap where one path contains the other.
    With ``warnings=False`` only rules whose findings are errors are checked.
    """
    chosen = find_task(task) if isinstance(task, str) else task
    broken: list[Broken] = []
    if warnings or not chosen.overlap or chosen.one_per_article:
        found = extents(run if index is None else place_run(run, index, bad="keep"))
        for rule, flags in found.misplaced:
            broken.append(_broken(rule, np.flatnonzero(flags & ~found.empty if rule is rules.BAD_SPAN else flags)))
        broken.append(_broken(rules.BAD_SPAN, np.flatnonzero(found.empty), level="warning"))
        broken += _orders(run) if warnings else ()
        broken += _lists(run, chosen, found, warnings=warnings)
    if chosen.cut and chosen.limit is not None:
        within = np.arange(len(run)) - run.bounds[run.topic] < chosen.limit
        for number, part in enumerate(broken):
            if part.rule is not rules.TOO_MANY:
                kept = within[part.rows]
                broken[number] = replace(part, rows=part.rows[kept], others=part.others[kept])
    return Findings(run, tuple(broken), chosen.limit)


def _broken(rule: Rule, rows: Integers, others: Integers | None = None, level: Level | None = None) -> Broken:
    return Broken(rule, rows, rows if others is None else others, level or rule.level)


def _lists(run: Run, task: Task, found: Extents, *, warnings: bool) -> Iterator[Broken]:
    """Results that are valid one by one, but not together."""
    rows = np.arange(len(run))
    leader, overlaps = first_row(found.group), rows
    if not task.overlap:
        spans, paths = (found.start, found.end), (found.low, found.high)
        overlaps = np.minimum(first_overlap(found.group, *spans), first_overlap(found.group, *paths))
    first = rows
    if warnings or task.one_per_article or (overlaps < rows).any():
        first = first_row(found.result)
    repeats = first < rows
    # A repeated result is reported once, as a duplicate; a TREC run that repeats a document is refused by its reader.
    refused = repeats & ((overlaps < rows) | task.one_per_article | (run.whole_documents and bool(run.faults)))
    yield _broken(rules.DUPLICATE, rows[refused], first[refused], "error")
    yield _broken(rules.DUPLICATE, rows[repeats & ~refused], first[repeats & ~refused])
    if task.limit is not None:
        yield _broken(rules.TOO_MANY, np.flatnonzero(rows - run.bounds[run.topic] >= task.limit))
    if task.grouped:
        block = np.r_[True, found.group[1:] != found.group[:-1]][: len(rows)]
        returns = np.flatnonzero(block & (leader < rows))
        yield _broken(rules.INTERLEAVED, returns, leader[returns], "warning" if task.overlap else "error")
    if task.one_per_article:
        second = np.flatnonzero((leader < rows) & ~repeats)
        yield _broken(rules.SECOND_RESULT, second, leader[second])
    if not task.overlap:
        later = np.flatnonzero((overlaps < rows) & ~repeats)
        yield _broken(rules.OVERLAP, later, overlaps[later])
        yield _broken(rules.UNCHECKED, np.flatnonzero(found.unchecked))


def _orders(run: Run) -> Iterator[Broken]:
    """Scores that are not finite or rise, topics in several blocks, ranks that repeat or jump."""
    if run.score is not None:
        yield _broken(rules.BAD_SCORE, np.flatnonzero(~np.isfinite(run.score)))
    split = {topic for topic, _ in run.split_topics}
    whole = np.array([topic not in split for topic in run.topics], np.bool_)[run.topic]
    order = np.arange(len(run))
    if run.rank is not None and ((np.diff(run.rank) < 0) & (np.diff(run.topic) == 0)).any():
        order = np.lexsort((run.rank, run.topic))
    if split and run.line is not None:  # all of them in one finding
        yield _broken(rules.SPLIT_TOPIC, np.flatnonzero(run.line == run.split_topics[0][1])[:1])
    if run.rank is not None and whole.any():
        here = order[whole[order]]
        rank = run.rank[here].astype(np.int64)
        head = np.r_[True, np.diff(run.topic[here]) > 0]
        # A list may start at 0 or at 1.
        step = np.where(head, np.where((rank == 0) | (rank == 1), 1, 2), np.diff(rank, prepend=0))
        again, gap = np.flatnonzero(step == 0), np.flatnonzero(step > 1)
        start = np.maximum.accumulate(np.where(step != 0, np.arange(len(here)), 0))
        yield _broken(rules.RANK_REPEATS, here[again], here[start[again]])
        yield _broken(rules.RANK_JUMPS, here[gap])
    if run.score is not None:
        here = order[(np.isfinite(run.score) & whole)[order]]
        score = run.score[here]
        rises = 1 + np.flatnonzero((score[1:] > score[:-1]) & (np.diff(run.topic[here]) == 0))
        yield _broken(rules.SCORE_ORDER, here[rises], here[rises - 1])


def repair(run: Run, task: Task | str, index: Collection | None = None) -> tuple[Run, Findings]:
    """Return a valid run and every change: what was dropped, moved, rescored and renumbered.

    Results without a place, repeated and overlapping ones are dropped: of two that clash, the higher-ranked one stays.
    Interleaved articles are regrouped where each appears first, lists cut at the task's limit, scores made to fall,
    ranks renumbered.
    """
    chosen = find_task(task) if isinstance(task, str) else task
    found = extents(run if index is None else place_run(run, index, bad="keep"))
    changes: list[Broken] = []
    order = _drop(found, chosen, changes)
    if chosen.grouped:
        group = found.group[order]  # results move up to the first result of their article
        _, first, which = np.unique(group, return_index=True, return_inverse=True)
        first = first[which.reshape(-1)]
        returns = np.r_[True, group[1:] != group[:-1]][: len(order)] & (first < np.arange(len(order)))
        _change(changes, rules.INTERLEAVED, order[returns])
        order = order[np.argsort(first, kind="stable")]
    if chosen.limit is not None:
        topic = run.topic[order]
        over = np.arange(len(order)) - np.searchsorted(topic, topic) >= chosen.limit
        _change(changes, rules.TOO_MANY, order[over])
        order = order[~over]
    valid = take(run, order)
    if valid.score is not None:
        valid = replace(valid, score=_falling(valid.score, valid.topic, order, chosen, changes))
    if run.rank is not None:  # from 0 if the run counts from 0
        base = 0 if run.rank.min(initial=1) == 0 else 1
        rank = np.arange(len(order)) - np.searchsorted(valid.topic, valid.topic) + base
        _change(changes, rules.RENUMBERED, order[rank != run.rank[order]])
        valid = replace(valid, rank=rank.astype(np.int32))
    valid = replace(valid, task=chosen.name if run.task else "")
    if run.split_topics:  # its blocks are joined: the lines are those of the run as it is now
        _change(changes, rules.SPLIT_TOPIC, np.flatnonzero(run.line == run.split_topics[0][1])[:1])
        valid = replace(valid, line=None)
    return valid, Findings(run, tuple(changes), chosen.limit, repaired=True)


def take(run: Run, order: Integers) -> Run:
    """Return a run of some rows of another, in the order given; every row knows its line."""
    if run.line is None:
        run = replace(run, line=np.arange(1, len(run) + 1))
    return run.take(order)


def _change(changes: list[Broken], rule: Rule, rows: Integers, others: Integers | None = None) -> None:
    if len(rows):
        changes.append(_broken(rule, rows, others, "change"))


def _drop(found: Extents, task: Task, changes: list[Broken]) -> Integers:
    """Return the rows that stay; a row that one rule drops is ignored by the next rules."""
    rows = np.arange(len(found.group))
    for rule, flags in found.misplaced:
        _change(changes, rule, rows[flags[rows]])
        rows = rows[~flags[rows]]
    for rule, key in ((rules.DUPLICATE, found.result), (rules.SECOND_RESULT, found.group)):
        if rule is rules.DUPLICATE or task.one_per_article:
            first = first_row(key[rows])
            again = first < np.arange(len(rows))
            _change(changes, rule, rows[again], rows[first[again]])
            rows = rows[~again]
    if not task.overlap:
        for start, end in ((found.start, found.end), (found.low, found.high)):
            stays, by = first_come(found.group[rows], start[rows], end[rows])
            _change(changes, rules.OVERLAP, rows[~stays], rows[by[~stays]])
            rows = rows[stays]
    return rows


def _falling(given: Floats, topic: NDArray[np.int32], order: Integers, task: Task, changes: list[Broken]) -> Floats:
    """Return finite scores; where the task ranks results, each is lowered to the lowest before it in its topic.

    A score that is not finite becomes the last number before it in the topic, else the first after it, else 0. Behind
    a topic's last number each is a little lower than the one before, in single precision too: where ranking is by
    score, ties would be ranked anew.
    """
    rows = np.arange(len(given))
    finite = np.isfinite(given)
    before = np.maximum.accumulate(np.where(finite, rows, -1))
    after = np.minimum.accumulate(np.where(finite, rows, len(given))[::-1])[::-1]
    led, followed = before >= np.searchsorted(topic, topic), after < np.searchsorted(topic, topic, "right")
    source = np.where(led, before, np.where(followed, after, len(given)))
    filled: Floats = np.append(np.where(finite, given, 0.0), 0.0)[source]
    step = np.maximum(np.abs(filled), 1.0) * 1e-6
    score = np.where(led & ~followed, filled - (rows - before) * step, filled)
    _change(changes, rules.BAD_SCORE, order[~finite])
    if task.grouped or not len(score):
        return score
    # Dense ranks make scores integers, so that one running minimum serves all topics: later topics start lower.
    levels, level = np.unique(score, return_inverse=True)
    offset = topic.astype(np.int64) * len(levels)
    fallen = levels[np.minimum.accumulate(level.reshape(-1) - offset) + offset]
    _change(changes, rules.SCORE_ORDER, order[(fallen != score) & finite])
    return fallen
