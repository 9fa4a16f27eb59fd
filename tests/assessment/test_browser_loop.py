"""The whole loop in a real browser: pool, start, assess, a second assessor, adjudicate, export, score.

With FOCUSEVAL_PICTURES in the environment the pictures of the tutorial are written to docs/images.
"""

import json

import pytest

from browser import illustrate
from focuseval.data.fields import numbered_lines
from focuseval.example import copy_example
from strategies.serving import Running, focuseval

pytestmark = pytest.mark.service_worker

SAVED = "return document.getElementById('saving').textContent === 'Saved'"
TIDES = "101"


@pytest.fixture(scope="module")
def sea(tmp_path_factory):
    """The embedded example, pooled."""
    folder = tmp_path_factory.mktemp("sea")
    copy_example(folder)
    runs = sorted((folder / "runs" / "focused").iterdir())
    told = focuseval("pool", *runs, "--size", "4", "-o", folder / "pool.jsonl")
    assert "24 documents for 6 topics" in told
    return folder


def opened(browser, running, document=None):
    """Wait until a document is shown, and return its name."""
    if document:
        browser.open(f"{running.home}/read?topic={TIDES}&document={document}")
    browser.wait("return document.documentElement.dataset.ready === 'yes' && window.desk !== undefined")
    return browser.run("return desk.data.document")


def press(browser, *keys):
    browser.keys(*keys)
    browser.wait(SAVED)


def finish(browser, key):
    press(browser, key)
    word = {"r": "relevant", "n": "not relevant"}[key]
    browser.wait("return document.querySelector('#status').textContent === arguments[0]", word)


def assess_by_keyboard(browser, running):
    """Three documents: a sentence and an element, an undo, and nothing relevant."""
    browser.open(running.link)
    browser.wait("return document.querySelector('h1')?.textContent === 'Topics'")
    illustrate(browser, "assess-topics")
    browser.click("a.button.main")
    first = opened(browser, running)
    press(browser, "j", "j", "s", "h")
    press(browser, "j", "j", "x")
    illustrate(browser, "assess-read")
    browser.keys("?")
    browser.wait("return document.getElementById('help').open")
    illustrate(browser, "assess-keys")
    browser.keys("Escape")
    finish(browser, "r")
    browser.keys(".")
    browser.wait("return document.documentElement.dataset.ready && desk.data.document !== arguments[0]", first)
    second = opened(browser, running)
    press(browser, "j", "j", "x")
    press(browser, "z")
    assert browser.run("return desk.state.highlights.length") == 0
    press(browser, "Shift+Z")
    press(browser, "j", "b")
    finish(browser, "r")
    browser.keys(".")
    browser.wait("return document.documentElement.dataset.ready && desk.data.document !== arguments[0]", second)
    third = opened(browser, running)
    finish(browser, "n")
    return first, second, third


def assess_by_mouse(browser, running):
    browser.keys(".")
    browser.wait("return document.documentElement.dataset.ready && desk.state.status === 'todo'")
    fourth = opened(browser, running)
    script = """
      const block = desk.view.blocks.filter((b) => b.kind === "paragraph" && b.end - b.start > 120)[0];
      block.node.scrollIntoView({ block: "center" });
      const boxes = desk.view.range(block.start, block.start + 60).getClientRects();
      return [boxes[0].left + 1, boxes[0].top + 8, boxes[0].right - 2, boxes[0].top + 8];"""
    left, top, right, bottom = browser.run(script)
    browser.drag((left, top), (right, bottom))
    browser.wait("return !document.getElementById('bubble').hidden")
    illustrate(browser, "assess-mouse")
    browser.click("#bubble button")
    browser.wait(SAVED)
    browser.click("#actions button.main.relevant")
    browser.wait("return document.querySelector('#status').textContent === 'relevant'")
    return fourth


def second_opinion(browser, running, documents):
    browser.open(running.link)
    browser.wait("return location.pathname === '/'")
    assert "0 of 24 documents done" in browser.run("return document.body.textContent")
    for document in documents:
        opened(browser, running, document)
        press(browser, "j", "j", "s", "s", "h")
        finish(browser, "r")


def adjudicate(browser, running, document):
    browser.open(running.link)
    browser.wait("return location.pathname === '/'")
    browser.open(f"{running.home}/adjudicate")
    assert browser.run("return document.querySelectorAll('tbody tr').length") == 4
    browser.open(f"{running.home}/adjudicate/document?topic={TIDES}&document={document}")
    browser.wait("return document.documentElement.dataset.ready")
    assert browser.run("return [...document.querySelectorAll('.sides strong')].map((n) => n.textContent)") == [
        "Everyone",
        "ann",
        "bob",
    ]
    assert browser.run("return document.querySelectorAll('.stripe').length") > 0
    whose = "return document.querySelector('button[data-rule=union]')?.dataset.of ?? ''"
    assert browser.run(whose) == "ann bob"
    browser.click("input[data-takes-part=bob]")
    assert browser.run(whose) == "ann"
    browser.click("input[data-takes-part=bob]")
    browser.click("button[data-rule=union]")
    browser.wait("return document.querySelector('#saving').textContent.startsWith('Saved')")
    illustrate(browser, "assess-adjudicate")
    browser.click("#edit")
    opened(browser, running)
    press(browser, "j", "x")
    finish(browser, "r")
    browser.open(f"{running.home}/agreement")
    assert "ann – bob" in browser.run("return document.body.textContent")
    illustrate(browser, "assess-agreement", height=420)
    assert browser.errors() == []


def test_the_whole_loop(sea, browser, tmp_path):
    project = tmp_path / "project"
    begin = ["--docs", sea / "articles", "--topics", sea / "topics.xml", "--pool", sea / "pool.jsonl"]
    with Running(project, *begin, "--assessor", "ann") as running:
        documents = [*assess_by_keyboard(browser, running), assess_by_mouse(browser, running)]
        assert len(set(documents)) == 4
    with Running(project, "--assessor", "bob") as running:
        second_opinion(browser, running, documents)
    with Running(project, "--assessor", "lea") as running:
        adjudicate(browser, running, documents[0])
    assert "no defect" in focuseval("project", "check", project)
    assert len(list((project / "backups").iterdir())) == 3
    gold = tmp_path / "gold.jsonl"
    focuseval("project", "export", project, gold, "--to", "gold-jsonl", "--adjudicated")
    lines = [json.loads(line) for _, line in numbered_lines(gold.read_text())]
    assert [(line["topic"], line["doc"]) for line in lines] == [(TIDES, documents[0])]
    assert all(span["quote"] for span in lines[0]["spans"])
    run = sea / "runs" / "focused" / "careful.xml"
    told = focuseval("score", project, run, "-m", "charR", "--adjudicated", "--format", "json")
    assert json.loads(told[: told.rindex("}") + 1])["runs"][0]["topics"] == 1
