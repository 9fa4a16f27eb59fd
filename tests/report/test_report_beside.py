"""The text beside its list, at three widths, in the light and in the dark, by mouse and by keyboard; answers; zeros."""

import json

import numpy as np
import pytest

import focuseval as fe
from building import gold_of, run_of
from focuseval.errors import NotComparableError
from focuseval.evaluation.evaluation import evaluate
from focuseval.report.build import build_report
from focuseval.report.charts.chart import short_label
from focuseval.report.page import render_html
from report.walking import READY

SIZES = [(1400, 900, False), (800, 900, True), (390, 844, False), (390, 844, True)]
IN_VIEW = """const box = document.querySelector(arguments[0])?.getBoundingClientRect();
  return box && box.width > 0 && box.top >= 0 && box.bottom <= innerHeight && Boolean(document
    .elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)?.closest(arguments[0]));"""


def ready(browser, at):
    browser.wait("return document.documentElement.dataset.heat && focuseval.choice.state.at === arguments[0]", at)


@pytest.mark.parametrize(("width", "height", "dark"), SIZES)
def test_a_click_on_a_result_shows_its_text_beside_the_list_and_back_closes_it_on_a_phone(shown, width, height, dark):
    shown.size(width, height, dark=dark)
    shown.run("document.documentElement.style.scrollBehavior = 'auto'")
    shown.click("#deciding tbody a")
    shown.wait("return document.activeElement.id === 'lists-title'")
    rank = shown.run("return document.querySelectorAll('#list-a li').length") - 1
    link = f"#list-a li:nth-child({rank}) a"
    shown.run("document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", link)
    before = shown.run("return scrollY")
    shown.click(link)
    ready(shown, f"A{rank}")
    shown.wait(IN_VIEW, f'#heat-text .pin[data-at="A{rank}"]')
    assert shown.run("return scrollY") == before
    assert shown.run("return document.documentElement.scrollWidth <= innerWidth")
    assert shown.run(IN_VIEW, link) == (width > 700)  # a phone shows the text over the list
    shown.run("history.back()")
    ready(shown, "")
    shown.wait(IN_VIEW, link)
    assert shown.run("return scrollY") == before
    if width < 700:
        shown.wait("return document.activeElement === document.querySelector(arguments[0])", link)
    assert shown.errors() == []


def test_on_a_phone_the_keyboard_alone_opens_a_text_and_escape_closes_it(shown):
    shown.size(390, 844)
    shown.run("document.querySelector('#list-a li a').focus()")
    shown.keys("Enter")
    ready(shown, "A1")
    assert shown.run("return document.activeElement.id") == "close-text"
    shown.wait(IN_VIEW, "#close-text")
    shown.keys("Escape")
    ready(shown, "")
    shown.wait("return document.activeElement === document.querySelector('#list-a li a')")


def test_the_run_that_is_b_can_be_chosen_as_a_which_swaps_them(shown):
    told = "return [focuseval.choice.state.a, focuseval.choice.state.b]"
    a, b = shown.run(told)
    pick = "const pick = document.getElementById('pick-a'); pick.value = arguments[0];"
    shown.run(f"{pick} pick.dispatchEvent(new Event('change'))", str(b))
    assert shown.run(told) == [b, a]


def test_a_filter_that_fits_no_topic_says_so_and_can_be_cleared(shown, report):
    shown.type("#filter-text", "zyxwv")
    shown.wait("return document.querySelector('#topic-table tbody').textContent.startsWith('No topic fits')")
    shown.run("document.getElementById('filter-clear').click()")
    rows = "return document.querySelectorAll('#topic-table tbody tr').length"
    assert shown.run(rows) == len(report.choices["topics"])


TEXTS = {"a": "x" * 400, "b": "y" * 400, "c": "z" * 400}


def test_a_zero_is_explained_by_where_the_answer_is_and_what_the_run_did():
    topics = ["never", "below", "budget", "part", "nothing", "found"]
    gold = gold_of({topic: {"a": {"spans": [(0, 50)], "length": 400}} for topic in topics})
    results = {
        "never": [("b", 0, 100)],
        "below": [("b", 0, 10), ("c", 0, 10), ("a", 0, 50)],
        "budget": [("b", 0, 400), ("a", 0, 50)],
        "part": [("b", 0, 10), ("a", 200, 300)],
        "found": [("a", 0, 50)],
    }
    run = run_of(results, "run05")
    said = {}
    for name in ("spanR@2", "spanR@300c"):
        choices = build_report(gold, [run], [name], docs=TEXTS, task="spans").choices
        said[name] = {choices["topics"][topic]: text for topic, text in choices["zeros"][0].items()}
        scores = evaluate(gold, run, [name], docs=TEXTS, task="spans")
        zero = np.flatnonzero(scores.values[0, :, 0] == 0).tolist()
        assert set(said[name]) == {scores.topics[topic] for topic in zero}
    assert said["spanR@2"] == {
        "never": "The answer (50 characters) is in a, which run05 never returned.",
        "below": "run05 returned the answer (50 characters), in a, at rank 3, below the first 2 results.",
        "part": "run05 returned a at rank 2, but another part than the answer (50 characters).",
        "nothing": "run05 returned nothing.",
    }
    assert said["spanR@300c"]["budget"] == (
        "run05 returned the answer (50 characters), in a, at rank 2, below the budget of 300 characters."
    )


def test_the_page_shows_the_sentence_on_a_zero_in_the_table_and_beside_the_lists(browser, tmp_path):
    gold = gold_of({topic: {"a": {"spans": [(0, 50)], "length": 400}} for topic in "123"})
    low = {"1": [("a", 300, 320)]} | {t: [("b", 0, 9)] for t in "23"}
    runs = [run_of(low, "low"), run_of({t: [("a", 0, 50)] for t in "123"}, "high")]
    report = build_report(gold, runs, ["spanR@1", "spanP@1"], docs=TEXTS, task="spans")
    path = tmp_path / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    browser.open(path.as_uri() + "#topic=2")
    browser.wait(READY)
    sentence = "The answer (50 characters) is in a, which low never returned."
    assert sentence in browser.run("return document.getElementById('heat-why').textContent")
    assert f"A: {sentence}" in browser.run("return document.getElementById('topic-table').textContent")
    pick = "const pick = document.getElementById('pick-measure'); pick.value = 1;"
    browser.run(f"{pick} pick.dispatchEvent(new Event('change'))")
    browser.wait("return document.getElementById('heat-why').textContent === ''")


def answer(topic, *sentences):
    """A line of answers: sentences with the spans that they cite."""
    parts = []
    for text, cites in sentences:
        parts.append({"text": text, "citations": [{"doc": doc, "start": s, "end": e} for doc, s, e in cites]})
    return json.dumps({"topic": topic, "answer": parts})


def test_an_answer_is_shown_sentence_by_sentence_with_citations_and_needs(browser, tmp_path):
    lines = [
        answer("q1", ("First.", [("a", 0, 30), ("gone", 0, 5)]), ("Second.", []), ("Third.", [("a", 0, 30)])),
        answer("q2", ("All.", [("b", 0, 20)])),
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    spans = [{"start": 0, "end": 60, "need": "what"}, {"start": 100, "end": 120, "need": "why"}]
    gold = [
        {"topic": "q1", "doc": "a", "spans": spans},
        {"topic": "q2", "doc": "b", "spans": [{"start": 0, "end": 9}], "forbidden": [{"start": 9, "end": 12}]},
        {"topic": "q3", "answerable": False},
    ]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)))
    measures = ["leak", "citeR", "uncited", "silence"]
    report = build_report(tmp_path / "gold.jsonl", [tmp_path / "answers.jsonl"], measures, docs=TEXTS)
    assert report.choices["measures"] == ("citeR", "−uncited")
    assert [table.title for table in report.beside] == ["Text that must not come back", "Questions without an answer"]
    view = report.heat["topics"][report.choices["topics"].index("q1")]["answers"][0]
    half = [["what", 50]]
    assert view["sentences"] == [["First.", [1, 2], half], ["Second.", [], []], ["Third.", [1], half]]
    assert (view["nowhere"], view["open"], view["abstains"]) == ([2], ["why"], False)
    path = tmp_path / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    browser.open(path.as_uri() + "#topic=q1")
    browser.wait(READY)
    said = browser.run("return document.getElementById('answer-a').innerText")
    assert [" ".join(line.split()) for line in said.splitlines() if line.strip()] == [
        "First. [1] [2] leads nowhere covers what (50 %)",
        "Second. no citation",
        "Third. [1] covers what (50 %)",
        "No citation covers why.",
    ]
    browser.run("document.querySelector('#answer-a a').click()")
    ready(browser, "A1")
    browser.wait(IN_VIEW, '#heat-text .pin[data-at="A1"]')
    assert browser.errors() == []


def test_a_report_on_nothing_relevant_is_refused_in_one_line(tmp_path):
    gold = [{"topic": "q1", "doc": "a", "spans": [{"start": 0, "end": 9}]}, {"topic": "q2", "answerable": False}]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)))
    with pytest.raises(NotComparableError, match="found silence alone; add a measure such as spanR"):
        build_report(fe.read_gold(tmp_path / "gold.jsonl"), [run_of({"q1": [("a", 0, 9)]})], ["silence"], docs=TEXTS)


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (["a", "b"], "datum.label"),
        (
            ["experiment-2026-11-18-bm25-final", "experiment-2026-11-18-dense-final"],
            "slice(datum.label, 22, length(datum.label) - 6)",
        ),
        (
            ["the-same-long-name-of-a-run", "the-same-long-name-of-a-run-2"],
            "slice(datum.label, 24, length(datum.label) - 0)",
        ),
    ],
)
def test_what_long_names_share_is_left_out_of_labels_but_never_all(names, label):
    assert short_label(names) == label
