"""Who is logged in: sessions that end when they should, users that come and go while the server runs."""

import pytest

from focuseval.assessment.sessions import Sessions
from focuseval.assessment.users import UsersFile, add_user, remove_user
from focuseval.errors import FormatError
from strategies.projects import begin_project, command

BASE = "http://127.0.0.1:4321"


@pytest.fixture
def served(make_client, tmp_path):
    """A function that starts the server anew, over the same project, and gives a browser."""

    def start(users=None, assessor="ann", browser=None):
        client = make_client(users=users, assessor=assessor, sessions=Sessions(tmp_path / "sessions.jsonl"))
        if browser is not None:
            client.http.set_cookie(client.access.cookie, cookie_of(browser), domain="127.0.0.1")
        return client

    return start


@pytest.fixture
def people(tmp_path):
    add_user(tmp_path / "people", "ann", "ann's secret")
    add_user(tmp_path / "people", "lea", "lea's secret", role="lead")
    return tmp_path / "people"


def cookie_of(client):
    return client.http.get_cookie(client.access.cookie, domain="127.0.0.1").value


def test_a_cookie_of_the_link_is_no_login_when_there_are_users(served, users):
    alone = served().enter()
    together = served(users, browser=alone)
    assert together.get("/").status_code == 302
    assert together.get("/login").status_code == 200
    assert together.log_in("ann").status_code == 302
    assert together.get("/").status_code == 200


def test_the_cookie_of_another_single_user_leads_to_the_door_and_not_to_an_error(served):
    browser = served(assessor="ann").enter()
    other = served(assessor="bob", browser=browser)
    assert other.get("/").status_code == 302
    assert other.get("/login").status_code == 403


def test_a_removed_user_sees_the_login_page(served, people):
    browser = served(UsersFile(people))
    browser.log_in("ann")
    remove_user(people, "ann")
    assert browser.get("/").status_code == 302
    assert browser.get("/login").status_code == 200
    assert browser.edit({"kind": "skip"}).status_code == 401
    assert browser.log_in("ann").status_code == 200, "the form again: there is no such user"


def test_a_user_added_while_the_server_runs_logs_in_and_one_made_lead_leads(served, people):
    browser = served(UsersFile(people))
    assert browser.log_in("bob").status_code == 200
    add_user(people, "bob", "bob's secret")
    assert browser.log_in("bob").status_code == 302
    assert browser.get("/exchange").status_code == 403
    people.write_text(people.read_text().replace("bob:assessor", "bob:lead"))
    assert browser.get("/exchange").status_code == 200


def test_a_users_file_that_breaks_while_the_server_runs_changes_nothing(served, people, caplog):
    browser = served(UsersFile(people))
    people.write_text("nonsense\n")
    assert browser.log_in("ann").status_code == 302
    assert "the users stay as they were" in caplog.text
    people.unlink()
    assert browser.get("/").status_code == 200


def test_an_old_cookie_dies_with_the_logout_also_after_a_restart(served, users):
    browser = served(users)
    browser.log_in("ann")
    stolen = cookie_of(browser)
    assert browser.post("/logout", data={"csrf": ""}).status_code == 302
    for again in (browser, served(users)):
        again.http.set_cookie(again.access.cookie, stolen, domain="127.0.0.1")
        assert again.get("/").status_code == 302
    assert browser.log_in("ann").status_code == 302
    assert browser.get("/").status_code == 200


def test_a_restart_logs_nobody_out(served, users):
    browser = served(users)
    browser.log_in("ann")
    assert served(users, browser=browser).get("/").status_code == 200


def test_a_new_password_ends_the_sessions_of_the_old_one(served, people):
    browser = served(UsersFile(people))
    browser.log_in("ann")
    add_user(people, "ann", "another")
    assert browser.get("/").status_code == 302
    assert browser.log_in("ann", "another").status_code == 302
    assert browser.get("/").status_code == 200


def test_sessions_are_revoked_while_the_server_runs(served, users, tmp_path):
    ann, bob = served(users), served(users)
    ann.log_in("ann")
    bob.log_in("bob")
    Sessions(tmp_path / "sessions.jsonl").revoke("ann")
    assert ann.get("/").status_code == 302
    assert bob.get("/").status_code == 200
    assert ann.log_in("ann").status_code == 302
    assert ann.get("/").status_code == 200


def test_the_file_of_ended_sessions_holds_no_secret_and_forgets_what_is_too_old(served, users, tmp_path, monkeypatch):
    browser = served(users)
    browser.log_in("ann")
    with browser.http.session_transaction(base_url=BASE) as session:
        number = session["id"]
    browser.post("/logout", data={"csrf": ""})
    file = tmp_path / "sessions.jsonl"
    assert number not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    sessions = Sessions(file)
    sessions.revoke("bob")
    sessions.forget()
    assert file.read_text().count("\n") == 2
    monkeypatch.setattr("time.time", lambda: 9e9)
    sessions.forget()
    assert file.read_text().count("\n") == 1, "a revocation stays"


def test_a_disk_that_is_full_keeps_nobody_from_logging_out(served, users, monkeypatch, caplog):
    browser = served(users)
    browser.log_in("ann")
    stolen = cookie_of(browser)
    monkeypatch.setattr("focuseval.assessment.sessions.make_private", _full)
    assert browser.post("/logout", data={"csrf": ""}).status_code == 302
    assert "was not kept" in caplog.text
    browser.http.set_cookie(browser.access.cookie, stolen, domain="127.0.0.1")
    assert browser.get("/").status_code == 302


def _full(_):
    raise OSError(28, "No space left on device")


def test_the_commands_remove_users_and_end_sessions(tmp_path, people):
    project = begin_project(tmp_path)
    assert "may not log in any more" in command("project", "users", "remove", project, "ann", "--users", people)
    assert "expected one of the users lea, found 'ann'" in command(
        "project", "users", "remove", project, "ann", "--users", people, code=1
    )
    assert "every session has ended" in command("project", "users", "log-out", project, "lea")
    assert '"revoked": "lea"' in (project / "sessions.jsonl").read_text()
    assert "expected a project" in command("project", "users", "log-out", tmp_path / "none", "lea", code=1)
    with pytest.raises(FormatError):
        remove_user(people, "nobody")
