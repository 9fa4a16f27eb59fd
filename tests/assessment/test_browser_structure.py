"""Tables, formulas and lists in a real browser: to be read as such, over the same characters."""

import os
from pathlib import Path

import pytest

from axe import COLOURS, source, violations
from collection.test_layout import STRUCTURED, page_of
from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document

SAVED = "return document.getElementById('saving').textContent === 'Saved'"
MARKDOWN = "# Tides\n\nTwo\nlines.\n\n| Port | High |\n|---|---|\n| Brest | 5 |\n| Dover | 6 |\n\n- one\n- two\n"


@pytest.fixture
def desk(site, browser):
    site.pages.put(Document("table", *(vars(page_of(STRUCTURED))[name] for name in ("text", "elements"))))
    site.pages.put(Document("readme", MARKDOWN))
    add_to_pool(site.store, [Pooled("11", "table"), Pooled("11", "readme")], actor="lead")
    browser.size(1280, 800)
    site.let_in(browser)
    return browser


def look(browser, name):
    for width, height, dark in ((390, 844, False), (1400, 900, True), (1400, 900, False)):
        browser.size(width, height, dark=dark)
        if "FOCUSEVAL_LOOK" in os.environ:
            browser.picture(Path(os.environ["FOCUSEVAL_LOOK"]) / f"{name}-{width}{'-dark' if dark else ''}.png")
        assert browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        if source() is not None:
            assert violations(browser, COLOURS if dark else ()) == []


@pytest.mark.parametrize("marks", [{}, {"marks": 1}], ids=["painted", "marked"])
def test_a_table_is_a_grid_a_formula_is_a_formula_and_offsets_are_the_same(site, desk, marks):
    site.read(desk, "table", **marks)
    page = site.pages.get("table")
    assert desk.run("return document.getElementById('text').textContent") == page.text
    tops = desk.run("""
      const box = (text) => [...document.querySelectorAll(".grid .block")]
        .find((node) => node.textContent.trim() === text).getBoundingClientRect();
      const [port, high] = [box("Port"), box("High")];
      return [port.top - high.top, port.left - box("Brest").left, box("6").left - high.left];""")
    assert tops == [0, 0, 0]
    assert desk.run("return document.querySelector('#text math msub mi').namespaceURI").endswith("MathML")
    assert desk.run("return document.querySelector('#text sub').textContent") == "2"
    look(desk, "structure")
    start, end = page.text.index("Brest"), page.text.index("All")
    desk.run("desk.mark('highlight', arguments[0], arguments[1])", start, end)
    desk.wait(SAVED)
    assert [quote for *_, quote in site.store.quotes(Key("ann", "11", "table"))] == [page.text[start:end]]
    assert desk.run("return document.getElementById('text').textContent") == page.text
    found = desk.run("""
      const cell = [...document.querySelectorAll(".grid .block")].find((node) => node.textContent.trim() === "6");
      const node = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
      const row = cell.closest(".row");
      return [desk.view.unitAt(node, 0), desk.view.unitAt(row, 0), desk.view.text[desk.view.unitAt(row, 0)]];""")
    assert found == [page.text.index("6"), page.text.index("Dover"), "D"]


def test_markdown_is_read_as_markdown(site, desk):
    site.read(desk, "readme")
    assert desk.run("return document.getElementById('text').textContent") == MARKDOWN
    assert desk.run("return [...document.querySelectorAll('.grid .head')].length") == 2
    assert desk.run("return document.querySelector('#text h2').textContent.trim()") == "# Tides"
    look(desk, "markdown")
