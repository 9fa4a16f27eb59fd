"""What holds for every command: sections of the help page, one line for an error, output whole or not at all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import COMMANDS, SECTIONS, main
from focuseval.cli.commands import module_of
from focuseval.example import ROOT
from focuseval.formats.content import write_whole
from strategies.commands import LEAVES

RUN = "1 Q0 d1 1 4 R\n1 Q0 d2 2 3 R\n"
QRELS = "1 0 d1 1\n"

WITH_COLLECTION = ("score", "compare", "simulate", "fidelity", "report", "gate", "convert", "validate", "stats")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run").write_text(RUN)
    Path("qrels").write_text(QRELS)
    return tmp_path


def shell(line, **more):
    """Run a line of shell that calls focuseval as `$F`."""
    env = os.environ | {"F": f"{sys.executable} -m focuseval"}
    return subprocess.run(["/bin/sh", "-c", line], env=env, capture_output=True, text=True, check=False, **more)


@pytest.mark.parametrize(
    ("command", "own", "threads"),
    [("score", None, "1"), ("report", None, "1"), ("score", "2", "2"), ("retrieve", None, None)],
)
def test_openblas_has_one_thread_where_no_vectors_are_compared(monkeypatch, command, own, threads):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "")  # so that it is as before afterwards
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    if own:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", own)
    module_of(command)
    assert os.environ.get("OPENBLAS_NUM_THREADS") == threads


def test_the_help_page_shows_every_command_once_with_its_whole_summary():
    page = CliRunner().invoke(main, ["--help"], terminal_width=200).output
    assert sorted(COMMANDS) == sorted({*COMMANDS})
    assert all(f"{heading}:\n" in page for heading in SECTIONS)
    assert all(page.count(f"\n  {name:9}  ") == 1 for name in COMMANDS)
    assert "..." not in page.partition("Start:\n")[2]


def test_the_help_page_says_of_every_command_the_first_sentence_of_its_help():
    """The page reads it in the source, so that it need not import 26 commands."""
    page = " ".join(CliRunner().invoke(main, ["--help"], terminal_width=200).output.split())
    for name in COMMANDS:
        sentence = " ".join(main.get_command(None, name).help.partition("\n\n")[0].split()).rstrip(".")
        assert f" {name} {sentence}" in page


def test_an_option_without_bounds_shows_no_range():
    page = CliRunner().invoke(main, ["simulate", "--help"]).output
    assert "x<=1" in page
    assert "None" not in page


def test_the_help_page_imports_no_command():
    code = (
        "import sys; from focuseval.cli import main; main(['--help'], standalone_mode=False)\n"
        "print(sorted({name for name in sys.modules if name.startswith('focuseval.')}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    allowed = ["cli", "cli.commands", "engine", "engine.version", "errors"]
    assert eval(done.stderr) == [f"focuseval.{name}" for name in allowed]


@pytest.mark.parametrize("name", WITH_COLLECTION)
def test_every_command_that_reads_text_takes_an_index_or_documents_and_never_both(name):
    command = main.get_command(None, name)
    assert {"--index", "--docs"} <= {option for parameter in command.params for option in parameter.opts}
    said = CliRunner().invoke(main, [name, "a", "b", "--index", "x", "--docs", "y"])
    assert said.exit_code == 2
    assert "give one of them" in said.output


@pytest.mark.parametrize("line", ["stats no", "topics no", "validate no --task focused", "score no run -m AP",
                                  "score qrels no -m AP", "convert no out.jsonl", "index no -o i",
                                  "stats run --index no", "pool no -o p", "compare qrels no -m AP"])  # fmt: skip
def test_a_file_that_is_not_there_is_one_line_and_exit_1(folder, line):
    said = CliRunner().invoke(main, line.split())
    assert said.exit_code == 1, said.output
    assert said.stderr.count("\n") == 1
    assert said.stderr.startswith("no: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device that is always full")
@pytest.mark.parametrize("line", ["stats run", "convert run - --to run-jsonl", "score qrels run -m AP", "formats"])
def test_a_full_disk_behind_standard_output_is_one_line(folder, line):
    said = shell(f"$F {line} > /dev/full")
    assert said.returncode == 1
    assert said.stderr == "standard output: No space left on device; make room\n"


def test_a_reader_that_goes_away_ends_a_command_quietly(folder):
    Path("run").write_text("".join(f"1 Q0 d{n} {n} {-n} R\n" for n in range(1, 20_000)))
    assert shell("$F convert run - --to run-jsonl | head -1").stderr == ""


def test_a_device_is_written_to_and_not_replaced(folder):
    write_whole("/dev/null", [b"nothing"])
    assert Path("/dev/null").is_char_device()
    said = shell("$F score qrels run -m AP --format csv -o /dev/stdout")
    assert (said.returncode, said.stdout.split(",")[0]) == (0, "run")


def test_a_simulated_run_is_json_lines_where_its_file_is_named_so(tmp_path):
    gold, articles = ROOT / "gold" / "gold.jsonl", ROOT / "articles"
    for name, first in (("ideal.jsonl", '{"topic"'), ("ideal.xml", "<?xml"), ("ideal", "<?xml")):
        made = CliRunner().invoke(
            main, ["simulate", str(gold), "--docs", str(articles), "--kind", "ideal", "-o", str(tmp_path / name)]
        )
        assert made.exit_code == 0, made.output
        assert (tmp_path / name).read_text().startswith(first)


GOLD, DOCS = str(ROOT / "gold" / "gold.jsonl"), str(ROOT / "articles")
FOCUSED = [str(path) for path in sorted((ROOT / "runs" / "focused").iterdir())]
PRINTS = {
    "stats": [GOLD],
    "topics": [str(ROOT / "topics.xml")],
    "validate": [*FOCUSED, "--task", "focused"],
    "score": [GOLD, *FOCUSED, "--docs", DOCS, "-m", "MAiP"],
    "compare": [GOLD, *FOCUSED, "--docs", DOCS, "-m", "MAiP"],
    "report": [GOLD, *FOCUSED, "--docs", DOCS, "-m", "MAiP"],
    "sweep": [GOLD, "--docs", DOCS, "--chunks", "words:50", "--topics", str(ROOT / "topics.xml")],
    "history": ["scores"],
    "pool": [*FOCUSED, "-o", "pool.jsonl"],
    "fidelity": [GOLD, "--docs", DOCS, "-m", "MAgP"],
    "measures": [],
    "profiles": [],
    "formats": [],
}


@pytest.mark.parametrize("name", PRINTS)
def test_every_command_that_prints_prints_json_under_both_names(folder, name):
    line = ["score", GOLD, *FOCUSED, "--docs", DOCS, "-m", "MAiP", "--json", "-o", "scores/a.json"]
    Path("scores").mkdir()
    assert CliRunner().invoke(main, line).exit_code == 0
    said = [CliRunner().invoke(main, [name, *PRINTS[name], *asked]) for asked in (["--format", "json"], ["--json"])]
    assert [one.exit_code for one in said] == [0, 0], said[0].output
    assert said[0].stdout == said[1].stdout
    assert json.loads(said[0].stdout)


def test_commands_that_print_nothing_or_in_a_layout_of_their_own_are_named():
    without = {name for name in LEAVES if "--json" not in _options(name)}
    written = {
        "index",
        "convert",
        "simulate",
        "retrieve",
        "fuse",
        "chunk",
        "draft",
        "publish",
    }  # files are what they make
    verbs = {name for name in LEAVES if name.startswith("project ")} - {
        "project add-run", "project agreement", "project stability", "project progress",
    }  # fmt: skip
    assert without <= written | verbs | {"demo", "inex-eval", "gate"}
    assert without.isdisjoint(PRINTS)


def _options(name):
    return {option for parameter in LEAVES[name].params for option in parameter.opts}


def test_measures_profiles_and_formats_tell_one_as_json():
    for name, one in (("measures", "gP@5"), ("profiles", "inex2006"), ("formats", "trec-run")):
        told = json.loads(CliRunner().invoke(main, [name, one, "--json"]).stdout)
        assert told["name"] == one.partition("@")[0]


@pytest.mark.parametrize("name", ["score", "compare", "report", "gate", "fidelity", "convert", "validate", "simulate"])
def test_every_command_that_computes_takes_a_profile(name):
    assert "--profile" in _options(name)


def test_help_says_how_repair_and_repairs_differ():
    for name in ("score", "report"):
        page = " ".join(CliRunner().invoke(main, [name, "--help"]).output.split())
        assert "--repair Repair runs that break the task's rules" in page
        assert "--repairs FILE List every quote and text" in page


def test_converting_under_a_profile_cuts_lists_and_says_so(folder):
    Path("long").write_text("".join(f"1 Q0 d{n} {n} {-n} R 0 9\n" for n in range(1, 1503)))
    said = CliRunner().invoke(main, ["convert", "long", "out.jsonl", "--profile", "inex2006"])
    assert said.exit_code == 0
    assert "left out: 2 results beyond the first 1,500 of their topics" in said.stderr
    assert Path("out.jsonl").read_text().count("\n") == 1500


def test_a_file_is_replaced_and_a_folder_only_when_asked(folder):
    """Whatever the command: an index, or a folder of assessments."""
    assessments = str(ROOT / "gold" / "assessments")
    lines = {"idx": ["index", DOCS, "-o", "idx"], "gold": ["convert", assessments, "gold", "--to", "inex-2005"]}
    for name, line in lines.items():
        assert CliRunner().invoke(main, line).exit_code == 0
        refused = CliRunner().invoke(main, line)
        assert refused.exit_code == 1
        assert refused.stderr.startswith(f"{name}: exists already; choose another name, or replace it with ")
        assert "--force" in refused.stderr
        assert refused.stderr.count("\n") == 1
        assert CliRunner().invoke(main, [*line, "--force"]).exit_code == 0
        assert Path(name).is_dir()
    Path("gold/notes.txt").write_text("mine")
    assert CliRunner().invoke(main, [*lines["gold"], "--force"]).exit_code == 1
    assert Path("gold/notes.txt").read_text() == "mine"
    for line in (["pool", "run", "-o", "out"], ["convert", "run", "out", "--to", "jsonl"]):
        assert [CliRunner().invoke(main, line).exit_code for _ in range(2)] == [0, 0]
