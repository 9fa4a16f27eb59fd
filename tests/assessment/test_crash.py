"""`kill -9` in the middle of a thousand edits: nothing that was acknowledged may be missing."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from focuseval.assessment.check import check_project
from focuseval.assessment.store import Store
from strategies.assessing import ANN, PAGE, Model

TESTS = Path(__file__).parents[1]


def killed_after(path, done, edits):
    """Let a process edit, kill it without warning after so many acknowledgements, return the last one read."""
    command = [sys.executable, str(TESTS / "assessment" / "worker_killed.py"), str(path), str(done)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(TESTS)}
    ) as worker:
        for _ in range(edits):
            last = int(worker.stdout.readline())
        worker.send_signal(signal.SIGKILL)
        rest = worker.stdout.read().splitlines()
    return int(rest[-1]) if rest and rest[-1].isdigit() else last


def test_a_thousand_edits_survive_being_killed_again_and_again(tmp_path):
    path, done, chance = tmp_path / "assess.db", 0, random.Random(3)
    replayed, model = random.Random(11), Model()
    while done < 1_000:
        acknowledged = killed_after(path, done, chance.randrange(60, 260)) + 1
        store = Store(path)
        saved = store.judgement(ANN)
        assert acknowledged <= saved.version <= acknowledged + 1, "an acknowledged edit is missing"
        for _ in range(done, saved.version):
            model.step(model.choose(replayed))
        assert model.agrees(saved.judgement)
        assert store.timeline(ANN).now == saved.judgement
        done = saved.version
        store.close()


def test_a_project_killed_in_the_middle_passes_its_check(tmp_path):
    killed_after(tmp_path / "assess.db", 0, 50)
    store = Store(tmp_path / "assess.db")
    assert check_project(store, lambda _: PAGE).defects == ()
    store.close()


def test_a_file_that_cannot_grow_refuses_the_edit_and_keeps_what_was_acknowledged(tmp_path):
    worker = TESTS / "assessment" / "worker_killed.py"
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "LIMIT": "600000"}
    command = [sys.executable, str(worker), str(tmp_path / "assess.db"), "0"]
    told = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    acknowledged = [int(line) for line in told.stdout.split()]
    assert "StorageError" in told.stderr
    assert len(acknowledged) > 10
    store = Store(tmp_path / "assess.db")
    assert store.judgement(ANN).version == len(acknowledged)
    assert check_project(store, lambda _: PAGE).defects == ()
    store.close()
