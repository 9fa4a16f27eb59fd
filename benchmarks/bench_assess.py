"""How fast an edit is on the disk with twenty assessors at work, and how a very long document feels in a browser.

    python benchmarks/bench_assess.py [SECONDS]

An edit is measured at the client, from sending the request to the whole answer, which comes after the commit; each of
twenty people pauses half a second on average. "Shown" is from the beginning of the navigation to the first frame after
the document and its highlights are in place, cold (about:blank between); a new highlight from the key's handler to the
first frame that has it; scrolling is 120 steps of 900 pixels, one a frame, with the browser's own count of long tasks
(over 50 ms). Medians and worsts are of all repeats; nothing is left out.

The floor of an edit is one fsync'ed commit of the same size on the same disk; the floor of opening is the browser
laying out the same paragraphs as one plain <pre>.
"""

import json
import random
import sqlite3
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from http.cookiejar import CookieJar
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browser import start_driver
from focuseval.assess.document import Document, Element
from focuseval.assess.plan import Assessor, Pooled, add_to_pool, register
from focuseval.assess.store import Key, Store
from focuseval.assess.users import User, hash_password
from focuseval.assess.web import Access, create_app
from focuseval.assess.web.serve import Server, bind, names_of
from strategies.pages import TOPICS, Pages

ASSESSORS = 20
LENGTH, HIGHLIGHTS = 750_000, 1_000
OPENED = 5
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
    """One simulated person: highlights, removes, notes, with a short pause, through HTTP as a browser does."""

    def __init__(self, site, name, text):
        self.site, self.name, self.text, self.times, self.version = site, name, text, [], 0
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        page = self.opener.open(f"{site}/login").read().decode()
        self._csrf(page)
        form = f"name={name}&password=secret&csrf={self.csrf}".encode()
        self._csrf(self.opener.open(urllib.request.Request(f"{site}/login", form, {"Origin": site})).read().decode())

    def _csrf(self, page):
        self.csrf = page.split('name="csrf" value="')[1].split('"')[0]

    def work(self, seconds, pause):
        chance, end = random.Random(self.name), time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.edit(chance)
            time.sleep(chance.expovariate(1 / pause))

    def edit(self, chance):
        start = chance.randrange(len(self.text) - 200)
        stop = start + chance.randrange(5, 200)
        kind = chance.choice(["highlight", "highlight", "highlight", "unhighlight"])
        edit = {"kind": kind, "start": start, "end": stop, "quote": self.text[start:stop]}
        body = {"topic": "11", "document": "text", "version": self.version, "token": uuid.uuid4().hex, "edit": edit}
        headers = {"Content-Type": "application/json", "Origin": self.site, "X-CSRF-Token": self.csrf}
        request = urllib.request.Request(f"{self.site}/api/edit", json.dumps(body).encode(), headers)
        began = time.perf_counter()
        with self.opener.open(request) as answer:
            self.version = json.load(answer)["state"]["version"]
        self.times.append(time.perf_counter() - began)


def twenty_assessors(folder, seconds, pause=0.5):
    text = long_document(30_000).text
    hashed = hash_password("secret")
    users = {f"user{k}": User(f"user{k}", "assessor", hashed) for k in range(ASSESSORS)}
    store = Store(folder / "many.db")
    add_to_pool(store, [Pooled("11", "text")], actor="lead")
    listening = bind()
    port = listening.getsockname()[1]
    access = Access(b"k" * 32, names_of("127.0.0.1", port), users=users)
    server = Server(create_app(store, Pages(Document("text", text)), TOPICS, access), listening)
    server.start()
    people = [Person(f"http://127.0.0.1:{port}", name, text) for name in users]
    threads = [threading.Thread(target=person.work, args=(seconds, pause)) for person in people]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    times = 1000 * np.concatenate([person.times for person in people])
    kept = sum(store.judgement(Key(name, "11", "text")).version for name in users)
    server.close()
    assert kept == len(times), "an acknowledged edit is missing"
    store.close()
    return times


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


def told(times):
    """Milliseconds: the median, the 95th percentile and the worst of all that was measured."""
    p50, p95, worst = np.percentile(times, [50, 95, 100])
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, worst {worst:.0f} ms of {len(times)}"


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        floor = commit_floor(folder)
        times = twenty_assessors(folder, seconds)
        print(f"{ASSESSORS} assessors for {seconds:.0f} s: {len(times)} edits, none lost")
        print(f"  edit {told(times)} (goal: p95 50)")
        ratio = np.median(times) / np.median(floor)
        print(f"  floor, one commit: {told(floor)}; ratio of medians {ratio:.1f}")
        shown, highlight, scrolled, plain, elements = long_text(folder)
        print(f"{LENGTH:,} characters, {elements:,} elements, {HIGHLIGHTS:,} highlights")
        print(f"  shown after {told(shown)} (goal 1000); floor, a plain <pre>: {told(plain)}")
        print(f"  a new highlight {told(highlight)} (goal 100)")
        tasks = f"{len(scrolled['tasks'])} long tasks" + "".join(f", {task:.0f} ms" for task in scrolled["tasks"][:5])
        print(f"  scrolling: {tasks} (goal 0); a frame {told(scrolled['frames'])}")


if __name__ == "__main__":
    main()
