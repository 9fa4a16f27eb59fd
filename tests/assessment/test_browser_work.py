"""Assessors at work in a real browser: by keyboard, by mouse, against each other, and with the server away."""

import json

import pytest

from focuseval.assessment.store import Key
from strategies.pages import ARTICLE, page_from_xml

PAGE = page_from_xml("a/tides", ARTICLE)
ANN = Key("ann", "11", "a/tides")
STATUS = "return document.getElementById('status').textContent === arguments[0]"
NOTICE = "const node = document.getElementById('notice'); return node.hidden ? '' : node.textContent"
SAVED = "return document.getElementById('saving').textContent === 'Saved'"


def at(quote):
    start = PAGE.text.index(quote)
    return (start, start + len(quote))


@pytest.fixture
def desk(site, browser):
    site.let_in(browser)
    site.read(browser)
    return browser


def judgement(site, key=ANN):
    return site.store.judgement(key).judgement


def press(browser, *keys):
    browser.keys(*keys)
    browser.wait(SAVED)


def test_words_sentences_and_elements_are_highlighted_with_keys_alone(site, desk):
    press(desk, "j", "j", "j", "s", "h")
    assert judgement(site).highlights == (at("The moon pulls the sea."),)
    press(desk, "j", "w", "w", "w", "Shift+W", "h")
    assert judgement(site).highlights[-1] == at("A second")
    press(desk, "j", "j", "x")
    assert judgement(site).highlights[-1] == at("High water at Brest")
    press(desk, "e", "e", "h")
    assert judgement(site).highlights[-1] == at("High water at BrestLow water at Dover")
    assert desk.errors() == []


def test_from_white_space_this_element_is_the_next_one_that_shows_something(site, desk):
    gap = "desk.view.blocks.findIndex((block) => block.kind === 'gap')"
    following = desk.run(f"return desk.view.text.slice(desk.view.blocks[{gap}].end).trimStart().slice(0, 5)")
    desk.run(f"desk.cursor.go(desk.view.blocks[{gap}].start)")
    press(desk, "x")
    (span,) = judgement(site).highlights
    assert desk.run("return desk.view.text.slice(...arguments[0]).trimStart().slice(0, 5)", list(span)) == following


def test_in_plain_text_the_element_is_the_paragraph(site, browser):
    site.let_in(browser)
    site.read(browser, "b/plain")
    press(browser, "j", "j", "x")
    text = site.pages.get("b/plain").text
    assert [quote for *_, quote in site.store.quotes(Key("ann", "11", "b/plain"))] == [text.split("\n\n")[1]]


def test_undo_redo_unhighlight_entry_point_flag_and_note(site, desk):
    press(desk, "j", "j", "j", "x")
    press(desk, "z")
    assert judgement(site).highlights == ()
    press(desk, "Control+y")
    paragraph = at("The moon pulls the sea. Twice a day the water rises; spring tides follow the new moon.")
    assert judgement(site).highlights == (paragraph,)
    press(desk, "w", "w", "u")
    assert judgement(site).highlights == ((paragraph[0] + len("The moon"), paragraph[1]),)
    press(desk, *["Control+ArrowRight"] * 3, "b")
    assert judgement(site).bep is not None
    assert desk.run("return document.querySelector('#warnings').textContent") == ""
    press(desk, "k", "b")
    assert "outside the highlighted text" in desk.run("return document.querySelector('#warnings').textContent")
    press(desk, "Shift+B", "f")
    assert (judgement(site).bep, judgement(site).flagged) == (None, True)
    desk.keys("m")
    desk.type("#note", "A doubtful case")
    press(desk, "Escape")
    desk.wait(SAVED)
    assert judgement(site).note == "A doubtful case"


def test_a_finished_document_offers_the_next_and_an_edit_reopens_it(site, desk):
    desk.keys("r")
    desk.wait("return document.querySelector('#notice').textContent.includes('at least one highlight')")
    press(desk, "j", "x", "r")
    desk.wait("return document.querySelector('#status').textContent === 'relevant'")
    press(desk, "j", "x")
    assert judgement(site).status == "in progress"
    press(desk, "r")
    desk.wait("return document.querySelector('#notice').textContent.includes('Done')")
    desk.keys(".")
    desk.wait("return new URL(location).searchParams.get('document') === 'b/plain'")
    desk.wait("return document.documentElement.dataset.ready")
    press(desk, "n")
    assert judgement(site, Key("ann", "11", "b/plain")).status == "not relevant"


def test_a_flag_reopens_a_finished_document_says_so_and_undo_finishes_it_again(site, desk):
    press(desk, "j", "x", "r")
    desk.wait(STATUS, "relevant")
    press(desk, "f")
    desk.wait(STATUS, "in progress")
    assert "Reopened by your flag" in desk.run(NOTICE)
    assert judgement(site).status == "in progress"
    press(desk, "z")
    desk.wait(STATUS, "relevant")
    assert not judgement(site).flagged
    assert desk.run("return document.getElementById('notice').hidden")
    press(desk, "f", "r")
    desk.wait(STATUS, "relevant")
    assert judgement(site).flagged


def test_a_note_reopens_a_finished_document_and_one_key_finishes_it_again(site, desk):
    press(desk, "n")
    desk.wait(STATUS, "not relevant")
    desk.keys("m")
    desk.type("#note", "Only a stub")
    desk.wait(STATUS, "in progress")
    assert "Reopened by your note" in desk.run(NOTICE)
    assert "Done again: not relevant (Esc n)" in desk.run(NOTICE)
    desk.type("#note", ", as it seems")
    desk.wait("return desk.state.note.endsWith('seems')")
    assert "Reopened by your note" in desk.run(NOTICE)
    press(desk, "Escape", "n")
    desk.wait(STATUS, "not relevant")
    assert judgement(site).note == "Only a stub, as it seems"
    assert judgement(site).status == "not relevant"


def test_a_note_that_is_still_being_typed_is_saved_before_a_document_is_finished_or_left(site, desk):
    desk.keys("m")
    desk.type("#note", "First")
    desk.click("#actions button.main.not")
    desk.wait(STATUS, "not relevant")
    desk.wait(SAVED)
    assert (judgement(site).note, judgement(site).status) == ("First", "not relevant")
    desk.type("#note", " and last")
    desk.click("#following")
    desk.wait(STATUS, "in progress")
    assert "Reopened by your note" in desk.run(NOTICE), "who leaves is told first"
    desk.click("#notice button")
    desk.wait(STATUS, "not relevant")
    desk.click("#following")
    desk.wait("return new URL(location).searchParams.get('document') === 'b/plain'")
    assert (judgement(site).note, judgement(site).status) == ("First and last", "not relevant")


def test_the_mouse_selects_and_a_button_highlights(site, desk):
    script = """
      const unit = desk.view.text.indexOf(arguments[0]);
      const boxes = [...desk.view.range(unit, unit + arguments[0].length).getClientRects()];
      return [boxes[0].left, boxes[0].top + 8, boxes.at(-1).right, boxes.at(-1).top + 8];"""
    left, top, right, bottom = desk.run(script, "Twice a day")
    desk.drag((left + 1, top), (right, bottom))
    desk.wait("return !document.getElementById('bubble').hidden")
    desk.click("#bubble button")
    desk.wait(SAVED)
    assert judgement(site).highlights == (at("Twice a day"),)
    desk.wait("return document.querySelectorAll('#specificity .share').length === 4")
    shares = desk.run("return [...document.querySelectorAll('#specificity .share')].map((n) => n.textContent)")
    section = next(element for element in PAGE.elements if element.path.endswith("section[1]"))
    assert f"{round(100 * 11 / (section.end - section.start))} %" in shares


def test_the_help_lists_every_key_and_closes(site, desk):
    desk.keys("?")
    desk.wait("return document.getElementById('help').open")
    keys = desk.run("return [...document.querySelectorAll('#keys dd')].map((n) => n.textContent)")
    assert "highlight this element" in keys
    assert len(keys) > 25
    desk.keys("Escape")
    desk.wait("return !document.getElementById('help').open")


def test_while_the_server_is_away_edits_wait_and_are_counted(site, desk):
    site.stop()
    desk.keys("j", "j", "j", "x", "j", "x", "f")
    desk.wait("return document.getElementById('saving').textContent === '3 unsaved'")
    assert desk.run("return desk.state.highlights.length") == 2
    desk.keys("v")
    desk.wait("return document.getElementById('notice').textContent.includes('the history is kept there')")
    site.start()
    desk.wait(SAVED, seconds=15)
    assert len(judgement(site).highlights) == 2
    assert judgement(site).flagged
    assert desk.run("return localStorage.length") == 0


def test_edits_that_a_closed_page_could_not_deliver_are_sent_by_the_next(site, desk):
    site.stop()
    desk.keys("j", "j", "j", "x")
    desk.wait("return document.getElementById('saving').textContent === '1 unsaved'")
    kept = desk.run("return JSON.stringify(localStorage)")
    desk.run("desk.queue.items = []")
    desk.open("about:blank")
    site.start()
    site.read(desk)
    assert "highlight" in kept
    desk.wait("return window.desk?.state?.version === 1")
    assert len(judgement(site).highlights) == 1


def test_two_browsers_on_one_document_never_overwrite_each_other(site, desk, driver):
    other = driver.browser()
    try:
        site.let_in(other)
        site.read(other)
        press(desk, "j", "j", "j", "x")
        other.keys("j", "x")
        other.wait("return document.getElementById('held').textContent.includes('changed elsewhere')")
        first = at("The moon pulls the sea. Twice a day the water rises; spring tides follow the new moon.")
        assert judgement(site).highlights == (first,)
        assert other.run("return desk.state.highlights") == [list(first)]
        other.click("#held button")
        other.wait(SAVED)
        assert judgement(site).highlights == ((0, 5), first)
    finally:
        other.close()


def test_named_assessors_log_in_and_stay_blind_in_one_browser(shared_site, browser):
    shared_site.log_in(browser, "ann")
    shared_site.read(browser)
    press(browser, "j", "x")
    assert "Adjudicate" not in browser.run("return document.querySelector('nav').textContent")
    browser.click(".who button")
    browser.wait("return location.pathname === '/login'")
    shared_site.log_in(browser, "bob")
    shared_site.read(browser)
    assert browser.run("return desk.state.highlights.length") == 0
    browser.click(".who button")
    browser.wait("return location.pathname === '/login'")
    browser.type("input[name=name]", "bob")
    browser.type("input[name=password]", "a guess")
    browser.click("main button")
    browser.wait("return document.querySelector('.problem')?.textContent.includes('wrong')")
    shared_site.log_in(browser, "lea")
    assert "Adjudicate" in browser.run("return document.querySelector('nav').textContent")


def test_a_lead_imports_a_file_and_takes_everything_out(shared_site, browser, tmp_path):
    line = {"topic": "11", "doc": "a/tides", "spans": [{"quote": "Twice a day"}]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(line) + "\n")
    shared_site.log_in(browser, "lea")
    browser.open(shared_site.address("/exchange"))
    browser.type("input[type=file]", str(tmp_path / "answers.jsonl"))
    browser.type("input[name=assessor]", "model")
    browser.click("form[action='/import'] button")
    browser.wait("return document.querySelector('.good')?.textContent.includes('model (imported)')")
    assert judgement(shared_site, Key("model", "11", "a/tides")).highlights == (at("Twice a day"),)
    text = browser.run("return fetch('/export').then((answer) => answer.text())")
    assert text.count('"Twice a day"') == 1
    script = "return fetch(arguments[0]).then((answer) => answer.headers.get('Content-Disposition'))"
    assert "gold.zip" in browser.run(script, "/gold?assessor=model&format=trec-qrels"), "it names the import beside it"


def test_a_changed_text_is_shown_with_what_moves(site, desk):
    press(desk, "j", "j", "j", "s", "h")
    site.pages.put(page_from_xml("a/tides", ARTICLE.replace("Tides", "On the tides")))
    site.read(desk)
    desk.wait("return document.getElementById('notice').textContent.includes('1 of 1 highlights move')")
    assert desk.run("return desk.state.highlights") == [[22, 45]], "shown where its words are now"
    desk.click("#notice button")
    desk.wait("return window.desk?.state?.version === 2", seconds=15)
    assert judgement(site).highlights == ((22, 45),)


def test_the_history_of_a_judgement_leads_back_to_any_state(site, browser):
    site.let_in(browser)
    site.read(browser)
    browser.keys("j", "x", "j", "j", "x")
    browser.wait(
        "return document.getElementById('saving').textContent === 'Saved' && desk.state.highlights.length === 2"
    )
    browser.keys("v")
    browser.wait("return document.getElementById('history').open")
    told = browser.run(
        "return [...document.querySelectorAll('#history tbody tr')].map((row) => row.cells[3].textContent)"
    )
    assert told[1] == "highlight “Tides”"
    browser.run("window.before = true")
    browser.click("#history tbody tr:nth-child(2) button")
    browser.wait("return window.before === undefined && document.documentElement.dataset.ready")
    assert browser.run("return desk.state.highlights.length") == 1
    assert len(site.store.history(Key("ann", "11", "a/tides"))) == 3
