"""Results as elements of a recall base."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from building import run_of
from focuseval.errors import MissingDataError
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from oracle import recall_base as slow_base
from oracle import xcg as slow
from strategies.element_runs import Case, cases, columns_of_run, gold_of


@given(cases())
def test_every_result_gains_once(case):
    m = case.matched()
    found = m.elements(case.quant, "full")
    base = slow_base.full(case.assessments, case.quant, case.scale)
    gain = np.zeros(len(m))
    gain[found.hits] = found.hit_gain * found.base.unit
    norm = np.zeros(len(m))
    norm[found.hits] = np.diff(found.normalised) * found.base.unit
    for t, topic in enumerate(case.counted):
        here = slow_base.topic_of(base, topic)
        results = [(topic, d, p) for d, p in case.run.get(topic, [])]
        block = slice(m.bounds[t], m.bounds[t + 1])
        np.testing.assert_allclose(gain[block], [float(g) for g in slow.gains(results, here)], atol=1e-12)
        wanted = slow.normalised(results, here, slow_base.ideal(here))
        np.testing.assert_allclose(norm[block], [float(g) for g in wanted], atol=1e-12)


@given(cases())
def test_adding_a_topic_changes_no_other_topic(case):
    first = case.counted[0] if case.counted else None
    alone = Case(case.scale, case.quant, {x: a for x, a in case.assessments.items() if x[0] == first}, case.run)
    if first is None or alone.counted != (first,):
        return
    together, single = (c.matched().elements(c.quant, "full") for c in (case, alone))
    np.testing.assert_array_equal(together.row[: together.bounds[1]] >= 0, single.row >= 0)


GOLD = gold_of({("t1", "d1", "/a[1]"): (2, -1, 9, 3), ("t1", "d1", "/a[1]/b[1]"): (2, -1, 3, 3)}, "highlights")


def hits(run):
    return match(run, prepare(GOLD)).elements("auto", "auto").hits.tolist()


def test_whole_documents_are_their_root_elements():
    run = columns_of_run({"t1": [("d2", "/a[1]"), ("d1", "/a[1]")]})
    assert hits(replace(run, path=None)) == [1]


def test_a_range_of_elements_is_no_element_unless_it_ends_where_it_begins():
    run = columns_of_run({"t1": [("d1", "/a[1]"), ("d1", "/a[1]/b[1]")]})
    assert hits(replace(run, end_path=pa.array(["/a[1]/b[1]", "/a[1]/b[1]"]))) == [1]
    assert hits(replace(run, end_path=pa.array([None, "/a[1]/b[1]"]))) == [0, 1]


def test_a_step_without_its_number_is_the_first():
    assert hits(columns_of_run({"t1": [("d1", "/a/b"), ("d1", "/a/b[2]")]})) == [0]


def test_passages_are_refused_by_measures_of_elements():
    run = columns_of_run({"t1": [("d1", "/a[1]")]})
    run = replace(run, path=None, start=np.array([0]), end=np.array([3]))
    with pytest.raises(MissingDataError, match="results are passages"):
        hits(run)


def test_one_base_serves_all_runs():
    prepared = prepare(GOLD)
    run = columns_of_run({"t1": [("d1", "/a[1]")]})
    one, two = (match(run, prepared).elements("auto", "auto") for _ in range(2))
    assert one.base is two.base


def test_repeated_relevant_results_are_counted_and_said(tmp_path):
    from focuseval.evaluation.evaluation import evaluate  # noqa: PLC0415  beside its use
    from focuseval.studies import requirements  # noqa: PLC0415  as above

    run = requirements.run_of(requirements.SECTION, requirements.SECTION, requirements.QUARTER)
    scores = evaluate(
        requirements.cases_gold(grades=False), [run], ["MAep"], task="thorough", index=requirements.cases_index()
    )
    assert "case: 1 relevant result is repeated; it gains nothing the second time" in scores.remarks()


def test_a_whole_document_is_its_root_element():
    said = (2, -1, 4, 4)
    assessments = {("t1", "d1", "/a[1]"): said, ("t1", "d1", "/a[1]/b[1]"): said, ("t1", "d2", "/z[1]"): said}
    assessments["t3", "d2", "/z[1]"] = said
    m = match(run_of({"t1": ["d2", "unjudged", "d1"], "t3": ["d2"]}), prepare(gold_of(assessments, "highlights")))
    a, z = m.prepared.assessed.tree.find(pa.array(["/a[1]", "/z[1]"])).tolist()
    assert m.path_codes.tolist() == [z, -1, a, z]
