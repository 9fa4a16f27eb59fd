"""Every view by axe-core, in the light and in the dark; keys, zoom, grey; and what a reader chooses."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from axe import COLOURS, violations
from building import gold_of, run_of
from focuseval.assessment.web import __file__ as web
from focuseval.cli import main
from focuseval.example import ROOT
from focuseval.report.build import build_report
from focuseval.report.heat import heat_map
from focuseval.report.page import render_html, static
from report.test_history import scores
from report.walking import READY, choose
from strategies.campaigns import campaign

DRAW = "document.querySelectorAll('figure').forEach((figure) => focuseval.charts.draw(figure))"
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
SHORTEN = """
  for (const body of document.querySelectorAll("figure tbody, #fidelity tbody"))
    for (const row of [...body.rows].slice(6)) row.remove();"""
"""Leaves the first rows of the numbers behind each graph: a thousand cells of a kind take axe-core half of its time."""


@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True), (1280, False)])
def test_axe_finds_nothing_wrong_in_a_report(shown, dark, width):
    shown.size(width, 900, dark=dark)
    shown.run(DRAW)
    shown.run(OPEN)
    shown.run(SHORTEN)
    assert violations(shown, COLOURS if dark else ()) == []


def test_axe_finds_nothing_wrong_in_a_report_on_fidelity(browser, tmp_path):
    runs = sorted((ROOT / "runs" / "focused").glob("*.xml"))
    gold, articles = ROOT / "gold" / "gold.jsonl", ROOT / "articles"
    report = build_report(gold, runs, ["nxCG@10"], docs=articles, task="focused", fidelity=True)
    in_browser(browser, tmp_path, report)
    browser.run(SHORTEN)
    assert violations(browser) == []


def test_axe_finds_nothing_wrong_in_a_history_or_a_demonstration(browser, tmp_path):
    for number in range(1, 5):
        scores(tmp_path, f"{number}", 0.4 + number / 50, gold="new" if number > 3 else "g", values=[0.1 * number, 0.5])
    for name, more in {"history": [], "anchored": ["--anchor", str(tmp_path / "1.json")]}.items():
        CliRunner().invoke(main, ["history", str(tmp_path), *more, "-o", str(tmp_path / f"{name}.html")])
    CliRunner().invoke(main, ["demo", str(tmp_path / "demo")])
    for page in ("history.html", "anchored.html", "demo/loop.html", "demo/report.html"):
        for dark in (False, True):  # which graphs are drawn for when the page is opened
            browser.size(1280, 900, dark=dark)
            browser.open((tmp_path / page).as_uri())
            browser.run(SHORTEN)
            assert violations(browser, COLOURS if dark else ()) == []


def test_at_twice_the_size_nothing_is_wider_than_the_window(shown):
    shown.size(640, 450)  # what a window of 1280 × 900 has at 200 %
    shown.run(DRAW)
    assert shown.run("return document.documentElement.scrollWidth <= innerWidth")


def test_at_4k_the_page_uses_the_room(shown):
    shown.size(3840, 2160)
    shown.run(DRAW)
    assert shown.run("return document.querySelector('main').clientWidth") > 1600
    assert shown.run("return document.documentElement.scrollWidth <= innerWidth")


def legend(browser, chart):
    """Draw a graph and return what its legend names."""
    browser.run("focuseval.charts.draw(focuseval.charts.byId(arguments[0]))", chart)
    browser.wait("return document.querySelector(`#chart-${arguments[0]} .role-legend-label text`)", chart)
    script = "return [...document.querySelectorAll(`#chart-${arguments[0]} .role-legend-label text`)]"
    return browser.run(f"{script}.map((one) => one.textContent)", chart)


def test_the_history_has_a_legend_and_so_have_entry_points(shown, tmp_path, report):
    assert report.chart("BEPD") is not None
    assert legend(shown, "BEPD") == ["run-00", "run-01"]
    for number in range(1, 4):
        scores(tmp_path, f"{number}", 0.4)
    CliRunner().invoke(main, ["history", str(tmp_path), "-o", str(tmp_path / "history.html")])
    shown.open((tmp_path / "history.html").as_uri())
    assert legend(shown, "history-0") == ["bm25"]


def test_graphs_tell_their_rows_by_arrow_keys_and_open_a_topic(shown, report):
    shown.run(
        "const f = focuseval.charts.byId('differences'); focuseval.charts.draw(f); f.querySelector('.plot').focus()"
    )
    shown.keys("ArrowRight")
    tip = "return document.querySelector('#chart-differences .tip').textContent"
    row = report.first.per_topic[0]
    assert shown.run(tip).startswith(f"topic: {row.topic}, a: {row.a:.4f}, b: {row.b:.4f}")
    shown.keys("Enter")
    shown.wait("return document.activeElement.id === 'lists-title'")
    assert f"topic={row.topic}" in shown.address


def middle(browser, selector):
    """Return where a mark is once it has stayed there: graphs above it may still be drawn."""
    browser.wait("return document.querySelector(arguments[0])", selector)
    return browser.run(
        """return new Promise((found) => {
          let last = "", same = 0;
          const look = () => {
            const { x, y, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
            const here = [x + width / 2, y + height / 2];
            same = String(here) === last ? same + 1 : 0;
            last = String(here);
            if (same < 20) requestAnimationFrame(look); else found(here);
          };
          look();
        });""",
        selector,
    )


def test_a_touch_tells_what_a_mark_stands_for(shown, report):
    shown.size(390, 844)
    shown.run("focuseval.charts.byId('means').scrollIntoView({ block: 'center', behavior: 'instant' })")
    x, y = middle(shown, "#chart-means .mark-symbol path")
    shown.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        shown.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        shown.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        tip = shown.wait("return document.querySelector('#chart-means .tip').textContent")
    finally:
        shown.cdp("Emulation.setTouchEmulationEnabled", enabled=False)
    assert tip.startswith(f"run: {report.first.runs[0].run}, mean: {report.first.runs[0].means[0].mean:.4f}")


def test_a_click_on_a_bar_opens_its_topic(shown, report):
    shown.size(1280, 900)
    shown.run("focuseval.charts.byId('differences').scrollIntoView({ block: 'center', behavior: 'instant' })")
    x, y = middle(shown, "#chart-differences .mark-rect path")
    shown.drag((x, y), (x, y))
    shown.wait("return location.hash.includes('topic=')")
    assert f"topic={report.first.per_topic[0].topic}" in shown.address


@pytest.fixture(scope="module")
def three():
    """A report on three runs and tagged topics."""
    gold, runs, texts = campaign(topics=14, runs=3, documents=30)
    gold = type(gold)(
        **{**vars(gold), "attributes": {t: {"tags": "even" if int(t) % 2 == 0 else "odd"} for t in gold.topics}}
    )
    return build_report(gold, runs, ["MAgP", "spanR@5", "IoU@1"], docs=texts, task="spans")


@pytest.fixture
def chosen(browser, three, tmp_path):
    path = tmp_path / "three.html"
    path.write_text(render_html(three), encoding="utf-8")
    browser.open("about:blank")
    browser.open(path.as_uri())
    browser.wait(READY)
    return browser


def typed(browser, id_, text):
    script = "const [id, text] = arguments; const field = document.getElementById(id); field.value = text;"
    browser.run(f"{script} field.dispatchEvent(new Event('input'))", id_, text)


def rows(browser, table="topic-table"):
    return browser.run(
        """return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map((row) =>
          [...row.children].map((cell) => cell.textContent.trim()))""",
        table,
    )


def test_another_pair_and_measure_change_headline_table_bars_and_slices(chosen, three):
    a, b, c = three.choices["runs"]
    choose(chosen, "pick-a", c)
    choose(chosen, "pick-b", a)
    choose(chosen, "pick-measure", "IoU@1")
    values = three.choices["values"][2]
    expected = {t: (values[2][n], values[0][n]) for n, t in enumerate(three.choices["topics"])}
    for topic, _, one, other, difference in rows(chosen):
        assert (float(one), float(other)) == pytest.approx(expected[topic], abs=5.1e-5)
        sign = -1 if "−" in difference else 1
        shown = sign * float(difference.strip("▲▼ +−"))
        assert shown == pytest.approx(expected[topic][0] - expected[topic][1], abs=1e-4)
    told = three.choices["comparisons"]["measures"][2]["pairs"][1]  # the pair of the first and the third run
    words = {2: f"{c} is worse than {a}.", -2: f"{c} is better than {a}."}
    higher, lower = (a, c) if told[5] > 0 else (c, a)
    word = words.get(told[5], f"{higher} scores higher than {lower}, but this may be chance.")
    assert chosen.run("return document.getElementById('verdict').textContent") == word
    reason = chosen.run("return document.getElementById('verdict-reason').textContent")
    assert f"{-told[0] / 10_000:+.4f}".replace("-", "−") in reason
    assert f"p = {told[3] / 10_000:.4f}" in reason
    assert f"would show a difference of {told[8] / 10_000:.4f}" in reason
    chosen.run("focuseval.charts.draw(focuseval.charts.byId('differences'))")
    caption = chosen.run("return document.querySelector('#chart-differences figcaption').textContent")
    assert caption.startswith(f"A ({c}) minus B ({a}) in IoU@1")
    assert b not in caption
    slices = {row[0]: row[1:4] for row in rows(chosen, "slices")}
    even = [expected[t][0] for t in three.choices["topics"] if int(t) % 2 == 0]
    assert float(slices["Tag: even"][1]) == pytest.approx(sum(even) / len(even), abs=1e-4)
    chosen.run("document.getElementById('verdict-back').click()")
    assert chosen.run("return document.getElementById('verdict').textContent") == three.first.verdict.headline


def in_browser(browser, tmp_path, report):
    """Open a report, draw all its graphs, and return what the page says of its means."""
    path = tmp_path / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    browser.open("about:blank")
    browser.open(path.as_uri())
    browser.wait("return document.readyState === 'complete'")
    browser.run(DRAW)
    browser.run(OPEN)
    browser.run("return new Promise((done) => setTimeout(done, 200))")
    assert browser.errors() == []
    return browser.run(
        "return [...document.querySelectorAll('#chart-means tbody tr')].map((row) => row.firstChild.textContent)"
    )


def test_a_baseline_is_a_dashed_line_and_every_pair_is_tested(browser, tmp_path):
    gold, runs, texts = campaign(topics=8, runs=3, documents=20)
    report = build_report(gold, runs, ["MAgP", "IoU@1"], docs=texts, task="spans", baseline="run-01")
    in_browser(browser, tmp_path, report)
    assert browser.run("return document.querySelectorAll('#chart-means .mark-rule line[stroke-dasharray]').length") == 1
    browser.wait(READY)
    other = next(name for name in report.choices["runs"] if name not in (report.first.a, "run-01"))
    choose(browser, "pick-b", other)
    headline = browser.run("return document.getElementById('verdict').textContent")
    assert report.first.a in headline
    assert other in headline
    reason = browser.run("return document.getElementById('verdict-reason').textContent")
    assert "Holm over all 3 pairs. The interval is of this difference alone." in reason


def test_many_runs_are_drawn_as_their_captions_say(browser, tmp_path):
    gold, runs, texts = campaign(topics=3, runs=60, documents=12, length=400, depth=4)
    report = build_report(gold, runs, ["MAgP", "gP@5"], docs=texts, task="spans")
    drawn = in_browser(browser, tmp_path, report)
    assert drawn == [row[0] for row in report.chart("means").rows]
    assert f"{len(drawn)} of 60 runs are drawn" in report.chart("means").caption
    assert len({row[1] for row in report.chart("stars").rows}) == 24


@pytest.mark.parametrize("case", ["one run", "no collection", "documents only"])
def test_a_page_with_less_to_show_has_no_complaint(browser, tmp_path, case):
    gold, runs, texts = campaign(topics=4, runs=2, documents=12)
    if case == "one run":
        report = build_report(gold, runs[:1], ["MAgP", "spanR@5"], docs=texts, task="spans")
    elif case == "no collection":
        report = build_report(gold, runs, ["MAgP"], task="spans")
    else:
        judged = gold_of({"1": {"a": {"grade": 1}, "b": {"grade": 0}}, "2": {"a": {"grade": 1}}})
        ranked = [run_of({"1": ["a", "b"], "2": ["b", "a"]}, "one"), run_of({"1": ["b", "a"], "2": ["b"]}, "two")]
        report = build_report(judged, ranked, ["AP", "P@5"], docs={"a": "Some text.", "b": "Other text."})
    in_browser(browser, tmp_path, report)
    assert len(rows(browser)) == len(report.choices["topics"])
    if case != "no collection":
        browser.wait(READY)
        assert browser.run("return document.querySelectorAll('#list-a li').length") > 0


def test_topics_are_sorted_by_every_column_and_filtered_and_the_address_keeps_it(chosen):
    def values(column):
        return [row[column] for row in rows(chosen)]

    def sort(column):
        chosen.run("document.querySelector(`#topic-table button[data-sort=${arguments[0]}]`).click()", column)

    sort("a")
    assert values(2) == sorted(values(2))
    sort("a")
    assert values(2) == sorted(values(2), reverse=True)
    assert (
        chosen.run("return document.querySelector('#topic-table th[aria-sort]').getAttribute('aria-sort')")
        == "descending"
    )
    sort("topic")
    assert values(0) == sorted(values(0))
    typed(chosen, "filter-tag", "odd")
    assert len(rows(chosen)) == 7
    assert "7 of 14 topics" in chosen.run("return document.getElementById('topic-count').textContent")
    address = chosen.address
    assert "sort=topic" in address
    assert "tag=odd" in address
    chosen.open("about:blank")
    chosen.open(address)
    chosen.wait(READY)
    assert [int(topic) % 2 for topic in values(0)] == [1] * 7
    typed(chosen, "filter-text", "407")
    assert values(0) == ["407"]
    typed(chosen, "filter-text", "")
    typed(chosen, "filter-least", "0.3")
    assert all(float(one.strip("▲▼ +−")) >= 0.3 for one in values(4))


def test_runs_and_slices_are_sorted_by_a_click_on_a_heading(chosen, three):
    def first_column(table):
        return chosen.run(
            "return [...document.querySelectorAll(`${arguments[0]} tbody th`)].map((th) => th.innerText.trim())", table
        )

    def click(table, column):
        chosen.run("document.querySelectorAll(`${arguments[0]} thead button`)[arguments[1]].click()", table, column)

    means = {line.run: line.means[2].mean for line in three.first.runs}
    click("#answer table.sortable", 3)
    shown = [name.split()[-1] for name in first_column("#answer table.sortable")]
    assert shown == sorted(means, key=lambda name: -means[name])
    click("#answer table.sortable", 3)
    assert [name.split()[-1] for name in first_column("#answer table.sortable")] == shown[::-1]
    click("#slices", 1)
    sizes = chosen.run(
        "return [...document.querySelectorAll('#slices tbody tr')].map((row) => Number(row.cells[1].textContent))"
    )
    assert sizes == sorted(sizes, reverse=True)
    click("#slices", 5)
    lows = [float(row[5][1:].split(",")[0].replace("−", "-")) for row in rows(chosen, "slices") if row[5] != "–"]
    assert lows == sorted(lows, reverse=True)


def test_the_address_keeps_the_order_of_runs_and_slices_and_another_pair_does_too(chosen, three):
    chosen.run("document.querySelectorAll('#answer table.sortable thead button')[3].click()")
    chosen.run("document.querySelectorAll('#answer table.sortable thead button')[3].click()")
    chosen.run("document.querySelectorAll('#slices thead button')[1].click()")
    address = chosen.address
    assert "runs=IoU%401" in address
    assert "slices=-topics" in address
    before = rows(chosen, "answer"), [row[0] for row in rows(chosen, "slices")]
    chosen.open("about:blank")
    chosen.open(address)
    chosen.wait(READY)
    assert (rows(chosen, "answer"), [row[0] for row in rows(chosen, "slices")]) == before
    choose(chosen, "pick-b", three.choices["runs"][2])
    assert [row[0] for row in rows(chosen, "slices")] == before[1]
    assert chosen.run("return document.querySelectorAll('#slices th[aria-sort]').length") == 1
    choose(chosen, "pick-b", "none")
    assert chosen.errors() == []


def test_the_table_of_all_measures_is_sorted_too(chosen, three):
    chosen.run("document.getElementById('all-measures').open = true")
    chosen.run("document.querySelectorAll('#all-measures thead button')[3].click()")
    chosen.run("document.querySelectorAll('#all-measures thead button')[3].click()")
    means = [float(row[3].split()[0]) for row in rows(chosen, "all-measures")]
    assert len(means) == 3
    assert means == sorted(means)
    assert "all=IoU%401" in chosen.address


def test_slices_have_intervals_for_every_pair_and_measure(chosen, three):
    for pair in ((0, 2), (2, 1)):
        for measure in three.choices["measures"]:
            choose(chosen, "pick-b", "none")
            choose(chosen, "pick-a", three.choices["runs"][pair[0]])
            choose(chosen, "pick-b", three.choices["runs"][pair[1]])
            choose(chosen, "pick-measure", measure)
            for row in rows(chosen, "slices"):
                if int(row[1]) < 10:
                    assert row[5:] == ["–", "–", "fewer than 10 topics"]
                else:
                    assert row[5][0] == "["
                    assert row[7] in {"better", "worse", "cannot tell"}
    assert chosen.run("return document.getElementById('slices-note').textContent") == ""


def test_twenty_runs_are_sorted_as_one_table_and_shown_when_asked_for(browser, tmp_path):
    gold, runs, texts = campaign(topics=6, runs=14, documents=20, length=600)
    report = build_report(gold, runs, ["spanR@1", "IoU@1"], docs=texts, task="spans")
    in_browser(browser, tmp_path, report)
    visible = "return [...document.querySelectorAll('#answer table.sortable tbody tr')].filter((r) => !r.hidden).length"
    assert browser.run(visible) == 12
    browser.run("document.querySelectorAll('#answer table.sortable thead button')[2].click()")
    browser.run("document.querySelectorAll('#answer table.sortable thead button')[2].click()")
    table = (
        "return [...document.querySelectorAll('#answer table.sortable tbody tr')].map((r) => r.cells[2].textContent)"
    )
    values = [float(text) for text in browser.run(table)]
    assert len(values) == 14
    assert values == sorted(values)
    assert browser.run("return document.querySelector('#answer .wide + p button').textContent") == "Show 2 more"
    browser.run("document.querySelector('#answer .wide + p button').click()")
    assert browser.run(visible) == 14


def test_what_the_page_says_of_the_first_pair_is_what_the_report_says(chosen, three):
    deciding = chosen.run("return [...document.querySelectorAll('#deciding tbody a')].map((a) => a.textContent)")
    assert deciding == [one.topic for one in three.first.deciding]
    assert chosen.run("return document.getElementById('carried').textContent") == three.first.carried


def test_tables_of_other_pairs_are_those_of_a_report_on_that_pair(chosen, three):
    """The page's own account of a pair is that of Python, made with the pair as A and B."""
    gold, runs, texts = campaign(topics=14, runs=3, documents=30)
    names = three.choices["runs"]
    pair = [run for name in (names[2], names[1]) for run in runs if run.run_id == name]
    alone = build_report(gold, pair, ["MAgP", "spanR@5", "IoU@1"], docs=texts, task="spans")
    choose(chosen, "pick-a", names[2])
    deciding = chosen.run("return [...document.querySelectorAll('#deciding tbody a')].map((a) => a.textContent)")
    assert deciding == [one.topic for one in alone.first.deciding]
    assert chosen.run("return document.getElementById('carried').textContent") == alone.first.carried


def test_highlighted_is_one_colour_in_report_notebook_and_assessing():
    base = (Path(web).parents[1] / "static" / "base.css").read_text(encoding="utf-8")
    assessing = re.search(r"--mark: (#\w+)", base)[1]
    assert re.search(r"--gold: (#\w+)", static("heat.css"))[1] == assessing
    gold, runs, texts = campaign(topics=1, runs=1, documents=8)
    told = heat_map(gold, runs[0], "401", next(iter(texts)), docs=texts)._repr_html_()
    assert assessing in told


def test_found_missed_and_wasted_differ_without_colour(shown):
    """Each has a mark of its own beside its colour: a line for what was returned, hatching, dots."""
    seen = shown.run(
        """return Object.fromEntries(['m g a', 'm g x', 'm w a'].map((css) => {
          const mark = document.createElement('mark');
          mark.className = css;
          document.body.append(mark);
          const { backgroundImage } = getComputedStyle(mark);
          mark.remove();
          return [css, ['repeating-linear', 'radial'].map((word) => backgroundImage.includes(word))];
        }))"""
    )
    assert len({json.dumps(one) for one in seen.values()}) == 3
