"""What the how-to pages for RAG say besides what is executed: the workflow's options, the summary, names of fields."""

import re
import shlex

import pytest
from click.testing import CliRunner

from blocks import ROOT, blocks, run_command, runnable, write_files
from focuseval.cli import main
from focuseval.data.fields import NAMES

HOWTO = ROOT / "docs" / "howto"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that the first page makes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_files(HOWTO / "rag-in-five-minutes.md", tmp_path)
    return tmp_path


def test_the_test_of_the_page_on_pytest_fails_when_retrieval_gets_worse(folder):
    page, names = HOWTO / "pytest.md", {}
    write_files(page, folder)
    assert run_command(runnable(page)[0].commands[0], "")[0] == 0
    exec(compile((folder / "test_retrieval.py").read_text(), "test_retrieval.py", "exec"), names)
    names["test_retrieval_did_not_get_worse"]()
    names["retrieve"] = lambda: [
        {"topic": f"q{number}", "doc": "coffee.md", "start": 0, "end": 9} for number in (1, 2, 3)
    ]
    with pytest.raises(AssertionError, match="spanR@5"):
        names["test_retrieval_did_not_get_worse"]()


def options_of_the_gate(words):
    gate = main.get_command(None, "gate")
    return {word for word in words if word.startswith("-")} <= {name for option in gate.params for name in option.opts}


def test_the_workflow_gives_the_action_what_it_takes():
    yaml = pytest.importorskip("yaml")
    workflow, *_ = (yaml.safe_load(block.body) for block in blocks(HOWTO / "github-actions.md") if block.kind == "yaml")
    (step,) = [
        step
        for step in workflow["jobs"]["gate"]["steps"]
        if step["uses" if "uses" in step else "run"].endswith("focuseval")
    ]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    required = {name for name, given in action["inputs"].items() if given.get("required")}
    assert required <= step["with"].keys() <= action["inputs"].keys()
    assert options_of_the_gate(shlex.split(step["with"]["options"]))
    assert "junit" in action["outputs"]


def test_the_hooks_before_a_commit_call_commands_with_their_options():
    yaml = pytest.importorskip("yaml")
    _, *configured = (
        yaml.safe_load(block.body) for block in blocks(HOWTO / "github-actions.md") if block.kind == "yaml"
    )
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    assert hooks.keys() == {"focuseval-gate", "focuseval-validate"}
    for one in configured:
        ((hook,),) = [repo["hooks"] for repo in one["repos"]]
        words = [*shlex.split(hook.get("entry", hooks[hook["id"]]["entry"])), *hook.get("args", [])]
        assert words[:2] == ["focuseval", "gate"]
        assert options_of_the_gate(words)


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
    assert {name for names in NAMES.values() for name in names} - listed == {"path", "end_path", "tags", "group", "run"}
