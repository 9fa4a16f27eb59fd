"""One place out of several: by what was claimed, by the neighbours, or not at all.

A chunk's candidates are increasing starts. Chunks in chunk order start one after the other; a place is *forced* when
the earliest and the latest increasing sequence of starts agree on it. What is then still open is tried against a
direct neighbour: chunkers cut a document end to end, so that of two candidates the one that touches is meant, and if
several touch (a table's rule, say, fits at every step) the one at the distance that all other chunks keep.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

OPEN = -1
"""No candidate could be chosen."""

_BLANKS = 256
"""Chunks with more white space than this between them do not touch."""

_SEVERAL = 3
"""So many pairs of neighbours must agree before their distance is a rule."""


def nearest_candidate(starts: Sequence[int], claimed: int) -> int:
    """Return the row of the candidate nearest to a claimed start, OPEN when two are equally near.

    >>> nearest_candidate([0, 10, 20], 11), nearest_candidate([0, 10], 5)
    (1, -1)
    """
    right = bisect_left(starts, claimed)
    if right == len(starts):
        return right - 1
    if right == 0:
        return 0
    before, after = claimed - starts[right - 1], starts[right] - claimed
    if before == after:
        return OPEN
    return right if after < before else right - 1


def forced(candidates: Sequence[Sequence[int]]) -> list[int]:
    """Return, for chunks in order, the row of the only candidate that an increasing sequence of starts allows.

    Chunks with a single candidate are fixed, and bound those between them. A chunk without candidates binds nobody,
    and where no increasing sequence exists the order cannot be trusted: nothing is placed there.

    >>> forced([[0, 50], [20], [0, 50]]), forced([[0, 50], [0, 50]]), forced([[0, 50]])
    ([0, 0, 1], [0, 1], [-1])
    """
    rows = [0 if len(starts) == 1 else OPEN for starts in candidates]
    fixed = [-1, *(i for i, row in enumerate(rows) if row != OPEN), len(rows)]
    for before, after in pairwise(fixed):
        if after - before > 1:
            low = candidates[before][0] if before >= 0 else -1
            high = candidates[after][0] if after < len(rows) else None
            rows[before + 1 : after] = _forced_between(candidates[before + 1 : after], low, high)
    return rows


def _forced_between(candidates: Sequence[Sequence[int]], low: int, high: int | None) -> list[int]:
    """Do the same for a stretch of chunks that start after `low` and before `high`."""
    early, late = _earliest(candidates, low), _latest(candidates, high)
    if OPEN in (row for row, starts in zip(early + late, [*candidates, *candidates], strict=True) if starts):
        return [OPEN] * len(candidates)
    return [a if a == b else OPEN for a, b in zip(early, late, strict=True)]


def _earliest(candidates: Sequence[Sequence[int]], low: int) -> list[int]:
    """Take from the left the first candidate after the one taken before, OPEN where there is none."""
    rows = []
    for starts in candidates:
        row = bisect_right(starts, low)
        rows.append(row if row < len(starts) else OPEN)
        low = starts[row] if row < len(starts) else low
    return rows


def _latest(candidates: Sequence[Sequence[int]], high: int | None) -> list[int]:
    """Take from the right the last candidate before the one taken after, OPEN where there is none."""
    rows = []
    for starts in reversed(candidates):
        row = (len(starts) if high is None else bisect_left(starts, high)) - 1
        rows.append(row)
        high = starts[row] if row >= 0 else high
    return rows[::-1]


def touching(
    document: str,
    spans: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]],
    order: Sequence[int],
    chosen: Sequence[int],
) -> list[int]:
    """Return the choices, completed by candidates that touch or overlap a placed direct neighbour.

    `spans` are the starts and the ends of every chunk's candidates. Direct neighbours have consecutive numbers in
    `order`. Between touching chunks nothing but white space is left out. If several candidates touch, the one is
    taken that keeps the distance which all placed neighbours keep; the end of the document keeps none.

    >>> touching("a x x b", ([[0], [2, 4]], [[1], [3, 5]]), [0, 1], [0, -1])
    [0, 0]
    """
    rows, (starts, ends) = list(chosen), spans
    direct = [after - before == 1 for before, after in pairwise(order)]
    gap, last = _common_gap(spans, rows, direct), len(document.rstrip())
    for i in range(1, len(rows)):
        if rows[i] == OPEN and rows[i - 1] != OPEN and direct[i - 1]:
            begin, end = starts[i - 1][rows[i - 1]], ends[i - 1][rows[i - 1]]
            near = range(bisect_right(starts[i], begin), bisect_right(starts[i], end + _BLANKS))
            rows[i] = _only(document, [(end, starts[i][row], row) for row in near], gap, last)
    for i in range(len(rows) - 2, -1, -1):
        if rows[i] == OPEN and rows[i + 1] != OPEN and direct[i]:
            begin = starts[i + 1][rows[i + 1]]
            near = range(bisect_left(ends[i], begin - _BLANKS), bisect_left(starts[i], begin))
            rows[i] = _only(document, [(ends[i][row], begin, row) for row in near], gap, last)
    return rows


def _common_gap(
    spans: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]], rows: Sequence[int], direct: Sequence[bool]
) -> int | None:
    """Return the distance from every chunk's end to the next one's start, None unless all of several agree."""
    starts, ends = spans
    gaps = [
        starts[i + 1][rows[i + 1]] - ends[i][rows[i]]
        for i, near in enumerate(direct)
        if near and rows[i] != OPEN and rows[i + 1] != OPEN
    ]
    return gaps[0] if len(gaps) >= _SEVERAL and len(set(gaps)) == 1 else None


def _only(document: str, joints: Sequence[tuple[int, int, int]], gap: int | None, last: int) -> int:
    """Return the row of the only joint (end, next start, row) that touches, else of the only one at the common gap.

    A chunk that reaches the last character was cut short there, and the distance to the next one with it.
    """
    near = [(start - end, row) for end, start, row in joints if start <= end or document[end:start].isspace()]
    if len(near) != 1:
        near = [pair for pair in near if pair[0] == gap and all(end < last for end, *_ in joints)]
    return near[0][1] if len(near) == 1 else OPEN
