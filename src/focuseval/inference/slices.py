"""How two runs differ on parts of the topics (by tag, by the length of the answer …), judged as one family.

A table of slices is read for the one that stands out, and of many slices of equal runs some do. So p is corrected by
Holm over all slices that are judged, and their intervals hold together: each at 1 − .05 / slices (Bonferroni, which
needs nothing of how slices overlap). Both are Student's t, whatever test the runs as a whole are compared by: an
interval without 0 then always comes with a verdict. Holm, which is the sharper of the two, can tell where the interval
still holds 0; the verdict decides. Slices of fewer than `FEWEST` topics are not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focuseval.inference.intervals import student
from focuseval.inference.paired_tests import holm, t_test, without_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.inference.clusters import Clusters

    Vector = NDArray[np.float64]

FEWEST = 10
"""Topics of a slice, below which nothing is said of it."""


class Sliced(NamedTuple):
    """One slice: a value for every pair of runs."""

    low: Vector
    high: Vector
    """The intervals of all slices of a pair hold their differences together with probability .95."""
    corrected: Vector
    """p of the t-test, corrected by Holm over the slices."""
    lead: NDArray[np.int64]
    """1 where the first run is significantly better, −1 where the second is, else 0."""


def judge_slices(
    differences: NDArray[np.float64],
    slices: Sequence[Sequence[int]],
    alpha: float = 0.05,
    clusters: Clusters | None = None,
) -> list[Sliced | None]:
    """Judge slices, each the numbers of its topics, of pairs × topics of differences; None where topics are too few.

    >>> low, high, p, lead = judge_slices(np.r_[np.ones(12), 0, 0][None], [range(14), range(3)])[0]
    >>> low.round(2).tolist(), p.round(4).tolist(), lead.tolist()
    ([0.65], [0.0], [1])
    """
    judged = [n for n, topics in enumerate(slices) if len(topics) >= FEWEST]
    found: list[Sliced | None] = [None] * len(slices)
    if not judged or not len(differences):
        return found
    parts = [differences[:, list(slices[n])] for n in judged]
    inside = [None if clusters is None else clusters.take(np.array(slices[n])) for n in judged]
    tested = [t_test(part, tails=2, clusters=own) for part, own in zip(parts, inside, strict=True)]
    corrected = np.apply_along_axis(holm, 0, np.array(tested))
    for n, part, own, p in zip(judged, parts, inside, corrected, strict=True):
        lead = np.sign(without_noise(part.mean(axis=1), part)).astype(np.int64)
        found[n] = Sliced(*student(part, own, level=1 - 0.05 / len(judged)), p, np.where(p <= alpha, lead, 0))
    return found
