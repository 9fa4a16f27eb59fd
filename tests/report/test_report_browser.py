"""The page in a real browser: it draws, walks, links, prints, and stays inert."""

import base64
import json

import pytest

from focuseval.report import build_report, render_html
from strategies.report_pages import HOSTILE, LONG, hostile_report, long_report


def article(browser):
    return browser.run("return [focuseval.heat.state.topic, focuseval.heat.state.article]")


def settled(browser, before):
    browser.wait(
        "const now = document.documentElement.dataset.heat; return now && now !== arguments[0] ? now : null", before
    )
    return article(browser)


def test_every_graph_is_drawn_without_a_complaint_or_a_request(shown, report):
    shown.run("document.querySelectorAll('figure').forEach((figure) => focuseval.charts.draw(figure))")
    drawn = shown.run(
        "return [...document.querySelectorAll('figure')].map((f) => [f.dataset.chart, f.querySelectorAll('svg path').length])"
    )
    assert [name for name, _ in drawn] == [
        chart.id for section in SECTIONS for chart in report.charts if chart.section == section
    ]
    assert all(marks > 0 for _, marks in drawn)
    assert shown.run("return performance.getEntriesByType('resource').length") == 0
    assert shown.errors() == []


SECTIONS = ("answer", "topics", "curves", "agreement", "fidelity")


def test_vega_lite_has_no_warning_for_any_specification(shown):
    said = shown.run(
        """const said = [];
        const logger = { warn: (m) => said.push(m), error: (m) => said.push(m), info() {}, debug() {}, level() { return this; } };
        for (const name of ["warn", "error", "info", "debug"]) { const f = logger[name]; logger[name] = (...a) => { f(...a); return logger; }; }
        for (const chart of focuseval.data("report-data").charts) vegaLite.compile({ ...chart.spec, data: { name: "rows", values: [] } }, { logger });
        return said;"""
    )
    assert said == []


@pytest.mark.parametrize(("width", "dark"), [(380, False), (1600, True)])
def test_nothing_is_wider_than_the_window(shown, width, dark):
    shown.size(width, 900, dark=dark)
    shown.run("document.querySelectorAll('figure').forEach((figure) => focuseval.charts.draw(figure))")
    assert shown.run("return document.documentElement.scrollWidth <= innerWidth")
    outside = """return [...document.querySelectorAll('main *')].filter((e) => !e.closest('.wide, .plot, .unseen, #heat-text')
        && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + '.' + e.className)"""
    assert shown.run(outside) == []


def test_a_topic_s_link_leads_into_the_text_and_keys_walk_on(shown, report):
    before = shown.run("return document.documentElement.dataset.heat")
    link = shown.run("const a = document.querySelectorAll('#answer a[href^=\"#topic=\"]')[1]; a.click(); return a.hash")
    topic, first = settled(shown, before)
    assert report.heat.topics[topic]["topic"] == link.split("=")[1]
    shown.wait("return document.activeElement.id === 'heat-text'")
    assert f"doc={report.heat.topics[topic]['articles'][0]['doc']}" in shown.address
    now = f"{topic}/{first}"
    for key, expected in (
        ("j", (topic, 1)),
        ("ArrowRight", (topic, 2)),
        ("k", (topic, 1)),
        ("n", (topic + 1, 0)),
        ("p", (topic, 0)),
    ):
        shown.keys(key)
        assert tuple(settled(shown, now)) == (expected[0] % len(report.heat.topics), expected[1])
        now = "/".join(map(str, article(shown)))
    assert shown.errors() == []


def test_a_deep_link_opens_its_article(shown, page, report):
    topic = report.heat.topics[2]
    document = topic["articles"][1]["doc"]
    shown.open("about:blank")
    shown.open(f"{page}#topic={topic['topic']}&doc={document}")
    shown.wait("return document.documentElement.dataset.heat === '2/1'")
    assert shown.run("return document.getElementById('pick-article').selectedIndex") == 1
    shown.open(f"{page}#topic=nowhere")
    shown.wait(
        "return document.getElementById('heat-title-line').textContent === 'Topic nowhere is not in this report.'"
    )


def test_the_text_and_its_counts_are_those_of_gold_and_runs(shown, report):
    topic, number = article(shown)
    told = report.heat.topics[topic]["articles"][number]
    text = report.texts[told["doc"]]["text"]
    spans = [
        told["gold"],
        *(told["runs"].get(str(run), {"spans": []})["spans"] for run in (report.heat.a, report.heat.b)),
    ]
    gold, a, b = ({i for s, e in zip(flat[::2], flat[1::2], strict=True) for i in range(s, e)} for flat in spans)
    expected = {
        "found by A and B": gold & a & b, "found by A only": (gold & a) - b, "found by B only": (gold & b) - a,
        "missed": gold - a - b, "wasted by A and B": (a & b) - gold, "wasted by A": a - b - gold, "wasted by B": b - a - gold,
    }  # fmt: skip
    legend = shown.run(
        "return [...document.querySelectorAll('#heat-legend li')].map((li) => [li.firstChild.textContent, li.querySelector('b').textContent])"
    )
    assert {name: int(count.replace(",", "")) for name, count in legend} == {
        name: len(x) for name, x in expected.items()
    }
    assert shown.run("return document.getElementById('heat-text').textContent") == text
    marks = shown.run("return [...document.querySelectorAll('#heat-text mark')].map((m) => [m.title, m.textContent])")
    for name, characters in expected.items():
        assert "".join(text for title, text in marks if title == name) == "".join(text[i] for i in sorted(characters))


def test_elements_marks_runs_and_the_minimap_answer(shown):
    shown.run("document.getElementById('heat-text').focus()")
    shown.keys(".")
    shown.wait("return document.querySelectorAll('mark.now').length === 1")
    before = shown.run("return document.querySelectorAll('.edge').length")
    shown.keys("e")
    shown.wait("return document.querySelectorAll('.edge').length > arguments[0]", before)
    shown.run(
        "const pick = document.getElementById('pick-b'); pick.value = '-1'; pick.dispatchEvent(new Event('change'))"
    )
    shown.wait("return document.querySelectorAll('#heat-legend li').length === 3")
    shown.size(380, 500)
    shown.run("focuseval.heat.show()")
    shown.wait("return document.documentElement.dataset.heat && !document.getElementById('minimap').hidden")
    top = shown.run("return document.getElementById('heat-text').scrollTop")
    shown.run(
        "const c = document.getElementById('minimap'); c.dispatchEvent(new MouseEvent('click', { clientX: c.getBoundingClientRect().x + 5, clientY: c.getBoundingClientRect().bottom - 4 }))"
    )
    assert shown.run("return document.getElementById('heat-text').scrollTop") > top


def test_graphs_are_saved_as_svg_and_png_with_their_tables(shown):
    svg = shown.run("return fetch ? focuseval.charts.views.get(focuseval.charts.byId('means')).toSVG() : null")
    assert svg.startswith("<svg")
    png = shown.run("return focuseval.charts.views.get(focuseval.charts.byId('means')).toImageURL('png')")
    assert base64.b64decode(png.split(",")[1])[:4] == b"\x89PNG"
    shown.run("document.querySelectorAll('figure details').forEach((d) => { d.open = true })")
    shown.wait(
        "return [...document.querySelectorAll('figure')].every((f) => f.querySelectorAll('tbody tr').length > 0)"
    )


def test_paper_shows_every_graph_and_no_button(shown):
    pdf = shown.cdp("Page.printToPDF", printBackground=True)["data"]
    assert base64.b64decode(pdf)[:4] == b"%PDF"
    assert shown.run("return document.querySelectorAll('figure:not([data-drawn])').length") == 0
    shown.cdp("Emulation.setEmulatedMedia", media="print")
    hidden = "return [...document.querySelectorAll('.saves, .buttons, .bar')].every((e) => getComputedStyle(e).display === 'none')"
    assert shown.run(hidden)
    shown.cdp("Emulation.setEmulatedMedia", media="")


def test_hostile_text_is_shown_and_not_obeyed(browser, tmp_path):
    path = tmp_path / "hostile.html"
    path.write_text(render_html(hostile_report()), encoding="utf-8")
    browser.open(path.as_uri())
    browser.wait("return document.documentElement.dataset.heat")
    for _ in HOSTILE:
        told = browser.run(
            "return [focuseval.heat.heat().topics[0].articles[focuseval.heat.state.article].doc, document.getElementById('heat-text').textContent]"
        )
        assert visible_text(told[1]) == visible_text(HOSTILE[told[0]])
        before = browser.run("return document.documentElement.dataset.heat")
        browser.run("document.getElementById('next-article').click()")
        settled(browser, before)
    assert browser.run("return window.hacked") is None
    assert (
        browser.run("return document.querySelectorAll('#heat-text script, #heat-text img, #heat-text a').length") == 0
    )
    assert browser.errors() == []


def visible_text(text):
    """Text without what only moves: controls, which the page spells out."""
    for control in "\u202e\u2066\u200f\u202c":
        text = text.replace(control, f"⟨U+{ord(control):04X}⟩")
    return text


def test_a_very_long_document_scrolls_without_holding_up_the_page(browser, tmp_path):
    path = tmp_path / "long.html"
    path.write_text(render_html(long_report()), encoding="utf-8")
    browser.open(path.as_uri())
    browser.wait("return document.documentElement.dataset.heat", seconds=20)
    assert browser.run("return document.getElementById('heat-text').textContent.length") == LONG
    browser.run(
        """window.tasks = []; new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask' });
        const pane = document.getElementById('heat-text'); window.steps = 0;
        const go = () => { pane.scrollTop += 4000; if (++steps < 60) requestAnimationFrame(go); else { pane.scrollTop = pane.scrollHeight; window.done = true; } }; go();"""
    )
    browser.wait("return window.done", seconds=30)
    assert [task for task in browser.run("return tasks") if task > 200] == []
    assert browser.errors() == []
