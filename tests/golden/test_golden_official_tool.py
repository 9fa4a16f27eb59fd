"""MEASURES.md §14.7: what the official 2008–10 tool (inex_eval 3.1) prints, to the last digit."""

import pytest

import focuseval as fe
from building import gold_of, run_of

GOLD = {
    "1": {
        "d1": {"length": 400, "bep": 50, "spans": [(50, 110), (200, 240)]},
        "d2": {"length": 100, "bep": 0, "spans": [(0, 50)]},
        "d3": {"length": 300},
    },
    "2": {"d9": {"length": 20, "bep": 5, "spans": [(5, 15)]}},
}
FOCUSED = [("d1", 40, 120), ("d3", 0, 50), ("d2", 0, 100), ("d1", 200, 240)]
IN_CONTEXT = [("d1", 200, 240), ("d1", 40, 120), ("d3", 0, 50), ("d2", 0, 100)]
ENTRY_POINTS = [("d1", 40), ("d3", 0), ("d2", 260)]


@pytest.mark.parametrize(
    ("results", "measure", "value"),
    [
        (FOCUSED, "charP", 0.5555555555555556),
        (FOCUSED, "charR", 1.0),
        (FOCUSED, "iP@0.01", 0.75),
        (FOCUSED, "AiP", 0.6344884488448854),
        (IN_CONTEXT, "gP(beta=0.25)@1", 0.8415841584158417),
        (IN_CONTEXT, "AgP(beta=0.25)", 0.6469146914691469),
        (IN_CONTEXT, "gP(score=t2i, irr=300)@1", 0.25),
        (IN_CONTEXT, "AgP(score=t2i, irr=300)", 0.25),
        (ENTRY_POINTS, "gP(score=bep, n=500)@1", 0.98),
        (ENTRY_POINTS, "AgP(score=bep, n=500)", 0.7333333333333333),
    ],
)
def test_a_value_equals_the_official_tools(results, measure, value):
    scores = fe.evaluate(gold_of(GOLD), run_of({"1": results}), [measure], missing="skip")
    assert scores.means()["run"][measure] == value
