"""Paired tests against scipy, against enumeration, and under the null."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from focuseval.errors import MeasureError
from focuseval.inference import paired_tests
from focuseval.inference.paired_tests import (
    EXACT,
    RANKED,
    adjust,
    bootstrap,
    paired_differences,
    randomisation,
    sign_test,
    t_test,
    wilcoxon,
)
from focuseval.inference.settings import CORRECTIONS, TESTS, Settings


def p_values(name, rows, **settings):
    return paired_tests.p_values(rows, Settings(name, **{"tails": 1, "resamples": 1000} | settings))


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
    found = bootstrap(np.array([row], float) / 10, tails=tails, resamples=20_000, seed=0)[0]
    assert found == pytest.approx(expected, abs=tails * 5 * np.sqrt(0.25 / 20_000))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.sampled_from([1, 2]))
def test_randomisation_goes_through_all_flips_of_a_small_case(row, tails):
    found = randomisation(np.array([row], float) / 10, tails=tails, resamples=1, seed=0)[0]
    assert found == pytest.approx(enumerated_randomisation(row, tails), abs=1e-12)


@pytest.mark.parametrize("tails", [1, 2])
@pytest.mark.parametrize("topics", [16, 17])
def test_randomisation_is_exact_with_sixteen_differences_at_least(topics, tails):
    """Whole numbers, so that many flips tie with the observed sum, against all flips written out."""
    row = np.random.default_rng(topics).integers(-4, 7, topics).astype(float)
    signs = 1 - 2.0 * ((np.arange(2**topics)[:, None] >> np.arange(topics)) & 1)
    sums = signs @ row
    reached = sums >= row.sum() if tails == 1 else np.abs(sums) >= abs(row.sum())
    padded = np.concatenate([row, np.zeros(30)])[None]
    assert randomisation(padded / 10, tails=tails, resamples=1, seed=0).tolist() == [reached.mean()]


def test_randomisation_is_exact_up_to_a_number_of_differences_that_are_not_zero():
    rows = np.random.default_rng(3).normal(0.2, 1, (2, EXACT + 1))
    rows[0, 0] = 0
    exact, drawn = (randomisation(rows, tails=2, resamples=10, seed=seed) for seed in (0, 1))
    assert exact[0] == drawn[0] == randomisation(rows[:1, 1:], tails=2, resamples=1, seed=5)[0]
    assert (exact[1] * 11) == pytest.approx(round(exact[1] * 11))
    assert exact[0] * 2 ** (EXACT - 1) == round(exact[0] * 2 ** (EXACT - 1))


@pytest.mark.parametrize("tails", [1, 2])
def test_randomisation_by_drawing_approaches_all_flips(monkeypatch, tails):
    rows = np.random.default_rng(3).normal(0.2, 1, (4, 14))
    exact = randomisation(rows, tails=tails, resamples=5000, seed=0)
    monkeypatch.setattr(paired_tests, "EXACT", 5)
    drawn = randomisation(rows, tails=tails, resamples=5000, seed=0)
    assert drawn.tolist() != exact.tolist()
    assert drawn == pytest.approx(exact, abs=5 * np.sqrt(0.25 / 5000))


@pytest.mark.parametrize("tails", [1, 2])
def test_a_small_p_is_estimated_from_more_draws_and_a_large_one_is_not(monkeypatch, tails):
    rows = np.random.default_rng(3).normal([[0.0], [0.9], [0.35]], 1, (3, 14))
    exact = randomisation(rows, tails=tails, resamples=1, seed=0)
    monkeypatch.setattr(paired_tests, "EXACT", 5)
    first, more = (randomisation(rows, tails=tails, resamples=100, seed=0, most=most) for most in (0, 20_000))
    many = first * 101 > 10
    assert 0 < many.sum() < 3
    assert more[many].tolist() == first[many].tolist()
    assert more[~many] == pytest.approx(exact[~many], abs=5 * np.sqrt(0.25 / 20_000))
    assert (more[~many] * 20_001) == pytest.approx(np.round(more[~many] * 20_001))
    assert more[~many].tolist() != first[~many].tolist()
    alone = [randomisation(row[None], tails=tails, resamples=100, seed=0, most=20_000)[0] for row in rows]
    assert alone == pytest.approx(more.tolist())


def test_a_randomisation_test_has_the_p_of_scipy():
    rows = np.random.default_rng(8).normal(0.4, 1, (5, 9))
    for tails, side in ((1, "greater"), (2, "two-sided")):
        asked = {"permutation_type": "samples", "alternative": side, "n_resamples": 600, "axis": 0}
        expected = [stats.permutation_test((row,), np.mean, **asked).pvalue for row in rows]
        assert randomisation(rows, tails=tails, resamples=1, seed=0) == pytest.approx(expected)


def test_rounding_noise_is_no_difference_and_a_small_difference_is_one():
    first = np.array([[0.1 + 0.2, 0.5, 1e-14], [3e-14, 1e-14, 0.0]])
    second = np.array([[0.3, 0.25, 0.0], [1e-14, 1e-14, 0.0]])
    assert paired_differences(first, second).tolist() == [[0, 0.25, 0], [3e-14 - 1e-14, 0, 0]]
    assert paired_differences(second, first).tolist() == [[0, -0.25, 0], [1e-14 - 3e-14, 0, 0]]
    assert paired_differences(np.zeros((1, 0)), np.zeros((1, 0))).shape == (1, 0)


def test_t_wilcoxon_and_sign_equal_scipy():
    rows = np.random.default_rng(1).normal(0.1, 1, (6, 25))
    for tails, side in ((1, "greater"), (2, "two-sided")):
        expected = stats.ttest_rel(rows, 0 * rows, axis=1, alternative=side).pvalue
        assert t_test(rows, tails=tails) == pytest.approx(expected)
        expected = [stats.wilcoxon(row, alternative=side).pvalue for row in rows]
        assert wilcoxon(rows, tails=tails) == pytest.approx(expected)
        expected = [stats.binomtest((row > 0).sum(), 25, alternative=side).pvalue for row in rows]
        assert sign_test(rows, tails=tails) == pytest.approx(expected)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.sampled_from([1, 2]))
def test_wilcoxons_test_is_exact_with_ties_and_zeros(row, tails):
    """All signs of the ranks written out; differences that tie but for rounding share their rank."""
    changed = [x for x in row if x]
    ranks = stats.rankdata(np.abs(changed)) if changed else np.zeros(0)
    won = ranks[np.array(changed) > 0].sum() if changed else 0
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in itertools.product((0, 1), repeat=len(ranks))
    ]
    above, below = np.mean([s >= won for s in sums]), np.mean([s <= won for s in sums])
    expected = above if tails == 1 else min(1, 2 * min(above, below))
    noisy = np.array([[x * 0.1 + 0.1 - 0.1 if x else 0.0 for x in row]])
    assert wilcoxon(noisy, tails=tails)[0] == pytest.approx(expected if changed else 1)


@pytest.mark.parametrize("topics", [RANKED - 1, RANKED, RANKED + 1])
def test_wilcoxons_test_is_scipys_below_and_above_the_number_that_is_exact(topics):
    rows = np.random.default_rng(topics).normal(0.2, 1, (3, topics))
    for tails, side in ((1, "greater"), (2, "two-sided")):
        method = "exact" if topics <= RANKED else "approx"
        expected = [stats.wilcoxon(row, alternative=side, method=method).pvalue for row in rows]
        assert wilcoxon(rows, tails=tails) == pytest.approx(expected)
        assert wilcoxon(-rows, tails=tails) != pytest.approx(expected) or tails == 2


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
    assert bootstrap(row, tails=1, resamples=5000, seed=0)[0] == pytest.approx(
        enumerated_bootstrap([1, 2, -3]), abs=0.04
    )


@pytest.mark.parametrize("name", TESTS)
def test_under_the_null_a_test_errs_about_as_often_as_it_says(name):
    rng = np.random.default_rng(11)
    rows = rng.normal(0, 1, (1500, 30))
    p = p_values(name, rows, resamples=500, seed=5)
    # The bootstrap of the mean is known to be slightly liberal with 30 topics; the sign test is conservative.
    low, high = {"bootstrap": (0.035, 0.085), "sign": (0.01, 0.07)}.get(name, (0.033, 0.068))
    assert low < (p <= 0.05).mean() < high


ROWS = np.random.default_rng(2).normal(0.1, 1, (3, 30))


@pytest.mark.parametrize("test", [bootstrap, randomisation])
def test_the_same_seed_repeats_exactly_and_another_one_does_not(test):
    found = [test(ROWS, tails=2, resamples=1000, seed=seed).tolist() for seed in (4, 4, 5)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("test", [bootstrap, randomisation, t_test, wilcoxon, sign_test])
@pytest.mark.parametrize("tails", [1, 2])
def test_a_test_by_name_gets_tails_resamples_and_seed(test, tails):
    drawn = {"resamples": 345, "seed": 9}
    name = test.__name__.removesuffix("_test")
    expected = test(ROWS, tails=tails, **(drawn if test in (bootstrap, randomisation) else {}))
    assert p_values(name, ROWS, tails=tails, **drawn).tolist() == expected.tolist()


@pytest.mark.parametrize("test", [bootstrap, randomisation])
@pytest.mark.parametrize("tails", [1, 2])
def test_the_size_of_a_block_changes_nothing(monkeypatch, test, tails):
    whole = test(ROWS, tails=tails, resamples=701, seed=0)
    for block in (1, 130, 2_000):  # characters of work: one resample at a time, some, and a last block that is smaller
        monkeypatch.setattr(paired_tests, "_BLOCK", block)
        assert test(ROWS, tails=tails, resamples=701, seed=0).tolist() == whole.tolist()


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("tails", [1, 2])
def test_a_pair_has_the_same_p_alone_as_among_others(name, tails):
    together = p_values(name, ROWS, tails=tails)
    assert [p_values(name, row[None], tails=tails)[0] for row in ROWS] == pytest.approx(together)


@pytest.mark.parametrize("tails", [1, 2])
def test_randomisation_by_drawing_counts_the_observed_pattern_as_a_draw(tails):
    row = ROWS[0]
    words = np.random.default_rng(6).integers(0, 2**64 - 1, 100, np.uint64, endpoint=True).tolist()
    signs = np.array([[2 * int(f"{word:064b}"[8 * (8 - t // 8) - 8 + t % 8]) - 1 for t in range(30)] for word in words])
    sums, observed = (signs * row).sum(axis=1), row.sum()
    reached = (sums >= observed).sum() if tails == 1 else (np.abs(sums) >= abs(observed)).sum()
    assert randomisation(row[None], tails=tails, resamples=100, seed=6).tolist() == [(reached + 1) / 101]


@pytest.mark.parametrize("scale", [1e-14, 1.0, 1e14])
@pytest.mark.parametrize("name", TESTS)
def test_the_unit_of_a_measure_does_not_matter(name, scale):
    assert p_values(name, ROWS * scale) == pytest.approx(p_values(name, ROWS))


def test_two_topics_are_tested_as_in_scipy():
    rows = np.array([[0.5, 0.25], [-0.5, 0.75]])
    for tails, side in ((1, "greater"), (2, "two-sided")):
        expected = stats.ttest_rel(rows, 0 * rows, axis=1, alternative=side).pvalue
        assert t_test(rows, tails=tails) == pytest.approx(expected)


@pytest.mark.parametrize("size", [0.25, 1.0])
def test_differences_that_all_agree_are_certain_on_the_side_they_favour(size):
    rows = np.array([[size] * 4, [-size] * 4, [0.0] * 4, [0.5, -0.25, 0.25, -0.5]])
    assert t_test(rows, tails=1).tolist() == [0, 1, 1, 0.5]
    assert t_test(rows, tails=2).tolist() == [0, 0, 1, 1]


def test_one_topic_says_nothing_to_the_t_test_and_is_one_coin_to_the_sign_test():
    assert t_test(np.array([[0.5], [-0.5]]), tails=1).tolist() == [1, 1]
    assert sign_test(np.array([[0.5], [-0.5]]), tails=1).tolist() == [0.5, 1]
    assert sign_test(np.array([[0.5], [-0.5]]), tails=2).tolist() == [1, 1]


def test_as_many_wins_as_losses_are_no_sign_of_a_difference():
    assert sign_test(np.array([[0.5, -0.5, 0.0, 1.0, -2.0]]), tails=2).tolist() == [1]


def test_holm_by_hand_and_benjamini_hochberg_as_in_scipy():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert adjust(p, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjust(p, "bh") == pytest.approx(stats.false_discovery_control(p))
    assert adjust(p, "none") is p


def test_no_corrected_p_is_above_one():
    p = np.array([0.9, 0.6, 0.8])
    assert adjust(p, "holm").tolist() == [1, 1, 1]
    assert adjust(p, "bh") == pytest.approx([0.9, 0.9, 0.9])


def test_a_correction_that_does_not_exist_is_refused():
    assert CORRECTIONS == ("none", "holm", "bh")
    with pytest.raises(MeasureError, match=r"^expected a correction among none, holm, bh, found 'bonferroni'$"):
        adjust(np.ones(1), "bonferroni")


def test_a_rare_outcome_is_counted_in_more_draws_as_if_they_were_drawn_at_once():
    won = np.repeat([1.0, -1.0], [25, 5])[None]
    (p,) = randomisation(won, tails=2, resamples=1_000, seed=3, most=200_000)
    assert p == randomisation(won, tails=2, resamples=200_000, seed=3)[0]
    assert p == pytest.approx(2 * stats.binom.cdf(5, 30, 0.5), rel=0.4)  # ties with what was seen count
    assert randomisation(-won, tails=1, resamples=1_000, seed=3, most=200_000)[0] > 0.99


def test_blocks_of_draws_change_nothing(monkeypatch):
    rows = np.random.default_rng(1).normal(0.2, 1, (3, 40))
    at_once = randomisation(rows, tails=2, resamples=1_001, seed=5)
    monkeypatch.setattr(paired_tests, "_BLOCK", 400)
    assert randomisation(rows, tails=2, resamples=1_001, seed=5).tolist() == at_once.tolist()
