"""Backups that are ordered by what is in them, and a project that comes back from one."""

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from focuseval.assessment import Key, open_project
from focuseval.assessment.backup import LAST, Backup, Backups, back_up, backups_in, restore, superfluous
from focuseval.assessment.files import held
from focuseval.assessment.store import Store
from focuseval.errors import AssessError
from strategies.assessing import ANN, mark, save
from strategies.projects import DOCUMENTS, TIDES, begin_project, command, judged_project, judgements

ONE = Key("one", TIDES, DOCUMENTS[0])
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def backup(seq, at):
    return Backup(Path(f"{seq}.db"), "p", seq, at)


def kept(backups):
    gone = {one.seq for one in superfluous(backups)}
    return [one.seq for one in backups if one.seq not in gone]


def backed_up(project):
    opened = open_project(project)
    written = back_up(opened.store, project / "backups")
    opened.close()
    return written


def highlights(project, key=ONE):
    opened = open_project(project)
    found = opened.store.judgement(key).judgement.highlights
    opened.close()
    return found


def test_backups_stay_hourly_for_a_day_and_daily_for_a_month():
    every_ten_minutes = [backup(k, START + timedelta(minutes=10 * k)) for k in range(6 * 24 * 40)]
    left = kept(every_ten_minutes)
    ages = [every_ten_minutes[-1].at - every_ten_minutes[seq].at for seq in left]
    assert left[-LAST:] == [one.seq for one in every_ten_minutes[-LAST:]]
    assert sum(timedelta(hours=2) < age < timedelta(days=1) for age in ages) == 21
    assert sum(timedelta(days=1) <= age for age in ages) in (30, 31)
    assert max(ages) < timedelta(days=31)
    again = [one for one in every_ten_minutes if one.seq in left]
    assert kept(again) == left, "thinning out twice is thinning out once"


@pytest.mark.parametrize("jump", [timedelta(days=-2), timedelta(days=2), timedelta(days=700)])
def test_a_clock_that_jumps_deletes_no_new_backup(jump):
    before = [backup(k, START + timedelta(minutes=10 * k)) for k in range(30)]
    after = [backup(30 + k, START + jump + timedelta(minutes=10 * k)) for k in range(5)]
    assert kept([*before, *after])[-5:] == [one.seq for one in after]
    assert len(kept([*before, *after])) >= LAST


def test_backups_are_ordered_by_what_is_in_them_and_not_by_their_names(store, tmp_path):
    save(store, mark(0, 5))
    first = back_up(store, tmp_path / "b")
    save(store, mark(6, 9))
    second = back_up(store, tmp_path / "b")
    older = second.rename(second.with_name("20000101T000000000000.db"))
    assert [one.path for one in backups_in(tmp_path / "b")] == [first, older]
    save(store, mark(11, 12))
    back_up(store, tmp_path / "b")
    assert older.exists()


def test_two_projects_with_one_folder_for_backups_keep_their_own(store, tmp_path):
    other = Store(tmp_path / "other.db")
    save(other, mark(0, 5))
    theirs = back_up(other, tmp_path / "b")
    for k in range(LAST + 3):
        save(store, mark(k, k + 1))
        back_up(store, tmp_path / "b")
    assert theirs.exists()
    other.close()


def test_nothing_partial_is_left_by_a_backup_that_was_killed(store, tmp_path):
    save(store, mark(0, 5))
    backups = Backups(store, tmp_path / "b", interval=3600)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "20260101T000000000000.partial").write_bytes(b"half")
    partial = back_up(store, tmp_path / "b").parent / f"{backups_in(tmp_path / 'b')[0].project}.partial"
    partial.write_bytes(b"half a backup")
    backups.start()
    backups.stop()
    assert list((tmp_path / "b").glob("*.partial*")) == []


def test_the_database_and_its_backups_are_the_owner_s_alone(store, tmp_path):
    save(store, mark(0, 5))
    for path in (store.database.path, Path(f"{store.database.path}-wal"), back_up(store, tmp_path / "b")):
        assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "b").stat().st_mode & 0o077 == 0


def test_the_newest_backup_is_restored_and_what_was_there_is_kept(tmp_path):
    project = judged_project(tmp_path)
    backed_up(project)
    command("project", "import", project, judgements(tmp_path, "one", (0, 50)))
    told = command("project", "restore", project)
    assert "what was there is in" in told
    assert highlights(project) == ((100, 200), (300, 340))
    checked = command("project", "check", project)
    assert "restored on" in checked
    assert "before-restore/" in checked
    assert "no defect" in checked
    (before,) = (project / "before-restore").iterdir()
    command("project", "restore", project, before / "assess.db")
    assert highlights(project) == ((0, 50),)


def test_a_restored_project_is_newer_than_every_backup(tmp_path):
    project = judged_project(tmp_path)
    first = backed_up(project)
    command("project", "import", project, judgements(tmp_path, "one", (0, 50)))
    backed_up(project)
    command("project", "restore", project, first)
    command("project", "import", project, judgements(tmp_path, "one", (0, 70)))
    newest = backed_up(project)
    assert backups_in(project / "backups")[-1].path == newest
    command("project", "restore", project)
    assert highlights(project) == ((0, 70),)


def test_a_restore_beside_a_living_log_is_whole(tmp_path):
    """A killed process leaves a write-ahead log; a copy over the file would be mixed with it."""
    project = judged_project(tmp_path)
    backed_up(project)
    script = f"""
import os
from pathlib import Path
from focuseval.assessment.store import Store
from strategies.assessing import mark, save
store = Store(Path({str(project / "assess.db")!r}))
for k in range(0, 50, 2):
    save(store, mark(k, k + 1))
os._exit(9)"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    assert (project / "assess.db-wal").stat().st_size > 0
    command("project", "restore", project)
    assert "no defect" in command("project", "check", project)
    assert highlights(project, ANN) == ()
    (before,) = (project / "before-restore").iterdir()
    old = Store(before / "assess.db")
    assert old.judgement(ANN).version == 25, "what the log held is kept with its file"
    old.close()


def test_a_project_in_use_is_not_restored(tmp_path):
    project = judged_project(tmp_path)
    backed_up(project)
    opened = open_project(project)
    with pytest.raises(AssessError, match="the project is in use; end the server"):
        restore(project, None, actor="ann")
    opened.close()
    restore(project, None, actor="ann")


def test_nothing_is_opened_while_a_backup_is_being_restored(tmp_path):
    project = begin_project(tmp_path)
    with held(project, alone=True, refusal=""), pytest.raises(AssessError, match="is being restored"):
        open_project(project)


@pytest.mark.parametrize("content", [b"", b"SQLite", b"x" * 9000])
def test_what_is_no_backup_is_refused_and_nothing_changes(tmp_path, content):
    project = judged_project(tmp_path)
    (tmp_path / "bad.db").write_bytes(content)
    before = (project / "assess.db").read_bytes()
    assert "expected a backup of a project" in command("project", "restore", project, tmp_path / "bad.db", code=1)
    assert "no such file" in command("project", "restore", project, tmp_path / "gone.db", code=1)
    assert "none that is sound" in command("project", "restore", project, code=1)
    assert (project / "assess.db").read_bytes() == before
    assert not (project / "before-restore").exists()


def test_a_damaged_backup_is_passed_over_for_an_older_one(tmp_path):
    project = judged_project(tmp_path)
    good = backed_up(project)
    command("project", "import", project, judgements(tmp_path, "one", (0, 50)))
    bad = backed_up(project)
    data = bytearray(bad.read_bytes())
    data[4096 * 4 : 4096 * 4 + 100] = b"\xff" * 100
    bad.write_bytes(data)
    assert str(good) in command("project", "restore", project)


def test_backups_elsewhere_are_found_when_their_folder_is_named(tmp_path):
    project = judged_project(tmp_path)
    opened = open_project(project)
    back_up(opened.store, tmp_path / "elsewhere")
    opened.close()
    assert "none that is sound" in command("project", "restore", project, code=1)
    command("project", "restore", project, "--backup-to", tmp_path / "elsewhere")


@pytest.mark.parametrize("share", [0, 0.001, 0.2, 0.5, 0.9])
def test_the_check_of_an_empty_or_truncated_database_is_an_error_that_names_the_remedy(tmp_path, share):
    project = judged_project(tmp_path)
    backed_up(project)
    path = project / "assess.db"
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert "focuseval project restore" in command("project", "check", project, code=1)
    command("project", "restore", project)
    assert "no defect" in command("project", "check", project)


def test_a_database_that_is_gone_is_not_begun_anew(tmp_path):
    project = judged_project(tmp_path)
    backed_up(project)
    (project / "assess.db").unlink()
    assert "found nothing; restore a backup" in command("project", "check", project, code=1)
    shutil.rmtree(project / "backups")
    assert "none that is sound" in command("project", "restore", project, code=1)
