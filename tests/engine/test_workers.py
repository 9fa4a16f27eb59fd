"""Work for several cores: order, sharing, errors, and processes that end when nobody needs them."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from focuseval.engine import workers
from focuseval.engine.workers import Here, WorkerError, Workers, interrupts_held, processes


def slowly(number):
    time.sleep(0.02 * (number % 3))
    return number, os.getpid()


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_the_order_of_tasks(jobs):
    with processes(jobs) as some:
        found = list(some.in_order(slowly, range(30)))
    assert [number for number, _ in found] == list(range(30))
    assert len({pid for _, pid in found}) == 1 if jobs == 1 else len({pid for _, pid in found}) > 1


def test_one_job_starts_no_process():
    with processes(1) as some:
        assert isinstance(some.executor, Here)
        assert {pid for _, pid in some.in_order(slowly, range(3))} == {os.getpid()}


def test_only_so_many_tasks_are_taken_before_their_results_are():
    taken, most = [], 0
    with processes(2) as some:
        tasks = (taken.append(n) or n for n in range(200))
        for n, _ in enumerate(some.in_order(abs, tasks)):
            most = max(most, len(taken) - n)
    assert most <= some.most + some.ahead


def fail(number):
    raise ValueError(f"task {number}")


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_a_task_is_raised_where_its_result_is_asked_for(jobs):
    with pytest.raises(ValueError, match="task 0"), processes(jobs) as some:
        list(some.in_order(fail, range(5)))


def die(number):
    time.sleep(0.05)
    if os.getpid() != number:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_is_one_line():
    with (
        pytest.raises(WorkerError, match=r"a worker process ended .*\(SIGKILL\(-9\)\); .*try .*--jobs 1"),
        processes(2) as some,
    ):
        list(some.in_order(die, [os.getpid()] * 20))


def first(given, row):
    numbers, words, double = given.get()
    assert not numbers.flags.writeable or os.getpid() == words[0].as_py()
    return int(numbers[row]), words[row].as_py(), double(row), os.getpid()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_shared_value_is_laid_down_once_and_goes_at_the_end(jobs, tmp_path, monkeypatch):
    monkeypatch.setattr(workers.tempfile, "tempdir", str(tmp_path))
    value = np.arange(10_000), pa.array([os.getpid(), *range(1, 10_000)]), lambda row: 2 * row
    with processes(jobs) as some, some.share(value) as given:
        found = list(some.in_order(partial(first, given), range(1, 40)))
        assert len(list(tmp_path.iterdir())) == (jobs > 1)
    assert [row[:3] for row in found] == [(n, n, 2 * n) for n in range(1, 40)]
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_program_left_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(workers.tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"focuseval-{workers.gethostname()}.x.{ended.pid}.shared"
    living = tmp_path / f"focuseval-{workers.gethostname()}.x.{os.getppid()}.shared"
    for folder in (left, living):
        folder.mkdir()
    with processes(2) as some, some.share(1):
        assert not left.exists()
    assert list(tmp_path.iterdir()) == [living]


def test_a_value_without_arrays_can_be_shared():
    with workers.in_files("word") as shared:
        assert workers._loaded(shared.address) == "word"


SCRIPT = """
import os, sys, time
from focuseval.engine.workers import processes
print("begun", flush=True)
with processes(3) as some:
    for pid in some.in_order(int, [0] * 4):
        pass
    print(*some.executor._processes, flush=True)
    {end}
"""


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids):
    for _ in range(100):
        if not any(map(alive, pids)):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_when_their_parent_is_killed(number):
    script = SCRIPT.format(end="time.sleep(60)")
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        parent.stdout.readline()
        pids = parent.stdout.readline().split()
        assert len(pids) == 2
        parent.send_signal(number)
        parent.wait()
        assert gone([int(pid) for pid in pids])


def test_a_script_needs_no_guard_for_its_main_module(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(end="pass"))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.count("begun") == 1


def test_an_executor_that_does_not_help_waits():
    assert list(Workers(Here(), ahead=4, most=4).in_order(abs, [-1, -2])) == [1, 2]


def test_a_process_that_is_about_to_begin_does_not_meet_ctrl_c():
    """Else its interpreter would print where it was interrupted while it starts."""
    ask = [sys.executable, "-c", "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"]
    before = signal.getsignal(signal.SIGINT)
    with interrupts_held():
        assert subprocess.run(ask, capture_output=True, text=True, check=True).stdout == "True\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_tasks_that_wait_are_cancelled_only_where_nobody_takes_their_results():
    class Kept(Here):
        given = ()

        def submit(self, fn, /, *args, **kwargs):
            self.given = (*self.given, Future())
            return self.given[-1]

    for stop in ("close", "throw"):
        kept = Kept()
        results = Workers(kept, 3).in_order(abs, range(9))
        threading.Timer(0.2, lambda kept=kept: kept.given[0].set_result(1)).start()
        assert next(results) == 1
        with suppress(KeyboardInterrupt):
            results.close() if stop == "close" else results.throw(KeyboardInterrupt)
        assert [one.cancelled() for one in kept.given[1:]] == [stop == "close"] * 2
