"""Power against published tables and by hand; when no outcome could be significant."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from focuseval.data.spans import MOST
from focuseval.inference.comparison import compare
from focuseval.inference.paired import detectable, deviations, judge_pairs, power, smallest_p, topics_needed
from focuseval.inference.paired_tests import EXACT, p_values
from focuseval.inference.settings import Settings

TWO, ONE = Settings(), Settings(tails=1)


@pytest.mark.parametrize(("effect", "pairs"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_small_medium_and_large_effects_need_the_pairs_that_cohens_tables_say(effect, pairs):
    """Matched pairs, two-tailed at .05, power .8: the sample sizes that G*Power prints for Cohen's d_z."""
    assert topics_needed(np.array([effect]), np.array([1.0]), TWO).tolist() == [pairs]


@pytest.mark.parametrize("family", [1, 3, 45, 190, 4950])
@pytest.mark.parametrize("topics", [6, 10, 25, 50, 300])
@pytest.mark.parametrize("settings", [TWO, ONE, Settings(alpha=0.01)])
def test_the_smallest_detectable_difference_is_the_noncentral_t_s_at_the_level_of_the_family(settings, topics, family):
    (found, none) = detectable(np.array([0.2, 0.0]), topics, settings, family)
    bound = stats.t.ppf(1 - settings.alpha / family / settings.tails, topics - 1)
    assert stats.nct.sf(bound, topics - 1, found / 0.2 * topics**0.5) == pytest.approx(0.8, abs=0.011)
    assert none == 0


def test_an_uncorrected_family_is_held_to_the_level_of_one_pair():
    for correction, same in (("none", True), ("holm", False), ("bh", False)):
        one, many = (detectable(np.array([0.2]), 20, Settings(correction=correction), n)[0] for n in (1, 190))
        assert (one == many) == same


@given(st.integers(2, 40), st.integers(0, 10_000))
def test_the_interval_of_a_deviation_is_that_of_chi_squared_with_what_the_kurtosis_leaves(topics, seed):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(3, topics)) * (random.random((3, topics)) < 0.6)
    for row, (found, low, high) in zip(rows, deviations(rows).tolist(), strict=True):
        deviation = row.std(ddof=1)
        assert found == pytest.approx(deviation)
        if deviation:
            peaked = stats.kurtosis(row, fisher=False)
            freedom = min(topics - 1, 2 * topics / (peaked - (topics - 3) / (topics - 1)))
            ends = [deviation * math.sqrt(freedom / stats.chi2.ppf(share, freedom)) for share in (0.975, 0.025)]
            assert (low, high) == pytest.approx(ends)
    assert deviations(np.full((1, topics), 0.1 + 0.2)).tolist() == [[0, 0, 0]]


def test_nothing_is_said_of_power_where_nothing_could_be_told_or_no_difference_is_so_large():
    rows = np.array([[0.4, 0.5, 0.4, 0.5, 0.6], [0.1, -0.3, 0.2, 0.4, 0.3]])
    few = judge_pairs(rows, TWO)
    assert np.isnan(few.detectable).all()
    assert np.isnan(few.needed).all()
    alike = judge_pairs(np.full((1, 9), 0.25), TWO)
    assert np.isnan([*alike.detectable, *alike.needed[0]]).all()
    values = np.array([[0.9, 0.1, 0.5], [0.1, 0.8, 0.2]])
    for bounds, known in (((0.0, 1.0), False), ((-np.inf, np.inf), True)):
        wide = compare("AP", ("a", "b"), tuple("123"), values, Settings("t"), bounds=[bounds])
        assert np.isfinite(wide.detectable[0]) == known
        assert wide.needed[0].tolist() == [*sorted(wide.needed[0])[1::-1], max(wide.needed[0])]
        assert power(wide.against(0, 1)).startswith(f" These topics would {'show' if known else 'not show even'}")


def test_one_topic_has_no_deviation_and_shows_nothing():
    assert np.isnan(detectable(np.array([0.5, 0.0]), 1, TWO)).all()


@pytest.mark.parametrize("settings", [TWO, ONE])
def test_the_topics_needed_are_the_fewest_with_which_the_difference_is_detectable(settings):
    difference, deviation = np.array([0.31, -0.2, 0.011]), np.array([0.25, 0.3, 0.2])
    needed = topics_needed(difference, deviation, settings)
    for k, topics in enumerate(needed.astype(int).tolist()):
        assert detectable(deviation[[k]], topics, settings)[0] <= abs(difference[k])
        assert detectable(deviation[[k]], topics - 1, settings)[0] > abs(difference[k])


def test_topics_that_differ_without_any_deviation_need_as_many_as_can_be_significant():
    assert topics_needed(np.array([0.5]), np.array([0.0]), TWO).tolist() == [6]  # 2^-5 < .05 < 2^-4
    assert topics_needed(np.array([0.5]), np.array([0.0]), ONE).tolist() == [5]
    assert topics_needed(np.array([0.5]), np.array([0.0]), TWO, 190).tolist() == [13]  # 2^-12 < .05/190 < 2^-11
    assert topics_needed(np.array([0.5]), np.array([0.0]), Settings(alpha=0.9)).tolist() == [2]
    uncorrected = Settings(correction="none")
    assert topics_needed(np.array([0.5]), np.array([0.0]), uncorrected, 190).tolist() == [6]


def test_no_difference_and_a_minute_one_have_no_number_of_topics():
    found = topics_needed(np.array([0.0, 0.0, 1e-9, 1.0]), np.array([0.0, 0.2, 0.2, 1.0]), TWO)
    assert found.tolist() == [np.inf, np.inf, np.inf, 10]
    nearly = topics_needed(np.array([1e-4]), np.array([1.0]), TWO)[0]
    assert 7.8e8 < nearly < MOST


@pytest.mark.parametrize(
    ("differing", "tails", "smallest"), [(0, 2, 1), (1, 2, 1), (2, 2, 0.5), (6, 2, 1 / 32), (0, 1, 1), (5, 1, 1 / 32)]
)
@pytest.mark.parametrize("test", ["randomisation", "wilcoxon", "sign"])
def test_signs_alone_bound_the_p_of_tests_of_signs_and_ranks(test, differing, tails, smallest):
    assert smallest_p(np.array([differing]), 9, Settings(test, tails)).tolist() == [smallest]
    if differing:
        row = np.r_[np.linspace(0.4, 0.5, differing), np.zeros(9 - differing)]
        assert p_values(row[None], Settings(test, tails)).tolist() == [smallest]


@pytest.mark.parametrize("tails", [1, 2])
@pytest.mark.parametrize("differing", [1, 2, 5, 7, 8])
def test_a_t_test_is_bounded_by_differences_that_are_all_equal(differing, tails):
    settings = Settings("t", tails)
    row = np.r_[np.full(differing, 0.25), np.zeros(8 - differing)]
    (bound,) = smallest_p(np.array([differing]), 8, settings)
    assert bound == pytest.approx(p_values(row[None], settings)[0], abs=1e-12)
    row[0] = 0.5
    assert p_values(row[None], settings)[0] >= bound


def test_a_bootstrap_is_held_to_the_bound_of_the_signs():
    """Of two topics that agree it says p < .001."""
    found = judge_pairs(np.array([[0.4, 0.5]]), Settings("bootstrap", tails=1))
    assert (found.p.tolist(), found.verdict(0)) == ([0], "cannot tell: 2 topics differ, too few for a bootstrap")
    assert smallest_p(np.array([2, 6]), 8, Settings("bootstrap")).tolist() == [0.5, 1 / 32]


def test_one_topic_bounds_every_test():
    for test in ("randomisation", "bootstrap", "t", "wilcoxon", "sign"):
        assert smallest_p(np.array([0, 1]), 1, Settings(test, tails=1)).tolist() == [1, 1]


def test_draws_bound_p_where_flips_are_not_enumerated():
    differing = np.array([EXACT, EXACT + 1])
    signs = 2 * 0.5**EXACT
    assert smallest_p(differing, 60, Settings(resamples=99), 1).tolist() == [signs, 0.01]
    assert smallest_p(differing, 60, Settings(resamples=99), 5).tolist() == [signs, 1 / 201]
    assert smallest_p(differing, 60, Settings(resamples=99)).tolist() == [signs, signs / 2]
    assert smallest_p(differing, 60, Settings("bootstrap", resamples=99), 1).tolist() == [signs, signs / 2]


def test_holm_asks_the_smallest_p_of_a_family_for_more():
    assert Settings().level(4) == 0.0125
    assert Settings().level(0) == Settings().level(1) == 0.05
    assert Settings(correction="none").level(4) == Settings(correction="bh").level(4) == 0.05


def test_a_large_family_draws_more_than_it_is_asked_for_and_never_without_end():
    assert [Settings().draws(family) for family in (1, 250, 251, 4950)] == [10_000, 10_000, 10_040, 198_000]
    assert Settings(correction="none").draws(4950) == 10_000
    assert Settings(resamples=200_000).draws(4950) == 200_000
    assert Settings(alpha=1e-9).draws(1) == 1_000_000


@pytest.mark.parametrize("test", ["randomisation", "wilcoxon", "sign"])
@pytest.mark.parametrize(("topics", "star"), [(2, False), (5, False), (6, True)])
def test_where_no_outcome_could_be_significant_there_is_never_a_star(test, topics, star):
    """All topics agree; 2^(1-5) > .05 > 2^(1-6)."""
    rows = np.linspace(0.4, 0.5, topics)[None]
    found = judge_pairs(rows, Settings(test))
    assert found.significant.tolist() == found.reachable.tolist() == [star]
    few = f"cannot tell: {topics} topics differ, no outcome could be significant"
    assert found.verdict(0) == ("better" if star else few)


@pytest.mark.parametrize("topics", [2, 5, 6])
def test_a_t_test_can_tell_on_few_topics_that_all_differ_alike(topics):
    found = judge_pairs(np.linspace(0.49, 0.5, topics)[None], Settings("t"))
    assert (found.verdict(0), found.reachable.tolist()) == ("better", [True])
    apart = judge_pairs(np.r_[0.25, np.zeros(topics)][None], Settings("t"))
    assert apart.verdict(0) == "cannot tell: 1 topic differs, no outcome could be significant"


def test_ties_are_no_topics_that_differ():
    row = np.r_[np.linspace(0.4, 0.5, 5), np.zeros(40)]
    found = judge_pairs(np.array([row, np.zeros(45), np.r_[0.1, np.zeros(44)]]), Settings(correction="none"))
    assert (found.differing.tolist(), found.tied.tolist()) == ([5, 0, 1], [40, 45, 44])
    assert [found.verdict(k) for k in range(3)] == [
        "cannot tell: 5 topics differ, no outcome could be significant",
        "cannot tell: both score the same on every topic",
        "cannot tell: 1 topic differs, no outcome could be significant",
    ]
    assert found.reason(*range(3)) == "0 to 5 topics differ, no outcome could be significant"
    assert found.reason(2) == "1 topic differs, no outcome could be significant"


def test_a_family_asks_for_more_topics_and_a_correction_of_the_share_does_not():
    rows = np.tile(np.linspace(0.4, 0.5, 7), (4, 1))  # 2^-6 is above .05/4
    for correction, star in (("holm", False), ("bh", True), ("none", True)):
        assert judge_pairs(rows, Settings(correction=correction)).significant.tolist() == [star] * 4
    assert judge_pairs(rows[:3], Settings()).significant.tolist() == [True] * 3


def test_resamples_that_no_family_can_be_told_with_are_named():
    rows = np.random.default_rng(0).normal(3, 1, (2, EXACT + 21))
    settings = Settings(alpha=1e-6)
    found = judge_pairs(rows, settings)
    assert not found.exact
    assert found.reachable.tolist() == [False, False]
    assert found.verdict(0) == "cannot tell: 1000000 resamples are too few for 2 pairs"
    rows[0, 3:] = 0
    mixed = judge_pairs(rows, settings).reason(*range(2))
    assert mixed == "3 topics differ, no outcome could be significant"


def test_a_large_family_can_be_told_with_the_default_resamples():
    """1,225 pairs ask for p below .00004, which 10,000 draws cannot show."""
    rows = np.random.default_rng(0).normal(0, 1, (1225, 40))
    rows[0] += 2
    found = judge_pairs(rows, Settings())
    assert (found.verdict(0), found.significant.sum()) == ("better", 1)
    assert found.p[0] == 1 / 49_001


def test_only_a_first_that_is_better_gets_the_word():
    row = np.linspace(0.4, 0.5, 8)
    found = judge_pairs(np.array([row, -row, row * np.tile([1, -1], 4)]), Settings(correction="none"))
    assert found.significant.tolist() == [True, False, False]
    assert found.verdict(1) == found.verdict(2) == "cannot tell"


def test_what_is_judged_says_whether_it_is_exact():
    rows = np.random.default_rng(0).normal(0, 1, (2, EXACT + 1))
    rows[0, 0] = 0
    assert judge_pairs(rows[:1], Settings()).exact
    assert not judge_pairs(rows, Settings()).exact
    assert not judge_pairs(rows[:1], Settings("t")).exact


def test_a_family_without_pairs_or_topics_has_columns_without_numbers():
    none = judge_pairs(np.zeros((0, 5)), Settings())
    assert (none.family, len(none.significant), len(none.reachable)) == (0, 0, 0)
    assert np.isnan(judge_pairs(np.zeros((2, 0)), Settings()).p).all()
    (one,) = [judge_pairs(np.array([[0.5]]), Settings("bootstrap"))]
    assert (one.p.tolist(), np.isnan(one.needed).all()) == ([1], True)
