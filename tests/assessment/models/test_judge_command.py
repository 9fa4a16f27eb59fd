"""``focuseval judge`` on the command line: what it prints, what it refuses, and what Ctrl-C leaves."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import focuseval
from strategies.model_server import SPRING, ModelServer, answer, asked_text, error
from strategies.projects import begin_project, command

KEY = "sk-command-42"


@pytest.fixture
def sea(tmp_path):
    return begin_project(tmp_path)


def marks_springs(body, _):
    return answer([SPRING] if SPRING in asked_text(body) else [])


def test_it_says_what_was_judged(sea):
    with ModelServer(marks_springs) as server:
        said = command("judge", sea, "--endpoint", server.url, "--model", "tiny")
    lines = said.splitlines()
    assert lines[0].startswith("model:tiny@")
    assert lines[0].endswith(": 2 documents judged, 1 of them relevant; 0 known already")
    assert lines[1:] == [
        "1 quote: 1 exact, 0 normalised, 0 repaired, 0 ambiguous, 0 not in the text (0.0%)",
        "2 requests; 200 tokens asked, 20 answered",
    ]


def test_json_has_the_same_counts(sea):
    with ModelServer(marks_springs) as server:
        told = json.loads(command("judge", sea, "--endpoint", server.url, "--model", "tiny", "--json"))
    assert told["quotes"] == {"exact": 1, "normalised": 0, "approximate": 0, "ambiguous": 0, "lost": 0}
    assert (told["documents"], told["relevant"], told["failed"]) == (2, 1, [])


def test_a_dry_run_asks_nothing_and_prints_prompts_and_an_estimate(sea):
    with ModelServer(marks_springs) as server:
        said = command("judge", sea, "--endpoint", server.url, "--model", "tiny", "--dry-run", "--window", 1000)
        assert server.requests == []
    assert said.count("=== rules of every request") == 1
    assert "=== topic 101, document water/tide, characters 0–" in said
    assert "Topic: cause of +spring and +neap tides" in said
    assert SPRING in said
    parts = said.count("=== topic")
    assert f"=== 2 documents, {parts} requests, " in said
    assert f"tokens asked, at most {parts * 2000:,} answered" in said
    assert b"model:" not in (sea / "assess.db").read_bytes()


def test_a_prompt_of_ones_own_is_asked_with(sea, tmp_path):
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Wanted: {query}\n{document}\nNow answer {in JSON}.")
    with ModelServer(marks_springs) as server:
        command("judge", sea, "--endpoint", server.url, "--model", "tiny", "--prompt", prompt)
        asked = server.requests[0]["messages"][1]["content"]
    assert asked.startswith("Wanted: cause of +spring and +neap tides\n-----")
    assert asked.endswith("Now answer {in JSON}.")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--prompt", "nowhere"], "nowhere: expected a prompt as text"),
        (["--prompt", "half.txt"], "half.txt: expected {document} in the prompt, found none; write it where"),
        (["--api-key-env", "NO_SUCH_KEY"], "expected a key in the environment variable NO_SUCH_KEY, found nothing"),
        (["--endpoint", "localhost"], "expected --endpoint http://HOST:PORT/v1"),
        (["--model", "two words"], "expected --model without blanks and commas"),
    ],
)
def test_a_mistake_is_one_line(sea, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    Path("half.txt").write_text("{query}")
    given = {"--endpoint": "http://127.0.0.1:9", "--model": "m"}
    given |= dict(zip(options[::2], options[1::2], strict=True))
    code = 2 if "expected" in said[:9] else 1
    told = command("judge", sea, *(word for pair in given.items() for word in pair), code=code)
    assert said in told
    assert told.count("\n") == 1


def test_a_folder_that_is_no_project_is_refused(tmp_path):
    said = command("judge", tmp_path, "--endpoint", "http://127.0.0.1:9", "--model", "m", code=2)
    assert "expected a project, found none; begin one with 'focuseval assess'" in said


def test_documents_without_an_answer_are_named_and_the_exit_code_is_one(sea):
    def respond(body, _):
        return error(400, "too long") if SPRING in asked_text(body) else answer()

    with ModelServer(respond) as server:
        said = command("judge", sea, "--endpoint", server.url, "--model", "tiny", code=1)
    assert "warning: topic 101, water/tide: HTTP 400: too long\n" in said
    assert "1 document has no judgement; the same command asks again" in said


def test_the_key_is_read_from_the_environment_and_said_nowhere(sea, monkeypatch):
    monkeypatch.setenv("LLM_KEY", f"{KEY}\n")
    with ModelServer(lambda *_: error(401, f"bad key {KEY}")) as server:
        said = command("judge", sea, "--endpoint", server.url, "--model", "tiny", "--api-key-env", "LLM_KEY", code=1)
        assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in said
    assert "the key is refused; check the variable that --api-key-env names" in said


def test_ctrl_c_ends_it_soon_and_what_was_answered_is_kept(sea):
    """The second document is never answered; the first one's judgement stays."""
    with ModelServer(
        lambda body, number: marks_springs(body, number) if number == 1 else lambda _: time.sleep(200)
    ) as server:
        call = ["judge", str(sea), "--endpoint", server.url, "--model", "tiny", "--timeout", "600"]
        source = str(Path(focuseval.__file__).parents[1])
        running = subprocess.Popen(
            [sys.executable, "-m", "focuseval", *call],
            env={**os.environ, "PYTHONPATH": source},
            stderr=subprocess.PIPE,
            text=True,
        )
        end = time.monotonic() + 60
        while len(server.requests) < 2 and time.monotonic() < end:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=120)
    assert (running.returncode, said) == (130, "interrupted\n")
    with closing(sqlite3.connect(sea / "assess.db")) as database:
        assert database.execute("SELECT count(*) FROM model_exchanges WHERE problem = ''").fetchone() == (1,)
        assert database.execute("SELECT count(*) FROM judgements").fetchone() == (1,)
