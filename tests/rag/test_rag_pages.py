"""The how-to pages for RAG are true: their files are made, their commands and Python run, and print what they say."""

import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.fields import NAMES

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")  # a test tells nobody that it ran
HOWTO = Path(__file__).parents[2] / "docs" / "howto"
FIVE = HOWTO / "rag-in-five-minutes.md"
PAGES = [
    FIVE,
    *(
        HOWTO / f"{name}.md"
        for name in (
            *("github-actions", "pytest", "notebook", "trec-rag", "multi-hop", "your-files"),
            *("compare-chunkers", "token-budgets"),
        )
    ),
]
BLOCK = re.compile(r"^```(?:\{code-block\} )?(\w+)\n(?::caption: (\S+)\n\n)?(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    return [(kind, caption, body) for kind, caption, body in BLOCK.findall(page.read_text(encoding="utf-8"))]


def write_files(page, folder):
    """Make every file that a page shows under its name."""
    for _, caption, body in blocks(page):
        if caption:
            (folder / caption).parent.mkdir(parents=True, exist_ok=True)
            (folder / caption).write_text(body, encoding="utf-8")


def follow(page):
    """Run a page from top to bottom; yield each command with what the page says it prints, and what it printed."""
    names = {}
    for kind, caption, body in blocks(page):
        if kind == "python" and not caption:
            exec(compile(body, page.name, "exec"), names)
        elif kind == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, *said = part.strip().splitlines()
                yield command, said


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that the first page makes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_files(FIVE, tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed_and_prints_what_it_says(folder, page):
    write_files(page, folder)
    followed = 0
    for command, said in follow(page):
        words = shlex.split(command)
        if words[0] != "focuseval":
            continue
        done = CliRunner().invoke(main, words[1:])
        assert done.exit_code == 0, f"{command}: {done.output}"
        printed = done.output.splitlines()
        assert [line for line in said if line not in printed] == [], done.output
        followed += 1
    assert followed or page.stem == "notebook"


FRAMEWORKS = {
    "langchain": ("langchain_core", "langchain_text_splitters"),
    "llamaindex": ("llama_index.core",),
    "haystack": ("haystack",),
    "dataframes": (),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_page_on_a_framework_runs_with_the_real_package(folder, name, capsys):
    for package in FRAMEWORKS[name]:
        reason = f"{package} is not installed: see the dependency group 'frameworks'"
        pytest.importorskip(package, reason=reason, exc_type=ImportError)
    assert list(follow(HOWTO / f"{name}.md")) == []
    printed = capsys.readouterr().out
    assert "spanR@1" in printed
    assert name == "dataframes" or " 0 ambiguous, 0 lost" in printed


def test_the_test_of_the_page_on_pytest_passes_and_can_fail(folder):
    page = HOWTO / "pytest.md"
    write_files(page, folder)
    assert [command for command, _ in follow_until_pytest(page)]
    names = {}
    exec(compile((folder / "test_retrieval.py").read_text(), "test_retrieval.py", "exec"), names)
    names["test_retrieval_did_not_get_worse"]()


def follow_until_pytest(page):
    """Make the baseline, as the page's first command does."""
    command = next(body for kind, _, body in blocks(page) if kind == "console")[2:].strip()
    assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 0
    yield command, []


def test_the_workflow_calls_the_gate_as_it_is():
    """Every option of the YAML's gate command exists."""
    workflow = next(body for kind, _, body in blocks(HOWTO / "github-actions.md") if kind == "yaml")
    command = " ".join(re.search(r"focuseval gate.*?--junit gate.xml", workflow, re.DOTALL)[0].split())
    options = {word for word in shlex.split(command) if word.startswith("-")}
    gate = main.get_command(None, "gate")
    assert options <= {name for option in gate.params for name in option.opts}


def test_the_gates_summary_reaches_github(folder, monkeypatch):
    summary = folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    given = ["gold.jsonl", "windows.jsonl", "--docs", "docs", "-m", "spanR@5"]
    run = CliRunner().invoke
    assert run(main, ["score", *given, "--per-topic", "--format", "json", "-o", "base.json"]).exit_code == 0
    assert run(main, ["gate", "--baseline", "base.json", *given, "--min-effect", "0.02"]).exit_code == 0
    assert summary.read_text().startswith("### focuseval gate: no regression")


def test_the_page_on_files_lists_every_name_of_a_field():
    page = (HOWTO / "your-files.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([\w-]+)`", page.partition("| ours | also |")[2].partition("\n\n")[0]))
    assert {name for names in NAMES.values() for name in names} - listed == {"path", "end_path", "tags", "run"}
