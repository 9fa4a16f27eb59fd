"""Highlights as sorted, disjoint, never touching spans: add, subtract, intersect.

The tuples of one document, edited one span at a time: a binary search and two slices, so that the thousandth
highlight costs what the first does. Whole collections of spans are `focuseval.data.spans`' business.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter

Span = tuple[int, int]
Spans = tuple[Span, ...]

_start, _end = itemgetter(0), itemgetter(1)


def add(spans: Spans, start: int, end: int) -> Spans:
    """Return `spans` with ``[start, end)`` highlighted too; touching spans merge.

    >>> add(((0, 4), (9, 12)), 4, 6)
    ((0, 6), (9, 12))
    """
    first = bisect_left(spans, start, key=_end)
    last = bisect_right(spans, end, key=_start)
    if first < last:
        start, end = min(start, spans[first][0]), max(end, spans[last - 1][1])
    return (*spans[:first], (start, end), *spans[last:])


def subtract(spans: Spans, start: int, end: int) -> Spans:
    """Return `spans` without ``[start, end)``.

    >>> subtract(((0, 10),), 3, 5)
    ((0, 3), (5, 10))
    """
    first = bisect_right(spans, start, key=_end)
    last = bisect_left(spans, end, key=_start)
    if first >= last:
        return spans
    pieces = ((spans[first][0], start), (end, spans[last - 1][1]))
    return (*spans[:first], *((a, b) for a, b in pieces if a < b), *spans[last:])


def merge(spans: Iterable[Span]) -> Spans:
    """Return the union of spans in any order.

    >>> merge([(5, 9), (0, 5), (20, 21), (3, 3)])
    ((0, 9), (20, 21))
    """
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def intersect(left: Spans, right: Spans) -> Spans:
    """Return what both sides highlight.

    >>> intersect(((0, 5), (8, 12)), ((3, 9),))
    ((3, 5), (8, 9))
    """
    return tuple(
        (max(a, start), min(b, end))
        for start, end in right
        for a, b in left[bisect_right(left, start, key=_end) : bisect_left(left, end, key=_start)]
        if max(a, start) < min(b, end)
    )


def shared_by(every: Sequence[Spans], least: int) -> Spans:
    """Return what at least so many of the sides highlight.

    >>> shared_by([((0, 5),), ((3, 9),), ((4, 12),)], 2)
    ((3, 9),)
    """
    edges = sorted((place, step) for one in every for span in one for place, step in ((span[0], 1), (span[1], -1)))
    found, depth, start = [], 0, 0
    for place, step in edges:
        before, depth = depth, depth + step
        if before < least <= depth:
            start = place
        elif depth < least <= before:
            found.append((start, place))
    return merge(found)


def jaccard(every: Sequence[Spans]) -> float:
    """Return what all sides highlight as a share of what any does; 1 where nobody highlights anything.

    >>> jaccard([((0, 4),), ((2, 8),)])
    0.25
    """
    either = size(merge(span for one in every for span in one))
    return size(shared_by(every, len(every))) / either if either else 1.0


def size(spans: Spans) -> int:
    """Return the number of highlighted characters.

    >>> size(((0, 4), (9, 12)))
    7
    """
    return sum(end - start for start, end in spans)


def contains(spans: Spans, position: int) -> bool:
    """Return whether a position lies inside one of the spans.

    >>> contains(((3, 5),), 4), contains(((3, 5),), 5)
    (True, False)
    """
    found = bisect_right(spans, position, key=_start)
    return found > 0 and position < spans[found - 1][1]


def is_normal(spans: Spans) -> bool:
    """Return whether spans are real, sorted and apart: the shape every function here returns.

    >>> is_normal(((0, 2), (3, 4))), is_normal(((0, 2), (2, 4)))
    (True, False)
    """
    return all(0 <= a < b for a, b in spans) and all(left[1] < right[0] for left, right in pairwise(spans))
