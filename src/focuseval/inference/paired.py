"""Differences of pairs over topics, judged as one family: test, correction, interval, effect, power.

What every command says of a pair is read from here, and also what no outcome could have decided: under the very test
that was used, with so many topics that differ and so many resamples.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.data.spans import MOST
from focuseval.data.tables import ABSENT
from focuseval.errors import counted
from focuseval.inference.clusters import Clusters, standard_error
from focuseval.inference.intervals import UNBOUNDED, effect_size, interval
from focuseval.inference.paired_tests import (
    EXACT,
    Progress,
    Sides,
    adjust,
    noise_of,
    p_values,
    paired_differences,
    ranked,
    without_noise,
)  # fmt: skip
from focuseval.inference.sentences import fill, listed
from focuseval.inference.settings import Settings

Vector = NDArray[np.float64]

POWER = 0.8  # the probability with which a difference is to be shown

BETTER, CANNOT_TELL, WORSE = "better", "cannot tell", "worse"  # what a test can say of the first of two runs


@dataclass(frozen=True)
class Pair:
    """One run, A, held against another, B; every number is A less B."""

    a: int
    b: int  # rows of the comparison, as `a`
    means: tuple[float, float]
    difference: float
    low: float
    high: float
    p: float  # not corrected
    corrected: float
    word: str  # ``better``, ``worse`` or ``cannot tell``
    reason: str  # why no outcome could be significant; empty where one could
    won: int
    tied: int
    lost: int
    detectable: float | None
    """The smallest difference that these topics show with probability .8; None where there is none, or nothing can be
    said of it: see `Paired.detectable`."""
    needed: int | None
    """Topics, or clusters, that the difference would need; None where no number would do, or nothing can be said."""
    fewest: int | None
    most: int | None
    """The same for the ends of the interval of the deviation, which is an estimate; None where there is no end."""
    gains: int
    """How many of the largest gains of the run with the higher mean make the whole difference; 0 without a difference,
    and where the other run gains nothing."""
    gaining: tuple[str, ...] = ()  # the topics of these gains, where there are at most three
    clustered: bool = False  # whether clusters are needed, not topics

    @property
    def topics(self) -> int:
        """How many topics are compared."""
        return self.won + self.tied + self.lost

    @property
    def turned(self) -> Pair:
        """Return the same with A and B exchanged."""
        return replace(
            self, a=self.b, b=self.a, means=self.means[::-1], difference=-self.difference + 0.0,
            low=-self.high + 0.0, high=-self.low + 0.0, won=self.lost, lost=self.won,
            word={BETTER: WORSE, WORSE: BETTER}.get(self.word, self.word),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Paired:
    """One family of pairs; each column has a value per pair."""

    settings: Settings
    difference: Vector
    """Means: first less second; 0 where they differ by rounding alone."""
    low: Vector
    high: Vector
    """The 95 % interval of the difference, not corrected."""
    p: Vector
    """Of the test, not corrected."""
    corrected: Vector
    """p, corrected for the family."""
    effect: Vector
    """Cohen's d: the mean of the topics' differences over their standard deviation."""
    won: NDArray[np.int64]
    lost: NDArray[np.int64]
    tied: NDArray[np.int64]
    """Topics on which the first is better, the second is, and both score the same."""
    deviation: Vector
    """Pairs × 3: the standard deviation of the differences, and the ends of its 95 % interval; of clusters as if all
    were of one size."""
    units: NDArray[np.int64] = field(kw_only=True)
    """Topics on which the two differ, or clusters whose differences do not cancel: what the test counts."""
    skewness: Vector = field(kw_only=True)
    """Of the differences, of topics or of clusters; 0 where they do not vary."""
    clusters: Clusters | None = field(default=None, kw_only=True)
    """The clusters by which signs flip and resamples are drawn; None for topics."""
    bounds: tuple[float, float] = field(default=UNBOUNDED, kw_only=True)
    """Of the measure: no interval of a mean goes beyond them, and no difference is larger than they allow."""

    @cached_property
    def detectable(self) -> Vector:
        """For every pair, the smallest difference that these topics show with probability .8, corrected as it is.

        NaN where no outcome could be significant, where all topics differ alike, and where none can be so large.
        """
        found = detectable(self.deviation[:, 0], self.sample, self.settings, self.family)
        possible = self.reachable & (self.deviation[:, 0] > 0) & (found <= self.bounds[1] - self.bounds[0])
        return np.where(possible, found, np.nan)

    @cached_property
    def needed(self) -> Vector:
        """Pairs × 3: topics with which the observed difference would be detectable, and for the ends of the deviation.

        Infinite where no number would do, NaN where no outcome could be significant or all topics differ alike.
        """
        found = topics_needed(self.difference[:, None], self.deviation, self.settings, self.family)
        return np.where((self.reachable & (self.deviation[:, 0] > 0))[:, None], found, np.nan)

    @property
    def family(self) -> int:
        """How many pairs are judged together."""
        return len(self.p)

    @cached_property
    def differing(self) -> NDArray[np.int64]:
        """Topics on which the two differ."""
        return self.won + self.lost

    @cached_property
    def reachable(self) -> NDArray[np.bool_]:
        """For every pair, whether any outcome can be called significant: enough topics differ, and enough resamples."""
        level = self.settings.level(self.family)
        smallest = smallest_p(self.units, self.sample, self.settings, self.family)
        shown = (self.settings.test == "t") & (self.p <= level)  # of clusters, the bound holds for equal sizes alone
        return np.asarray((smallest <= level) | shown)

    @cached_property
    def sample(self) -> NDArray[np.int64]:
        """How many topics, or clusters, are compared."""
        topics = self.differing + self.tied
        return topics if self.clusters is None else np.full_like(topics, self.clusters.number)

    @cached_property
    def significant(self) -> NDArray[np.bool_]:
        """For every pair, whether the first improves significantly on the second."""
        return self.reachable & (self.corrected <= self.settings.alpha) & (self.difference > 0)

    @property
    def exact(self) -> bool:
        """Whether no p was estimated from random flips."""
        return self.settings.test == "randomisation" and bool((self.units <= EXACT).all())

    def verdict(self, pair: int) -> str:
        """Return ``better`` or ``cannot tell``, with the reason where no outcome could be significant."""
        reason = self.reason(pair)
        return BETTER if self.significant[pair] else f"{CANNOT_TELL}: {reason}" if reason else CANNOT_TELL

    def reason(self, *pairs: int) -> str:
        """Say why no outcome could be significant for any of some pairs; empty where one could."""
        own = np.array(pairs)
        if self.reachable[own].any():
            return ""
        differing, topics = self.units[own], self.sample[own]
        if not self.differing[own].any():
            return "both score the same on every topic"
        few = differing[smallest_p(differing, topics, self.settings) > self.settings.level(self.family)]
        if not len(few):
            return f"{self.settings.draws(self.family)} resamples are too few for {counted(self.family, 'pair')}"
        fewest, most = int(few.min()), int(few.max())
        number = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        why = "too few for a bootstrap" if self.settings.test == "bootstrap" else "no outcome could be significant"
        noun = "topic" if self.clusters is None else "cluster"
        return f"{number} {noun}{' differs' if most == 1 else 's differ'}, {why}"


def power(pair: Pair) -> str:
    """Say, behind a blank, what these topics could have shown and what the difference would need; or nothing."""
    if pair.topics == 1:
        return fill("one topic")
    if pair.detectable is None and pair.needed is None:
        return ""
    span = fill("to", fewest=pair.fewest, most=ABSENT if pair.most is None else pair.most)
    noun = "needed clusters" if pair.clustered else "needed"
    needed = fill("never") if pair.needed is None else fill(noun, n=pair.needed, span=span)
    shown = "" if pair.detectable is None else f"{pair.detectable:.4f}"
    return fill("power" if shown else "no power", detectable=shown, needed=needed)


def wins_sentence(pair: Pair) -> str:
    """Say on how many topics A is better, and how few of them make the difference."""
    (side, n), *others = ((side, n) for side, n in (("A", pair.won), ("B", pair.lost), ("neither", pair.tied)) if n)
    counts = [fill("first side", side=side.capitalize(), n=n), *(fill("side", side=side, n=n) for side, n in others)]
    lines = [fill("wins", counts=listed(counts), topics=fill("topics", n=pair.topics))]
    if pair.difference == 0:
        lines.append(fill("level"))
    elif pair.gains:
        side = "A" if pair.difference > 0 else "B"
        known = listed(pair.gaining) if pair.gaining else ""
        lines.append(fill("gains" if known else "many gains", n=pair.gains, names=known, side=side))
    return " ".join(lines)


def judge_pairs(differences: NDArray[np.float64], settings: Settings, *, clusters: Clusters | None = None) -> Paired:
    """Judge a family of pairs, one row of differences each; a single topic says nothing about others.

    >>> from focuseval.inference.settings import Settings
    >>> judge_pairs(np.array([[0.5, 0.25, 0.5]]), Settings()).verdict(0)
    'cannot tell: 3 topics differ, no outcome could be significant'
    """
    return judge_families(differences[None], settings, clusters=clusters)[0]


def judge_families(
    differences: NDArray[np.float64], settings: Settings, *, clusters: Clusters | None = None,
    sides: Sides | None = None, progress: Progress | None = None,
) -> list[Paired]:  # fmt: skip
    """Judge several families of as many pairs each, such as the same runs under several measures.

    `differences` are families × pairs × topics. All rows see the same draws, so that they are tested together; `sides`
    are what the rows are differences of, which makes many pairs quick.
    """
    families, pairs, topics = differences.shape
    if not differences.size:
        none, zero = np.full(pairs, np.nan), np.zeros(pairs, np.int64)
        columns = (*[none] * 6, *[zero] * 3, np.full((pairs, 3), np.nan))
        return [Paired(settings, *columns, units=zero, skewness=none)] * families
    rows = differences.reshape(-1, topics)
    mean = without_noise(rows.mean(axis=1), rows)
    low, high = interval(rows, settings, clusters)
    sums = rows if clusters is None else without_noise(clusters.sums(rows), rows)
    p = np.ones(len(rows))
    if sums.shape[1] > 1:
        p = p_values(rows, settings, pairs, clusters=clusters, sides=sides, progress=progress)
    deviation = deviations(sums)
    if clusters is not None:
        whole = standard_error(rows, clusters)[1] * np.sqrt(clusters.number)
        deviation *= np.divide(whole, deviation[:, 0], out=np.zeros(len(rows)), where=deviation[:, 0] > 0)[:, None]
    won, lost = (rows > 0).sum(axis=1), (rows < 0).sum(axis=1)
    centred = sums - (1.0 if clusters is None else clusters.sizes) * rows.mean(axis=1, keepdims=True)
    cubes, spread = (centred * centred * centred).mean(axis=1), (centred * centred).mean(axis=1) ** 1.5
    found = (
        mean, low, high, p, np.concatenate([adjust(part, settings.correction) for part in np.split(p, families)]),
        effect_size(rows), won, lost, topics - won - lost, deviation,
        np.count_nonzero(sums, axis=1), np.divide(cubes, spread, out=np.zeros(len(rows)), where=spread > 0),
    )  # fmt: skip
    parts = zip(*(np.split(part, families) for part in found), strict=True)
    return [Paired(settings, *own, units=units, skewness=skew, clusters=clusters) for *own, units, skew in parts]


def smallest_p(
    differing: NDArray[np.int64], topics: NDArray[np.int64] | int, settings: Settings, family: int | None = None
) -> Vector:
    """Return the smallest p that the test can give where so many of the topics differ.

    Tests of signs and ranks cannot go below 2^(1−n) with two tails, where n topics differ: all of them point one way.
    A randomisation test of more topics than are enumerated cannot go below the share of one draw, which is asked for
    with `family`. A t-test is largest where the n differences are equal, and has no bound where all topics differ. A
    bootstrap has none either, and of two topics that agree it says p < .001: it is held to the bound of the signs.

    >>> from focuseval.inference.settings import Settings
    >>> smallest_p(np.array([0, 1, 6]), 6, Settings()).tolist()
    [1.0, 1.0, 0.03125]
    >>> smallest_p(np.array([1, 5]), 5, Settings("t")).round(4).tolist()
    [0.3739, 0.0]
    """
    number, whole = np.broadcast_arrays(np.asarray(differing, np.float64), np.asarray(topics, np.float64))
    if settings.test == "t":
        from scipy.special import stdtr  # noqa: PLC0415  only this test needs scipy

        with np.errstate(divide="ignore", invalid="ignore"):  # all topics differ, or there is none
            largest = np.sqrt(number * (whole - 1) / (whole - number))
            p = np.where(number > 0, settings.tails * stdtr(whole - 1, -largest), 1.0)
    else:
        p = settings.tails * 0.5**number
    if family is not None and settings.test in {"randomisation", "studentised"}:
        drawn = number > (EXACT if settings.test == "randomisation" else 0)
        p = np.where(drawn, np.maximum(p, 1 / (settings.draws(family) + 1)), p)
    return np.where(whole > 1, np.minimum(1.0, p), 1.0)


def deviations(rows: NDArray[np.float64]) -> Vector:
    """Return the standard deviation of every row and the ends of its 95 % interval: rows × 3, zero where none varies.

    The interval is that of χ², with the degrees of freedom that the row's own kurtosis leaves (Shoemaker 2003): scores
    tie on many topics and differ much on few, and then their variance is less certain than that of normal values.

    >>> deviations(np.array([[0.1, -0.2, 0.3, 0.2, 0.0, 0.4]])).round(3).tolist()
    [[0.216, 0.135, 0.53]]
    """
    from scipy.special import chdtri  # noqa: PLC0415  only power needs it

    topics = rows.shape[1]
    if topics < 2:
        return np.zeros((len(rows), 3))
    squares = (rows - rows.mean(axis=1, keepdims=True)) ** 2
    total = squares.sum(axis=1)
    peaked = topics * np.divide((squares**2).sum(axis=1), total**2, out=np.ones(len(rows)), where=total > 0)
    freedom = np.minimum(topics - 1, 2 * topics / (peaked - (topics - 3) / (topics - 1)))
    ends = (np.sqrt(freedom / chdtri(freedom, tail)) for tail in (0.025, 0.975))
    deviation = np.sqrt(total / (topics - 1))
    return np.asarray(np.where(deviation > noise_of(rows), deviation, 0.0) * [np.ones(len(rows)), *ends]).T


def detectable(deviation: Vector, topics: NDArray[np.int64] | int, settings: Settings, family: int = 1) -> Vector:
    r"""Return the smallest difference that the topics show with probability .8 or more in a family of pairs.

    .. math:: \delta \cdot sd / \sqrt{n}, \quad
        \delta = t_{1-\alpha/2} (1 - \tfrac{1}{4(n-1)}) + z_{.8} \sqrt{1 + t_{1-\alpha/2}^2 / (2(n-1))}

    δ is where the noncentral t exceeds its bound with that probability, but for less than 1 % (Johnson and Welch 1940).
    α is divided by the number of pairs: no correction ever asks a pair for more. NaN where there are fewer than two
    topics, and so no standard deviation.

    >>> from focuseval.inference.settings import Settings
    >>> detectable(np.array([0.2]), 50, Settings()).round(4).tolist()
    [0.0808]
    """
    number = np.asarray(topics, np.float64)
    return np.where(number > 1, deviation * _standardised(np.maximum(number, 2.0), settings, family), np.nan)


def topics_needed(difference: Vector, deviation: Vector, settings: Settings, family: int = 1) -> Vector:
    """Return with how many topics a difference would be the smallest detectable one, if their deviation stayed.

    Never fewer than those with which any outcome could be significant in the family. Infinite where nothing differs or
    where more than a billion would be needed.

    >>> from focuseval.inference.settings import Settings
    >>> topics_needed(np.array([0.1, 0.0]), np.array([0.2, 0.2]), Settings()).tolist()
    [34.0, inf]
    """
    number = np.arange(2, 1075)  # 2^-1074 is the smallest number above 0
    enough = smallest_p(number, number, settings) <= settings.level(family)
    fewest = number[int(np.argmax(enough))]
    with np.errstate(divide="ignore", invalid="ignore"):  # no difference: infinite, or NaN without a deviation either
        ratio = deviation / np.abs(difference)
        lower = (ratio * _standardised(np.array(np.inf), settings, family)) ** 2
    possible = (lower < MOST) & (difference != 0)
    needed = np.maximum(np.ceil(np.where(possible, lower, 2.0)), 2.0)
    while (short := possible & (np.where(possible, ratio, 0.0) * _standardised(needed, settings, family) > 1)).any():
        needed += short
    return np.where(possible, np.maximum(needed, fewest), np.inf)


def _standardised(topics: Vector, settings: Settings, family: int) -> Vector:
    """Return the smallest detectable difference in deviations; for infinitely many topics, times their root."""
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415  only power needs it

    level = settings.alpha / (max(1, family) if settings.correction != "none" else 1)
    if np.isinf(topics).all():
        return np.asarray(ndtri(1 - level / settings.tails) + ndtri(POWER))
    freedom = topics - 1
    bound = stdtrit(freedom, 1 - level / settings.tails)
    shown = bound * (1 - 1 / (4 * freedom)) + ndtri(POWER) * np.sqrt(1 + bound**2 / (2 * freedom))
    return np.asarray(shown / np.sqrt(topics))


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
