"""The command ends at once, and still does all that an end owes: exit codes, output, whoever waits for the end."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import main

SCRIPT = """
import atexit, sys, threading, time
from focuseval import cli
{before}
sys.argv = ["focuseval", *{arguments!r}]
cli.run()
"""


def end(*arguments, before=""):
    script = SCRIPT.format(before=before, arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--version"], 0), (["measures"], 0), (["stats", "none"], 1), (["no"], 2)]
)
def test_exit_codes(arguments, code):
    done = end(*arguments)
    assert (done.returncode, bool(done.stdout), bool(done.stderr)) == (code, code == 0, code > 0)


def test_output_through_a_pipe_is_whole():
    assert end("measures").stdout == CliRunner().invoke(main, ["measures"]).stdout


def test_what_is_registered_for_the_end_is_called():
    assert "farewell" in end("--version", before="atexit.register(lambda: print('farewell'))").stdout


def test_a_thread_at_work_is_waited_for():
    thread = "threading.Thread(target=lambda: (time.sleep(.3), print('done'))).start()"
    assert "done" in end("--version", before=thread).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_is_an_error():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "focuseval", "measures"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert b"No space left" in done.stderr
