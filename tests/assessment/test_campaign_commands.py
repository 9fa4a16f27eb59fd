"""What a lead can do from the command line: invite, add users, move judgements, top up, look at progress."""

import json
import shutil
from contextlib import closing

import pytest

from focuseval.assessment import open_project
from focuseval.assessment.plan import Assessor, register
from focuseval.assessment.pool import read_pool
from focuseval.assessment.project import guidelines
from focuseval.assessment.store import Key
from focuseval.assessment.users import UsersFile, accept, invitations, read_users, removed
from focuseval.example import ROOT
from strategies.assessing import save
from strategies.projects import DOCUMENTS, TIDES, begin_project, command

RUN = ROOT / "runs" / "focused" / "careful.xml"


@pytest.fixture
def project(tmp_path):
    shutil.copytree(ROOT / "articles", tmp_path / "articles")
    return begin_project(tmp_path, tmp_path / "articles")


def judge(folder, name, start=100, end=200):
    with closing(open_project(folder)) as opened:
        register(opened.store, Assessor(name))
        page, key = opened.documents.get(DOCUMENTS[0]), Key(name, TIDES, DOCUMENTS[0])
        quote = page.text[start:end]
        save(opened.store, {"kind": "highlight", "start": start, "end": end, "quote": quote}, key, page)
        save(opened.store, {"kind": "finish", "relevant": True}, key, page)


def people_log(folder):
    with closing(open_project(folder)) as opened:
        return [(told["did"], told["name"]) for _, _, told in opened.store.project_log("people")]


def test_an_invitation_is_a_link_that_works(project, tmp_path):
    people = tmp_path / "people"
    people.write_text("")
    told = command(
        "project", "users", "invite", project, "lea", "--users", people, "--role", "lead", "--name", "judge.example"
    )
    link = told.splitlines()[0]
    assert link.startswith("http://judge.example:8475/invited?token=")
    with closing(open_project(project)) as opened:
        assert [(one.name, one.role) for one in invitations(opened.store)] == [("lea", "lead")]
        user = accept(opened.store, UsersFile(people), link.partition("token=")[2], "", "a long password")
    assert (user.name, user.role) == ("lea", "lead")
    assert "lea is a user already" in command("project", "users", "invite", project, "lea", "--users", people, code=1)


def test_an_invitation_needs_the_users_file(project):
    assert "Missing option '--users'" in command("project", "users", "invite", project, "lea", code=2)


def test_what_is_done_to_users_is_in_the_log(project, tmp_path):
    people = tmp_path / "people"
    secret = "secret\nsecret\n"
    command("project", "users", "add", project, "rea", "--users", people, "--role", "reader", stdin=secret)
    command("project", "users", "add", project, "lea", "--users", people, "--role", "lead", stdin=secret)
    command("project", "users", "log-out", project, "rea")
    command("project", "users", "remove", project, "rea", "--users", people)
    assert {user.name: user.role for user in read_users(people).values()} == {"lea": "lead"}
    assert people_log(project) == [("add", "rea"), ("add", "lea"), ("log out", "rea"), ("remove", "rea")]
    with closing(open_project(project)) as opened:
        assert removed(opened.store) == {"rea"}


def test_users_can_be_added_before_there_is_a_project(tmp_path):
    command(
        "project", "users", "add", tmp_path / "new", "ann", "--users", tmp_path / "people", stdin="secret\nsecret\n"
    )
    assert not (tmp_path / "new").exists()


def test_progress_is_a_table_of_everybody(project):
    judge(project, "ann")
    told = json.loads(command("project", "progress", project, "--json"))
    assert "ann" in json.dumps(told)
    table = command("project", "progress", project)
    assert {"assessor", "done", "disagreed"} <= set(table.split())


def test_judgements_move_to_a_text_that_changed(project, tmp_path):
    judge(project, "ann")
    path = tmp_path / "articles" / f"{DOCUMENTS[0]}.xml"
    path.write_text(path.read_text(encoding="utf-8").replace("<title>", "<title>On the ", 1), encoding="utf-8")
    assert "has changed" in command("project", "check", project, code=1)
    assert "1 judgement moved to the new text and reopened; 0 left" in command("project", "reanchor", project)
    assert "no defect" in command("project", "check", project)
    assert "0 judgements moved" in command("project", "reanchor", project)


def test_guidelines_come_from_a_file(project, tmp_path):
    (tmp_path / "how.md").write_text("# How\n")
    for _ in range(2):
        assert "guidelines: version 1" in command("project", "guidelines", project, tmp_path / "how.md")
    with closing(open_project(project)) as opened:
        assert guidelines(opened.store).text == "# How\n"
    assert "expected Markdown" in command("project", "guidelines", project, tmp_path / "none.md", code=1)


def test_a_pool_s_file_is_topped_up_from_a_project(project, tmp_path):
    command("project", "add-run", project, RUN, "--depth", "2")
    other = ROOT / "runs" / "focused" / "hasty.xml"
    command("pool", other, "--depth", "2", "--top-up", project, "-o", tmp_path / "more.jsonl")
    found = read_pool(tmp_path / "more.jsonl")
    assert [one.run for one in found.contributors] == ["careful", "hasty"]
    assert found.entries[0].document == DOCUMENTS[0]
    command("assess", project, "--pool", tmp_path / "more.jsonl", "--no-serve")
    assert "no defect" in command("project", "check", project)


@pytest.mark.parametrize("name", ["none.xml", "topics"])
def test_a_run_that_cannot_be_read_is_one_line_and_changes_nothing(project, tmp_path, name):
    run = ROOT / "topics.xml" if name == "topics" else tmp_path / name
    assert "Traceback" not in command("project", "add-run", project, run, code=1)
    assert not (project / "runs").exists()
