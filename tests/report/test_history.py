"""Scores over time: order, change, and files that are no scores."""

import json

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.errors import FormatError, MeasureError
from focuseval.report.history import history_charts, order_key, read_history, render_history


def scores(folder, name, mean, *, gold="g", run="bm25", version="1", **measures):
    document = {
        "signature": f"focuseval:{version}|missing:zero",
        "gold_sha256": gold,
        "docs_sha256": None,
        "runs": [{"run": run, "measures": {"MAgP": mean, **measures}}],
    }
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
    assert list(chart.rows) == [
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
    for number in range(1, 6):
        scores(tmp_path, f"{number}", 0.4 + number / 50, **{"<script>window.hacked=1</script>": 0.3})
    result = CliRunner().invoke(main, ["history", str(tmp_path), "-o", str(tmp_path / "history.html")])
    assert (result.exit_code, result.output) == (0, "")
    browser.open((tmp_path / "history.html").as_uri())
    browser.wait("return document.querySelectorAll('figure svg').length === 2")
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
