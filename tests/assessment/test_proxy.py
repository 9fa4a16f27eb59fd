"""Behind nginx, as the documentation sets it up; with the addresses and the scheme that it forwards."""

import configparser
import re
import shutil
import socket
import ssl
import subprocess
import time
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest
from flask import request

from focuseval.assessment.web import Access, create_app
from focuseval.assessment.web.serve import Server, bind, links, names_of, own_addresses
from focuseval.cli import main
from strategies.pages import TOPICS

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "behind-a-proxy.md"
NAME = "judge.example.org"


def block(kind):
    """The example of the documentation."""
    return re.search(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL).group(1)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Behind:
    """The server that trusts a proxy, and says what it was told of its visitors."""

    def __init__(self, store, pages, users, proxy="127.0.0.1"):
        listening = bind()
        self.port = listening.getsockname()[1]
        access = Access(b"k" * 32, names_of("127.0.0.1", self.port, (NAME,)), users=users)
        app = create_app(store, pages, TOPICS, access)
        self.seen = []
        app.before_request(lambda: self.seen.append((request.remote_addr, request.scheme)))
        self.server = Server(app, listening, proxy=proxy)
        self.server.start()


@pytest.fixture
def behind(pooled, pages, users):
    running = Behind(pooled, pages, users)
    yield running
    running.server.close()


@pytest.fixture
def nginx(behind, tmp_path):
    """nginx with the documentation's configuration; ports and certificates are ours."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not program or not shutil.which("openssl"):
        pytest.skip("no nginx or openssl: 'make proxy', or apt-get install nginx-light openssl")
    key, certificate, port = tmp_path / "x.key", tmp_path / "x.pem", free_port()
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    site = (
        block("nginx").replace("127.0.0.1:8475", f"127.0.0.1:{behind.port}").replace("443 ssl", f"127.0.0.1:{port} ssl")
    )
    site = site.replace(f"/etc/ssl/{NAME}.pem", str(certificate)).replace(f"/etc/ssl/{NAME}.key", str(key))
    scratch = "".join(
        f"{name}_temp_path {tmp_path}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; worker_processes 1;\n"
        f"events {{ worker_connections 256; }}\nhttp {{ access_log off; {scratch}\n{site}\n}}\n"
    )
    process = subprocess.Popen([program, "-p", tmp_path, "-c", tmp_path / "nginx.conf", "-e", tmp_path / "error.log"])
    end = time.monotonic() + 10
    while socket.socket().connect_ex(("127.0.0.1", port)) and time.monotonic() < end:
        time.sleep(0.05)
    yield port
    process.terminate()
    process.wait(10)


class Visitor:
    """A browser at the proxy."""

    def __init__(self, port):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.connection = HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
        self.cookies, self.given = {}, []

    def send(self, method, path, body=None, **headers):
        sent = {"Host": NAME, "Origin": f"https://{NAME}", **{name.replace("_", "-"): v for name, v in headers.items()}}
        sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        self.connection.request(method, path, body, sent)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        self.given = answer.headers.get_all("Set-Cookie", [])
        self.cookies |= dict(line.split(";")[0].split("=", 1) for line in self.given)
        return answer.status, text

    def log_in(self, password="ann%27s+secret"):
        page = self.send("GET", "/login")[1]
        csrf = re.search(r'name="csrf" value="([^"]+)"', page).group(1)
        return self.send("POST", "/login", f"name=ann&password={password}&csrf={csrf}")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_documented_proxy_forwards_address_and_scheme_and_the_cookies_are_secure(nginx, behind):
    visitor = Visitor(nginx)
    assert visitor.log_in()[0] == 302
    assert visitor.given
    assert all("Secure" in cookie for cookie in visitor.given)
    assert visitor.send("GET", "/")[0] == 200
    assert set(behind.seen) == {("127.0.0.1", "https")}
    visitor.send("GET", "/", X_Forwarded_For="192.0.2.66", X_Forwarded_Proto="http")
    assert behind.seen[-1] == ("127.0.0.1", "https"), "what a browser claims does not count"
    visitor.connection.close()


def test_guesses_are_counted_for_the_forwarded_address(behind):
    def guess(address, password="guess"):
        connection = HTTPConnection("127.0.0.1", behind.port, timeout=30)
        head = {"Host": NAME, "Origin": f"https://{NAME}", "X-Forwarded-For": address, "X-Forwarded-Proto": "https"}
        connection.request("GET", "/login", headers=head)
        answer = connection.getresponse()
        csrf = re.search(r'name="csrf" value="([^"]+)"', answer.read().decode()).group(1)
        cookie = answer.headers["Set-Cookie"].split(";")[0]
        form = f"name=ann&password={password}&csrf={csrf}"
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
        connection.request("POST", "/login", form, {**head, **kind})
        status = connection.getresponse().status
        connection.close()
        return status

    assert [guess("198.51.100.9") for _ in range(6)] == [200] * 5 + [429]
    assert guess("198.51.100.9", "ann%27s+secret") == 429
    assert guess("192.0.2.7", "ann%27s+secret") == 302, "a stranger's guesses lock nobody else out"
    assert ("192.0.2.7", "https") in behind.seen


def test_nobody_but_the_proxy_is_believed(pooled, pages, users):
    running = Behind(pooled, pages, users, proxy="192.0.2.1")
    connection = HTTPConnection("127.0.0.1", running.port, timeout=30)
    connection.request(
        "GET", "/login", headers={"Host": NAME, "X-Forwarded-For": "203.0.113.5", "X-Forwarded-Proto": "https"}
    )
    assert connection.getresponse().status == 200
    assert running.seen == [("127.0.0.1", "http")]
    connection.close()
    running.server.close()


def test_the_documented_service_starts_the_command_with_options_that_it_has(tmp_path):
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read_string(block("ini"))
    program, command, *arguments = unit["Service"]["ExecStart"].split()
    assert program.endswith("/focuseval")
    context = main.get_command(None, command).make_context(command, arguments)
    assert context.params["trusted_proxy"] == "127.0.0.1"
    assert context.params["names"] == (NAME,)
    assert unit["Install"]["WantedBy"] == "multi-user.target"
    if shutil.which("systemd-analyze"):
        text = block("ini").replace(program, "/bin/true")
        (tmp_path / "focuseval.service").write_text(text)
        told = subprocess.run(
            ["systemd-analyze", "verify", tmp_path / "focuseval.service"], capture_output=True, text=True, check=False
        )
        assert "Unknown" not in told.stderr


def test_a_server_on_all_addresses_prints_addresses_that_work(pooled, pages, users):
    listening = bind("0.0.0.0")
    port = listening.getsockname()[1]
    access = Access(b"k" * 32, names_of("0.0.0.0", port), users=users)
    server = Server(create_app(pooled, pages, TOPICS, access), listening)
    server.start()
    printed = links("0.0.0.0", port, (), "login")
    assert printed
    assert len(printed) == len(own_addresses())
    for link in printed:
        host = link.removeprefix("http://").split("/")[0]
        connection = HTTPConnection(host, timeout=10)
        connection.request("GET", "/login")
        assert connection.getresponse().status == 200, link
        connection.close()
    server.close()
