"""Slices of topics: which are judged, and that test, correction and intervals are of one family."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from focuseval.inference.clusters import Clusters
from focuseval.inference.intervals import FEWEST, judge_slices

SLICES = [range(30), range(12), range(5, 25), range(9), [*range(20, 30)]]


def plain_holm(ps):
    """Holm, step by step: the smallest p times all, the next times one less, never below the one before."""
    corrected, largest = dict[int, float](), 0.0
    for step, k in enumerate(sorted(range(len(ps)), key=lambda k: ps[k])):
        largest = max(largest, min(1.0, ps[k] * (len(ps) - step)))
        corrected[k] = largest
    return [corrected[k] for k in range(len(ps))]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(-0.6, 0.6))
def test_slices_are_scipys_t_corrected_by_holm_with_bonferronis_intervals(seed, shift):
    rows = np.random.default_rng(seed).normal(shift, 1, (2, 30))
    found = judge_slices(rows, SLICES, alpha=0.1)
    assert [one is None for one in found] == [len(own) < FEWEST for own in SLICES]
    judged = [n for n, own in enumerate(SLICES) if len(own) >= FEWEST]
    for pair, row in enumerate(rows):
        parts = [row[list(SLICES[n])] for n in judged]
        corrected = plain_holm([stats.ttest_1samp(part, 0).pvalue for part in parts])
        for n, part, p in zip(judged, parts, corrected, strict=True):
            ends = stats.t.interval(1 - 0.05 / len(judged), len(part) - 1, part.mean(), stats.sem(part))
            assert (found[n].low[pair], found[n].high[pair]) == pytest.approx(ends)
            assert found[n].corrected[pair] == pytest.approx(p)
            assert found[n].lead[pair] == (np.sign(part.mean()) if p <= 0.1 else 0)
            if not ends[0] <= 0 <= ends[1]:  # Holm is the sharper of the two
                assert p <= 0.05


def test_ten_topics_are_judged_and_nine_are_not():
    rows = np.random.default_rng(0).normal(5, 1, (1, 10))
    assert judge_slices(rows, [range(10), range(9)])[0].lead.tolist() == [1]
    assert judge_slices(rows, [range(10), range(9)])[1] is None
    assert judge_slices(-rows, [range(10)])[0].lead.tolist() == [-1]
    assert judge_slices(rows - rows.mean() + 0.01, [range(10)])[0].lead.tolist() == [0]


def test_without_pairs_or_large_slices_nothing_is_judged():
    rows = np.ones((1, 12))
    assert judge_slices(rows, [range(3)]) == [None]
    assert judge_slices(rows[:0], [range(12), range(11)]) == [None, None]


def test_a_level_of_one_half_percent_asks_for_more_than_the_default():
    rows = np.r_[np.ones(9), np.zeros(6)][None]
    (default,), (strict,) = judge_slices(rows, [range(15)]), judge_slices(rows, [range(15)], alpha=1e-5)
    assert (default.lead.tolist(), strict.lead.tolist()) == ([1], [0])
    assert default.low == strict.low  # the intervals are of 95 % in any case


def test_slices_are_judged_in_the_clusters_of_their_own_topics():
    rng = np.random.default_rng(3)
    rows = np.repeat(rng.normal(0.5, 1, (1, 8)), 5, axis=1)  # eight documents, whose questions all agree
    code = np.repeat(np.arange(8), 5)
    (plain,), (by,) = (
        judge_slices(rows, [range(10, 40)]),
        judge_slices(rows, [range(10, 40)], clusters=Clusters("d", code)),
    )
    once = rows[0, 10::5]
    ends = stats.t.interval(0.95, 5, once.mean(), stats.sem(once))
    assert (by.low[0], by.high[0]) == pytest.approx(ends)
    assert by.corrected[0] == pytest.approx(stats.ttest_1samp(once, 0).pvalue)
    assert by.low[0] < plain.low[0] < plain.high[0] < by.high[0]
