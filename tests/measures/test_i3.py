"""inex_eval_ng: the worked example of the paper, and the slow twin over sets of characters."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.data.run import Run
from focuseval.errors import MissingDataError
from focuseval.measures.graded import average_graded_precision, graded_curve, recall_precision
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from oracle import i3 as slow
from strategies.element_runs import TOPICS, Case, cases, gold_of


def run_of(rows):
    """Rows are (topic, document, path, start, end), topics in blocks."""
    topics = tuple(dict.fromkeys(row[0] for row in rows))
    return Run(
        "run",
        topics,
        np.array([topics.index(row[0]) for row in rows], np.int32),
        pa.array([row[1] for row in rows], pa.string()),
        path=pa.array([row[2] for row in rows], pa.string()),
        start=np.array([row[3] for row in rows], np.int64),
        end=np.array([row[4] for row in rows], np.int64),
    )


def seed_001(order):
    """Grades of exhaustivity that total 11 thirds; the run returns (3,3) of 360 and (2,2) of 266 characters."""
    pairs = [(3, 3), (2, 2), (3, 1), (3, 1)]
    gold = gold_of({("t1", "d1", f"/a[1]/b[{i}]"): (*pair, 0, 0) for i, pair in enumerate(pairs, 1)})
    spans = {1: (0, 360), 2: (360, 626)}
    return match(run_of([("t1", "d1", f"/a[1]/b[{i}]", *spans[i]) for i in order]), prepare(gold))


def test_seed_001_ideal_run():
    # Kazai & Lalmas, IR Fest 2005, p. 17: r .27 p 1, then r .45 p .86
    mass, precision, total = recall_precision(seed_001([1, 2]))
    np.testing.assert_allclose(mass / total, [3 / 11, 5 / 11])
    assert [round(x, 2) for x in mass / total] == [0.27, 0.45]
    assert [round(x, 2) for x in precision] == [1, 0.86]
    levels = [Fraction(0), Fraction(3, 11), Fraction(5, 11), Fraction(1, 2)]
    values = [average_graded_precision(seed_001([1, 2]), at=level)[0] for level in levels]
    assert [round(value, 2) for value in values] == [1, 1, 0.86, 0]


def test_seed_001_reversed_run():
    # the same page: r .18 p .67
    mass, precision, total = recall_precision(seed_001([2, 1]))
    assert (round(mass[0] / total[0], 2), round(precision[0], 2)) == (0.18, 0.67)


def test_three_thirds_of_an_element_reach_the_level_of_one():
    # exhaustivity totals 10; of three elements with e=1 one third each is new, so recall is exactly .10 at the end
    said = {("t1", "d1", f"/a[1]/b[{i}]"): (1, 1, 0, 0) for i in (1, 2, 3)}
    said |= {("t1", "d1", p): (e, 3, 0, 0) for p, e in (("/x[1]", 3), ("/x[2]", 3), ("/x[3]", 1))}
    noise = [("t1", "d1", "/z[1]", 3 * i, 3 * i + 2) for i in range(3)]
    rows = noise + [("t1", "d1", f"/a[1]/b[{i + 1}]", 3 * i, 3 * i + 3) for i in range(3)]
    value = average_graded_precision(match(run_of(rows), prepare(gold_of(said))))
    # precision after 1, 2, 3 of them: a third of 1/7, 2/8, 3/9; recall levels .01–.03, .04–.06, .07–.10
    np.testing.assert_allclose(value, [(3 * 1 / 21 + 3 * 2 / 24 + 4 * 3 / 27) / 100])


OVERLAPPING = [("t1", "d1", "/z[1]", 0, 2), ("t1", "d1", "/a[1]/b[1]", 1, 5), ("t1", "d1", "/a[1]/b[2]", 3, 9)]
GRADED = {("t1", "d1", "/a[1]/b[1]"): (2, 3, 0, 0), ("t1", "d1", "/a[1]/b[2]"): (3, 2, 0, 0)}


@pytest.mark.parametrize("parameters", [(), ("gen",), ("strict",), ("gen", "yes"), ("gen", "no"), ("strict", "no")])
def test_the_value_is_the_mean_of_the_curve_and_what_is_left_out_is_gen_and_yes(parameters):
    m = match(run_of(OVERLAPPING), prepare(gold_of(GRADED)))
    x, y = graded_curve(m, *parameters)
    assert x.dtype == np.float64
    assert x.tolist() == pytest.approx([i / 100 for i in range(1, 101)])
    value = average_graded_precision(m, *parameters)
    np.testing.assert_allclose(value, y.mean(axis=1))
    spelled = (*parameters, *("gen", "yes")[len(parameters) :])
    np.testing.assert_array_equal(value, average_graded_precision(m, *spelled))
    for mine, theirs in zip(recall_precision(m, *parameters), recall_precision(m, *spelled), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_topic_without_a_grade_that_counts_is_in_no_curve():
    m = match(run_of(OVERLAPPING), prepare(gold_of(GRADED | {("t2", "d1", "/a[1]"): (2, 2, 0, 0)})))
    assert np.isnan(graded_curve(m, "strict")[1]).all(axis=1).tolist() == [False, True]
    assert np.isnan(average_graded_precision(m, "strict")).tolist() == [False, True]


def test_the_parameters_make_a_difference_here():
    m = match(run_of(OVERLAPPING), prepare(gold_of(GRADED)))
    values = {average_graded_precision(m, q, o)[0] for q in ("gen", "strict") for o in ("yes", "no")}
    assert len(values) == 4


@given(cases(scales=("grades",)), st.sampled_from(["strict", "gen"]), st.sampled_from(["yes", "no"]), st.data())
def test_average_precision_equals_its_slow_twin(case, quant, overlap, data):
    spans = st.tuples(st.integers(0, 8), st.integers(0, 5)).map(lambda x: (x[0], x[0] + x[1]))
    rows = [(t, d, p, *data.draw(spans)) for t in TOPICS for d, p in case.run.get(t, [])]
    m = match(run_of(rows), prepare(gold_of(case.assessments)))
    percent = data.draw(st.integers(1, 100))
    at_level = average_graded_precision(m, quant, overlap, Fraction(percent, 100))
    values = average_graded_precision(m, quant, overlap)
    for topic, value, one in zip(case.counted, values, at_level, strict=True):
        said = {x: a[:2] for x, a in case.assessments.items() if x[0] == topic and "U" not in a}
        if not any(slow.quantised(e, quant) for e, _ in said.values()):
            assert np.isnan(value)
            continue
        results = [((t, d, p), d, start, end) for t, d, p, start, end in rows if t == topic]
        wanted = slow.average_precision(results, said, quant, overlap)
        assert value == pytest.approx(float(wanted), abs=1e-9)
        assert one == pytest.approx(float(slow.average_precision(results, said, quant, overlap, [percent])), abs=1e-9)


def test_grades_of_other_years_are_refused():
    case = Case("exhaustivity", "gen5", {("t1", "d1", "/a[1]"): (2, -1, 4, 4)}, {})
    with pytest.raises(MissingDataError, match="2003"):
        average_graded_precision(case.matched())
