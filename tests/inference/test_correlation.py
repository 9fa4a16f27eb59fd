"""Rank correlations against scipy, against a hand-worked table and against all orders of ties."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from focuseval.errors import MeasureError
from focuseval.inference.agreement import beyond_chance
from focuseval.inference.correlation import (
    SamePairs,
    correlate,
    explain,
    kendall,
    reading,
    same_pairs,
    tau_ap,
    tau_interval,
)

rankings = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8)


@given(rankings)
def test_tau_b_and_spearman_equal_scipy_with_ties(pairs):
    x, y = np.array(pairs, float).T
    assume(np.ptp(x) and np.ptp(y))
    assert correlate(np.array([x, y]))[0, 1] == pytest.approx(stats.kendalltau(x, y).statistic)
    assert correlate(np.array([x, y]), "spearman")[0, 1] == pytest.approx(stats.spearmanr(x, y).statistic)


def test_tau_a_of_a_hand_worked_table():
    # Runs a b c d; pairs ab ac ad bc bd cd: first measure ranks a>b>c>d, second b>a>c=d:
    # ab discordant, ac ad bc bd concordant, cd tied: (4 − 1) / 6.
    values = np.array([[4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 1.0, 1.0]])
    assert correlate(values, "tau-a")[0, 1] == pytest.approx(3 / 6)


def plain_tau_ap(order, truth):
    """Yilmaz et al.'s formula for a ranking without ties: items best first."""
    total = 0.0
    for i in range(1, len(order)):
        above = order[:i]
        right = sum(1.0 if truth[j] > truth[order[i]] else 0.5 if truth[j] == truth[order[i]] else 0.0 for j in above)
        total += right / i
    return 2 * total / (len(order) - 1) - 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=2, max_size=5))
def test_tau_ap_is_the_mean_over_all_orders_of_tied_runs(pairs):
    candidate, truth = np.array(pairs, float).T
    assume(np.ptp(candidate) and np.ptp(truth))
    orders = [
        order
        for order in itertools.permutations(range(len(pairs)))
        if all(candidate[a] >= candidate[b] for a, b in itertools.pairwise(order))
    ]
    expected = np.mean([plain_tau_ap(order, truth) for order in orders])
    assert tau_ap(candidate, truth) == pytest.approx(expected)


def test_tau_ap_costs_more_at_the_top_than_at_the_bottom():
    truth = np.array([4.0, 3.0, 2.0, 1.0])
    assert tau_ap(np.array([3.0, 4.0, 2.0, 1.0]), truth) < tau_ap(np.array([4.0, 3.0, 1.0, 2.0]), truth)


def test_what_cannot_be_ranked_is_explained():
    flat = np.array([[1.0, 1.0], [1.0, 2.0]])
    for coefficient in ("tau-b", "tau-ap", "spearman"):
        assert np.isnan(correlate(flat, coefficient)[0, 1])
    assert explain(flat, ("MAep", "AP")) == (
        "MAep gives every run the same score, so it ranks nothing and correlates with nothing.",
    )
    assert np.isnan(correlate(np.ones((2, 1)))).all()
    assert explain(np.ones((2, 1)), ("a", "b")) == ("One run has no ranking: give at least two to correlate.",)


@pytest.mark.parametrize("coefficient", ["tau-b", "spearman"])
def test_rounding_never_lifts_a_correlation_above_one(coefficient):
    for runs in range(2, 40):
        same = np.arange(runs, dtype=float)
        found = correlate(np.array([same, same**2, -same]), coefficient)
        assert found.max() <= 1
        assert found.min() >= -1
        assert found == pytest.approx(np.array([[1, 1, -1], [1, 1, -1], [-1, -1, 1]]))


def test_kendall_counts_ties_unless_it_is_told_not_to():
    values = np.array([[4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 1.0, 1.0]])
    assert kendall(values).tolist() == correlate(values, "tau-b").tolist()
    assert kendall(values, ties=False).tolist() == correlate(values, "tau-a").tolist()


@pytest.mark.parametrize(
    ("tau", "words"),
    [
        (1.0, "equivalent"),
        (0.9, "equivalent"),
        (0.89, "similar"),
        (0.8, "similar"),
        (0.79, "noticeable differences"),
        (-1.0, "noticeable differences"),
        (float("nan"), "undefined"),
    ],
)
def test_a_correlation_is_read_as_in_voorhees(tau, words):
    assert reading(tau, 8) == words
    assert reading(tau, 7) == (words if words == "undefined" else "fewer than 8 runs")


def test_a_tau_of_exactly_eight_tenths_is_similar():
    """Nine of ten pairs in the same order: (9 − 1) / 10, which a product of two roots makes a bit less."""
    tau = kendall(np.array([[5.0, 4.0, 3.0, 2.0, 1.0], [5.0, 4.0, 3.0, 1.0, 2.0]]))[0, 1]
    assert tau == 0.8
    assert reading(tau, 8) == "similar"


@pytest.mark.parametrize(("tau", "runs"), [(1.0, 3), (-1.0, 8), (0.6, 6), (0.9, 21), (0.0, 101)])
def test_the_interval_of_tau_is_wilson_s_of_a_share_of_a_trial_less_than_runs(tau, runs):
    share = stats.binomtest(round((1 + tau) / 2 * (runs - 1)), runs - 1).proportion_ci(method="wilson")
    assert tau_interval(tau, runs) == pytest.approx((2 * share.low - 1, 2 * share.high - 1), abs=1e-9)
    assert all(np.isnan(tau_interval(float("nan"), runs)))


def test_an_unknown_coefficient_is_refused():
    with pytest.raises(MeasureError) as caught:
        correlate(np.ones((2, 2)), "pearson")
    assert str(caught.value) == "expected a coefficient among tau-b, tau-a, tau-ap, spearman, found 'pearson'"


def test_agreement_on_which_pairs_differ_by_hand():
    # of ten pairs both star 4, the first 1 more, the second 2 more: agreed .7, by chance .5 · .6 + .5 · .4 = .5, κ = .4
    first = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], np.bool_)
    second = np.array([1, 1, 1, 1, 0, 1, 1, 0, 0, 0], np.bool_)
    found = same_pairs(first, second)
    assert found == SamePairs(both=4, first=1, second=2, neither=3)
    assert found.shares == pytest.approx((0.7, 0.5))
    assert float(beyond_chance(*found.shares)) == pytest.approx(0.4)
    assert np.isnan(same_pairs(first[:0], second[:0]).shares).all()


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_agreement_on_which_pairs_differ_equals_its_slow_twin(pairs):
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    found, number = same_pairs(first, second), len(pairs)
    assert tuple(found) == tuple(
        pairs.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))
    )
    agreed = Fraction(sum(a == b for a, b in pairs), number)
    chance = Fraction(sum(a == b for a, _ in pairs for _, b in pairs), number**2)
    assert found.shares == pytest.approx((float(agreed), float(chance)))
