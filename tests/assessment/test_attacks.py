"""Each of these is an attack; each must fail."""

import hmac
import json
import logging
import re
from io import BytesIO

import pytest

from focuseval.assessment.plan import Pooled, add_to_pool, split
from focuseval.assessment.web import Access
from focuseval.collection.rendering import Document
from strategies.assessing import mark
from strategies.pages import ARTICLE, page_from_xml

TEXT = page_from_xml("a/tides", ARTICLE).text
EDIT = mark(0, 5, text=TEXT)
HOST = "127.0.0.1:4321"


def values(**others):
    return {"topic": "11", "document": "a/tides", "edit": EDIT, "version": 0, "token": "token-0001", **others}


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:4321", "127.0.0.1", "127.0.0.1:80", "", "127.0.0.1:4321.evil.example",
     "127.0.0.1:4321.", "127.1:4321", "0.0.0.0:4321", "[::1]:4321", "evil@127.0.0.1:4321", "127.0.0.1:04321"],
)  # fmt: skip
def test_a_rebound_name_is_refused_even_with_a_session(alone, host):
    alone.enter()
    assert alone.http.get("/", base_url=f"http://{HOST}", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://127.0.0.1:80", "http://127.0.0.1:4321.evil.example"]
)
def test_a_post_from_another_site_is_refused(alone, pooled, origin):
    alone.enter()
    assert alone.post("/api/edit", values(), headers={"Host": HOST, "Origin": origin}).status_code == 403
    assert pooled.judged() == []


def test_a_post_without_an_origin_is_refused(alone):
    alone.enter()
    assert alone.post("/api/edit", values(), headers={"Host": HOST}).status_code == 403


@pytest.mark.parametrize("csrf", ["", "guess", "x" * 32])
def test_a_post_without_the_page_s_token_is_refused(alone, pooled, csrf):
    alone.enter()
    assert alone.post("/api/edit", values(), csrf=csrf).status_code == 403
    assert pooled.judged() == []


def test_the_token_of_another_session_is_of_no_use(together):
    ann, bob = together("ann"), together("bob")
    assert ann.csrf != bob.csrf
    assert ann.post("/api/edit", values(), csrf=bob.csrf).status_code == 403


def test_without_the_link_there_is_only_the_door(alone):
    assert alone.get("/api/document?topic=11&document=a/tides").status_code == 401
    assert alone.post("/api/edit", values()).status_code == 401
    assert alone.get("/").location == "/login"
    assert alone.get("/login").status_code == 403


@pytest.mark.parametrize("token", ["", "wrong", "ü", "x" * 5000])
def test_a_wrong_link_opens_nothing(alone, token):
    assert alone.get(f"/enter?token={token}").status_code == 403
    assert alone.get("/").status_code == 302


def test_guessing_the_link_is_slowed_down(alone):
    answers = [alone.get(f"/enter?token=guess{k}").status_code for k in range(7)]
    assert answers == [403] * 5 + [429] * 2
    assert alone.get(f"/enter?token={alone.access.token}").status_code == 200, "nobody locks the owner out"


def test_secrets_are_compared_in_constant_time(alone, together, monkeypatch):
    compared, real = [], hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((a, b)) or real(a, b))
    alone.get("/enter?token=guess")
    assert compared.pop() == (b"guess", alone.access.token.encode())
    alone.enter().edit(EDIT)
    assert (alone.csrf.encode(),) * 2 in compared
    nobody = together.anonymous()
    for name in ("ann", "nobody"):  # a name that does not exist takes as long as a wrong password
        compared.clear()
        nobody.log_in(name, "a guess")
        assert any(len(a) == 64 and a != b for a, b in compared), "a scrypt hash, whoever is named"


def test_with_users_the_link_opens_nothing(together):
    nobody = together.anonymous()
    assert nobody.get(f"/enter?token={nobody.access.token}").status_code == 403


def test_the_cookie_is_strict_hidden_from_scripts_and_cannot_be_forged(alone):
    answer = alone.get(f"/enter?token={alone.access.token}")
    cookie = answer.headers["Set-Cookie"]
    assert "SameSite=Strict" in cookie
    assert "HttpOnly" in cookie
    alone.http.set_cookie(alone.access.cookie, "eyJ1c2VyIjoiYW5uIn0.forged.forged", domain="127.0.0.1")
    assert alone.get("/").status_code == 302


def test_two_projects_on_one_machine_do_not_take_each_other_s_cookies(alone):
    other = Access(b"l" * 32, frozenset({HOST}))
    assert alone.access.cookie != other.cookie
    assert alone.access.cookie == Access(alone.access.secret).cookie, "a restart logs nobody out"
    assert alone.access.secret.decode() not in alone.access.cookie


def test_a_session_of_a_user_who_was_removed_ends(together, users):
    ann = together("ann")
    removed = users.pop("ann")
    assert ann.get("/").status_code == 302
    users["ann"] = removed


def test_every_answer_forbids_inline_scripts_frames_and_other_machines(alone):
    alone.enter()
    for path in (
        "/",
        "/topic?topic=11",
        "/read?topic=11&document=a/tides",
        "/exchange",
        "/nowhere",
        "/static/assess.js",
    ):
        headers = alone.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "http:" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"


def test_no_page_has_a_script_or_a_style_of_its_own(alone):
    alone.enter()
    for path in ("/", "/topic?topic=11", "/read?topic=11&document=a/tides", "/adjudicate", "/agreement", "/exchange"):
        page = alone.get(path).text
        assert not re.search(r"<script(?![^>]*src=)", page)
        assert not re.search(r"\son\w+\s*=|\sstyle\s*=|javascript:", page)
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)


def test_markup_in_ids_topics_and_texts_stays_text(alone, pooled, pages):
    name = '"><img src=x onerror=alert(1)>'
    pages.put(Document(name, "<script>alert(1)</script>"))
    add_to_pool(pooled, [Pooled("11", name)], actor="lead")
    alone.enter()
    assert "<img src=x" not in alone.get("/topic?topic=11").text
    assert alone.get("/api/document", topic="11", document=name).mimetype == "application/json"
    page = alone.get("/read", topic="11", document=name)
    assert "<script>alert" not in page.text
    assert "<img src=x" not in page.text


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..%2f..%2fetc%2fpasswd", "a/../a/tides", "a\\tides", "a/tides\0"]
)
def test_an_id_never_becomes_a_path(alone, name):
    alone.enter()
    for path in ("/api/document", "/read"):
        assert alone.get(path, topic="11", document=name).status_code == 404
    assert alone.get("/static/../app.py").status_code == 404
    assert alone.get("/static/%2e%2e/database.py").status_code == 404


def test_a_document_outside_one_s_pool_does_not_exist(together, pooled):
    split(pooled, ["ann", "bob"], by="topics", actor="lea")
    ann = together("ann")
    assert ann.get("/api/document?topic=12&document=c/other").status_code == 404
    assert ann.edit({"kind": "flag", "on": True}, topic="12", document="c/other").status_code == 404


def test_assessors_stay_blind(together):
    ann, bob = together("ann"), together("bob")
    assert ann.edit(EDIT).status_code == 200
    assert bob.get("/api/document?topic=11&document=a/tides").json["state"]["highlights"] == []
    for path in ("/adjudicate", "/agreement", "/exchange", "/export", "/gold?assessor=ann&format=gold"):
        assert bob.get(path).status_code == 403
    for path in ("/adjudicate/document", "/api/sides", "/read", "/api/document"):
        assert bob.get(f"{path}?topic=11&document=a/tides&as=adjudicated").status_code == 403
    assert bob.edit(EDIT, **{"as": "adjudicated"}).status_code == 403
    decision = {"topic": "11", "document": "a/tides", "rule": "one", "of": ["ann"], "version": 0, "token": "token-0002"}
    assert bob.post("/api/decide", decision).status_code == 403


def test_nobody_writes_in_another_s_name(together, pooled):
    ann = together("ann")
    ann.edit(EDIT, assessor="bob", actor="lea", user="bob")
    assert [key.assessor for key in pooled.judged()] == ["ann"]
    assert ann.edit({"kind": "replace", "judgement": {}}, version=1, token="token-0002").status_code == 422


def test_what_is_sent_is_bounded(alone, monkeypatch):
    alone.enter()
    assert alone.edit({"kind": "note", "text": "x" * (9 * 2**20)}).status_code == 413
    monkeypatch.setattr("focuseval.assessment.web.desk.UPLOAD_LIMIT", 1_000)
    upload = {"file": (BytesIO(b"x" * 2_000), "answers.jsonl")}
    assert alone.post("/import", data=upload, content_type="multipart/form-data").status_code == 413


@pytest.mark.parametrize("body", [b"[" * 100_000, b"nothing", b"[]", b"\xff\xfe", b'{"version": true}'])
def test_nonsense_is_refused_without_a_traceback(alone, body):
    alone.enter()
    answer = alone.post("/api/edit", data=body, content_type="application/json")
    assert answer.status_code in (400, 404)
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("where", ["text", "token", "topic"])
def test_half_a_character_is_refused_and_not_an_error_of_the_server(alone, pooled, where):
    alone.enter()
    edit = {"kind": "note", "text": "half \ud83d of a ship" if where == "text" else "whole 🚢"}
    others = {where: "half \ud83d here"} if where != "text" else {}
    answer = alone.post("/api/edit", values(edit=edit, **others))
    assert (answer.status_code, "lone surrogate" in answer.json["error"]) == (400, True)
    assert pooled.judged() == []
    assert alone.post("/api/edit", values(edit={"kind": "note", "text": "whole 🚢"})).status_code == 200


@pytest.mark.parametrize("sent", [b"half \xed\xa0\x80 of it", b"\xed\xb0\x80", b"\xed\x9f\xbf and \xff"])
def test_bytes_that_are_no_utf_8_are_refused_and_not_an_error_of_the_server(alone, pooled, sent):
    alone.enter()
    body = json.dumps(values(edit={"kind": "note", "text": "HERE"})).encode().replace(b"HERE", sent)
    answer = alone.post("/api/edit", data=body, content_type="application/json")
    assert answer.status_code == 400
    assert pooled.judged() == []
    whole = body.replace(sent, "\ud7ff 🚢".encode())  # its first byte is the same
    assert alone.post("/api/edit", data=whole, content_type="application/json").status_code == 200


@pytest.mark.parametrize("number", ["9" * 25, "9" * 5_000, "²"])
def test_numbers_without_measure_are_refused(together, pooled, number):
    ann, lea = together("ann"), together("lea")
    split = {"do": "split", "by": "topics", "overlap": number, "to": ["ann", "lea"]}
    assert lea.post("/work", data=split).status_code == 422
    assert lea.post("/guidelines", data={"text": "x", "version": number}).status_code == 422
    upload = {"file": (BytesIO(b"11 Q0 a/tides 1 1 r\n"), "run.txt"), "depth": number}
    assert lea.post("/pool", data=upload, content_type="multipart/form-data").status_code == 422
    body = json.dumps(values(version="HERE")).replace('"HERE"', number).encode()
    answer = ann.post("/api/edit", data=body, content_type="application/json")
    assert answer.status_code in (400, 409)
    assert pooled.judged() == []


def test_guessing_a_password_is_slowed_down(together):
    nobody = together.anonymous()
    answers = [nobody.log_in("ann", f"guess {k}") for k in range(7)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert 0 < int(answers[-1].headers["Retry-After"]) <= 61
    assert nobody.log_in("ann").status_code == 429


def test_guessing_many_names_is_slowed_down_too(together):
    nobody = together.anonymous()
    answers = [nobody.log_in(f"user{k}", "guess").status_code for k in range(32)]
    assert answers == [200] * 30 + [429] * 2


def test_guesses_keep_nobody_out_who_logged_in_here_before_nor_who_sits_elsewhere(together):
    ann, stranger = together("ann"), together.anonymous()
    for k in range(40):
        stranger.log_in("ann" if k < 10 else f"user{k}", "guess")
    assert stranger.log_in("ann").status_code == 429
    ann.post("/logout", data={"csrf": ""})
    assert ann.log_in("ann").status_code == 302, "the browser is known"
    assert ann.log_in("bob", "guess").status_code == 429, "not to everybody"
    elsewhere = together.anonymous()
    elsewhere.http.environ_base["REMOTE_ADDR"] = "192.0.2.33"
    assert elsewhere.log_in("ann").status_code == 302


def test_a_known_browser_cannot_be_forged_and_has_a_limit_of_its_own(together):
    nobody = together.anonymous()
    nobody.http.set_cookie(nobody.access.browser_cookie, "number.forged", domain="127.0.0.1", path="/login")
    assert [nobody.log_in("ann", "guess").status_code for _ in range(6)][-1] == 429
    ann = together.anonymous()
    ann.http.environ_base["REMOTE_ADDR"] = "192.0.2.1"
    assert ann.log_in("ann").status_code == 302
    cookie = ann.http.get_cookie(ann.access.browser_cookie, domain="127.0.0.1", path="/login")
    assert cookie.http_only
    assert ann.access.known_browser("bob", cookie.value) == "", "it is ann's"
    assert [ann.log_in("ann", "guess").status_code for _ in range(6)] == [200] * 5 + [429]


def test_the_cookies_are_for_https_alone_when_they_were_given_over_https(together):
    for scheme, secure in (("http", False), ("https", True)):
        client = together.anonymous()
        base = {"base_url": f"{scheme}://{HOST}", "headers": {"Host": HOST, "Origin": f"{scheme}://{HOST}"}}
        page = client.http.get("/login", **base)
        form = {
            "name": "ann",
            "password": "ann's secret",
            "csrf": re.search(r'csrf" value="([^"]+)', page.text).group(1),
        }
        answer = client.http.post("/login", data=form, **base)
        assert answer.status_code == 302
        given = answer.headers.getlist("Set-Cookie")
        assert len(given) == 2
        assert all(("Secure" in cookie) == secure and "HttpOnly" in cookie for cookie in given)


def test_no_secret_reaches_the_log(alone, together, caplog):
    caplog.set_level(logging.DEBUG)
    alone.enter()
    together("ann")
    together.anonymous().log_in("ann", "a wrong guess")
    alone.app.config["PROPAGATE_EXCEPTIONS"] = False
    alone.app.view_functions["pages.topics"] = lambda: 1 / 0
    assert alone.get(f"/?token={alone.access.token}").status_code == 500
    logged = caplog.text + json.dumps([str(record.__dict__) for record in caplog.records])
    assert "ZeroDivisionError" in logged
    cookie = alone.http.get_cookie(alone.access.cookie, domain="127.0.0.1").value
    for secret in (alone.access.token, alone.csrf, cookie, "ann's secret", "a wrong guess", "k" * 32):
        assert secret not in logged
    assert alone.access.token not in repr(alone.access)
