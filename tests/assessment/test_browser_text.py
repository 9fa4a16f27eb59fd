"""The text in a real browser: exact, inert, and counted in code points."""

import random
import re
from pathlib import Path

import pytest

import focuseval.assessment
from focuseval.assessment.plan import Pooled, add_to_pool
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document
from focuseval.data import highlights as spans

NASTY = {
    "emoji": "One 🚢 two 👩‍👩‍👧‍👦 three 🇫🇷 end 🚢🚢",
    "combining": "e\u0301a\u0308 n\u0303o — Å vs A\u030a, \u0e33 ก\u0e33",
    "crlf": "First line\r\nsecond line\r\n\r\nthird\rfourth\n\n\nfifth",
    "right-to-left": "שלום עולם 🚢 hello مرحبا بالعالم end",
    "zero-width": "zero\u200bwidth\u200djoined\u2060word\ufeffbom \u00adsoft",
    "markup": "<script>window.hacked = 1</script> & &amp; <img src=x onerror='window.hacked=2'> <a href='//evil'>x</a>",
    "astral letters": "𝕳𝖊𝖑𝖑𝖔 𐐷𐐷 𠮷野家",
}


@pytest.fixture
def nasty(site, browser):
    for name, text in NASTY.items():
        site.pages.put(Document(name, text))
    add_to_pool(site.store, [Pooled("11", name) for name in NASTY], actor="lead")
    site.let_in(browser)
    return browser


def test_units_and_code_points_meet_in_one_file_only():
    scripts = {path.name: path.read_text() for path in Path(focuseval.assessment.__file__).parent.glob("static/*.js")}
    counts = {name for name, text in scripts.items() if re.search(r"codePoint(At|s)|\\uD800|\[\.\.\.\w*text\b", text)}
    assert counts == {"offsets.js"}


def test_units_and_code_points_are_exchanged_exactly(site, browser):
    site.enter(browser)
    script = """
      return import("/static/offsets.js").then(({ offsets }) => arguments[0].map((text) => {
        const map = offsets(text);
        const wrong = [];
        for (let unit = 0; unit <= text.length; unit += 1) {
          const inPair = /^[\\uDC00-\\uDFFF]/.test(text.slice(unit)) && /[\\uD800-\\uDBFF]$/.test(text.slice(0, unit));
          const expected = [...text.slice(0, unit)].length - (inPair ? 1 : 0);
          if (map.toCodePoint(unit) !== expected) wrong.push(["unit", unit]);
          if (!inPair && map.toUnit(expected) !== unit) wrong.push(["position", expected]);
        }
        return { wrong, length: map.toCodePoint(text.length) };
      }));"""
    texts = [*NASTY.values(), "", "🚢", "a", "🚢" * 50 + "x" * 50]
    for text, told in zip(texts, browser.run(script, texts), strict=True):
        assert told == {"wrong": [], "length": len(text)}


def test_the_browser_s_span_algebra_is_the_server_s(site, browser):
    site.enter(browser)
    chance, steps, expected, state = random.Random(5), [], [], ()
    for _ in range(300):
        start = chance.randrange(80)
        kind, end = chance.choice(["add", "subtract"]), start + chance.randrange(1, 15)
        state = getattr(spans, kind)(state, start, end)
        steps.append([kind, start, end])
        expected.append([list(span) for span in state])
    script = """
      return import("/static/spans.js").then((algebra) => {
        let state = [];
        return arguments[0].map(([kind, start, end]) => (state = algebra[kind](state, start, end)));
      });"""
    assert browser.run(script, steps) == expected


@pytest.mark.parametrize("marks", [False, True], ids=["highlights", "marks"])
def test_the_page_s_text_is_the_document_s_and_a_selection_lands_where_it_was_made(site, nasty, marks):
    for name, text in NASTY.items():
        select_in(site, nasty, name, text, marks=marks)


def select_in(site, nasty, name, text, *, marks):
    """Open a document, highlight the middle of it, and compare what is shown, stored and painted."""
    site.read(nasty, name, **({"marks": 1} if marks else {}))
    assert nasty.run("return document.getElementById('text').textContent") == text
    assert nasty.run("return window.hacked") is None
    start, end = len(text) // 3, 2 * len(text) // 3
    while text[start].isspace():
        start += 1
    while text[end - 1].isspace():
        end -= 1
    units = [len(text[:position].encode("utf-16-le")) // 2 for position in (start, end)]
    nasty.run("desk.view.select(...arguments[0])", units)
    nasty.wait("return !desk.cursor.collapsed")
    nasty.keys("h")
    nasty.wait("return document.getElementById('saving').textContent === 'Saved'")
    assert site.store.quotes(Key("ann", "11", name)) == [(start, end, text[start:end])]
    assert nasty.run("return document.getElementById('text').textContent") == text
    painted = "return [...document.querySelectorAll('mark.relevant')].map((mark) => mark.textContent).join('')"
    if marks:
        assert nasty.run(painted) == text[start:end]
    else:
        ranges = """
          const units = [...CSS.highlights.get("relevant")].map((r) => [
            desk.view.unitAt(r.startContainer, r.startOffset), desk.view.unitAt(r.endContainer, r.endOffset)]);
          return units.sort((a, b) => a[0] - b[0]).map(([a, b]) => desk.view.text.slice(a, b)).join("");"""
        assert nasty.run(ranges) == text[start:end]


def test_nothing_leaves_the_machine_and_links_are_inert(site, nasty):
    site.read(nasty, "markup")
    asked = nasty.run("return performance.getEntriesByType('resource').map((entry) => new URL(entry.name).host)")
    assert set(asked) == {f"127.0.0.1:{site.port}"}
    assert nasty.run("return document.querySelectorAll('#text a, #text img, #text script').length") == 0
    assert nasty.errors() == []


def test_an_injected_script_is_stopped_by_the_policy(site, nasty):
    site.read(nasty)
    nasty.run(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 3'; document.body.append(s);"
    )
    assert nasty.run("return window.hacked") is None
    escape = "return fetch('http://evil.example/').then(() => 'out', () => 'stopped')"
    assert nasty.run(escape) == "stopped"
    assert all("Content Security Policy" in message for message in nasty.errors())
