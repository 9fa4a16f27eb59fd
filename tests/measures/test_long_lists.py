"""Long lists: what stands past the cut-off does not count, and the rest scores as its slow twin."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.evaluation.evaluation import evaluate
from focuseval.measures import parse
from oracle import highlighted as slow
from oracle import i2 as slow_i2
from oracle import prum as slow_prum
from oracle import recall_base as slow_base
from oracle import xcg as slow_xcg
from strategies.element_runs import Case, cases
from strategies.highlighted import collections

LIMIT = 1500
ELEMENTS = {
    "MAep": slow_xcg.maep,
    "iMAep": slow_xcg.imaep,
    "nxCG@1505": lambda r, b: slow_xcg.nxcg(1505, r, b, slow_base.ideal(b)),
    "PRUM": lambda r, b: slow_prum.prum(r, slow_base.ideal(b)),
    "ERRel@1505": lambda r, b: slow_prum.errel(r, slow_base.ideal(b), 1505),
    "i2AP": lambda r, b: slow_i2.average_precision([[g] for g in slow_xcg.gains(r, b)], sum(b.values())),
}
TEXT = {
    "MAgP": slow.MAgP,
    "MAgP(gain=length)": lambda j, r: slow.MAgP(j, r, gain="length"),
    "gP@1505": lambda j, r: slow.gP(j, r, 1505),
    "T2I": slow.T2I,
    "iP@0.01": lambda j, r: slow.iP(j, r, "0.01"),
    "charP": slow.charP,
    "charR": slow.charR,
    "artP": slow.artP,
    "hR@1505": lambda j, r: slow.hR(j, r, 1505),
    "spanRR": slow.spanRR,
}


def check_elements(case, before, limit, names=ELEMENTS):
    """Put misses before the results, so that some of these come too late."""
    quant = "strict5" if case.quant in {"gen5", "genLifted"} else case.quant
    misses = [(f"u{number}", "/z[1]") for number in range(before)]
    case = replace(case, quant=quant, run={topic: misses + results for topic, results in case.run.items()})
    m = case.matched(cutoff=limit)
    base = slow_base.full(case.assessments, quant, case.scale)
    for name in names:
        asked, twin = parse(name), ELEMENTS[name]
        values = asked.measure.compute(m, **asked.arguments(m.policies) | {"quant": quant})
        for topic, value in zip(case.counted, values.tolist(), strict=True):
            here = slow_base.topic_of(base, topic)
            results = [(topic, d, p) for d, p in case.run.get(topic, [])[:limit]]
            wanted = float(twin(results, here)) if here else np.nan
            assert value == pytest.approx(wanted, abs=1e-12, nan_ok=True), name


def check_passages(case, before, limit, names=TEXT):
    """Do the same with passages."""
    gold, run = case
    counted = {topic: judged for topic, judged in gold.items() if slow.relevant_documents(judged)}
    shown = {d for t, results in run.items() if t in counted for d, _, _ in results[: max(limit - before, 0)]}
    if not counted or not shown & {d for judged in gold.values() for d in judged}:
        return
    misses = [(f"v{number}", 0, 3) for number in range(before)]
    run = {topic: misses + results for topic, results in run.items()}
    scores = evaluate(gold_of(gold), run_of(run), list(names), cutoff=limit)
    for column, name in enumerate(names):
        for topic, value in zip(scores.topics, scores.values[0, :, column].tolist(), strict=True):
            wanted = TEXT[name](counted[topic], run.get(topic, [])[:limit])
            assert value == pytest.approx(float(wanted), abs=1e-12), (name, topic)


@pytest.mark.parametrize("before", [LIMIT - 2, LIMIT - 1, LIMIT])
def test_elements_past_the_1500th_do_not_count(before):
    said = {("t1", "d1", f"/a[1]/b[{i}]"): (2, -1, 6, i) for i in (1, 2, 3)}
    case = Case("highlights", "spec", said, {"t1": [("d1", f"/a[1]/b[{i}]") for i in (2, 3, 1)]})
    check_elements(case, before, LIMIT, ["MAep", "nxCG@1505", "ERRel@1505"])


@pytest.mark.parametrize("before", [LIMIT - 2, LIMIT - 1])
def test_passages_past_the_1500th_do_not_count(before):
    judged = {"d1": {"length": 30, "spans": [(2, 9)], "bep": 2}, "d2": {"length": 20, "spans": [(5, 6)], "bep": -1}}
    case = {"t": judged}, {"t": [("d1", 0, 5), ("d1", 3, 20), ("d2", 0, 9)]}
    check_passages(case, before, LIMIT, ["charP", "charR", "artP", "iP@0.01", "spanRR", "hR@1505"])


@settings(max_examples=40)
@given(cases(), st.integers(0, 3), st.integers(1, 9))
def test_elements_past_any_cut_off_do_not_count(case, before, limit):
    check_elements(case, before, limit)


@settings(max_examples=40)
@given(collections(), st.integers(0, 3), st.integers(1, 9))
def test_passages_past_any_cut_off_do_not_count(case, before, limit):
    check_passages(case, before, limit)
