"""Check a run against a task's rules: one pass of array operations for every rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.tasks import rules
from focuseval.measures.tasks.extents import Extents, extents
from focuseval.measures.tasks.findings import Broken, Findings
from focuseval.measures.tasks.overlap import first_overlap
from focuseval.measures.tasks.tasks import Task, find_task
from focuseval.placing import place_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection
    from focuseval.data.run import Run
    from focuseval.measures.tasks.rules import Rule
    from focuseval.measures.tasks.tasks import Level

    Integers = NDArray[np.int64]


def check(run: Run, task: Task | str, index: Collection | None = None) -> Findings:
    """Return everything in a run that breaks the task's rules, in the order of its lines.

    Without an index documents and paths are taken at their word, and overlap of elements is told by their paths.
    """
    chosen = find_task(task) if isinstance(task, str) else task
    found = extents(run if index is None else place_run(run, index, bad="keep"))
    whole = _whole_topics(run)
    orders = (*_split(run, whole), *_ranks(run, whole), *_scores(run, chosen, whole))
    broken = (*_places(found), *orders, *_lists(run, chosen, found))
    order = {rule.name: number for number, rule in enumerate(rules.RULES)}
    return Findings(run, tuple(sorted(broken, key=lambda part: order[part.rule.name])), chosen.limit)


def _broken(rule: Rule, rows: Integers, others: Integers | None = None, level: Level | None = None) -> Broken:
    return Broken(rule, rows, rows if others is None else others, level or ("warning" if rule.warning else "error"))


def _places(found: Extents) -> Iterator[Broken]:
    """Results that lie nowhere."""
    yield _broken(rules.UNKNOWN_DOCUMENT, np.flatnonzero(found.unknown_document))
    yield _broken(rules.UNKNOWN_PATH, np.flatnonzero(found.unknown_path))
    yield _broken(rules.UNPLACED, np.flatnonzero(found.unplaced))
    yield _broken(rules.BAD_SPAN, np.flatnonzero(found.bad_span))


def _whole_topics(run: Run) -> NDArray[np.bool_]:
    """Say of every row whether its topic stands in one block of the file."""
    split = {topic for topic, _ in run.split_topics}
    return np.array([topic not in split for topic in run.topics], np.bool_)[run.topic]


def _split(run: Run, whole: NDArray[np.bool_]) -> Iterator[Broken]:
    """Topics in several blocks, all of them in one finding: an error where their ranks begin anew."""
    if not run.split_topics or run.line is None:
        return
    row = np.flatnonzero(run.line == run.split_topics[0][1])[:1]
    order = _by_rank(run)
    order = order[~whole[order]]
    anew = run.rank is not None and bool(((np.diff(run.rank[order]) == 0) & (np.diff(run.topic[order]) == 0)).any())
    yield _broken(rules.SPLIT_TOPIC, row, level="error" if anew else "warning")


def _ranks(run: Run, whole: NDArray[np.bool_]) -> Iterator[Broken]:
    """Ranks that repeat or jump, in topics that stand together; a list may start at 0 or 1."""
    if run.rank is None or not whole.any():
        return
    order = _by_rank(run)
    order = order[whole[order]]
    rank = run.rank[order].astype(np.int64)
    head = np.r_[True, np.diff(run.topic[order]) > 0]
    step = np.where(head, np.where((rank == 0) | (rank == 1), 1, 2), np.diff(rank, prepend=0))
    again, gap = np.flatnonzero(step == 0), np.flatnonzero(step > 1)
    start = np.maximum.accumulate(np.where(step != 0, np.arange(len(order)), 0))
    yield _broken(rules.RANK_REPEATS, order[again], order[start[again]])
    yield _broken(rules.RANK_JUMPS, order[gap])


def _scores(run: Run, task: Task, whole: NDArray[np.bool_]) -> Iterator[Broken]:
    """Scores that are no numbers, and, in topics that stand together, scores that rise while ranks fall."""
    if run.score is None or not len(run):
        return
    finite = np.isfinite(run.score)
    yield _broken(rules.BAD_SCORE, np.flatnonzero(~finite))
    order = _by_rank(run)
    order = order[(finite & whole)[order]]
    score = run.score[order]
    rises = 1 + np.flatnonzero((score[1:] > score[:-1]) & (np.diff(run.topic[order]) == 0))
    yield _broken(rules.SCORE_ORDER, order[rises], order[rises - 1], "warning" if task.grouped else "error")


def _lists(run: Run, task: Task, found: Extents) -> Iterator[Broken]:
    """Results that are valid one by one, but not together."""
    rows = np.arange(len(run))
    first = first_row(found.result)
    repeats = first < rows
    yield _broken(rules.DUPLICATE, rows[repeats], first[repeats])
    if task.limit is not None:
        yield _broken(rules.TOO_MANY, np.flatnonzero(rows - run.bounds[run.topic] >= task.limit))
    leader = first_row(found.group)
    if task.grouped:
        block = np.r_[True, found.group[1:] != found.group[:-1]][: len(rows)]
        returns = np.flatnonzero(block & (leader < rows))
        yield _broken(rules.INTERLEAVED, returns, leader[returns])
    if task.one_per_article:
        second = np.flatnonzero((leader < rows) & ~repeats)
        yield _broken(rules.SECOND_RESULT, second, leader[second])
    if not task.overlap:
        yield from _overlaps(found, repeats)


def _overlaps(found: Extents, repeats: NDArray[np.bool_]) -> Iterator[Broken]:
    """Results that share text with a higher-ranked one; a repeated result is named once, as a duplicate."""
    first = np.minimum(
        first_overlap(found.group, found.start, found.end), first_overlap(found.group, found.low, found.high)
    )
    rows = np.flatnonzero((first < np.arange(len(first))) & ~repeats)
    yield _broken(rules.OVERLAP, rows, first[rows])
    yield _broken(rules.UNCHECKED, np.flatnonzero(found.unchecked))


def first_row(key: Integers) -> Integers:
    """Return for every row the first row with the same key, a small number.

    >>> first_row(np.array([3, 0, 3, 0]))
    array([0, 1, 0, 1])
    """
    first = np.empty(int(key.max(initial=-1)) + 1, np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return first[key]


def _by_rank(run: Run) -> Integers:
    """Return the rows by topic and rank: mostly as they stand."""
    rows = np.arange(len(run))
    if run.rank is None or not ((np.diff(run.rank) < 0) & (np.diff(run.topic) == 0)).any():
        return rows
    return np.lexsort((run.rank, run.topic))
