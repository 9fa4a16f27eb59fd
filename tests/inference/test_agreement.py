"""Expected values come from the literature, or are worked out by hand beside them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.agreement import cohen_kappa, correlation, krippendorff_alpha, overlap

NAN = math.nan
# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example C: four observers, twelve units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


def test_alpha_is_what_krippendorff_computes():
    assert krippendorff_alpha(OBSERVERS) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(OBSERVERS, "interval") == pytest.approx(0.849, abs=5e-4)


def test_kappa_of_the_textbook_s_fifty_proposals():
    # 20 both yes, 5 yes–no, 10 no–yes, 15 both no: p_o = .7, p_e = .5, κ = .4.
    left = [1] * 25 + [0] * 25
    right = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(left, right) == pytest.approx(0.4)


def test_where_nothing_can_disagree_nothing_is_said():
    assert math.isnan(cohen_kappa([], []))
    assert math.isnan(cohen_kappa([1, 1], [1, 1]))
    assert math.isnan(krippendorff_alpha([[1, 1], [1, 1]]))
    assert math.isnan(krippendorff_alpha([[1, NAN], [NAN, 0]]))
    assert math.isnan(correlation([1, 1], [0, 1]))
    assert math.isnan(correlation([0, 1], [1, 1]))
    assert math.isnan(correlation([1], [2]))
    assert all(map(math.isnan, overlap([], [], [])))


def test_correlation_is_pearson_s():
    assert correlation([0.0, 1.0], [5, 3]) == pytest.approx(-1)
    left, right = [1, 2, 3, 4, 9], [2, 1, 4, 3, 5]  # means 3.8 and 3: products sum to 16, squares to 38.8 and 10
    assert correlation(left, right) == pytest.approx(16 / math.sqrt(38.8 * 10))


def test_overlap_is_jaccard_and_f_of_all_characters_together():
    # 3 of 4 and 1 of 6 shared: 4 of 10 + 9 characters, union 15.
    assert overlap([3, 1], [4, 6], [3, 6]) == (pytest.approx(4 / 15), pytest.approx(8 / 19))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=30))
def test_alpha_equals_a_count_of_all_pairs(pairs):
    table = np.array(pairs, float).T
    values = table.ravel()
    observed = np.mean([a != b for a, b in pairs])
    expected = np.mean([x != y for i, x in enumerate(values) for j, y in enumerate(values) if i != j])
    if not expected:
        assert math.isnan(krippendorff_alpha(table))
    else:
        assert krippendorff_alpha(table) == pytest.approx(1 - observed / expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_kappa_is_symmetric_and_one_only_for_perfect_agreement(pairs):
    left, right = zip(*pairs, strict=True)
    kappa = cohen_kappa(left, right)
    if not math.isnan(kappa):
        assert kappa == pytest.approx(cohen_kappa(right, left))
        assert (kappa == pytest.approx(1)) == (left == right)


def test_a_correlation_is_numpys_also_where_almost_nothing_varies():
    random = np.random.default_rng(0)
    for scale in (1.0, 1e-9, 1e9):
        x, y = random.random((2, 50))
        assert correlation(x * scale + 5, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)
    rare = np.zeros(100_000)
    rare[7] = 1e-4
    assert correlation(rare, rare) == pytest.approx(1)
