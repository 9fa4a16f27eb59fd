"""Passwords, the file that holds them, and the limit on guessing."""

import hashlib
import threading

import pytest

from focuseval.assessment import users as accounts
from focuseval.assessment.sessions import BY_NAME, Attempts, limits_of
from focuseval.assessment.users import User, add_user, hash_password, read_users, verify
from focuseval.errors import FormatError

from .conftest import COST


def test_the_limit_forgets_after_a_while_and_on_success():
    clock = [0.0]
    attempts = Attempts(window=10, clock=lambda: clock[0])
    assert [attempts.begin({"name ann": 2}) for _ in range(3)] == [0, 0, 10]
    assert attempts.begin({"name bob": 2}) == 0
    clock[0] = 10.0
    assert attempts.begin({"name ann": 2}) == 0
    attempts.succeeded({"name ann": 2})
    assert [attempts.begin({"name ann": 2}) for _ in range(3)] == [0, 0, 10]


def test_forty_tries_at_once_are_forty_tries():
    attempts, barrier = Attempts(), threading.Barrier(40)
    admitted = []

    def guess():
        barrier.wait()
        if not attempts.begin(limits_of("192.0.2.1", "ann")):
            admitted.append(1)

    threads = [threading.Thread(target=guess) for _ in range(40)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(admitted) == BY_NAME


def test_a_stranger_s_guesses_keep_neither_a_named_person_nor_everybody_out():
    attempts = Attempts()
    for k in range(200):
        attempts.begin(limits_of("198.51.100.9", "ann" if k % 2 else f"name{k}"))
    assert attempts.begin(limits_of("198.51.100.9", "ann")) > 0
    assert attempts.begin(limits_of("192.0.2.1", "ann")) == 0
    assert attempts.begin(limits_of("198.51.100.9", "ann", browser="known")) == 0


def test_addresses_of_one_network_of_version_six_are_one_guesser():
    attempts = Attempts()
    waits = [attempts.begin(limits_of(f"2001:db8::{k:x}", "ann")) for k in range(1, 8)]
    assert [bool(wait) for wait in waits] == [False] * 5 + [True] * 2


def test_a_flood_of_names_neither_fills_the_memory_nor_frees_who_made_it(monkeypatch):
    monkeypatch.setattr("focuseval.assessment.sessions.KNOWN", 50)
    attempts = Attempts()
    for _ in range(5):
        attempts.begin({"name x": 5})
    for k in range(49):
        attempts.begin({f"name {k}": 5})
    assert attempts.begin({"name x": 5}) > 0
    for k in range(500):
        attempts.begin({f"name {k}": 5})
    assert len(attempts._failures) == 50


@pytest.mark.parametrize(
    "name",
    ["#ann", " ann", "ann ", "a:b", "a/b", "a\\b", "", "a" * 65, "a\u2028b", "a\rb", "a\x85b", "\udcff", "adjudicated"],
)
def test_a_name_that_cannot_be_stored_is_refused_and_changes_nothing(tmp_path, name):
    add_user(tmp_path / "users", "bob", "secret")
    before = (tmp_path / "users").read_text()
    with pytest.raises(FormatError, match="expected a"):
        add_user(tmp_path / "users", name, "secret")
    assert (tmp_path / "users").read_text() == before


@pytest.mark.parametrize("name", ["ann", "Ann Å. O'Neil", "安", "a#b", "x" * 64])
def test_a_name_that_is_taken_can_log_in(tmp_path, name):
    add_user(tmp_path / "users", name, "secret")
    assert verify(read_users(tmp_path / "users"), name, "secret").name == name


def test_a_password_that_cannot_be_typed_is_refused(tmp_path):
    for password in ("", "half \ud800"):
        with pytest.raises(FormatError, match="expected a password"):
            add_user(tmp_path / "users", "ann", password)


def test_an_unknown_name_costs_as_much_work_as_a_wrong_password(monkeypatch):
    monkeypatch.setattr(accounts, "_COST", COST)
    users = {"ann": User("ann", "assessor", hash_password("ann's secret"))}
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
