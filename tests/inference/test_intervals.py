"""BCa intervals against scipy and by coverage; effect sizes by hand."""

from math import floor
from statistics import NormalDist, fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from focuseval.errors import MeasureError
from focuseval.inference import intervals, paired_tests
from focuseval.inference.intervals import acceleration, bca, effect_size
from focuseval.inference.paired_tests import resampled_means
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


def test_acceleration_is_the_jackknife_formula_written_out():
    row = np.array([1.0, 2.0, 4.0, 9.0])
    left_out = np.array([np.delete(row, i).mean() for i in range(4)])
    d = left_out.mean() - left_out
    assert acceleration(row[None])[0] == pytest.approx((d**3).sum() / (6 * (d**2).sum() ** 1.5))


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


def test_acceleration_has_no_unit_and_is_zero_where_nothing_varies():
    row = np.array([1.0, 2.0, 4.0, 9.0])
    found = acceleration(np.array([row, row / 1000, [3.0] * 4, row[::-1]]))
    assert found == pytest.approx([found[0], found[0], 0, found[0]])


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
