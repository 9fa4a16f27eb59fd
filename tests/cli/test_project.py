"""``focuseval project``: every verb does its own part, and none makes a project by accident."""

import click
import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.example import ROOT
from strategies.commands import LEAVES
from strategies.projects import command, judged_project

VERBS = [
    *(
        "export",
        "import",
        "archive",
        "split",
        "sample",
        "drafts",
        "add-run",
        "users add",
        "users remove",
        "users invite",
        "users log-out",
    ),
    *("agreement", "stability", "progress", "check", "restore", "guidelines", "reanchor"),
]


def test_the_verbs_are_those_of_the_documentation_in_its_order():
    assert [name.removeprefix("project ") for name in LEAVES if name.startswith("project ")] == VERBS


def test_the_help_lists_every_verb_with_its_first_sentence():
    page = CliRunner().invoke(main, ["project", "--help"], terminal_width=200).output
    lines = [line.split("  ", 2) for line in page.partition("Verbs:\n")[2].splitlines()]
    assert [words[1].strip() for words in lines] == list(dict.fromkeys(verb.split()[0] for verb in VERBS))
    assert "..." not in page.partition("Verbs:\n")[2]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_few_options(verb):
    options = [one for one in LEAVES[f"project {verb}"].params if isinstance(one, click.Option)]
    assert len(options) <= 8


ARGUMENTS = {
    "export": ["out"], "archive": ["out"], "split": ["pool", "--among", "a"], "add-run": ["run"], "stability": ["run"],
    "users invite": ["ann", "--users", "people"], "users log-out": ["ann"], "guidelines": ["file"],
    "sample": ["5"],
}  # fmt: skip


@pytest.mark.parametrize(
    "verb", [verb for verb in VERBS if verb not in {"import", "drafts", "users add", "users remove"}]
)
def test_a_verb_makes_no_project(tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    told = command("project", *verb.split(), "none", *ARGUMENTS.get(verb, []), code=1)
    assert told.startswith("none: expected a ")
    assert list(tmp_path.iterdir()) == []


def test_an_export_of_everything_becomes_the_same_project_again(tmp_path):
    project = judged_project(tmp_path)
    command("project", "export", project, tmp_path / "all.jsonl")
    begin = ("--docs", ROOT / "articles", "--topics", ROOT / "topics.xml")
    command("project", "import", tmp_path / "copy", tmp_path / "all.jsonl", *begin)
    command("project", "export", tmp_path / "copy", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "all.jsonl").read_bytes()


def test_an_archive_becomes_a_project_again(tmp_path):
    project = judged_project(tmp_path)
    command("project", "archive", project, tmp_path / "sea.zip", "--imported")
    command("project", "import", tmp_path / "again", tmp_path / "sea.zip", "--docs", ROOT / "articles")
    assert command("project", "check", tmp_path / "again") == command("project", "check", project)
