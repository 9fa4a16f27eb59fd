"""The plugin of pytest, as a suite of somebody else's uses it: in a process of its own."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

GOLD = "".join(f'{{"topic":"q{n}","doc":"d{n}","spans":[{{"start":0,"end":10}}]}}\n' for n in range(8))
SUITE = """
import pytest

def lines(length):
    return [{"topic": f"q{n}", "doc": f"d{n}", "start": 0, "end": length} for n in range(8)]

@pytest.mark.focuseval("base.json", "gold.jsonl", "spanR@5", %s)
def test_retrieval(focuseval_gate):
    focuseval_gate(lines(%d))
"""


@pytest.fixture
def suite(tmp_path):
    """A function that runs a suite whose retriever returns so many characters of each answer."""
    (tmp_path / "gold.jsonl").write_text(GOLD)

    def run(length: int, *options: str, rule: str = "min_effect=0.01", text: str = SUITE) -> tuple[int, str]:
        (tmp_path / "test_suite.py").write_text(text % (rule, length) if "%d" in text else text)
        command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "focuseval.bridges.pytest_plugin"]
        done = subprocess.run(
            [*command, *options],
            cwd=tmp_path,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # others of this suite take long to load
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_update_writes_the_baseline_and_a_worse_run_fails_with_the_gates_sentence_alone(suite):
    assert suite(10, "--focuseval-update")[0] == 0
    assert suite(10)[0] == 0
    code, output = suite(4)
    assert code == 1
    assert "REGRESSION spanR@5: 1.0000 → 0.4000" in output
    assert "Traceback" not in output
    assert "During handling" not in output
    assert suite(4, "--focuseval-update")[0] == 0
    assert suite(4)[0] == 0


def test_the_rule_of_the_marker_decides(suite):
    assert suite(10, "--focuseval-update", rule="max_lost=3")[0] == 0
    assert suite(9, rule="min_effect=0.5")[0] == 0
    code, output = suite(9, rule="max_lost=3")
    assert code == 1
    assert "--max-lost 3 allows 3 of 8" in output


def test_a_fixture_without_a_marker_says_what_it_needs(suite):
    code, output = suite(0, text="def test_it(focuseval_gate):\n    focuseval_gate([], gold='gold.jsonl')\n")
    assert code == 1
    assert "focuseval: give baseline, measures in the marker or to focuseval_gate" in output


def test_the_plugin_loads_nothing_of_ours_but_the_assertion():
    code = "import sys, focuseval.bridges.pytest_plugin; print(*sorted(m for m in sys.modules if 'focuseval.' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"focuseval.bridges.testing", "focuseval.bridges.pytest_plugin"} <= {*done.stdout.split()}
    assert not {"numpy", "focuseval.evaluation", "focuseval.measures"} & {*done.stdout.split()}


def test_pytest_finds_the_plugin_by_itself():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"focuseval": "focuseval.bridges.pytest_plugin"}
