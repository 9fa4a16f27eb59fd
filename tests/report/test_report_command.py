"""``focuseval report`` from the shell: pages, tables, figures, a server, and one line for what is wrong."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.collection.build import build_index
from focuseval.errors import MissingDataError
from focuseval.example import copy_example
from focuseval.report import page
from focuseval.report.charts.chart import WIDTHS, Chart
from focuseval.report.page import draw_all


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("example")
    copy_example(place)
    build_index([place / "articles"], place / "articles.idx", jobs=1)
    return place


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def command(*arguments):
        runs = sorted(str(path) for path in (folder / "runs" / "spans").iterdir())
        return CliRunner().invoke(main, ["report", "gold/gold.jsonl", *runs, "--index", "articles.idx", *arguments])

    return command


def test_a_page_appears_whole_and_is_the_same_every_time(run, folder):
    pages = []
    for name in ("one.html", "two.html"):
        result = run("-o", name, "--topics", "topics.xml", "--baseline", "windows", "--title", "Chunks")
        assert (result.exit_code, result.stdout) == (0, ""), result.output
        pages.append((folder / name).read_bytes())
    assert pages[0] == pages[1]
    assert b"<title>Chunks</title>" in pages[0]
    assert b"against baseline" in pages[0]
    assert b"sound signals in fog" in pages[0]


def test_the_baseline_may_be_a_file_that_is_not_among_the_runs(folder, monkeypatch):
    monkeypatch.chdir(folder)
    arguments = ["report", "gold/gold.jsonl", "runs/spans/windows.jsonl", "--baseline", "runs/spans/paragraphs.jsonl"]
    result = CliRunner().invoke(main, [*arguments, "--index", "articles.idx", "--format", "json"])
    told = json.loads(result.stdout)["first"]
    assert (told["a"], told["b"]) == ("windows", "paragraphs")


def test_json_holds_what_the_page_shows(run):
    told = json.loads(run("--format", "json").stdout)
    assert told.keys() == {"title", "about", "first", "choices", "remarks", "charts", "heat", "texts", "tables"}
    assert told["first"]["runs"][0]["means"][0]["low"] <= told["first"]["runs"][0]["means"][0]["mean"]


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("latex", (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{Means with 95 \% intervals}")),
        ("markdown", ("### Means with 95 % intervals", "| run | spanR@5 |", "`focuseval:")),
        ("csv", ("run,measure,mean,low,high,rank,topics", "# focuseval:")),
    ],
)
def test_tables_come_in_every_layout(run, layout, words):
    text = run("--format", layout, "--wide").stdout
    assert all(word in text for word in words)
    assert "Recall by reading" in text


def test_a_page_without_a_name_is_a_usage_error(run):
    result = run()
    assert result.exit_code == 2
    assert "-o report.html" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--baseline", "nobody", "-o", "x.html"), "baseline 'nobody' is none of the runs"),
        (("-m", "nothing", "-o", "x.html"), "nothing"),
        (("-o", "no/such/folder/x.html"), "cannot be written"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, arguments, said):
    result = run(*arguments)
    assert result.exit_code == (2 if "-m" in arguments else 1)  # an unknown measure is wrong usage
    assert result.stderr.count("\n") == 1
    assert said in result.stderr


def chart():
    rows = (("a", 1.0), ("b", 2.0))
    spec = {
        "width": "container",
        "data": {"name": "rows"},
        "mark": "bar",
        "encoding": {"x": {"field": "v", "type": "quantitative"}},
    }
    return Chart("plain", "Plain", "A bar.", "topics", ("run", "v"), rows, spec)


@pytest.mark.skipif(not shutil.which("chromium"), reason="no Chromium: apt-get install chromium")
def test_figures_are_drawn_by_a_browser_where_nothing_else_is_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    drawn = draw_all([chart()], WIDTHS["column"], serif=True)
    svg = drawn["plain.svg"].decode()
    assert re.match(r"<svg[^>]*xmlns=", svg)
    assert "</svg>" in svg
    assert "Times" in svg
    width = float(re.search(r'width="([\d.]+)"', svg)[1])
    assert width == pytest.approx(WIDTHS["column"], abs=12)
    (box,) = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", drawn["plain.pdf"])  # one page
    assert float(box[0]) == pytest.approx(0.75 * width, abs=2)  # points


def test_a_browser_that_prints_no_page_does_not_give_a_figure_the_page_of_another(monkeypatch):
    printed = []

    def browse(folder, *arguments):
        if "--dump-dom" in arguments:
            return b"<pre>" + json.dumps(['<svg width="9" height="9"></svg>'] * 2).encode() + b"</pre>"
        printed.append(arguments)
        if len(printed) == 1:
            Path(folder, "figure.pdf").write_bytes(b"first")
        return b""

    monkeypatch.setattr(page, "browse", browse)
    with pytest.raises(MissingDataError, match="the browser printed no figure"):
        page.by_browser([{}, {}])


def test_figures_without_a_program_say_what_to_install(monkeypatch, run):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    result = run("--figures", "figures")
    assert result.exit_code == 1
    assert "pip install focuseval[figures]" in result.stderr


def test_figures_use_the_converter_that_is_installed(monkeypatch):
    seen = []

    class Converter:
        @staticmethod
        def vegalite_to_svg(spec):
            seen.append(spec)
            return "<svg></svg>"

        @staticmethod
        def svg_to_pdf(svg):
            return b"%PDF " + svg.encode()

    monkeypatch.setitem(sys.modules, "vl_convert", Converter)
    assert draw_all([chart()]) == {"plain.svg": b"<svg></svg>", "plain.pdf": b"%PDF <svg></svg>"}
    assert seen[0]["data"]["values"] == [{"run": "a", "v": 1.0}, {"run": "b", "v": 2.0}]
    assert seen[0]["width"] == WIDTHS["page"]


def test_the_latex_table_fits_a_page_marks_the_best_and_carries_the_signature(run):
    narrow, wide = (run("--profile", "rag", "--format", "latex", *more).stdout for more in ((), ("--wide",)))
    assert narrow.count(r"\begin{tabular}") == 1
    assert wide.count(r"\begin{tabular}") > 3
    head = next(line for line in narrow.splitlines() if line.startswith("run & "))
    assert head.startswith(r"run & spanR@2000c & 95 \% interval & rank & ")
    assert head.count("&") == 7
    assert r"\textbf{" in narrow
    assert r"\footnotesize focuseval:" in narrow.replace("\n", " ")


def test_a_run_that_breaks_its_task_s_rules_is_refused_or_repaired(folder, monkeypatch):
    monkeypatch.chdir(folder)
    arguments = [
        "report",
        "gold/gold.jsonl",
        "runs/thorough/careful.xml",
        "--task",
        "focused",
        "--index",
        "articles.idx",
    ]
    assert "--repair" in CliRunner().invoke(main, [*arguments, "-o", "x.html"]).stderr
    repaired = CliRunner().invoke(main, [*arguments, "--repair", "--format", "json"])
    assert json.loads(repaired.stdout)["first"]["topics"] == 6


def test_structure_is_read_strictly_where_the_topics_are_given(folder, monkeypatch):
    monkeypatch.chdir(folder)
    arguments = [
        "report",
        "gold/gold.jsonl",
        "runs/thorough/careful.xml",
        "-m",
        "MAep",
        "--index",
        "articles.idx",
        "--cas",
        "strict",
    ]
    assert "--topics" in CliRunner().invoke(main, [*arguments, "-o", "x.html"]).stderr
    strict = CliRunner().invoke(main, [*arguments, "--topics", "topics.xml", "--format", "json"])
    assert "cas:strict" in json.loads(strict.stdout)["about"]["signature"]
