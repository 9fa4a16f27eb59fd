"""Intervals of ranks, letters of runs that cannot be told apart, repeated trials; studentised and drawn tests."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focuseval.evaluation.comparing import spread, trial_advice
from focuseval.inference import paired_tests
from focuseval.inference.comparison import compare
from focuseval.inference.intervals import interval
from focuseval.inference.paired_tests import Sides, paired_differences, randomisation, studentised
from focuseval.inference.settings import INTERVALS, Settings


def comparison_of(seed, runs=7, topics=20, step=0.08, **more):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.25, (runs, topics)) + step * np.arange(runs)[:, None]
    return compare("AP", tuple(f"r{i}" for i in range(runs)), tuple(map(str, range(topics))), values, **more)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 0.3))
def test_two_runs_share_a_letter_if_and_only_if_no_star_tells_them_apart(seed, step):
    found = comparison_of(seed, step=step)
    stars = found.stars()
    for a, b in combinations(range(7), 2):
        assert bool(set(found.letters[a]) & set(found.letters[b])) == (not (stars[a, b] or stars[b, a]))
    for run, (best, worst) in enumerate(found.ranks.tolist()):
        assert best == 1 + sum(stars[other, run] for other in range(7))
        assert worst == 7 - sum(stars[run, other] for other in range(7))
        assert best <= found.places[run] + 1 <= worst
    assert found.letters[found.order[0]].startswith("a")


def test_ranks_are_of_all_pairs_only():
    assert comparison_of(1, baseline=0).ranks is None
    assert comparison_of(1, baseline=0).standing(1) == ""
    clear = comparison_of(1, runs=3, step=5)
    assert [clear.standing(run) for run in range(3)] == ["3 c", "2 b", "1 a"]
    assert comparison_of(1, runs=3, step=0).standing(0) == "1–3 a"


def test_ranks_of_runs_with_known_means_hold_them_together():
    """At .05, all intervals at once: 19 families in 20, or more."""
    held = [
        all(best <= 7 - run <= worst for run, (best, worst) in enumerate(comparison_of(s, step=0.03).ranks.tolist()))
        for s in range(120)
    ]
    assert np.mean(held) >= 0.93


@pytest.mark.parametrize("tails", [1, 2])
def test_sums_over_runs_give_the_ps_of_sums_over_pairs(tails, monkeypatch):
    values = np.random.default_rng(3).integers(0, 4, (9, 40)) / 3 + np.linspace(0, 0.6, 9)[:, None]
    first, second = np.triu_indices(9, 1)
    rows = paired_differences(values[first], values[second])
    how = {"tails": tails, "resamples": 500, "seed": 2, "most": 5000}
    plain = randomisation(rows, **how)
    assert randomisation(rows, **how, sides=Sides(values, first, second)).tolist() == plain.tolist()
    monkeypatch.setattr(paired_tests, "_CACHED", 700)
    assert randomisation(rows, **how, sides=Sides(values, first, second)).tolist() == plain.tolist()


def test_a_p_that_no_number_of_draws_can_show_is_the_smallest_they_can_and_no_less_than_the_true_one():
    row = np.full((1, 60), 1.0)
    assert randomisation(row, tails=2, resamples=100, seed=0, most=9999)[0] == 1 / 10_000 > 2.0**-59


def test_progress_says_how_many_draws_are_done():
    told = []
    rows = np.random.default_rng(1).normal(0, 1, (2, 40))
    randomisation(rows, tails=2, resamples=300, seed=0, progress=lambda *both: told.append(both))
    assert told == [(0, 300)]


def test_studentised_flips_are_the_flips_themselves():
    """The sum of squares stays, so that t grows with the sum: what the docstring of the randomisation test says."""
    row = np.random.default_rng(5).exponential(1, 9)
    flips = np.array(np.meshgrid(*[[-1, 1]] * 9)).reshape(9, -1).T * row
    t = flips.mean(axis=1) / (flips.std(axis=1, ddof=1) / 3)
    observed = row.mean() / (row.std(ddof=1) / 3)
    p = (np.abs(t) >= observed - 1e-9).mean()
    assert p == pytest.approx(randomisation(row[None], tails=2, resamples=1, seed=0)[0])


def test_the_studentised_test_errs_less_on_skewed_differences_of_mean_0():
    rows = np.random.default_rng(6).exponential(1, (1500, 25)) - 1
    drawn = {"tails": 2, "resamples": 500, "seed": 0}
    flipped, asked = ((test(rows, **drawn) <= 0.05).mean() for test in (randomisation, studentised))
    assert asked < flipped
    assert asked <= 0.08


def test_skewed_differences_with_a_star_are_remarked_upon():
    values = np.stack([np.random.default_rng(1).exponential(1, 25) ** 2 + 0.05, np.zeros(25)])
    found = compare("AP", ("a", "b"), tuple(map(str, range(25))), values)
    assert found.significant.all()
    said = "The differences of 1 pair with a star are skewed (a less b: +"
    assert any(line.startswith(said) for line in found.remarks())
    t = compare("AP", ("a", "b"), tuple(map(str, range(25))), values, Settings("t"))
    assert not any("skewed" in line for line in t.remarks())


def test_an_interval_that_contradicts_the_star_is_remarked_upon():
    rows = np.array([[0.4, 0.3, 0.5, 0.2, 0.4], [0.0] * 5])
    found = compare("AP", ("a", "b"), tuple("12345"), rows)
    assert found.low[0] > 0
    why = "an interval is of one difference alone (t), and a star says what the test found, corrected over all pairs."
    assert found.remarks() == [f"Of 1 interval, 1 without a star leaves out 0: {why}"]


@pytest.mark.parametrize("how", INTERVALS)
def test_an_interval_ends_at_the_bounds_of_the_measure(how):
    values = np.array([[1.0, 1.0, 0.9, 0.8, 1.0], [0.0, 0.1, 0.0, 0.0, 0.0]])
    low, high = interval(values, Settings(interval=how), bounds=(0, 1))
    assert (low >= 0).all()
    assert (high <= 1).all()
    free = np.clip(interval(values, Settings(interval=how)), 0, 1)
    assert (free[0] >= low).all()
    assert (free[1] <= high).all()
    assert how != "bca" or free.tolist() == [low.tolist(), high.tolist()]


def test_the_default_interval_is_students_t():
    """Student's own differences of sleep (1908): mean 1.58, from .70 to 2.46, as every textbook has it."""
    sleep = np.array([[1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]])
    low, high = interval(sleep, Settings())
    assert (round(float(low[0]), 2), round(float(high[0]), 2)) == (0.70, 2.46)


def test_variances_between_topics_and_trials_are_found_again():
    rng = np.random.default_rng(7)
    found = [
        spread(rng.normal(0, 0.3, (1, 200)) + rng.normal(0, 0.1, (5, 1)) + rng.normal(0, 0.2, (5, 200)))[1:]
        for _ in range(200)
    ]
    assert np.mean(found, axis=0) == pytest.approx([0.09, 0.04, 0.01], rel=0.1)


def test_what_varies_more_is_what_to_add():
    rng = np.random.default_rng(8)
    topics = rng.normal(0, 0.3, (1, 50))
    steady, sure = (topics * sign + rng.normal(0, 0.01, (2, 50)) for sign in (1, -1))
    assert trial_advice(("a", "b"), steady, sure).endswith("more topics help more.")
    first, second = (rng.normal(0, 0.1, (2, 1)) + rng.normal(0, 0.01, (2, 50)) for _ in "ab")
    assert trial_advice(("a", "b"), first, second).endswith("more trials help more.")


def test_variances_of_two_trials_of_three_topics_by_hand():
    """Topics 0, 1, 2 with trials .1 above and below: the mean square of topics is 2 · 1, of trials 3 · .02."""
    values = np.array([[0.1, 1.1, 2.1], [-0.1, 0.9, 1.9]])
    assert spread(values) == pytest.approx((2, 1.0, 0.0, 0.02))
    values[0, 0] += 0.6  # rest ± .2, ± .1, ± .1: .12 over two degrees of freedom
    topics, trials = np.array([0.3, 1.0, 2.0]).var(ddof=1), np.array([1.3, 0.9]).var(ddof=1)
    assert spread(values) == pytest.approx((2, topics - 0.06 / 2, 0.06, trials - 0.06 / 3))
    assert spread(np.array([[0.0, 1.0], [0.5, 1.0]])) == (2, 0.25, 0.0625, 0.0)  # rest ± .125: of one degree


def test_one_trial_or_one_topic_has_no_variance_between_trials():
    assert spread(np.array([[0.0, 1.0, 2.0]])) == (1, 1.0, 0.0, 0.0)
    assert spread(np.array([[0.0, 1.0]])) == (1, 0.5, 0.0, 0.0)
    assert spread(np.array([[0.5], [0.7]])) == (2, 0.0, 0.0, 0.0)
    assert spread(np.array([[0.5]])) == (1, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("noise", [0.02, 0.5])
def test_advice_adds_up_the_variances_of_topics_and_trials(noise):
    """One trial more or less changes what trials add, a topic everything but what whole trials add."""
    rng = np.random.default_rng(9)
    first, second = rng.normal(0.6, noise, (4, 20)), rng.normal(0.5, noise, (2, 20)) + rng.normal(0, 0.2, (2, 1))
    one, other = spread(first), spread(second)
    both = float(np.var(first.mean(axis=0) - second.mean(axis=0), ddof=1)) / 20
    within = (one.within / 4 + other.within / 2) / 20
    whole = one.shift / 4 + other.shift / 2
    now, wider = (both + whole) ** 0.5, (both / 2 + whole) ** 0.5
    longer = (max(both - within, 0) + within / 2 + whole / 2) ** 0.5
    assert trial_advice(("a", "b"), first, second) == (
        f"a less b: the standard error over other topics and other trials is {now:.4f}; with twice as many topics it "
        f"would be {wider:.4f}, with twice as many trials {longer:.4f}: more "
        f"{'topics' if wider <= longer else 'trials'} help more."
    )


def test_where_topics_and_trials_help_alike_more_topics_are_asked_for():
    flat = np.full((2, 3), 0.5)
    assert trial_advice(("a", "b"), flat, flat).endswith("more topics help more.")
