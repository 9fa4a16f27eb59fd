"""Whatever happens to the machine, nothing that was acknowledged is lost: kills, clocks, copies, two servers.

FOCUSEVAL_KILLS=300 kills the server as often as that, with twenty clients at work; the default is a few.
"""

import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from focuseval.assessment.backup import back_up, backups_in, read_backup
from focuseval.assessment.check import check_project
from focuseval.assessment.store import Key, Store
from focuseval.assessment.users import hash_password
from focuseval.collection.rendering import Document
from focuseval.errors import ConflictError
from strategies.assessing import ANN, PAGE, mark, save

TESTS = Path(__file__).parents[1]
TEXT = "The tide rises and falls twice a day. " * 200
KILLS = int(os.environ.get("FOCUSEVAL_KILLS", "4"))
PEOPLE = 20


class Killed:
    """A server in a process of its own, which is killed and started again."""

    def __init__(self, folder, port, password):
        script = str(TESTS / "assessment" / "server_killed.py")
        self.command = [sys.executable, script, str(folder), str(port), str(PEOPLE), password, TEXT]

    def start(self):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout.readline() == "ready\n"

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)
        self.process.stdout.close()


class Client(threading.Thread):
    """A browser that repeats each edit until it is acknowledged."""

    def __init__(self, port, name, stop):
        super().__init__(daemon=True)
        self.port, self.name, self.stop, self.acknowledged = port, name, stop, []
        self.cookie, self.csrf, self.connection = "", "", None

    def send(self, method, path, body=None, kind="application/json"):
        """One request, repeated while the server is away."""
        headers = {"Origin": f"http://127.0.0.1:{self.port}", "Cookie": self.cookie, "X-CSRF-Token": self.csrf}
        headers["Content-Type"] = kind
        while not self.stop.is_set():
            try:
                self.connection = self.connection or HTTPConnection("127.0.0.1", self.port, timeout=10)
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read().decode()
            except (OSError, HTTPException):
                self.connection.close()
                self.connection = None
                time.sleep(0.01)
                continue
            given = [line.split(";")[0] for line in answer.headers.get_all("Set-Cookie", [])]
            self.cookie = next((one for one in given if "-browser=" not in one), self.cookie)
            return answer.status, text
        return 0, ""

    def log_in(self):
        page = self.send("GET", "/login")[1]
        form = f"name={self.name}&password=secret&csrf={_csrf(page)}"
        assert self.send("POST", "/login", form, "application/x-www-form-urlencoded")[0] == 302
        self.csrf = _csrf(self.send("GET", "/")[1])

    def run(self):
        try:
            self.log_in()
            self.edit()
        finally:
            if self.connection:
                self.connection.close()

    def edit(self):
        version, chance = 0, random.Random(self.name)
        while not self.stop.is_set():
            start = chance.randrange(len(TEXT) - 50)
            edit = mark(start, start + chance.randrange(1, 50), chance.choice(["highlight", "unhighlight"]), TEXT)
            token = f"{self.name}-{version:08}"
            body = {"topic": "11", "document": "text", "version": version, "token": token, "edit": edit}
            status, told = self.send("POST", "/api/edit", json.dumps(body))
            if status == 200:
                version = json.loads(told)["state"]["version"]
                self.acknowledged.append((token, edit))
            elif status:
                raise AssertionError(told)


def _csrf(page):
    return page.split('name="csrf" ')[1].split('"')[1]


def test_no_acknowledged_edit_is_lost_however_often_the_server_is_killed(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server, stop, chance = Killed(tmp_path, port, hash_password("secret")), threading.Event(), random.Random(5)
    server.start()
    clients = [Client(port, f"user{k}", stop) for k in range(PEOPLE)]
    [client.start() for client in clients]
    end = time.monotonic() + 120
    while not all(client.acknowledged for client in clients) and time.monotonic() < end:
        time.sleep(0.05)
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.2, 1.0))
        server.kill()
        server.start()
    time.sleep(0.5)
    stop.set()
    [client.join(30) for client in clients]
    server.kill()
    store = Store(tmp_path / "assess.db")
    kept = {(event["assessor"], event["key"]): event["edit"] for event in store.events()}
    acknowledged = [(client.name, *one) for client in clients for one in client.acknowledged]
    print(f"{KILLS} kills, {len(acknowledged)} acknowledged edits")
    assert len(acknowledged) > 20
    assert [one for one in acknowledged if kept.get(one[:2]) != one[2]] == []
    assert check_project(store, lambda _: Document("text", TEXT)).defects == ()
    assert list((tmp_path / "backups").glob("*.db"))
    store.close()
    back_up(again := Store(tmp_path / "assess.db"), tmp_path / "backups")
    assert list((tmp_path / "backups").glob("*.partial*")) == []
    again.close()


@pytest.mark.parametrize("jump", [timedelta(days=-2), timedelta(days=400)])
def test_a_clock_that_jumps_loses_no_edit_and_no_backup(store, tmp_path, monkeypatch, jump):
    real = datetime

    class Jumped(datetime):
        @classmethod
        def now(cls, tz=None):
            return real.now(tz) + jump

    for k in range(0, 20, 2):
        save(store, mark(k, k + 1))
    before = back_up(store, tmp_path / "b")
    monkeypatch.setattr("focuseval.assessment.store.datetime", Jumped)
    monkeypatch.setattr("focuseval.assessment.backup.datetime", Jumped)
    for k in range(20, 40, 2):
        save(store, mark(k, k + 1))
        newest = back_up(store, tmp_path / "b")
    assert store.judgement(ANN).version == 20
    assert store.timeline(ANN).now == store.judgement(ANN).judgement
    assert check_project(store, lambda _: PAGE).defects == ()
    assert backups_in(tmp_path / "b")[-1].path == newest
    assert before.exists()
    assert read_backup(newest).at.replace(microsecond=0) >= (real.now(UTC) + jump - timedelta(minutes=5))


def test_a_copy_of_a_project_in_use_is_a_project(store, tmp_path):
    """The three files, copied while nobody writes; and a backup while somebody does."""
    for k in range(0, 40, 2):
        save(store, mark(k, k + 1))
    (tmp_path / "copy").mkdir()
    for path in store.database.path.parent.glob("assess.db*"):
        shutil.copy(path, tmp_path / "copy" / path.name)
    copy = Store(tmp_path / "copy" / "assess.db")
    assert copy.judgement(ANN) == store.judgement(ANN)
    assert check_project(copy, lambda _: PAGE).defects == ()
    copy.close()
    stop, written = threading.Event(), []

    def write():
        while not stop.is_set():
            written.append(save(store, {"kind": "note", "text": f"note {len(written)}"}).version)

    writer = threading.Thread(target=write)
    writer.start()
    backups = [back_up(store, tmp_path / "b") for _ in range(5)]
    stop.set()
    writer.join()
    for path in backups:
        if path.exists():
            with closing(sqlite3.connect(path)) as found:
                assert found.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_two_writers_on_one_file_are_safe(tmp_path):
    """The command refuses a second server; what gets past it is a conflict, and nothing is overwritten."""
    first, second = Store(tmp_path / "assess.db"), Store(tmp_path / "assess.db")
    acknowledged = {id(first): 0, id(second): 0}

    def work(store, name):
        for _ in range(60):
            version = store.judgement(ANN).version
            try:
                store.edit(ANN, PAGE, {"kind": "note", "text": name}, version=version, token=f"{name}-{version}")
                acknowledged[id(store)] += 1
            except ConflictError:
                continue

    threads = [threading.Thread(target=work, args=pair) for pair in ((first, "first"), (second, "second"))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert first.judgement(Key(*ANN)).version == sum(acknowledged.values())
    assert check_project(second, lambda _: PAGE).defects == ()
    first.close()
    second.close()
