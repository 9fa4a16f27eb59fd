"""How fast an edit is on the disk with 500 assessors at work, with 20 who never pause, and how a long document feels.

    python benchmarks/bench_assess.py [SECONDS] [--dashboard | --pool | --limit | --kills N] [--no-browser]

The server has a process of its own; the clients are bounded in number and time, and speak to it over the loopback with
kept-alive connections. An edit is measured at the client, from sending the request to the whole answer, which comes
after the commit.

- 500 assessors, each with a document of 27,000 characters and 620 elements: each logs in (all within the first half
  minute, which is measured, too), makes an edit every five seconds and opens a page and a document every thirty.
- 20 assessors without pauses: as fast as the answers come, with the same clients.
- 20 assessors who pause half a second, for p95 as it was measured in earlier versions.

"Shown" is from the beginning of the navigation to the first frame after the document and its highlights are in place,
cold (about:blank between); a new highlight from the key's handler to the first frame that has it; scrolling is 120
steps of 900 pixels, one a frame, with the browser's own count of long tasks (over 50 ms). Medians and worsts are of all
repeats; nothing is left out.

``--dashboard`` prints the pages of a lead alone, of 500 assessors and 100 topics. ``--pool`` prints the pages of an
assessor alone, with 100,000 pooled documents, half of which are judged; the floor is a page that reads none of them,
the guidelines. ``--limit`` prints alone how many
edits a second are acknowledged with more and more writers who never pause: by the store in one process, and over HTTP.
``--kills 100`` starts the server's own command so many times and kills it, with 20 assessors who never pause and
another command on the project every second, and prints alone how many acknowledged edits are gone then (goal: 0).

The floor of an edit is one fsync'ed commit of the same size on the same disk; the floor of opening is the browser
laying out the same paragraphs as one plain <pre>.
"""

import asyncio
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browser import start_driver
from focuseval.assessment.plan import Assessor, Pooled, add_to_pool, register
from focuseval.assessment.store import Key, Store
from focuseval.assessment.users import User, hash_password
from focuseval.assessment.web import Access, create_app
from focuseval.assessment.web.serve import Server, bind, names_of
from focuseval.collection.documents import open_documents
from focuseval.collection.rendering import Document, DocumentCache, Element
from strategies.pages import TOPICS, Pages

LENGTH, HIGHLIGHTS = 750_000, 1_000
OPENED = 5
PARAGRAPHS = "<p>The tide <b>rises</b> and falls twice a day while harbour pilots read their tables and wait. </p>" * 15
WORDS = "the tide rises and falls twice a day while harbour pilots read their tables with care 🚢 and wait"


def long_document(length=LENGTH):
    """Paragraphs of some 600 characters in sections of twenty, every element with its path."""
    words = WORDS.split()
    chance, pieces, elements, position = random.Random(1), [], [Element("/article[1]", "article", 0, length, -1)], 0
    section = 0
    while position < length:
        section += 1
        row, start = len(elements), position
        elements.append(None)
        for paragraph in range(1, 21):
            text = " ".join(chance.choices(words, k=110)) + ". "
            text = text[: length - position]
            if text:
                path = f"/article[1]/sec[{section}]/p[{paragraph}]"
                elements.append(Element(path, "p", position, position + len(text), row))
                pieces.append(text)
                position += len(text)
        elements[row] = Element(f"/article[1]/sec[{section}]", "sec", start, position, 0)
    return Document("long", "".join(pieces), tuple(elements))


def commit_floor(folder, seconds=2.0):
    """Milliseconds of one small commit, fsync included."""
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (x TEXT)")
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        connection.execute("INSERT INTO t VALUES (?)", ("x" * 500,))
        times.append(time.perf_counter() - start)
    connection.close()
    return 1000 * np.array(times)


class Person:
    """One simulated person with one kept-alive connection, speaking HTTP as a browser does."""

    def __init__(self, port, name):
        self.port, self.name, self.text = port, name, ""
        self.document = f"text{name.removeprefix('user')}"
        self.times, self.pages, self.logins, self.errors, self.edits = [], [], [], [], 0
        self.moments = []
        self.cookies, self.csrf, self.version, self.stream = {}, "", 0, None

    async def request(self, method, path, body=b"", kind="application/json"):
        """Send one request; a connection that the server closed meanwhile is opened anew, as browsers do."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: http://127.0.0.1:{self.port}\r\n"
            f"Cookie: {cookie}\r\nX-CSRF-Token: {self.csrf}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        for attempt in range(2):
            try:
                if self.stream is None:
                    self.stream = await asyncio.open_connection("127.0.0.1", self.port)
                self.stream[1].write(head.encode() + body)
                return await asyncio.wait_for(self._answer(), 30)
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                if attempt:
                    raise
        return None

    async def _answer(self):
        head = (await self.stream[0].readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        length = 0
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "set-cookie":
                key, _, cookie = value.split(";")[0].partition("=")
                self.cookies[key] = cookie
        body = await self.stream[0].readexactly(length)
        return int(lines[0].split()[1]), body

    def close(self):
        if self.stream is not None:
            self.stream[1].close()
        self.stream = None

    async def log_in(self):
        began = time.perf_counter()
        page = (await self.request("GET", "/login"))[1].decode()
        form = f"name={self.name}&password=secret&csrf={_csrf(page)}".encode()
        status, _ = await self.request("POST", "/login", form, "application/x-www-form-urlencoded")
        assert status == 302, status
        self.csrf = _csrf((await self.request("GET", "/"))[1].decode())
        self.logins.append(time.perf_counter() - began)

    async def read(self):
        began = time.perf_counter()
        for path in ("/read", "/api/document"):
            status, answer = await self.request("GET", f"{path}?topic=11&document={self.document}")
            assert status == 200, status
        self.text = json.loads(answer)["document"]["text"]
        self.pages.append(time.perf_counter() - began)

    async def edit(self, chance):
        start = chance.randrange(len(self.text) - 200)
        stop = start + chance.randrange(5, 200)
        kind = chance.choice(["highlight", "highlight", "highlight", "unhighlight"])
        edit = {"kind": kind, "start": start, "end": stop, "quote": self.text[start:stop]}
        body = {
            "topic": "11",
            "document": self.document,
            "version": self.version,
            "token": uuid.uuid4().hex,
            "edit": edit,
        }
        began = time.perf_counter()
        status, answer = await self.request("POST", "/api/edit", json.dumps(body).encode())
        self.times.append(time.perf_counter() - began)
        assert status == 200, answer
        self.version = json.loads(answer)["state"]["version"]
        self.edits += 1
        self.moments.append(time.perf_counter())

    async def work(self, ramp, end, pause):
        """Come some time during the ramp, log in, then edit at a steady pace until the end."""
        chance = random.Random(self.name)
        try:
            await asyncio.sleep(chance.random() * ramp)
            await self.log_in()
            turn, due = 0, time.perf_counter() + chance.random() * pause
            while time.perf_counter() < end:
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                due += pause
                turn += 1
                if turn == 1 or (pause and turn % 6 == 1):
                    await self.read()
                await self.edit(chance)
        except (AssertionError, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            self.errors.append(f"{self.name}: {error!r}")
        self.close()


def _csrf(page):
    return page.split('name="csrf" ')[1].split('"')[1]


async def _everyone(people, seconds, ramp, pause):
    end = time.perf_counter() + ramp + seconds
    await asyncio.gather(*(person.work(ramp, end, pause) for person in people))


def serve(folder, count):
    """The server's process: says its port, and ends with its standard input."""
    hashed = hash_password("secret")
    users = {f"user{k}": User(f"user{k}", "assessor", hashed) for k in range(count)}
    store = Store(Path(folder) / "many.db")
    documents = DocumentCache(open_documents(str(Path(folder) / "articles")))
    add_to_pool(store, [Pooled("11", f"text{k}") for k in range(count)], actor="lead")
    listening = bind()
    port = listening.getsockname()[1]
    access = Access(b"k" * 32, names_of("127.0.0.1", port), users=users)
    server = Server(create_app(store, documents, TOPICS, access), listening)
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.close()
    store.close()


def assessors(folder, count, seconds, *, ramp, pause):
    """Milliseconds of edits, pages and logins of so many people; what went wrong; edits a second and cores taken."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    place = folder / f"{count}-{pause}"
    (place / "articles").mkdir(parents=True)
    article = "".join(f"<sec><title>{k}</title>{PARAGRAPHS}</sec>" for k in range(20))
    for k in range(count):  # everybody reads another document, as after a split of the pool
        (place / "articles" / f"text{k}.xml").write_text(f"<article><title>Text {k}</title>{article}</article>")
    command = [sys.executable, __file__, "--serve", str(place), str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        port = int(server.stdout.readline())
        people = [Person(port, f"user{k}") for k in range(count)]
        began = time.perf_counter()
        asyncio.run(_everyone(people, seconds, ramp, pause))
        took = time.perf_counter() - began
        server.stdin.close()
        server.wait(30)
    store = Store(place / "many.db")
    kept = sum(store.judgement(Key(person.name, "11", person.document)).version for person in people)
    store.close()
    edits = sum(person.edits for person in people)
    assert kept >= edits, "an acknowledged edit is missing"
    times = {
        name: 1000 * np.concatenate([getattr(one, name) for one in people]) for name in ("times", "pages", "logins")
    }
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / took
    later = sum(moment > began + ramp for person in people for moment in person.moments)  # when all have logged in
    return times, [error for person in people for error in person.errors], (later / (took - ramp), cores)


LOOK = """
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
  desk.cursor.select(...arguments[0]);
  return frame().then(frame).then(() => {
    const before = performance.now();
    desk.highlight();
    return frame().then(() => performance.now() - before);
  });"""
SCROLL = """
  const tasks = [];
  const watch = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration)));
  watch.observe({ type: "longtask" });
  const scroller = document.getElementById("scroller");
  return new Promise((resolve) => {
    let step = 0;
    const frames = [];
    let last = performance.now();
    const move = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      scroller.scrollTop += 900;
      step += 1;
      if (step < 120) requestAnimationFrame(move);
      else setTimeout(() => resolve({ tasks, frames: frames.sort((a, b) => a - b), top: scroller.scrollTop }), 200);
    };
    requestAnimationFrame(move);
  });"""
FLOOR = """
  return fetch("/api/document?topic=11&document=long").then((answer) => answer.json()).then((loaded) => {
    const { text } = loaded.document;
    const begin = performance.now();
    const node = document.createElement("pre");
    node.style.whiteSpace = "pre-wrap";
    node.textContent = text.replaceAll(". ", ".\\n");
    document.body.replaceChildren(node);
    node.getBoundingClientRect();
    return performance.now() - begin;
  });"""


def long_text(folder):
    page = long_document()
    store = Store(folder / "long.db")
    register(store, Assessor("ann"))
    add_to_pool(store, [Pooled("11", "long")], actor="lead")
    step = LENGTH // HIGHLIGHTS
    spans = [[k * step, k * step + 300] for k in range(HIGHLIGHTS)]
    judgement = {"highlights": spans, "bep": None, "status": "in progress", "flagged": False, "note": "", "grades": {}}
    store.edit(Key("ann", "11", "long"), page, {"kind": "replace", "judgement": judgement}, version=0, token="seed")
    listening = bind()
    port = listening.getsockname()[1]
    access = Access(b"k" * 32, names_of("127.0.0.1", port), assessor="ann")
    server = Server(create_app(store, Pages(page), TOPICS, access), listening)
    server.start()
    driver = start_driver()
    browser = driver.browser()
    try:
        browser.size(1400, 900)
        browser.open(f"http://127.0.0.1:{port}/enter?token={access.token}")
        browser.wait("return location.pathname === '/'")
        shown = []
        for _ in range(OPENED):
            browser.open("about:blank")
            browser.cdp("Page.navigate", url=f"http://127.0.0.1:{port}/read?topic=11&document=long")
            ready = (
                "return document.documentElement.dataset.ready && performance.getEntriesByName('ready')[0]?.startTime"
            )
            shown.append(browser.wait(ready, seconds=30))
        highlight = [browser.run(LOOK, [k * step * 7 + 320, k * step * 7 + 420]) for k in range(1, 21)]
        browser.wait("return document.getElementById('saving').textContent === 'Saved'", seconds=30)
        scrolled = browser.run(SCROLL)
        browser.open(f"http://127.0.0.1:{port}/")
        floor = [browser.run(FLOOR) for _ in range(OPENED)]
        return shown, highlight, scrolled, floor, len(page.elements)
    finally:
        browser.close()
        driver.close()
        server.close()
        store.close()


CAMPAIGN = Document("", "x" * 900, tuple(Element(f"/a[1]/p[{k}]", "p", 20 * k, 20 * k + 20, -1) for k in range(45)))


def large_campaign(folder, assessors=500, topics=100, documents=2, edits=4):
    """A project in which everybody has judged so many documents of every topic, written straight to its tables."""
    store = Store(folder / "campaign.db")
    people = [f"user{k}" for k in range(assessors)]
    names = [str(k) for k in range(topics)]
    pooled = [(topic, f"doc{k}", k, 3, k + 1) for topic in names for k in range(100)]
    own = [[(who * documents + k) % 100 for k in range(documents)] for who in range(assessors)]
    units = [(name, topic, f"doc{k}") for name, mine in zip(people, own, strict=True) for topic in names for k in mine]
    begin, chance = datetime(2026, 1, 1, tzinfo=UTC), random.Random(1)
    statuses = chance.choices(["relevant", "not relevant", "in progress", "skipped"], [4, 4, 1, 1], k=len(units))
    with store.database.write() as connection:
        connection.executemany("INSERT INTO pool VALUES (?, ?, ?, ?, ?)", pooled)
        connection.executemany("INSERT INTO assessors VALUES (?, 'person', '')", [(name,) for name in people])
        connection.executemany(
            "INSERT INTO assignments VALUES (?, ?, ?)", [(topic, page, name) for name, topic, page in units]
        )
        connection.executemany(
            "INSERT INTO judgements VALUES (?, ?, ?, 4, ?, ?, NULL, '', '{}', ?, 900, '2026-01-01')",
            [
                (*unit, status, chance.random() < 0.02, CAMPAIGN.sha256)
                for unit, status in zip(units, statuses, strict=True)
            ],
        )
        marked = [unit for unit, status in zip(units, statuses, strict=True) if status == "relevant"]
        connection.executemany(
            "INSERT INTO highlights VALUES (?, ?, ?, ?, ?, 'x')",
            [(*unit, at, at + chance.randrange(20, 200)) for unit in marked for at in (50, 350)],
        )
        decided = [(topic, f"doc{k}") for topic in names for k in range(100) if chance.random() < 0.3]
        connection.executemany(
            "INSERT INTO judgements"
            " VALUES ('adjudicated', ?, ?, 1, 'relevant', 0, NULL, '', '{}', ?, 900, '2026-02-01')",
            [(*unit, CAMPAIGN.sha256) for unit in decided],
        )
        connection.executemany(
            "INSERT INTO events (at, actor, assessor, topic, document, version, edit, key) VALUES ('2026-02-01', 'lea',"
            """ 'adjudicated', ?, ?, 1, '{"kind": "replace", "source": {"rule": "union", "of": ["user0"]}}', ?)""",
            [(*unit, f"decided {unit}") for unit in decided],
        )
        moments = ((begin + timedelta(seconds=20 * k)).isoformat(timespec="milliseconds") for k in range(10**9))
        connection.executemany(
            "INSERT INTO events (at, actor, assessor, topic, document, version, edit, key)"
            """ VALUES (?, ?, ?, ?, ?, ?, '{"kind": "reopen"}', ?)""",
            (
                (next(moments), name, name, *rest, k, f"{name} {rest} {k}")
                for name, *rest in units
                for k in range(edits)
            ),
        )
    return store


def dashboard(folder, looks=7):
    """Milliseconds of the lead's page with 500 assessors and 100 topics; each did something since the last look.

    The server reads the whole log once, when it starts.
    """
    store = large_campaign(folder)
    topics = [replace(TOPICS[0], id=str(k)) for k in range(100)]
    access = Access(b"k" * 32, frozenset({"localhost"}), assessor="lea")
    app = create_app(store, Pages(*(replace(CAMPAIGN, id=f"doc{k}") for k in range(100))), topics, access)
    began = time.perf_counter()
    app.extensions["focuseval"].overview.rows()
    app.extensions["focuseval"].shared.documents()
    start = time.perf_counter() - began
    client = app.test_client()
    client.get(f"/enter?token={access.token}", headers={"Host": "localhost"})
    paths = ("/dashboard", "/agreement", "/adjudicate", "/adjudicate/next", "/work", "/flagged", "/texts")
    times, taken = {path: [] for path in paths}, {path: [] for path in paths}
    for look in range(looks):
        with store.database.write() as connection:
            for k in range(500):
                where = (f"user{k}", "1", f"doc{2 * k % 100}")
                connection.execute(
                    "INSERT INTO events (at, actor, assessor, topic, document, version, edit, key)"
                    """ VALUES ('2026-02-01T00:00:00.000+00:00', ?, ?, ?, ?, ?, '{"kind": "reopen"}', ?)""",
                    (where[0], *where, 4 + look, f"look {look} {k}"),
                )
        for path in paths:
            began, cpu = time.perf_counter(), time.process_time()
            answer = client.get(path, headers={"Host": "localhost"})
            times[path].append(1000 * (time.perf_counter() - began))
            taken[path].append(1000 * (time.process_time() - cpu))
            assert answer.status_code in (200, 302), answer.text
    (events,) = store.database.read().execute("SELECT count(*) FROM events").fetchone()
    store.close()
    print(f"500 assessors and 100 topics, {events:,} events (goal 1000 ms); at the start {start:.1f} s")
    for path in paths:
        print(f"  {path}: {told(times[path])}, of the processor {np.median(taken[path]):.0f} ms")


def large_pool(folder, topics, documents=100_000, looks=9):
    """Milliseconds of an assessor's pages with so many documents in the pool; an edit comes before every look."""
    store = Store(folder / f"pool-{topics}.db")
    names, pages = [str(k) for k in range(topics)], Pages(*(replace(CAMPAIGN, id=f"doc{k}") for k in range(3)))
    rows = [(topic, f"doc{k}", k, 3, k + 1) for topic in names for k in range(documents // topics)]
    runs = [{"run": f"run{k}", "sha256": str(k), "depth": 1000} for k in range(3)]
    event = json.dumps({"kind": "pool", "rows": rows, "runs": runs, "by": [[0, 1, 2]] * len(rows), "again": []})
    with store.database.write() as connection:
        connection.execute(
            "INSERT INTO events (at, actor, edit, key) VALUES ('2026-01-01', 'lea', ?, 'pool')", (event,)
        )
        connection.executemany("INSERT INTO pool VALUES (?, ?, ?, ?, ?)", rows)
        connection.executemany(
            "INSERT INTO judgements VALUES ('lea', ?, ?, 1, 'not relevant', 0, NULL, '', '{}', ?, 900, '2026-01-01')",
            [(topic, name, CAMPAIGN.sha256) for topic, name, k, *_ in rows if k < documents // topics // 2],
        )
    access = Access(b"k" * 32, frozenset({"localhost"}), assessor="lea")
    app = create_app(store, pages, [replace(TOPICS[0], id=name) for name in names], access)
    client = app.test_client()
    client.get(f"/enter?token={access.token}", headers={"Host": "localhost"})
    here = "topic=0&document=doc0"
    paths = ("/guidelines", "/", "/next", f"/next?{here}", f"/read?{here}", "/pool")
    times, taken = {path: [] for path in paths}, {path: [] for path in paths}
    for look in range(looks + 1):
        store.edit(
            Key("lea", "0", "doc1"), pages.get("doc1"), {"kind": "reopen"}, version=1 + look, token=f"look{look}"
        )
        for path in paths:
            began, cpu = time.perf_counter(), time.process_time()
            assert client.get(path, headers={"Host": "localhost"}).status_code in (200, 302)
            times[path].append(1000 * (time.perf_counter() - began))
            taken[path].append(1000 * (time.process_time() - cpu))
    store.close()
    floor = np.median(taken["/guidelines"][1:])
    print(f"{documents:,} pooled documents in {topics} topics, half of them judged (goal 20 ms)")
    for path in paths:
        cpu, first = np.median(taken[path][1:]), times[path][0]
        ratio = f"{cpu:.1f} ms, {cpu / floor:.1f} times the floor"
        print(f"  {path}: {told(times[path][1:])}; of the processor {ratio}; the first time {first:.0f} ms")


def limit(folder, seconds=5.0):
    """Edits a second that are acknowledged, as more and more people make them without a pause."""
    floor = commit_floor(folder)
    print(f"floor, one commit of 500 bytes: {told(floor)}, {1000 / floor.mean():.0f} a second")
    for writers in (1, 8):
        rate, times = in_process(folder / f"{writers}.db", writers, seconds)
        print(f"the store alone, {writers} threads: {rate:.0f} edits a second, {told(times)}")
    for writers in (1, 5, 20, 100):
        times, errors, (rate, cores) = assessors(folder, writers, seconds, ramp=1 + 0.1 * writers, pause=0.0)
        print(
            f"over HTTP, {writers} writers: {rate:.0f} edits a second, {len(errors)} errors, {told(times['times'])};"
            f" server {cores:.2f} cores, load {os.getloadavg()[0]:.1f}"
        )


def in_process(path, writers, seconds):
    """Edits a second of threads that share one store, each with a document of its own."""
    store, page, end = Store(path), long_document(27_000), time.perf_counter() + seconds

    def work(number):
        key, chance, times = Key(f"user{number}", "11", "long"), random.Random(number), []
        while time.perf_counter() < end:
            start = chance.randrange(26_000)
            edit = {"kind": "highlight", "start": start, "end": start + 50, "quote": page.text[start : start + 50]}
            began = time.perf_counter()
            store.edit(key, page, edit, version=len(times), token=uuid.uuid4().hex)
            times.append(1000 * (time.perf_counter() - began))
        return times

    with ThreadPoolExecutor(writers) as pool:
        times = [one for found in pool.map(work, range(writers)) for one in found]
    store.close()
    return len(times) / seconds, np.array(times)


BESIDE = (
    "project progress {project}", "score {project} {run} --assessor user0 -m AP", "project export {project} {out}",
    "project guidelines {project} {run}", "project check {project}", "pool {run} --top-up {project} -o {out}",
    "stats {project} --assessor user0", "project users log-out {project} nobody", "project archive {project} {out}.zip",
)  # fmt: skip
"""What runs beside the server, in turn; some have nothing to do yet and end with a line that says so."""


def kills(folder, times, count=20):
    """Count the edits that people were told are saved, over so many kills of the server, and those that are gone."""
    project, people_file = folder / "project", folder / "people"
    (folder / "articles").mkdir()
    for k in range(count):
        (folder / "articles" / f"text{k}.txt").write_text(f"{k}. {WORDS}. " * 40)
    (folder / "topics.jsonl").write_text('{"topic": "11", "query": "tides"}\n')
    (folder / "run.txt").write_text("".join(f"11 Q0 text{k} {k + 1} {count - k} r\n" for k in range(count)))
    people_file.write_text("".join(f"user{k}:assessor:{hash_password('secret')}\n" for k in range(count)))
    words = {"project": project, "run": folder / "run.txt", "out": folder / "out"}
    focuseval = [sys.executable, "-m", "focuseval"]
    pool = folder / "pool.jsonl"
    subprocess.run([*focuseval, "pool", words["run"], "-o", pool], capture_output=True, check=True)
    begin = ["--docs", folder / "articles", "--topics", folder / "topics.jsonl", "--pool", pool, "--progress"]
    subprocess.run([*focuseval, "assess", project, *begin], capture_output=True, check=True)
    with bind() as listening:
        port = listening.getsockname()[1]
    people = [Person(port, f"user{k}") for k in range(count)]
    chance, lost, said = random.Random(1), 0, []
    commands = Counter()
    for kill in range(times):
        line = [*focuseval, "assess", project, "--users", people_file, "--port", str(port)]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            if not server.stdout.readline():
                print(f"  after {kill} kills the server did not start again")
                break
            end = time.perf_counter() + chance.uniform(2.0, 5.0)
            with ThreadPoolExecutor(1) as beside:
                ran = beside.submit(_run_beside, focuseval, words, kill, end)
                lost += sum(asyncio.run(_until_killed(people, end, server)))
                commands += ran.result()
        said += [error for one in people for error in one.errors]
    store = Store(project / "assess.db")
    lost += sum(max(0, one.version - store.judgement(Key(one.name, "11", one.document)).version) for one in people)
    (verdict,) = store.database.read().execute("PRAGMA integrity_check").fetchone()
    store.close()
    edits = sum(one.edits for one in people)
    ran = ", ".join(f"{name} {number}" for name, number in sorted(commands.items()))
    print(f"{times} kills with {count} assessors: {edits} acknowledged edits, {lost} lost (goal 0); file: {verdict}")
    print(f"  commands beside the server: {ran}; other errors: {len(said)}")
    for error in said[:3]:
        print(f"  {error}")


def _run_beside(focuseval, words, turn, end):
    """Run a command every second until the end; count them by name."""
    ran = Counter()
    while time.perf_counter() < end:
        line = BESIDE[(turn + ran.total()) % len(BESIDE)].format(**words)
        subprocess.run([*focuseval, *line.split()], capture_output=True, check=False)
        ran[f"{line.split()[0]} {line.split()[2] if line.startswith('assess') else ''}".strip()] += 1
        time.sleep(max(0.0, min(1.0, end - time.perf_counter())))
    return ran


async def _until_killed(people, end, server):
    """Let everybody edit without pauses until the server is killed; return what of the last time is gone."""

    async def work(person):
        gone = 0
        person.errors.clear()
        try:
            if not person.cookies:
                await person.log_in()
            await person.read()
            _, answer = await person.request("GET", f"/api/state?topic=11&document={person.document}")
            found = json.loads(answer)["state"]["version"]
            gone, person.version = max(0, person.version - found), found
            chance = random.Random(f"{person.name} {found}")
            while True:
                await person.edit(chance)
        except (OSError, asyncio.IncompleteReadError):  # the server was killed
            person.close()
        except Exception as error:  # noqa: BLE001  whatever it was, it is printed at the end
            person.errors.append(f"{person.name}: {error!r}")
            person.close()
        return gone

    async def kill():
        await asyncio.sleep(max(0.0, end - time.perf_counter()))
        server.kill()

    return (await asyncio.gather(kill(), *(work(person) for person in people)))[1:]


def told(times):
    """Milliseconds: the median, the 95th percentile and the worst of all that was measured."""
    p50, p95, worst = np.percentile(times, [50, 95, 100])
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, worst {worst:.0f} ms of {len(times)}"


def say(name, times, errors, speed, goal):
    rate, cores = speed
    told_of = f"{len(times['times'])} edits, {rate:.0f} a second, {len(errors)} errors, none lost"
    print(f"{name}: {told_of}; the server took {cores:.2f} cores, load of the machine {os.getloadavg()[0]:.1f}")
    print(f"  edit {told(times['times'])} ({goal})")
    for kind in ("logins", "pages"):
        if len(times[kind]):
            print(f"  {kind}: {told(times[kind])}")
    for error in errors[:3]:
        print(f"  {error}")


def main():
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]))
        return
    seconds = float(next((word for word in sys.argv[1:] if not word.startswith("-")), 60))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "--limit" in sys.argv:
            limit(folder)
            return
        if "--pool" in sys.argv:
            large_pool(folder, 100)
            large_pool(folder, 1)
            return
        if "--kills" in sys.argv:
            kills(folder, int(sys.argv[sys.argv.index("--kills") + 1]))
            return
        dashboard(folder)
        if "--dashboard" in sys.argv:
            return
        floor = commit_floor(folder)
        print(f"floor, one commit: {told(floor)}")
        say("500 assessors, an edit each 5 s", *assessors(folder, 500, seconds, ramp=30, pause=5.0), "goal: p95 100")
        say(
            "20 assessors without pauses",
            *assessors(folder, 20, seconds / 4, ramp=2, pause=0.0),
            "before: 381 edits/s, p95 111",
        )
        say("20 assessors, an edit each 0.5 s", *assessors(folder, 20, seconds / 2, ramp=2, pause=0.5), "goal: p95 50")
        if "--no-browser" in sys.argv:
            return
        shown, highlight, scrolled, plain, elements = long_text(folder)
        print(f"{LENGTH:,} characters, {elements:,} elements, {HIGHLIGHTS:,} highlights")
        print(f"  shown after {told(shown)} (goal 1000); floor, a plain <pre>: {told(plain)}")
        print(f"  a new highlight {told(highlight)} (goal 100)")
        tasks = f"{len(scrolled['tasks'])} long tasks" + "".join(f", {task:.0f} ms" for task in scrolled["tasks"][:5])
        print(f"  scrolling: {tasks} (goal 0); a frame {told(scrolled['frames'])}")


if __name__ == "__main__":
    main()
