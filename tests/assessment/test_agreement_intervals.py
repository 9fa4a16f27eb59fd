"""Intervals of agreement equal a slow version that repeats documents, and are right where one can tell.

`reproductions/agreement_intervals.py` measures how often they hold what is true.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from focuseval.assessment.agreement import agreements, alpha, alpha_interval, finished
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document
from focuseval.inference.agreement import FEWEST_TOPICS, LEVEL, drawn_documents, intervals, middle_of
from oracle.agreement import cohen_kappa, correlation, krippendorff_alpha, moments, overlap
from strategies.assessing import PAGE, mark, save
from strategies.pages import extents_of

DRAWS = 40


def slow(labels, sizes, specificities, distances, topic):
    """Draw documents as the fast version does, write each down as often as it was drawn, compute everything anew."""
    found = {name: [] for name in ("kappa", "jaccard", "f", "precision", "recall", "specificity", "ratio", "distance")}
    for counts in np.concatenate(list(drawn_documents(topic, DRAWS))):
        rows = np.repeat(np.arange(len(topic)), counts)
        common, left, right = (np.array(side)[rows] for side in sizes)
        elements = np.concatenate([np.zeros((2, 0)), *(specificities[row] for row in rows)], axis=1)
        found["kappa"].append(cohen_kappa(np.array(labels[0])[rows], np.array(labels[1])[rows]))
        jaccard, f = overlap(common, left, right)
        found["jaccard"].append(jaccard)
        found["f"].append(f)
        found["precision"].append(common.sum() / right.sum() if right.sum() else math.nan)
        found["recall"].append(common.sum() / left.sum() if left.sum() else math.nan)
        found["specificity"].append(correlation(*elements))
        found["ratio"].append(right.sum() / left.sum() if left.sum() else math.nan)
        known = distances[rows][~np.isnan(distances[rows])]
        found["distance"].append(np.median(known) if len(known) else math.nan)
    return {name: _stretched(values, len(set(topic.tolist()))) for name, values in found.items()}


def _stretched(values, topics):
    """Percentiles as far out as Student's t is, and wider by the bias of a standard deviation."""
    known = [value for value in values if not math.isnan(value)]
    if 2 * len(known) < len(values):
        return (math.nan, math.nan)
    tail = stats.norm.sf(math.sqrt(topics / (topics - 1)) * stats.t.ppf((1 + LEVEL) / 2, topics - 1))
    return tuple(np.quantile(known, [tail, 1 - tail]))


@given(st.integers(FEWEST_TOPICS, 8), st.integers(0, 20), st.integers(0, 10_000))
def test_intervals_equal_those_of_documents_repeated(topics, more, seed):
    random = np.random.default_rng(seed)
    topic = random.permutation(np.r_[np.arange(topics), random.integers(0, topics, more)])
    number = len(topic)
    left, right = random.integers(0, 60, (2, number)) * random.integers(0, 2, (2, number))
    common = np.minimum(left, right) // 2
    labels = [(side > 0).astype(float).tolist() for side in (left, right)]
    specificities = [random.integers(0, 5, (2, random.integers(0, 4))) / 4 for _ in range(number)]
    sizes = [common.tolist(), left.tolist(), right.tolist()]
    verdicts = [*labels, np.prod(labels, axis=0)]
    distances = np.where(np.prod(labels, axis=0) > 0, random.integers(0, 90, number), np.nan)
    given_to = (np.vstack([verdicts, sizes]), np.transpose(_moments(specificities)), distances, topic, DRAWS)
    fast = intervals(*given_to)
    for name, wanted in slow(labels, sizes, specificities, distances, topic).items():
        assert fast[name] == pytest.approx(wanted, nan_ok=True, abs=1e-9), name


def test_topics_are_drawn_and_of_each_as_many_documents_as_it_has():
    topic = np.array([2, 0, 2, 2, 1, 2])
    drawn = np.concatenate(list(drawn_documents(topic, 4000)))
    of_topics = np.stack([drawn[:, topic == number].sum(axis=1) for number in range(3)], axis=1)
    assert not (of_topics % [1, 1, 4]).any()
    assert (of_topics // [1, 1, 4]).sum(axis=1).tolist() == [3] * 4000
    assert drawn.mean(axis=0) == pytest.approx(np.ones(6), abs=0.06)
    assert np.ptp(drawn[of_topics[:, 2] == 4][:, topic == 2], axis=0).min() > 0


def test_fewer_topics_than_five_have_no_interval():
    columns, elements, nothing = np.ones((6, 8)), np.ones((6, 8)), np.full(8, np.nan)
    few, enough = (intervals(columns, elements, nothing, np.arange(8) % topics) for topics in (4, 5))
    assert few.keys() == enough.keys()
    assert np.isnan(list(few.values())).all()
    assert enough["f"] == (1.0, 1.0)
    assert np.isnan(middle_of(np.arange(100.0), 4)).all()


def _moments(specificities):
    """The moments of every document, of values around the mean of all and over a range of one."""
    every = np.concatenate([np.zeros((2, 0)), *specificities], axis=1)
    if not every.shape[1]:
        return np.zeros((len(specificities), 6))
    mean, reach = every.mean(axis=1, keepdims=True), np.ptp(every, axis=1, keepdims=True)
    return [moments(*((part - mean) / np.where(reach > 0, reach, 1))) for part in specificities]


def judge(store, name, number, *spans):
    document = f"d{number}"
    key, page = Key(name, str(number % 6), document), Document(document, PAGE.text, PAGE.elements)
    for span in spans:
        save(store, mark(*span), key=key, page=page)
    save(store, {"kind": "finish", "relevant": bool(spans)}, key=key, page=page)


def test_two_who_mark_the_same_agree_without_doubt(store):
    for name in ("ann", "bob"):
        for number in range(12):
            judge(store, name, number, *([(0, 6 + number)] if number % 2 else []))
    (pair,) = agreements(finished(store), lambda name: extents_of(PAGE), resamples=200)
    assert pair.intervals == {
        **dict.fromkeys(
            ("kappa", "jaccard", "f", "precision", "recall", "specificity", "ratio"), pytest.approx((1.0, 1.0))
        ),
        "distance": (0.0, 0.0),
    }
    assert (pair.relevant, pair.ratio) == ((6, 6), 1.0)


def test_who_marks_more_is_said_with_an_interval(store):
    for number in range(10):
        judge(store, "ann", number, (0, 6))
        judge(store, "bob", number, (0, 6 + 6 * (number % 2 + 1)))
    (pair,) = agreements(finished(store), lambda name: extents_of(PAGE), resamples=500)
    assert pair.highlighted == (60, 150)
    assert pair.ratio == 2.5
    low, high = pair.intervals["ratio"]
    assert 2 <= low < 2.5 < high <= 3


def test_without_resamples_there_are_no_intervals(store):
    judge(store, "ann", 1, (0, 6))
    judge(store, "bob", 1, (0, 6))
    (pair,) = agreements(finished(store), lambda name: extents_of(PAGE))
    assert pair.intervals == {}


def test_the_interval_of_alpha_is_that_of_the_same_documents_drawn(store):
    random = np.random.default_rng(3)
    for number in range(24):
        for name in ("ann", "bob", "cy")[: random.integers(2, 4)]:
            judge(store, name, number, *([(0, 6)] if random.random() < 0.4 + 0.1 * (number % 6) else []))
    found = finished(store)
    units = sorted({unit for judged in found.values() for unit in judged})
    table = np.array(
        [[float(bool(j[u].judgement.highlights)) if u in j else math.nan for u in units] for j in found.values()]
    )
    assert alpha(found) == pytest.approx(krippendorff_alpha(table))
    order = list(dict.fromkeys(unit for judged in found.values() for unit in judged))
    topic = np.array([int(unit[0]) for unit in order])
    columns = table[:, [units.index(unit) for unit in order]]
    drawn = np.concatenate(list(drawn_documents(topic, DRAWS)))
    values = [krippendorff_alpha(np.repeat(columns, counts, axis=1)) for counts in drawn]
    assert alpha_interval(found, DRAWS) == pytest.approx(_stretched(values, 6))
    assert alpha_interval(found, DRAWS)[0] < alpha(found) < alpha_interval(found, DRAWS)[1]
    assert np.isnan(alpha_interval({"ann": found["ann"]}, DRAWS)).all()


def test_only_those_who_share_documents_are_compared(store):
    judge(store, "ann", 1, (0, 6))
    judge(store, "bob", 2, (0, 6))
    judge(store, "cy", 1)
    judge(store, "cy", 2)
    found = finished(store)
    shared = agreements(found, lambda name: extents_of(PAGE))
    assert [(pair.left, pair.right) for pair in shared] == [("ann", "cy"), ("bob", "cy")]
    other = agreements(dict(reversed(found.items())), lambda name: extents_of(PAGE))
    assert [(pair.left, pair.right) for pair in other] == [("cy", "bob"), ("cy", "ann")]
