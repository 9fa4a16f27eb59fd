"""How often the 95 % intervals of two assessors' agreement hold the agreement that they would have on all topics.

Topics are simulated. Of each, 20 to 100 documents are judged; the share of relevant ones, how often the second assessor
follows the first, and how much of a highlight both mark vary from topic to topic: not at all, somewhat, or much. The
truth is the agreement over 100,000 topics. *Before* is a bootstrap over documents; *now* is
`focuseval.inference.agreement`, topics and then documents of each.
"""

from functools import cache
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from focuseval.data.tables import Table, numbers, words
from focuseval.inference import agreement
from focuseval.inference.agreement import Interval

TOPICS = (3, 5, 8, 10, 25)
VARYING = {"alike": 0.0, "somewhat": 1.0, "much": 2.0}
SAMPLES = 400
RESAMPLES = 400
ALL = 100_000
"""Topics that the truth is over."""
LEVELS = {"kappa": "κ", "alpha": "α", "f": "F"}


def judged(rng: np.random.Generator, topics: int, varying: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the topic of every document, and what `intervals` asks for: verdicts and characters of both."""
    topic = np.repeat(np.arange(topics), rng.integers(20, 101, topics))
    relevant = rng.beta(2, 4, topics)[topic] if varying else np.full(len(topic), 1 / 3)
    follows = _logistic(1.5 + varying * rng.standard_normal(topics))[topic]
    left = rng.random(len(topic)) < relevant
    right = np.where(rng.random(len(topic)) < follows, left, rng.random(len(topic)) < relevant)
    size, other = left * np.exp(rng.normal(5, 1, len(topic))), right * np.exp(rng.normal(5, 1, len(topic)))
    other = np.where(left & right, size * np.exp(rng.normal(0, 0.3, len(topic))), other)
    overlap = _logistic(0.7 + varying * rng.standard_normal(topics)[topic] + rng.normal(0, 0.7, len(topic)))
    common = np.where(left & right, np.minimum(size, other) * overlap, 0.0)
    return topic, np.array([left, right, left & right, common, size, other], np.float64)


def _logistic(value: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-value))


def levels(documents: NDArray[np.float64], sums: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return κ, α and F from sums over so many documents, one or many."""
    x, y, both = sums[:3] / documents
    apart = sums[0] + sums[1] - 2 * sums[2]
    pairs = np.array([[2 * (documents - apart - sums[2]), apart], [apart, 2 * sums[2]]])
    return {
        "kappa": agreement.beyond_chance(1 - x - y + 2 * both, x * y + (1 - x) * (1 - y)),
        "alpha": agreement.alpha_of_sums(np.moveaxis(pairs, (0, 1), (-2, -1)), np.array([0.0, 1.0])),
        "f": agreement.overlap_of_sums(sums[3], sums[4] + sums[5])[1],
    }


@cache
def truth(varying: float) -> dict[str, float]:
    """Return the agreement over all topics."""
    topic, sums = judged(np.random.default_rng(1), ALL, varying)
    return {name: float(value) for name, value in levels(np.array(float(len(topic))), sums.sum(axis=1)).items()}


def over_documents(sums: NDArray[np.float64], rng: np.random.Generator) -> dict[str, Interval]:
    """Return the intervals as they were: percentiles over documents drawn with replacement."""
    number = sums.shape[1]
    drawn = sums @ rng.multinomial(number, np.full(number, 1 / number), size=RESAMPLES).T
    found = levels(np.full(RESAMPLES, float(number)), drawn)
    return {name: tuple(np.nanquantile(values, [0.025, 0.975])) for name, values in found.items()}


def over_topics(topic: NDArray[np.int64], sums: NDArray[np.float64]) -> dict[str, Interval]:
    """Return the intervals as they are, also where there are too few topics for any."""
    number = len(topic)
    with patch.object(agreement, "FEWEST_TOPICS", 2):
        found = agreement.intervals(sums, np.zeros((6, number)), np.full(number, np.nan), topic, RESAMPLES)
        drawn = np.concatenate(list(agreement.drawn_documents(topic, RESAMPLES)))
        alpha = levels(drawn.sum(axis=1).astype(np.float64), sums @ drawn.T)["alpha"]
        return found | {"alpha": agreement.middle_of(alpha, len(np.unique(topic)))}


def coverage(varying: float, topics: int) -> dict[str, dict[str, float]]:
    """Return, before and now, the share of samples whose interval holds the truth, for every level of agreement."""
    rng, held = np.random.default_rng(topics), {when: dict.fromkeys(LEVELS, 0) for when in ("before", "now")}
    for _ in range(SAMPLES):
        topic, sums = judged(rng, topics, varying)
        found = {"before": over_documents(sums, rng), "now": over_topics(topic, sums)}
        for when, intervals in found.items():
            for name in LEVELS:
                low, high = intervals[name]
                held[when][name] += low <= truth(varying)[name] <= high
    return {when: {name: number / SAMPLES for name, number in own.items()} for when, own in held.items()}


def tables() -> list[Table]:
    """Return the coverage before and now."""
    rows = []
    for name, varying in VARYING.items():
        for topics in TOPICS:
            found = coverage(varying, topics)
            shares = (100 * found[when][level] for level in LEVELS for when in ("before", "now"))
            rows.append((name, topics, *shares))
    heads = (f"{sign}, {when}" for sign in LEVELS.values() for when in ("before", "now"))
    columns = (*words("topics vary"), *numbers("topics", form=".0f"), *numbers(*heads, form=".0f"))
    notes = (
        f"{SAMPLES} samples a row, {RESAMPLES} resamples each.",
        f"Of fewer than {agreement.FEWEST_TOPICS} topics commands show no interval.",
    )
    return [Table("Intervals that hold the agreement, in percent; 95 is stated", columns, tuple(rows), notes)]
