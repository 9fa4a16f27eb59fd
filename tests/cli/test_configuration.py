"""Options may stand in ``pyproject.toml``: the command line wins, what was taken is named, a slip is refused."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from focuseval.cli import main

GOLD = (
    '{"topic":"1","doc":"d1","spans":[{"start":0,"end":5}]}\n{"topic":"2","doc":"d1","spans":[{"start":0,"end":5}]}\n'
)
RUN = "1 Q0 d1 1 4 R 0 5\n1 Q0 d1 2 3 R 5 9\n2 Q0 d1 1 4 R 0 2\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "gold.jsonl").write_text(GOLD)
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "d1.txt").write_text("hello and more")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(folder, text: str) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def test_options_of_all_commands_are_taken_named_and_stand_in_the_signature(folder):
    configure(folder, '[tool.focuseval]\nmeasure = ["charP", "charR"]\ncutoff = 1\nmissing = "skip"\n')
    result = run("score", "gold.jsonl", "run.txt", "--format", "json")
    scores = json.loads(result.stdout)
    assert list(scores["runs"][0]["measures"]) == ["charP", "charR"]
    assert "missing:skip|" in scores["signature"]
    assert "cutoff:1|" in scores["signature"]
    assert result.stderr == "pyproject.toml: --measure charP --measure charR --cutoff 1 --missing skip\n"


def test_the_command_line_wins_and_what_it_gives_is_not_named(folder):
    configure(folder, '[tool.focuseval]\nmeasure = "charR"\ncutoff = 1\n')
    result = run("score", "gold.jsonl", "run.txt", "-m", "charP", "--cutoff", "2", "--json")
    assert list(json.loads(result.stdout)["runs"][0]["measures"]) == ["charP"]
    assert "cutoff:2|" in result.stdout
    assert result.stderr == ""


def test_a_commands_own_table_goes_before_that_of_all(folder):
    configure(
        folder, "[tool.focuseval]\ncutoff = 1\n[tool.focuseval.score]\ncutoff = 2\nper-topic = true\njson = true\n"
    )
    scores = json.loads(run("score", "gold.jsonl", "run.txt", "-m", "charR").stdout)
    assert "cutoff:2|" in scores["signature"]
    assert [*scores["runs"][0]["per_topic"]] == ["1", "2"]


def test_documents_of_the_file_give_way_to_an_index_of_the_command_line(folder):
    configure(folder, '[tool.focuseval]\ndocs = "docs"\n')
    assert run("index", "docs", "-o", "idx").exit_code == 0
    result = run("score", "gold.jsonl", "run.txt", "-m", "charR", "--index", "idx")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_verb_of_a_project_has_a_table_below_that_of_the_group(folder):
    configure(folder, '[tool.focuseval.project.export]\nunknown = "x"\n')
    result = run("project", "export", "sea", "gold.jsonl")
    assert result.exit_code == 2
    assert "pyproject.toml: expected an option of project export, found 'unknown'" in result.stderr
    configure(folder, '[tool.focuseval.project.exprot]\ndocs = "x"\n')
    result = run("project", "export", "sea", "gold.jsonl")
    assert "expected the table of a command, found 'exprot'; did you mean export" in result.stderr


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[tool.focuseval]\ncutof = 1\n", "expected an option of several commands, found 'cutof'; did you mean cutoff"),
        ("[tool.focuseval]\nper-topic = true\n", "expected an option of several commands, found 'per-topic'"),
        ("[tool.focuseval.score]\nper_topic = true\n", "expected an option of score, found 'per_topic'; did you mean"),
        ("[tool.focuseval.score]\nper-topic = 1\n", "per-topic: expected true or false, found 1"),
        ("[tool.focuseval]\ncutoff = true\n", "cutoff: expected a text, a number or a list of them, found True"),
        ("[tool.focuseval]\ncutoff = 0\n", "pyproject.toml: Invalid value for '--cutoff': 0 is not in the range x>=1"),
        ("[tool.focuseval.scor]\ncutoff = 1\n", "expected the table of a command, found 'scor'; did you mean score"),
        ("[tool.focuseval.xyz]\ncutoff = 1\n", "found 'xyz'; 'focuseval --help' lists all"),
        ("[tool.focuseval\n", "pyproject.toml: expected TOML, found: Expected ']'"),
    ],
)  # fmt: skip
def test_a_slip_in_the_file_is_one_line_and_wrong_usage(folder, text, found):
    configure(folder, text)
    result = run("score", "gold.jsonl", "run.txt", "-m", "charR")
    assert result.exit_code == 2
    assert found in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.focuseval.gate]\nmax-lots = 3\n", "found 'max-lots'; did you mean max-lost?"),
        ("[tool.focuseval.gat]\nmax-lost = 3\n", "found 'gat'; did you mean gate"),
        ("[tool.focuseval.gate]\nalpha = 'x'\n", "NO VERDICT pyproject.toml: Invalid value for '--alpha': 'x' is not"),
    ],
)
def test_a_slip_in_the_file_is_no_verdict_of_a_gate(folder, text, said):
    configure(folder, text)
    result = run("gate", "--baseline", "b.json", "gold.jsonl", "run.txt")
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_wrong_value_of_the_command_line_is_not_said_to_be_of_the_file(folder):
    configure(folder, "[tool.focuseval]\ncutoff = 1\n")
    result = run("score", "gold.jsonl", "run.txt", "--cutoff", "0")
    assert "Invalid value for '--cutoff'" in result.stderr
    assert "pyproject.toml" not in result.stderr


def test_an_index_for_several_commands_is_no_table_of_the_command_index(folder):
    configure(folder, '[tool.focuseval]\nindex = "idx"\n')
    assert run("index", "docs", "-o", "idx").exit_code == 0


@pytest.mark.parametrize("text", ["[tool.other]\nfocuseval = 1\n", "nonsense", "[project]\nname = 'a'\n"])
def test_a_file_of_other_tools_changes_nothing(folder, text):
    configure(folder, text)
    result = run("score", "gold.jsonl", "run.txt", "-m", "charR")
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "offered"),
    [("score -m nxC", "nxCG"), ("score --profile rag", "rag"), ("score --task foc", "focused"), ("ga", "gate")],
)
def test_a_shell_completes_commands_measures_profiles_and_tasks(words, offered):
    asked = {
        "COMP_WORDS": f"focuseval {words}",
        "COMP_CWORD": str(len(words.split())),
        "_FOCUSEVAL_COMPLETE": "bash_complete",
    }
    command = [sys.executable, "-c", "from focuseval.cli import run; run()"]
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | asked, check=True)
    assert f"plain,{offered}" in result.stdout.splitlines()


def test_scores_for_a_job_summary_fold_topics_and_what_was_computed(folder):
    text = run("score", "gold.jsonl", "run.txt", "-m", "charR", "--per-topic", "--format", "github").stdout
    means, topics, how = text.split("<details>")
    assert "| R | 0.7000 | 2 |" in means
    assert topics.startswith("<summary>Topics</summary>\n\n|")
    assert "| 2 | 0.4000 |" in topics
    assert "`focuseval:" in how
    assert text.count("</details>") == 2
