"""A campaign in a real browser: one lead, three assessors, a reader, from an empty folder to the archive.

With FOCUSEVAL_PICTURES in the environment the pictures of the documentation are written to docs/images. Every page that
is looked at is checked by axe-core, in the light and in the dark and at the width of a phone, where it is installed.
"""

import json
import os
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from axe import COLOURS, source, violations
from browser import illustrate
from focuseval.assessment import __file__ as assessment
from focuseval.assessment.plan import Assessor, Pooled, add_to_pool, pool, register, split
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document
from focuseval.data.topics import read_topics
from focuseval.example import ROOT, copy_example
from strategies.assessing import TEXT, mark, save
from strategies.pages import Pages
from strategies.serving import Running, focuseval

pytestmark = pytest.mark.service_worker

PASSWORD = "a long password"
PEOPLE = ("ann", "bob", "cy")
SIDEWAYS = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
GUIDELINES = """# How to judge

Highlight **every** passage that answers the topic, and nothing else.

* A heading is relevant if what it heads is.
* When in doubt, flag the document and write a note.

| status | when |
|---|---|
| relevant | at least one highlight |
| not relevant | none |
"""


class Walk:
    """A browser in a campaign: one person at a time."""

    def __init__(self, browser, running):
        self.browser, self.running, self.who = browser, running, ""

    def open(self, path):
        self.browser.open(path if path.startswith("http") else f"{self.running.home}{path}")

    def text(self):
        return self.browser.run("return document.querySelector('main').innerText")

    def look(self, picture="", **size):
        """Check the page as it is, in the dark and on a phone; take its picture. No colour depends on the width."""
        for width, height, dark in ((390, 844, False), (1280, 800, True), (1280, 800, False)):
            self.browser.size(width, height, dark=dark)
            name = f"{picture or self.browser.address.rpartition('/')[2].partition('?')[0] or 'home'}-{self.who}"
            if "FOCUSEVAL_LOOK" in os.environ:
                self.browser.picture(
                    Path(os.environ["FOCUSEVAL_LOOK"]) / f"{name}-{width}{'-dark' if dark else ''}.png"
                )
            assert self.browser.run(SIDEWAYS) <= 0, f"{self.browser.address} is wider than {width}"
            if source() is not None:
                rules = COLOURS if dark else ()
                assert violations(self.browser, rules, colours=width > 390) == [], self.browser.address
        if picture:
            illustrate(self.browser, picture, **size)
        self.browser.size(1280, 800)

    def come(self, link, name=""):
        """Follow an invitation."""
        self.leave()
        self.open(link)
        self.who = name
        if name and self.browser.run("return Boolean(document.querySelector('input[name=name]'))"):
            self.browser.type("input[name=name]", name)
        for field in ("password", "again"):
            self.browser.type(f"input[name={field}]", PASSWORD)
        self.browser.click("main button")
        self.browser.wait("return location.pathname !== '/invited'")

    def leave(self):
        self.browser.cdp("Network.clearBrowserCookies")

    def log_in(self, name):
        self.leave()
        self.open("/login")
        self.who = name
        self.browser.type("input[name=name]", name)
        self.browser.type("input[name=password]", PASSWORD)
        self.browser.click("main button")
        self.browser.wait("return location.pathname !== '/login'")

    def submit(self, selector):
        """Press a button that leads to another page, and wait for it."""
        self.browser.run("window.before = true")
        self.browser.click(selector)
        self.browser.wait("return document.readyState === 'complete' && window.before === undefined")

    def reach(self, selector):
        """Go to something by the keyboard alone."""
        for _ in range(60):
            if self.browser.run("return document.activeElement.matches(arguments[0])", selector):
                return
            self.browser.keys("Tab")
        raise AssertionError(f"{selector} cannot be reached by the keyboard")

    def judge_the_rest(self, salt):
        """Judge everything that is left as the pages' own scripts do, each assessor a little otherwise."""
        return self.browser.run(JUDGE, salt)


JUDGE = """
  const salt = arguments[0];
  const csrf = document.querySelector("meta[name=csrf]").content;
  const send = (values) => fetch("/api/edit", { method: "POST", body: JSON.stringify(values),
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf } }).then((answer) => answer.json());
  const one = async () => {
    let done = 0;
    for (;;) {
      const answer = await fetch("/next");
      const query = new URL(answer.url).searchParams;
      if (!query.has("document")) return done;
      const where = { topic: query.get("topic"), document: query.get("document") };
      const { document: page, state } = await (await fetch(`/api/document?${new URLSearchParams(where)}`)).json();
      const text = [...page.text];
      const relevant = (7 * where.document.length + 3 * Number(where.topic) + salt * (done % 2)) % 4 !== 0;
      let version = state.version;
      const end = 90 + (where.document.length % 3 ? 0 : 5 * salt);
      const edit = async (edit) => {
        ({ version } = (await send({ ...where, edit, version, token: crypto.randomUUID() })).state);
      };
      if (relevant) await edit({ kind: "highlight", start: 20, end, quote: text.slice(20, end).join("") });
      await edit({ kind: "finish", relevant });
      done += 1;
    }
  };
  return one();"""


@pytest.fixture
def sea(tmp_path):
    copy_example(tmp_path / "sea")
    return tmp_path / "sea"


def grow(walk, sea):
    for run in sorted((sea / "runs" / "focused").iterdir()):
        walk.open("/pool")
        walk.browser.type("input[type=file]", str(run))
        walk.browser.run("document.querySelector('input[name=depth]').value = '2'")
        walk.submit("main form button")
        assert "more documents to judge" in walk.text()
        if run.stem == "coarse":
            walk.look("campaign-growth", height=560)
        walk.submit("form[action='/pool/add'] button")
    assert "hasty" in walk.text()
    walk.look()


def write_guidelines(walk):
    walk.open("/guidelines")
    walk.browser.run("document.querySelector('#text').value = arguments[0]", GUIDELINES)
    walk.submit("main form button")
    assert "How to judge" in walk.text()
    walk.look("campaign-guidelines", height=560)


def invite(walk, name, role="assessor"):
    walk.open("/people")
    walk.browser.type("section input[name=name]", name)
    walk.browser.run("document.querySelector('section select[name=role]').value = arguments[0]", role)
    walk.submit("section form button")
    if name == "cy":
        walk.look("campaign-people", height=640)
    return walk.browser.run("return document.querySelector('#link').value")


def invite_everybody(walk):
    links = {name: invite(walk, name) for name in PEOPLE}
    links["rea"] = invite(walk, "rea", "reader")
    for name, link in links.items():
        if name == "ann":
            walk.leave()
            walk.open(link)
            walk.look("campaign-invited", height=480)
        walk.come(link, name)
    walk.open("/training")
    walk.log_in("lea")


def deal_out(walk):
    walk.open("/work")
    walk.browser.click("main details summary")
    walk.browser.run(
        """const form = document.querySelector("main details form");
        form.querySelector("[name=by]").value = "pool";
        form.querySelector("[name=overlap]").value = "2";
        for (const box of form.querySelectorAll("[name=to]")) box.checked = arguments[0].includes(box.value);""",
        list(PEOPLE),
    )
    walk.submit("main details button")
    assert "Dealt out to 3 assessors" in walk.text()
    walk.look("campaign-work", height=640)


def prepare_training(walk):
    """Decide a document by keyboard alone, and let everybody train on it."""
    walk.open("/work")
    walk.submit("main table a")
    topic, document = walk.browser.run("return JSON.parse(document.querySelector('input[name=unit]').value)")
    walk.submit("a[href*='adjudicate/document']")
    walk.browser.wait("return document.querySelector('#notice button')")
    walk.browser.click("#notice button")
    walk.browser.wait("return document.documentElement.dataset.ready")
    walk.browser.keys("j", "j", "x")
    walk.browser.wait("return document.querySelector('#saving').textContent === 'Saved'")
    walk.browser.keys("r")
    walk.browser.wait("return document.querySelector('#status').textContent === 'relevant'")
    walk.browser.wait("return document.querySelector('#saving').textContent === 'Saved'")
    walk.open(f"/work?topic={topic}")
    walk.browser.click("input[name=unit]")
    walk.submit("button[value=known]")
    assert "1 document is for training now" in walk.text()
    walk.look("campaign-topic", height=640)
    return topic, document


def assess(walk, name, salt, training):
    walk.log_in(name)
    assert "1 training document" in walk.text()
    walk.look("campaign-assessor" if name == "ann" else "", height=560)
    walk.submit("a.button.main")
    walk.browser.wait("return document.documentElement.dataset.ready")
    assert walk.browser.run("return document.getElementById('desk').dataset.document") == training[1]
    walk.browser.keys("j", "j", "s", "h")
    walk.browser.wait("return document.querySelector('#saving').textContent === 'Saved'")
    walk.browser.keys("r")
    walk.browser.wait("return document.querySelector('#status').textContent === 'relevant'")
    walk.browser.wait("return document.querySelector('#saving').textContent === 'Saved'")
    walk.submit("a.tag.adjudicated")
    walk.browser.wait("return document.documentElement.dataset.ready")
    assert (
        walk.browser.run("return [...document.querySelectorAll('.sides strong')].map((n) => n.textContent)")[-1]
        == "known answer"
    )
    if name == "ann":
        walk.look("campaign-answer")
    walk.open("/training")
    assert "right" in walk.text()
    if name == "ann":
        walk.look()
    assert walk.judge_the_rest(salt) > 5


def decide(walk):
    walk.log_in("lea")
    walk.open("/dashboard")
    text = walk.text()
    assert all(name in text for name in PEOPLE)
    walk.look()
    walk.open("/adjudicate")
    walk.look("campaign-adjudicate", height=640)
    walk.submit("form[action='/adjudicate/agreed'] button")
    assert "decided, as all assessors agree" in walk.text()
    walk.submit("a.button.main")
    for turn in range(60):
        if walk.browser.run("return location.pathname") == "/adjudicate":
            break
        walk.browser.wait("return document.documentElement.dataset.ready")
        if turn == 0:
            walk.look("campaign-compare")
            walk.reach("button[data-rule=union]")
            walk.browser.keys("Enter")
        else:
            walk.browser.click("button[data-rule=union]")
        walk.browser.wait("return document.querySelector('#saving').textContent.startsWith('Saved')")
        walk.browser.run("window.before = true")
        walk.browser.keys(".")
        walk.browser.wait("return document.readyState === 'complete' && window.before === undefined")
    assert "Everything that several assessors finished is decided" in walk.text()


def use_controls(walk, training):
    """What is decided now serves as a control document."""
    walk.open(f"/work?topic={training[0]}")
    walk.browser.run(
        """const boxes = document.querySelectorAll("input[name=unit]");
        boxes.forEach((box, k) => { box.checked = k > 0; });
        document.querySelector("select[name=use]").value = "control";"""
    )
    walk.submit("button[value=known]")
    walk.open("/quality")
    assert "1 training document: everybody" in walk.text()
    walk.look("campaign-quality", height=720)


def finish(walk, sea, tmp_path):
    for path, picture, height in (
        ("/agreement", "campaign-agreement", 800),
        ("/ranking?measure=charR", "campaign-ranking", 900),
        ("/texts", "", 800),
        ("/flagged", "", 800),
        ("/adjudicate?state=decided", "", 800),
        ("/exchange", "campaign-archive", 640),
        ("/dashboard?assessor=ann", "", 800),
    ):
        walk.open(path)
        walk.look(picture, height=height)
    size = walk.browser.run("return fetch('/archive').then((answer) => answer.blob()).then((blob) => blob.size)")
    assert size > 1000
    assert walk.browser.errors() == []


def read_only(walk):
    walk.log_in("rea")
    assert "Dashboard" in walk.text()
    walk.open("/adjudicate")
    walk.open("/adjudicate?state=decided")
    walk.submit("a[href*='adjudicate/document']")
    walk.browser.wait("return document.documentElement.dataset.ready")
    walk.look()
    assert walk.browser.run("return document.querySelectorAll('form[method=post]').length") == 1, "only the logout"


def test_no_rule_for_narrow_windows_sets_a_colour():
    """So `look` asks for colours in wide windows only."""
    for sheet in Path(assessment).parent.glob("static/*.css"):
        narrow = re.findall(r"@media[^{]*width[^{]*\{((?:[^{}]*\{[^{}]*\})*)", sheet.read_text(encoding="utf-8"))
        assert not re.search(r"[{;\s](color|background[\w-]*|opacity|filter|--[\w-]+)\s*:", "".join(narrow)), sheet.name


def test_a_campaign_at_a_glance(store, browser, make_site, users, monkeypatch):
    """Seven people who have worked for some hours: the dashboard's picture."""
    chance, clock = random.Random(4), datetime(2026, 11, 2, 9, tzinfo=UTC)
    pages = Pages(*(Document(f"d{k}", TEXT) for k in range(12)))
    topics = read_topics(ROOT / "topics.xml")
    add_to_pool(store, [Pooled(topic.id, f"d{k}", k, 3, k + 1) for topic in topics for k in range(12)], actor="lea")
    people = ("ann", "bob", "cy", "dee", "eli", "fay", "gus")
    for name in people:
        register(store, Assessor(name))
    split(store, people, by="pool", overlap=2, actor="lea")
    for speed, name in enumerate(people, 2):
        when = clock + timedelta(minutes=7 * speed)
        for row in pool(store, name)[: 9 + 2 * speed]:
            for edit in chance.choice((RELEVANT, RELEVANT, IRRELEVANT, FLAGGED, SKIPPED)):
                when += timedelta(seconds=chance.randrange(10 * speed, 40 * speed))
                monkeypatch.setattr(
                    "focuseval.assessment.store.now", lambda when=when: when.isoformat(timespec="milliseconds")
                )
                save(store, edit, Key(name, row.topic, row.document), pages.get(row.document))
    site = make_site(store, pages, users, topics)
    try:
        site.log_in_to(browser, "lea", "/dashboard")
        walk = Walk(browser, site)
        walk.who = "lea"
        assert "gus" in walk.text()
        walk.look("campaign-dashboard", height=1000)
        for path in ("/dashboard?assessor=ann", "/flagged", "/agreement", "/adjudicate"):
            browser.open(site.address(path))
            walk.look()
    finally:
        site.stop()


RELEVANT = (mark(0, 22), {"kind": "finish", "relevant": True})
IRRELEVANT = ({"kind": "finish", "relevant": False},)
FLAGGED = (mark(6, 22), {"kind": "flag", "on": True})
SKIPPED = ({"kind": "skip"},)


def test_a_campaign_from_an_empty_folder_to_the_archive(sea, browser, tmp_path):
    project = tmp_path / "judging"
    begin = ["--docs", sea / "articles", "--topics", sea / "topics.xml", "--users", tmp_path / "people"]
    with Running(project, *begin) as running:
        walk = Walk(browser, running)
        walk.come(running.next_link(), "lea")
        assert "Next: pool runs" in walk.text()
        walk.look()
        grow(walk, sea)
        write_guidelines(walk)
        invite_everybody(walk)
        deal_out(walk)
        training = prepare_training(walk)
        for salt, name in enumerate(PEOPLE, 1):
            assess(walk, name, salt, training)
        decide(walk)
        use_controls(walk, training)
        finish(walk, sea, tmp_path)
        read_only(walk)
    archive = tmp_path / "sea.zip"
    assert "no defect" in focuseval("project", "check", project)
    focuseval("project", "archive", project, archive)
    run = sea / "runs" / "focused" / "careful.xml"
    told = focuseval("score", archive, run, "-m", "charR", "--docs", sea / "articles", "--format", "json")
    assert json.loads(told[told.index("{") : told.rindex("}") + 1])["runs"][0]["measures"]["charR"] > 0
    focuseval("project", "import", tmp_path / "again", archive, "--docs", sea / "articles")
    assert "no defect" in focuseval("project", "check", tmp_path / "again")
