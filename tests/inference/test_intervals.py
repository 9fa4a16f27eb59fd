"""BCa intervals against scipy and by coverage; effect sizes by hand."""

from math import floor
from statistics import NormalDist, fmean

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from focuseval.errors import MeasureError
from focuseval.inference import intervals, paired_tests
from focuseval.inference.clusters import Clusters, standard_error
from focuseval.inference.comparison import compare
from focuseval.inference.intervals import bca, effect_size, interval, student, student_ends
from focuseval.inference.paired_tests import resampled_means, resampled_t
from focuseval.inference.settings import Settings
from strategies.seeds import scipys_seed


def plain_bca(row, level, resamples, seed):
    """Efron's interval (1987), formula by formula, from the same resamples."""
    normal, mean = NormalDist(), fmean(row)
    means = sorted(np.concatenate(list(resampled_means(np.array([row]), resamples, seed)), axis=1)[0].tolist())
    share = sum(1.0 if m < mean else 0.5 if m == mean else 0.0 for m in means) / resamples
    bias = normal.inv_cdf(min(max(share, 0.5 / resamples), 1 - 0.5 / resamples))
    pull = sum((x - mean) ** 3 for x in row) / (6 * sum((x - mean) ** 2 for x in row) ** 1.5)
    edges = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + normal.inv_cdf(tail)
        at = normal.cdf(bias + z / (1 - pull * z)) * (resamples - 1)
        low, high = means[floor(at)], means[min(floor(at) + 1, resamples - 1)]
        edges.append(low + (at - floor(at)) * (high - low))
    return edges


@given(
    st.lists(st.integers(0, 8), min_size=3, max_size=9).filter(lambda row: len(set(row)) > 1),
    st.sampled_from([0.5, 0.9, 0.95, 0.999]),
    st.sampled_from([1, 2, 5, 40, 1000]),
    st.integers(0, 3),
)
def test_bca_is_the_formula_written_out(numbers, level, resamples, seed):
    row = [n / 8 for n in numbers]  # exact in binary: ties with the mean are ties
    found = bca(np.array([row, row[::-1]]), level=level, resamples=resamples, seed=seed)
    assert [side[0] for side in found] == pytest.approx(plain_bca(row, level, resamples, seed))
    assert [side[1] for side in found] == pytest.approx(plain_bca(row[::-1], level, resamples, seed))


def test_an_interval_is_by_default_of_95_percent_with_a_thousand_resamples_and_seed_0(monkeypatch):
    values = np.random.default_rng(0).exponential(1, (3, 40))
    found = np.array(bca(values))
    assert found.tolist() == np.array(bca(values, level=0.95, resamples=1000, seed=0)).tolist()
    assert found.tolist() != np.array(bca(values, seed=1)).tolist()
    monkeypatch.setattr(paired_tests, "_BLOCK", 900)
    assert np.array(bca(values)) == pytest.approx(found)


def test_bca_equals_scipy_within_the_noise_of_resampling():
    values = np.random.default_rng(0).exponential(1, (3, 40))
    low, high = bca(values, resamples=20_000, seed=1)
    for i, row in enumerate(values):
        seed = scipys_seed(stats.bootstrap, 2)
        peer = stats.bootstrap((row,), np.mean, n_resamples=20_000, method="BCa", **seed)
        width = peer.confidence_interval.high - peer.confidence_interval.low
        assert low[i] == pytest.approx(peer.confidence_interval.low, abs=0.05 * width)
        assert high[i] == pytest.approx(peer.confidence_interval.high, abs=0.05 * width)


def test_intervals_cover_the_true_mean_about_as_often_as_they_say():
    values = np.random.default_rng(7).beta(2, 5, (800, 50))
    low, high = bca(values, level=0.9, resamples=600)
    covered = ((low <= 2 / 7) & (high >= 2 / 7)).mean()
    assert 0.86 < covered < 0.935


def test_one_topic_and_constant_values_have_an_interval_of_no_width():
    low, high = bca(np.array([[0.4]]))
    assert low[0] == high[0] == 0.4
    values = np.array([[0.1] * 7, [0.7] * 7, [-0.3] * 7, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]])
    low, high = bca(values)
    assert low[:3].tolist() == high[:3].tolist() == values[:3].mean(axis=1).tolist()
    assert low[3] < 0.4 < high[3]


def test_effect_size_is_the_mean_over_the_standard_deviation():
    assert effect_size(np.array([[1.0, 2.0, 3.0]]))[0] == pytest.approx(2.0)
    assert effect_size(np.array([[-0.5]]))[0] == -np.inf
    assert effect_size(np.array([[0.0]]))[0] == 0


def test_effect_size_of_several_pairs_at_once():
    """Two topics are enough; where all differences agree it is infinite on their side."""
    rows = np.array([[1.0, 3.0], [0.0, 0.0], [2.0, 2.0], [-1.0, -1.0], [1.0, 1.0], [0.25, 0.75]])
    assert effect_size(rows) == pytest.approx([2**0.5, 0, np.inf, -np.inf, np.inf, 2**0.5])


@pytest.mark.parametrize("level", [0, 1, 1.5, 95])
def test_a_level_outside_zero_and_one_is_refused(level):
    with pytest.raises(MeasureError) as caught:
        bca(np.ones((1, 3)), level=level)
    assert str(caught.value) == f"expected a confidence level between 0 and 1, found {level}"


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_many_rows_are_done_in_parts_with_the_same_draws(monkeypatch, rows):
    values = np.random.default_rng(2).random((6, 9))
    whole = bca(values, level=0.9, resamples=50, seed=4)
    monkeypatch.setattr(intervals, "_CELLS", 50 * rows + 49)
    for part, edge in zip(bca(values, level=0.9, resamples=50, seed=4), whole, strict=True):
        assert part == pytest.approx(edge, abs=1e-12)  # a matrix product of fewer rows may round otherwise
    monkeypatch.setattr(intervals, "_CELLS", 49)
    assert bca(values, level=0.9, resamples=50, seed=4)[0] == pytest.approx(whole[0], abs=1e-12)


@pytest.mark.parametrize("hits", [0, 1, 7, 20])
def test_the_interval_of_a_share_is_walds_joined_with_wilsons_as_scipy_has_it(hits):
    share, many = hits / 20, np.array([1e12])  # so many degrees of freedom that t is normal
    error = np.sqrt(share * (1 - share) / 20)
    low, high = student_ends(np.array([share]), np.array([error]), many, 20, bounds=(0, 1))
    peer = stats.binomtest(hits, 20).proportion_ci(method="wilson")
    assert low[0] == pytest.approx(max(0, min(peer.low, share - 1.959964 * error)), abs=1e-6)
    assert high[0] == pytest.approx(min(1, max(peer.high, share + 1.959964 * error)), abs=1e-6)


@given(st.lists(st.floats(-3, 5), min_size=3, max_size=12), st.floats(0, 4), st.floats(0.001, 4))
def test_the_interval_within_bounds_holds_what_the_definition_holds(values, below, above):
    """Every μ of a fine grid, by the inequality of the docstring or by Student's t."""
    row = np.array(values)
    least, most = row.min() - below, row.max() + above
    low, high = student(row[None], bounds=(least, most))
    mean, reach = row.mean(), stats.t.ppf(0.975, len(row) - 1) * stats.sem(row)
    grid = np.linspace(least, most, 2001)
    spread, step = (mean - least) * (most - mean), (most - least) / 2000
    assume(spread > 1e-9 and reach > step)
    near = (grid - mean) ** 2 * spread <= reach**2 * (grid - least) * (most - grid)
    held = grid[near | (np.abs(grid - mean) <= reach)]
    assert low[0] == pytest.approx(held.min(), abs=1.01 * step)
    assert high[0] == pytest.approx(held.max(), abs=1.01 * step)


def test_bounds_may_be_those_of_every_row_and_an_end_that_is_open_leaves_students_t():
    values = np.array([[0.0, 0.1, 0.0, 0.4]] * 3)
    low, high = student(values, bounds=(np.array([0.0, -1.0, 0.0]), np.array([1.0, 1.0, np.inf])))
    for row, bounds in enumerate(((0.0, 1.0), (-1.0, 1.0))):
        assert (low[row], high[row]) == tuple(end[0] for end in student(values[:1], bounds=bounds))
    plain = student(values[:1])
    assert (low[2], high[2]) == (0.0, plain[1][0])
    assert high[0] > plain[1][0]


@pytest.mark.parametrize("topics", [10, 25, 50])
def test_the_mean_of_skewed_scores_is_held_by_93_intervals_in_100_from_10_topics_on(topics):
    """Scores as skewed as the IoU of long chunks: a quarter of zeros, skewness 3."""
    rng = np.random.default_rng(topics)
    values = rng.lognormal(-5, 0.85, (4000, topics)) * (rng.random((4000, topics)) < 0.75)
    true = 0.75 * np.exp(-5 + 0.85**2 / 2)
    (low, high), (least, most) = student(values, bounds=(0, 1)), student(values)
    held, plain = ((low <= true) & (true <= high)).mean(), ((least <= true) & (true <= most)).mean()
    assert held >= 0.93
    assert held > plain + 0.015


def test_an_interval_far_from_the_bounds_is_hardly_wider_than_students_t():
    values = np.random.default_rng(3).beta(2, 2, (2000, 10))
    ends = student(values, bounds=(0, 1)), student(values)
    width, plain = (float((high - low).mean()) for low, high in ends)
    assert width < 1.01 * plain


@pytest.mark.parametrize("code", [None, [0, 0, 1, 2, 2, 2, 3, 4, 4, 5, 6, 7]])
def test_a_studentised_interval_reaches_as_far_as_95_of_100_resampled_t(code, monkeypatch):
    monkeypatch.setattr(paired_tests, "_BLOCK", 6000)  # several blocks
    values = np.random.default_rng(8).beta(1, 4, (3, 12))
    clusters = None if code is None else Clusters("document", np.array(code))
    low, high = interval(values, Settings(interval="studentised", resamples=1500, seed=5), clusters)
    drawn = np.concatenate(list(resampled_t(values, 1500, 5, clusters)), axis=1)
    mean, error, _ = standard_error(values, clusters)
    reach = np.quantile(np.abs(drawn), 0.95, axis=1) * error
    assert low == pytest.approx(mean - reach)
    assert high == pytest.approx(mean + reach)


def test_the_intervals_of_a_comparison_are_those_within_the_bounds_of_its_measure():
    values = np.array([[0.0, 0.1, 0.0, 0.4, 0.0, 0.2], [1.0] * 6])
    found = compare("AP", ("a", "b"), tuple("123456"), values, bounds=[(0.0, 1.0)]).intervals
    assert found.tolist() == np.transpose(student(values, bounds=(0.0, 1.0))).tolist()
    assert found[1] == pytest.approx([6 / (6 + stats.t.ppf(0.975, 5) ** 2), 1.0])


def test_a_studentised_interval_is_that_of_student_where_one_resample_in_twenty_has_no_spread():
    values = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])  # in a third of the resamples all values are 0
    assert interval(values, Settings(interval="studentised"), bounds=(0, 1)) == student(values, bounds=(0, 1))


def test_values_that_agree_within_and_between_clusters_have_an_interval_of_no_width():
    low, high = bca(np.full((1, 6), 0.3), clusters=Clusters("document", np.array([0, 0, 0, 1, 1, 2])))
    assert low[0] == high[0] == pytest.approx(0.3)
