"""Reading in a real browser: the ways through a long article, zoom, touch, and keys that can be switched off."""

import pytest

from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.project import choose
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document
from strategies.pages import page_from_xml

SAVED = "return document.getElementById('saving').textContent === 'Saved'"
NOTICE = "const node = document.getElementById('notice'); return node.hidden ? '' : node.textContent"
SIDEWAYS = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
HERE = "return desk.view.blocks[desk.cursor.block].node.textContent"
PARAGRAPH = "Paragraph {0} of section {1} speaks of tides, and of nothing else at all. " * 4
SECTIONS = "".join(
    f"<sec><title>Section {k}</title>" + "".join(f"<p>{PARAGRAPH.format(n, k)}</p>" for n in range(6)) + "</sec>"
    for k in range(12)
)
LONG = (
    "<article><front><journal-meta><journal-id>plos</journal-id></journal-meta><article-meta>"
    "<article-id>10.1/x</article-id><title-group><article-title>All tides</article-title></title-group>"
    "<permissions><license><p>Open access.</p></license></permissions></article-meta></front>"
    f"<body>{SECTIONS}</body></article>"
)
KEY = Key("ann", "11", "long")


@pytest.fixture
def desk(site, browser):
    site.pages.put(page_from_xml("long", LONG))
    add_to_pool(site.store, [Pooled("11", "long")], actor="lead")
    browser.size(1280, 800)
    site.let_in(browser)
    site.read(browser, "long")
    return browser


def highlighted(site):
    return [quote for *_, quote in site.store.quotes(KEY)]


def test_the_caret_follows_the_pages_that_are_turned(site, desk):
    desk.keys("PageDown", "PageDown", "PageDown", "x")
    desk.wait(SAVED)
    (quote,) = highlighted(site)
    box = desk.run("""
      const start = desk.view.map.toUnit(desk.state.highlights[0][0]);
      const { top, bottom } = desk.view.range(start, start + 1).getBoundingClientRect();
      const frame = document.getElementById("scroller").getBoundingClientRect();
      return [top - frame.top, frame.bottom - bottom, document.getElementById("scroller").scrollTop];""")
    assert min(box[:2]) >= 0, "what is highlighted is seen"
    assert box[2] > 1_000
    assert "section 0" not in quote
    assert desk.run("return document.activeElement.id") == "text"


def test_the_caret_follows_the_wheel_and_stays_where_it_is_seen(desk):
    desk.keys("j")
    before = desk.run("return desk.cursor.caret")
    desk.run("document.getElementById('scroller').scrollTop += 40")
    desk.run("return new Promise((resolve) => setTimeout(resolve, 300))")
    assert desk.run("return desk.cursor.caret") == before
    desk.run("document.getElementById('scroller').scrollTop += 2500")
    desk.wait("return desk.cursor.caret > 1000")


def test_a_selection_is_not_lost_by_scrolling(desk):
    desk.keys("j", "w", "w")
    before = desk.run("return desk.cursor.span")
    desk.run("document.getElementById('scroller').scrollTop += 2500")
    desk.run("return new Promise((resolve) => setTimeout(resolve, 300))")
    assert desk.run("return desk.cursor.span") == before


def test_keys_lead_to_the_next_word_of_the_topic_and_to_the_next_heading(desk):
    word = "return desk.view.text.slice(desk.cursor.caret, desk.cursor.caret + 5)"
    places = []
    for _ in range(3):
        desk.keys("q")
        assert desk.run(word) == "tides"
        places.append(desk.run("return desk.cursor.caret"))
    assert places == sorted(set(places))
    desk.keys("Shift+Q")
    assert desk.run("return desk.cursor.caret") == places[1]
    desk.keys("End", "Home")
    assert desk.run(HERE) == "All tides"
    for k in range(3):
        desk.keys("c")
        assert desk.run(HERE) == f"Section {k}"
    desk.keys("Shift+C")
    assert desk.run(HERE) == "Section 1"


def test_a_long_article_has_an_outline_and_its_headings_are_headings(site, desk):
    assert desk.run("return [...document.querySelectorAll('#text h2, #text h3')].length") == 13
    desk.keys("l")
    desk.wait("return document.getElementById('outline').open")
    names = desk.run("return [...document.querySelectorAll('#headings button')].map((node) => node.textContent)")
    assert names == ["All tides", *(f"Section {k}" for k in range(12))]
    desk.click("#headings li:nth-child(9) button")
    assert desk.run(HERE) == "Section 7"
    assert desk.run("return document.activeElement.id") == "text"
    site.read(desk)
    assert not desk.run("return document.getElementById('outline').hidden"), "three headings"
    site.read(desk, "b/plain")
    assert desk.run("return document.getElementById('outline').hidden")


def test_text_comes_before_metadata_which_shows_on_demand(site, desk):
    seen = "return desk.view.blocks.filter((b) => b.kind !== 'gap' && b.node.checkVisibility())[0].node.textContent"
    assert desk.run(seen) == "All tides"
    desk.keys("j")
    assert desk.run(HERE) == "All tides"
    desk.keys("i")
    assert desk.run(seen) == "plos"
    assert desk.run("return document.getElementById('metadata').getAttribute('aria-expanded')") == "true"
    desk.click("#metadata")
    assert desk.run(seen) == "All tides"
    page = site.pages.get("long")
    start = page.text.index("10.1/x")
    site.store.edit(KEY, page, {"kind": "highlight", "start": start, "end": start + 6, "quote": "10.1/x"},
                    version=0, token="meta")  # fmt: skip
    site.read(desk, "long")
    assert desk.run(seen) == "plos", "what is highlighted is to be seen"


def test_words_are_found_in_the_document_at_hand(site, desk):
    desk.keys("/")
    desk.type("#find", "section 7 SPEAKS")
    desk.wait("return document.getElementById('found').textContent === '24 found'")
    desk.keys("Enter", "Enter")
    assert desk.run("return document.getElementById('found').textContent") == "2 of 24"
    assert desk.run("return desk.view.text.slice(desk.cursor.caret, desk.cursor.caret + 9)") == "section 7"
    desk.keys("Escape", "x")
    desk.wait(SAVED)
    assert highlighted(site)[0].startswith("Paragraph 0 of section 7")


def test_every_page_lists_its_keys(site, desk):
    for path in ("/", "/topic?topic=11", "/dashboard", "/work", "/adjudicate", "/pool", "/exchange", "/guidelines"):
        desk.open(site.address(path))
        desk.wait("return document.querySelector('#keys dd') !== null")
        desk.keys("?")
        assert "these keys" in desk.run("return document.querySelector('dialog[open]').innerText"), path


def test_the_first_key_highlights_text_and_not_the_folded_metadata(site, desk):
    desk.keys("x")
    desk.wait(SAVED)
    assert highlighted(site) == ["All tides"]
    assert not desk.run("return desk.view.blocks[0].node.checkVisibility()")


@pytest.mark.parametrize(("to", "quote"), [
    ("characters", "aph 1 of sect"),
    ("words", "Paragraph 1 of section"),
    ("sentences", "Paragraph 1 of section 0 speaks of tides, and of nothing else at all."),
])  # fmt: skip
def test_what_the_mouse_selects_is_extended_as_the_project_has_it(site, desk, to, quote):
    choose(site.store, "snap", to, actor="lea")
    site.read(desk, "long")
    start = site.pages.get("long").text.index("Paragraph 1 of section 0") + 6
    desk.run(
        """
      const [start, end] = arguments;
      desk.view.select(start, end);
      document.getElementById("text").dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));""",
        start,
        start + 13,
    )
    desk.wait("return !document.getElementById('bubble').hidden")
    desk.keys("h")
    desk.wait(SAVED)
    assert highlighted(site) == [quote]


def test_highlights_are_told_to_those_who_hear_them(desk):
    described = "return [...document.querySelectorAll('#text [aria-description]')].map((n) => n.ariaDescription)"
    desk.keys("j", "x", "j", "j", "w", "w", "h")
    desk.wait(SAVED)
    assert desk.run(described) == ["highlighted", "highlighted: Paragraph 0"]
    desk.keys("z")
    desk.wait(SAVED)
    desk.wait("return document.querySelectorAll('#text [aria-description]').length === 1")


def test_keys_of_a_single_character_can_be_switched_off(site, desk):
    desk.keys("?")
    desk.wait("return document.getElementById('help').open")
    desk.click("#letters")
    desk.keys("Escape")
    desk.keys("ArrowDown", "x", "f", "n", ".")
    assert site.store.judged() == []
    desk.keys("Enter")
    desk.wait(SAVED)
    assert highlighted(site) == ["All tides"]
    desk.keys("Control+z")
    desk.wait("return desk.state.highlights.length === 0")
    site.read(desk, "long")
    desk.keys("ArrowDown", "x")
    assert desk.run("return desk.queue.items.length") == 0, "it stays so"
    desk.click("button[data-action='?']")
    desk.click("#letters")
    desk.keys("Escape", "x")
    desk.wait("return desk.state.highlights.length === 1")


ENLARGED = {"200 %": (640, 400), "400 %": (320, 200), "400 % tall": (320, 256)}
"""What a window of 1280 × 800 has."""


def test_no_enlarged_page_scrolls_sideways(site, desk):
    for path in ("/read?topic=11&document=long", "/", "/topic?topic=11", "/adjudicate", "/agreement", "/exchange"):
        desk.open(site.address(path))
        for name, size in ENLARGED.items():
            desk.size(*size)
            assert desk.run(SIDEWAYS) <= 0, (path, name)


@pytest.mark.parametrize(("width", "height"), ENLARGED.values(), ids=ENLARGED)
def test_an_enlarged_page_can_be_worked_with(site, desk, width, height):
    desk.size(width, height)
    site.read(desk, "long")
    text = desk.run(
        "const { clientHeight, clientWidth } = document.getElementById('scroller'); return [clientHeight, clientWidth]"
    )
    assert text[0] >= 140
    assert text[1] >= 0.9 * width
    desk.keys("j", "x")
    desk.wait(SAVED)
    assert highlighted(site) == ["All tides"]
    seen = """
      const node = document.querySelector("#actions button.main.relevant");
      node.scrollIntoView();
      const { top, bottom, left } = node.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight && left >= 0;"""
    assert desk.run(seen), "the buttons can be reached"
    desk.click("#actions button.main.relevant")
    desk.wait("return document.querySelector('#status').textContent === 'relevant'")


def test_a_finger_selects_and_a_button_highlights(site, desk):
    desk.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
    select = """
      const block = desk.view.blocks.find((one) => one.kind === "paragraph");
      block.node.scrollIntoView({ block: "center" });
      block.node.dispatchEvent(new PointerEvent("pointerdown", { pointerType: "touch", bubbles: true }));
      document.getSelection().setBaseAndExtent(block.node.firstChild, 0, block.node.firstChild, 11);"""
    desk.run(select)
    desk.wait("return !document.getElementById('bubble').hidden")
    box = desk.run(
        "const b = document.querySelector('#bubble button').getBoundingClientRect(); return [b.x + 9, b.y + 9]"
    )
    point = [{"x": box[0], "y": box[1]}]
    desk.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=point)
    desk.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    desk.wait(SAVED)
    assert highlighted(site) == ["Paragraph 0"]
    desk.cdp("Emulation.setTouchEmulationEnabled", enabled=False)


def test_a_refusal_is_seen_even_when_the_next_document_was_asked_for_at_once(site, desk):
    desk.keys("j", "x")
    desk.wait(SAVED)
    desk.keys("n", ".")
    desk.wait(NOTICE + ".includes('a document with highlights is relevant')")
    desk.run("return new Promise((resolve) => setTimeout(resolve, 300))")
    assert desk.run("return desk.data.document") == "long"
    desk.keys("r", ".")
    desk.wait("return document.documentElement.dataset.ready && window.desk?.data?.document !== 'long'")


def test_two_keys_are_enough_for_a_document_that_is_not_relevant(site, browser):
    site.let_in(browser)
    site.read(browser)
    browser.keys("n", ".")
    browser.wait("return document.documentElement.dataset.ready && window.desk?.data?.document === 'b/plain'")
    assert site.store.judgement(Key("ann", "11", "a/tides")).judgement.status == "not relevant"


def test_lists_show_titles(site, browser):
    site.let_in(browser)
    browser.open(site.address("/topic?topic=11"))
    names = browser.run("return [...document.querySelectorAll('.documents a')].map((node) => node.textContent.trim())")
    assert [" ".join(name.split()) for name in names] == ["Tides a/tides", "First line. b/plain"]
    site.pages.put(Document("c/other", ""))
    browser.open(site.address("/topic?topic=12"))
    assert browser.run("return document.querySelector('.documents a').textContent.trim()") == "c/other"
