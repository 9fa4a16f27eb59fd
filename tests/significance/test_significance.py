"""Paired tests against scipy, against enumeration, and under the null."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from focuseval.errors import MeasureError
from focuseval.significance.paired_tests import (
    TESTS,
    adjust,
    benjamini_hochberg,
    bootstrap,
    holm,
    p_values,
    randomisation,
    sign_test,
    t_test,
    wilcoxon,
)

small = st.lists(st.integers(-3, 3), min_size=2, max_size=5)


def enumerated_bootstrap(row, tails=1):
    """Every one of the nⁿ equally likely draws; two-tailed, twice the smaller side, at most 1."""
    sums = [sum(draw) for draw in itertools.product(row, repeat=len(row))]
    below, above = sum(s <= 0 for s in sums) / len(sums), sum(s >= 0 for s in sums) / len(sums)
    return below if tails == 1 else min(1, 2 * min(below, above))


def enumerated_randomisation(row, tails):
    observed = sum(row)
    sums = [
        sum(s * x for s, x in zip(signs, row, strict=True)) for signs in itertools.product((-1, 1), repeat=len(row))
    ]
    if tails == 1:
        return sum(s >= observed for s in sums) / len(sums)
    return sum(abs(s) >= abs(observed) for s in sums) / len(sums)


@given(small, st.sampled_from([1, 2]))
def test_bootstrap_approaches_the_enumeration_of_all_draws(row, tails):
    expected = enumerated_bootstrap(row, tails)
    found = bootstrap(np.array([row], float) / 10, tails=tails, resamples=20_000)[0]
    assert found == pytest.approx(expected, abs=tails * 5 * np.sqrt(0.25 / 20_000))


@given(small, st.sampled_from([1, 2]))
def test_randomisation_enumerates_all_patterns_of_a_small_case(row, tails):
    found = randomisation(np.array([row], float) / 10, tails=tails, resamples=10_000)[0]
    assert found == pytest.approx(enumerated_randomisation(row, tails), abs=1e-12)


def test_randomisation_by_drawing_approaches_the_enumeration():
    rows = np.random.default_rng(3).normal(0.2, 1, (4, 10))
    exact = randomisation(rows, resamples=1024)
    drawn = randomisation(rows, resamples=1023)
    assert drawn == pytest.approx(exact, abs=5 * np.sqrt(0.25 / 1023))


def test_t_wilcoxon_and_sign_equal_scipy():
    rows = np.random.default_rng(1).normal(0.1, 1, (6, 25))
    for tails, side in ((1, "greater"), (2, "two-sided")):
        expected = stats.ttest_rel(rows, 0 * rows, axis=1, alternative=side).pvalue
        assert t_test(rows, tails=tails) == pytest.approx(expected)
        expected = [stats.wilcoxon(row, alternative=side).pvalue for row in rows]
        assert wilcoxon(rows, tails=tails) == pytest.approx(expected)
        expected = [stats.binomtest((row > 0).sum(), 25, alternative=side).pvalue for row in rows]
        assert sign_test(rows, tails=tails) == pytest.approx(expected)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("tails", [1, 2])
def test_identical_runs_are_never_different(name, tails):
    assert p_values(name, np.zeros((2, 5)), tails=tails).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("tails", [1, 2])
def test_a_constant_difference_and_a_single_topic_give_a_number_without_a_warning(name, tails):
    for differences in (np.full((1, 8), 0.25), np.array([[0.3]]), np.array([[-0.3]])):
        p = p_values(name, differences, tails=tails)
        assert ((p >= 0) & (p <= 1)).all()


def test_differences_that_cancel_exactly_count_as_no_difference():
    row = np.array([[0.1, 0.2, -0.3]])
    assert bootstrap(row, resamples=5000)[0] == pytest.approx(enumerated_bootstrap([1, 2, -3]), abs=0.04)


@pytest.mark.parametrize("name", TESTS)
def test_under_the_null_a_test_errs_about_as_often_as_it_says(name):
    rng = np.random.default_rng(11)
    rows = rng.normal(0, 1, (1500, 30))
    p = p_values(name, rows, resamples=500, seed=5)
    # The bootstrap of the mean is known to be slightly liberal with 30 topics; the sign test is conservative.
    low, high = {"bootstrap": (0.035, 0.085), "sign": (0.01, 0.07)}.get(name, (0.033, 0.068))
    assert low < (p <= 0.05).mean() < high


def test_the_same_seed_repeats_exactly_and_another_one_does_not():
    rows = np.random.default_rng(2).normal(0.1, 1, (3, 20))
    assert bootstrap(rows, seed=4).tolist() == bootstrap(rows, seed=4).tolist()
    assert bootstrap(rows, seed=4).tolist() != bootstrap(rows, seed=5).tolist()


def test_holm_by_hand_and_benjamini_hochberg_as_in_scipy():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))
    assert adjust(p, "none") is p


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "anova"}, "expected a test among"),
        ({"name": "t", "tails": 3}, "expected 1 or 2 tails"),
        ({"name": "bootstrap", "resamples": 0}, "at least 1 resample"),
    ],
)
def test_what_is_not_offered_is_refused_in_one_line(arguments, message):
    with pytest.raises(MeasureError, match=message):
        p_values(differences=np.ones((1, 2)), **arguments)
    with pytest.raises(MeasureError, match="correction among"):
        adjust(np.ones(1), "bonferroni")
