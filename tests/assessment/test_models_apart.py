"""A model or an import beside people: shown, and in no figure that is about people."""

import re

import pytest

from focuseval.assessment.adjudication import decide
from focuseval.assessment.agreement import alpha, finished
from focuseval.assessment.plan import CONTROL, IMPORTED, MODEL, Assessor, Pooled, answers, mark_known, register, split
from focuseval.assessment.pool import Contributor, Pool, add_pool, describe_pool, project_pool
from focuseval.assessment.progress import Overview
from focuseval.assessment.store import Key
from strategies.assessing import mark, save

MACHINE = "model:llm@1f00ba12"


def judge(store, pages, name, document, *, relevant, topic="11"):
    page, key = pages.get(document), Key(name, topic, document)
    if relevant:
        save(store, mark(0, 5, text=page.text), key, page)
    save(store, {"kind": "finish", "relevant": relevant}, key, page)


@pytest.fixture
def campaign(together, pooled, pages):
    """Two people who agree about one document, and differ about another; a model and an import beside them."""
    for one in (Assessor("ann"), Assessor("bob"), Assessor(MACHINE, MODEL), Assessor("old", IMPORTED)):
        register(pooled, one)
    split(pooled, ["ann", "bob"], by="topics", overlap=2, actor="lea")
    for name, tides, plain in (
        ("ann", True, True),
        ("bob", True, False),
        (MACHINE, False, False),
        ("old", False, True),
    ):
        judge(pooled, pages, name, "a/tides", relevant=tides)
        judge(pooled, pages, name, "b/plain", relevant=plain)
    judge(pooled, pages, "ann", "c/other", relevant=True, topic="12")
    judge(pooled, pages, MACHINE, "c/other", relevant=False, topic="12")
    return together("lea")


def test_the_dashboard_counts_the_work_of_people_and_shows_models_apart(campaign):
    page = campaign.get("/dashboard").text
    assert "5 of 6 judgements done" in page
    people, others = page.split("<h2>Models and imports")
    assert MACHINE not in people
    assert MACHINE in others
    assert "old (imported)" in others
    assert re.search(r"<p>\d judgements? done</p>", campaign.get("/dashboard", assessor=MACHINE).text), "of no total"
    assert "2 of 2 judgements done" not in campaign.get("/dashboard", topic="12").text
    assert "1 of 2 judgements done" in campaign.get("/dashboard", topic="12").text


def test_a_document_of_two_people_is_disagreed_about_once_and_leads_to_it(campaign, pooled):
    page = campaign.get("/dashboard").text
    assert re.search(r"<strong>1</strong> <a href=\"([^\"]+)\">document disagreed about", page)
    address = re.search(r"<strong>1</strong> <a href=\"([^\"]+)\">document", page).group(1).replace("&amp;", "&")
    listed = campaign.get(address).text
    assert "b/plain" in listed
    assert "a/tides" not in listed
    assert {unit: sorted(names) for unit, names in Overview(pooled).disagreed().items()} == {
        ("11", "b/plain"): ["ann", "bob"]
    }


def test_what_one_person_and_a_model_judged_is_not_to_be_decided(campaign):
    assert "c/other" not in campaign.get("/adjudicate", state="").text
    assert "2 undecided" in campaign.get("/adjudicate").text


def test_alpha_is_of_people_alone(campaign, pooled):
    people = alpha(finished(pooled, by_people=True))
    assert people != pytest.approx(alpha(finished(pooled)))
    assert f"{people:.3f}" in campaign.get("/agreement").text


def test_a_run_that_is_pooled_twice_is_one_run(store):
    first, again = Contributor("bm25", "a.xml", "aa", depth=1), Contributor("bm25", "a.xml", "aa", batch=1, depth=2)
    add_pool(store, Pool((first,), (Pooled("1", "d1", by=(0,)),)), actor="lea")
    add_pool(store, Pool((again,), (Pooled("1", "d1", by=(0,)), Pooled("1", "d2", by=(0,)))), actor="lea")
    pool = project_pool(store)
    assert len(pool.contributors) == 2
    statistics = describe_pool(pool)
    assert (statistics.runs, statistics.brought, statistics.alone) == (("bm25",), (2,), (2,))


def test_the_page_of_agreement_says_who_marks_more_and_has_intervals(together, pooled, pages, monkeypatch):
    monkeypatch.setattr("focuseval.inference.agreement.FEWEST_TOPICS", 1)
    for name, end in (("ann", 5), ("bob", 10)):
        for topic, document in (("11", "a/tides"), ("11", "b/plain"), ("12", "c/other")):
            page, key = pages.get(document), Key(name, topic, document)
            save(pooled, mark(0, end, text=page.text), key, page)
            save(pooled, {"kind": "finish", "relevant": True}, key, page)
    page = together("lea").get("/agreement").text
    assert "Who marks more" in page
    assert "15 – 30" in page
    assert re.search(r"2\.00 <span class=\"id\">\[2\.00, 2\.00\]", page)


def test_who_made_the_known_answer_is_not_compared_with_it(pooled, pages):
    page = pages.get("a/tides")
    for name in ("ann", "bob", "cy"):
        judge(pooled, pages, name, "a/tides", relevant=name != "cy")
    decide(pooled, page, "11", "union", ["ann", "bob"], version=0, token="t-decide", actor="lea")
    mark_known(pooled, [("11", "a/tides")], CONTROL, actor="lea")
    assert [(one.assessor, one.right) for one in answers(pooled)] == [("cy", False)]
