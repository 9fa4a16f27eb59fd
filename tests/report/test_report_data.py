"""A report as data: complete, the same every time, bounded in size, and plain about what is missing."""

import json

import numpy as np
import pytest

from building import gold_of, run_of
from focuseval.collection.build import build_index
from focuseval.collection.documents import open_documents
from focuseval.evaluation.evaluation import evaluate
from focuseval.example import ROOT, copy_example
from focuseval.example.demo import Loop
from focuseval.report.build import CHARTS, build_report
from focuseval.report.charts.curves import CURVES
from focuseval.report.page import render_html
from focuseval.report.text_view import LONGEST
from focuseval.report.texts import excerpt_view, size_of
from strategies.campaigns import campaign

ALWAYS = {"means", "differences", "values", "stars"}
BY_TASK = {
    "thorough": {"xCG", "ep"},
    "focused": {"nxCG"},
    "relevant-in-context": {"MAgP"},
    "best-in-context": {"EPRUM", "BEPD"},
    "spans": {"MAgP", "spanR"},
}


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    copy_example(folder)
    build_index([folder / "articles"], folder / "articles.idx", jobs=1)
    return Loop(folder)


@pytest.mark.parametrize("task", BY_TASK)
def test_each_graph_appears_when_its_data_do(loop, task):
    profile = None if task == "spans" else "inex2006"
    found = build_report(loop.gold, loop.runs(task), index=loop.index, task=task, profile=profile)
    tau = {"tau"} if len(loop.runs(task)) > 2 else set()
    cost = set() if task == "best-in-context" else {"cost"}  # entry points hold no text
    assert {chart.id for chart in found.charts} == ALWAYS | tau | cost | BY_TASK[task]


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_the_curves_are_those_of_the_scores_beside_them(small, missing):
    """A curve that summarises to another number than the table shows is of other topics."""
    gold, runs, texts = small
    half = [runs[0], runs[1].take(np.flatnonzero(runs[1].topic < 3))]
    found = build_report(gold, half, ["MAiP", "MAgP"], docs=texts, task="spans", missing=missing)
    scores = evaluate(gold, half, ["MAiP", "MAgP"], docs=texts, task="spans", missing=missing)
    for line, mean in zip(found.first.runs, sorted(scores.mean[:, 0])[::-1], strict=True):
        drawn = [row[2] for row in found.chart("MAiP").rows if row[0] == line.run]
        assert np.mean(drawn) == pytest.approx(mean, abs=1e-4)
        assert line.means[0].mean == pytest.approx(mean)


def test_the_measures_asked_for_bring_their_curves_and_parameters(loop):
    runs = loop.runs("relevant-in-context")
    asked = ["MAgP(beta=0.25)", "MAiP"]
    found = build_report(loop.gold, runs, asked, index=loop.index, task="relevant-in-context", fidelity=True)
    assert "MAgP(beta=0.25)" in found.chart("MAgP").caption
    assert len({row[1] for row in found.chart("MAiP").rows}) == 101
    assert found.chart("fidelity") is not None
    assert len(found.grids) == 10


def test_curves_are_those_of_the_scores(small):
    gold, runs, texts = small
    points = evaluate(gold, runs, ["MAiP"], docs=texts, task="spans").curve("MAiP")
    mean = points.filter(points["topic"].to_numpy(zero_copy_only=False) == "mean")
    expected = [round(y, 5) for y in mean["y"].to_pylist()]
    chart = build_report(gold, runs, ["MAiP"], docs=texts, task="spans").chart("MAiP")
    assert [row[2] for row in sorted(chart.rows)] == expected


def test_every_graph_has_a_table_a_caption_and_plain_rows(report):
    assert len(report.charts) >= 8
    for chart in report.charts:
        assert chart.title
        assert chart.caption.endswith(".")
        assert chart.rows
        assert all(len(row) == len(chart.columns) for row in chart.rows)
        assert set(chart.pivot or ()) <= set(chart.columns)
        assert json.loads(json.dumps(chart.complete()))["data"]["values"] == chart.records()


def test_the_same_input_gives_the_same_bytes(small, report):
    gold, runs, texts = small
    again = build_report(gold, runs, [m for m, _ in report.about.measures], docs=texts, task="spans")
    assert render_html(again) == render_html(report)


def test_the_json_has_everything_that_the_page_shows(report):
    told = json.loads(json.dumps(report.to_json()))
    assert told["first"]["verdict"]["headline"] == report.first.verdict.headline
    assert [chart["id"] for chart in told["charts"]] == [chart.id for chart in report.charts]
    assert told["texts"].keys() == report.texts.keys()
    assert told["heat"]["topics"][0]["gold"]
    assert len(told["heat"]["topics"][0]["runs"]) == len(told["choices"]["runs"]) == 2
    assert told["about"]["signature"].startswith("focuseval:")


def test_a_hundred_topics_and_twenty_runs_stay_below_five_megabytes():
    gold, runs, texts = campaign(topics=100, runs=20, documents=600, length=9000, depth=15)
    found = build_report(gold, runs, ["MAgP", "gP@5", "MAiP", "iP@0.01", "spanR@5"], docs=texts, task="spans")
    size = len(render_html(found).encode())
    assert size < 5_000_000
    assert sum(len(text["text"]) for text in found.texts.values()) > 1_500_000
    assert "left out" not in found.heat["said"]
    for topic in found.heat["topics"]:  # no link is dead: the text of every highlight and every listed result is there
        listed = [(d, s, s + min(n, 160)) for run in topic["runs"] for d, s, n in zip(*[iter(run[1])] * 3, strict=True)]
        for document, start, end in [*zip(*[iter(topic["gold"])] * 3, strict=True), *listed]:
            pieces = found.texts[found.heat["documents"][document]]["pieces"]
            here = zip(pieces[::2], pieces[1::2], strict=True)
            assert any(low <= start and min(end, start + LONGEST) <= high for low, high in here)


def test_two_and_a_half_megabytes_hold_more_than_four_million_characters_of_prose():
    """Without elements, which take more than the text in articles as short as the example's."""
    index = open_documents(ROOT / "articles")
    views = {
        name: excerpt_view(text := index.text(n), [(0, len(text))]) for n, name in enumerate(index.ids.to_pylist())
    }
    characters = sum(len(view["text"]) for view in views.values())
    assert 2.5 * characters / size_of(views) > 4


@pytest.mark.parametrize(("longest", "scale"), [(1900, "linear"), (2100, "log")])
def test_costs_that_differ_twentyfold_are_drawn_on_a_log_scale(longest, scale):
    gold = gold_of({t: {"d": {"spans": [(0, 50)], "length": 3000}} for t in "abc"})
    runs = [run_of({t: [("d", 0, size)] for t in "abc"}, f"r{size}") for size in (100, longest)]
    found = build_report(gold, runs, ["spanR@1"], docs={"d": "word " * 600}, task="spans").chart("cost")
    assert found.spec["encoding"]["x"]["scale"].get("type", "linear") == scale
    assert ("(log scale)" in found.spec["encoding"]["x"]["title"]) == (scale == "log")


def test_two_hundred_runs_are_all_listed_and_the_best_are_drawn():
    gold, runs, texts = campaign(topics=3, runs=200, documents=12, length=400, depth=4)
    found = build_report(gold, runs, ["MAgP", "gP@5"], docs=texts, task="spans")
    assert len(found.first.runs) == 200
    assert len({row[0] for row in found.chart("MAgP").rows}) == 24
    assert len(found.chart("means").rows) == 20
    assert "20 of 200 runs are drawn, the best first." in found.chart("means").caption
    assert any("Of 200 runs, the 24 best have curves and lists, and can be chosen." in said for said in found.remarks)
    assert render_html(found).count("<tr>") > 200


@pytest.mark.parametrize(
    ("baseline", "drawn", "pairs", "also"),
    [
        (None, "the 24 best have", "the 276 pairs of 24 runs", ""),
        ("r0", "the 23 best and the baseline have", "the 29 pairs with r0", ", and every run with the baseline"),
    ],
)
def test_of_too_many_runs_only_the_best_are_compared_and_the_page_says_so(monkeypatch, baseline, drawn, pairs, also):
    monkeypatch.setattr("focuseval.report.evidence.MOST_PAIRS", 100)
    monkeypatch.setattr("focuseval.report.evidence.MOST_DIFFERENCES", 100)
    gold = gold_of({t: {"d": {"spans": [(0, 60)], "length": 100}} for t in "abc"})
    runs = [run_of({t: [("d", 0, 30 + number)] for t in "abc"}, f"r{number}") for number in range(30)]
    found = build_report(gold, runs, ["charR", "charF"], task="spans", baseline=baseline)
    said = f"All pairs of 30 runs are too many to test: only these 24 are compared with each other{also}. "
    assert any(f"Of 30 runs, {drawn} curves and lists, and can be chosen." in line for line in found.remarks)
    assert any(line.startswith(said) for line in found.remarks)
    assert pairs in found.about.test
    assert "all 435 pairs" not in render_html(found)
    assert "the 276 pairs of 24 runs" in found.choices["comparisons"]["measures"][0]["methods"][-1]
    assert len(found.first.runs) == 30
    assert [line.against for line in found.first.runs].count("") == (0 if baseline else 30)
    assert len(found.first.verdict.against) == (29 if baseline else 23)
    assert not any(mean.rank for line in found.first.runs for mean in line.means)
    assert "other 23 runs that are compared" in found.first.verdict.headline or baseline


def test_a_legend_names_only_what_is_drawn():
    gold, runs, texts = campaign(topics=3, runs=3, documents=12)
    found = build_report(gold, runs, ["MAgP", "charP"], docs=texts, task="spans")
    assert found.chart("tau").spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["fewer than 8 runs"]


def test_one_topic_has_no_interval_and_says_so():
    gold, runs, texts = campaign(topics=1, runs=3, documents=12)
    found = build_report(gold, runs, ["MAgP"], docs=texts, task="spans")
    assert found.first.verdict.word == "cannot tell"
    assert found.remarks[0].startswith("There is one topic:")
    assert found.chart("stars") is None


def test_without_the_collection_the_page_says_how_to_see_the_text(small):
    gold, runs, _ = small
    found = build_report(gold, runs, ["MAgP"], task="spans")
    assert "--index" in found.heat["said"]
    assert found.heat["said"] in render_html(found).replace("&#39;", "'")
    assert not found.texts


def test_a_gold_without_text_is_reported_by_documents():
    gold = gold_of({"1": {"a": {"grade": 1}, "b": {"grade": 0}}, "2": {"a": {"grade": 1}}})
    runs = [run_of({"1": ["a", "b"], "2": ["b", "a"]}, "one"), run_of({"1": ["b", "a"], "2": ["b"]}, "two")]
    found = build_report(gold, runs, ["AP", "P@5"], docs={"a": "Some text.", "b": "Other text."})
    assert found.first.measure == "AP"
    assert "The gold highlights no text" in found.heat["lost"][0]
    assert all(not topic["gold"] for topic in found.heat["topics"])
    assert found.chart("cost") is None
    assert render_html(found)


def test_runs_on_different_topics_are_named_with_their_gaps():
    gold = gold_of({t: {"a": {"spans": [(0, 5)], "length": 20}} for t in "123"})
    runs = [
        run_of({"1": [("a", 0, 5)], "2": [("a", 0, 9)]}, "half"),
        run_of({"3": [("a", 0, 5)], "9": [("a", 0, 2)]}, "other"),
    ]
    found = build_report(gold, runs, ["charP"], docs={"a": "x" * 20}, task="spans")
    said = " ".join(found.remarks)
    assert "half leaves 1 of 3 topics unanswered (score 0)." in said
    assert "other leaves 2 of 3 topics unanswered" in said
    assert "other: 1 topic" in said
    apart = build_report(gold, runs, ["charP"], docs={"a": "x" * 20}, task="spans", missing="skip")
    assert apart.first.verdict.reason == "No topic has a value in every run under charP."


def test_documents_that_the_index_lacks_are_named_where_the_text_would_be():
    gold = gold_of({"1": {"a": {"spans": [(0, 5)], "length": 20}, "gone": {"spans": [(0, 5)], "length": 20}}})
    found = build_report(gold, [run_of({"1": [("a", 0, 5), ("lost", 0, 5)]}, "one")], ["charP"], docs={"a": "x" * 20})
    assert "The gold names 1 document that the index does not have (gone)" in found.heat["lost"][0]
    assert "one names 1 document that the index does not have (lost)" in found.heat["lost"][1]
    assert "lost" in render_html(found)


def test_every_graph_is_in_an_explicit_tuple():
    assert len(CHARTS) == len({draw.__name__ for draw in CHARTS}) == 10
    assert len(CURVES) == len({curve.name for curve in CURVES}) == 9
