"""What the commands print fits 80 columns, or the terminal; a file takes any width."""

import re

import pytest
from click.testing import CliRunner

import focuseval.example
from focuseval.cli import main
from focuseval.data.tables import LAYOUTS, size

EXAMPLE = next(iter(focuseval.example.__path__))
GOLD, DOCS = f"{EXAMPLE}/gold/gold.jsonl", ("--docs", f"{EXAMPLE}/articles")


def runs(task, ending):
    return [f"{EXAMPLE}/runs/{task}/{name}.{ending}" for name in ("careful", "coarse", "hasty")]


def lines(*call):
    """What a command prints without the signature of its scores, which is copied as a whole and stays one line."""
    result = CliRunner().invoke(main, call, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [line for line in result.stdout.splitlines() if not line.startswith("focuseval:")]


@pytest.mark.parametrize(
    "call",
    [
        ("score", GOLD, *runs("focused", "xml"), *DOCS, "--profile", "inex2006", "--task", "focused"),
        ("score", GOLD, *runs("best-in-context", "txt"), *DOCS, "--profile", "inex2006", "--task", "best-in-context"),
        ("score", GOLD, *runs("relevant-in-context", "txt"), *DOCS, "-m", "MAgP", "-m", "MAiP", "--per-topic"),
        ("compare", GOLD, *runs("relevant-in-context", "txt"), *DOCS, "-m", "MAgP", "-m", "AP", "-m", "MAiP"),
        ("fidelity", GOLD, *DOCS, "-m", "MAgP", "-m", "AP", "-m", "MAiP"),
        ("stats", GOLD, f"{EXAMPLE}/topics.xml", *DOCS),
        ("topics", f"{EXAMPLE}/topics.xml"),
        ("measures",),
        ("profiles",),
        ("formats",),
    ],
    ids=lambda call: call[0],
)
@pytest.mark.parametrize("columns", ["80", "120"])
def test_a_command_fits_the_terminal(call, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    assert max(map(size, lines(*call))) <= int(columns)


@pytest.mark.parametrize("columns", ["80", "100"])
def test_the_demonstration_fits_the_terminal_and_breaks_no_number(tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["demo", "sea"], catch_exceptions=False)
    printed = done.stdout.splitlines()
    assert max(map(size, printed)) <= int(columns)
    values = [cell for line in printed for cell in line.split() if re.fullmatch(r"[+-]?0\.\d+\*?", cell)]
    assert len(values) > 40
    assert all(len(cell.strip("+-*")) in {4, 6} for cell in values)  # 0.45 or 0.5243, whole


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_best_value_of_every_measure_is_marked_once_there_are_runs_to_compare(layout):
    asked = ("--profile", "inex2006", "--task", "focused", "--format", layout)
    call = ("score", GOLD, *runs("focused", "xml"), *DOCS, *asked)
    text = "\n".join(lines(*call))
    best = {"table": "0.5243*", "markdown": "**0.5243**", "latex": r"\textbf{0.5243}", "csv": "0.52"}[layout]
    assert best in text
    marks = {"table": "*", "markdown": "**", "latex": r"\textbf", "csv": "*"}[layout]
    alone = "\n".join(lines("score", GOLD, runs("focused", "xml")[0], *DOCS, *asked))
    assert marks not in alone


def test_a_file_takes_any_width(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    call = ("score", GOLD, *runs("best-in-context", "txt"), *DOCS, "--profile", "inex2006", "--task", "best-in-context")
    assert lines(*call, "-o", str(tmp_path / "scores.txt")) == []
    head = (tmp_path / "scores.txt").read_text().splitlines()[0].split()
    assert (head[0], head[-1], len(head)) == ("run", "unjudged", 1 + 10 + 4)
    assert lines(*call)[0].split() == ["run", "careful", "coarse", "hasty"]
