"""What is printed where the system's encoding is not UTF-8: files and pipes get UTF-8, consoles what they can show."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from focuseval.cli.commands import errors_as_lines
from focuseval.example import ROOT

GOLD, CAREFUL, COARSE = (
    str(ROOT / name) for name in ("gold/gold.jsonl", "runs/spans/windows.jsonl", "runs/spans/paragraphs.jsonl")
)
DOCS = ("--docs", str(ROOT / "articles"), "-m", "spanR@5")
COMMANDS = {
    "score": (GOLD, CAREFUL, *DOCS),
    "stats": (f"no such file {chr(0xDCFF)} ∅",),
    "gate": ("--baseline", "base.json", GOLD, COARSE, *DOCS),
}
SETTINGS = {
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """A function that runs a command under a setting, and gives its exit code, its output and its messages."""
    folder = tmp_path_factory.mktemp("consoles")

    def run(command, *arguments, **setting):
        kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONIOENCODING", "PYTHONUTF8"}}
        line = [sys.executable, "-m", "focuseval", command, *arguments]
        done = subprocess.run(line, cwd=folder, capture_output=True, env=kept | setting, check=False)
        return done.returncode, done.stdout, done.stderr

    scores = run("score", GOLD, CAREFUL, *DOCS, "--per-topic", "--format", "json")[1]
    (folder / "base.json").write_bytes(scores)
    json.loads(scores)
    return run


def test_every_command_prints_under_every_encoding(printed):
    with ThreadPoolExecutor(2) as pool:
        cases = [(setting, name) for setting in ("utf-8", *SETTINGS) for name in COMMANDS]
        found = pool.map(lambda case: printed(case[1], *COMMANDS[case[1]], **SETTINGS.get(case[0], {})), cases)
        results = dict(zip(cases, found, strict=True))
    for (setting, name), (code, out, err) in results.items():
        known, wanted, told = results["utf-8", name]
        assert (code, len(err.splitlines())) == (known, len(told.splitlines())), (name, err)
        assert b"NO VERDICT" not in out
        if setting == "cp1252":
            for sign, plain in (("─", "-"), ("→", "->"), ("∅", "?")):
                wanted, told = (text.replace(sign.encode(), plain.encode()) for text in (wanted, told))
            assert (out, err) == (wanted.decode().encode("cp1252"), told.decode().encode("cp1252"))
        else:
            assert (out, err) == (wanted, told)


def test_an_argument_that_is_no_unicode_is_one_line(capsys):
    with pytest.raises(SystemExit) as ended, errors_as_lines():
        "model \udcff".encode()
    assert (ended.value.code, capsys.readouterr().err) == (
        1,
        "expected characters of Unicode, found 'model \\\\udcff'; give names and options in UTF-8\n",
    )
