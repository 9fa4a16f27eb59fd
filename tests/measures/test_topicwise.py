"""Blocks of topics, and what is made once for all measures that need it."""

import numpy as np
import pytest

from building import gold_of, run_of
from focuseval.match import match, prepare
from focuseval.measures.ceiling import best_read
from focuseval.measures.characters import interpolated_curve
from focuseval.measures.chunk_evaluators import texts
from focuseval.measures.entry_point import near
from focuseval.measures.prum import seen_targets
from focuseval.measures.spans import read
from focuseval.measures.topicwise import blocks, count_by
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


def test_counts_are_integers():
    assert count_by(np.array([1, 2]), np.array([1, 1]), 2).dtype == np.int64


@pytest.mark.parametrize(
    "made",
    [near, lambda m: interpolated_curve(m)[1], lambda m: texts(m, 3), lambda m: read(m, 3), best_read],
    ids=["entry points", "interpolated precision", "texts", "text of the first results", "best chunks"],
)
def test_what_several_measures_need_of_a_match_is_made_once(made):
    gold = gold_of({"t": {"d": {"spans": [(0, 9)], "length": 9, "bep": 0}}})
    m = match(run_of({"t": [("d", 0, 5)]}), prepare(gold))
    assert made(m) is made(m)


@pytest.mark.parametrize("made", [seen_targets, effort_precision])
def test_what_several_measures_need_of_elements_is_made_once(made):
    elements = Case("highlights", "spec", {("t1", "d1", "/a[1]"): (2, -1, 4, 4)}, {}).matched().elements("auto", "full")
    assert made(elements) is made(elements)
