"""Several runs of one system: how much values vary between topics and between trials, and which of them to add.

A system that samples (a language model's answers, a random seed) gives another run every time. Its mean over trials is
tested, topic by topic, as any run is. How far trials vary is estimated by a two-way analysis of variance.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]


class Spread(NamedTuple):
    """Variances of a system's values."""

    trials: int
    topics: float
    """Between topics, without what trials add."""
    within: float
    """Between trials of a topic, beyond what a trial adds to all topics."""
    shift: float
    """Between trials as a whole: what a trial adds to all topics."""


def spread(values: Matrix) -> Spread:
    """Return the variances of a system's values, trials × topics; those of a single trial are of its topics alone.

    >>> import numpy as np
    >>> spread(np.array([[0.0, 1.0], [0.5, 1.0]]))
    Spread(trials=2, topics=0.25, within=0.0625, shift=0.0)
    """
    trials, topics = values.shape
    by_topic, by_trial = values.mean(axis=0), values.mean(axis=1)
    if trials < 2 or topics < 2:
        return Spread(trials, float(by_topic.var(ddof=1)) if topics > 1 else 0.0, 0.0, 0.0)
    rest = values - by_topic - by_trial[:, None] + values.mean()
    within = float((rest**2).sum()) / ((trials - 1) * (topics - 1))
    own, shift = (float(means.var(ddof=1)) - within / n for means, n in ((by_topic, trials), (by_trial, topics)))
    return Spread(trials, max(0.0, own), within, max(0.0, shift))


def advice(names: Sequence[str], first: Matrix, second: Matrix) -> str:
    """Say whether more topics or more trials would make the difference of two systems (trials × topics) surer."""
    topics = first.shape[1]
    difference = float((first.mean(axis=0) - second.mean(axis=0)).var(ddof=1)) / topics
    both = [spread(values) for values in (first, second)]
    within, shift = sum(one.within / one.trials for one in both) / topics, sum(one.shift / one.trials for one in both)
    squares = difference + shift, difference / 2 + shift, max(difference - within, 0.0) + within / 2 + shift / 2
    now, wider, longer = map(sqrt, squares)
    return (
        f"{names[0]} less {names[1]}: the standard error over other topics and other trials is {now:.4f}; with twice "
        f"as many topics it would be {wider:.4f}, with twice as many trials {longer:.4f}: more "
        f"{'topics' if wider <= longer else 'trials'} help more."
    )
