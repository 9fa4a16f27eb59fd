"""Can everybody use it? Labels, contrast, small screens, the order of focus; and the second pass of 2005."""

from itertools import product

import pytest

from axe import source, violations
from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.store import Key, Store
from focuseval.collection.documents import open_documents
from focuseval.collection.rendering import DocumentCache

PAGES = ("/", "/topic?topic=11", "/read?topic=11&document=a/tides", "/adjudicate", "/agreement", "/exchange")
SAVED = "return document.getElementById('saving').textContent === 'Saved'"
UNNAMED = """
  const visible = (node) => node.checkVisibility() && !node.closest("[hidden]");
  const name = (node) => (node.getAttribute("aria-label") || node.textContent || node.title || "").trim()
    || [...(node.labels ?? [])].map((label) => label.textContent.trim()).join("");
  const all = document.querySelectorAll("button, a[href], input:not([type=hidden]), select, textarea, [role=toolbar]");
  return [...all].filter((node) => visible(node) && !name(node)).map((node) => node.outerHTML);"""
CONTRAST = """
  const channel = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const found = numbers(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] > 0.99) return found;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const poor = new Set();
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest("kbd, select, .skip")) continue;
    const [a, b] = [light(numbers(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.add(`${node.className}: ${walker.currentNode.data.trim().slice(0, 30)}`);
  }
  return [...poor];"""
SIDEWAYS = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_every_page_has_names_contrast_and_no_sideways_scrolling(site, browser):
    site.let_in(browser)
    for path in PAGES:
        browser.open(site.address(path))
        if path.startswith("/read"):
            browser.wait("return document.documentElement.dataset.ready")
            browser.keys("j", "j", "j", "x")
            browser.wait(SAVED)
        for width, dark in product((380, 1600), (False, True)):
            browser.size(width, 900, dark=dark)
            assert browser.run(UNNAMED) == [], (path, width, dark)
            assert browser.run(CONTRAST) == [], (path, width, dark)
            assert browser.run(SIDEWAYS) <= 0, (path, width, dark)


def test_long_names_of_documents_break_on_a_small_screen_and_buttons_do_not(store, browser, make_site):
    names = [f"sea/{'a-name-of-many-parts-' * 4}{number}" for number in range(2)]
    add_to_pool(store, [Pooled("11", names[0])], actor="lead")
    texts = dict.fromkeys(names, "<article><title>Tides follow the moon about the shore</title><p>Tides.</p></article>")
    site = make_site(store, DocumentCache(open_documents(texts)))
    site.let_in(browser)
    try:
        browser.size(390, 844)
        for path in ("/topic?topic=11", "/search?topic=11&q=tides"):
            browser.open(site.address(path))
            assert browser.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert browser.run("return document.querySelector('.documents button').clientHeight") < 60
    finally:
        site.stop()


def test_highlights_and_query_terms_can_be_read_in_both_schemes(site, browser):
    script = """
      const value = (name) => {
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = getComputedStyle(document.documentElement).getPropertyValue(name);
        const colour = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
        probe.remove();
        return colour;
      };
      const channel = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
      const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
      return [["--ink", "--mark"], ["--term", "--mark"], ["--term", "--paper"], ["--ink", "--some"]].map((pair) => {
        const [a, b] = pair.map((name) => light(value(name))).sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
      });"""
    site.enter(browser)
    for dark in (False, True):
        browser.size(1000, 800, dark=dark)
        assert min(browser.run(script)) >= 4.5


def test_on_a_small_screen_the_text_has_most_of_the_room(site, browser):
    browser.size(380, 800)
    site.let_in(browser)
    site.read(browser)
    height = browser.run("return document.getElementById('scroller').clientHeight")
    assert height > 400
    title = browser.run("return document.querySelector('.summary-title').getBoundingClientRect().bottom")
    assert 0 < title < 200, "the topic is always in sight"


def test_the_focus_goes_from_the_pages_through_the_text_to_the_actions(site, browser):
    site.let_in(browser)
    site.read(browser)
    browser.run("document.querySelector('.skip').focus()")
    visited = []
    for _ in range(24):
        visited.append(browser.run("return document.activeElement.id || document.activeElement.textContent.trim()"))
        browser.keys("Tab")
    assert visited[0] == "Skip to the content"
    first_action = next(k for k, name in enumerate(visited) if "Highlight" in name)
    assert visited.index("Topics") < visited.index("text") < first_action


def test_2005_needs_a_grade_for_every_touched_element(tmp_path, pages, browser, make_site):
    store = Store(tmp_path / "2005.db", scale="exhaustivity")
    add_to_pool(store, [Pooled("11", "a/tides")], actor="lead")
    site = make_site(store, pages)
    site.let_in(browser)
    site.read(browser)
    browser.keys("j", "j", "j", "x")
    browser.wait(SAVED)
    browser.keys("r")
    browser.wait("return document.getElementById('notice').textContent.includes('no exhaustivity')")
    browser.keys("2")
    browser.wait(SAVED)
    browser.wait("return document.querySelectorAll('#grades li').length === 5")
    inferred = "return [...document.querySelectorAll('#grades select')].map((n) => n.selectedOptions[0].textContent)"
    browser.wait("return document.querySelectorAll('#grades .missing').length === 1")
    assert browser.run(inferred) == ["2 (inferred)", "2 (inferred)", "2 (inferred)", "2", "–"]
    browser.click("#grades button")
    browser.wait("return document.querySelectorAll('#grades .missing').length === 0")
    browser.wait(SAVED)
    browser.keys("r")
    browser.wait("return document.getElementById('status').textContent === 'relevant'")
    grades = store.judgement(Key("ann", "11", "a/tides")).judgement.grades
    assert sorted(grades.values()) == ["2", "?"]
    site.stop()
    store.close()


@pytest.mark.parametrize("scale", ["grades", "coverage"])
def test_elements_are_graded_by_two_keys(tmp_path, pages, browser, make_site, scale):
    store = Store(tmp_path / f"{scale}.db", scale=scale)
    add_to_pool(store, [Pooled("11", "a/tides")], actor="lead")
    site = make_site(store, pages)
    site.let_in(browser)
    site.read(browser)
    browser.keys("j", "j", "j", "3")
    browser.wait("return document.getElementById('notice').textContent.includes('now its')")
    if source() is not None:
        assert violations(browser) == []
    browser.keys("k")
    browser.wait("return document.getElementById('notice').hidden")
    browser.keys("j", "3", "2" if scale == "grades" else "3")
    browser.wait(SAVED)
    browser.keys("v")
    browser.wait("return document.getElementById('history').open")
    told = browser.run(
        "return [...document.querySelectorAll('#history tbody tr:first-child td')].map((n) => n.textContent)"
    )
    assert told[3].startswith(f"grade {'32' if scale == 'grades' else '3E'} for ")
    assert told[4] == "in progress, 1 grade"
    browser.keys("Escape")
    browser.keys("r")
    browser.wait("return document.getElementById('notice').textContent.includes('have no grade yet')")
    missing = browser.run("return document.querySelectorAll('#grades .missing').length")
    assert missing == 3
    pick = "document.querySelector('#grades .missing button').click(); return document.activeElement.id === 'text'"
    assert browser.run(pick)
    browser.keys("1")
    browser.keys("1")
    browser.wait("return document.getElementById('warnings').textContent.includes('which it contains')")
    root = browser.run("return window.desk.elements.path[0]")
    browser.keys("3")
    browser.keys("1")
    for left in range(missing - 1, 0, -1):  # the other elements around, from the outside in
        browser.wait(f"return document.querySelectorAll('#grades .missing').length === {left}")
        browser.run(pick)
        browser.keys("3")
        browser.keys("1")
    browser.wait("return !document.querySelector('#grades .missing')")
    browser.wait(SAVED)
    browser.keys("r")
    browser.wait("return document.getElementById('status').textContent === 'relevant'")
    grades = store.judgement(Key("ann", "11", "a/tides")).judgement.grades
    assert grades[root][0] == "3"
    assert {"grades": "32", "coverage": "3E"}[scale] in grades.values()
    assert browser.run("return !document.querySelector('[data-action=h]')"), "there is nothing to highlight"
    site.stop()
    store.close()
