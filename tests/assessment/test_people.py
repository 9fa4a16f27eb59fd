"""Invitations, roles, resets and removals; each of the attacks on them must fail."""

import re
import threading
from datetime import UTC, datetime, timedelta

import pytest

from focuseval.assessment import users as people
from focuseval.assessment.plan import IMPORTED, Assessor, register, roles
from focuseval.assessment.users import UsersFile, add_user, verify
from focuseval.assessment.web import Access, create_app
from focuseval.errors import AssessError, FocusevalError
from strategies.assessing import mark
from strategies.pages import ARTICLE, TOPICS, page_from_xml

from .conftest import HOST, OWN, Client

PASSWORD = "a long password"
TEXT = page_from_xml("a/tides", ARTICLE).text


@pytest.fixture
def users(tmp_path):
    path = tmp_path / "people"
    for name, role in (("lea", "lead"), ("ann", "assessor"), ("bob", "assessor"), ("rea", "reader")):
        add_user(path, name, f"{name}'s secret", role=role)
    return UsersFile(path)


@pytest.fixture
def office(pooled, pages, users):
    """A function that gives each user a browser, with users who can be managed."""
    access = Access(b"k" * 32, frozenset({HOST}), users=users)
    app = create_app(pooled, pages, TOPICS, access)

    def client(name=""):
        one = Client(app, access)
        if name:
            assert one.log_in(name).status_code == 302
            one.learn("/guidelines")
        return one

    return client


def do(client, what, name="", **others):
    return client.post("/people", data={"csrf": client.csrf, "do": what, "name": name, **others})


def token_in(answer):
    return re.search(r"invited\?token=([\w-]+)", answer.text).group(1)


def follow(client, token, name="", password=PASSWORD, again=None, **others):
    client.learn(f"/invited?token={token}")
    values = {"token": token, "name": name, "password": password, "again": again or password, **others}
    return client.post("/invited", data=values)


def test_a_person_who_is_invited_chooses_a_password_and_comes_in(office, pooled, users):
    answer = do(office("lea"), "invite", "cy", role="assessor")
    newcomer = office()
    assert "cy" in newcomer.get(f"/invited?token={token_in(answer)}").text
    assert follow(newcomer, token_in(answer)).status_code == 302
    assert newcomer.get("/").status_code == 200
    assert verify(users, "cy", PASSWORD).role == "assessor"
    steps = [(actor, told["did"], told["name"]) for _, actor, told in pooled.project_log("people")]
    assert steps == [("lea", "invite", "cy"), ("cy", "accept", "cy")]


def test_a_link_without_a_name_lets_its_reader_choose_one(office, users):
    token = token_in(do(office("lea"), "invite", role="reader"))
    assert follow(office(), token, "dee").status_code == 302
    assert users["dee"].role == "reader"


def test_who_is_a_user_is_not_invited_again(office, pooled):
    answer = do(office("lea"), "invite", "ann", role="assessor")
    assert answer.status_code == 422
    assert "ann is a user already; under People, New password makes a link" in answer.text
    assert people.invitations(pooled) == []


def test_the_log_holds_no_secret(office, pooled):
    token = token_in(do(office("lea"), "invite", "cy", role="lead"))
    assert token not in str(list(pooled.events()))


def test_an_invitation_works_once(office, users):
    token = token_in(do(office("lea"), "invite", "cy", role="assessor"))
    assert follow(office(), token).status_code == 302
    before = users["cy"].password
    assert follow(office(), token, password="another password").status_code == 403
    assert users["cy"].password == before


def test_two_who_follow_a_link_at_once_are_not_both_let_in(pooled, users):
    token = people.invite(pooled, "", "assessor", actor="lea")
    came, refused = [], []

    def come(name):
        try:
            came.append(people.accept(pooled, users, token, name, PASSWORD).name)
        except AssessError:
            refused.append(name)

    threads = [threading.Thread(target=come, args=(f"p{k}",)) for k in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert (len(came), len(refused)) == (1, 5)
    assert [name for name in users if name.startswith("p")] == came


def test_a_revoked_or_late_invitation_opens_nothing(office, pooled, monkeypatch):
    lea = office("lea")
    token = token_in(do(lea, "invite", "cy", role="assessor"))
    (waiting,) = people.invitations(pooled)
    assert "not valid any more" in do(lea, "revoke", "cy", id=waiting.id).text
    assert office().get(f"/invited?token={token}").status_code == 403
    late = token_in(do(lea, "invite", "dee", role="assessor"))

    class Later(datetime):
        @classmethod
        def now(cls, zone):
            return datetime.now(UTC) + timedelta(days=15)

    monkeypatch.setattr(people, "datetime", Later)
    assert office().get(f"/invited?token={late}").status_code == 403


@pytest.mark.parametrize("token", ["", "guess", "ü" * 40, "x" * 5000])
def test_a_guessed_invitation_opens_nothing_and_is_slowed_down(office, token):
    stranger = office()
    assert [stranger.get("/invited", token=token).status_code for _ in range(7)] == [403] * 5 + [429] * 2


def test_an_invited_person_cannot_give_themselves_another_role_or_name(office, users):
    token = token_in(do(office("lea"), "invite", "cy", role="assessor"))
    assert follow(office(), token, "lea", role="lead").status_code == 302
    assert users["cy"].role == "assessor"
    assert verify(users, "lea", "lea's secret")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "lea",
        "ann",
        "adjudicated",
        "merged",
        "x:lead",
        "a\nb:lead:scrypt$1$1$1$a$a",
        "../x",
        "#x",
        "n" * 65,
        "model",
    ],
)
def test_a_name_that_is_taken_or_no_name_is_refused(office, pooled, users, name):
    register(pooled, Assessor("model", IMPORTED, "x"))
    token = token_in(do(office("lea"), "invite", role="assessor"))
    assert follow(office(), token, name).status_code == 422
    assert set(users) == {"lea", "ann", "bob", "rea"}


def test_nobody_takes_over_the_work_of_somebody_who_was_removed(office, pooled):
    office("ann").edit(mark(0, 5, text=TEXT))
    lea = office("lea")
    do(lea, "remove", "ann")
    token = token_in(do(lea, "invite", role="assessor"))
    assert follow(office(), token, "ann").status_code == 422
    assert len(pooled.judged("ann")) == 1


@pytest.mark.parametrize(("password", "again"), [("short", None), (PASSWORD, "another"), ("", None)])
def test_a_password_that_is_short_or_mistyped_is_refused(office, users, password, again):
    token = token_in(do(office("lea"), "invite", "cy", role="assessor"))
    assert follow(office(), token, password=password, again=again).status_code == 422
    assert "cy" not in users


def test_a_reset_ends_the_sessions_and_lets_the_person_choose_anew(office, users):
    ann, lea = office("ann"), office("lea")
    token = token_in(do(lea, "reset", "ann"))
    assert ann.get("/").status_code == 302, "the session has ended"
    assert verify(users, "ann", "ann's secret"), "until the link is followed the old password holds"
    assert follow(office(), token).status_code == 302
    assert not verify(users, "ann", "ann's secret")
    assert users["ann"].role == "assessor"


def test_a_second_reset_makes_the_first_link_invalid(office):
    lea = office("lea")
    first = token_in(do(lea, "reset", "ann"))
    do(lea, "reset", "ann")
    assert office().get(f"/invited?token={first}").status_code == 403


def test_who_is_removed_does_not_come_back_by_an_old_link(office, pooled, users):
    lea, ann = office("lea"), office("ann")
    token = token_in(do(lea, "reset", "ann"))
    assert do(lea, "remove", "ann").status_code == 200
    assert "ann" not in users
    assert ann.get("/").status_code == 302
    assert office().get(f"/invited?token={token}").status_code == 403
    assert people.removed(pooled) == {"ann"}


def test_the_last_lead_stays(office, users):
    lea = office("lea")
    for what, others in (("remove", {}), ("role", {"role": "assessor"}), ("role", {"role": "reader"})):
        assert do(lea, what, "lea", **others).status_code == 422
    assert users["lea"].role == "lead"
    assert do(lea, "role", "ann", role="lead").status_code == 200
    assert do(lea, "remove", "lea").location == "/"
    assert set(users) == {"ann", "bob", "rea"}


def test_a_role_holds_at_once(office, pooled):
    ann, lea = office("ann"), office("lea")
    assert ann.get("/dashboard").status_code == 403
    do(lea, "role", "ann", role="lead")
    assert ann.get("/dashboard").status_code == 200
    assert "bob has the role assessor now." in do(lea, "role", "bob", role="assessor").text
    do(lea, "role", "ann", role="reader")
    assert ann.edit(mark(0, 5, text=TEXT)).status_code == 403
    assert roles(pooled)["ann"] == "reader"


@pytest.mark.parametrize("what", ["reset", "remove", "log out", "role"])
@pytest.mark.parametrize("name", ["", "nobody", "model"])
def test_a_name_that_is_no_user_s_is_refused(office, what, name):
    assert do(office("lea"), what, name, role="lead").status_code == 422


def test_sessions_can_be_ended(office, pooled):
    ann, lea = office("ann"), office("lea")
    assert do(lea, "log out", "ann").status_code == 200
    assert ann.get("/").status_code == 302
    assert pooled.project_log("people")[-1][1:] == ("lea", {"kind": "people", "did": "log out", "name": "ann"})


LEADS_POSTS = (
    "/people",
    "/work",
    "/texts",
    "/adjudicate/agreed",
    "/guidelines",
    "/pool",
    "/pool/add",
    "/pool/forget",
    "/import",
    "/api/decide",
)
OVERSEERS = ("/dashboard", "/work", "/flagged", "/texts", "/adjudicate", "/adjudicate/next", "/agreement", "/quality",
             "/pool", "/ranking", "/exchange", "/export", "/archive", "/pool/preview", "/gold",
             "/adjudicate/document?topic=11&document=a/tides", "/api/sides?topic=11&document=a/tides")  # fmt: skip


@pytest.mark.parametrize("path", LEADS_POSTS)
@pytest.mark.parametrize("name", ["ann", "rea"])
def test_neither_an_assessor_nor_a_reader_does_what_a_lead_does(office, pooled, path, name):
    client, before = office(name), len(list(pooled.events()))
    for values in (
        {"data": {"do": "remove", "name": "bob"}},
        {"values": {"topic": "11", "document": "a/tides", "rule": "union", "of": []}},
    ):
        assert client.post(path, **values).status_code == 403
    assert len(list(pooled.events())) == before


@pytest.mark.parametrize("path", [*OVERSEERS, "/people"])
def test_an_assessor_sees_nothing_of_others(office, path):
    assert office("ann").get(path).status_code == 403


@pytest.mark.parametrize("path", OVERSEERS)
def test_a_reader_sees_what_a_lead_sees(office, path):
    assert office("rea").get(path).status_code == office("lea").get(path).status_code


def test_a_reader_judges_nothing(office, pooled):
    rea = office("rea")
    assert rea.get("/").location == "/dashboard"
    assert rea.edit(mark(0, 5, text=TEXT)).status_code == 403
    assert rea.get("/read", topic="11", document="a/tides").status_code == 403
    assert rea.get("/read", topic="11", document="a/tides", **{"as": "adjudicated"}).status_code == 403
    assert rea.get("/people").status_code == 403
    assert pooled.judged() == []
    assert rea.post("/logout", data={"x": ""}).status_code == 302


@pytest.mark.parametrize("path", LEADS_POSTS)
def test_a_change_by_a_lead_needs_the_page_s_token_and_origin(office, path):
    lea = office("lea")
    assert lea.post(path, data={"do": "remove", "name": "ann"}, csrf="guess").status_code == 403
    foreign = {**OWN, "Origin": "http://evil.example"}
    assert lea.post(path, data={"do": "remove", "name": "ann"}, headers=foreign).status_code == 403


def test_a_server_without_users_manages_none(alone):
    alone.enter()
    assert "--users FILE" in alone.get("/people").text
    assert alone.post("/people", data={"do": "invite", "name": "x"}).status_code == 409
    assert alone.get("/invited?token=x").status_code == 403


def test_a_name_is_shown_as_text(office, pooled, users):
    add_user(users.path, "<b>bo", "secret secret")
    register(pooled, Assessor("<b>bo"))
    lea = office("lea")
    for path in ("/people", "/dashboard", "/work", "/exchange"):
        assert "<b>bo" not in lea.get(path).text
        assert "&lt;b&gt;bo" in lea.get(path).text


def test_an_unknown_role_is_refused(pooled, users):
    with pytest.raises(AssessError, match="role"):
        people.invite(pooled, "cy", "owner", actor="lea")
    with pytest.raises(FocusevalError, match="role"):
        people.give_role(pooled, users, "ann", "owner", actor="lea")
