"""Scores over time: order, change, and files that are no scores."""

import json
import subprocess

import numpy as np
import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.errors import FormatError, MeasureError
from focuseval.inference.paired import judge_pairs
from focuseval.inference.settings import Settings
from focuseval.report.history import history_charts, order_key, read_history, render_history, subjects_of


def scores(folder, name, mean, *, gold="g", run="bm25", version="1", values=None, **measures):
    document = {
        "signature": f"focuseval:{version}|missing:zero",
        "gold_sha256": gold,
        "docs_sha256": None,
        "runs": [{"run": run, "measures": {"MAgP": mean, **measures}}],
    }
    if values is not None:
        document["runs"][0]["per_topic"] = {f"q{i}": {"MAgP": value} for i, value in enumerate(values)}
    (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    "names",
    [
        ["2025-12-31-a", "2026-01-02-b", "2026-01-02T0900-c", "20260301T120000-d"],
        ["0001-f00", "0002-abc", "0010-0aa"],
        ["commit-9", "commit-10", "commit-100"],
        ["alpha", "beta"],
    ],
)
def test_files_are_ordered_by_date_then_number_then_name(names):
    assert sorted({*names}, key=order_key) == names


def test_a_line_goes_through_every_file(tmp_path):
    for name, mean in (("commit-10", 0.5), ("commit-9", 0.4), ("commit-11", 0.45)):
        scores(tmp_path, name, mean)
    found = read_history(tmp_path)
    (chart,) = history_charts(found)
    assert [row[:3] for row in chart.rows] == [
        ("commit-9", "bm25", 0.4),
        ("commit-10", "bm25", 0.5),
        ("commit-11", "bm25", 0.45),
    ]
    result = CliRunner().invoke(main, ["history", str(tmp_path)])
    assert [line.split()[2:] for line in result.stdout.splitlines()[3:]] == [
        ["0.4000"],
        ["0.5000", "(+0.1000)"],
        ["0.4500", "(−0.0500)"],
    ]


def test_another_gold_is_no_drift_but_another_version_may_be_compared(tmp_path):
    scores(tmp_path, "1", 0.4)
    scores(tmp_path, "2", 0.5, version="2")
    scores(tmp_path, "3", 0.9, gold="other")
    found = read_history(tmp_path)
    assert found.notes == ("3: the gold changed here, so values before it are not comparable.",)
    assert found.notes[0] in render_history(found)


def test_measures_that_only_some_files_have_leave_gaps(tmp_path):
    scores(tmp_path, "1", 0.4)
    scores(tmp_path, "2", None, AP=0.3)
    found = read_history(tmp_path)
    assert found.measures == ("MAgP", "AP")
    assert [len(chart.rows) for chart in history_charts(found)] == [1, 1]
    assert found.only(["AP"]).measures == ("AP",)
    with pytest.raises(MeasureError, match="nDCG is in none of the score files; there are MAgP, AP"):
        found.only(["nDCG"])


def over_time(folder, names=("2026-03-01", "2026-03-02-b", "20260320T1200"), **more):
    """Three files of 20 topics, each a little worse than the one before."""
    (folder / "scores").mkdir()
    rng = np.random.default_rng(0)
    before = rng.random(20)
    for k, name in enumerate(names):
        values = (before - 0.1 * k + rng.normal(0, 0.01, 20)).tolist()
        scores(folder / "scores", name, float(np.mean(values)), values=values, run=f"v{k // 2}", **more)
    scores(folder, "v1", float(before.mean()), values=before.tolist(), run="release")
    return folder / "scores", before


def test_intervals_are_of_the_change_since_the_anchor_and_else_since_the_first_value(tmp_path):
    folder, before = over_time(tmp_path)
    pinned = read_history(folder, anchor=str(tmp_path / "v1.json"), baseline=str(tmp_path / "v1.json"))
    third = np.array([*json.loads((folder / "20260320T1200.json").read_text())["runs"][0]["per_topic"].values()])
    difference = np.array([own["MAgP"] for own in third]) - before
    for found, shift in ((pinned, difference), (read_history(folder), None)):
        *_, point = found.points
        middle, low, high = point.since
        assert low < middle < high < 0
        assert point.bar == pytest.approx((point.mean - middle + low, point.mean - middle + high), abs=1e-4)
        if shift is not None:
            assert middle == pytest.approx(shift.mean())
            judged = judge_pairs(shift[None], Settings("t", resamples=1000))
            assert (low, high) == pytest.approx((judged.low[0], judged.high[0]))
    assert read_history(folder).points[0].since is None
    assert [p.file.split()[0] for p in pinned.references] == ["anchor", "baseline"]
    (chart,) = history_charts(pinned)
    assert "interval of the change since the anchor" in chart.caption
    texts = [part for part in chart.spec["layer"] if part["mark"]["type"] == "text"]
    assert texts[0]["data"]["values"][0]["name"] == "anchor v1.json"  # not where it lies
    named = [part["mark"]["align"] for part in texts]
    assert named == ["left", "right"]  # their means are the same: at one end the names would lie on each other
    assert "3 score files, 1 run, 1 measure, in the order" in render_history(pinned)
    assert "since its line's first value" in next(history_charts(read_history(folder))).caption
    printed = CliRunner().invoke(main, ["history", str(folder), "--anchor", str(tmp_path / "v1.json")]).stdout
    assert printed.count(" anchor −0.") + printed.count(" anchor +0.") == 3
    assert found.to_json()["points"][-1].keys() == {"file", "run", "measure", "mean", "date", "line", "since"}


def test_the_axis_is_time_where_every_name_has_a_date(tmp_path):
    found = read_history(over_time(tmp_path)[0])
    assert [p.date for p in found.points] == ["2026-03-01T00:00:00", "2026-03-02T00:00:00", "2026-03-20T12:00:00"]
    assert {layer["encoding"]["x"]["type"] for layer in next(history_charts(found)).spec["layer"][:4]} == {"temporal"}
    (tmp_path / "scores" / "20260320T1200.json").rename(tmp_path / "scores" / "later.json")
    found = read_history(tmp_path / "scores")
    assert {layer["encoding"]["x"]["type"] for layer in next(history_charts(found)).spec["layer"][:4]} == {"ordinal"}


def test_a_run_whose_name_changed_keeps_its_line_or_it_is_said_why_not(tmp_path):
    found = read_history(over_time(tmp_path)[0])
    assert found.runs == ("v1",)
    assert [point.run for point in found.points] == ["v0", "v0", "v1"]
    assert found.notes == ("20260320T1200: v0 is called v1 from here on; its line goes on.",)
    document = json.loads((tmp_path / "scores" / "2026-03-01.json").read_text())
    document["runs"].append({"run": "other", "measures": {"MAgP": 0.5}})
    (tmp_path / "scores" / "2026-03-01.json").write_text(json.dumps(document))
    found = read_history(tmp_path / "scores")
    assert found.runs == ("v0", "other", "v1")
    assert found.notes == (
        "20260320T1200: v0 ends before it and v1 begins; no line goes on where a file holds several runs.",
    )


def test_what_is_not_held_against_the_anchor_is_counted(tmp_path):
    folder, _ = over_time(tmp_path, gold="other")
    found = read_history(folder, anchor=str(tmp_path / "v1.json"))
    assert all(point.since is None for point in found.points)
    assert f"{tmp_path / 'v1.json'}: 3 of 3 means are not held against the anchor" in found.notes[-1]
    scores(folder, "2026-04-01", None, values=[])
    (folder / "2026-05-01.json").write_text('{"signature": "x", "runs": [{"run": "a", "measures": {}}]}')
    assert len(read_history(folder).points) == 4


def test_an_anchor_of_several_runs_is_refused(tmp_path):
    folder, _ = over_time(tmp_path)
    runs = [{"run": name, "measures": {"MAgP": 0.5}} for name in "ab"]
    (tmp_path / "two.json").write_text(json.dumps({"signature": "x", "runs": runs}))
    for option in ("--anchor", "--baseline"):
        done = CliRunner().invoke(main, ["history", str(folder), option, str(tmp_path / "two.json")])
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
        assert "two.json: expected one run, found a, b; write it with 'focuseval gate --update'" in done.stderr


def test_intervals_do_not_reach_over_another_gold(tmp_path):
    folder, before = over_time(tmp_path)
    scores(folder, "2026-04-01", 0.5, values=before.tolist(), gold="other")
    scores(folder, "2026-04-02", 0.5, values=(before / 2).tolist(), gold="other")
    since = [point.since for point in read_history(folder).points]
    assert [one is None for one in since] == [True, False, False, True, False]
    assert since[4][0] == pytest.approx(-before.mean() / 2)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runs": 3}', '{"runs": [{"run": "a"}]}', "\ufeff{}"])
def test_a_file_that_holds_no_scores_is_named(tmp_path, text):
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["history", str(tmp_path)])
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(str(tmp_path / "bad.json"))


def test_a_folder_without_scores_says_how_to_make_them(tmp_path):
    with pytest.raises(FormatError, match="focuseval score"):
        read_history(tmp_path)
    with pytest.raises(FormatError, match="expected a folder"):
        read_history(tmp_path / "nowhere")


def test_the_page_is_drawn_in_a_browser(browser, tmp_path):
    folder, values = over_time(tmp_path)
    for number in range(1, 6):
        name = f"2026-04-0{number}"
        scores(folder, name, 0.4, values=(values / number).tolist(), **{"<script>window.hacked=1</script>": 0.3})
    given = ["--anchor", str(tmp_path / "v1.json"), "-o", str(tmp_path / "history.html")]
    result = CliRunner().invoke(main, ["history", str(folder), *given])
    assert (result.exit_code, result.output) == (0, "")
    browser.open((tmp_path / "history.html").as_uri())
    browser.wait("return document.querySelectorAll('figure svg').length === 2")
    assert "anchor " in browser.run("return document.querySelector('figure svg').textContent")
    assert browser.run("return window.hacked") is None
    assert browser.errors() == []


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e400", '"0.4"', "[0.4]", "true", '0.4, "MAgP": 0.5']
)
def test_a_mean_that_is_no_number_is_refused_and_never_printed(tmp_path, value):
    scores(tmp_path, "1", 0.4)
    text = (tmp_path / "1.json").read_text(encoding="utf-8")
    (tmp_path / "2.json").write_text(text.replace('"MAgP": 0.4', f'"MAgP": {value}'), encoding="utf-8")
    result = CliRunner().invoke(main, ["history", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{tmp_path / '2.json'}: expected ")
    assert result.stderr.count("\n") == 1


def test_a_mean_over_no_topic_is_a_gap(tmp_path):
    for name, mean in (("1", 0.4), ("2", None), ("3", 0.5)):
        scores(tmp_path, name, mean)
    lines = CliRunner().invoke(main, ["history", str(tmp_path)]).stdout.splitlines()[3:]
    assert [line.split()[2:] for line in lines] == [["0.4000"], ["–"], ["0.5000", "(+0.1000)"]]


def test_a_point_tells_the_subject_of_the_commit_that_its_file_names(tmp_path):
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Chunks of five sentences"], check=True)
    made = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    own = next(made[:size] for size in range(7, 41) if any(letter in "abcdef" for letter in made[:size]))
    names = [f"0001-{own}", "0002-abcdef1234567", "0003"]
    assert subjects_of(tmp_path, names) == {f"0001-{own}": "Chunks of five sentences"}
    assert subjects_of(tmp_path / "nowhere", names) == {}


@pytest.mark.parametrize("zero", [True, False])
def test_axes_begin_at_zero_if_asked_for(tmp_path, zero):
    (tmp_path / "1.json").write_text(
        json.dumps({"signature": "s", "runs": [{"run": "a", "measures": {"AP": 0.5}}]}), encoding="utf-8"
    )
    (chart,) = history_charts(read_history(tmp_path), zero=zero)
    assert chart.spec["layer"][0]["encoding"]["y"]["scale"] == {"zero": zero}
