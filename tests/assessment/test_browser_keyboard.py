"""The lead's pages by Tab, Enter, Space and letters alone: everything is reached, and one sees where one is."""

import pytest

from focuseval.assessment import open_project
from focuseval.assessment.plan import Assessor, pool, register
from focuseval.assessment.project import guidelines
from focuseval.assessment.store import Key
from focuseval.assessment.users import add_user, invitations
from focuseval.example import ROOT
from strategies.assessing import save
from strategies.projects import command
from strategies.serving import Running

PASSWORD = "a long password"
PAGES = ("/dashboard", "/work", "/adjudicate", "/agreement", "/quality", "/pool", "/ranking", "/guidelines",
         "/people", "/exchange")  # fmt: skip
"""In the order of the menu."""

FOCUSABLE = """
  return [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter((one) => one.type !== "hidden" && one.checkVisibility() && !one.disabled)
    .filter((one) => one.type !== "radio" || one.checked)
    .map((one, number) => { one.dataset.place = number; return number; });"""
"""Of radio buttons one is reached by Tab, the others by the arrows."""

HERE = """
  const one = document.activeElement;
  if (one === document.body) return null;
  const style = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  return { place: Number(one.dataset.place ?? -1), html: one.outerHTML.slice(0, 120),
    outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    inside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth };"""


@pytest.fixture
def running(tmp_path):
    """A campaign of two assessors and a lead, half done, behind a real server."""
    folder = tmp_path / "judging"
    begin = ["--docs", ROOT / "articles", "--topics", ROOT / "topics.xml"]
    command("assess", folder, *begin, "--no-serve")
    command("project", "add-run", folder, *sorted((ROOT / "runs" / "focused").glob("*.xml")), "--depth", "2")
    for name in ("ann", "bob", "lea"):
        add_user(tmp_path / "people", name, PASSWORD, role="lead" if name == "lea" else "assessor")
    project = open_project(folder)
    for end, name in ((60, "ann"), (70, "bob")):
        register(project.store, Assessor(name))
        for row in pool(project.store)[:4]:
            page, key = project.documents.get(row.document), Key(name, row.topic, row.document)
            save(project.store, {"kind": "highlight", "start": 20, "end": end, "quote": page.text[20:end]}, key, page)
            save(project.store, {"kind": "finish", "relevant": True}, key, page)
    save(project.store, {"kind": "flag", "on": True}, key, page)
    project.close()
    with Running(folder, "--users", tmp_path / "people") as server:
        server.folder = folder
        yield server


class Keyboard:
    """A browser without a mouse."""

    def __init__(self, browser, home):
        self.browser, self.home = browser, home

    def here(self):
        return self.browser.run(HERE)

    def reach(self, selector):
        """Tab to something, wherever the focus is."""
        for _ in range(150):
            if self.browser.run("return document.activeElement.matches(arguments[0])", selector):
                return
            self.browser.keys("Tab")
        raise AssertionError(f"{selector} cannot be reached on {self.browser.address}")

    def press(self, selector, *keys):
        """Tab to something that leads to another page, and press a key there."""
        self.reach(selector)
        self.browser.run("window.before = true")
        self.browser.keys(*(keys or ("Enter",)))
        self.browser.wait("return document.readyState === 'complete' && window.before === undefined")

    def write(self, selector, text):
        self.reach(selector)
        self.browser.keys(*text)

    def log_in(self, name):
        self.browser.open(f"{self.home}/login")
        self.write("input[name=name]", name)
        self.write("input[name=password]", PASSWORD)
        self.press("input[name=password]")


@pytest.fixture
def keyboard(browser, running):
    browser.size(1280, 800)
    one = Keyboard(browser, running.home)
    one.log_in("lea")
    return one


def walk_through(keyboard):
    """Tab from the top of a page to its end; return what was not reached, and where one did not see where one was."""
    wanted, reached, unseen = keyboard.browser.run(FOCUSABLE), set(), []
    keyboard.browser.run("document.activeElement.blur(); window.scrollTo(0, 0);")
    for _ in range(len(wanted) + 3):
        keyboard.browser.keys("Tab")
        here = keyboard.here()
        if here is None or here["place"] in reached:
            break
        reached.add(here["place"])
        if not (here["outline"] and here["inside"]):
            unseen.append(here["html"])
    missed = [place for place in wanted if place not in reached]
    html = "return arguments[0].map((k) => document.querySelector(`[data-place='${k}']`).outerHTML.slice(0, 120))"
    return keyboard.browser.run(html, missed), unseen


def test_everything_on_the_lead_s_pages_is_reached_by_tab_and_seen_to_be(keyboard):
    for path in PAGES:
        keyboard.press(f".bar nav a[href='{path}']")
        assert keyboard.browser.run("return location.pathname") == path
        assert walk_through(keyboard) == ([], []), path
    for path in ("/work?topic=101", "/texts", "/flagged", "/dashboard?assessor=ann", "/adjudicate?state=decided"):
        keyboard.browser.open(f"{keyboard.home}{path}")
        assert walk_through(keyboard) == ([], []), path


def test_a_lead_does_their_work_without_a_mouse(keyboard, running):
    browser = keyboard.browser
    keyboard.press(".bar nav a[href='/people']")
    keyboard.write("section input[name=name]", "cy")
    keyboard.reach("section select[name=role]")
    browser.keys("r")  # the letter with which a choice begins: reader
    keyboard.press("section button.main")
    assert browser.run("return document.querySelector('#link').value").startswith(running.home)

    keyboard.press(".bar nav a[href='/work']")
    keyboard.reach("#to-give input")
    browser.keys(" ")  # the first of the assessors, ann
    keyboard.press("input[name=unit]", " ", "Enter")
    assert "changed" in browser.run("return document.querySelector('main [role=status]').textContent")

    keyboard.press(".bar nav a[href='/guidelines']")
    keyboard.write("#text", "Highlight all.")
    keyboard.press("main button.main")
    assert browser.run("return document.querySelector('.prose').textContent").strip() == "Highlight all."

    keyboard.press(".bar nav a[href='/adjudicate']")
    keyboard.press("main a.button.main")
    browser.wait("return document.documentElement.dataset.ready")
    keyboard.reach("button[data-rule=union]")
    browser.keys("Enter")
    browser.wait("return document.querySelector('#saving').textContent.startsWith('Saved')")
    browser.open(f"{keyboard.home}/exchange")
    keyboard.reach("input[name=anonymous]")
    browser.keys(" ")
    assert browser.run("return new FormData(document.activeElement.form).get('anonymous')") == "yes"
    keyboard.reach("form[action='/archive'] button")
    assert browser.errors() == []

    project = open_project(running.folder)
    assert [(one.name, one.role) for one in invitations(project.store)] == [("cy", "reader")]
    assert guidelines(project.store).text == "Highlight all."
    assert project.store.judged("adjudicated")
    project.close()
