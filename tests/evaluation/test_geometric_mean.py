"""GMAP: a measure whose mean over topics is geometric is averaged so wherever it is shown, or refused."""

import json
from math import exp, log

import pytest
from click.testing import CliRunner

import focuseval as fe
from building import gold_of, run_of
from focuseval.cli import main
from focuseval.errors import MeasureError
from focuseval.evaluation.gate import judge, read_baseline
from focuseval.evaluation.scores import order_of
from focuseval.report.build import gather_evidence

GOLD = gold_of(
    {f"q{n}": {"a": {"grade": 1}, "b": {"grade": 0}} for n in range(8)},
    scale="trec",
    attributes={"q0": {"tags": "x"}, "q1": {"tags": "x"}},
)
EVEN = run_of({f"q{n}": ["b", "a"] for n in range(8)}, run_id="even")
UNEVEN = run_of({f"q{n}": ["a"] if n < 7 else ["b"] for n in range(8)}, run_id="uneven")


def test_the_mean_is_the_root_of_the_product_and_zero_counts_as_a_hundred_thousandth():
    scores = fe.evaluate(GOLD, [EVEN, UNEVEN], ["GMAP", "AP"])
    assert scores.means()["even"] == pytest.approx({"GMAP": 0.5, "AP": 0.5})
    assert scores.means()["uneven"] == pytest.approx({"GMAP": 1e-5 ** (1 / 8), "AP": 7 / 8})
    assert scores.per_topic()["uneven"]["q7"] == {"GMAP": 0, "AP": 0}
    assert scores.by_tag()["x"].means()["uneven"] == {"GMAP": 1, "AP": 1}
    assert scores.to_json()["runs"][1]["measures"]["GMAP"] == pytest.approx(1e-5 ** (1 / 8))
    assert f"{1e-5 ** (1 / 8):.4f}" in str(scores)


def test_the_worked_example_of_its_page():
    gold = gold_of({"q1": {name: {"grade": 1} for name in "abcde"}, "q2": {"a": {"grade": 1}}}, scale="trec")
    run = run_of({"q1": ["a", "b"], "q2": [*(f"u{n}" for n in range(9)), "a"]})
    assert fe.evaluate(gold, run, ["AP", "GMAP"]).means()["run"] == pytest.approx({"AP": 0.25, "GMAP": 0.2})


def test_unanswered_topics_count_as_the_least_value_or_are_left_out():
    run = run_of({"q0": ["b", "a"]})
    assert fe.evaluate(GOLD, run, ["GMAP"]).means()["run"]["GMAP"] == pytest.approx(exp((log(0.5) + 7 * log(1e-5)) / 8))
    assert fe.evaluate(GOLD, run, ["GMAP"], missing="skip").means()["run"]["GMAP"] == pytest.approx(0.5)


def test_runs_are_ordered_and_compared_by_the_logarithm_whose_mean_is_that_of_gmap():
    scores = fe.evaluate(GOLD, [UNEVEN, EVEN], ["GMAP", "AP"])
    assert order_of(scores).tolist() == [1, 0]  # by AP the other one is better
    compared = scores.compare("GMAP")
    assert compared.measure == "ln GMAP"
    assert compared.runs == ("even", "uneven")
    assert [exp(mean) for mean in compared.means] == pytest.approx([0.5, 1e-5 ** (1 / 8)])
    assert exp(compared.difference[0]) == pytest.approx(0.5 / 1e-5 ** (1 / 8))
    assert (compared.won[0], compared.lost[0]) == (1, 7)
    assert scores.compare("AP").measure == "AP"


def test_a_gate_a_report_and_others_that_add_up_topics_refuse_it(tmp_path):
    told = r"^GMAP is a geometric mean over topics, which a (report|gate) does not know; score or compare it$"
    scores = fe.evaluate(GOLD, EVEN, ["AP", "GMAP"])
    with pytest.raises(MeasureError, match=told):
        gather_evidence(GOLD, [EVEN, UNEVEN], ["AP", "GMAP"])
    (tmp_path / "base.json").write_text(json.dumps(scores.to_json(per_topic=True)))
    with pytest.raises(MeasureError, match=told):
        judge(read_baseline(tmp_path / "base.json"), scores)


def test_the_commands_print_it(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n1 0 b 0\n2 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 r\n2 Q0 b 1 2 r\n2 Q0 u 2 1.5 r\n2 Q0 w 3 1.2 r\n2 Q0 a 4 1 r\n")
    files = [str(tmp_path / name) for name in ("qrels", "run")]
    printed = json.loads(CliRunner().invoke(main, ["score", *files, "-m", "gm_map", "--json"]).stdout)
    assert printed["runs"][0]["measures"] == {"gm_map": 0.5}
    printed = CliRunner().invoke(main, ["compare", *files, files[1], "-m", "GMAP"]).output
    assert "ln GMAP" in printed
    assert f"{log(0.5):.4f}" in printed
    assert "Mean        geometric over topics; a value below 1e-05 counts as 1e-05 in it" in (
        CliRunner().invoke(main, ["measures", "GMAP"]).output
    )


def test_a_sweep_says_which_mean_its_sentence_gives():
    texts = {"tea": "Boil the water. Black tea draws for four minutes. Pour the water away."}
    gold = [{"topic": "q", "query": "How long does black tea draw?", "doc": "tea", "start": 16, "end": 49}]
    swept = fe.sweep(gold, texts, ["sentences:1", "characters:30"], measures=["GMAP"])
    assert swept.scores.mean[:, 0].tolist() == [1, 1]
    assert "The highest mean ln GMAP is 0.0000 over 1 topic." in swept.sentence()
