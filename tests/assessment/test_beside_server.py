"""Commands beside a running server: nothing that was acknowledged is lost, whatever runs, writes or dies there.

`make test` tries one command for each way of opening a project, `make soak` every command and mode with every kind of
end. What opens a project is declared by the commands themselves, so that a new one is tested, or fails here.
"""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from click.testing import CliRunner

from focuseval import open_documents
from focuseval.assessment.database import Database
from focuseval.cli import main
from focuseval.cli.output import NO, READS, WRITES
from focuseval.example import ROOT
from strategies.commands import LEAVES
from strategies.projects import DOCUMENTS, TIDES, begin_project, command, judgements

SOAK = bool(os.environ.get("FOCUSEVAL_SOAK"))
HERE = Path(__file__).parent
LINUX = Path("/proc/self/fd").is_dir()
GOLD = ROOT / "gold" / "gold.jsonl"
RUN, OTHER = sorted((ROOT / "runs" / "focused").iterdir())[:2]
TEXT = open_documents(ROOT / "articles").document(DOCUMENTS[0]).text


LINES = {
    ("score", ""): "score {project} {run} --assessor one -m AP",
    ("compare", ""): "compare {project} {run} {other} --assessor one -m AP",
    ("estimate", ""): "estimate {project} {gold} {run} --assessor one -m AP --random",
    ("report", ""): "report {project} {run} {other} --assessor one -o {out}/report.html",
    ("gate", ""): "gate --baseline {baseline} {project} {run} --assessor one -m AP",
    ("stats", ""): "stats {project} --assessor one",
    ("convert", ""): "convert {project} {out}/gold.jsonl --assessor one --lossy",
    (
        "sweep",
        "",
    ): "sweep {project} --assessor one --docs {docs} --topics {topics} --chunks words:50 words:80 -m spanR@5",
    ("simulate", ""): "simulate {project} --assessor one --kind full -o {out}/full.jsonl",
    ("fidelity", ""): "fidelity {project} --assessor one -m AP",
    ("pool", ""): "pool {run} --top-up {project} --depth 2 -o {out}/pool.jsonl",
    ("publish", ""): "publish {project} --assessor one -o {out}/all.zip --title Sea",
    ("judge", ""): "judge {project} --endpoint http://127.0.0.1:9 --model none --limit 1",
    ("assess", "add_user"): "assess {project} --users {people} --add-user ann",
    ("assess", "remove_user"): "assess {project} --users {people} --remove-user old",
    ("assess", "log_out"): "assess {project} --log-out ann",
    ("assess", "restore"): "assess {project} --restore",
    ("assess", "source"): "assess {project} --import {judgements}",
    ("assess", "elements"): "assess {project} --elements filtered --no-serve",
    ("assess", "pool"): "assess {project} --pool {pool} --no-serve",
    ("assess", "suggest"): "assess {project} --suggest none --no-serve",
    ("assess", "topics"): "assess {project} --topics {topics} --no-serve",
    ("assess", "add_runs"): "assess {project} --add-run {run} --depth 2",
    ("assess", "guidelines"): "assess {project} --guidelines {guidelines}",
    ("assess", "split"): "assess {project} --split pool --among zoe,bob --overlap 2",
    ("assess", "invite"): "assess {project} --users {people} --invite lea",
    ("assess", "reanchor"): "assess {project} --reanchor",
    ("assess", "check"): "assess {project} --check",
    ("assess", "export"): "assess {project} --export {out}/all.jsonl",
    ("assess", "archive"): "assess {project} --archive {out}/all.zip --imported",
    ("assess", "progress"): "assess {project} --progress",
    ("assess", "agreement"): "assess {project} --agreement",
    ("assess", "stability"): "assess {project} --stability {run} --stability {other}",
    ("project users add", ""): "project users add {project} ann --users {people}",
    ("project users remove", ""): "project users remove {project} old --users {people}",
    ("project users invite", ""): "project users invite {project} lea --users {people}",
    ("project users log-out", ""): "project users log-out {project} ann",
    ("project restore", ""): "project restore {project}",
    ("project import", ""): "project import {project} {judgements}",
    ("project add-run", ""): "project add-run {project} {run} --depth 2",
    ("project guidelines", ""): "project guidelines {project} {guidelines}",
    ("project sample", ""): "project sample {project} 1",
    ("project drafts", ""): "project drafts {project} {drafts} --assessor ann",
    ("project split", ""): "project split {project} pool --among zoe,bob --overlap 2",
    ("project reanchor", ""): "project reanchor {project}",
    ("project check", ""): "project check {project}",
    ("project export", ""): "project export {project} {out}/all.jsonl",
    ("project archive", ""): "project archive {project} {out}/all.zip --imported",
    ("project progress", ""): "project progress {project}",
    ("project agreement", ""): "project agreement {project} {run} {other}",
    ("project stability", ""): "project stability {project} {run} {other}",
}
"""Command and mode → how it is run on a project."""

CODES = {("judge", ""): 1, ("assess", "restore"): 1, ("project restore", ""): 1, ("gate", ""): None}
"""Exit codes other than 0: no model answers, a server has the project open; a gate may say either."""

WAYS = [
    *((name, "") for name in ("score", "pool", "judge")),
    *((f"project {verb}", "") for verb in ("users log-out", "restore", "add-run", "import", "archive")),
    *(("assess", mode) for mode in ("pool", "add_runs", "restore")),
]
"""One for each way of opening a project: as gold, its judgements alone, for a model, without its collection, alone,
with a collection to read or to write, as a copy, to add to it; and by options of 0.2.0."""

GROUPS = [[case] for case in sorted(LINES)] if SOAK else [WAYS]
"""Commands that run one after the other beside one server."""
ENDS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT] if SOAK else [signal.SIGKILL]


def modes():
    """Every command and mode, and what it declares."""
    for name, one in LEAVES.items():
        declared = one.opens
        yield from ([((name, ""), declared)] if isinstance(declared, str) else
                    [((name, mode), opens) for mode, opens in declared.items()])  # fmt: skip


def test_every_command_and_mode_declares_whether_it_opens_a_project():
    assert {opens for _, opens in modes()} == {NO, READS, WRITES}
    assert {case for case, opens in modes() if opens != NO} == set(LINES)


@pytest.mark.parametrize("name", [name for (name, _), opens in modes() if opens == NO])
def test_a_command_that_declares_to_open_no_project_opens_none(name, tmp_path, monkeypatch):
    project = begin_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr(Database, "__init__", lambda _, path: opened.append(path))
    parameters = LEAVES[name].params
    count = sum(1 for one in parameters if one.param_type_name == "argument" and one.required)
    CliRunner().invoke(main, [name, *[str(project)] * max(count, 1), *(["-o", "out"] if name != "quotes" else [])])
    assert opened == []


def test_what_an_option_of_assess_does_is_declared():
    """An option is a mode, or one of these, which say how a mode or the server works."""
    how = {
        "project", "index", "docs", "exhaustivity", "assessor", "adjudicated", "merge", "imported", "include", "users",
        "lead", "role", "host", "port", "names", "trusted_proxy", "backup_to", "wanted", "anonymous", "depth",
        "preview", "among", "overlap", "measure", "layout", "output", "against", "no_serve", "actor", "scale",
    }  # fmt: skip
    assess = main.get_command(None, "assess")
    assert {one.name for one in assess.params} - how == set(assess.opens)


class Served:
    """A project, a server in a process of its own, and a browser without a screen."""

    def __init__(self, folder):
        self.folder, self.project, self.version = folder, folder / "sea", 0
        self.server, self.audit = None, folder / "audit.log"

    def start(self):
        """Start the server as people do, and enter."""
        environment = {**os.environ, "PYTHONPATH": str(HERE / "audited"), "FOCUSEVAL_AUDIT": str(self.audit)}
        line = [sys.executable, "-m", "focuseval", "assess", str(self.project), "--port", "0", "--assessor", "zoe"]
        with (self.folder / "server.log").open("ab") as log:
            self.server = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        link = self.server.stdout.readline().removeprefix("Open ").strip()
        assert link.startswith("http"), (self.folder / "server.log").read_text()
        self.base = link.partition("/enter")[0]
        self.http = build_opener(HTTPCookieProcessor(CookieJar()))
        self.http.open(link).read()
        page = self.http.open(f"{self.base}/").read().decode()
        self.csrf = re.search(r'name="csrf" (?:value|content)="([^"]+)"', page).group(1)

    def edit(self, start):
        """Highlight ten characters; return the status."""
        edit = {"kind": "highlight", "start": start, "end": start + 10, "quote": TEXT[start : start + 10]}
        return self.send(edit, f"edit-{start}")

    def send(self, edit, token):
        values = {"topic": TIDES, "document": DOCUMENTS[0], "version": self.version, "token": token, "edit": edit}
        headers = {"Content-Type": "application/json", "Origin": self.base, "X-CSRF-Token": self.csrf}
        try:
            self.http.open(Request(f"{self.base}/api/edit", json.dumps(values).encode(), headers)).read()
        except HTTPError as error:
            self.said = error.read().decode()
            return error.code
        self.version += 1
        return 200

    def end(self, how=signal.SIGKILL):
        if self.server is not None:
            with suppress(ProcessLookupError):
                self.server.send_signal(how)
            self.server.wait(20)
            self.server.stdout.close()
            self.server = None

    def nameless(self):
        """The open files of the server that belong to the database and have no name."""
        links = []
        for handle in Path(f"/proc/{self.server.pid}/fd").iterdir() if LINUX else ():
            with suppress(FileNotFoundError):  # it was closed a moment ago
                links.append(str(handle.readlink()))
        return [link for link in links if "assess.db" in link and "(deleted)" in link]

    def marked(self):
        """Where the highlights begin that the project has on the disk."""
        with closing(sqlite3.connect(self.project / "assess.db")) as file:
            assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            rows = file.execute("SELECT start FROM highlights WHERE assessor = 'zoe' ORDER BY start")
            return [start for (start,) in rows]

    def line(self, case):
        """The words of a command on this project."""
        paths = {
            name: self.folder / name
            for name in ("out", "people", "guidelines", "pool", "baseline", "judgements", "drafts")
        }
        words = {"project": self.project, "run": RUN, "other": OTHER, "docs": ROOT / "articles", "gold": GOLD}
        return [word.format(**paths, **words, topics=ROOT / "topics.xml") for word in LINES[case].split()]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A project with imported judgements, and what the commands need."""
    folder = tmp_path_factory.mktemp("prepared")
    project = begin_project(folder)
    for name, spans in (("one", [(100, 200), (300, 340)]), ("two", [(150, 250)])):
        command("project", "import", project, judgements(folder, name, *spans))
    command(
        "score",
        project,
        RUN,
        "--assessor",
        "one",
        "-m",
        "AP",
        "--per-topic",
        "--format",
        "json",
        "-o",
        folder / "baseline",
    )
    (folder / "pool.jsonl").rename(folder / "pool")
    judgements(folder, "late", (10, 20)).rename(folder / "judgements")
    (folder / "guidelines").write_text("Mark what answers.\n")
    drafted = {"topic": TIDES, "query": "q", "doc": DOCUMENTS[0], "model": "model:m@draft"}
    drafted["spans"] = [{"start": 0, "end": 10, "quote": TEXT[:10]}]
    (folder / "drafts").write_text(json.dumps(drafted) + "\n")
    (folder / "people").write_text("")
    (folder / "out").mkdir()
    return folder


@pytest.fixture
def served(prepared, tmp_path):
    subprocess.run(["cp", "-a", f"{prepared}/.", tmp_path], check=True)
    one = Served(tmp_path)
    yield one
    one.end()


def run_here(served, case):
    """Run a command in this process, which is another one than the server's."""
    if case in {("assess", "remove_user"), ("project users remove", "")}:
        add = ("project", "users", "add", served.project, "old", "--users", served.folder / "people")
        command(*add, stdin="x\nx\n")
    told = CliRunner().invoke(main, served.line(case), input="secret\nsecret\n")
    expected = CODES.get(case, 0)
    assert told.exit_code == expected or expected is None, told.output
    assert not isinstance(told.exception, AssertionError | sqlite3.Error)
    return told.output


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.name)
@pytest.mark.parametrize("cases", GROUPS, ids=lambda cases: " ".join(filter(None, cases[0])) if SOAK else "each way")
def test_nothing_is_lost_when_a_command_runs_beside_the_server(served, cases, end):
    served.start()
    starts = [400]
    assert served.edit(400) == 200
    for case in cases:
        run_here(served, case)
        if case not in {("assess", "source"), ("project import", "")}:  # the same judgements are taken once
            run_here(served, case)
        starts.append(starts[-1] + 20)
        assert served.edit(starts[-1]) == 200, case
        assert served.nameless() == [], case
        assert served.marked() == starts, case
    served.end(end)
    served.start()
    assert served.edit(starts[-1] + 20) == 200
    assert served.marked() == [*starts, starts[-1] + 20]
    assert not served.audit.exists() or served.audit.read_text() == ""


def test_the_server_opens_its_database_through_sqlite_alone(served):
    """Also where a lead takes everything out: the pages that copy, pack and export."""
    served.start()
    served.edit(400)
    assert served.send({"kind": "finish", "relevant": True}, "finish-0001") == 200
    for path in ("export", "archive", "gold?assessor=one&format=gold-jsonl", "agreement", "work", "exchange"):
        served.http.open(f"{served.base}/{path}").read()
    assert served.edit(500) == 200
    assert served.nameless() == []
    assert not served.audit.exists() or served.audit.read_text() == ""


def begin(served, case):
    """Start a command in a process of its own."""
    line = [sys.executable, "-m", "focuseval", *served.line(case)]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def test_two_commands_that_write_at_the_same_time_both_do(served):
    served.start()
    served.edit(400)
    both = [begin(served, case) for case in (("project add-run", ""), ("project import", ""))]
    starts = [500 + 20 * number for number in range(20)]
    assert [served.edit(start) for start in starts] == [200] * 20
    for one in both:
        assert (one.wait(60), one.stderr.read())[0] == 0
        one.stderr.close()
    served.end()
    assert served.marked() == [400, *starts]
    assert "late" in command("project", "progress", served.project)


@pytest.mark.parametrize("case", [("project import", ""), ("project add-run", "")], ids=lambda case: case[0])
def test_a_command_that_is_killed_while_it_writes_harms_nobody(served, case):
    served.start()
    starts = []
    for number in range(20 if SOAK else 4):
        one = begin(served, case)
        time.sleep(0.1 + 0.1 * number if SOAK else 0.25 + 0.1 * number)  # anywhere between its beginning and its end
        starts.append(400 + 20 * number)
        assert served.edit(starts[-1]) == 200
        one.kill()
        one.wait()
        one.stderr.close()
    assert served.nameless() == []
    served.end()
    assert served.marked() == starts
    assert "no defect" in command("project", "check", served.project)


@pytest.mark.skipif(not SOAK, reason="make soak fills a disk beside a server")
@pytest.mark.parametrize("case", sorted(LINES), ids=lambda case: " ".join(filter(None, case)))
def test_a_command_on_a_full_disk_loses_nothing_beside_the_server(served, case):
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system to fill")
    disk = served.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=True)
    try:
        subprocess.run(["cp", "-a", served.project, disk / "sea"], check=True)
        served.project = disk / "sea"
        served.start()
        assert served.edit(400) == 200
        with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(b"x" * 1024)
        CliRunner().invoke(main, served.line(case), input="secret\nsecret\n")
        (disk / "ballast").unlink()
        assert served.edit(500) == 200
        assert served.nameless() == []
        served.end()
        assert served.marked() == [400, 500]
    finally:
        served.end()
        subprocess.run(["umount", "--lazy", disk], check=True)


def lose_the_log(served):
    """Do what the fault of 0.2.0 did: fold the log into the file and take its name away."""
    for side in ("-wal", "-shm"):
        Path(f"{served.project}/assess.db{side}").unlink()


def test_a_server_whose_log_was_removed_says_so_and_a_copy_has_everything(served):
    served.start()
    assert served.edit(400) == 200
    lose_the_log(served)
    assert served.edit(500) == 507
    assert "another program removed it, or its log" in served.said
    assert served.edit(500) == 507, "and it goes on refusing"
    rescued = next(served.project.glob("rescued-*.db"))
    assert str(rescued) in served.said
    served.end()
    command("project", "restore", served.project, rescued)
    assert served.marked() == [400]
    served.start()
    served.version = 1
    assert served.edit(500) == 200, "the page sends again what it kept"
    served.end()
    assert served.marked() == [400, 500]


@pytest.mark.skipif(not LINUX, reason="only Linux tells which files a process has open")
def test_a_check_finds_a_server_that_writes_to_a_log_without_a_name(served):
    served.start()
    served.edit(400)
    number = served.server.pid
    assert "no defect" in command("project", "check", served.project)
    lose_the_log(served)
    told = command("project", "check", served.project, code=1)
    assert f"process {number} writes to a log that was removed" in told


@pytest.mark.parametrize("kind", ["export", "archive", "backup"])
def test_a_check_against_a_copy_finds_events_that_are_gone(served, kind):
    served.start()
    served.edit(400)
    copy = served.folder / {"export": "all.jsonl", "archive": "all.zip", "backup": "copy.db"}[kind]
    if kind == "backup":
        with closing(sqlite3.connect(served.project / "assess.db")) as file, closing(sqlite3.connect(copy)) as target:
            file.backup(target)
    else:
        command("project", kind, served.project, copy, *(["--imported"] if kind == "archive" else []))
    served.edit(500)
    check = ("project", "check", served.project, "--against", copy)
    assert f"nothing is missing of {copy}" in command(*check)
    served.end()
    with closing(sqlite3.connect(served.project / "assess.db")) as file:  # as if the log had been lost
        file.executescript(
            "DROP TRIGGER events_are_kept; DELETE FROM events WHERE assessor = 'zoe';"
            "DELETE FROM judgements WHERE assessor = 'zoe'; DELETE FROM highlights WHERE assessor = 'zoe';"
        )
    told = command(*check, code=1)
    assert re.search(rf"{copy}: 1 of \d+ events are not in the log; the first is of \S+ by zoe on zoe/{TIDES}", told)


def test_a_check_looks_at_the_newest_backup_by_itself(served):
    served.start()
    served.end()
    newest = max((served.project / "backups").glob("*.db"))
    assert f"nothing is missing of {newest}" in command("project", "check", served.project)


@pytest.mark.parametrize(
    "line",
    [
        *("assess P --check --against", "assess P --import", "assess P --guidelines", "assess P --pool"),
        *("project check P --against", "project import P", "project guidelines P", "project add-run P"),
        *("project restore P", "project agreement P"),
    ],
)
def test_the_database_of_a_project_is_no_input(served, line):
    file = served.project / "assess.db"
    told = command(*line.replace(" P", f" {served.project}").split(), file, code=2)
    assert f"{file} is the database of a project; name the project" in told
