"""The page in a real browser: it draws, fits, saves and prints, and asks nothing of a network."""

import base64
import re

import pytest

from browser import illustrate
from focuseval.collection.documents import open_documents
from focuseval.example import ROOT
from focuseval.report.build import build_report
from focuseval.report.page import render_html
from strategies.campaigns import campaign

SECTIONS = ("answer", "topics", "curves", "agreement", "fidelity")
DRAW = "document.querySelectorAll('figure').forEach((figure) => focuseval.charts.draw(figure))"


def test_every_graph_is_drawn_without_a_complaint_or_a_request(shown, report):
    shown.run(DRAW)
    drawn = shown.run(
        """return [...document.querySelectorAll('figure')].map((figure) =>
          [figure.dataset.chart, figure.querySelectorAll('svg path').length])"""
    )
    expected = [chart.id for section in SECTIONS for chart in report.charts if chart.section == section]
    assert [name for name, _ in drawn] == expected
    assert all(marks > 0 for _, marks in drawn)
    assert shown.run("return performance.getEntriesByType('resource').length") == 0
    assert shown.errors() == []


def test_the_legend_of_the_means_names_only_what_is_drawn(browser, tmp_path):
    gold, runs, texts = campaign(topics=4, runs=3, documents=12)
    report = build_report(gold, runs, ["MAgP"], docs=texts, task="spans")
    path = tmp_path / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    browser.open(path.as_uri())
    browser.wait("return document.documentElement.dataset.heat")
    browser.run(DRAW)
    labels = "[...document.querySelectorAll('#chart-means .role-legend-label text')].map((label) => label.textContent)"
    assert browser.run(f"return {labels}") == ["A", "B", "may be as good"]


def test_a_page_of_too_many_runs_to_compare_lists_all_of_them(browser, tmp_path, monkeypatch):
    monkeypatch.setattr("focuseval.report.evidence.MOST_PAIRS", 100)
    monkeypatch.setattr("focuseval.report.evidence.MOST_DIFFERENCES", 100)
    gold, runs, texts = campaign(topics=4, runs=30, documents=12)
    path = tmp_path / "report.html"
    path.write_text(render_html(build_report(gold, runs, ["MAgP"], docs=texts, task="spans")), encoding="utf-8")
    browser.open(path.as_uri())
    browser.wait("return document.documentElement.dataset.heat")
    rows = "[...document.querySelectorAll('table[data-order=runs] tbody tr')].filter((row) => !row.hidden).length"
    assert browser.run(f"return {rows}") == 12
    browser.run(
        "document.querySelector('table[data-order=runs]').closest('.wide').nextElementSibling.firstChild.click()"
    )
    assert browser.run(f"return {rows}") == 30
    assert browser.run("return document.getElementById('pick-a').length") == 24
    assert "only these 24 are compared with each other" in browser.run("return document.body.innerText")
    assert browser.errors() == []


def test_vega_lite_has_no_warning_for_any_specification(shown):
    said = shown.run(
        """const said = [];
        const logger = {};
        for (const name of ["warn", "error"]) logger[name] = (text) => { said.push(text); return logger; };
        for (const name of ["info", "debug", "level"]) logger[name] = () => logger;
        for (const chart of focuseval.data("report-data").charts) {
          const spec = chart.form ? chart.form.spec : chart.spec;
          vegaLite.compile({ ...spec, data: { name: "rows", values: [] } }, { logger });
        }
        return said;"""
    )
    assert said == []


@pytest.mark.parametrize(("width", "dark"), [(380, False), (1600, True)])
def test_nothing_is_wider_than_the_window(shown, width, dark):
    shown.size(width, 900, dark=dark)
    shown.run(DRAW)
    assert shown.run("return document.documentElement.scrollWidth <= innerWidth")
    outside = """return [...document.querySelectorAll('main *')]
      .filter((one) => !one.closest('.wide, .plot, .unseen, #heat-text'))
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      .map((one) => `${one.tagName}.${one.className}`)"""
    assert shown.run(outside) == []


def test_on_a_phone_the_difference_of_a_topic_is_in_view(shown):
    shown.size(390, 900)
    last = """return ['#deciding', '.all-topics'].map((place) => {
      const box = document.querySelector(`${place} .wide`);
      const cells = box.querySelectorAll('tbody tr:first-child td');
      return cells[cells.length - 1].getBoundingClientRect().right <= box.getBoundingClientRect().right + 1;
    })"""
    assert shown.run(last) == [True, True]


@pytest.mark.parametrize("width", [390, 800, 1400])
def test_a_link_to_a_section_lands_there_though_graphs_above_it_are_not_drawn_yet(shown, page, width):
    shown.size(width, 900)
    shown.open("about:blank")
    shown.open(page)
    shown.wait("return document.documentElement.dataset.heat")
    shown.run("document.querySelector('nav a[href=\"#agreement\"]').click()")
    there = "Math.abs(document.getElementById('agreement').getBoundingClientRect().top - 104) < 200"
    assert shown.wait(f"return document.querySelector('#chart-stars svg') && {there}")


def test_graphs_fit_with_their_legends_into_a_phone(shown):
    shown.size(390, 900)
    shown.run(DRAW)
    clipped = """return [...document.querySelectorAll('figure .plot svg')].flatMap((svg) =>
      [...svg.querySelectorAll('.role-legend-label text')].filter((text) =>
        text.getBoundingClientRect().right > svg.getBoundingClientRect().right + 1).map((text) => text.textContent))"""
    assert shown.run(clipped) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_has_enough_contrast(shown, dark):
    shown.size(1600, 1000, dark=dark)
    faint = """
      const parse = (text) => text.match(/[\\d.]+/g).map(Number);
      const over = (top, below) => top.slice(0, 3).map((v, i) => v * (top[3] ?? 1) + below[i] * (1 - (top[3] ?? 1)));
      const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const evidence = (node) => {
        const own = parse(getComputedStyle(node).backgroundColor);
        return (own[3] ?? 1) === 1 ? own : over(own, node.parentElement ? evidence(node.parentElement) : [255, 255, 255]);
      };
      const seen = [...document.querySelectorAll('body *')].filter((node) => node.offsetParent && !node.closest('svg, .unseen, .none')
        && [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()));
      return seen.map((node) => {
        const below = evidence(node);
        const [one, other] = [light(over(parse(getComputedStyle(node).color), below)), light(below.slice(0, 3))];
        return [(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), node.tagName, node.className, node.textContent.slice(0, 30)];
      }).filter(([ratio]) => ratio < 4.5);"""  # noqa: E501  one formula a line
    assert shown.run(faint) == []


def test_the_focus_goes_from_top_to_bottom_and_every_stop_has_a_name(shown):
    told = shown.run(
        """const stops = [...document.querySelectorAll('a[href], button, select, summary, [tabindex="0"]')]
          .filter((one) => one.offsetParent);
        return stops.map((one) => [
          one.getAttribute('aria-label') || one.labels?.[0]?.textContent || one.textContent.trim(), one.tabIndex,
        ]);"""
    )
    assert len(told) > 40
    assert all(name and order == 0 for name, order in told)


def test_reduced_motion_is_respected(shown):
    behaviour = "return getComputedStyle(document.documentElement).scrollBehavior"
    for value, expected in (("reduce", "auto"), ("no-preference", "smooth")):
        shown.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": value}])
        assert shown.run(behaviour) == expected


def test_graphs_are_saved_as_svg_and_png_with_their_tables(shown):
    shown.size(1600, 1000, dark=True)
    means = "focuseval.charts.forPaper(focuseval.charts.byId('means'))"
    svg = shown.run(f"return {means}.toSVG()")
    assert svg.startswith("<svg")
    assert 'fill="white"' in svg
    png = shown.run(f"return {means}.toImageURL('png')")
    assert base64.b64decode(png.split(",")[1])[:4] == b"\x89PNG"
    shown.run("document.querySelectorAll('figure details').forEach((one) => { one.open = true; })")
    rows = "[...document.querySelectorAll('figure')].every((one) => one.querySelectorAll('tbody tr').length > 0)"
    shown.wait(f"return {rows}")
    shown.run("document.querySelectorAll('[data-save]').forEach((button) => button.click())")
    assert shown.errors() == []


def test_paper_shows_every_graph_and_no_button(shown):
    pdf = shown.cdp("Page.printToPDF", printBackground=True)["data"]
    assert base64.b64decode(pdf)[:4] == b"%PDF"
    assert shown.run("return document.querySelectorAll('figure:not([data-drawn])').length") == 0
    shown.cdp("Emulation.setEmulatedMedia", media="print")
    kept = """return [...document.querySelectorAll('button, select, input, #heat-text')]
      .filter((one) => one.getClientRects().length && !one.closest('thead')).length"""
    assert shown.run(kept) == 0
    shown.cdp("Emulation.setEmulatedMedia", media="")


def test_on_paper_graphs_have_the_size_they_are_drawn_in_and_nothing_lies_in_a_grid(shown):
    """Scaled to half their size words are unreadable; grids overlap where a page ends."""
    shown.size(698, 900)  # A4 without its margins
    shown.run("dispatchEvent(new Event('beforeprint'))")
    shown.cdp("Emulation.setEmulatedMedia", media="print")
    scales = shown.run(
        """return [...document.querySelectorAll('.charts .chart:not(#chart-stars) .plot svg')].map((svg) =>
          svg.getBoundingClientRect().width / Number(svg.getAttribute('width')))"""
    )
    assert len(scales) > 5
    assert min(scales) > 0.9
    grids = "return [...document.querySelectorAll('main, main *')].filter((one) => one.getClientRects().length"
    assert (
        shown.run(f"{grids} && getComputedStyle(one).display === 'grid').map((one) => one.className)") == ["about"] * 2
    )
    shown.cdp("Emulation.setEmulatedMedia", media="")
    shown.run("dispatchEvent(new Event('afterprint'))")


def test_a_large_report_is_a_short_paper(browser, tmp_path):
    gold, runs, texts = campaign(topics=100, runs=20, documents=200, length=3000)
    report = build_report(gold, runs, ["MAgP", "gP@5", "MAiP", "spanR@5"], docs=texts, task="spans")
    path = tmp_path / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    browser.open(path.as_uri())
    browser.wait("return document.documentElement.dataset.heat")
    pdf = base64.b64decode(browser.cdp("Page.printToPDF", printBackground=True)["data"])
    assert len(re.findall(rb"/Type\s*/Page[^s]", pdf)) <= 10
    browser.cdp("Emulation.setEmulatedMedia", media="print")
    runs = (
        "return [...document.querySelectorAll('#answer .sortable tbody tr')].filter((r) => r.getClientRects().length)"
    )
    assert browser.run(f"{runs}.length") == 20
    browser.cdp("Emulation.setEmulatedMedia", media="")


def test_the_example_s_report_gives_its_answer_and_shows_it_in_the_text(browser, tmp_path):
    """The pictures of the documentation, too: see `browser.illustrate`."""
    runs = sorted((ROOT / "runs" / "focused").glob("*.xml"))
    index = open_documents(ROOT / "articles")
    made = build_report(ROOT / "gold" / "gold.jsonl", runs, profile="inex2007", task="focused", index=index)
    path = tmp_path / "report.html"
    path.write_text(render_html(made), encoding="utf-8")
    browser.size(1280, 860)
    browser.open(path.as_uri())
    browser.wait("return document.documentElement.dataset.heat")
    browser.run(DRAW)
    assert made.first.verdict.headline in browser.run("return document.querySelector('main').textContent")
    illustrate(browser, "report-answer", 1280, 860)
    browser.run("document.getElementById('heat').scrollIntoView({ behavior: 'instant' })")
    assert browser.run("return document.querySelectorAll('#list-a li').length") > 0
    illustrate(browser, "report-lists", 1280, 860)
    browser.run("document.getElementById('text-title').scrollIntoView({ behavior: 'instant' })")
    assert browser.run("return document.querySelectorAll('#heat-text mark').length") > 0
    illustrate(browser, "report-text", 1280, 860)
    assert browser.errors() == []
