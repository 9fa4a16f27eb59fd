"""Is a run valid for a task? One answer for every command: `check` finds what breaks the rules, `repair` mends it.

A finding is an error where the run cannot be scored under the task, and a warning where the measures have a rule for
it: a repeated result gains nothing, an empty span costs and gains nothing, the format decides the order of results.
Validity is a property of a run and a task; no gold decides it. The rules compare results as `Extents`: articles, places
and extents as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.collection.index import Collection
from focuseval.data.placement import BAD_SPAN, NO_PLACE, TEXT_AMBIGUOUS, TEXT_LOST
from focuseval.data.run import Run
from focuseval.data.spans import crowded, dense, first_cover, pack
from focuseval.engine.native import encoded
from focuseval.measures import tasks as rules
from focuseval.measures.recall_base import numbered
from focuseval.measures.tasks import Broken, Findings, Level, Rule, Task, find_task
from focuseval.measures.topicwise import Flags, Floats, Integers, first_row
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


_ENDLESS = np.int64(2**32 - 1)
"""End of a document whose length nobody knows; the largest position that `focuseval.data.spans` can pack."""

_MOST = 2**62  # products of ranges beyond this would not fit a key


@dataclass(frozen=True, eq=False)
class Extents:
    """Columns beside a run's own, one entry for every result."""

    group: Integers  # equal for results of the same topic and article; numbers from 0 on
    place: tuple[Integers, ...]  # columns that are all equal for results of the same place in an article
    start: Integers
    end: Integers  # a span; empty where the result has none that is known
    low: Integers
    high: Integers  # an interval that nests as paths do, where only paths are known; else empty
    misplaced: tuple[tuple[Rule, Flags], ...]
    """Results without a place, or with a wrong one, by the rule that they break."""
    empty: Flags  # bad spans that are only empty
    unchecked: Flags  # ranges, passages and texts whose extent is unknown without a collection

    @cached_property
    def result(self) -> Integers:
        """Equal for results of the same topic, article and place; numbers from 0 on."""
        return _joined(self.group, *self.place)


def extents(run: Run) -> Extents:
    """Return what the results cover: by their `placement`, or by their own words where the run is not placed."""
    placement, whole = run.placement, run.whole_documents
    document, _ = _codes(run.document, len(run))
    unknown = np.zeros(len(run), np.bool_)
    if placement is not None:
        row = placement.document
        document, unknown = np.where(row >= 0, row, len(placement.collection) + document), row < 0
    path, paths = _codes(run.path, len(run), normalise=True)
    last, _ = _codes(run.end_path, len(run), normalise=True)
    text, _ = _codes(run.text, len(run))
    unknown_place = np.full(len(run), -1, np.int64)
    start, end = (unknown_place if c is None else np.asarray(c, np.int64) for c in (run.start, run.end))
    group = _joined(np.asarray(run.topic, np.int64), document)
    place = (path, last, text, start, end)
    if whole:
        length = np.full(len(run), -1, np.int64) if placement is None else placement.length
        start, end = np.zeros(len(run), np.int64), np.where(length < 0, _ENDLESS, length)
    status = np.zeros(len(run), np.int8) if placement is None or placement.status is None else placement.status
    bad = (start < -1) | (end < -1) | ((start < 0) & (end >= 0)) | ((end >= 0) & (end <= start))
    bad = bad & (path < 0) & ~np.bool_(whole) | (status == BAD_SPAN) | (np.maximum(start, end) > _ENDLESS)
    empty = bad & (status != BAD_SPAN) & (start == end) & (start >= 0) & (start <= _ENDLESS)
    known = (start >= 0) & (end > start) & ~bad
    nested = np.full(len(run), -1, np.int64)
    if placement is None:  # elements whose place only their paths say
        pointer = pc.match_substring(paths, "text()").to_numpy(zero_copy_only=False)
        nested = np.where((path >= 0) & (last < 0) & ~np.append(pointer, False)[path] & ~known, path, -1)
    row = np.full(len(run), len(paths)) if whole else nested  # behind all paths the whole text, then nothing
    edges = path_intervals(pa.concat_arrays([paths, pa.array([""], pa.string())]))
    low, high = (np.append(edge, 0)[row] for edge in edges)
    misplaced = (
        (rules.UNKNOWN_DOCUMENT, unknown),
        (rules.UNKNOWN_PATH, status == NO_PLACE),
        (rules.UNPLACED, ((status == TEXT_AMBIGUOUS) | (status == TEXT_LOST)) & ~unknown),
        (rules.BAD_SPAN, bad),
    )
    unchecked = (((path >= 0) & (last >= 0)) | ((path < 0) & (text >= 0))) & np.bool_(placement is None) & ~known
    start, end = np.where(known, start, 0), np.where(known, end, 0)
    return Extents(group, place, start, end, low, high, misplaced, empty, unchecked)


def _codes(column: pa.Array | None, size: int, *, normalise: bool = False) -> tuple[Integers, pa.Array]:
    """Return a code for every row, −1 for null, and what the codes stand for; paths get their missing ``[1]``."""
    if column is None:
        return np.full(size, -1, np.int64), pa.array([], pa.string())
    coded = encoded(column)
    codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    names = coded.dictionary.cast(pa.string())
    if normalise:
        full = numbered(pc.utf8_rtrim(names, "/")).cast(pa.string())
        once = pc.if_else(pc.match_substring(names, "text()"), names, full).dictionary_encode()
        codes = np.append(once.indices.to_numpy(zero_copy_only=False).astype(np.int64), -1)[codes]
        names = once.dictionary
    return codes, names


def _joined(*columns: Integers) -> Integers:
    """Return numbers from 0 on that are equal where all columns are; one sort, at most, unless the ranges are huge."""
    key = np.zeros(len(columns[0]), np.int64)
    room = 1
    for column in columns:
        low, high = int(column.min(initial=0)), int(column.max(initial=0))
        if room * (high - low + 1) > _MOST:
            key, column = dense(key), dense(column)  # noqa: PLW2901  the same values, closer together
            low, high, room = 0, len(column), len(column)
        key = key * (high - low + 1) + (column - low)
        room *= high - low + 1
    if room > 8 * len(key):
        return dense(key)
    present = np.zeros(room, np.bool_)
    present[key] = True
    return (np.cumsum(present) - 1)[key]


def first_overlap(group: Integers, start: Integers, end: Integers) -> Integers:
    """Return for every span the first one, in the order given, that shares a character with it: itself if none earlier.

    Each group is cut at every span end. A cell remembers the first span that covers it, and the smallest memory of
    a span's cells is the answer, since spans that overlap share a cell.

    >>> first_overlap(np.array([0, 0, 0, 1]), np.array([5, 0, 2, 2]), np.array([9, 3, 6, 6]))
    array([0, 1, 0, 3])
    """
    answer = np.arange(len(start))
    rows = crowded(group, start, end)
    if not len(rows):
        return answer
    keys = np.concatenate([pack(group[rows], start[rows]), pack(group[rows], end[rows])])
    cuts, place = np.unique(keys, return_inverse=True)
    first, last = place.reshape(2, -1)
    # The smallest value of a range is that of two blocks of 2**k values, one at each of its ends.
    values, level = first_cover(first, last, len(cuts)), np.frexp((last - first).astype(np.float64))[1] - 1
    for k in range(int(level.max(initial=0)) + 1):
        if k:
            step = 1 << (k - 1)
            values = np.minimum(values, np.append(values[step:], np.full(step, len(first))))
        here = np.flatnonzero(level == k)
        answer[rows[here]] = rows[np.minimum(values[first[here]], values[last[here] - (1 << k)])]
    return answer


def path_intervals(paths: pa.Array) -> tuple[Integers, Integers]:
    """Return intervals, one for each path of a string array, that nest exactly as the paths do.

    A path's interval runs from the sorted place of ``path/`` to that of ``path0``: ``0`` follows ``/``, so all
    descendants and nothing else lie between. The empty path is the whole document.

    >>> low, high = path_intervals(pa.array(["/a[1]", "/a[1]/b[1]", "/a[10]", ""]))
    >>> bool(low[0] < low[1] < high[1] < high[0]), bool(low[2] < high[2] <= low[0]), bool(low[3] < low[2])
    (True, True, True)
    """
    edges = [pc.binary_join_element_wise(paths, edge, "") for edge in ("/", "0")]
    order = pc.array_sort_indices(pa.concat_arrays(edges)).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[: len(paths)], place[len(paths) :]


def first_come(group: Integers, start: Integers, end: Integers) -> tuple[Flags, Integers]:
    """Return which spans stay when each, in the order given, is dropped if it overlaps one that stays; and which one.

    Rounds: what overlaps a span that stays goes, a span with no earlier overlap stays, and those that go no longer
    stand in the way of others. Nested elements settle in as many rounds as they are deep.

    >>> keep, by = first_come(np.zeros(3, int), np.array([0, 4, 8]), np.array([5, 9, 12]))
    >>> keep.tolist(), by.tolist()
    ([True, False, True], [0, 0, 2])
    """
    by, open_ = np.arange(len(start)), np.arange(len(start))
    settled = open_[:0]
    while len(open_):
        both = np.concatenate([settled, open_])
        place = first_overlap(group[both], start[both], end[both])[len(settled) :]
        goes, free = place < len(settled), both[place] == open_
        by[open_[goes]] = both[place[goes]]
        settled, open_ = np.union1d(settled, open_[free]), open_[~goes & ~free]
    return by == np.arange(len(start)), by
