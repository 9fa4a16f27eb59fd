"""What a pool is made of: its size, what every run brought, what it brought alone, how far two runs overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.assessment.pool.model import Pool


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
