"""Effort-precision and normalised cumulated gain: against the papers' numbers and against slow twins."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.measures.xcg import (
    cumulated_gain,
    effort_curve,
    effort_precision,
    effort_precision_at,
    gain_curve,
    gain_recall,
    ideal_curve,
    ideal_gain,
    interpolated_mean_effort_precision,
    mean_average_effort_precision,
    mean_normalised_cumulated_gain,
    normalised_cumulated_gain,
    normalised_curve,
)
from oracle import recall_base as slow_base
from oracle import xcg as slow
from strategies.element_runs import Case, cases

LINKS = ("link",)


def expected(case, base, value):
    """One number per counted topic from a function of (results, full base); NaN where the base is empty."""
    found = []
    for topic in case.counted:
        here = slow_base.topic_of(base, topic)
        results = [(topic, d, p) for d, p in case.run.get(topic, [])]
        found.append(float(value(results, here)) if here else np.nan)
    return np.array(found)


def base_of(case, kind="full"):
    base = slow_base.full(case.assessments, case.quant, case.scale)
    return base if kind == "full" else slow_base.filtered(base, LINKS)


def one_topic(gains, returned):
    """A case with one article per gain (in sixtieths) and a run that returns some of them, None for a miss."""
    assessments = {("t1", "d1", f"/a[1]/b[{i}]"): (2, -1, 60, g) for i, g in enumerate(gains, 1)}
    run = [("d1", "/z[1]" if i is None else f"/a[1]/b[{i}]") for i in returned]
    return Case("highlights", "spec", assessments, {"t1": run})


@given(cases(), st.sampled_from(["full", "filtered"]), st.sampled_from(["rank", "line"]))
def test_effort_precision_equals_its_slow_twin(case, kind, ideal):
    m, base = case.matched(filtered_tags=LINKS), base_of(case, kind)
    line = ideal == "line"
    values = mean_average_effort_precision(m, case.quant, kind, ideal)
    np.testing.assert_allclose(values, expected(case, base, lambda r, b: slow.maep(r, b, line)), atol=1e-12)
    values = interpolated_mean_effort_precision(m, case.quant, kind, ideal)
    np.testing.assert_allclose(values, expected(case, base, lambda r, b: slow.imaep(r, b, line)), atol=1e-12)
    values = effort_precision_at(m, Fraction(1, 3), case.quant, kind, ideal)
    np.testing.assert_allclose(
        values, expected(case, base, lambda r, b: slow.ep_at(Fraction(1, 3), r, b, line)), atol=1e-12
    )


@given(cases(), st.sampled_from(["full", "filtered"]), st.integers(1, 15))
def test_cumulated_gain_and_gain_recall_equal_their_slow_twins(case, kind, k):
    m, base = case.matched(filtered_tags=LINKS), base_of(case, kind)
    gathered = cumulated_gain(m, k, case.quant, kind)
    np.testing.assert_allclose(gathered, expected(case, base, lambda r, b: sum(slow.gains(r, b)[:k])), atol=1e-12)
    recall = gain_recall(m, k, case.quant, kind)
    share = expected(case, base, lambda r, b: sum(slow.gains(r, b)[:k]) / sum(b.values()))
    np.testing.assert_allclose(recall, share, atol=1e-12)
    best = expected(case, base, lambda _, b: sum(sorted(b.values(), reverse=True)[:k]))
    np.testing.assert_allclose(ideal_gain(m, k, case.quant, kind), best, atol=1e-12)


@given(cases(), st.sampled_from(["full", "filtered"]), st.integers(1, 15))
def test_normalised_gain_equals_its_slow_twin(case, kind, k):
    m, base = case.matched(filtered_tags=LINKS), base_of(case, kind)
    values = normalised_cumulated_gain(m, k, case.quant, kind)
    np.testing.assert_allclose(
        values, expected(case, base, lambda r, b: slow.nxcg(k, r, b, slow_base.ideal(b))), atol=1e-12
    )
    values = normalised_cumulated_gain(m, k, case.quant, kind, "full")
    np.testing.assert_allclose(
        values, expected(case, base, lambda r, b: slow.nxcg(k, r, b, slow_base.ideal(b), b)), atol=1e-12
    )
    values = normalised_cumulated_gain(m, k, case.quant, kind, "all")
    np.testing.assert_allclose(values, expected(case, base, lambda r, b: slow.nxcg_of_all(k, r, b)), atol=1e-12)
    values = mean_normalised_cumulated_gain(m, k, case.quant, kind)
    np.testing.assert_allclose(
        values, expected(case, base, lambda r, b: slow.manxcg(k, r, b, slow_base.ideal(b))), atol=1e-12
    )


@given(cases(), st.integers(1, 20))
def test_the_policy_decides_the_base_when_the_measure_does_not(case, k):
    m = case.matched(base="filtered", filtered_tags=LINKS)
    np.testing.assert_array_equal(
        normalised_cumulated_gain(m, k, case.quant), normalised_cumulated_gain(m, k, case.quant, "filtered")
    )


def perfect(case, rows):
    """The same gold with a run that returns the given base in descending order of gain."""
    run = {
        t: [(d, p) for (_, d, p), _ in sorted(slow_base.topic_of(rows, t).items(), key=lambda x: -x[1])]
        for t in case.counted
    }
    return Case(case.scale, case.quant, case.assessments, run)


@given(cases())
def test_the_full_base_in_order_of_gain_has_effort_precision_one_exactly(case):
    m = perfect(case, base_of(case)).matched()
    for ideal in ("rank", "line"):
        values = mean_average_effort_precision(m, case.quant, "full", ideal)
        assert set(values[~np.isnan(values)]) <= {1.0}
        values = effort_curve(m, case.quant, "full", ideal)[1]
        assert set(values[~np.isnan(values)].ravel()) <= {1.0}


@given(cases())
def test_the_ideal_base_in_order_of_gain_has_normalised_gain_one_at_every_rank(case):
    m = perfect(case, slow_base.ideal(base_of(case))).matched()
    _, values = normalised_curve(m, case.quant, "full")
    assert set(values[~np.isnan(values)].ravel()) <= {1.0}


@given(cases(), st.integers(1, 15))
def test_no_run_exceeds_one(case, k):
    m = case.matched()
    for values in (
        mean_average_effort_precision(m, case.quant),
        interpolated_mean_effort_precision(m, case.quant),
        normalised_cumulated_gain(m, k, case.quant),
        mean_normalised_cumulated_gain(m, k, case.quant),
        gain_recall(m, k, case.quant),
    ):
        known = values[~np.isnan(values)]
        assert ((known >= 0) & (known <= 1)).all()


def test_thirds_reach_one():
    # ideal gains 1, 1/3, 1/3, 1/3; the run gathers 1/3 + 1/3 + 1/3, which the ideal list has at rank 1
    case = one_topic([60, 20, 20, 20], [2, 3, 4])
    # ep = 1/1, 1/2, 1/3; by hand, MAep = (1 + 1/2 + 1/3) / 4
    np.testing.assert_allclose(mean_average_effort_precision(case.matched()), [(1 + 1 / 2 + 1 / 3) / 4])


def test_sixths_reach_what_thirds_have_gathered():
    # 2/3 + 2/3 + 2/3 = 1 + 1: the ideal list has that at rank 2
    case = one_topic([60, 60, 40, 40, 40], [3, 4, 5])
    np.testing.assert_allclose(mean_average_effort_precision(case.matched()), [(1 / 1 + 2 / 2 + 2 / 3) / 5])


def test_tenths_reach_one_though_their_doubles_exceed_it():
    # ideal gains 1 and ten times 1/10: the ideal list has at rank 1 what the run gathers in ten results
    case = one_topic([60, *[6] * 10], range(2, 12))
    wanted = sum(1 / i for i in range(1, 11)) / 11
    np.testing.assert_allclose(mean_average_effort_precision(case.matched()), [wanted], rtol=1e-12)


def test_half_of_all_gain_is_reached_though_the_total_of_the_doubles_exceeds_two():
    case = one_topic([60, *[6] * 10], [1])
    assert effort_precision_at(case.matched(), Fraction(1, 2)).tolist() == [1]


def test_a_level_that_is_hit_exactly_counts_as_reached():
    # ten gains of 1/3: the seventh result reaches gain-recall .7, its own ep there is 7/8 after one miss
    case = one_topic([20] * 10, [None, 1, 2, 3, 4, 5, 6, 7])
    np.testing.assert_allclose(effort_precision_at(case.matched(), Fraction(7, 10)), [7 / 8])
    np.testing.assert_allclose(effort_precision_at(case.matched(), Fraction(71, 100)), [0])


def test_seed_001_ideal_run_and_reversed_run():
    # Kazai & Lalmas, IR Fest 2005, p. 18: gains 1 and .5; ideal order 1, 1; reversed .5, 1
    ideal = one_topic([60, 30], [1, 2]).matched()
    backwards = one_topic([60, 30], [2, 1]).matched()
    assert [normalised_cumulated_gain(ideal, k)[0] for k in (1, 2)] == [1, 1]
    assert [normalised_cumulated_gain(backwards, k)[0] for k in (1, 2)] == [0.5, 1]


def test_jarvelin_and_kekalainen_2002_normalised_cumulated_gain():
    # ACM TOIS 20(4), the worked example: G = 3 2 3 0 0 1 2 2 3 0, CI = 3 6 9 11 13 15 16 17 18 19
    gains = [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]  # thirds of the maximum: 3 is 1
    case = one_topic([20 * g for g in gains], [1, 4, 2, None, None, 7, 5, 6, 3, None])
    _, values = normalised_curve(case.matched())
    assert [round(v, 2) for v in values[0]] == pytest.approx([1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84])


def test_returning_all_parts_of_an_ideal_section_is_worth_the_section():
    # the section's gain (1) is the most that its two paragraphs (1 each) can add up to
    assessments = {("t1", "d1", "/a[1]/b[1]"): (2, -1, 9, 9), ("t1", "d2", "/a[1]/b[1]"): (2, -1, 9, 9)}
    assessments |= {("t1", "d1", f"/a[1]/b[1]/c[{i}]"): (2, -1, 4, 4) for i in (1, 2)}
    case = Case("highlights", "spec", assessments, {"t1": [("d1", "/a[1]/b[1]/c[1]"), ("d1", "/a[1]/b[1]/c[2]")]})
    np.testing.assert_allclose([normalised_cumulated_gain(case.matched(), k)[0] for k in (1, 2)], [1, 0.5])


def test_a_result_that_contains_several_ideal_elements_overlaps_each_of_them():
    # /a holds two ideal paragraphs (gain 1); its own gain is 1/2; afterwards each paragraph has 1/2 left
    assessments = {("t1", "d1", "/a[1]"): (2, -1, 8, 4)}
    assessments |= {("t1", "d1", f"/a[1]/b[{i}]"): (2, -1, 2, 2) for i in (1, 2)}
    run = {"t1": [("d1", "/a[1]"), ("d1", "/a[1]/b[1]"), ("d1", "/a[1]/b[2]")]}
    case = Case("highlights", "spec", assessments, run)
    np.testing.assert_allclose([normalised_cumulated_gain(case.matched(), k)[0] for k in (1, 2, 3)], [0.5, 0.5, 0.75])


def test_a_result_that_contains_several_ideal_elements_takes_the_one_that_leaves_it_most():
    # /a (gain 1/2) holds two ideal paragraphs; the first (gain 1) was returned before, the second (3/4) was not
    assessments = {("t1", "d1", "/a[1]"): (2, -1, 8, 4)}
    assessments |= {("t1", "d1", "/a[1]/b[1]"): (2, -1, 2, 2), ("t1", "d1", "/a[1]/b[2]"): (2, -1, 4, 3)}
    case = Case("highlights", "spec", assessments, {"t1": [("d1", "/a[1]/b[1]"), ("d1", "/a[1]")]})
    np.testing.assert_allclose(normalised_cumulated_gain(case.matched(), 2), [(1 + 0.5) / 1.75])


def test_every_relevant_element_gains_in_full_where_all_are_ideal():
    # Lalmas et al. 2007, section 8.2: gains .7 + .7 + .5 over the best three of the full base, .7 + .7 + .7. Of the
    # ideal base (sec[1] and sec[2]/p[1]) the second paragraph of sec[1] gains nothing: (.7 + 0 + .5) / 2.1
    sec, other = "/article[1]/sec[1]", "/article[1]/sec[2]"
    sizes = {sec: (200, 140), f"{sec}/p[1]": (100, 70), f"{sec}/p[2]": (100, 70), other: (300, 10)}
    sizes |= {f"{other}/p[1]": (20, 10), "/article[1]": (500, 150)}
    run = [("d1", path) for path in (f"{sec}/p[1]", f"{sec}/p[2]", f"{other}/p[1]")]
    assessments = {("t1", "d1", path): (2, -1, size, rsize) for path, (size, rsize) in sizes.items()}
    m = Case("highlights", "spec", assessments, {"t1": run}).matched()
    values = [normalised_cumulated_gain(m, 3, "spec", "full", ideal)[0] for ideal in ("all", "full", "ideal")]
    np.testing.assert_allclose(values, [1.9 / 2.1, 1.2 / 2.1, 1])


@given(cases())
def test_the_full_base_in_order_of_gain_has_gain_one_at_every_rank_where_all_are_ideal(case):
    m = perfect(case, base_of(case)).matched()
    _, values = normalised_curve(m, case.quant, "full", "all")
    assert set(values[~np.isnan(values)].ravel()) <= {1.0}


def test_sums_of_quantised_gains_are_the_decimals_that_a_hand_would_add():
    # SOG: 33 is 1, 23 is .9, 11 is .1, and .9 + .1 · 10 is 1.9, too; thirds (specificity) stay what they are
    grades = {("t1", "d1", "/a[1]/b[1]"): (3, 3, 0, 0), ("t1", "d1", "/a[1]/b[2]"): (2, 3, 0, 0)}
    grades |= {("t1", "d1", f"/a[1]/c[{i}]"): (1, 1, 0, 0) for i in range(1, 11)}
    run = {"t1": [("d1", path) for _, _, path in list(grades)[1:]]}
    m = Case("grades", "sog", grades, run).matched()
    assert (cumulated_gain(m, 11, "sog").tolist(), ideal_gain(m, 2, "sog").tolist()) == ([1.9], [1.9])
    assert gain_curve(m, "sog")[1][0].tolist() == [*(round(0.9 + i / 10, 1) for i in range(11)), 1.9]
    assert ideal_curve(m, "sog")[1][0, :2].tolist() == [1, 1.9]
    np.testing.assert_allclose(cumulated_gain(one_topic([20, 20], [1, 2]).matched(), 2), [2 / 3], rtol=1e-13)


def test_curves_are_data():
    m = one_topic([60, 30], [None, 1]).matched()
    levels, ep = effort_curve(m)
    assert len(levels) == 100
    assert levels[-1] == 1
    assert ep.shape == (1, 100)
    np.testing.assert_allclose(ep[0, [0, 65, 66]], [0.5, 0.5, 0])
    np.testing.assert_allclose(gain_curve(m)[1], [[0, 1]])
    np.testing.assert_allclose(ideal_curve(m)[1], [[1, 1.5]])


def test_results_past_the_cut_off_do_not_count():
    m = one_topic([60], [*[None] * 1500, 1]).matched(cutoff=1500)
    assert mean_average_effort_precision(m).tolist() == [0]
    m = one_topic([60], [*[None] * 1499, 1]).matched(cutoff=1500)
    assert mean_average_effort_precision(m).tolist() == [1 / 1500]


def test_a_topic_without_a_relevant_element_under_the_quantisation_is_left_out():
    case = Case("grades", "strict", {("t1", "d1", "/a[1]"): (1, 1, 0, 0), ("t2", "d1", "/a[1]"): (3, 3, 0, 0)}, {})
    np.testing.assert_array_equal(mean_average_effort_precision(case.matched(), "strict"), [np.nan, 0])


def test_the_ideal_rank_on_a_line_is_no_more_than_the_whole_rank():
    # ten gains of 1/10, each rounded up to units, gather a little more than the first ideal gain, 1
    case = one_topic([60, *[6] * 10], range(2, 12))
    assert effort_precision(case.matched().elements("spec", "full"), "line")[-1] == 1 / 10


def test_a_level_between_two_points_has_no_more_than_the_value_of_the_second():
    # half of 1 + 3 · 1/3 is, in units, a little more than the three thirds that reach it: ep is 1/3 there
    case = one_topic([60, 20, 20, 20], [2, 3, 4])
    assert effort_precision_at(case.matched(), Fraction(1, 2)).tolist() == [1 / 3]


@pytest.mark.parametrize(("base", "ranks"), [("full", [1, 2]), ("filtered", [1])])
def test_curves_of_gain_are_as_long_as_the_ideal_list_of_their_base(base, ranks):
    assessments = {("t1", "d1", path): (2, -1, 9, 9) for path in ("/a[1]/b[2]", "/a[1]/b[2]/link[1]")}
    m = Case("highlights", "spec", assessments, {"t1": [("d1", "/a[1]/b[2]")]}).matched(filtered_tags=LINKS)
    for curve in (gain_curve, ideal_curve):
        assert curve(m, "spec", base)[0].tolist() == ranks
