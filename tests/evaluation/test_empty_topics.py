"""Topics without anything relevant: left out, or with 0 in every mean, as trec_eval counts them."""

import json

import pytest
from click.testing import CliRunner

import focuseval as fe
from building import gold_of, run_of
from focuseval.cli import main
from focuseval.errors import MeasureError
from focuseval.evaluation.score_file import decisions

QRELS = "1 0 a 1\n2 0 a 0\n3 0 b 0\n"
RUN = "1 Q0 a 1 2 r\n2 Q0 a 1 2 r\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return [str(tmp_path / "qrels"), str(tmp_path / "run")]


def scored(*arguments):
    found = CliRunner().invoke(main, ["score", *arguments, "-m", "AP", "--json", "--per-topic"])
    assert found.exit_code == 0, found.output
    printed = json.loads(found.stdout)
    return printed["runs"][0], printed["signature"], found.stderr


def test_by_default_they_are_in_no_mean_and_a_remark_says_what_trec_eval_does(files):
    run, signature, said = scored(*files)
    assert (run["measures"], run["topics"], run["excluded"]) == ({"AP": 1}, 1, 2)
    assert "empty" not in signature
    assert said == (
        f"{files[0]}: topics without relevant documents are in no mean (2); trec_eval counts each that a run answers, "
        "and with -c every one, as 0: give --empty-topics zero\n"
    )
    assert 'give empty_topics="zero"' in fe.evaluate(*files, ["AP"]).remarks()[0]


def test_with_zero_they_score_0_in_the_mean_and_the_signature_says_so(files):
    run, signature, said = scored(*files, "--empty-topics", "zero")
    assert run["measures"]["AP"] == pytest.approx(1 / 3)  # trec_eval -c
    assert (run["topics"], run["missing"], run["excluded"]) == (3, 1, 0)
    assert run["per_topic"] == {"1": {"AP": 1}, "2": {"AP": 0}, "3": {"AP": 0}}
    assert "|missing:zero|empty:zero|short:pad|" in signature
    assert said == f"{files[0]}: topics without anything relevant score 0 (2)\n"
    run, *_ = scored(*files, "--empty-topics", "zero", "--missing", "skip")
    assert (run["measures"]["AP"], run["topics"]) == (0.5, 2)  # trec_eval without -c


def test_a_gate_holds_signatures_without_the_policy_for_skip(files, tmp_path):
    scores = fe.evaluate(*files, ["AP"])
    assert decisions(scores.signature) == decisions(scores.signature + "|empty:skip")
    base = str(tmp_path / "base.json")
    CliRunner().invoke(main, ["score", *files, "-m", "AP", "--per-topic", "--json", "-o", base])
    gate = ["gate", "--baseline", base, *files, "-m", "AP"]
    told = CliRunner().invoke(main, [*gate, "--empty-topics", "zero"])
    assert told.exit_code == 2
    assert "other policies (empty) than now (was skip, is zero)" in told.output


def test_a_gold_of_spans_is_not_remarked_on_unless_such_topics_count():
    gold = gold_of({"q1": {"a": {"spans": [(0, 4)]}}, "q2": {"a": {"spans": []}}})
    run = run_of({"q1": [("a", 0, 4)], "q2": [("a", 0, 4)]})
    assert fe.evaluate(gold, run, ["spanR"]).remarks() == []
    scores = fe.evaluate(gold, run, ["spanR", "full", "spanP"], empty_topics="zero")
    assert scores.per_topic()["run"]["q2"] == {"spanR": 0, "full": 0, "spanP": 0}
    assert scores.remarks() == ["the gold: topics without anything relevant score 0 (1)"]
    curve = scores.curve("spanR").to_pydict()
    assert [y for y, topic in zip(curve["y"], curve["topic"], strict=True) if topic == "mean"] == [0.5] * 100


def test_a_topic_without_a_base_for_one_measure_scores_0_too():
    gold = gold_of({"q1": {"a": {"grade": 2}}, "q2": {"a": {"grade": 1}}}, scale="trec")
    run = run_of({"q1": ["a"], "q2": ["a"]})
    assert fe.evaluate(gold, run, ["AP(rel=2)"], empty_topics="zero").means()["run"] == {"AP(rel=2)": 0.5}


def test_another_word_is_refused():
    with pytest.raises(MeasureError, match=r"^policy empty_topics='one' does not exist; use one of skip, zero$"):
        fe.evaluate(gold_of({"q": {"a": {"grade": 1}}}), run_of({"q": ["a"]}), ["AP"], empty_topics="one")
