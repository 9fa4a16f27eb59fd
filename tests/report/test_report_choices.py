"""What a reader can choose in the page: every number is the engine's."""

import json
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner

import focuseval as fe
from building import gold_of, run_of
from focuseval.cli import main
from focuseval.inference.intervals import bca
from focuseval.measures import parse
from focuseval.measures.profiles import PROFILES, profile_named
from focuseval.report.build import gather_evidence
from focuseval.report.charts.chart import filled
from focuseval.report.choices import CODES, choices_of
from focuseval.report.observe import cut_of
from focuseval.report.page import render
from focuseval.report.slices import slices_of
from strategies.campaigns import campaign

MEASURES = ["MAgP", "spanR@5", "IoU@1", "spanR@300c"]


@pytest.fixture(scope="module")
def evidence():
    gold, runs, texts = campaign(topics=30, runs=4, documents=40)
    return gather_evidence(gold, runs, MEASURES, index=texts, task="spans")


def test_values_and_means_are_those_of_the_scores(evidence):
    found, scores = choices_of(evidence), evidence.scores
    drawn = list(evidence.drawn)
    assert found.runs == tuple(scores.runs[run] for run in drawn)
    assert np.array(found.values) == pytest.approx(scores.values[drawn].transpose(2, 0, 1), abs=1e-6)
    assert np.array(found.means)[:, :, 0] == pytest.approx(scores.mean[drawn].T, abs=1e-6)


def test_every_pair_is_that_of_the_comparison_under_each_measure(evidence):
    found = choices_of(evidence)
    for number, measure in enumerate(MEASURES):
        compared = evidence.scores.compare(measure)
        assert found.methods[number] == compared.method
        for (i, j), told in zip(combinations(range(4), 2), found.pairs[number], strict=True):
            one, other = (compared.runs.index(found.runs[n]) for n in (i, j))
            k = compared.pair(one, other)
            sign = 1 if compared.better[k] == one else -1
            assert told[0] == pytest.approx(sign * compared.difference[k], abs=1e-5)
            interval = sorted(sign * np.array([compared.low[k], compared.high[k]]))
            assert told[1:3] == pytest.approx(interval, abs=1e-5)
            assert float(told[4]) == pytest.approx(compared.corrected[k], abs=1e-4)
            assert told[5] == (sign if compared.significant[k] else 0)
            assert told[6] == compared.tied[k]


def test_a_baseline_leaves_the_other_pairs_untested():
    gold, runs, texts = campaign(topics=8, runs=3, documents=20)
    found = choices_of(gather_evidence(gold, runs, ["MAgP"], index=texts, task="spans", baseline="run-02"))
    base = found.runs.index("run-02")
    for pair, told in zip(combinations(range(3), 2), found.pairs[0], strict=True):
        assert (told is not None) == (base in pair)


def test_many_pairs_are_tested_under_the_first_measures_only(monkeypatch):
    from focuseval.report import evidence  # noqa: PLC0415

    monkeypatch.setattr(evidence, "MOST_TESTS", 7)
    gold, runs, texts = campaign(topics=6, runs=3, documents=20)
    report = fe.build_report(gold, runs, ["MAgP", "spanR@5", "spanR@1", "IoU@1"], docs=texts, task="spans")
    assert [pairs is not None for pairs in report.choices.pairs] == [True, True, True, False]
    assert "Pairs under IoU@1 are not tested here" in report.chart("stars").caption
    assert {row[0] for row in report.chart("stars").rows} == {"MAgP", "spanR@5", "spanR@1"}


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
    assert cut_of(parse(name)) == cut


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
    told = {(one.group, one.name): one.topics for one in found}
    assert told["tag", "easy"] == (0, 1)
    assert told["tag", "odd"] == (1,)
    assert told["length of the answer", "10 characters"] == (0,)
    assert told["number of spans", "2 spans"] == (1,)
    assert told["position in the document", "first third"] == (0,)
    assert told["position in the document", "last third"] == (1, 2)  # the middles of b's spans are at .5 and .925
    assert told["length of the document", "1,000 characters"] == (2,)


def test_a_group_of_slices_that_holds_all_topics_in_one_is_left_out():
    judged = {t: {"x": {"spans": [(10 * n, 10 * n + 5)], "length": 100}} for n, t in enumerate("abc")}
    runs = [run_of({n: [("x", 0, 50)] for n in "abc"}, name) for name in ("one", "two")]
    found = slices_of(gather_evidence(gold_of(judged), runs, ["charP"], index={"x": "t" * 100}, task="spans"))
    assert {one.group for one in found} == set()  # one length, one span, one third, one document


def test_the_interval_of_a_slice_is_that_of_its_topics(evidence):
    found = choices_of(evidence)
    every = evidence.scores.values[list(evidence.drawn)].transpose(2, 0, 1)
    for one in found.slices:
        topics = list(one["topics"])
        if len(topics) < 2:
            continue
        for measure, values in enumerate(every):
            differences = np.array([(values[i] - values[j])[topics] for i, j in combinations(range(4), 2)])
            low, high = bca(differences, resamples=1000, seed=0)
            told = np.array(one["intervals"][measure]).reshape(-1, 2) / 10_000
            assert told[:, 0] == pytest.approx(low, abs=2e-3)
            assert told[:, 1] == pytest.approx(high, abs=2e-3)


def test_of_too_many_intervals_those_of_the_deciding_measure_and_of_a_and_b_are_kept(evidence, monkeypatch):
    from focuseval.report import choices  # noqa: PLC0415  the name is the module's

    whole = choices_of(evidence)
    pairs = list(combinations(range(4), 2))
    monkeypatch.setattr(choices, "MOST_INTERVALS", len(pairs) * len(whole.slices))
    found = choices_of(evidence)
    place = 2 * pairs.index(tuple(sorted((found.a, found.b))))
    assert found.a < found.b
    for one, full in zip(found.slices, whole.slices, strict=True):
        assert one["intervals"][found.decides] == full["intervals"][found.decides]
        for measure in range(1, len(found.measures)):
            assert one["intervals"][measure] == full["intervals"][measure][place : place + 2]


def test_words_and_codes_are_one_to_one():
    assert sorted(CODES.values()) == [-1, 0, 1]


def test_a_name_that_looks_like_a_place_for_a_name_is_not_filled_again():
    assert filled(["{a} {b} {c}"], {"a": "{b}", "b": "B"}) == ["{b} B {c}"]
