"""Names of measures and profiles: what is refused, word for word, and numbers that print as they were meant."""

import re
from pathlib import Path

import pytest

import focuseval as fe
from building import gold_of, run_of
from focuseval.errors import MeasureError
from focuseval.measures.explain import explain, reference
from focuseval.measures.measure import number
from focuseval.measures.profiles import PROFILES, Profile, profile_named


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("MAgQ", "unknown measure 'MAgQ'; did you mean MAgP, MAnxCG, MAP? ('focuseval measures' lists all)"),
        ("zzzzzzzz", "unknown measure 'zzzzzzzz' ('focuseval measures' lists all)"),
        (
            "context_recall",
            (
                "unknown measure 'context_recall': RAGAS and DeepEval ask a language model for it; on highlighted text "
                "it is spanR@k"
            ),
        ),
        ("a b", "'a b' is not a measure's name; expected NAME, NAME(parameter=value) or NAME@k"),
        ("MAep@5", "MAep@5: MAep takes no '@'; write MAep"),
        ("gP", "gP: expected a cut-off, as in gP@10"),
        ("iP", "iP: expected a cut-off, as in iP@0.1"),
        ("gP@0", "gP@0: expected a rank such as 10 (1000000 at most) after '@', found '0'"),
        ("gP@1000001", "gP@1000001: expected a rank such as 10 (1000000 at most) after '@', found '1000001'"),
        (
            "iP@1.01",
            "iP@1.01: expected a recall level from 0 to 1 such as 0.01 (9 decimals at most) after '@', found '1.01'",
        ),
        ("charP@5", "charP@5: expected a budget of characters such as 2000c after '@', found '5'"),
        (
            "spanR@x",
            (
                "spanR@x: expected a rank such as 10 (1000000 at most) or a budget of characters such as 2000c or "
                "a budget of words such as 500w or a budget of tokens such as 500t after '@', found 'x'"
            ),
        ),
        ("AP(x=1)", "AP has no parameter 'x'; it has rel"),
        ("nDCG(x=1)", "nDCG has no parameter 'x'; it has none"),
        ("P_0", "P@0: expected a rank such as 10 (1000000 at most) after '@', found '0'"),
        ("MAgP(foo=1)", "MAgP has no parameter 'foo'; it has beta, gain, credit, form, score, irr, n"),
        ("MAgP(beta=1, beta=2)", "MAgP: parameter 'beta' is given twice; keep one"),
        ("MAgP(beta=-0.5)", "MAgP(beta=-0.5): expected 0 or more"),
        ("MAgP(beta=nan)", "MAgP(beta=nan): expected a number up to 1000000000, found 'nan'"),
        ("MAgP(beta=1_0)", "MAgP(beta=1_0): expected a number up to 1000000000, found '1_0'"),
        ("MAgP(beta=abc)", "MAgP(beta=abc): expected a number up to 1000000000, found 'abc'"),
        ("MAgP(gain=a)", "MAgP(gain=a): expected one of documents, length"),
    ],
)
def test_a_name_that_is_none_is_refused_in_one_line(name, told):
    with pytest.raises(MeasureError) as caught:
        fe.parse(name)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("value", "printed"),
    [(1.0, "1"), (0.25, "0.25"), (0.1 + 0.2, "0.30000000000000004"), (1e-13, "1e-13"), (7, "7"), ("gen", "gen")],
)
def test_a_parameter_prints_so_that_it_reads_back(value, printed):
    assert number(value) == printed
    assert isinstance(value, str) or float(number(value)) == value


def test_a_profile_that_does_not_exist_is_refused_and_others_are_offered():
    with pytest.raises(MeasureError, match=r"^unknown profile 'rags'; did you mean rag\?$"):
        profile_named("rags")
    with pytest.raises(MeasureError) as caught:
        profile_named("zzz")
    assert str(caught.value) == f"unknown profile 'zzz'; there are {', '.join(p.name for p in PROFILES)}"
    assert profile_named("rag").name == "rag"


def test_a_task_that_a_profile_does_not_have_is_refused_and_its_own_are_named():
    own = Profile("own", "", {"focused": ("AP",), "thorough": ("MAep",)}, {"cutoff": 5}, {"thorough": {"beta": 2}})
    with pytest.raises(MeasureError, match=r"^profile own has no task 'spans'; it has focused, thorough$"):
        own.task("spans")
    assert (own.task(None), own.task("thorough")) == ("focused", "thorough")
    assert own.policies_of("focused") == {"cutoff": 5}
    assert own.policies_of("thorough") == {"cutoff": 5, "beta": 2}


def test_a_user_s_own_measure_has_a_citation_that_nobody_else_knows():
    assert reference("nobody2020") == "nobody2020"
    assert reference("focuseval") == "focuseval: Defined by focuseval; see CITATION.cff in the project's root."


def test_a_parameter_that_needs_no_name_is_printed_without_one():
    assert str(fe.parse("ceiling(M=spanP)")) == "ceiling(spanP)"


OTHER_NAMES = {
    "Precision@5": "P@5",
    "precision@5": "P@5",
    "Recall@5": "R@5",
    "recall@5": "R@5",
    "MAP": "AP",
    "MAP@10": "AP@10",
    "map": "AP",
    "MRR": "RR",
    "MRR@10": "RR@10",
    "mrr@10": "RR@10",
    "NDCG@10": "nDCG@10",
    "ndcg@10": "nDCG@10",
    "HitRate@5": "Success@5",
    "hit_rate@5": "Success@5",
    "SetR": "R",
    "RPrec": "Rprec",
    "BPref(rel=2)": "Bpref(rel=2)",
    "AllFound@5": "all-recall@5",
    "AllRecall(share=0.5)@5": "all-recall(share=0.5)@5",
    "SRecall@5": "S-recall@5",
    "AgP": "MAgP",
    "AiP": "MAiP",
    "refuseR": "silence",
}
TREC_EVAL = {
    "P_10": "P@10",
    "P.10": "P@10",
    " P_5 ": "P@5",
    "recall_100": "R@100",
    "set_recall": "R",
    "map_cut_10": "AP@10",
    "map_cut@10": "AP@10",
    "gm_map": "GMAP",
    "recip_rank": "RR",
    "ndcg_cut_10": "nDCG@10",
    "ndcg_cut.10": "nDCG@10",
    "Rprec": "Rprec",
    "success_5": "Success@5",
    "iprec_at_recall_0.10": "IPrec@0.10",
    "iprec_at_recall_1.00": "IPrec@1.00",
    "bpref": "Bpref",
    "infAP": "infAP",
    "set_P": "SetP",
    "set_F": "SetF",
    "set_map": "SetAP",
}


@pytest.mark.parametrize(("written", "name"), (OTHER_NAMES | TREC_EVAL).items())
def test_a_name_that_people_type_is_a_measure_that_there_is(written, name):
    assert str(fe.parse(written)) == name


def test_the_reference_lists_every_other_name():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "measures.md").read_text(encoding="utf-8")
    section = page.partition("## Other names")[2].partition("\n## ")[0]
    listed = dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", section, re.MULTILINE))
    assert listed == {other: measure.name for measure in fe.MEASURES for other in measure.aliases}
    named = {re.sub(r"[@(].*|[_.][\d.]+ *$", "", name.strip()) for name in OTHER_NAMES | TREC_EVAL}
    assert named - {measure.name for measure in fe.MEASURES} == listed.keys()


def test_a_measure_is_explained_by_the_name_of_trec_eval():
    assert explain("ndcg_cut_10") == explain("nDCG")


GOLD = {"q1": {"a": {"grade": 1}, "b": {"grade": 1}, "c": {"grade": 0}}}


def test_a_cut_off_cuts_reciprocal_rank_average_precision_and_success():
    run = run_of({"q1": ["c", "u", "a", "b"]})
    names = ["RR", "RR@3", "MRR@2", "AP", "MAP@3", "Success@2", "HitRate@3"]
    values = fe.evaluate(gold_of(GOLD, scale="trec"), run, names).means()["run"]
    assert values == pytest.approx(
        {
            "RR": 1 / 3,
            "RR@3": 1 / 3,
            "MRR@2": 0,
            "AP": (1 / 3 + 2 / 4) / 2,
            "MAP@3": 1 / 6,
            "Success@2": 0,
            "HitRate@3": 1,
        }
    )


def test_a_reciprocal_rank_at_its_very_cut_off_counts():
    run = run_of({"q1": [*(f"u{number}" for number in range(48)), "a"]})
    assert fe.evaluate(gold_of(GOLD, scale="trec"), run, ["MRR@49"]).means()["run"] == {"MRR@49": 1 / 49}


def test_another_name_says_what_it_stands_for_and_what_measures_chunks():
    gold = gold_of({"q1": {"a": {"spans": [(0, 4)]}}})
    said = fe.evaluate(gold, run_of({"q1": [("a", 0, 2)]}), ["HitRate@5", "MRR@3", "R@5", "AgP"]).remarks()
    assert said[:3] == [
        "HitRate@5 stands for Success@5: Whether a relevant document is among the first k.",
        "MRR@3 stands for RR@3: Reciprocal rank of the first relevant document.",
        "AgP stands for MAgP: Mean average generalised precision: gP at the rank of every relevant article.",
    ]
    assert said[3].endswith("hit@5, spanRR@3, spanR@5 measure chunks")


def test_our_own_names_need_no_explanation():
    gold = gold_of({"q1": {"a": {"spans": [(0, 4)]}}})
    assert fe.evaluate(gold, run_of({"q1": [("a", 0, 2)]}), ["spanR@5", "MAgP(beta=2)"]).remarks() == []
