"""ir_measures and PyTerrier print focuseval's own values."""

import subprocess
import sys

import pytest

import focuseval as fe
from focuseval.bridges import ir_measures as bridge
from focuseval.bridges.ir_measures import as_gold, as_run
from focuseval.errors import FormatError, MissingDataError
from focuseval.example import ROOT

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages and their imports
QRELS = {"q1": {"d1#0-100": 1, "d2#10-20": 1, "d3": 0}, "q2": {"d1#5-9": 1}}
RUN = {"q1": {"d1#0-50": 3.0, "d2#0-20": 2.0, "d3#0-9": 1.0}}


@pytest.fixture
def ir_measures():
    found = pytest.importorskip(
        "ir_measures", reason="ir_measures is not installed: see the dependency group 'bridges'"
    )
    bridge.register()
    return found


def test_ids_carry_spans_and_rows_without_relevance_none():
    gold = as_gold(QRELS)
    assert (gold.topics, gold.passages.start.tolist(), gold.passages.end.tolist()) == (
        ("q1", "q2"),
        [0, 10, 5],
        [100, 20, 9],
    )
    assert sorted(gold.documents.to_pylist()) == ["d1", "d2", "d3"]
    assert as_run(RUN).end.tolist() == [50, 20, 9]


def test_columns_carry_spans_as_well():
    columns = ("query_id", "doc_id", "score", "start", "end")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: see the dependency group 'bridges'")
    frame = pandas.DataFrame([("q1", "d1", 3.0, 0, 50), ("q1", "d2", 2.0, 0, 20)], columns=list(columns))
    assert as_run(frame).end.tolist() == [50, 20]


def test_a_relevant_document_without_a_span_is_refused_with_its_row():
    with pytest.raises(FormatError, match=r"<qrels>:1: expected a span for the relevant document d1, found none"):
        as_gold({"q1": {"d1": 1}})


def test_a_rows_path_judges_an_element_and_is_left_out():
    bridge_rows = pytest.importorskip("focuseval.bridges.ir_datasets")
    rows = [bridge_rows.InexQrel("q1", "d1", 1, 0, 9), bridge_rows.InexQrel("q1", "d1", 2, path="/article[1]")]
    assert as_gold(rows).passages.end.tolist() == [9]


def test_values_are_those_of_evaluate(ir_measures):
    names = ["spanR@5", "IoU@2", "MAgP(beta=0.5)", "hit@1", "spanNDCG@3", "MAiP"]
    measures = [ir_measures.parse_measure(name) for name in names]
    ours = next(iter(fe.evaluate(as_gold(QRELS), as_run(RUN), names).means().values()))
    found = ir_measures.calc_aggregate(measures, QRELS, RUN)
    assert {str(measure): value for measure, value in found.items()} == pytest.approx(ours)


def test_topics_that_the_run_leaves_out_score_zero(ir_measures):
    (measure,) = [ir_measures.parse_measure("spanR@5")]
    found = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], QRELS, RUN)}
    assert found == pytest.approx({"q1": 60 / 110, "q2": 0.0})


def test_our_measures_stand_beside_theirs_in_one_call(ir_measures):
    measures = [ir_measures.parse_measure(name) for name in ("spanR@5", "P@1")]
    found = ir_measures.calc_aggregate(measures, {"q1": {"d1#0-9": 1}}, {"q1": {"d1#0-9": 1.0}})
    assert {str(measure): value for measure, value in found.items()} == {"spanR@5": 1.0, "P@1": 1.0}


def test_a_gold_and_a_run_are_taken_as_they_are(ir_measures):
    gold = fe.read_gold(ROOT / "gold" / "gold.jsonl")
    run = fe.read_run(min((ROOT / "runs" / "spans").iterdir()))
    measure = ir_measures.parse_measure("spanR@'500c'")
    found = bridge.register().calc_aggregate([measure], gold, run)
    assert list(found.values()) == pytest.approx(list(fe.evaluate(gold, run, ["spanR@500c"]).mean[0]))


def test_every_measure_but_theirs_is_offered_under_a_name_that_they_can_parse(ir_measures):
    for measure in bridge.offered():
        at = f"@{'5' if 'rank' in measure.at else '0.1'}" if measure.at_required else ""
        parsed = ir_measures.parse_measure(measure.name.replace("-", "_") + at)
        parsed.validate_params()
        assert fe.parse(bridge.our_name(parsed)).measure is measure


def test_registering_twice_replaces_the_options(ir_measures):
    bridge.register(missing="skip")
    measure = ir_measures.parse_measure("spanR@5")
    assert ir_measures.calc_aggregate([measure], QRELS, RUN)[measure] == pytest.approx(60 / 110)
    bridge.register()
    assert ir_measures.calc_aggregate([measure], QRELS, RUN)[measure] == pytest.approx(30 / 110)


def test_their_command_prints_our_measures(ir_measures, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 d1#0-100 1\nq1 0 d2#10-20 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1#0-50 1 3 t\nq1 Q0 d2#0-20 2 2 t\n")
    command = [sys.executable, "-m", "focuseval.bridges.ir_measures", "qrels", "run", "spanR@5 IoU@5"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "spanR@5\t0.5455\nIoU@5\t0.5000\n"


def test_pyterrier_compares_by_our_measures(ir_measures):
    pyterrier = pytest.importorskip(
        "pyterrier", reason="python-terrier is not installed: see the dependency group 'bridges'"
    )
    pandas = pytest.importorskip("pandas")
    topics = pandas.DataFrame([("q1", "x"), ("q2", "y")], columns=["qid", "query"])
    qrels = pandas.DataFrame(
        [("q1", "d1", 1, 0, 100), ("q2", "d1", 1, 5, 9)], columns=["qid", "docno", "label", "start", "end"]
    )
    run = pandas.DataFrame([("q1", "d1", 3.0, 0, 0, 50)], columns=["qid", "docno", "score", "rank", "start", "end"])
    found = pyterrier.Experiment([run], topics, qrels, [ir_measures.parse_measure("spanR@5")], names=["mine"])
    assert found["spanR@5"].tolist() == [0.25]


def test_without_ir_measures_a_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingDataError, match="pip install ir_measures"):
        bridge.register()
