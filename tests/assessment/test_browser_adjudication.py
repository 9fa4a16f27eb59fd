"""Adjudication in a real browser: the disagreements one by one, and the whole decided by the keyboard."""

import os
from pathlib import Path

import pytest

from axe import COLOURS, source, violations
from focuseval.assessment.plan import Assessor, Pooled, add_to_pool, register
from focuseval.assessment.store import Key
from strategies.assessing import mark, save
from strategies.pages import page_from_xml

from .test_browser_reading import LONG

FINISH = {"kind": "finish", "relevant": True}
READY = "return document.documentElement.dataset.ready"
TOLD = "return document.getElementById('disagreement').textContent"
SEEN = """
  const start = adjudication.view.map.toUnit(adjudication.differing[adjudication.at][0]);
  const { top, bottom } = adjudication.view.range(start, start + 1).getBoundingClientRect();
  const frame = document.getElementById("scroller").getBoundingClientRect();
  return top >= frame.top && bottom <= frame.bottom;"""


def places(page, section, paragraph):
    start = page.text.index(f"Paragraph {paragraph} of section {section} ")
    return start, start + len(f"Paragraph {paragraph} of section {section} speaks of tides")


@pytest.fixture
def lead(shared_site, browser):
    """Ann and Bob agree about a passage, and differ about two more; a model says nothing is relevant."""
    site = shared_site
    page = page_from_xml("long", LONG)
    site.pages.put(page)
    add_to_pool(site.store, [Pooled("11", "long")], actor="lead")
    for one in (Assessor("ann"), Assessor("bob"), Assessor("model:x@1f00ba12", "model")):
        register(site.store, one)
    marked = {"ann": [(3, 1), (7, 2)], "bob": [(3, 1), (9, 4)]}
    for name, passages in marked.items():
        for passage in passages:
            save(site.store, mark(*places(page, *passage), text=page.text), Key(name, "11", "long"), page)
        save(site.store, FINISH, Key(name, "11", "long"), page)
        other = site.pages.get("a/tides")
        save(site.store, mark(0, 5, text=other.text), Key(name, "11", "a/tides"), other)
        save(site.store, FINISH, Key(name, "11", "a/tides"), other)
        third = site.pages.get("b/plain")
        save(site.store, mark(0, 5 + len(name) * (name == "bob"), text=third.text), Key(name, "11", "b/plain"), third)
        save(site.store, FINISH, Key(name, "11", "b/plain"), third)
    save(site.store, {"kind": "finish", "relevant": False}, Key("model:x@1f00ba12", "11", "long"), page)
    browser.size(1400, 900)
    site.log_in_to(browser, "lea", "/")
    return browser


def look(browser, name):
    """Check the page in the light and in the dark, wide and narrow."""
    for width, height, dark in ((390, 844, False), (390, 844, True), (1400, 900, True), (1400, 900, False)):
        browser.size(width, height, dark=dark)
        if "FOCUSEVAL_LOOK" in os.environ:
            browser.picture(Path(os.environ["FOCUSEVAL_LOOK"]) / f"{name}-{width}{'-dark' if dark else ''}.png")
        assert browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        if source() is not None:
            assert violations(browser, COLOURS if dark else ()) == []


def test_the_first_disagreement_is_in_view_and_keys_go_from_one_to_the_next(shared_site, lead):
    lead.open(shared_site.address("/adjudicate/next"))
    lead.wait(READY)
    assert "document=long" in lead.address, "the least agreement comes first"
    assert lead.run(TOLD) == "1 of 2: marked by ann, not by bob."
    assert lead.run(SEEN)
    assert not lead.run("return adjudication.view.blocks.find((b) => b.kind === 'meta').node.checkVisibility()")
    lead.keys("n")
    assert lead.run(TOLD) == "2 of 2: marked by bob, not by ann."
    assert lead.run(SEEN)
    lead.keys("v")
    columns = """
      const told = (section, what) => section.querySelector(what)?.textContent ?? "";
      return [...document.querySelectorAll("#versions section")].map((one) => [told(one, "h2"), told(one, "mark")]);"""
    assert lead.run(columns) == [["ann", ""], ["bob", "Paragraph 4 of section 9 speaks of tides"]]
    look(lead, "adjudicate-versions")
    lead.keys("n")
    assert lead.run(TOLD).startswith("1 of 2")
    lead.keys("p")
    assert lead.run(TOLD).startswith("2 of 2")
    lead.keys("?")
    assert "next disagreement" in lead.run("return document.getElementById('help').innerText")


def test_a_click_on_the_map_goes_to_the_text(shared_site, lead):
    lead.open(shared_site.address("/adjudicate/document?topic=11&document=long"))
    lead.wait(READY)
    lead.run("""
      const column = document.querySelector(".map-column");
      const { left, top, height } = column.getBoundingClientRect();
      column.dispatchEvent(new MouseEvent("click", { clientX: left + 2, clientY: top + 0.95 * height }));""")
    shown = lead.run("""
      const scroller = document.getElementById("scroller");
      return scroller.scrollTop / scroller.scrollHeight;""")
    assert shown > 0.7


def test_a_document_is_decided_by_the_keyboard_alone_and_the_next_is_one_that_needs_it(shared_site, lead):
    store = shared_site.store
    lead.open(shared_site.address("/adjudicate/next"))
    lead.wait(READY)
    lead.keys("u")
    lead.wait("return document.getElementById('status').textContent === 'relevant'")
    assert len(store.judgement(Key("adjudicated", "11", "long")).judgement.highlights) == 3
    lead.keys("z")
    lead.wait("return document.getElementById('status').textContent === 'undecided'")
    lead.keys("1")
    lead.wait("return document.getElementById('status').textContent === 'relevant'")
    mine = store.judgement(Key("ann", "11", "long")).judgement.highlights
    assert store.judgement(Key("adjudicated", "11", "long")).judgement.highlights == mine
    lead.run("window.before = true")
    lead.keys(".")
    lead.wait("return window.before === undefined && document.documentElement.dataset.ready")
    assert "document=b%2Fplain" in lead.address or "document=b/plain" in lead.address
    lead.keys("2")
    lead.wait("return document.getElementById('status').textContent === 'relevant'")
    lead.keys(".")
    lead.wait("return location.pathname === '/adjudicate'")
    assert "On 1 document everybody agrees" in lead.run("return document.querySelector('main').innerText")


@pytest.mark.parametrize(("strokes", "passages"), [(("e",), 3), (("s", "e"), 2)], ids=["from the union", "from ann"])
def test_an_edited_decision_starts_from_what_is_shown(shared_site, lead, strokes, passages):
    lead.open(shared_site.address("/adjudicate/document?topic=11&document=long"))
    lead.wait(READY)
    lead.keys(*strokes)
    lead.wait("return location.pathname === '/read' && document.documentElement.dataset.ready")
    assert lead.run("return desk.state.highlights.length") == passages
    decided = shared_site.store.judgement(Key("adjudicated", "11", "long")).judgement
    assert (decided.status, len(decided.highlights)) == ("in progress", passages)
    lead.keys("r")
    lead.wait("return document.getElementById('status').textContent === 'relevant'")
    lead.run("window.before = true")
    lead.keys(".")
    lead.wait("return window.before === undefined")
    lead.wait("return location.pathname === '/adjudicate/document'")


def test_what_nobody_has_judged_can_be_read_and_decided_by_the_lead(shared_site, lead):
    lead.open(shared_site.address("/adjudicate/document?topic=12&document=c/other"))
    lead.wait("return document.getElementById('saving').textContent === ''")
    assert lead.run("return document.getElementById('text').textContent") == "Nothing here."
    lead.click("#notice button")
    lead.wait("return location.pathname === '/read' && document.documentElement.dataset.ready")
    assert "as=adjudicated" in lead.address
