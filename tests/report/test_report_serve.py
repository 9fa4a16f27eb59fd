"""The served report: behind a token, under its own name, with nothing left out."""

import pytest

from focuseval.assessment.web.serve import Server, bind, names_of
from focuseval.report.build import gather_evidence
from focuseval.report.serve import cookie_of, create_app
from strategies.campaigns import campaign

HOST = "127.0.0.1:4321"


@pytest.fixture(scope="module")
def evidence():
    gold, runs, texts = campaign(topics=4, runs=2, documents=40, depth=30)
    return gather_evidence(gold, runs, ["MAgP"], index=texts, task="spans")


@pytest.fixture
def client(evidence):
    return create_app(evidence, "secret", frozenset({HOST})).test_client()


def get(client, path, host=HOST):
    return client.get(path, base_url=f"http://{host}", headers={"Host": host})


def test_the_link_s_token_becomes_a_cookie_and_opens_the_page(client):
    assert get(client, "/").status_code == 403
    assert get(client, "/?token=wrong").status_code == 403
    entered = get(client, "/?token=secret")
    assert entered.status_code == 302
    assert "HttpOnly" in entered.headers["Set-Cookie"]
    page = get(client, "/")
    assert page.status_code == 200
    assert "nothing is left out" in page.text
    assert "secret" not in page.text
    assert page.headers["X-Frame-Options"] == "DENY"


def test_a_foreign_name_gets_nothing(client):
    client.set_cookie(cookie_of("secret"), "secret", domain="evil.example")
    assert get(client, "/?token=secret", host="evil.example:4321").status_code == 403


def test_every_result_of_a_topic_and_its_text_are_there(client, evidence):
    get(client, "/?token=secret")
    topic = evidence.scores.topics[1]
    answer = get(client, f"/lists?topic={topic}").json
    count, top = answer["topic"]["runs"][0]
    assert len(top) == 3 * count > 60
    document = answer["documents"][top[0]]
    text = get(client, f"/document?doc={document}").json
    assert text["text"] == evidence.index.text(int(evidence.index.find([document])[0]))


@pytest.mark.parametrize("path", ["/lists?topic=no", "/lists", "/document?doc=../../etc/passwd", "/document"])
def test_what_does_not_exist_is_not_found(client, path):
    get(client, "/?token=secret")
    assert get(client, path).status_code == 404


def test_the_page_works_from_a_server_in_a_browser(browser, evidence):
    listening = bind()
    port, token = listening.getsockname()[1], "t" * 32
    server = Server(create_app(evidence, token, names_of("127.0.0.1", port)), listening)
    server.start()
    try:
        browser.open(f"http://127.0.0.1:{port}/?token={token}")
        before = browser.wait("return document.documentElement.dataset.heat")
        browser.run("document.getElementById('next-topic').click()")
        browser.wait("const now = document.documentElement.dataset.heat; return now && now !== arguments[0]", before)
        assert browser.run("return document.querySelectorAll('#heat-text mark').length") > 0
        assert browser.run("return document.getElementById('pick-article').options.length") > 20
        assert browser.errors() == []
    finally:
        server.close()


def test_a_second_report_on_the_machine_does_not_take_the_first_one_s_cookie():
    assert cookie_of("one") != cookie_of("another")
