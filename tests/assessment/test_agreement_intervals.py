"""Intervals of agreement equal a slow version that repeats documents, and are right where one can tell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.assessment.agreement import agreements, finished
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document
from focuseval.inference.agreement import LEVEL, intervals, of_median
from oracle.agreement import cohen_kappa, correlation, moments, overlap
from strategies.assessing import PAGE, mark, save
from strategies.pages import extents_of

DRAWS = 40


def slow(labels, sizes, specificities, names=("kappa", "jaccard", "f", "specificity", "ratio")):
    """Draw documents as the fast version does, write each down as often as it was drawn, compute everything anew."""
    number = len(labels[0])
    drawn = np.random.default_rng(0).multinomial(number, np.full(number, 1 / number), size=DRAWS)
    found = {name: [] for name in names}
    for counts in drawn:
        rows = np.repeat(np.arange(number), counts)
        common, left, right = (np.array(side)[rows] for side in sizes)
        elements = np.concatenate([np.zeros((2, 0)), *(specificities[row] for row in rows)], axis=1)
        found["kappa"].append(cohen_kappa(np.array(labels[0])[rows], np.array(labels[1])[rows]))
        jaccard, f = overlap(common, left, right)
        found["jaccard"].append(jaccard)
        found["f"].append(f)
        found["specificity"].append(correlation(*elements))
        found["ratio"].append(right.sum() / left.sum() if left.sum() else math.nan)
    return {name: _middle(values) for name, values in found.items()}


def _middle(values):
    known = [value for value in values if not math.isnan(value)]
    if 2 * len(known) < len(values):
        return (math.nan, math.nan)
    return tuple(np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))


@given(st.integers(1, 8), st.integers(0, 10_000))
def test_intervals_equal_those_of_documents_repeated(number, seed):
    random = np.random.default_rng(seed)
    left, right = random.integers(0, 60, (2, number)) * random.integers(0, 2, (2, number))
    common = np.minimum(left, right) // 2
    labels = [(side > 0).astype(float).tolist() for side in (left, right)]
    specificities = [random.integers(0, 5, (2, random.integers(0, 4))) / 4 for _ in range(number)]
    sizes = [common.tolist(), left.tolist(), right.tolist()]
    verdicts = [*labels, np.prod(labels, axis=0)]
    fast = intervals(np.vstack([verdicts, sizes]), np.transpose(_moments(specificities)), [], DRAWS)
    for name, wanted in slow(labels, sizes, specificities).items():
        assert fast[name] == pytest.approx(wanted, nan_ok=True, abs=1e-9), name


def _moments(specificities):
    """The moments of every document, of values around the mean of all and over a range of one."""
    every = np.concatenate([np.zeros((2, 0)), *specificities], axis=1)
    if not every.shape[1]:
        return np.zeros((len(specificities), 6))
    mean, reach = every.mean(axis=1, keepdims=True), np.ptp(every, axis=1, keepdims=True)
    return [moments(*((part - mean) / np.where(reach > 0, reach, 1))) for part in specificities]


def judge(store, name, number, *spans):
    document = f"d{number}"
    key, page = Key(name, "1", document), Document(document, PAGE.text, PAGE.elements)
    for span in spans:
        save(store, mark(*span), key=key, page=page)
    save(store, {"kind": "finish", "relevant": bool(spans)}, key=key, page=page)


def test_two_who_mark_the_same_agree_without_doubt(store):
    for name in ("ann", "bob"):
        for number in range(12):
            judge(store, name, number, *([(0, 6 + number)] if number % 2 else []))
    (pair,) = agreements(finished(store), lambda name: extents_of(PAGE), resamples=200)
    assert pair.intervals == {
        **dict.fromkeys(("kappa", "jaccard", "f", "specificity", "ratio"), pytest.approx((1.0, 1.0))),
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


@given(st.lists(st.integers(0, 100), min_size=6, max_size=60))
def test_the_interval_of_a_median_is_between_two_of_the_values_and_holds_it(values):
    low, high = of_median(values)
    assert {low, high} <= set(map(float, values))
    assert low <= np.median(values) <= high


def test_the_interval_of_a_median_holds_it_as_often_as_it_says():
    random = np.random.default_rng(1)
    held = [low <= 0 <= high for low, high in (of_median(random.normal(size=25).tolist()) for _ in range(2000))]
    assert 0.95 <= np.mean(held) < 0.98


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
