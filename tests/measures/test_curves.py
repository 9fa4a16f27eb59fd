"""A curve passes through the values of its own measure, whatever its parameters."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import focuseval as fe
from building import gold_of, run_of
from focuseval.measures.entry_points import expected_precision, precision_recall_curve
from focuseval.measures.graded import average_precall, precall_curve
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from focuseval.measures.xcg import (
    cumulated_gain,
    effort_curve,
    effort_precision_at,
    gain_curve,
    ideal_curve,
    ideal_gain,
    interpolated_mean_effort_precision,
    mean_normalised_cumulated_gain,
    normalised_cumulated_gain,
    normalised_curve,
)
from strategies.element_runs import Case, cases
from strategies.highlighted import collections, usable

LINKS = ("link",)
PERCENT = [i / 100 for i in range(1, 101)]
KINDS = st.sampled_from(["full", "filtered"])


def curve(scores, name):
    """Return x, and topic → y."""
    table = scores.curve(name).to_pydict()
    found = {}
    for topic, x, y in zip(table["topic"], table["x"], table["y"], strict=True):
        found.setdefault(topic, ([], []))[0].append(x)
        found[topic][1].append(y)
    del found["mean"]
    (x,) = {tuple(x) for x, _ in found.values()}
    return list(x), {topic: y for topic, (_, y) in found.items()}


@settings(max_examples=25)
@given(
    collections(),
    st.sampled_from(
        [
            ("iP@0.1", "iP@{x:g}", [0, *PERCENT]),
            ("EPRUM(A=1)", "EPRUM(A=1)@{x:g}", PERCENT),
            ("spanP", "spanP@{x:.0f}c", range(100, 10_001, 100)),
            ("spanR", "spanR@{x:.0f}c", range(100, 10_001, 100)),
        ]
    ),
)
def test_a_curve_of_levels_or_budgets_has_the_value_of_the_measure_at_each(case, named):
    gold, run = case
    name, at, places = named
    assume(usable(name, gold, run))
    x, y = curve(fe.evaluate(gold_of(gold), run_of(run), [name]), name)
    assert x == pytest.approx(list(places))
    points = fe.evaluate(gold_of(gold), run_of(run), [at.format(x=value) for value in x])
    for topic, row in zip(points.topics, points.values[0], strict=True):
        assert y.get(topic, [np.nan] * len(x)) == pytest.approx(row.tolist(), nan_ok=True)


SCORES = ("beta=0.25", "gain=length", "gain=length, credit=retrieved", "score=t2i, irr=5", "score=bep, n=10", "beta=2")


@settings(max_examples=25)
@given(collections(), st.sampled_from(SCORES))
def test_interpolated_generalised_precision_is_the_mean_of_its_curve(case, parameters):
    gold, run = case
    name = f"MAgP({parameters}, form=interpolated)"
    assume(usable(name, gold, run))
    scores = fe.evaluate(gold_of(gold), run_of(run), [name])
    x, y = curve(scores, name)
    assert x == pytest.approx([0, *PERCENT])
    for topic, value in zip(scores.topics, scores.values[0, :, 0].tolist(), strict=True):
        assert np.mean(y.get(topic, np.nan)) == pytest.approx(value, nan_ok=True)
        assert y.get(topic, []) == sorted(y.get(topic, []), reverse=True)


@given(cases(), KINDS, st.sampled_from(["rank", "line"]))
def test_the_graph_of_effort_precision_has_its_value_at_every_level(case, kind, ideal):
    m = case.matched(filtered_tags=LINKS)
    x, y = effort_curve(m, case.quant, kind, ideal)
    assert x.dtype == np.float64
    assert x.tolist() == pytest.approx(PERCENT)
    for percent in (1, 33, 50, 100):
        at = effort_precision_at(m, Fraction(percent, 100), case.quant, kind, ideal)
        np.testing.assert_allclose(y[:, percent - 1], at)
    np.testing.assert_allclose(y.mean(axis=1), interpolated_mean_effort_precision(m, case.quant, kind, ideal))


@given(cases(), KINDS, st.sampled_from(["ideal", "full"]))
def test_the_graphs_of_gain_have_their_values_at_every_rank(case, kind, ideal):
    m = case.matched(filtered_tags=LINKS)
    longest = max(np.diff(m.bounds).tolist(), default=1) or 1
    base = m.elements(case.quant, kind).base.full_list.length().tolist()
    for graph, value in ((gain_curve, cumulated_gain), (ideal_curve, ideal_gain)):
        x, y = graph(m, case.quant, kind)
        assert x.tolist() == list(range(1, max([longest, *base]) + 1))
        for rank in {1, longest, len(x)}:
            np.testing.assert_allclose(y[:, rank - 1], value(m, rank, case.quant, kind))
    x, y = normalised_curve(m, case.quant, kind, ideal)
    assert x.tolist() == list(range(1, longest + 1))
    for rank in {1, longest}:
        np.testing.assert_allclose(y[:, rank - 1], normalised_cumulated_gain(m, rank, case.quant, kind, ideal))
    mean = mean_normalised_cumulated_gain(m, longest, case.quant, kind, ideal)
    np.testing.assert_allclose(y.mean(axis=1), mean)


@given(cases(("grades", "coverage")), st.sampled_from(["strict", "gen"]))
def test_inex_eval_is_the_mean_of_its_curve(case, quant):
    m = case.matched()
    x, y = precall_curve(m, quant)
    assert x.dtype == np.float64
    assert x.tolist() == pytest.approx(PERCENT)
    np.testing.assert_allclose(y.mean(axis=1), average_precall(m, quant))
    assert np.isnan(y).all(axis=1).tolist() == (m.elements(quant, "full").base.full_list.length() == 0).tolist()


@settings(max_examples=25)
@given(cases())
def test_the_curve_of_contained_targets_has_the_value_at_every_level(case):
    m = case.matched()
    curve_of = next(measure for measure in fe.MEASURES if measure.name == "EPRUM").curve
    x, y = curve_of(m, nav="contains")
    assert x.tolist() == pytest.approx(PERCENT)
    for percent in (1, 50, 100):
        level = Fraction(percent, 100)
        np.testing.assert_allclose(y[:, percent - 1], expected_precision(m, 0.1, "contains", at=level))


@pytest.mark.parametrize(
    "name",
    [
        "MAgP(score=bep, n=10)",
        "MAgP(form=ratio, score=bep, n=10)",
        "MAgP(form=interpolated, score=bep, n=10)",
        "EPRUM(A=1)",
    ],
)
def test_a_topic_that_is_in_no_mean_is_in_no_curve(name):
    marked = {"spans": [(0, 10)], "length": 20}
    gold = gold_of({"with": {"d1": {**marked, "bep": 0}}, "without": {"d2": marked}})
    scores = fe.evaluate(gold, run_of({"with": [("d1", 0, 10)], "without": [("d2", 0, 10)]}), [name])
    assert scores.means()["run"] == {name: 1}
    table = scores.curve(name).to_pydict()
    assert set(table["topic"]) == {"with", "mean"}
    assert set(table["y"]) == {1}


def test_the_curve_of_entry_points_falls_where_one_more_of_them_is_needed():
    # each of three articles is entered 100 characters from its best entry point, A · L = 100: seen with chance 1/2
    gold = {"t": {f"d{i}": {"grade": 1, "length": 1000, "bep": 100} for i in (1, 2, 3)}, "none": {"x": {"grade": 1}}}
    m = match(run_of({"t": [("d1", 0), ("d2", 0), ("d3", 0)]}), prepare(gold_of(gold)))
    first = 1 / 2 + 1 / 4 * 1 / 2 + 1 / 8 * 1 / 3
    second = 1 / 4 * 2 / 2 + 2 / 8 * 2 / 3  # at rank 2, or at rank 3 after one of the first two
    third = 1 / 8
    x, y = precision_recall_curve(m)
    assert x.tolist() == pytest.approx(PERCENT)
    np.testing.assert_allclose(y, [[first] * 33 + [second] * 33 + [third] * 34, [np.nan] * 100])
    assert y.dtype == np.float64
    np.testing.assert_allclose(expected_precision(m, 0.1, "distance", at=Fraction(2, 3)), [second, np.nan])


def test_the_curve_of_contained_targets_falls_where_one_more_of_them_is_needed():
    # three targets in one article, shown at ranks 1, 2 and 4: precision is one article over the rank
    assessments = {("t1", "d1", f"/a[1]/b[{i}]"): (2, -1, 4, 4) for i in (1, 2, 3)}
    run = [("d1", "/a[1]/b[1]"), ("d1", "/a[1]/b[2]"), ("d1", "/z[1]"), ("d1", "/a[1]/b[3]")]
    m = Case("highlights", "spec", assessments, {"t1": run}).matched()
    _, y = precision_recall_curve(m, nav="contains")
    np.testing.assert_allclose(y, [[1] * 33 + [1 / 2] * 33 + [1 / 4] * 34])
