"""Measures, formats, chunkers and retrievers of another package are found by their entry points, and named."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import focuseval as fe
from blocks import blocks
from focuseval.cli import main
from focuseval.engine import plugins
from focuseval.errors import FocusevalError, UsageError
from focuseval.formats import find_format
from page_folders import EXTENSION, installed

TEXTS = {"tea": "Boil the water.\n\nBlack tea draws for four minutes.\n\nPour the water away."}
GOLD = [{"topic": "q", "query": "How long does black tea draw?", "doc": "tea", "start": 17, "end": 50}]
ROWS = [{"topic": "q", "doc": "tea", "start": 0, "end": 15}, {"topic": "q", "doc": "tea", "start": 17, "end": 50}]


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The example package, as if it were installed."""
    installed(EXTENSION, tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    plugins.offered.cache_clear()
    yield tmp_path
    plugins.offered.cache_clear()


def added(folder, monkeypatch, group, name, value):
    """A folder on the path with another package that adds one thing."""
    meta = folder / "other-2.0.dist-info"
    meta.mkdir(parents=True)
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 2.0\n")
    (meta / "entry_points.txt").write_text(f"[focuseval.{group}]\n{name} = {value}\n")
    monkeypatch.syspath_prepend(folder)
    plugins.offered.cache_clear()


@pytest.mark.usefixtures("example")
def test_a_measure_is_computed_and_the_signature_names_its_package():
    scores = fe.evaluate(GOLD, ROWS, ["useful@2", "spanR@2"])
    assert scores.mean[0].tolist() == [0.5, 1.0]
    assert "|packages:focuseval-example 1.0" in scores.signature
    assert "packages" not in fe.evaluate(GOLD, ROWS, ["spanR@2"]).signature


@pytest.mark.usefixtures("example")
def test_a_measure_is_explained_with_its_package():
    told, as_json = (
        CliRunner().invoke(main, ["measures", "useful", *more]).output for more in ([], ["--format", "json"])
    )
    assert "Share of the first results" in told
    assert "Package     focuseval-example 1.0" in told
    assert '"family": "focuseval-example 1.0"' in as_json


@pytest.mark.usefixtures("example")
def test_the_name_of_an_added_measure_is_offered_for_one_with_a_mistake():
    with pytest.raises(FocusevalError, match="useful"):
        fe.parse("usefull@2")


def test_a_run_in_an_added_format_is_read_by_name_and_by_its_content(example):
    file = example / "run.txt"
    file.write_text("".join(f"q\ttea\t{row['start']}\t{row['end']}\n" for row in ROWS))
    for form in ("tabs", None):
        run = fe.read_run(file, form)
        assert (run.start.tolist(), run.origin) == ([0, 17], "focuseval-example 1.0")
    scores = fe.evaluate(GOLD, file, ["spanR@1", "spanR@2"])
    assert scores.mean[0].tolist() == [0.0, 1.0]
    assert "|packages:focuseval-example 1.0" in scores.signature


@pytest.mark.usefixtures("example")
def test_an_added_format_of_runs_is_none_of_gold():
    with pytest.raises(UsageError, match="found 'tabs'"):
        find_format("tabs", "gold")


@pytest.mark.usefixtures("example")
def test_an_added_chunker_cuts_as_its_spec_says():
    cut = fe.chunk(TEXTS, "paragraphs:2")
    assert list(zip(cut.start.tolist(), cut.end.tolist(), strict=True)) == [(0, 50), (52, 72)]
    assert (cut.name, cut.origin) == ("paragraphs:2", "focuseval-example 1.0")
    assert len(fe.chunk(TEXTS, "paragraphs")) == 3
    with pytest.raises(UsageError, match=r"paragraphs:two: focuseval-example 1\.0 cannot cut so"):
        fe.chunk(TEXTS, "paragraphs:two")


@pytest.mark.usefixtures("example")
def test_an_added_retriever_makes_runs_and_is_swept_beside_ours():
    run = fe.retrieve(TEXTS, {"q": "How long does black tea draw?"}, retriever="common-words", unit="sentences:1")
    assert (run.start[0], run.end[0]) == (17, 50)
    assert run.attributes["description"].startswith("common-words of focuseval-example 1.0 sentences:1 ")
    found = fe.sweep(GOLD, TEXTS, ["paragraphs", "sentences:1"], ["bm25", "common-words"], ["spanR@1"])
    assert len(found.scores.runs) == 4
    assert "common-words of focuseval-example 1.0" in found.scores.signature
    assert "|packages:focuseval-example 1.0" in found.scores.signature


def test_nobody_is_asked_for_a_name_of_ours(monkeypatch):
    def asked(kind):
        raise AssertionError(kind)

    for place in ("measures.measure", "formats.catalogue", "collection.chunks"):
        monkeypatch.setattr(f"focuseval.{place}.offered", asked)
    monkeypatch.setattr(plugins, "offered", asked)
    fe.evaluate(GOLD, ROWS, ["spanR@2", "AP", "MAgP"])
    fe.sweep(GOLD, TEXTS, ["sentences:1"], "bm25", ["spanR@1"])
    find_format("run-jsonl")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("broken", "nowhere:X", r"other 2\.0: .*'broken' of focuseval\.measures cannot be loaded \(Modul"),
        ("broken", "json:loads", "expected a Measure, found '<function loads"),
        ("broken", "focuseval_example:USEFUL", "expected something of this name, found 'useful'"),
        ("useful", "json:loads", r"found two, .*1\.0 and other 2\.0|found two, other 2\.0 and .*1\.0"),
    ],
)
def test_what_an_entry_point_lacks_is_said_in_one_line(example, monkeypatch, name, value, said):
    added(example / "other", monkeypatch, "measures", name, value)
    with pytest.raises(UsageError, match=said):
        fe.parse(f"{name}@2")


def test_a_retriever_that_returns_no_run_is_refused(example, monkeypatch):
    added(example / "other", monkeypatch, "retrievers", "nothing", "operator:is_")
    with pytest.raises(UsageError, match=r"other 2\.0: expected a run of the retriever 'nothing', found False"):
        fe.retrieve(TEXTS, {"q": "tea"}, retriever="nothing")


def test_the_page_shows_the_example_as_it_is():
    page = Path(__file__).parents[2] / "docs" / "howto" / "extend.md"
    shown = [block.body for block in blocks(page) if block.kind in {"python", "toml"}]
    code = "".join((EXTENSION / name).read_text("utf-8") for name in ("pyproject.toml", "focuseval_example.py"))
    assert len(shown) == 6
    assert [body for body in shown if body.strip() not in code] == []


def test_every_entry_point_of_the_example_is_one_of_the_four_groups():
    points = tomllib.loads((EXTENSION / "pyproject.toml").read_text())["project"]["entry-points"]
    assert sorted(points) == [f"focuseval.{kind}" for kind in ("chunkers", "formats", "measures", "retrievers")]
