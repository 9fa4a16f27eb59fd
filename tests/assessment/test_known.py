"""Documents with known answers: for training, as controls; nobody sees an answer before they have given theirs."""

import pytest

from focuseval.assessment.plan import (
    Assessor,
    KnownAnswer,
    answers,
    drifts,
    known_units,
    mark_known,
    pool,
    register,
    split,
)
from focuseval.assessment.project import guidelines, render_markdown, write_guidelines
from focuseval.assessment.store import Key
from focuseval.errors import AssessError
from strategies.assessing import mark, save
from strategies.pages import ARTICLE, page_from_xml

PAGE = page_from_xml("a/tides", ARTICLE)
UNIT = ("11", "a/tides")


def decide(store, start=0, end=10):
    key = Key("adjudicated", *UNIT)
    save(store, mark(start, end, text=PAGE.text), key, PAGE, actor="lea")
    save(store, {"kind": "finish", "relevant": True}, key, PAGE, actor="lea")


@pytest.fixture
def trained(pooled):
    for name in ("ann", "bob"):
        register(pooled, Assessor(name))
    split(pooled, ["ann", "bob"], by="topics", actor="lea")
    decide(pooled)
    mark_known(pooled, [UNIT], "training", actor="lea")
    return pooled


def test_an_answer_has_to_be_known(pooled):
    with pytest.raises(AssessError, match="decide it first"):
        mark_known(pooled, [UNIT], "training", actor="lea")
    assert known_units(pooled) == {}


def test_a_training_document_is_everybody_s_and_a_control_its_topic_s(trained):
    assert [row.document for row in pool(trained, "bob")] == ["a/tides", "c/other"]
    mark_known(trained, [UNIT], "control", actor="lea")
    assert known_units(trained) == {UNIT: "control"}
    mark_known(trained, [UNIT], "", actor="lea")
    assert known_units(trained) == {}


def test_a_control_document_is_not_given_to_those_who_do_not_judge_its_topic(pooled):
    for name in ("ann", "bob"):
        register(pooled, Assessor(name))
    split(pooled, ["ann", "bob"], by="topics", actor="lea")
    decide(pooled)
    mark_known(pooled, [UNIT], "control", actor="lea")
    assert [row.document for row in pool(pooled, "bob")] == ["c/other"]


def test_training_comes_first_and_its_answer_after_it(together, trained):
    bob = together("bob")
    assert "1 training document" in bob.get("/").text
    assert "document=a%2Ftides" in bob.get("/next").location
    where = {"topic": "11", "document": "a/tides"}
    for path in ("/training/document", "/api/training"):
        assert bob.get(path, **where).status_code == 403, "the answer is not shown before one's own"
    bob.edit(mark(0, 5, text=PAGE.text))
    bob.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    told = bob.get("/api/training", **where).json
    assert [side["highlights"] for side in told["sides"]] == [[[0, 5]], [[0, 10]]]
    assert told["sides"][1]["label"] == "known answer"
    page = bob.get("/training").text
    assert "right" in page
    assert "0.50" in page
    assert "document=c%2Fother" in bob.get("/next").location
    assert "Decide" not in bob.get("/training/document", **where).text


def test_only_the_first_answer_counts(together, trained):
    bob = together("bob")
    bob.edit(mark(0, 5, text=PAGE.text))
    bob.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    bob.edit(mark(5, 10, text=PAGE.text), version=2, token="token-0003")
    bob.edit({"kind": "finish", "relevant": True}, version=3, token="token-0004")
    (answer,) = answers(trained)
    assert (answer.assessor, answer.right, answer.jaccard) == ("bob", True, 0.5)


def test_nobody_sees_the_answer_of_a_control_document_or_of_an_ordinary_one(together, trained):
    ann = together("ann")
    mark_known(trained, [UNIT], "control", actor="lea")
    ann.edit(mark(0, 5, text=PAGE.text))
    ann.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    for path in ("/training/document", "/api/training"):
        assert ann.get(path, topic="11", document="a/tides").status_code == 404
        assert ann.get(path, topic="11", document="c/other").status_code == 404
    for path in ("/", "/topic?topic=11", "/read?topic=11&document=a/tides", "/training"):
        assert "control" not in ann.get(path).text.replace("aria-controls", "")
    assert ann.get("/quality").status_code == 403
    page = together("lea").get("/quality").text
    assert "1 control document:" in page
    assert "ann" in page


def test_who_comes_later_is_given_the_training_documents_but_a_lead_is_not(together, pooled):
    register(pooled, Assessor("ann"))
    split(pooled, ["ann"], by="topics", actor="lea")
    decide(pooled)
    mark_known(pooled, [UNIT], "training", actor="lea")
    together("bob")
    assert [row.document for row in pool(pooled, "bob")] == ["a/tides"]
    assert together("lea").get("/").location == "/dashboard"


def test_a_new_split_keeps_the_training_documents(together, trained):
    together("lea").post("/work", data={"do": "split", "by": "topics", "overlap": "1", "to": ["ann", "bob"]})
    assert "a/tides" in [row.document for row in pool(trained, "bob")]


def test_drift_is_the_later_half_less_the_earlier():
    found = [
        KnownAnswer("ann", "1", f"d{k}", "control", str(k), True, share) for k, share in enumerate((1.0, 0.8, 0.5, 0.3))
    ]
    (drift,) = drifts(found)
    assert drift.mean == pytest.approx(0.65)
    assert drift.change == pytest.approx(-0.5)
    assert drifts(found[:3])[0].change is None


def test_guidelines_are_versions_and_nobody_overwrites_another_s(store):
    assert guidelines(store).version == 0
    first = write_guidelines(store, "# Be kind", version=0, actor="lea")
    assert (first.version, first.by) == (1, "lea")
    with pytest.raises(AssessError, match="lea changed the guidelines"):
        write_guidelines(store, "# Be strict", version=0, actor="kim")
    assert write_guidelines(store, "# Be kind", version=1, actor="kim").version == 1, "the same text is no version"


@pytest.mark.parametrize(
    ("text", "never"),
    [("<script>alert(1)</script>", "<script"), ("[x](javascript:alert(1))", 'href="javascript'),
     ("[x](data:text/html;base64,PHNjcmlwdD4=)", 'href="data'), ("<img src=x onerror=alert(1)>", "<img"),
     ("![x](https://evil.example/track.png)", "<img"), ("[x](JaVaScRiPt:alert(1))", 'href="Ja'),
     ("<a href='vbscript:x'>y</a>", "<a href"), ("[a]: javascript:x\n[a]", 'href="javascript'),
     ('[x](https://e.example/"onmouseover="alert(1))', '"onmouseover'), ("`<b>`", "<b>"),
     ("&lt;script&gt;", "<script")],
)  # fmt: skip
def test_markup_and_scripts_in_guidelines_are_shown_and_not_obeyed(text, never):
    assert never not in render_markdown(text)


def test_everybody_reads_the_guidelines_and_a_lead_writes_them(together):
    ann, lea = together("ann"), together("lea")
    assert lea.post("/guidelines", data={"text": "# Read *all*\r\n<b>x</b>", "version": "0"}).status_code == 302
    page = ann.get("/guidelines").text
    assert "<h1>Read <em>all</em></h1>" in page
    assert "<b>x" not in page
    assert "<textarea" not in page
    refused = lea.post("/guidelines", data={"text": "mine", "version": "0"})
    assert refused.status_code == 422
    assert ">mine</textarea>" in refused.text, "what was written is not lost"
    assert lea.post("/guidelines", data={"text": "x" * 200_001, "version": "1"}).status_code == 422


def test_what_is_judged_under_a_known_answer_is_nothing_to_decide(together, trained):
    for name in ("ann", "bob"):
        save(trained, mark(0, 5, text=PAGE.text), Key(name, *UNIT), PAGE)
        save(trained, {"kind": "finish", "relevant": True}, Key(name, *UNIT), PAGE)
    write_guidelines(trained, "Highlight.", version=0, actor="lea")
    lea = together("lea")
    assert "Next:" not in lea.get("/dashboard").text
    assert lea.get("/api/sides", topic="11", document="a/tides").json["stale"] == []
    mark_known(trained, [UNIT], "", actor="lea")
    assert "decide 1 document that several have finished" in lea.get("/dashboard").text
