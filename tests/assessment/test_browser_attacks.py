"""Attacks that need a browser, or a socket, to be seen to fail."""

import json
import socket

import pytest

from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document
from focuseval.data.topics import Topic
from strategies.pages import Pages

EVIL = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"
NAME = f"doc {EVIL}"
PAGES = ("/", "/topic?topic=1", "/read?topic=1&document=", "/adjudicate", "/adjudicate/document?topic=1&document=",
         "/agreement", "/exchange")  # fmt: skip
INJECTED = "return [window.hacked ?? 0, document.querySelectorAll('img, script:not([src])').length]"


@pytest.fixture
def hostile(store, make_site):
    """A project in which everything that somebody could name is markup."""
    topics = (Topic("1", "CO", title=EVIL, description=EVIL, narrative=EVIL),)
    document = Document(NAME, f"{EVIL} and a text. javascript:alert(1)")
    add_to_pool(store, [Pooled("1", NAME)], actor=EVIL)
    for assessor in ("ann", f"model {EVIL}"):
        key = Key(assessor, "1", NAME)
        edits = ({"kind": "note", "text": EVIL}, {"kind": "highlight", "start": 0, "end": 4, "quote": EVIL[:4]},
                 {"kind": "finish", "relevant": True})  # fmt: skip
        for version, edit in enumerate(edits):
            store.edit(key, document, edit, version=version, token=f"{assessor} {version}")
    running = make_site(store, Pages(document), topics=topics)
    yield running
    running.stop()


def test_markup_in_titles_names_notes_and_texts_is_shown_and_never_run(hostile, browser):
    hostile.let_in(browser)
    upload = {"topic": "1", "doc": NAME, "spans": [], "assessor": f"model {EVIL}"}
    script = """
      const form = document.querySelector("form[action='/import']");
      const data = new FormData(form);
      data.set("file", new File([arguments[0] + "\\n"], "a.jsonl"));
      return fetch("/import", { method: "POST", body: data }).then((answer) => answer.status);"""
    browser.open(hostile.address("/exchange"))
    assert browser.run(script, json.dumps(upload)) == 200
    for path in PAGES:
        address = path + (browser.run("return encodeURIComponent(arguments[0])", NAME) if path.endswith("=") else "")
        browser.open(hostile.address(address))
        if "document" in path:
            browser.wait("return document.documentElement.dataset.ready")
        assert browser.run(INJECTED) == [0, 0], path
    assert browser.run("return document.body.textContent.includes('<script>')"), "it is there, as text"
    assert browser.errors() == []


def test_no_page_asks_another_machine_for_anything(site, browser):
    site.let_in(browser)
    asked = "return performance.getEntriesByType('resource').map((entry) => new URL(entry.name).host)"
    for path in ("/", "/topic?topic=11", "/read?topic=11&document=a/tides", "/adjudicate", "/agreement", "/exchange"):
        browser.open(site.address(path))
        assert set(browser.run(asked)) <= {f"127.0.0.1:{site.port}"}, path
    assert browser.run("return document.querySelectorAll('a[href^=http], [src^=http], [href^=\"//\"]').length") == 0


def test_the_link_s_token_stays_on_the_machine_and_leaves_the_address(site, browser):
    site.enter(browser)
    assert "token" not in browser.run("return location.href")
    assert browser.run("return fetch('/').then((answer) => answer.headers.get('referrer-policy'))") == "same-origin"


@pytest.mark.parametrize(
    ("request_line", "extra", "body", "answer"),
    [
        ("POST /api/edit", "Content-Length: 99999999999", b"", b"413"),
        ("POST /api/edit", "Content-Length: -1", b"", b"400"),
        ("POST /api/edit", "Transfer-Encoding: identity", b"", b"400"),
        ("GET /", f"X-Long: {'x' * 400_000}", b"", b"431"),
        ("GET /", "Host: evil.example", b"", b"403"),
        ("TRACE /", "", b"", b"4"),
    ],
)
def test_requests_that_no_browser_sends_are_refused(site, request_line, extra, body, answer):
    head = f"{request_line} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n{extra}\r\nConnection: close\r\n\r\n"
    assert raw(site, head.encode().replace(b"\r\n\r\nConn", b"\r\nConn") + body).split()[1].startswith(answer)


def test_a_chunked_body_is_bounded_as_any_other(site):
    size = 9 * 2**20
    head = f"POST /api/edit HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nOrigin: http://127.0.0.1:{site.port}\r\n"
    told = raw(site, f"{head}Transfer-Encoding: chunked\r\n\r\n{size:x}\r\n".encode() + b"x" * size + b"\r\n0\r\n\r\n")
    assert told.split()[1] == b"413"


def raw(site, data):
    """Send bytes and return the beginning of the answer."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as connection:
        connection.sendall(data)
        return connection.recv(4096)
