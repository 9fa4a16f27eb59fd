"""Blocks of topics, and what is made once for all measures that need it."""

from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.evaluation.sources import as_index
from focuseval.measures.characters import interpolated_curve
from focuseval.measures.entry_points import near, seen_targets
from focuseval.measures.matching import match
from focuseval.measures.peers import texts
from focuseval.measures.prepared import prepare
from focuseval.measures.spans import _pieces_of, best_read, read
from focuseval.measures.topicwise import blocks, ceiling, count, count_by, ratio, running, running_count, total
from focuseval.measures.xcg import effort_precision
from strategies.element_runs import Case


@pytest.mark.parametrize(
    ("bounds", "results", "wanted"),
    [
        ([0, 3, 6, 9, 9], 6, [(0, 2), (2, 4)]),
        ([0, 3, 6, 7], 6, [(0, 2), (2, 3)]),
        ([0, 3, 6, 7], 99, [(0, 3)]),
        ([0, 20, 40], 6, [(0, 1), (1, 2)]),
        ([0, 0], 6, [(0, 1)]),
    ],
)
def test_neighbouring_topics_are_looked_at_together_up_to_so_many_results(bounds, results, wanted):
    assert list(blocks(np.array(bounds), results)) == wanted


VALUES = st.lists(st.lists(st.integers(0, 99).map(lambda x: x / 7), max_size=9), min_size=1, max_size=5)


@given(VALUES)
def test_sums_of_a_topic_are_made_as_if_it_stood_alone(topics):
    values, bounds = np.array([x for topic in topics for x in topic]), np.cumsum([0, *map(len, topics)])
    assert running(values, bounds).tolist() == [x for topic in topics for x in np.cumsum(topic).tolist()]
    topic = np.repeat(np.arange(len(topics)), np.diff(bounds))
    assert total(values, topic, len(topics)).tolist() == [reduce(add, topic, 0.0) for topic in topics]  # `sum` corrects


@given(VALUES)
def test_counts_of_a_topic_are_exact(topics):
    topics = [[int(x) for x in topic] for topic in topics]
    values, bounds = np.array([x for topic in topics for x in topic], np.int32), np.cumsum([0, *map(len, topics)])
    topic = np.repeat(np.arange(len(topics)), np.diff(bounds))
    assert running_count(values, bounds).tolist() == [x for topic in topics for x in np.cumsum(topic).tolist()]
    for counted in (count(values, bounds), count_by(values, topic, len(topics))):
        assert counted.dtype == np.int64
        assert counted.tolist() == [sum(topic) for topic in topics]
    assert count(values > 3, bounds).tolist() == [sum(x > 3 for x in topic) for topic in topics]


@given(st.integers(0, 10**18), st.integers(0, 100))
def test_a_level_is_rounded_up_in_integers(whole, percent):
    assert ceiling(np.array([whole]), Fraction(percent, 100)).tolist() == [-(-whole * percent // 100)]


def test_what_is_divided_by_nothing_is_nothing():
    assert ratio(np.array([[1], [3]]), np.array([2, 0])).tolist() == [[0.5, 0], [1.5, 0]]


@pytest.mark.parametrize(
    "made",
    [
        lambda m: near(m, 0.1),
        lambda m: _pieces_of(m, "words"),
        lambda m: interpolated_curve(m)[1],
        lambda m: texts(m, 3),
        lambda m: read(m, 3),
        best_read,
    ],
    ids=["entry points", "words", "interpolated precision", "texts", "text of the first results", "best chunks"],
)
def test_what_several_measures_need_of_a_match_is_made_once(made):
    gold = gold_of({"t": {"d": {"spans": [(0, 9)], "length": 9, "bep": 0}}})
    m = match(run_of({"t": [("d", 0, 5)]}), prepare(gold, as_index({"d": "some text"})))
    assert made(m) is made(m)


@pytest.mark.parametrize("made", [seen_targets, effort_precision])
def test_what_several_measures_need_of_elements_is_made_once(made):
    elements = Case("highlights", "spec", {("t1", "d1", "/a[1]"): (2, -1, 4, 4)}, {}).matched().elements("auto", "full")
    assert made(elements) is made(elements)
