"""Sums over the blocks of a matched table: totals and running sums within each topic; values that are computed once.

Integers are summed by differences of one running sum, which is exact. Floats never are: a difference would carry the
rounding of earlier topics into later ones, and adding a topic would change another topic's last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Flags: TypeAlias = "NDArray[np.bool_]"
Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"

Function = TypeVar("Function", bound="Callable[..., Any]")


def once(compute: Function) -> Function:
    """Keep what a function computes from a match, for each value of its other arguments: several measures need it."""

    @wraps(compute)
    def kept(match: Any, *values: Any, **named: Any) -> Any:
        key = (compute.__qualname__, values, *named.items())
        if key not in match.computed:
            match.computed[key] = compute(match, *values, **named)
        return match.computed[key]

    return cast("Function", kept)


BLOCK = 1 << 13
"""Results that are looked at together where each topic stands alone: their columns stay in the processor's cache."""


def blocks(bounds: Integers, results: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighbouring topics that have about so many results together.

    >>> list(blocks(np.array([0, 3, 6, 9, 9]), 6))
    [(0, 2), (2, 4)]
    """
    cuts = np.flatnonzero(np.diff(bounds[:-1] // results)) + 1
    return pairwise([0, *cuts.tolist(), len(bounds) - 1])


def total(values: NDArray[Any], topic: NDArray[np.integer], topics: int) -> Floats:
    """Return the sum of `values` in each topic, added in rank order.

    >>> total(np.array([0.5, 0.25, 1.0]), np.array([0, 0, 2]), 3)
    array([0.75, 0.  , 1.  ])
    """
    return np.bincount(topic, values, topics).astype(np.float64, copy=False)


def ceiling(whole: Integers, level: Fraction) -> Integers:
    """Return ⌈level · whole⌉ in integers, without leaving 64 bits.

    >>> from fractions import Fraction
    >>> ceiling(np.array([0, 3, 10**18]), Fraction(1, 3))
    array([                 0,                  1, 333333333333333334])
    """
    p, q = level.numerator, level.denominator
    return np.asarray(p * (whole // q) - (-p * (whole % q)) // q)


def first_row(key: Integers) -> Integers:
    """Return for every row the first row with the same key, a small number from 0 on.

    >>> first_row(np.array([3, 0, 3, 0]))
    array([0, 1, 0, 1])
    """
    first = np.empty(int(key.max(initial=-1)) + 1, np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return first[key]


def count(values: NDArray[Any], bounds: Integers) -> Integers:
    """Return the exact sum of an integer or boolean column in each block.

    >>> count(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    array([3, 0, 3])
    """
    if values.dtype == np.bool_:
        return np.asarray(np.diff(np.searchsorted(np.flatnonzero(values), bounds)), np.int64)
    running = np.concatenate(([0], np.cumsum(values, dtype=np.int64)))
    return np.asarray(running[bounds[1:]] - running[bounds[:-1]])


def count_by(values: NDArray[Any], topic: NDArray[np.integer], topics: int) -> Integers:
    """Return the exact sum of an integer column in each topic, for rows in any order; sums stay below ``2**53``.

    >>> count_by(np.array([1, 2, 3]), np.array([2, 0, 2]), 3)
    array([2, 0, 4])
    """
    return np.bincount(topic, values, topics).astype(np.int64)


def running_count(values: NDArray[Any], bounds: Integers) -> Integers:
    """Return the exact running sum of an integer column within each block.

    >>> running_count(np.array([1, 2, 3]), np.array([0, 2, 3]))
    array([1, 3, 3])
    """
    running = np.cumsum(values, dtype=np.int64)
    before = np.concatenate(([0], running))[bounds[:-1]]
    return np.asarray(running - np.repeat(before, np.diff(bounds)))


def running(values: Floats, bounds: Integers) -> Floats:
    """Return the running sum of floats within each block, as if each block stood alone.

    Blocks of similar length are laid out as one matrix and summed along its rows.

    >>> running(np.array([0.5, 0.25, 1.0]), np.array([0, 2, 2, 3]))
    array([0.5 , 0.75, 1.  ])
    """
    out = np.empty(len(values), np.float64)
    length = np.diff(bounds)
    class_of = np.ceil(np.log2(np.maximum(length, 1)))
    for size in sorted(set(class_of[length > 0].tolist())):
        here = np.flatnonzero(class_of == size)
        column = np.arange(length[here].max())
        inside = column < length[here, None]
        matrix = np.zeros(inside.shape)
        rows = (bounds[here, None] + column)[inside]
        matrix[inside] = values[rows]
        out[rows] = np.cumsum(matrix, axis=1)[inside]
    return out


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide, with 0 where there is nothing to divide by.

    >>> ratio(np.array([1, 0]), np.array([2, 0]))
    array([0.5, 0. ])
    """
    out: Floats = np.zeros(np.broadcast(part, whole).shape)
    np.divide(part, whole, out=out, where=np.asarray(whole) != 0)
    return out


def harmonic(p: Floats, r: Floats) -> Floats:
    """Return the harmonic mean of precision and recall, 0 where both are 0."""
    return ratio(2 * p * r, p + r)


def harmonic_of(p: Callable[..., Floats], r: Callable[..., Floats], m: Any, *at: Any, **named: Any) -> Floats:
    """Return the harmonic mean of two measures: F of a precision and a recall."""
    return harmonic(p(m, *at, **named), r(m, *at, **named))


def without_base(values: Floats, base: NDArray[Any]) -> Floats:
    """Mark the topics whose base is empty for this measure: they are left out of its mean, and counted."""
    return np.where(np.asarray(base) > 0, values, np.nan)
