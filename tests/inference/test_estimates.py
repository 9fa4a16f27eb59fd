"""People's sample and a model of all topics: estimates, intervals, what they are worth, and how many more topics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from focuseval.inference.clusters import Clusters
from focuseval.inference.estimates import compare_estimates, estimate, topics_to_judge
from focuseval.inference.intervals import student
from tests.oracle import estimates as slow

numbers = st.integers(0, 20).map(lambda n: n / 20)


@st.composite
def samples(draw):
    """People's values of 10 to 15 topics, and the model's of up to 25 more."""
    n = draw(st.integers(10, 15))
    more = draw(st.integers(0, 25))
    return draw(st.lists(numbers, min_size=n, max_size=n)), draw(
        st.lists(numbers, min_size=n + more, max_size=n + more)
    )


def row(values):
    return np.array([values], float)


@given(samples())
def test_estimate_weight_interval_and_p_are_those_of_the_formulas(sample):
    found, wanted = estimate(*map(row, sample)), slow.regression(*sample)
    for name in ("estimate", "weight", "low", "high"):
        assert getattr(found, name)[0] == pytest.approx(wanted[name], abs=1e-9), name
    if wanted["variance"] > 1e-20:
        assert found.p[0] == pytest.approx(wanted["p"], abs=1e-9)


@given(samples(), st.data())
def test_with_clusters_sums_and_residuals_are_over_clusters(sample, data):
    people, model = sample
    names = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=len(model), max_size=len(model)))
    sums = {
        c: sum(model[i] - np.mean(model[: len(people)]) for i in range(len(people)) if names[i] == c) for c in names
    }
    if len(set(names[: len(people)])) < 4 or max(map(abs, sums.values())) < 1e-6:
        return
    code = np.unique(names, return_inverse=True)[1]
    found = estimate(row(people), row(model), clusters=Clusters("group", code))
    wanted = slow.clustered(people, model, names)
    for name, value in wanted.items():
        assert getattr(found, name)[0] == pytest.approx(value, rel=1e-6, abs=1e-9), name


@given(samples())
def test_clusters_of_one_topic_each_are_topics(sample):
    alone, apart = (estimate(*map(row, sample), clusters=c) for c in (None, Clusters("id", np.arange(len(sample[1])))))
    for name in ("estimate", "low", "high", "p", "worth"):
        assert getattr(alone, name) == pytest.approx(getattr(apart, name), nan_ok=True)


@given(samples())
def test_a_weight_of_zero_is_people_alone(sample):
    found = estimate(*map(row, sample), weight=0)
    low, high = student(row(sample[0]))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.people[0].tolist() == pytest.approx([found.estimate[0], low[0], high[0]])
    if np.ptp(sample[0]) > 0:
        assert found.worth[0] == pytest.approx(len(sample[0]))
        assert found.p[0] == pytest.approx(ttest_1samp(sample[0], 0).pvalue, abs=1e-9)


def test_a_weight_of_one_adds_the_models_mean_to_peoples_correction():
    rng = np.random.default_rng(1)
    people, model = rng.random((1, 20)), rng.random((1, 50))
    found = estimate(people, model, weight=1)
    assert found.estimate[0] == pytest.approx(model.mean() + (people - model[:, :20]).mean())


def test_a_perfect_model_gives_the_mean_of_all_topics_and_is_worth_all_of_them():
    values = np.random.default_rng(2).random((1, 80))
    found = estimate(values[:, :20], values)
    assert (found.estimate[0], found.weight[0]) == (pytest.approx(values.mean()), pytest.approx(1))
    assert found.worth[0] == pytest.approx(80 * values[:, :20].var(ddof=1) / values.var(ddof=1))
    assert found.bias[0] == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_model_that_says_the_same_of_every_topic_changes_nothing():
    people = np.random.default_rng(3).random((1, 20))
    found = estimate(people, np.full((1, 50), 0.7))
    assert (found.weight[0], found.estimate[0]) == (0, pytest.approx(people.mean()))


def test_a_model_that_is_turned_round_or_shifted_serves_as_well():
    rng = np.random.default_rng(4)
    model = rng.random((1, 60))
    people = model[:, :20] + rng.normal(0, 0.1, (1, 20))
    straight, other = estimate(people, model), estimate(people, 3 - 2 * model)
    for name in ("estimate", "low", "high", "worth"):
        assert getattr(other, name) == pytest.approx(getattr(straight, name))


def test_fewer_than_ten_topics_by_people_have_an_estimate_and_no_interval():
    rng = np.random.default_rng(5)
    found = estimate(rng.random((1, 9)), rng.random((1, 40)))
    assert np.isfinite(found.estimate[0])
    assert np.isnan([found.low[0], found.high[0], found.p[0], found.worth[0]]).all()


def test_topics_in_which_people_find_nothing_are_in_no_mean_and_leave_the_estimate_unbiased():
    """The model finds something in all topics, and scores of topics without relevance are low: their share counts."""
    rng = np.random.default_rng(6)
    rows, n, everything = 4000, 20, 100
    empty = rng.random((rows, everything)) < 0.3
    y = rng.random((rows, everything))
    model = np.where(empty, 0.1, y) + rng.normal(0, 0.05, y.shape)
    people = np.where(empty, np.nan, y)[:, :n]
    found = estimate(people, model)
    kept = found.judged >= 10
    assert found.estimate[kept].mean() == pytest.approx(0.5, abs=0.005)
    held = (found.low <= 0.5) & (found.high >= 0.5)
    assert 0.92 < held[kept].mean() < 0.98


def test_topics_in_which_the_model_finds_nothing_leave_the_estimate_unbiased():
    rng = np.random.default_rng(7)
    y = rng.random((4000, 100))
    model = np.where(rng.random(y.shape) < 0.3 * y, np.nan, y)
    found = estimate(y[:, :20], model)
    assert found.estimate.mean() == pytest.approx(0.5, abs=0.005)
    assert 0.92 < ((found.low <= 0.5) & (found.high >= 0.5)).mean() < 0.98


def test_an_interval_for_any_time_is_wider_by_the_formula_and_holds_zero_where_p_is_above_5_percent():
    rng = np.random.default_rng(8)
    people, model = rng.normal(0.2, 1, (500, 30)), rng.normal(0, 1, (500, 90))
    fixed, any_time = estimate(people, model), estimate(people, model, anytime=True)
    wanted = slow.regression(people[0].tolist(), model[0].tolist())
    assert any_time.high[0] - any_time.estimate[0] == pytest.approx(slow.at_any_time(30, wanted["variance"]))
    assert ((any_time.high - any_time.low) / (fixed.high - fixed.low)) == pytest.approx(1.57, abs=0.01)
    assert (((any_time.low > 0) | (any_time.high < 0)) == (any_time.p <= 0.05)).all()


def test_pairs_have_the_estimates_of_differences_and_one_comparison():
    rng = np.random.default_rng(9)
    model = rng.random((3, 60))
    people = model[:, :25] + rng.normal(0, 0.05, (3, 25))
    people[1] += 0.3
    topics = tuple(str(n) for n in range(25))
    own, both, found = compare_estimates("AP", ("a", "b", "c"), topics, people, model)
    wanted = slow.regression((people[0] - people[1]).tolist(), (model[0] - model[1]).tolist())
    assert [both.estimate[0], both.low[0], both.high[0], both.p[0]] == pytest.approx(
        [wanted[name] for name in ("estimate", "low", "high", "p")]
    )
    pair = found.against(0, 1)
    assert (pair.difference, pair.low, pair.high) == pytest.approx((both.estimate[0], both.low[0], both.high[0]))
    assert (pair.word, pair.won + pair.tied + pair.lost) == ("worse", 25)
    assert found.means == pytest.approx(own.estimate)
    assert found.corrected.max() <= 1
    assert found.verdict_of(1, 0).headline == "b is better than a."


def test_topics_needed_are_the_fewest_whose_interval_is_short_enough():
    rng = np.random.default_rng(10)
    model = rng.random((1, 400))
    found = estimate(model[:, :20] + rng.normal(0, 0.2, (1, 20)), model)
    for reach in (0.05, 0.15, 0.3, 2.0):
        needed = topics_to_judge(found, np.array([reach]), 400)
        for deviation, number in zip(found.deviation[0], needed[0], strict=True):
            assert number == slow.topics_needed(deviation, found.floor[0], reach, 400, 0.8)


def test_a_small_sample_in_which_the_model_never_errs_does_not_make_an_interval_too_narrow():
    """Of ten answers that are right or wrong, a third of the samples show no error of a model that errs in a tenth."""
    rng = np.random.default_rng(0)
    people = (rng.random((4000, 100)) < 0.74).astype(float)
    model = np.where(rng.random(people.shape) < 0.15, 0.0, people)  # it misses some, and invents none
    found = estimate(people[:, :10], model, bounds=(0.0, 1.0))
    held = (found.low <= 0.74) & (found.high >= 0.74)
    assert 0.91 <= held.mean() <= 0.97


def test_with_a_given_weight_the_interval_between_bounds_is_that_of_any_mean():
    values = np.random.default_rng(1).random((3, 40))
    found = estimate(values[:, :15], values, weight=0.0, bounds=(0.0, 1.0))
    assert np.allclose(found.people, np.stack([found.estimate, found.low, found.high], axis=1))
