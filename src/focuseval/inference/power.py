"""What so many topics can show: the smallest p, the smallest difference, and the topics that a difference needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.limits import MOST
from focuseval.inference.paired_tests import EXACT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.inference.settings import Settings

POWER = 0.8
"""The probability with which a difference is to be shown."""


def smallest_p(differing: NDArray[np.int64], tails: int) -> NDArray[np.float64]:
    """Return the smallest p that signs can give where so many topics differ: 2^(1−n) with two tails.

    >>> smallest_p(np.array([0, 1, 6]), 2).tolist()
    [1.0, 1.0, 0.03125]
    """
    p: NDArray[np.float64] = np.minimum(1.0, tails * 0.5 ** np.asarray(differing, np.float64))
    return p


def smallest_drawn_p(differing: NDArray[np.int64], settings: Settings, family: int) -> NDArray[np.float64]:
    """Return the smallest p that the draws of a randomisation test can give; 0 where it draws none."""
    drawn = (differing > EXACT) & (settings.test == "randomisation")
    return np.where(drawn, 1 / (settings.draws(family) + 1), 0.0)


def detectable(deviation: NDArray[np.float64], topics: int, settings: Settings) -> NDArray[np.float64]:
    r"""Return the smallest difference that the topics show with probability .8, for one pair by itself.

    .. math:: (t_{1-\alpha/2} + t_{.8}) \cdot sd / \sqrt{n}

    NaN where there are fewer than two topics, and so no standard deviation.

    >>> from focuseval.inference.settings import Settings
    >>> detectable(np.array([0.2]), 50, Settings()).round(4).tolist()
    [0.0809]
    """
    if topics < 2:
        return np.full(len(deviation), np.nan)
    return deviation * _standardised(np.array(float(topics)), settings)


def topics_needed(
    difference: NDArray[np.float64], deviation: NDArray[np.float64], settings: Settings, family: int = 1
) -> NDArray[np.float64]:
    """Return with how many topics a difference would be the smallest detectable one, if their deviation stayed.

    Never fewer than those with which any outcome could be significant in the family. Infinite where nothing differs or
    where more than a billion would be needed.

    >>> from focuseval.inference.settings import Settings
    >>> topics_needed(np.array([0.1, 0.0]), np.array([0.2, 0.2]), Settings()).tolist()
    [34.0, inf]
    """
    fewest = np.ceil(np.log2(settings.tails / settings.level(family)))
    with np.errstate(divide="ignore", invalid="ignore"):  # no difference: infinite, or NaN without a deviation either
        ratio = deviation / np.abs(difference)
        lower = (ratio * _standardised(np.array(np.inf), settings)) ** 2
    possible = (lower < MOST) & (difference != 0)
    needed = np.maximum(np.ceil(np.where(possible, lower, 2.0)), 2.0)
    while (short := possible & (np.where(possible, ratio, 0.0) * _standardised(needed, settings) > 1)).any():
        needed += short
    return np.where(possible, np.maximum(needed, fewest), np.inf)


def _standardised(topics: NDArray[np.float64], settings: Settings) -> NDArray[np.float64]:
    """Return the smallest detectable difference in deviations; for infinitely many topics, times their root."""
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415  only power needs it

    shares = np.array([1 - settings.alpha / settings.tails, POWER])
    if np.isinf(topics).all():
        return np.asarray(ndtri(shares).sum())
    sums: NDArray[np.float64] = stdtrit((topics - 1)[..., None], shares).sum(axis=-1)
    return sums / np.sqrt(topics)
