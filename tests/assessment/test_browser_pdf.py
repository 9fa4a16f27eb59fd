"""Assessing on the pages of a PDF: the same text, the same code points, as it looks."""

import pytest

from focuseval import build_index, open_documents, open_index
from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.store import Key
from focuseval.assessment.web.app import create_app
from focuseval.assessment.web.desk import Access
from focuseval.collection.rendering import DocumentCache
from pdfs import paragraph, pdf

from .conftest import HOST, TOPICS, Client, Site

FIRST = ("The sea rises twice a day, says the", "almanac, when the moon pulls inter-", "national waters.")


@pytest.fixture
def desk(request, tmp_path, store, browser):
    """Open a PDF of forty pages, maybe turned, in the browser; give the browser, the site and the index."""
    (tmp_path / "docs").mkdir()
    pages = (
        [*paragraph("Tides", y=80), *paragraph(*FIRST, y=120)],
        *([(72, 100, f"Page {n} 🌊 end")] for n in range(2, 41)),
    )
    (tmp_path / "docs/tides.pdf").write_bytes(pdf(*pages, turn=getattr(request, "param", 0)))
    (tmp_path / "docs/plain.txt").write_text("The sea rises.")
    index = open_documents(tmp_path / "docs")
    add_to_pool(store, [Pooled("11", "tides"), Pooled("11", "plain")], actor="lead")
    site = Site(store, DocumentCache(index))
    site.let_in(browser)
    browser.cdp("Storage.clearDataForOrigin", origin=site.address(""), storageTypes="local_storage")
    site.read(browser, "tides")
    yield browser, site, index
    site.stop()


LAID = """
  const word = document.querySelector('[data-page="1"] .laid .pdf-word');
  if (!word || !document.querySelector(".pdf-picture").complete) return false;
  const before = word.getBoundingClientRect().left;
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
    done(word.getBoundingClientRect().left === before))));"""
"""Whether the words of the first page stand over its picture, and move no more."""
PAINTED = """
  return [...CSS.highlights.get("relevant")].map((found) => {
    const range = new Range();
    range.setStart(found.startContainer, found.startOffset);
    range.setEnd(found.endContainer, found.endOffset);
    return range.toString();
  }).join("");"""


def box_of(browser, text):
    """Return where a stretch of the text is seen, in pixels of the window."""
    return browser.run(
        """
        const { view } = window.desk;
        const start = view.text.indexOf(arguments[0]);
        const { left, top, right, bottom } = view.range(start, start + arguments[0].length).getBoundingClientRect();
        return [left, top, right, bottom];""",
        text,
    )


def highlights(site, index):
    text = index.text(int(index.find(["tides"])[0]))
    return [text[start:end] for start, end in site.store.judgement(Key("ann", "11", "tides")).judgement.highlights]


def saved(browser):
    browser.wait("return document.getElementById('saving').textContent.includes('aved')")
    browser.run("return window.desk.queue.empty().then(() => true)")


def test_the_page_is_shown_with_the_text_of_the_document_over_it(desk):
    browser, _, index = desk
    browser.wait(LAID)
    assert browser.run("return document.getElementById('text').classList.contains('paged')")
    row = int(index.find(["tides"])[0])
    assert browser.run("return document.getElementById('text').textContent") == index.text(row)
    # words stand where they are drawn: their boxes, in points of the page
    pages = index.pages(row)
    frame = browser.run(
        "const b = document.querySelector('.pdf-page').getBoundingClientRect(); return [b.left, b.top, b.width]"
    )
    scale = frame[2] / pages.size(1)[0]
    for word in ("almanac,", "waters.", "Tides"):
        start = index.text(row).index(word)
        expected = pages.boxes(start, start + len(word))[1][0]
        left, top, right, bottom = box_of(browser, word)
        assert left == pytest.approx(frame[0] + expected[0] * scale, abs=2)
        assert right == pytest.approx(frame[0] + expected[2] * scale, abs=3)
        assert (top + bottom) / 2 == pytest.approx(frame[1] + (expected[1] + expected[3]) / 2 * scale, abs=3)
    assert browser.errors() == []


def test_what_the_mouse_highlights_on_the_page_are_the_same_code_points_as_on_the_text(desk):
    browser, site, index = desk
    browser.wait(LAID)
    left, right = box_of(browser, "sea rises"), box_of(browser, "almanac")
    browser.drag((left[0] + 1, (left[1] + left[3]) / 2), (right[2] - 1, (right[1] + right[3]) / 2))
    browser.wait("const { view, cursor } = window.desk; return view.text.slice(...cursor.span).endsWith('almanac')")
    browser.keys("h")
    saved(browser)
    assert highlights(site, index) == ["sea rises twice a day, says the\nalmanac"]
    browser.keys("d")
    browser.wait("return !document.getElementById('text').classList.contains('paged')")
    row = int(index.find(["tides"])[0])
    assert browser.run("return document.getElementById('text').textContent") == index.text(row)
    browser.keys("d")
    browser.wait(LAID)
    assert browser.wait(PAINTED) == "sea rises twice a day, says the\nalmanac"
    browser.keys("u")
    assert browser.errors() == []


def test_buttons_beside_a_selection_go_when_pages_become_text(desk):
    browser, _, _ = desk
    browser.wait(LAID)
    left, top, right, bottom = box_of(browser, "sea rises")
    browser.drag((left + 1, (top + bottom) / 2), (right - 1, (top + bottom) / 2))
    browser.wait("return !document.getElementById('bubble').hidden")
    browser.keys("d")
    browser.wait("return !document.getElementById('text').classList.contains('paged')")
    assert browser.run("return document.getElementById('bubble').hidden")


def test_keys_work_on_the_page_and_a_far_page_is_loaded_when_it_is_reached(desk):
    browser, site, index = desk
    browser.wait(LAID)
    assert browser.run("return document.querySelectorAll('.pdf-picture').length") < 6
    assert not browser.run("return document.querySelector('[data-page=\"40\"] .laid')")
    browser.keys("/")
    browser.keys(*"page 40", "Enter")
    browser.wait("return document.querySelector('[data-page=\"40\"] .laid')")
    assert browser.run("return document.getElementById('found').textContent") == "1 of 1"
    browser.keys("Escape", "x")
    saved(browser)
    assert highlights(site, index)[0].startswith("Page 40 ")
    browser.keys("Home", "j", "s", "h")
    saved(browser)
    assert highlights(site, index)[0].startswith("The sea rises")
    assert browser.errors() == []


def test_a_text_without_pages_has_none_to_show(desk):
    browser, site, _ = desk
    site.read(browser, "plain")
    assert "Page or text" not in browser.run("return document.getElementById('actions').textContent")
    browser.keys("d")
    assert "no pages" in browser.wait("return document.getElementById('notice').textContent")


def test_a_page_that_is_none_is_refused(desk):
    browser, *_ = desk
    for query in ("page=0", "page=41", "page=x", "page=1&scale=x"):
        status = browser.run(
            "return fetch(arguments[0]).then((answer) => answer.status)",
            f"/api/picture?topic=11&document=tides&{query}",
        )
        assert status in {400, 404}, query


def test_a_pdf_that_the_index_does_not_keep_is_shown_as_plain_text(tmp_path, store):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/tides.pdf").write_bytes(pdf(paragraph(*FIRST)))
    build_index(tmp_path / "docs", tmp_path / "x.idx", jobs=1, pdf="original=drop")
    add_to_pool(store, [Pooled("11", "tides")], actor="lead")
    access = Access(b"k" * 32, frozenset({HOST}), assessor="ann")
    client = Client(create_app(store, DocumentCache(open_index(tmp_path / "x.idx")), TOPICS, access), access).enter()
    shown = client.get("/api/document", topic="11", document="tides").json
    assert shown["pages"] is None
    assert shown["document"]["text"].startswith("The sea rises")
    assert client.get("/api/picture", topic="11", document="tides", page=1).status_code < 500


@pytest.mark.parametrize("desk", [90, 180, 270], indirect=True, ids=lambda turn: f"turned by {turn}")
def test_letters_of_a_turned_page_stand_where_they_are_drawn(desk):
    browser, _, index = desk
    browser.wait(LAID)
    row = int(index.find(["tides"])[0])
    pages, text = index.pages(row), index.text(row)
    left, top, width = browser.run(
        "const b = document.querySelector('.pdf-page').getBoundingClientRect(); return [b.left, b.top, b.width]"
    )
    scale, start = width / pages.size(1)[0], text.index("almanac,")
    for part in ("alm", "nac,"):  # the beginning and the end of a word, on either side of its middle
        x0, y0, x1, y1 = pages.boxes(text.index(part), text.index(part) + len(part))[1][0]
        seen = box_of(browser, part)
        middle = ((seen[0] + seen[2]) / 2 - left, (seen[1] + seen[3]) / 2 - top)
        assert middle == pytest.approx(((x0 + x1) / 2 * scale, (y0 + y1) / 2 * scale), abs=4 * scale), part
    assert start < text.index("nac,")
