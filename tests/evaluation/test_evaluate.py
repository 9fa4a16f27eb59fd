"""The library's front door: what may be given, and what comes back."""

import importlib

import numpy as np
import pyarrow as pa
import pytest

import focuseval as fe
from building import gold_of, run_of
from focuseval.errors import FormatError, MeasureError
from focuseval.evaluation.plan import Plan
from focuseval.example import ROOT
from focuseval.measures import Measure, parse
from focuseval.measures.profiles import Policies
from strategies.elements_of_articles import RUNS, element_gold, element_run

GOLD = gold_of(
    {
        "q1": {"a": {"length": 100, "spans": [(0, 50)]}},
        "q2": {"b": {"length": 90, "spans": [(10, 20)]}},
        "q3": {"a": {}},
    }
)
ROWS = [
    {"topic": "q1", "doc": "a", "rank": 1, "start": 0, "end": 100},
    {"topic": "q2", "doc": "b", "rank": 1, "start": 0, "end": 20},
]


@pytest.mark.parametrize("frame", [ROWS, pa.Table.from_pylist(ROWS)], ids=["list of dictionaries", "Arrow table"])
def test_a_frame_is_a_run(frame):
    assert fe.evaluate(GOLD, frame, ["spanP"]).means() == {"run": {"spanP": 0.5}}


def test_the_function_works_before_and_after_its_module_is_imported():
    module = importlib.import_module("focuseval.evaluation.evaluation")
    for evaluate in (fe.evaluate, module.evaluate):
        assert evaluate(GOLD, run_of({}), ["hAP"]).means() == {"run": {"hAP": 0.0}}


def test_a_measure_of_ones_own_is_a_declared_value():
    def longest(m):
        """Return the size of the longest result."""
        return np.array([m.size[m.bounds[t] : m.bounds[t + 1]].max(initial=0) for t in range(m.topics)], float)

    mine = Measure("longest", longest, "Longest result.", "me", bounds=(0, float("inf")))
    assert fe.evaluate(GOLD, ROWS, [mine]).means() == {"run": {"longest": 60.0}}


def test_scores_turn_into_a_long_table_with_every_value_that_is_in_a_mean():
    table = fe.evaluate(GOLD, ROWS, ["spanP", "spanR"]).to_arrow()
    assert table.column_names == ["run", "topic", "measure", "value"]
    assert table.num_rows == 4
    assert set(table["topic"].to_pylist()) == {"q1", "q2"}


def test_scores_show_themselves_in_a_notebook_with_names_escaped():
    shown = fe.evaluate(GOLD, run_of({"q1": [("a", 0, 5)]}, run_id="<b>"), ["spanP"])._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<script" not in shown


def test_a_curve_has_a_line_for_every_topic_and_their_mean():
    curve = fe.evaluate(GOLD, ROWS, ["MAiP"]).curve("iP").to_pylist()
    mean = [row["y"] for row in curve if row["topic"] == "mean"]
    assert len(mean) == 101
    assert np.mean(mean) == pytest.approx(fe.evaluate(GOLD, ROWS, ["MAiP"]).means()["run"]["MAiP"])


def test_a_measure_without_a_curve_is_refused_by_name():
    with pytest.raises(MeasureError, match="summarises no curve"):
        fe.evaluate(GOLD, ROWS, ["hAP"]).curve("hAP")


def test_a_measure_of_ones_own_may_have_a_curve():
    mine = Measure("mine", lambda m: np.ones(m.topics), "One.", "me", curve=lambda m: ([0, 1], np.ones((m.topics, 2))))
    bare = Measure("bare", lambda m: np.ones(m.topics), "One.", "me")
    scores = fe.evaluate(GOLD, ROWS, [mine, bare])
    assert scores.curve("mine")["y"].to_pylist() == scores.curve(mine)["y"].to_pylist() == [1.0] * 6
    with pytest.raises(MeasureError, match="bare summarises no curve"):
        scores.curve("bare")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda m: np.zeros(7), "found a function"),
        (Measure("wide", lambda m: np.zeros((m.topics, 2)), "", "me"), r"wide: expected a number for each of 2 topics"),
        (
            Measure("one", lambda _: 0.5, "", "me"),
            r"one: expected a number for each of 2 topics, found a shape of \(\)",
        ),
    ],
)
def test_what_is_no_measure_is_refused_by_name(wrong, said):
    with pytest.raises(MeasureError, match=said):
        fe.evaluate(GOLD, ROWS, [wrong])


@pytest.mark.parametrize("policy", [{"beta": float("inf")}, {"beta": float("nan")}, {"cutoff": 10**30}, {"cutoff": 0}])
def test_a_number_that_is_out_of_range_is_refused(policy):
    with pytest.raises(MeasureError, match=r"use [01] "):
        fe.evaluate(GOLD, ROWS, ["spanP"], **policy)


def test_a_recall_level_is_exact_whatever_its_digits():
    gold = gold_of({"q": {"a": {"length": 9000, "spans": [(0, 3000)]}, "b": {"length": 9000, "spans": [(0, 6000)]}}})
    run = run_of({"q": [("a", 0, 3000)]})
    found = fe.evaluate(gold, run, ["iP@0.333333333", "iP@0.333333334"]).means()["run"]
    assert found == {"iP@0.333333333": 1.0, "iP@0.333333334": 0.0}


def test_two_runs_of_one_name_are_told_apart_by_their_files():
    runs = [run_of({"q1": [("a", 0, 5)]}, file=file) for file in ("x", "y")]
    assert list(fe.evaluate(GOLD, runs, ["spanP"]).means()) == ["run (x)", "run (y)"]
    assert list(fe.evaluate(GOLD, [*runs, runs[1]], ["spanP"]).means()) == ["run (x)", "run (y)", "run (y #2)"]


def test_a_policy_that_does_not_exist_is_refused():
    with pytest.raises(MeasureError, match="'patience' does not exist"):
        fe.evaluate(GOLD, ROWS, ["spanP"], patience=3)
    with pytest.raises(MeasureError, match="missing='sometimes'"):
        fe.evaluate(GOLD, ROWS, ["spanP"], missing="sometimes")


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        (["MAep"], "|quant:gen"),
        (["MAep(quant=sog)"], ""),
        (["MAep(quant=sog)", "PRUM"], "|quant:gen"),
        (["i2AP(quant=strict)"], ""),
    ],
)
def test_the_signature_names_the_year_s_quantisation_where_a_measure_has_none_of_its_own(measures, said):
    signature = Plan(tuple(map(parse, measures)), Policies(), None, None).signature("grades")
    assert signature.partition("compat:none")[2] == said


def test_every_policy_stands_in_the_signature():
    signature = fe.evaluate(GOLD, ROWS, ["spanP"], cutoff=7, missing="skip").signature
    for policy in (
        "overlap:",
        "missing:skip",
        "short:",
        "cutoff:7",
    ):
        assert policy in signature


def test_strict_structure_keeps_only_targets_in_run_and_recall_base():
    class Query:
        def matches(self, paths, reading):
            assert reading == "strict"
            return np.array([path.endswith("/s[2]") for path in paths.to_pylist()], bool)

    class Topic:
        def __init__(self, name):
            self.id, self.query = name, Query() if name == "t1" else None

    def value(**options):
        scores = fe.evaluate(element_gold("highlights"), element_run(RUNS["everything"]), ["xCI@9"], **options)
        return scores.per_topic()["run"]["t1"]["xCI@9"]

    assert value(cas="strict", topics=map(Topic, element_gold("highlights").topics)) == 1.0
    assert value() > 1.0


def test_an_empty_result_costs_no_word(tmp_path):
    (tmp_path / "a.txt").write_text("abcdef ghi")
    rows = [
        {"topic": "q", "doc": "a", "rank": 1, "start": 3, "end": 3},
        {"topic": "q", "doc": "a", "rank": 2, "start": 0, "end": 6},
    ]
    gold = gold_of({"q": {"a": {"length": 10, "spans": [(0, 6)]}}})
    found = fe.evaluate(gold, rows, ["spanR@1w", "spanR@6c"], docs=tmp_path).means()["run"]
    assert found == {"spanR@1w": 1.0, "spanR@6c": 1.0}


def test_words_are_counted_in_the_documents_text(tmp_path):
    """q1 may read four words of 'one two three four five six': the first result's three, one of the second's."""
    (tmp_path / "a.txt").write_text("one two three four five six")
    gold = gold_of({"q1": {"a": {"length": 27, "spans": [(8, 18)]}}})
    run = run_of({"q1": [("a", 0, 13), ("a", 14, 27)]})
    scores = fe.evaluate(gold, run, ["spanR@4w", "spanR@3w", "spanR@2w"], docs=fe.open_documents(tmp_path))
    assert scores.means()["run"] == pytest.approx({"spanR@4w": 0.9, "spanR@3w": 0.5, "spanR@2w": 0.0})


def test_a_run_that_was_read_with_its_faults_is_not_scored(tmp_path):
    (tmp_path / "run.txt").write_text("1 Q0 d1 1 nan run\n")
    run = fe.read_run(tmp_path / "run.txt", faults="keep")
    gold = gold_of({"1": {"d1": {"grade": 1}}}, scale="trec")
    with pytest.raises(FormatError, match=r"run\.txt:1: expected a finite number as score, found 'nan'"):
        fe.evaluate(gold, run, ["AP"])


def test_strict_structure_restricts_the_elements_of_highlights_too():
    # the same judgements as highlights and as assessed elements: the base of both holds only what the topics ask for
    run, options = ROOT / "runs" / "focused" / "careful.xml", {"docs": ROOT / "articles", "topics": ROOT / "topics.xml"}
    both = [ROOT / "gold" / "gold.jsonl", ROOT / "gold" / "assessments"]
    strict, every = (
        [fe.evaluate(gold, run, ["xCI@50"], cas=cas, **options).mean[0, 0] for gold in both] for cas in ("strict", None)
    )
    assert strict[0] == strict[1] < every[0] == every[1]


@pytest.mark.parametrize(
    ("measures", "read"),
    [
        (["hit@2"], 2),
        (["hit@1", "spanR@3"], 3),
        (["spanR@30c"], 3),  # 10 + 10 + 10 characters: the third result is the last that is paid for
        (["spanR@31c"], 4),
        (["P@1"], 2),  # the first document is returned twice
        (["hit@1", "P@2"], 3),
        (["hit@1", "spanR@25c"], 3),
        (["spanR"], 5),
        (["MAgP", "hit@1"], 5),
    ],
)
def test_unjudged_results_are_counted_as_far_down_as_some_measure_reads(measures, read):
    gold = gold_of({"q": {"a": {"spans": [(0, 10)], "length": 100}}, "r": {"a": {"spans": [(0, 10)], "length": 100}}})
    listed = [("x", 0, 10), ("x", 10, 20), ("a", 0, 10), ("y", 0, 10), ("z", 0, 10)]
    run = run_of({"q": listed, "r": [("a", 0, 10)]})
    unjudged = [document != "a" for document, _, _ in listed]
    assert fe.evaluate(gold, run, measures).counts[0].unjudged == sum(unjudged[:read])
    assert fe.evaluate(gold, run, measures, cutoff=1).counts[0].unjudged == 1
