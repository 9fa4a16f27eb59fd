"""Walking through the text in a real browser: keys, links, marks; hostile texts and very long ones."""

import pytest

from building import gold_of, run_of
from focuseval.report import build_report, render_html
from strategies.report_pages import HOSTILE, LONG, hostile_report, long_report


def article(browser):
    return tuple(browser.run("return [focuseval.heat.state.topic, focuseval.heat.state.article]"))


def settled(browser, before):
    """Wait until another article is drawn, and return its place."""
    browser.wait("const now = document.documentElement.dataset.heat; return now && now !== arguments[0]", before)
    return article(browser)


def test_a_topic_s_link_leads_into_the_text_and_keys_walk_on(shown, report):
    before = shown.run("return document.documentElement.dataset.heat")
    link = shown.run("const a = document.querySelectorAll('#answer a[href^=\"#topic=\"]')[1]; a.click(); return a.hash")
    topic, first = settled(shown, before)
    assert report.heat.topics[topic]["topic"] == link.split("=")[1]
    shown.wait("return document.activeElement.id === 'heat-text'")
    assert f"doc={report.heat.topics[topic]['articles'][0]['doc']}" in shown.address
    now, topics = f"{topic}/{first}", len(report.heat.topics)
    for key, move in (("j", (0, 1)), ("ArrowRight", (0, 2)), ("k", (0, 1)), ("n", (1, 0)), ("p", (0, 0))):
        shown.keys(key)
        assert settled(shown, now) == ((topic + move[0]) % topics, move[1])
        now = "/".join(map(str, article(shown)))
    assert shown.errors() == []


def test_keys_outside_the_text_do_nothing(shown):
    shown.run("document.querySelector('nav a').focus()")
    before = article(shown)
    shown.keys("j", "n")
    assert article(shown) == before


def test_a_deep_link_opens_its_article_and_a_wrong_one_says_so(shown, page, report):
    topic = report.heat.topics[2]
    shown.open("about:blank")
    shown.open(f"{page}#topic={topic['topic']}&doc={topic['articles'][1]['doc']}")
    shown.wait("return document.documentElement.dataset.heat === '2/1'")
    assert shown.run("return document.getElementById('pick-article').selectedIndex") == 1
    for link, said in (
        ("nowhere", "Topic nowhere is not in this report."),
        (f"{topic['topic']}&doc=gone", "Document gone is not"),
    ):
        shown.open(f"{page}#topic={link}")
        shown.wait("return document.getElementById('heat-title-line').textContent.startsWith(arguments[0])", said)


def test_the_text_and_its_counts_are_those_of_gold_and_runs(shown, report):
    topic, number = article(shown)
    told = report.heat.topics[topic]["articles"][number]
    text = report.texts[told["doc"]]["text"]
    sides = (told["runs"].get(str(run), {"spans": []})["spans"] for run in (report.heat.a, report.heat.b))
    gold, a, b = (
        {i for s, e in zip(flat[::2], flat[1::2], strict=True) for i in range(s, e)} for flat in (told["gold"], *sides)
    )
    expected = {
        "found by A and B": gold & a & b,
        "found by A only": (gold & a) - b,
        "found by B only": (gold & b) - a,
        "missed": gold - a - b,
        "wasted by A and B": (a & b) - gold,
        "wasted by A": a - b - gold,
        "wasted by B": b - a - gold,
    }
    legend = shown.run(
        """return [...document.querySelectorAll('#heat-legend li')].map((line) =>
          [line.firstChild.textContent, Number(line.querySelector('b').textContent.replace(',', ''))])"""
    )
    assert dict(legend) == {name: len(characters) for name, characters in expected.items()}
    assert shown.run("return document.getElementById('heat-text').textContent") == text
    marks = shown.run("return [...document.querySelectorAll('#heat-text mark')].map((m) => [m.title, m.textContent])")
    for name, characters in expected.items():
        assert "".join(shown for title, shown in marks if title == name) == "".join(text[i] for i in sorted(characters))


def test_entry_points_stand_where_gold_and_runs_have_them(shown, report):
    topic, number = article(shown)
    told = report.heat.topics[topic]["articles"][number]
    pins = shown.run(
        """return [...document.querySelectorAll('#heat-text .pin')].map((pin) => {
          const range = document.createRange();
          range.setStart(document.getElementById('heat-text'), 0);
          range.setEndBefore(pin);
          return [pin.className, range.toString().length];
        })"""
    )
    runs = {"a": str(report.heat.a), "b": str(report.heat.b)}
    expected = [
        (f"pin {side}", start)
        for side, run in runs.items()
        if run in told["runs"]
        for start in told["runs"][run]["begins"][::2]
    ]
    assert expected
    assert sorted(map(tuple, pins)) == sorted([*expected, *([("pin gold", told["bep"])] if told["bep"] >= 0 else [])])


def test_elements_marks_runs_and_the_minimap_answer(shown):
    shown.run("document.getElementById('heat-text').focus()")
    shown.keys(".")
    shown.wait("return document.querySelectorAll('mark.now').length === 1")
    shown.keys("e")
    shown.wait("return document.querySelectorAll('.edge').length > 0")
    shown.run(
        "const pick = document.getElementById('pick-b'); pick.value = '-1'; pick.dispatchEvent(new Event('change'))"
    )
    shown.wait("return document.querySelectorAll('#heat-legend li').length === 3")
    shown.size(380, 500)
    shown.run("focuseval.heat.show()")
    shown.wait("return document.documentElement.dataset.heat && !document.getElementById('minimap').hidden")
    shown.run(
        """const canvas = document.getElementById('minimap');
        const { x, bottom } = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent('click', { clientX: x + 5, clientY: bottom - 4 }));"""
    )
    assert shown.run("return document.getElementById('heat-text').scrollTop") > 100


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report and wait for its first article."""

    def show(report):
        path = tmp_path / "report.html"
        path.write_text(render_html(report), encoding="utf-8")
        browser.open(path.as_uri())
        browser.wait("return document.documentElement.dataset.heat", seconds=20)
        return browser

    return show


def test_hostile_text_is_shown_and_not_obeyed(opened):
    browser = opened(hostile_report())
    for _ in HOSTILE:
        document, text = browser.run(
            """const { heat, state } = focuseval.heat;
            return [heat().topics[0].articles[state.article].doc, document.getElementById('heat-text').textContent];"""
        )
        assert text == spelled(HOSTILE[document])
        before = browser.run("return document.documentElement.dataset.heat")
        browser.run("document.getElementById('next-article').click()")
        settled(browser, before)
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.querySelectorAll('#heat-text script, #heat-text img').length") == 0
    assert browser.errors() == []


def test_hostile_names_are_drawn_and_not_obeyed(opened):
    evil = "</script><img src=x onerror=window.hacked=1>'\"\\u202e${window.hacked=2}"
    judged = {
        evil: {"d": {"spans": [(0, 5)], "length": 20, "bep": 0}},
        "t": {"d": {"spans": [(0, 9)], "length": 20, "bep": 0}},
    }
    runs = [run_of({evil: [("d", n, 9)], "t": [("d", n, 5)]}, f"{evil}{n}") for n in range(3)]
    report = build_report(gold_of(judged), runs, ["charP", "MAiP", "BEPD(A=0.1)"], docs={"d": "x" * 20}, task="spans")
    browser = opened(report)
    browser.run("document.querySelectorAll('figure').forEach((figure) => focuseval.charts.draw(figure))")
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.querySelectorAll('main img').length") == 0
    assert browser.errors() == []


def spelled(text):
    """Text as the page shows it: controls of direction as their numbers."""
    return "".join(f"⟨U+{ord(c):04X}⟩" if c in "\u202e\u202c\u2066\u200f" else c for c in text)


def test_a_very_long_document_scrolls_without_holding_up_the_page(opened):
    browser = opened(long_report())
    assert browser.run("return document.getElementById('heat-text').textContent.length") == LONG
    assert browser.run("return getComputedStyle(document.querySelector('.sheet')).contentVisibility") == "auto"
    worst = min(longest_task_while_scrolling(browser) for _ in range(3))  # a busy machine may hold up any one of them
    assert worst <= 200
    assert browser.errors() == []


def longest_task_while_scrolling(browser):
    """Scroll from top to bottom in sixty leaps, and return the longest task in milliseconds."""
    browser.run(
        """window.tasks = [0];
        window.done = false;
        const watch = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration)));
        watch.observe({ type: 'longtask' });
        const pane = document.getElementById('heat-text');
        pane.scrollTop = 0;
        let steps = 0;
        const go = () => {
          pane.scrollTop += 4000;
          steps += 1;
          if (steps < 60) return requestAnimationFrame(go);
          pane.scrollTop = pane.scrollHeight;
          setTimeout(() => { watch.disconnect(); window.done = true; }, 50);
        };
        go();"""
    )
    browser.wait("return window.done", seconds=30)
    return max(browser.run("return tasks"))
