"""Runs over the same topics under one measure, in numbers: means, order, every pair, ranks, groups.

A pair is written (better, worse) by the means over the topics that are compared, so that a star always says "better
improves significantly on worse". The pairs are one family: all of them, or those with a baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from string import ascii_letters
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.inference.clusters import Clusters
from focuseval.inference.intervals import interval
from focuseval.inference.paired import BETTER, CANNOT_TELL, Pair, Paired, judge_families, topics_needed
from focuseval.inference.paired_tests import Sides, noise_of, paired_differences, ranked
from focuseval.inference.settings import Settings

MOST_GAINING = 3  # topics that a sentence on the largest gains names


@dataclass(frozen=True, eq=False, repr=False)
class Standings(Paired):
    """A family of pairs of runs under one measure; pair k is (better[k], worse[k])."""

    measure: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: NDArray[np.float64]
    """Runs × topics."""
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    """The runs of every pair, as rows of `values`."""
    baseline: int | None = None
    """Number of the run that all others are compared with, if only those pairs are."""
    left_out: int = 0
    """Topics that are not compared, because some run has no value for them."""
    among: tuple[int, ...] | None = None
    """The runs whose pairs are compared, if not all are."""
    shared: Clusters | None = None
    """The topics by document, where they share documents and no clusters were asked for."""

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Return the mean of every run over the topics that are compared."""
        return np.asarray(self.values.mean(axis=1))

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The place of every run by these means, from 0; runs whose means differ by rounding alone share one."""
        return ranked(self.values)[1]

    @cached_property
    def order(self) -> list[int]:
        """The runs by their places, best first; those that share one stay in the order given."""
        return ranked(self.values)[0]

    @cached_property
    def offered(self) -> list[int]:
        """The runs whose pairs are compared, in this order."""
        return self.order if self.among is None else [run for run in self.order if run in self.among]

    @cached_property
    def groups(self) -> list[list[int]]:
        """The runs in groups that cannot be told apart from the group's first, best first.

        The first group holds the run with the highest mean and every run that is not significantly worse; the next one
        begins with the best of the others.
        """
        stars, rest, found = self.stars(), self.offered, list[list[int]]()
        while rest:
            first = rest[0]
            found.append([run for run in rest if not stars[first, run]])
            rest = [run for run in rest if stars[first, run]]
        return found

    @cached_property
    def intervals(self) -> NDArray[np.float64]:
        """Runs × low and high: the 95 % interval of every run's mean."""
        return np.stack(interval(self.values, self.settings, self.clusters, self.bounds), axis=1)

    @cached_property
    def ranks(self) -> NDArray[np.int64] | None:
        """Runs × best and worst: the ranks that the stars leave to every run; None where not all pairs are compared.

        A run cannot be better than those that improve on it significantly, nor worse than those it improves on. With
        Holm's correction the intervals of all runs hold together, with the probability that the level leaves.
        """
        if self.baseline is not None or self.among is not None or not self.family:
            return None
        stars = self.stars()
        return np.stack([1 + stars.sum(axis=0), len(self.runs) - stars.sum(axis=1)], axis=1)

    @cached_property
    def letters(self) -> list[str]:
        """Letters for every run: two runs share one if and only if they cannot be told apart.

        Each letter stands for a set of runs of which none improves on another, best first; a run may be in several.
        """
        stars = self.stars()
        alike, found, number = ~(stars | stars.T), [""] * len(self.runs), 0
        shared = np.zeros_like(alike)
        for first in self.order:
            for second in self.order:  # with itself as well: a run that is alike to no other has a letter of its own
                if not alike[first, second] or shared[first, second]:
                    continue
                group = list(dict.fromkeys((first, second)))
                for run in self.order:
                    if run not in group and alike[run, group].all():
                        group.append(run)
                for run in group:
                    found[run] += ascii_letters[number] if number < len(ascii_letters) else f"({number + 1})"
                shared[np.ix_(group, group)] = True
                number += 1
        return found

    def standing(self, run: int) -> str:
        """Return the interval of a run's rank and its letters: ``1–2 a``; empty where not all pairs are compared."""
        if self.ranks is None:
            return ""
        low, high = self.ranks[run].tolist()
        return f"{low}{'' if low == high else f'–{high}'} {self.letters[run]}"

    @cached_property
    def by_document(self) -> Paired | None:
        """The same pairs judged by document, where topics share documents and no clusters were asked for."""
        if self.shared is None or not self.family:
            return None
        sides = Sides(self.values, self.better, self.worse)
        return judge_families(self._rows[None], self.settings, clusters=self.shared, sides=sides)[0]

    @property
    def power(self) -> float:
        """Discriminative power: the share of pairs with a significant difference (NaN for a single run)."""
        return float(self.significant.mean()) if self.family else float("nan")

    def pair(self, first: int, second: int) -> int:
        """Return the number of the pair of two runs."""
        return self._numbers[frozenset((first, second))]

    @cached_property
    def _numbers(self) -> dict[frozenset[int], int]:
        return {frozenset(pair): k for k, pair in enumerate(np.stack([self.better, self.worse], axis=1).tolist())}

    def against(self, a: int, b: int) -> Pair:
        """Return run `a` held against run `b`."""
        k, means, gains, gaining = self.pair(a, b), self.means, 0, tuple[str, ...]()
        first, second = int(self.better[k]), int(self.worse[k])
        if self.difference[k] != 0 and self.lost[k]:
            gains = int(self._gains[0][k])
            gaining = tuple(self.topics[i] for i in self._gains[1][k, :gains]) if gains <= MOST_GAINING else ()
        needed, fewest, most = (int(number) if np.isfinite(number) else None for number in self.needed[k].tolist())
        found = Pair(
            a=first, b=second, means=(float(means[first]), float(means[second])),
            difference=float(self.difference[k]), low=float(self.low[k]), high=float(self.high[k]),
            p=float(self.p[k]), corrected=float(self.corrected[k]),
            word=BETTER if self.significant[k] else CANNOT_TELL, reason=self.reason(k),
            won=int(self.won[k]), tied=int(self.tied[k]), lost=int(self.lost[k]),
            detectable=float(self.detectable[k]) if np.isfinite(self.detectable[k]) else None,
            needed=needed, fewest=fewest, most=most, gains=gains, gaining=gaining, clustered=self.clusters is not None,
        )  # fmt: skip
        return found if first == a else found.turned

    @property
    def _rows(self) -> NDArray[np.float64]:  # pairs × topics: the better run less the worse
        return paired_differences(self.values[self.better], self.values[self.worse])

    @cached_property
    def _gains(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For every pair how many of the largest gains make the whole difference, and the topics of the first ones."""
        rows = self._rows
        order = np.argsort(-rows, axis=1, kind="stable")
        sizes = np.take_along_axis(rows, order, axis=1)
        least = sizes.sum(axis=1) - noise_of(sizes)
        return np.argmax(np.cumsum(sizes, axis=1) >= least[:, None], axis=1) + 1, order[:, :MOST_GAINING]

    def stars(self) -> NDArray[np.bool_]:
        """Return the matrix whose cell (i, j) says that run i improves significantly on run j."""
        matrix = np.zeros((len(self.runs), len(self.runs)), np.bool_)
        matrix[self.better[self.significant], self.worse[self.significant]] = True
        return matrix

    def differences(self, first: int, second: int) -> NDArray[np.float64]:
        """Return the first run's values less the second's, topic by topic; rounding noise is no difference."""
        return np.asarray(paired_differences(self.values[[first]], self.values[[second]])[0])

    def wins(self, first: int, second: int) -> tuple[int, int, int]:
        """Return on how many topics the first run is better, equal and worse than the second."""
        pair = self.against(first, second)
        return pair.won, pair.tied, pair.lost

    def deciding(self, first: int, second: int, most: int = 5) -> list[tuple[str, float]]:
        """Return the topics with the largest absolute differences (first minus second), largest first."""
        difference = self.differences(first, second)
        order = np.argsort(-np.abs(difference), kind="stable")[:most]
        return [(self.topics[i], float(difference[i])) for i in order if difference[i] != 0]


class Turned(NamedTuple):
    """Two runs, as rows, whose order is the other way round under other values: the differences of both."""

    better: int
    worse: int
    difference: float
    other: float
    needed: float
    """Topics with which the first difference would be shown, the pair by itself; infinite where none would do."""


def turned_pairs(values: NDArray[np.float64], others: NDArray[np.float64]) -> list[Turned]:
    """Return the pairs of runs whose order other values turn round, the largest difference first.

    Both are runs × topics; topics without a value for some run are left out. Runs that share a place by `ranked` have
    no order that could be turned round.

    >>> turned_pairs(np.array([[0.5, 0.7], [0.2, 0.4]]), np.array([[0.1], [0.2]]))[0][:2]
    (0, 1)
    """
    values, others = (part[:, ~np.isnan(part).any(axis=0)] for part in (values, others))
    if not values.size or not others.size:
        return []
    before, after = ranked(values)[1], ranked(others)[1]
    better, worse = np.nonzero((before[:, None] < before) & (after[:, None] > after))
    differences, needed = paired_differences(values[better], values[worse]), np.full(len(better), np.inf)
    if values.shape[1] > 1:  # else the topics say nothing of it
        needed = topics_needed(differences.mean(axis=1), differences.std(axis=1, ddof=1), Settings())
    means = (part.mean(axis=1)[better] - part.mean(axis=1)[worse] for part in (values, others))
    rows = zip(better.tolist(), worse.tolist(), *(column.tolist() for column in (*means, needed)), strict=True)
    return sorted((Turned(*row) for row in rows), key=lambda pair: -pair.difference)
