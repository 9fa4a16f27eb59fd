"""BCa intervals against scipy and by coverage; effect sizes by hand."""

import numpy as np
import pytest
from scipy import stats

from focuseval.errors import MeasureError
from focuseval.significance.intervals import acceleration, bca, effect_size


def test_bca_equals_scipy_within_the_noise_of_resampling():
    values = np.random.default_rng(0).exponential(1, (3, 40))
    low, high = bca(values, resamples=20_000, seed=1)
    for i, row in enumerate(values):
        peer = stats.bootstrap((row,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2))
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


def test_effect_size_is_the_mean_over_the_standard_deviation():
    assert effect_size(np.array([[1.0, 2.0, 3.0]]))[0] == pytest.approx(2.0)
    assert effect_size(np.array([[-0.5]]))[0] == -np.inf
    assert effect_size(np.array([[0.0]]))[0] == 0


def test_a_level_outside_zero_and_one_is_refused():
    with pytest.raises(MeasureError, match="confidence level"):
        bca(np.ones((1, 3)), level=95)
