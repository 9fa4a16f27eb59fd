"""Small files that the server and commands both change: nothing that one of them wrote is lost by the other."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from focuseval.assessment import files
from focuseval.assessment.files import locked, make_private, write_private
from focuseval.assessment.sessions import Sessions
from focuseval.assessment.users import read_users

MANY = 25

REVOKE = """
import sys
from pathlib import Path
from focuseval.assessment.sessions import Sessions
for k in range(int(sys.argv[3])):
    Sessions(Path(sys.argv[1])).revoke(f"{sys.argv[2]}{k}")
"""
FORGET = REVOKE.replace('.revoke(f"{sys.argv[2]}{k}")', ".forget()")
ADD = """
import sys
from focuseval.assessment import users
users.hash_password = lambda _: "scrypt$16384$8$1$AAAA$AAAA"
for k in range(int(sys.argv[3])):
    users.add_user(sys.argv[1], f"{sys.argv[2]}{k}", "secret")
"""


def together(*programs, path):
    """Run programs in processes of their own, at the same time."""
    lines = [[sys.executable, "-c", code, str(path), name, str(MANY)] for name, code in programs]
    running = [subprocess.Popen(line) for line in lines]
    assert [one.wait() for one in running] == [0] * len(running)


def test_ends_of_sessions_survive_a_server_that_starts_at_the_same_time(tmp_path):
    path = tmp_path / "sessions.jsonl"
    Sessions(path).revoke("first")
    together(("a", REVOKE), ("b", REVOKE), ("", FORGET), path=path)
    assert path.read_text().count("\n") == 1 + 2 * MANY


def test_users_that_two_programs_add_at_the_same_time_are_all_there(tmp_path):
    together(("a", ADD), ("b", ADD), path=tmp_path / "people")
    assert len(read_users(tmp_path / "people")) == 2 * MANY


def test_a_private_file_is_not_opened_when_it_is_there(tmp_path, monkeypatch):
    """Closing it again would drop the locks that SQLite holds on it for this process."""
    make_private(tmp_path / "file")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(os, "open", pytest.fail)
    make_private(tmp_path / "file")


def test_a_file_is_private_and_whole_whatever_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_text("older")
    write_private(path, b"newer")
    assert path.read_text() == "newer"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_lock_is_let_go_when_the_block_fails(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "file"):
        raise ZeroDivisionError
    with locked(tmp_path / "file"):
        assert Path(tmp_path / ".file.lock").exists()


def test_where_there_is_no_flock_the_lock_of_windows_is_taken(tmp_path, monkeypatch):
    taken = []
    windows = SimpleNamespace(
        LK_LOCK=1, locking=lambda handle, how, size: taken.append((os.fstat(handle).st_ino, how, size))
    )
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    with runpy.run_path(files.__file__)["locked"](tmp_path / "users"):
        assert taken == [((tmp_path / ".users.lock").stat().st_ino, 1, 1)]
