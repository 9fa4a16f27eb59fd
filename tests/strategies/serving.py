"""The command as a user runs it: once, or as a server until Ctrl-C."""

import re
import signal
import subprocess
import sys


def focuseval(*arguments, fails=False, stdin=None):
    """Run the command and return what it printed."""
    told = subprocess.run(
        [sys.executable, "-m", "focuseval", *map(str, arguments)],
        capture_output=True,
        text=True,
        input=stdin,
        check=False,
    )
    assert (told.returncode != 0) == fails, told.stdout + told.stderr
    assert "Traceback" not in told.stderr
    return told.stdout + told.stderr


class Running:
    """The command as a user starts it, until Ctrl-C."""

    def __init__(self, *arguments):
        command = [sys.executable, "-m", "focuseval", "assess", *map(str, arguments), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.link = self.next_link()
        self.home = self.link[: self.link.index("/", 8)]

    def next_link(self):
        """The next link that it prints."""
        return re.search(r"http://\S+", self.process.stdout.readline()).group()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        told = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, told
        assert "Traceback" not in told[1]
