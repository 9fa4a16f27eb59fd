"""Passwords, the file that holds them, and the limit on guessing."""

import hashlib

import pytest

from focuseval.assess.users import Attempts, add_user, read_users, verify
from focuseval.errors import FormatError


def test_the_limit_forgets_after_a_while_and_on_success():
    clock = [0.0]
    attempts = Attempts(limit=2, window=10, clock=lambda: clock[0])
    attempts.failed("ann")
    attempts.failed("ann")
    assert attempts.wait("ann") == 10
    assert attempts.wait("bob") == 0
    clock[0] = 10.0
    assert attempts.wait("ann") == 0
    attempts.failed("ann")
    attempts.succeeded("ann")
    attempts.failed("ann")
    assert attempts.wait("ann") == 0


def test_an_unknown_name_costs_as_much_work_as_a_wrong_password(users, monkeypatch):
    costs = []
    original = hashlib.scrypt
    monkeypatch.setattr(hashlib, "scrypt", lambda *a, **k: costs.append((k["n"], k["r"], k["p"])) or original(*a, **k))
    assert verify(users, "ann", "guess") is None
    assert verify(users, "nobody", "guess") is None
    assert costs == [(2**14, 8, 1)] * 2


def test_passwords_are_salted_hashes_that_only_the_owner_reads(tmp_path):
    add_user(tmp_path / "users", "ann", "secret")
    add_user(tmp_path / "users", "lea", "secret", role="lead")
    written = (tmp_path / "users").read_text()
    assert "secret" not in written
    assert len({line.split("$")[-1] for line in written.splitlines()}) == 2
    assert (tmp_path / "users").stat().st_mode & 0o077 == 0
    users = read_users(tmp_path / "users")
    assert verify(users, "ann", "secret") == users["ann"]
    assert verify(users, "ann", "Secret") is None
    assert users["lea"].role == "lead"


@pytest.mark.parametrize("line", ["ann", "ann:boss:scrypt$1$1$1$aa$aa", "ann:lead:plain", "ann:lead:xscrypt$1$1$1$a$a"])
def test_a_line_that_is_no_user_is_refused_without_showing_it(tmp_path, line):
    (tmp_path / "users").write_text(line + "\n")
    with pytest.raises(FormatError, match=r"users:1: expected name:role:scrypt") as refused:
        read_users(tmp_path / "users")
    assert line not in str(refused.value)
