"""A store in a fresh folder, an app over it, and a client that behaves like one of our own pages."""

import re
from http.cookies import SimpleCookie
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from flask import Flask
from jinja2 import BytecodeCache

from focuseval.assessment import users as accounts
from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.store import Store
from focuseval.assessment.users import User, hash_password
from focuseval.assessment.web import Access, create_app
from focuseval.assessment.web.serve import Server, bind, names_of
from focuseval.collection.rendering import Document
from strategies.pages import ARTICLE, TOPICS, Pages, page_from_xml

HOST = "127.0.0.1:4321"
OWN = {"Host": HOST, "Origin": f"http://{HOST}"}


COST = accounts._COST


class Compiled(BytecodeCache):
    """Templates that an earlier app of these tests has compiled."""

    def __init__(self):
        self.kept = {}

    def load_bytecode(self, bucket):
        if bucket.key in self.kept:
            bucket.bytecode_from_string(self.kept[bucket.key])

    def dump_bytecode(self, bucket):
        self.kept[bucket.key] = bucket.bytecode_to_string()


@pytest.fixture(autouse=True, scope="session")
def _quick():
    """Hash passwords at little cost, and compile each template once: few of these tests are about that."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(accounts, "_COST", (2, 8, 1))
        patched.setattr(Flask, "jinja_options", {"bytecode_cache": Compiled()})
        yield


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "assess.db")
    yield opened
    opened.close()


@pytest.fixture
def pages():
    return Pages(
        page_from_xml("a/tides", ARTICLE),
        Document("b/plain", "First line.\n\nSecond 🚢 paragraph.\r\nA line."),
        Document("c/other", "Nothing here."),
    )


@pytest.fixture
def pooled(store):
    rows = [Pooled("11", "a/tides"), Pooled("11", "b/plain"), Pooled("12", "c/other")]
    add_to_pool(store, rows, actor="lead")
    return store


@pytest.fixture(scope="session")
def users():
    roles = {"ann": "assessor", "bob": "assessor", "lea": "lead"}
    return {name: User(name, role, hash_password(f"{name}'s secret")) for name, role in roles.items()}


class Client:
    """A browser without a screen: it keeps cookies, and sends what our pages send."""

    def __init__(self, app, access):
        self.app, self.access, self.http = app, access, app.test_client()
        self.csrf = ""

    def get(self, path, **query):
        answer = self.http.get(path, base_url=f"http://{HOST}", headers={"Host": HOST}, query_string=query or None)
        answer.get_data()
        answer.close()
        return answer

    def post(self, path, values=None, *, headers=OWN, csrf=None, **others):
        sent = {**headers, "X-CSRF-Token": self.csrf if csrf is None else csrf}
        body = {"json": values} if values is not None else {}
        return self.http.post(path, base_url=f"http://{HOST}", headers=sent, **body, **others)

    def learn(self, path="/exchange"):
        found = re.search(r'name="csrf" (?:value|content)="([^"]+)"', self.get(path).text)
        self.csrf = found.group(1) if found else ""

    def enter(self):
        assert self.get(f"/enter?token={self.access.token}").status_code == 200
        self.learn("/")
        return self

    def log_in(self, name, password=None):
        self.learn("/login")
        answer = self.post("/login", data={"name": name, "password": password or f"{name}'s secret"})
        self.learn("/")
        return answer

    def edit(self, edit, *, version=0, token="token-0001", topic="11", document="a/tides", **others):
        values = {"topic": topic, "document": document, "edit": edit, "version": version, "token": token, **others}
        return self.post("/api/edit", values)


@pytest.fixture
def alone(pooled, pages):
    """One person with the printed link."""
    access = Access(b"k" * 32, frozenset({HOST}), assessor="ann")
    return Client(create_app(pooled, pages, TOPICS, access), access)


@pytest.fixture
def make_client(pooled, pages):
    """A browser of a server with any topics, and any way in."""

    def client(topics=TOPICS, **access):
        door = Access(b"k" * 32, frozenset({HOST}), **{"assessor": "ann", **access})
        return Client(create_app(pooled, pages, topics, door), door)

    return client


@pytest.fixture
def together(pooled, pages, users):
    """A function that gives each user a browser."""
    access = Access(b"k" * 32, frozenset({HOST}), users=users)
    app = create_app(pooled, pages, TOPICS, access)

    def client(name):
        one = Client(app, access)
        assert one.log_in(name).status_code == 302
        return one

    client.anonymous = lambda: Client(app, access)
    return client


class Site:
    """The app behind a real server, which can go away and come back."""

    def __init__(self, store, pages, users=None, topics=TOPICS):
        self.store, self.pages, self.topics = store, pages, topics
        listening = bind()
        self.port = listening.getsockname()[1]
        self.access = Access(b"k" * 32, names_of("127.0.0.1", self.port), assessor="ann", users=users)
        self.start(listening)

    def start(self, listening=None):
        app = create_app(self.store, self.pages, self.topics, self.access, title="Sea stories")
        self.server = Server(app, listening or bind(port=self.port))
        self.server.start()

    def stop(self):
        self.server.close()

    def address(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def read(self, browser, document="a/tides", topic="11", **others):
        """Open a document and wait until it is shown."""
        query = urlencode({"topic": topic, "document": document, **others})
        browser.open(self.address(f"/read?{query}"))
        browser.wait("return document.documentElement.dataset.ready")

    def let_in(self, browser):
        """Give a browser the session of the printed link, without the pages that following the link shows."""
        with urlopen(self.address(f"/enter?token={self.access.token}")) as answer:
            cookies = SimpleCookie("; ".join(answer.headers.get_all("Set-Cookie")))
        for name, cookie in cookies.items():
            browser.cdp(
                "Network.setCookie",
                name=name,
                value=cookie.value,
                url=self.address("/"),
                httpOnly=bool(cookie["httponly"]),
                sameSite=cookie["samesite"] or "Lax",
            )

    def enter(self, browser):
        """Follow the printed link to the list of topics."""
        browser.open(self.address(f"/enter?token={self.access.token}"))
        browser.wait("return location.pathname === '/'")

    def log_in(self, browser, name):
        self.log_in_to(browser, name, "/")

    def log_in_to(self, browser, name, path):
        """Log in, and wait for the page that comes then."""
        browser.open(self.address("/login"))
        browser.type("input[name=name]", name)
        browser.type("input[name=password]", f"{name}'s secret")
        browser.click("main button")
        browser.wait("return location.pathname === arguments[0]", path)


@pytest.fixture
def site(pooled, pages):
    running = Site(pooled, pages)
    yield running
    running.stop()


@pytest.fixture
def shared_site(pooled, pages, users):
    """A site with users."""
    running = Site(pooled, pages, users)
    yield running
    running.stop()


@pytest.fixture
def make_site():
    """A site over any store."""
    return Site
