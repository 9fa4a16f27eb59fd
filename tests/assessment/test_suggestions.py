"""A model's highlights as suggestions: taken one by one or all at once, and never without a trace."""

import json

import pytest

from focuseval.assessment.golds import with_origins
from focuseval.assessment.plan import MODEL, Assessor, register
from focuseval.assessment.sampling import suggest_by, suggester, suggestions
from focuseval.assessment.store import Key
from focuseval.errors import AssessError

NAME = "model:tiny@1f00ba12"
ANN = Key("ann", "11", "b/plain")
SAVED = "return document.getElementById('saving').textContent === 'Saved'"
SPANS = ((0, 5), (13, 19))


@pytest.fixture
def judged(pooled, pages):
    """A model has judged one document and found two spans in it."""
    page = pages.plain("b/plain")
    register(pooled, Assessor(NAME, origin=MODEL))
    key = Key(NAME, "11", "b/plain")
    edits = [{"kind": "highlight", "start": s, "end": e, "quote": page.text[s:e]} for s, e in SPANS]
    for version, edit in enumerate([*edits, {"kind": "finish", "relevant": True}]):
        pooled.edit(key, page, edit, version=version, token=f"token-{version}")
    return pooled


def test_nothing_is_suggested_unless_it_was_asked_for(judged, pages):
    assert suggestions(judged, ANN, pages.plain("b/plain")) is None
    suggest_by(judged, "tiny", actor="lea")
    assert suggester(judged) == NAME
    assert suggestions(judged, ANN, pages.plain("b/plain")) == (NAME, SPANS)
    assert suggestions(judged, Key("ann", "12", "c/other"), pages.plain("c/other")) is None, (
        "the model did not judge it"
    )
    suggest_by(judged, "none", actor="lea")
    assert suggestions(judged, ANN, pages.plain("b/plain")) is None


def test_a_model_that_has_not_judged_is_refused_in_one_line(judged):
    with pytest.raises(AssessError, match=r"found 'other'; there are model:tiny@1f00ba12"):
        suggest_by(judged, "other", actor="lea")


def test_an_edit_beside_suggestions_is_logged_as_assisted(judged, together):
    suggest_by(judged, NAME, actor="lea")
    ann = together("ann")
    loaded = ann.get("/api/document", topic="11", document="b/plain").json
    assert loaded["suggested"] == [NAME, [list(span) for span in SPANS]]
    assert ann.get("/api/document", topic="11", document="a/tides").json["suggested"] is None
    assert ann.edit({"kind": "flag", "on": True}, document="b/plain").status_code == 200
    assert ann.edit({"kind": "flag", "on": True}, token="token-0002").status_code == 200
    logged = judged.database.read().execute("SELECT document, edit FROM events WHERE assessor = 'ann' ORDER BY seq")
    assert [(name, json.loads(edit).get("source")) for name, edit in logged] == [
        ("b/plain", {"assisted": NAME}),
        ("a/tides", None),
    ]
    assert with_origins(judged, {"11": {}, "12": {}}, "ann") == {"11": {"assisted": NAME}, "12": {}}


def test_the_guidelines_say_what_assistance_does(judged, together):
    assert "assisted" not in together("ann").get("/guidelines").text
    suggest_by(judged, NAME, actor="lea")
    assert "not counted\nas independent of the model" in together("ann").get("/guidelines").text


def test_suggestions_are_taken_one_by_one_waved_away_or_taken_all(judged, site, browser):
    suggest_by(judged, NAME, actor="lea")
    site.let_in(browser)
    site.read(browser, "b/plain")
    left = "return document.getElementById('suggested').textContent"
    assert browser.run(left) == f"2 suggested by {NAME}"
    browser.keys("+")
    browser.wait(SAVED)
    assert browser.run("return desk.state.highlights") == [list(SPANS[0])]
    browser.keys("-")
    browser.wait(f"{left}.startsWith('no more')")
    assert [tuple(span) for span in judged.judgement(ANN).judgement.highlights] == [SPANS[0]]
    browser.keys("u")  # what was taken is a highlight like any other
    browser.wait(SAVED)
    site.read(browser, "b/plain")
    browser.keys("*")
    browser.wait("return desk.state.highlights.length === 2")
    browser.wait(SAVED)
    assert judged.judgement(ANN).judgement.highlights == SPANS
    assert browser.errors() == []


def test_without_suggestions_their_keys_do_nothing_and_the_help_has_none(pooled, site, browser):
    site.let_in(browser)
    site.read(browser, "b/plain")
    browser.keys("+", "*", "-")
    assert browser.run("return desk.state.highlights") == []
    assert "suggestion" not in browser.run("return document.getElementById('keys').textContent")
    assert browser.run("return document.getElementById('suggested').hidden")
