"""MEASURES.md §14.7: what the official 2008–10 tool (inex_eval 3.1) prints, to the last digit."""

import pytest

import focuseval as fe
from building import gold_of, run_of
from focuseval.evaluation.inex_eval import Options, report
from focuseval.measures.prepared import prepare

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


def test_an_entry_point_in_an_article_that_is_not_relevant_earns_nothing(tmp_path):
    # "Both measures give a score of 0 for a ranked article that is not relevant" (INEX 2006 evaluation measures, 7.2);
    # the official tool prints gP[1] = 0.0 for the article 10
    (tmp_path / "qrels").write_text("1 Q0 10 0 1000 0\n1 Q0 11 20 1000 5 5:20\n")
    (tmp_path / "run").write_text("1 Q0 10 1 2 r 0 10\n1 Q0 11 2 1 r 5 10\n")
    gold, run = fe.read_gold(tmp_path / "qrels"), fe.read_run(tmp_path / "run")
    values = {"gP(score=bep, n=500)@1": 0, "gP(score=bep, n=500)@2": 0.5, "MAgP(score=bep, n=500)": 0.5}
    values |= {"BEPD(A=0.1)": 1, "EPRUM(A=0.1)": 0.5, "EPRUM-P(A=0.1)@2": 0.5, "PRUM(nav=distance)": 0.5}
    assert fe.evaluate(gold, run, list(values)).means()["r"] == pytest.approx(values)
    printed = report(run, prepare(gold), Options("b"))
    assert "gP[1]\t\tall\t0.0\n" in printed
    assert "gP[2]\t\tall\t0.5\n" in printed
