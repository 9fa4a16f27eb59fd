"""Means over topics with their 95 % intervals, where some topics have no value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.inference.intervals import bca

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.inference.settings import Settings


def intervals(values: NDArray[np.float64], settings: Settings) -> NDArray[np.float64]:
    """Return mean, low, high and number of topics of every row; NaN where a run has no topic.

    Rows that lack the same topics share their resamples.

    >>> from focuseval.inference.settings import Settings
    >>> intervals(np.array([[0.5, 0.5, np.nan]]), Settings()).tolist()
    [[0.5, 0.5, 0.5, 2.0]]
    """
    found = np.full((len(values), 4), np.nan)
    counted = ~np.isnan(values)
    patterns, group = np.unique(counted, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(group.reshape(-1) == number)
        found[rows, 3] = pattern.sum()
        if pattern.any():
            here = values[np.ix_(rows, pattern)]
            low, high = bca(here, resamples=settings.of_interval, seed=settings.seed)
            found[rows, :3] = np.stack([here.mean(axis=1), low, high], axis=1)
    return found
