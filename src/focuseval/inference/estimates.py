r"""What people would have said of all topics, from a few topics that they judged and a model's judgements of all.

Every topic is scored under the model's gold, f; those of people's random sample under people's as well, y. A model's
mean is biased and people's mean is wide. The regression estimator of survey sampling (also known as prediction-powered
inference with a tuned weight) corrects people's mean by what the model says of the topics that they did not judge:

.. math:: \theta = \bar y + w (\bar F - \bar f), \quad w = \sum (y_i - \bar y)(f_i - \bar f) / S,
    \quad S = \sum (f_i - \bar f)^2

It is right whatever the model does, and narrower where the model is good. Its variance is that of a regression's
prediction (HC3) and of the model's mean, and its interval Student's t; between two bounds the score interval
(`student_ends`), with a variance in which one topic counts as if the model had said nothing of it. With clusters, sums
and residuals are over clusters. An interval that may be looked at after every topic is an asymptotic confidence
sequence (Waudby-Smith and others 2024).

A topic without a value (nothing is relevant in it) is in no mean: under the model's gold it says nothing of the others,
and under people's it is estimated how many such topics there are, as the mean is a ratio then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.inference.clusters import Clusters, standard_error
from focuseval.inference.comparison import Comparison
from focuseval.inference.intervals import UNBOUNDED, student_ends
from focuseval.inference.paired import POWER, deviations, judge_pairs
from focuseval.inference.paired_tests import NOISE, adjust, paired_differences
from focuseval.inference.settings import Settings

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

FEWEST = 10  # topics by people, below which there is no interval
UNSURE = 20
"""Topics by people, below which 95 % intervals may hold the truth less often: ``python -m reproductions estimates``."""
LEVEL = 0.05
_LEVERAGE = 0.99


@dataclass(frozen=True, eq=False)
class Estimated:
    """Estimates, one for every row: a run, or the difference of two."""

    estimate: Vector
    low: Vector
    high: Vector  # 95 %; NaN of fewer than `FEWEST` topics by people
    p: Vector  # two-tailed, of no difference from 0; NaN as above
    weight: Vector
    worth: Vector
    """How many topics judged by people alone would give as narrow an interval; NaN where there is none."""
    people: Matrix  # rows × mean, low and high over people's topics alone
    judged: NDArray[np.int64]  # people's topics that are in the mean
    model: Vector  # the mean under the model's gold
    topics: NDArray[np.int64]  # the model's topics that are in it
    bias: Matrix  # rows × mean, low and high of model less people, over the topics that are in both means
    values: Matrix  # people's topics as the estimate sees them: their mean is the estimate
    deviation: Matrix
    """Rows × 3: the deviation of what the model leaves unexplained in a topic, and the ends of its 95 % interval."""
    floor: Vector  # the variance of the model's part, which no more topics by people make smaller


def estimate(
    people: Matrix, model: Matrix, *, weight: float | None = None, anytime: bool = False,
    clusters: Clusters | None = None, bounds: tuple[float, float] = UNBOUNDED,
) -> Estimated:  # fmt: skip
    """Estimate the mean that people would find over all topics, for every row.

    Parameters
    ----------
    people, model
        Rows × values of people's sample, and of all topics; the first topics of `model` are those of `people`, in the
        same order. NaN where a topic is in no mean.
    weight
        The model's weight; by default the best one. 1 is plain prediction-powered inference, 0 people alone.
    anytime
        Whether the interval may be looked at after every topic.
    clusters, bounds
        Of all topics, and those of the measure.

    >>> found = estimate(np.arange(12.0)[None] / 12, np.arange(30.0)[None] % 12 / 12)
    >>> found.estimate.round(4).tolist(), found.weight.round(4).tolist(), found.model.round(4).tolist()
    ([0.4083], [1.0], [0.4083])
    """
    from scipy.special import ndtri, stdtr, stdtrit  # noqa: PLC0415  only estimates and intervals need it

    number = people.shape[1]
    own = None if clusters is None else clusters.take(np.arange(number))
    alone, alone_error, alone_freedom = _standard_errors(people, own)
    of_model, of_bias = _standard_errors(model, None)[0], _standard_errors(model[:, :number] - people, own)
    known, found = ~np.isnan(people), ~np.isnan(model)
    judged = known.sum(axis=1)
    y = np.where(known, people - alone[:, None], 0.0) * (number / np.maximum(judged, 1))[:, None]
    f = np.where(found, model - of_model[:, None], 0.0)
    drift = f[:, :number].mean(axis=1)  # f has no mean over all topics, so this is f̄ − F̄
    inside = f[:, :number] - drift[:, None]
    sums_y, sums_f, sizes = (y, inside, np.ones(number)) if own is None else (own.sums(y), own.sums(inside), own.sizes)
    square = (sums_f**2).sum(axis=1)
    steep = square > number * (NOISE * np.abs(model).max(axis=1, initial=0.0, where=found)) ** 2
    inverse = np.divide(1.0, square, out=np.zeros(len(square)), where=steep)
    w = (sums_y * sums_f).sum(axis=1) * inverse if weight is None else np.full(len(square), float(weight))
    theta = alone - w * drift
    values = alone[:, None] + y - w[:, None] * f[:, :number]  # their mean is θ
    _, error, free = standard_error(values, own)
    variance, freedom = error**2, free
    units = judged if own is None else np.full(len(square), own.number)
    if weight is None:
        leverage = np.minimum(sizes / number + sums_f**2 * inverse[:, None], _LEVERAGE)
        pull = 1 / number - sums_f * (drift * inverse)[:, None]
        variance = ((pull * (sums_y - w[:, None] * sums_f) / (1 - leverage)) ** 2).sum(axis=1)
        freedom = units - 2.0
    floor = w**2 * standard_error(f, clusters)[1] ** 2
    total = variance + floor
    freedom, wide = np.maximum(freedom, 1.0), np.sqrt(total)
    ratio = np.divide(np.abs(theta), wide, out=np.where(theta != 0, np.inf, 0.0), where=wide > 0)
    p, grown = 2 * stdtr(freedom, -ratio), np.ones(len(w))
    if anytime:
        scaled = np.maximum(units, 1) * _SPREAD
        ratio *= ndtri(1 - LEVEL / 2) / stdtrit(freedom, 1 - LEVEL / 2)
        p = np.minimum(1.0, np.sqrt(scaled + 1) * np.exp(-(ratio**2) * scaled / (2 * (scaled + 1))))
        grown = quantile_at_any_time(units) / ndtri(1 - LEVEL / 2)
    deviation = deviations(values) * np.sqrt((number - 1) / max(1, number - 1 - (weight is None)))
    if own is not None:  # as if all clusters were of one size
        spread = deviation[:, 0] > 0
        deviation *= np.divide(error * np.sqrt(number), deviation[:, 0], out=np.zeros(len(w)), where=spread)[:, None]
    worth = np.divide(judged * alone_error**2, total, out=np.full(len(w), np.nan), where=total > 0)
    few, bounded = (judged < FEWEST) | (units < 3), weight is None and bool(np.isfinite(bounds).all())
    if bounded:  # a small sample may miss where the model errs: one topic counts as if it had said nothing of it
        wide = np.sqrt(total + alone_error**2 / np.maximum(units - 1, 1))
    ends = student_ends(theta, grown * wide, freedom, units / grown**2, bounds=bounds, joined=not bounded)
    low, high, p, worth = (np.where(few, np.nan, part) for part in (*ends, p, worth))
    people_ends = student_ends(alone, alone_error, alone_freedom, units, bounds=bounds)
    return Estimated(
        theta, low, high, p, w, worth, np.stack([alone, *people_ends], axis=1), judged, of_model, found.sum(axis=1),
        np.stack([of_bias[0], *student_ends(*of_bias, units)], axis=1), values, deviation, floor,
    )  # fmt: skip


def _standard_errors(values: Matrix, clusters: Clusters | None) -> tuple[Vector, Vector, Vector]:
    """Return mean, standard error and its degrees of freedom of every row, over the topics that have a value."""
    known = ~np.isnan(values)
    if known.all():
        return standard_error(values, clusters)
    found = np.full((len(values), 3), np.nan)
    for row, kept in enumerate(known):
        if kept.any():
            inside = None if clusters is None else clusters.take(kept)
            mean, error, freedom = standard_error(values[row, kept][None], inside)
            found[row] = mean[0], error[0], freedom[0]
    return found[:, 0], found[:, 1], np.nan_to_num(found[:, 2])


_SPREAD = (-2 * np.log(LEVEL) + np.log(1 - 2 * np.log(LEVEL))) / 60
"""ρ² of the confidence sequence: it is narrowest at about 60 topics."""


def quantile_at_any_time(topics: NDArray[np.integer]) -> Vector:
    r"""Return what takes the place of the normal quantile in an interval that is looked at after every topic.

    .. math:: q(n) = \sqrt{2 \frac{n\rho^2 + 1}{n\rho^2} \ln\frac{\sqrt{n\rho^2 + 1}}{\alpha}}

    >>> quantile_at_any_time(np.array([30, 100])).round(2).tolist()
    [3.08, 3.05]
    """
    grown = np.maximum(topics, 1) * _SPREAD
    return np.asarray(np.sqrt(2 * (grown + 1) / grown * np.log(np.sqrt(grown + 1) / LEVEL)))


def topics_to_judge(found: Estimated, reach: Vector, topics: int, *, anytime: bool = True) -> Matrix:
    """Return with how many topics by people a difference of `reach` would be shown with probability .8: rows × 3.

    The three are for the deviation as it is estimated and for the ends of its interval; infinite where not even all
    `topics` would do.
    """
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415  as above

    number = np.arange(FEWEST, max(topics, FEWEST) + 1)
    factor = stdtrit(number - 2, 1 - LEVEL / 2)
    if anytime:
        factor *= quantile_at_any_time(number) / ndtri(1 - LEVEL / 2)
    ahead = (factor + ndtri(POWER)) * np.sqrt(found.deviation[:, :, None] ** 2 / number + found.floor[:, None, None])
    enough = ahead <= np.asarray(reach)[:, None, None]
    return np.where(enough.any(axis=2), number[enough.argmax(axis=2)], np.inf)


def compare_estimates(
    measure: str, runs: tuple[str, ...], topics: tuple[str, ...], people: Matrix, model: Matrix,
    *, weight: float | None = None, anytime: bool = False, clusters: Clusters | None = None,
    bounds: tuple[float, float] = UNBOUNDED,
) -> tuple[Estimated, Estimated, Comparison]:  # fmt: skip
    """Return the estimates of runs, of their differences (first less second), and the pairs as one family.

    Parameters are those of `estimate`, with a row for every run; `topics` are people's. The comparison has the
    differences, intervals and p of the estimates, corrected by Holm; topics won and lost are those of people's sample.
    """
    how: Any = {"weight": weight, "anytime": anytime, "clusters": clusters}
    own = estimate(people, model, **how, bounds=bounds)
    first, second = np.triu_indices(len(runs), 1)
    apart = [  # NaN stays NaN, and does not hide what is rounding noise elsewhere in its row
        np.where(np.isnan(part[first] + part[second]), np.nan, paired_differences(plain[first], plain[second]))
        for part, plain in ((part, np.nan_to_num(part)) for part in (people, model))
    ]
    both = estimate(*apart, **how)
    inside, settings = None if clusters is None else clusters.take(np.arange(people.shape[1])), Settings("t")
    turn = both.estimate < 0
    sign = np.where(turn, -1.0, 1.0)
    low, high = np.where(turn, -both.high, both.low), np.where(turn, -both.low, both.high)
    judged = judge_pairs(both.values * sign[:, None], settings, clusters=inside)
    seen = np.sign(np.nan_to_num(apart[0]) * sign[:, None])
    p = np.where(np.isnan(both.p), 1.0, both.p)
    won, tied, lost = ((seen == side).sum(axis=1) for side in (1, 0, -1))
    columns = vars(judged) | {"difference": both.estimate * sign, "low": low, "high": high, "p": p}
    columns |= {"corrected": adjust(p, settings.correction), "won": won, "lost": lost, "tied": tied, "bounds": bounds}
    found = Comparison(
        **columns, measure=measure, runs=runs, topics=topics, values=own.values,
        better=np.where(turn, second, first), worse=np.where(turn, first, second),
    )  # fmt: skip
    return own, both, found
