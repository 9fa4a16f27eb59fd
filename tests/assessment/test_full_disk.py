"""A file system that is really full: nothing acknowledged is lost, everybody is told, and work goes on with room."""

import os
import re
import signal
import subprocess
import sys

import pytest

from focuseval.assessment.backup import Backups, back_up
from focuseval.assessment.check import check_project
from focuseval.assessment.database import VERSION
from focuseval.assessment.exchange import export_everything
from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.store import Key, Store
from focuseval.errors import StorageError
from strategies.assessing import ANN, PAGE, mark, save
from strategies.pages import ARTICLE, Pages, page_from_xml
from strategies.projects import begin_project, command, judged_project

SAVED = "return document.getElementById('saving').textContent === 'Saved'"
NOTICE = "const node = document.getElementById('notice'); return node.hidden ? '' : node.textContent"


class Disk:
    """A small file system of its own that can be filled to the last byte, and freed."""

    def __init__(self, folder):
        self.folder, self.ballast = folder, folder / "ballast"

    def fill(self):
        with self.ballast.open("ab", buffering=0) as file:
            size = 2**16
            while size:
                try:
                    file.write(b"x" * size)
                except OSError:
                    size //= 2

    def free(self, size=0):
        if not size:
            self.ballast.unlink()
            return
        with self.ballast.open("r+b") as file:
            file.truncate(self.ballast.stat().st_size - size)


@pytest.fixture
def disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system to fill")
    folder = tmp_path / "disk"
    folder.mkdir()
    told = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True, check=False)
    if told.returncode:
        pytest.skip(f"no small file system can be mounted here: {told.stderr.decode().strip()}")
    yield Disk(folder)
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_loses_nothing_acknowledged_and_takes_edits_again_when_there_is_room(disk):
    store = Store(disk.folder / "assess.db")
    acknowledged = [save(store, mark(k, k + 1)).judgement for k in range(0, 40, 2)]
    disk.fill()
    refused = []
    for k in range(200):  # the last page of the log may take a few more
        try:
            acknowledged.append(save(store, {"kind": "note", "text": f"{k} " * 300}).judgement)
        except StorageError as error:
            refused.append(str(error))
    assert len(refused) > 150
    assert {told.partition(": ")[2] for told in refused} == {"the disk is full; nothing of this edit was kept"}
    assert store.timeline(ANN).past[1:] == acknowledged
    store.close()
    again = Store(disk.folder / "assess.db")  # opening and reading need no room
    assert again.judgement(ANN).version == len(acknowledged)
    assert again.timeline(ANN).past[1:] == acknowledged
    assert check_project(again, lambda _: PAGE).defects == ()
    disk.free()
    assert save(again, {"kind": "flag", "on": True}).version == len(acknowledged) + 1
    assert check_project(again, lambda _: PAGE).defects == ()
    again.close()


def test_a_project_of_an_older_version_is_read_and_exported_on_a_full_disk(disk):
    path = disk.folder / "assess.db"
    store = Store(path)
    save(store, mark(0, 6))
    store.database._writer.execute("DROP TABLE model_exchanges")
    store.database._writer.execute("PRAGMA user_version=1")
    store.close()
    disk.fill()
    disk.free(2**15 + 2**12)  # what SQLite needs to open a file
    again = Store(path)
    assert again.database.read().execute("PRAGMA user_version").fetchone()[0] == 1
    assert again.judgement(ANN).judgement.highlights == ((0, 6),)
    assert len(list(export_everything(again))) == 3
    again.close()
    disk.free()
    later = Store(path)
    assert later.database.read().execute("PRAGMA user_version").fetchone()[0] == VERSION
    later.close()


def test_a_backup_without_room_leaves_nothing_behind_and_the_next_one_is_whole(disk, caplog):
    store = Store(disk.folder / "assess.db")
    saved = save(store, mark(0, 5))
    disk.fill()
    with pytest.raises(StorageError, match="full; no backup was made"):
        back_up(store, disk.folder / "backups")
    backups = Backups(store, disk.folder / "backups", interval=3600)
    backups.start()
    assert "no backup this time" in caplog.text
    assert list((disk.folder / "backups").iterdir()) == []
    disk.free()
    copy = Store(backups.once())
    assert copy.judgement(ANN) == saved
    copy.close()
    backups.stop()
    store.close()


def test_the_api_says_507_and_the_same_edit_counts_once_when_it_is_sent_again(disk, make_site, browser):
    store = Store(disk.folder / "assess.db")
    add_to_pool(store, [Pooled("11", "a/tides")], actor="lead")
    site = make_site(store, Pages(page_from_xml("a/tides", ARTICLE)))
    site.let_in(browser)
    site.read(browser)
    browser.keys("j", "x")
    browser.wait(SAVED)
    disk.fill()
    send = """
      const edit = { kind: "note", text: "x".repeat(15000) };
      const values = { topic: "11", document: "a/tides", edit, version: 1, token: "the-same-token" };
      const headers = { "Content-Type": "application/json",
                        "X-CSRF-Token": document.querySelector("meta[name=csrf]").content };
      return fetch("/api/edit", { method: "POST", headers, body: JSON.stringify(values) })
        .then((answer) => answer.json().then((told) => [answer.status, told.error ?? told.state.version]));"""
    assert browser.run(send) == [507, "the disk is full; nothing of this edit was kept"]
    exported = browser.run("return fetch('/export').then((answer) => answer.text())")
    assert '"a/tides"' in exported, "reading needs no room"
    disk.free()
    assert browser.run(send) == [200, 2]
    assert browser.run(send) == [200, 2]
    site.stop()
    store.close()


def test_the_page_keeps_the_edits_says_why_and_delivers_them_when_there_is_room(disk, make_site, browser):
    store, key = Store(disk.folder / "assess.db"), Key("ann", "11", "a/tides")
    add_to_pool(store, [Pooled("11", "a/tides")], actor="lead")
    site = make_site(store, Pages(page_from_xml("a/tides", ARTICLE)))
    site.let_in(browser)
    site.read(browser)
    disk.fill()
    browser.run("desk.edit({ kind: 'note', text: 'x'.repeat(15000) })")
    browser.wait("return document.getElementById('saving').textContent === '1 unsaved'")
    told = "Not saved: the disk is full; nothing of this edit was kept. Your edits wait in this browser."
    assert told in browser.run(NOTICE)
    browser.keys("j", "x")
    browser.wait("return document.getElementById('saving').textContent === '2 unsaved'")
    assert told in browser.run(NOTICE)
    assert store.judgement(key).version == 0
    disk.free()
    browser.wait(SAVED)
    assert browser.run(NOTICE) == ""
    assert (store.judgement(key).version, len(store.judgement(key).judgement.highlights)) == (2, 1)
    site.stop()
    store.close()


def test_the_command_starts_without_room_for_a_backup_and_says_so(disk):
    project = begin_project(disk.folder)
    serve = [sys.executable, "-m", "focuseval", "assess", str(project), "--assessor", "ann", "--port", "0"]
    assert "no backup" not in _served(serve)
    disk.fill()
    assert command("project", "check", project, code=1).endswith("the disk is full; the project was not opened\n")
    disk.free(70_000)
    assert re.search(r"no backup this time: .*full; no backup was made\n", _served(serve))
    disk.free()
    assert "no defect" in command("project", "check", project)


@pytest.mark.parametrize("wanted", ["everything", "gold-jsonl", "inex-2005"])
def test_an_export_to_a_full_disk_is_one_line_and_leaves_nothing_by_halves(disk, tmp_path, wanted):
    project, target = judged_project(tmp_path), disk.folder / "out"
    disk.fill()
    export = ("project", "export", project, target, "--to", wanted, "--assessor", "one")
    told = command(*export, code=1)
    assert f"{target}: cannot be written: No space left on device; " in told
    assert [path.name for path in disk.folder.iterdir()] == ["ballast"]
    disk.free()
    command(*export)
    assert target.exists()


def _served(arguments):
    """Start the server, wait for its link, end it as a user does; return what it said on the standard error."""
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("Open http://")
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=20)[1]
    assert process.returncode == 0, told
    assert "Traceback" not in told
    return told
