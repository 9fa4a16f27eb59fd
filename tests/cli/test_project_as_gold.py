"""Every command that takes a gold takes an assessment project, with its own collection, and says whose judgements."""

import json
import shutil

import pytest

from focuseval.cli import main
from focuseval.example import ROOT
from strategies.projects import DOCUMENTS, command, judged_project

RUNS = [str(ROOT / "runs" / "focused" / name) for name in ("careful.xml", "hasty.xml")]
PUBLISHED = ("title", "description", "licence", "creator", "citation", "source")
COMMANDS = {
    "score": [*RUNS, "-m", "MAgP", "-m", "charR", "--format", "json"],
    "compare": [*RUNS, "-m", "charR", "--format", "csv"],
    "report": [*RUNS, "-m", "charR", "--format", "csv"],
    "sweep": ["--chunks", "words:50", "--topics", str(ROOT / "topics.xml"), "--format", "csv"],
    "fidelity": ["-m", "MAgP", "--format", "csv"],
    "simulate": ["--kind", "ideal", "-o", "-"],
    "publish": [*(word for name in PUBLISHED for word in (f"--{name}", "x")), "--check"],
    "stats": ["--json"],
    "convert": ["-", "--to", "inex-2008"],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return judged_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def gold(project):
    """What the project's second assessor judged, as a file."""
    command("project", "export", project, project.parent / "gold.jsonl", "--to", "gold-jsonl", "--assessor", "two")
    return project.parent / "gold.jsonl"


def data(name, told):
    """What a command says, without the name and the hash of its gold."""
    if name in ("score", "stats"):
        told = json.loads(told[told.index("{") : told.rindex("}") + 1])
        return [run["measures"] for run in told["runs"]] if name == "score" else {**told, "file": ""}
    return [line for line in told.splitlines() if not line.startswith("/")]  # remarks begin with the gold's path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_project_is_read_as_the_gold_that_it_exports(project, gold, name):
    from_file = command(name, gold, *COMMANDS[name], "--docs", ROOT / "articles")
    from_project = command(name, project, *COMMANDS[name], "--assessor", "two")
    assert data(name, from_project) == data(name, from_file)


@pytest.mark.parametrize("name", COMMANDS)
def test_whose_judgements_is_asked_where_several_have_some_and_refused_where_there_is_no_project(project, gold, name):
    assert "expected an assessor among one, two" in command(name, project, *COMMANDS[name], code=1)
    assert "found 'three'" in command(name, project, *COMMANDS[name], "--assessor", "three", code=1)
    told = command(name, gold, *COMMANDS[name], "--docs", ROOT / "articles", "--adjudicated", code=2)
    assert "need an assessment project" in told


def test_every_command_that_takes_a_gold_has_the_options():
    takes_gold = {name for name in main.list_commands(None) if name != "inex-eval" and _takes_gold(name)}
    assert takes_gold == {*COMMANDS, "gate"} - {"stats", "convert"}
    for name in (*COMMANDS, "gate"):
        options = {option for parameter in main.get_command(None, name).params for option in parameter.opts}
        assert {"--assessor", "--adjudicated"} <= options


def _takes_gold(name):
    return any(parameter.name == "gold" for parameter in main.get_command(None, name).params)


def test_a_gate_holds_a_run_against_scores_of_the_same_project(project, tmp_path):
    asked = ["-m", "charR", "--assessor", "two"]
    base = tmp_path / "base.json"
    command("score", project, RUNS[0], *asked, "--per-topic", "--format", "json", "-o", base)
    gate = ["gate", project, RUNS[0], "--baseline", base, "-m", "charR"]
    assert "1 topic is too few for any outcome to be significant" in command(*gate, "--assessor", "two")
    assert "base.json: other gold than now" in command(*gate, "--assessor", "one", code=2)
    assert "NO VERDICT expected an assessor among one, two" in command(*gate, code=2)


def test_repairs_of_a_project_list_nothing_of_its_own(project, tmp_path):
    command("score", project, RUNS[0], "-m", "charR", "--assessor", "two", "--repairs", tmp_path / "repairs.csv")
    assert (tmp_path / "repairs.csv").read_text().count("\n") == 1


def test_a_project_converts_to_every_export_as_it_is_exported(project, tmp_path):
    for wanted in ("gold-jsonl", "inex-2005", "inex-2008", "trec-qrels"):
        asked = ["--to", wanted, "--assessor", "one"]
        command("project", "export", project, tmp_path / f"a-{wanted}", *asked)
        command("convert", project, tmp_path / f"b-{wanted}", *asked, "--lossy")
        assert _content(tmp_path / f"a-{wanted}") == _content(tmp_path / f"b-{wanted}")


def _content(path):
    files = sorted(path.rglob("*.xml")) if path.is_dir() else [path]
    return [file.read_text() for file in files]


def test_a_changed_text_is_refused_until_it_is_re_anchored_and_another_place_of_the_collection_will_do(tmp_path):
    articles = tmp_path / "articles"
    shutil.copytree(ROOT / "articles", articles)
    project = judged_project(tmp_path, collection=articles)
    asked = ["-m", "charR", "--assessor", "two"]
    command("score", project, RUNS[0], *asked)
    changed = articles / f"{DOCUMENTS[0]}.xml"
    changed.write_text(changed.read_text().replace("</title>", " anew</title>", 1))
    told = command("score", project, RUNS[0], *asked, code=1)
    assert f"the text of {DOCUMENTS[0]} has changed since two assessed it; open it to re-anchor it" in told
    assert "re-anchor" in command(
        "project", "export", project, tmp_path / "x", "--to", "trec-qrels", *asked[2:], code=1
    )
    command("score", project, RUNS[0], *asked, "--docs", ROOT / "articles")
    shutil.rmtree(articles)
    assert "say with --index or --docs" in command("score", project, RUNS[0], *asked, code=1)
    command("score", project, RUNS[0], *asked, "--docs", ROOT / "articles")
