"""A project that version 0.1.0 made opens, shows itself, grows and becomes an archive, and nothing is lost."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from focuseval.assessment import open_project
from focuseval.assessment.pool import project_pool
from focuseval.assessment.progress import Overview, summed
from focuseval.example import ROOT
from strategies.projects import command

STORED = Path(__file__).parent / "stored" / "project-0.1.0.sql"


@pytest.fixture
def old(tmp_path):
    folder = tmp_path / "sea"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "assess.db")) as database:
        database.executescript(STORED.read_text(encoding="utf-8"))
    (folder / "topics.xml").write_bytes((ROOT / "topics.xml").read_bytes())
    settings = {"focuseval": "project", "version": 1, "exhaustivity": False, "collection": str(ROOT / "articles")}
    (folder / "project.json").write_text(json.dumps(settings))
    return folder


def test_nothing_in_it_is_lost(old):
    assert "no defect" in command("project", "check", old)
    with closing(open_project(old)) as project:
        rows = {
            row.assessor: (row.total, row.done, row.in_progress)
            for row in summed(Overview(project.store).rows(), "assessor")
        }
        assert rows == {"ann": (2, 1, 0), "bob": (2, 2, 0)}
        assert project_pool(project.store).contributors == ()
        assert len(project_pool(project.store).entries) == 2


def test_it_grows_by_a_run_and_the_old_documents_keep_their_places(old):
    run = ROOT / "runs" / "focused" / "careful.xml"
    assert "more documents to judge" in command("project", "add-run", old, run, "--depth", "3", "--preview")
    with closing(open_project(old)) as project:
        before = project_pool(project.store).entries
    command("project", "add-run", old, run, "--depth", "3")
    with closing(open_project(old)) as project:
        after = project_pool(project.store)
        assert [entry.document for entry in after.entries if entry.topic == "101"][:2] == [
            one.document for one in before
        ]
        assert [one.run for one in after.contributors] == ["careful"]
    assert "no defect" in command("project", "check", old)


def test_it_becomes_an_archive_and_a_project_again(old, tmp_path):
    command("project", "archive", old, tmp_path / "sea.zip")
    command("project", "import", tmp_path / "again", tmp_path / "sea.zip", "--docs", ROOT / "articles")
    assert "3 judgements" not in command("project", "check", tmp_path / "again")
    assert command("project", "check", tmp_path / "again") == command("project", "check", old)
