"""Many connections: idle, half-open, too large, too many; and an edit among them."""

import json
import re
import socket
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection

import pytest
from flask import Flask

from focuseval.assessment.store import Key
from focuseval.assessment.web import serve
from focuseval.collection.rendering import Document
from strategies.assessing import mark
from strategies.pages import ARTICLE, page_from_xml

TEXT = page_from_xml("a/tides", ARTICLE).text


class Person:
    """Somebody with one kept-alive connection, logged in."""

    def __init__(self, site, name="ann"):
        self.site, self.version, self.cookies = site, 0, {}
        self.connection = HTTPConnection("127.0.0.1", site.port, timeout=30)
        page = self.send("GET", "/login")[1]
        form = f"name={name}&password={name}%27s+secret&csrf={_csrf(page)}"
        assert self.send("POST", "/login", form, "application/x-www-form-urlencoded")[0] == 302
        self.csrf = _csrf(self.send("GET", "/")[1])

    def send(self, method, path, body=None, kind="application/json"):
        headers = {"Origin": self.site.address(""), "X-CSRF-Token": getattr(self, "csrf", ""), "Content-Type": kind}
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        told = answer.read().decode()
        for line in answer.headers.get_all("Set-Cookie", []):
            name, _, value = line.split(";")[0].partition("=")
            self.cookies[name] = value
        return answer.status, told

    def edit(self):
        start = 2 * (self.version % 20)
        values = {"topic": "11", "document": "a/tides", "version": self.version, "token": f"token-{self.version:05}",
                  "edit": mark(start, start + 1, text=TEXT)}  # fmt: skip
        status, told = self.send("POST", "/api/edit", json.dumps(values))
        assert status == 200, told
        self.version = json.loads(told)["state"]["version"]

    def close(self):
        self.connection.close()


def _csrf(page):
    return page.split('name="csrf" ')[1].split('"')[1]


@pytest.fixture
def person(shared_site):
    somebody = Person(shared_site)
    yield somebody
    somebody.close()


def eventually(found):
    """What a function finds, after a while."""
    end = time.monotonic() + 60
    while not (value := found()) and time.monotonic() < end:
        time.sleep(0.01)
    return value


def opened(site, count, data=b""):
    """So many connections, each with the beginning of a request."""
    found = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", site.port), timeout=30)
        connection.sendall(data)
        found.append(connection)
    return found


def closed(found):
    for connection in found:
        connection.close()


def is_closed(connection):
    connection.settimeout(5)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("data", [b"", b"POST /api/edit HTTP/1.1\r\nHost: x\r\nContent-"], ids=["idle", "half-open"])
def test_a_thousand_connections_that_do_nothing_do_not_keep_an_edit_waiting(shared_site, person, data, monkeypatch):
    monkeypatch.setattr(serve, "HEAD", 600)  # a slow machine must not close them meanwhile
    person.edit()
    found = opened(shared_site, 1_000, data)
    newcomer = Person(shared_site, "bob")
    for _ in range(5):
        person.edit()
        newcomer.edit()
    assert len(shared_site.server.gateway.open) >= 1_000
    person.edit()
    newcomer.close()
    closed(found)
    assert shared_site.store.judgement(Key("ann", "11", "a/tides")).version == 7


def test_kept_alive_connections_serve_one_request_after_another(person):
    for _ in range(30):
        person.edit()
    assert person.connection.sock is not None


def test_a_head_that_does_not_get_finished_is_closed_and_so_is_silence(shared_site, person, monkeypatch):
    monkeypatch.setattr(serve, "HEAD", 0)
    silent, half = opened(shared_site, 1) + opened(shared_site, 1, b"GET / HTTP/1.1\r\nHo")
    assert is_closed(silent)
    assert is_closed(half)
    closed([silent, half])
    person.edit()


def of(site, connection):
    """The server's end of a connection."""
    return eventually(lambda: site.server.gateway.open.get(connection.getsockname()))


def test_a_slow_drip_of_a_head_does_not_keep_a_connection_open(shared_site, person):
    (slow,) = opened(shared_site, 1, b"GET / HTTP/1.1\r\nX-A: ")
    until = of(shared_site, slow).until
    for _ in range(3):
        slow.sendall(b"a")
        person.edit()
    assert of(shared_site, slow).until == until, "until when it is awaited does not move with every byte"
    slow.close()


def test_the_next_head_on_a_connection_has_a_time_of_its_own(person):
    one = of(person.site, person.connection.sock)
    assert eventually(lambda: one.step == "idle")
    idle = one.until
    person.connection.sock.sendall(b"G")
    assert eventually(lambda: one.until < idle), "ten seconds for the head, not thirty"
    person.connection.sock.sendall(b"ET /login HTTP/1.1\r\n")
    person.connection.sock.sendall(f"Host: 127.0.0.1:{person.site.port}\r\n\r\n".encode())
    assert person.connection.sock.recv(15) == b"HTTP/1.1 200 OK"


def test_a_head_has_a_largest_size_and_its_sender_hears_so(shared_site):
    (raw,) = opened(shared_site, 1, b"GET / HTTP/1.1\r\nX-A: " + b"a" * 2**20)
    assert raw.recv(12) == b"HTTP/1.1 431"
    raw.close()


def test_a_head_behind_a_request_that_is_not_answered_yet_has_a_largest_size_too(shared_site, person, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr(shared_site.server.gateway, "app", lambda *_: go_on.wait(10))
    (raw,) = opened(shared_site, 1, b"GET / HTTP/1.1\r\n\r\n")
    assert eventually(lambda: of(shared_site, raw).step == "app")
    with suppress(ConnectionError):
        raw.sendall(b"GET / HTTP/1.1\r\nX-A: " + b"a" * 2**23)
    assert is_closed(raw)
    go_on.set()
    raw.close()


def test_of_many_requests_that_come_at_once_only_a_few_are_kept(shared_site, monkeypatch):
    kept, lost = [], serve.Connection.connection_lost
    monkeypatch.setattr(
        serve.Connection, "connection_lost", lambda one, error: (kept.append(one.requests), lost(one, error))
    )
    (raw,) = opened(shared_site, 1, b"GET / HTTP/1.1\r\n\r\n" * 1_000)
    with suppress(ConnectionResetError):
        while raw.recv(65536):
            pass
    raw.close()
    assert eventually(lambda: kept)
    assert kept[0] <= serve.PIPELINED + 1


@pytest.mark.parametrize(
    "sent", [b"\xff\xfe\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n"]
)
def test_what_is_no_request_is_refused_in_silence(shared_site, sent, capfd, caplog):
    (raw,) = opened(shared_site, 1, sent)
    assert raw.recv(12) == b"HTTP/1.1 400"
    raw.close()
    assert caplog.records == []
    assert capfd.readouterr().err == ""


def test_a_cookie_that_is_not_ascii_with_a_large_body_is_refused(shared_site):
    cookie = b"Cookie: " + shared_site.access.cookie.encode() + b"=\xff\xfe; a=\xe9\r\n"
    (raw,) = opened(shared_site, 1, b"POST /api/edit HTTP/1.1\r\n" + cookie + b"Content-Length: 9000000\r\n\r\n")
    assert raw.recv(12) == b"HTTP/1.1 413"
    raw.close()


def test_a_request_at_hand_is_answered_when_the_server_ends():
    app, at_work, go_on = Flask(__name__), threading.Event(), threading.Event()

    @app.get("/")
    def slow():
        at_work.set()
        go_on.wait(10)
        return "x" * 5_000_000

    listening = serve.bind()
    server = serve.Server(app, listening)
    server.start()
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    idle = socket.create_connection(("127.0.0.1", server.port))
    connection.request("GET", "/")
    at_work.wait(10)
    ending = threading.Thread(target=server.close)
    ending.start()
    assert is_closed(idle)
    go_on.set()
    assert len(connection.getresponse().read()) == 5_000_000
    ending.join(10)
    assert not ending.is_alive()
    idle.close()
    connection.close()


SLOW_BODY = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\nname=a"


def test_a_slow_body_loses_its_connection_and_each_byte_gains_little_time(shared_site):
    (slow,) = opened(shared_site, 1, SLOW_BODY)
    one = of(shared_site, slow)
    assert eventually(lambda: one.step == "body")
    until = one.until
    slow.sendall(b"b")
    assert eventually(lambda: until < one.until < until + 0.01)
    one.until = 0
    assert is_closed(slow)
    slow.close()


def test_two_addresses_that_send_slow_bodies_shut_nobody_out(shared_site, person):
    gateway = shared_site.server.gateway
    gateway.number = 60
    person.edit()
    found = []
    for address in ("127.0.0.2", "127.0.0.3"):
        for _ in range(40):
            connection = socket.create_connection(("127.0.0.1", shared_site.port), 30, source_address=(address, 0))
            with suppress(OSError):  # no place for it
                connection.sendall(SLOW_BODY)
            found.append(connection)
    assert eventually(lambda: len(gateway.open) >= 58)
    person.edit()
    newcomer = Person(shared_site, "bob")
    newcomer.edit()
    person.edit()
    assert max(map(len, gateway.places.values())) <= 30
    newcomer.close()
    closed(found)


def test_who_does_not_read_a_large_answer_loses_the_connection_and_holds_no_thread(shared_site, person):
    shared_site.pages.put(Document("b/plain", "A long line of text. " * 600_000))
    cookie = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
    head = f"\r\nHost: 127.0.0.1:{shared_site.port}\r\nCookie: {cookie}\r\n\r\n"
    asked = f"GET /api/document?topic=11&document=b/plain HTTP/1.1{head}".encode()
    readers = opened(shared_site, serve.THREADS + 1, asked)
    ends = [of(shared_site, reader) for reader in readers]
    assert eventually(lambda: all(one.transport.get_write_buffer_size() for one in ends))
    person.edit()
    assert max(one.transport.get_write_buffer_size() for one in ends) < 2**20
    for one in ends:
        one.until = 0
    assert eventually(lambda: len(shared_site.server.gateway.open) == 1)
    closed(readers)
    person.edit()


def test_when_all_places_are_taken_the_longest_idle_makes_room(shared_site, person):
    gateway = shared_site.server.gateway
    gateway.number, gateway.proxies = 60, ("127.0.0.1",)
    found = opened(shared_site, 100)
    newcomer = Person(shared_site, "bob")
    newcomer.edit()
    assert len(gateway.open) <= 60
    assert is_closed(found[0])
    newcomer.close()
    closed(found)


def test_one_address_gets_no_more_than_half_of_the_places(shared_site):
    gateway = shared_site.server.gateway
    gateway.number = 60
    found = opened(shared_site, 40)
    assert is_closed(found[-1])
    assert len(gateway.open) == 30
    closed(found)
    assert eventually(lambda: not gateway.places)
    Person(shared_site).close()


def test_of_forty_tries_at_once_no_more_are_looked_at_than_of_forty_in_turn(shared_site):
    barrier, answers = threading.Barrier(40), []

    def guess():
        somebody = Person.__new__(Person)
        somebody.site, somebody.cookies = shared_site, {}
        somebody.connection = HTTPConnection("127.0.0.1", shared_site.port, timeout=60)
        form = f"name=ann&password=guess&csrf={_csrf(somebody.send('GET', '/login')[1])}"
        barrier.wait()
        answers.append(somebody.send("POST", "/login", form, "application/x-www-form-urlencoded")[0])
        somebody.close()

    threads = [threading.Thread(target=guess) for _ in range(40)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert (answers.count(200), answers.count(429)) == (5, 35)


def refusal(site, head):
    """What the server says to a head alone."""
    (connection,) = opened(site, 1, head.replace("\n", "\r\n").encode())
    connection.settimeout(10)
    told = connection.recv(200).decode()
    connection.close()
    return told.split(" ", 2)[1]


def test_a_large_body_is_refused_before_it_is_read_unless_its_sender_may_send_it(shared_site, person):
    host = f"Host: 127.0.0.1:{shared_site.port}"
    head = f"POST /import HTTP/1.1\n{host}\nContent-Length: {50 * 2**20}\n"
    assert refusal(shared_site, f"{head}\n") == "413"
    assert refusal(shared_site, f"{head}Expect: 100-continue\n\n") == "413"
    assert refusal(shared_site, f"POST /login HTTP/1.1\n{host}\nTransfer-Encoding: chunked\n\n") == "413"
    cookie = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
    assert refusal(shared_site, f"{head}Cookie: {cookie}\nExpect: 100-continue\n\n") == "413", "ann is no lead"
    lead = Person(shared_site, "lea")
    cookie = "; ".join(f"{name}={value}" for name, value in lead.cookies.items())
    assert refusal(shared_site, f"{head}Cookie: {cookie}\nExpect: 100-continue\n\n") == "100"
    edit = f"POST /api/edit HTTP/1.1\n{host}\nCookie: {cookie}\nExpect: 100-continue\n"
    assert refusal(shared_site, f"{edit}Content-Length: {2**20}\n\n") == "100"
    assert refusal(shared_site, f"{edit}Content-Length: {9 * 2**20}\n\n") == "413"
    lead.close()


def test_who_sends_a_refused_body_all_the_same_hears_why(shared_site):
    head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{shared_site.port}\r\nContent-Length: {20 * 2**20}\r\n\r\n"
    (raw,) = opened(shared_site, 1, head.encode())
    raw.sendall(b"x" * 20 * 2**20)
    told = b""
    while piece := raw.recv(65536):
        told += piece
    raw.close()
    assert told.startswith(b"HTTP/1.1 413")
    assert eventually(lambda: not shared_site.server.gateway.open)


def test_a_large_answer_arrives_whole_and_two_requests_at_once_in_order(shared_site, person):
    shared_site.pages.put(Document("b/plain", "A long line of text. " * 200_000))
    status, told = person.send("GET", "/api/document?topic=11&document=b/plain")
    assert (status, len(json.loads(told)["document"]["text"])) == (200, 21 * 200_000)
    cookie = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
    head = f"\r\nHost: 127.0.0.1:{shared_site.port}\r\nCookie: {cookie}\r\n"
    (raw,) = opened(shared_site, 1, f"GET /api/state?topic=11&document=a/tides HTTP/1.1{head}\r\n"
                    f"GET /nowhere HTTP/1.1{head}Connection: close\r\n\r\n".encode())  # fmt: skip
    told = b""
    while piece := raw.recv(65536):
        told += piece
    raw.close()
    assert re.findall(rb"HTTP/1.1 (\d+)", told) == [b"200", b"404"]


def test_a_server_asks_the_system_for_the_files_it_needs():
    assert serve.open_files() >= 512


def limited_to(monkeypatch, soft, hard):
    """A system that allows so many files; what is asked of it."""
    resource, asked = pytest.importorskip("resource"), []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    return asked


@pytest.mark.parametrize(("hard", "most"), [(20_000, 4_200), (-1, 4_200), (1_500, 1_500)])
def test_the_limit_of_files_is_raised_as_far_as_is_needed_and_allowed(monkeypatch, hard, most):
    asked = limited_to(monkeypatch, 1_024, hard)
    assert serve.open_files() == most
    assert asked == [(most, hard)]


def test_too_low_a_limit_of_files_is_said(monkeypatch):
    limited_to(monkeypatch, 1_024, 1_024)
    with serve.bind() as listening:
        server = serve.Server(Flask(__name__), listening)
    assert server.note == (
        "note: at most 824 connections at once: "
        "this system allows 1024 open files, 4200 are needed for 4000 (ulimit -n)\n"
    )
    server.gateway.close()
