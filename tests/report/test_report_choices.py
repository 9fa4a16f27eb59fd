"""What a reader can choose in the page: every number is the engine's."""

import json
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import focuseval as fe
from building import gold_of, run_of
from focuseval.cli import main
from focuseval.inference.paired_tests import adjust, paired_differences
from focuseval.measures import parse
from focuseval.measures.profiles import PROFILES, profile_named
from focuseval.report.build import gather_evidence
from focuseval.report.charts.chart import filled
from focuseval.report.choices import choices_of, slices_of
from focuseval.report.page import render
from strategies.campaigns import campaign

MEASURES = ["MAgP", "spanR@5", "IoU@1", "spanR@300c"]


@pytest.fixture(scope="module")
def evidence():
    gold, runs, texts = campaign(topics=30, runs=4, documents=40)
    return gather_evidence(gold, runs, MEASURES, index=texts, task="spans")


def test_values_and_means_are_those_of_the_scores_to_the_last_bit(evidence):
    found, scores = choices_of(evidence), evidence.scores
    drawn = list(evidence.drawn)
    assert found["runs"] == tuple(scores.runs[run] for run in drawn)
    assert np.array_equal(np.array(found["values"]), scores.values[drawn].transpose(2, 0, 1))
    assert np.array(found["means"])[:, :, 0] == pytest.approx(scores.mean[drawn].T, abs=1e-12)


def test_every_pair_is_that_of_the_comparison_under_each_measure(evidence):
    found = choices_of(evidence)["comparisons"]
    for measure, told in zip(MEASURES, found["measures"], strict=True):
        compared = evidence.scores.compare(measure)
        assert told["methods"] == [compared.method]
        for (i, j), numbers in zip(combinations(evidence.drawn, 2), told["pairs"], strict=True):
            one, other = (compared.runs.index(evidence.scores.runs[run]) for run in (i, j))
            pair, own = compared.against(one, other), dict(zip(found["fields"], numbers, strict=True))
            assert own["difference"] == round(pair.difference * 10**4)
            assert (own["won"], own["lost"]) == (pair.won, pair.lost)
            assert {2: "better", -2: "worse"}.get(own["code"], "cannot tell") == pair.word


def test_with_a_baseline_the_other_pairs_are_compared_too_each_in_its_family():
    gold, runs, texts = campaign(topics=8, runs=3, documents=20)
    found = choices_of(gather_evidence(gold, runs, ["MAgP"], index=texts, task="spans", baseline="run-02"))
    assert found["runs"][found["baseline"]] == "run-02"
    (told,) = found["comparisons"]["measures"]
    assert all(numbers is not None for numbers in told["pairs"])
    assert [method.split("Holm over ")[1] for method in told["methods"]] == ["the 2 pairs with run-02", "all 3 pairs"]


def test_of_very_many_runs_every_pair_that_is_offered_is_compared_under_every_measure(monkeypatch):
    from focuseval.report import build, evidence  # noqa: PLC0415

    monkeypatch.setattr(evidence, "MOST_PAIRS", 7)
    monkeypatch.setattr(build, "MOST_DRAWN", 3)
    gold, runs, texts = campaign(topics=6, runs=4, documents=20)
    measures = ["MAgP", "spanR@5", "IoU@1"]
    report = fe.build_report(gold, runs, measures, docs=texts, task="spans")
    told = report.choices["comparisons"]["measures"]
    assert [len(one["pairs"]) for one in told] == [3, 3, 3]
    assert all(numbers is not None for one in told for numbers in one["pairs"])
    families = [one["methods"][0].split("Holm over ")[1] for one in told]
    assert families == ["all 6 pairs", "the 3 pairs of 3 runs", "the 3 pairs of 3 runs"]
    assert {row[0] for row in report.chart("stars").rows} == set(measures)


def test_topics_that_are_not_compared_are_named_for_the_page():
    gold = gold_of({t: {"a": {"spans": [(0, 5)], "length": 20}} for t in "123"})
    runs = [
        run_of({t: [("a", 0, 5)] for t in "123"}, "all"),
        run_of({t: [("a", 0, 9)] for t in "13"}, "most"),
    ]
    found = fe.build_report(gold, runs, ["charP"], docs={"a": "x" * 20}, task="spans", missing="skip")
    assert found.choices["compared"] == ([0, 2],)
    assert found.choices["comparisons"]["measures"][0]["topics"] == 2
    assert [row.topic for row in found.first.per_topic] == ["1", "3"]


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("spanR@5", [5, "results"]),
        ("IoU@2000c", [2000, "characters"]),
        ("charP@1000c", [1000, "characters"]),
        ("nxCG@10", [10, "results"]),
        ("gP@5", [5, "articles"]),
        ("P@10", [10, "articles"]),
        ("nDCG@10", [10, "articles"]),
        ("spanR@500w", [500, "words"]),
        ("spanR@500t", [500, "tokens"]),
        ("MAgP(score=t2i, irr=300)@500c", None),
        ("iP@0.01", None),
        ("MAiP", None),
    ],
)
def test_a_measure_s_cut_off_says_how_much_of_a_list_it_reads(name, cut):
    assert parse(name).cut == (cut and tuple(cut))


def test_rag_is_decided_by_a_budget_and_every_other_task_by_its_official_measure():
    assert profile_named("rag").deciding("spans") == "spanR@2000c"
    for profile in PROFILES:
        for task, measures in profile.tasks.items():
            assert profile.deciding(task) in measures
            assert profile.name == "rag" or profile.deciding(task) == measures[0]


def test_the_profile_s_page_names_the_measure_that_decides():
    told = CliRunner().invoke(main, ["profiles", "rag"]).stdout
    assert "Decides     spanR@2000c" in told
    assert json.loads(CliRunner().invoke(main, ["profiles", "rag", "--json"]).stdout)["tasks"]["spans"]["decides"]


def test_the_longest_chunk_does_not_win_by_its_length_alone():
    """One chunk of 4,000 characters against four of 500: at rank 1 it finds more, in the same budget it finds less."""
    topics = [str(n) for n in range(12)]
    text = {f"d{n}": "x" * 8000 for n in topics}
    gold = gold_of({n: {f"d{n}": {"spans": [(3000, 3200), (5000, 5200)], "length": 8000}} for n in topics})
    long = run_of({n: [(f"d{n}", 2000, 6000), (f"d{n}", 0, 2000)] for n in topics}, "long")
    short = run_of({n: [(f"d{n}", s, s + 500) for s in (3000, 4800, 0, 500)] for n in topics}, "short")
    report = fe.build_report(gold, [long, short], profile="rag", docs=text)
    assert report.first.verdict.headline == "long is worse than short."
    assert report.first.measure == "spanR@2000c"
    assert report.about.measures[0][0] == "spanR@1"
    assert report.first.verdict.caveat == "Under spanR@1 and full@1 the order is the other way round."
    assert all(report.first.verdict.caveat in render(report, layout) for layout in ("html", "markdown", "latex", "csv"))


def test_slices_divide_topics_by_tag_and_by_what_is_highlighted():
    judged = {
        "a": {"x": {"spans": [(0, 10)], "length": 100}},
        "b": {"x": {"spans": [(40, 60), (90, 95)], "length": 100}},
        "c": {"y": {"spans": [(900, 999)], "length": 1000}},
    }
    gold = gold_of(judged)
    gold = fe.Gold(**{**vars(gold), "attributes": {"a": {"tags": "easy"}, "b": {"tags": "easy,odd"}}})
    texts = {"x": "t" * 100, "y": "t" * 1000}
    runs = [run_of({n: [("x", 0, 50)] for n in "abc"}, "one"), run_of({n: [("y", 0, 50)] for n in "abc"}, "two")]
    found = slices_of(gather_evidence(gold, runs, ["charP"], index=texts, task="spans"))
    told = {(one["group"], one["name"]): tuple(one["topics"]) for one in found}
    assert told["Tag", "easy"] == (0, 1)
    assert told["Tag", "odd"] == (1,)
    assert told["Answer length", "10"] == (0,)
    assert told["Spans", "2"] == (1,)
    assert told["Answer in its document", "first third"] == (0,)
    assert told["Answer in its document", "last third"] == (1, 2)  # the middles of b's spans are at .5 and .925
    assert told["Document length", "1,000"] == (2,)


def test_a_group_of_slices_that_holds_all_topics_in_one_is_left_out():
    judged = {t: {"x": {"spans": [(10 * n, 10 * n + 5)], "length": 100}} for n, t in enumerate("abc")}
    runs = [run_of({n: [("x", 0, 50)] for n in "abc"}, name) for name in ("one", "two")]
    found = slices_of(gather_evidence(gold_of(judged), runs, ["charP"], index={"x": "t" * 100}, task="spans"))
    assert found == ()  # one length, one span, one third, one document


def test_a_slice_of_ten_topics_is_judged_with_all_others_and_a_smaller_one_is_not(evidence):
    found = choices_of(evidence)
    every = evidence.scores.values[list(evidence.drawn)].transpose(2, 0, 1)
    large = [one for one in found["slices"] if len(one["topics"]) >= 10]
    assert 1 < len(large) < len(found["slices"])
    for measure, values in enumerate(every):
        first, second = np.transpose(list(combinations(range(4), 2)))
        parts = [paired_differences(values[first], values[second])[:, one["topics"]] for one in large]
        p = np.array([stats.ttest_1samp(part, 0, axis=1).pvalue for part in parts])
        level = 1 - 0.05 / len(large)
        ends = [stats.t.interval(level, len(q[0]) - 1, q.mean(axis=1), stats.sem(q, axis=1)) for q in parts]
        for one, (low, high), corrected in zip(large, ends, np.apply_along_axis(adjust, 0, p, "holm"), strict=True):
            shown = np.array(one["judged"][measure], object).reshape(-1, 4)
            assert shown[:, 0].astype(float) / 1e4 == pytest.approx(low, abs=1e-4)
            assert shown[:, 1].astype(float) / 1e4 == pytest.approx(high, abs=1e-4)
            told = [float(value) if isinstance(value, str) else value / 1e4 for value in shown[:, 2]]
            assert told == pytest.approx(corrected, abs=1e-4)
            assert shown[:, 3].tolist() == np.where(corrected <= 0.05, np.sign(low + high), 0).tolist()
    few = [one for one in found["slices"] if len(one["topics"]) < 10]
    assert all(one["judged"] == [None] * len(found["measures"]) for one in few)


def test_of_too_many_intervals_those_of_the_deciding_measure_and_of_a_and_b_are_kept(evidence, monkeypatch):
    from focuseval.report import choices  # noqa: PLC0415  the name is the module's

    whole = choices_of(evidence)
    pairs = list(combinations(range(4), 2))
    monkeypatch.setattr(choices, "MOST_INTERVALS", len(pairs) * len(whole["slices"]))
    found = choices_of(evidence)
    place = 4 * pairs.index(tuple(sorted((found["a"], found["b"]))))
    assert found["a"] < found["b"]
    for one, full in zip(found["slices"], whole["slices"], strict=True):
        assert one["judged"][found["decides"]] == full["judged"][found["decides"]]
        for measure in range(1, len(found["measures"])):
            told = full["judged"][measure]
            assert one["judged"][measure] == (told and told[place : place + 4])


def test_a_name_that_looks_like_a_place_for_a_name_is_not_filled_again():
    assert filled(["{a} {b} {c}"], {"a": "{b}", "b": "B"}) == ["{b} B {c}"]
