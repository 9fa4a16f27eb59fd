"""Topics and documents given out one by one, opened again, and moved to new texts; other people's work is safe."""

import json

import pytest

from focuseval.assessment.exchange import export_everything, import_everything
from focuseval.assessment.plan import ALSO, EVERYONE, ONLY, assign, authors_of, owners, pool, split
from focuseval.assessment.store import Key, Store
from focuseval.collection.rendering import Document
from focuseval.data.topics import Topic
from focuseval.errors import AssessError
from strategies.assessing import mark, save
from strategies.pages import ARTICLE, page_from_xml

PAGE = page_from_xml("a/tides", ARTICLE)
PLAIN = Document("b/plain", "First line.\n\nSecond 🚢 paragraph.\r\nA line.")


def theirs(store, name):
    return [row.document for row in pool(store, name)]


def test_a_topic_is_given_to_one_then_also_to_another_then_to_everyone(pooled):
    assign(pooled, [("11", "")], ["ann"], how=ONLY, actor="lea")
    assert (theirs(pooled, "ann"), theirs(pooled, "bob")) == (["a/tides", "b/plain", "c/other"], ["c/other"])
    assign(pooled, [("11", "")], ["bob"], how=ALSO, actor="lea")
    assert theirs(pooled, "bob") == ["a/tides", "b/plain", "c/other"]
    assign(pooled, [("11", "")], [], how=EVERYONE, actor="lea")
    assert owners(pooled) == []


def test_one_document_of_a_topic_goes_to_somebody_else_and_the_others_stay(pooled):
    assign(pooled, [("11", "")], ["ann"], how=ONLY, actor="lea")
    assign(pooled, [("11", "a/tides")], ["bob"], how=ONLY, actor="lea")
    assert (theirs(pooled, "ann"), theirs(pooled, "bob")) == (["b/plain", "c/other"], ["a/tides", "c/other"])


def test_what_somebody_has_begun_stays_theirs(pooled):
    assign(pooled, [("11", "")], ["ann"], how=ONLY, actor="lea")
    save(pooled, mark(0, 5, text=PAGE.text), Key("ann", "11", "a/tides"), PAGE)
    assign(pooled, [("11", "")], ["bob"], how=ONLY, actor="lea")
    assert theirs(pooled, "ann") == ["a/tides", "c/other"]
    assert theirs(pooled, "bob") == ["a/tides", "b/plain", "c/other"]


def test_what_is_everybody_s_is_also_theirs_already(pooled):
    assert assign(pooled, [("11", "")], ["ann"], how=ALSO, actor="lea") == 0
    assert theirs(pooled, "bob") == ["a/tides", "b/plain", "c/other"]


def test_nothing_is_given_to_nobody(pooled):
    with pytest.raises(AssessError, match="assessors"):
        assign(pooled, [("11", "")], [], how=ONLY, actor="lea")
    with pytest.raises(AssessError, match="assessors"):
        assign(pooled, [("11", "")], ["ann"], how=EVERYONE, actor="lea")


def test_the_log_alone_gives_the_assignments_back(pooled, tmp_path):
    split(pooled, ["ann", "bob"], by="pool", actor="lea")
    assign(pooled, [("11", "a/tides")], ["bob"], how=ONLY, actor="lea")
    copy = Store(tmp_path / "copy.db")
    import_everything(copy, enumerate(export_everything(pooled), 1))
    assert owners(copy) == owners(pooled)
    copy.close()


def unit(topic, document=""):
    return json.dumps([topic, document])


def give(client, **values):
    return client.post("/work", data={"do": "assign", "how": "only", "to": "bob", "unit": unit("11"), **values})


def test_a_lead_gives_a_topic_out_and_an_assessor_without_it_no_longer_reads_it(together, pooled):
    ann, bob, lea = together("ann"), together("bob"), together("lea")
    assert give(lea).status_code == 302
    assert ann.get("/read", topic="11", document="a/tides").status_code == 404
    assert ann.edit(mark(0, 5, text=PAGE.text)).status_code == 404
    assert bob.edit(mark(0, 5, text=PAGE.text)).status_code == 200
    assert pooled.judged("ann") == []


@pytest.mark.parametrize(
    ("values", "status"),
    [({"unit": unit("99")}, 404), ({"unit": unit("11", "x")}, 404), ({"unit": "11"}, 404), ({"to": "nobody"}, 404),
     ({"to": "adjudicated"}, 404), ({"how": "x"}, 422), ({"do": "x"}, 400), ({"unit": []}, 422),
     ({"do": "split", "overlap": "9"}, 422), ({"do": "split", "by": "x"}, 400), ({"do": "split", "overlap": "-1"}, 422),
     ({"do": "known", "use": "x"}, 422), ({"do": "known", "use": "training", "unit": unit("11", "a/tides")}, 422)],
)  # fmt: skip
def test_what_cannot_be_given_is_refused(together, pooled, values, status):
    together("bob")
    lea, before = together("lea"), len(list(pooled.events()))
    assert give(lea, **values).status_code == status
    assert len(list(pooled.events())) == before


def test_after_a_split_the_lead_sees_everyone_s_work(together, pooled):
    ann, lea = together("ann"), together("lea")
    together("bob")
    assert ">Topics</a>" in lea.get("/dashboard").text, "what nobody is given is the lead's, too"
    data = {"do": "split", "by": "topics", "overlap": "1", "to": ["ann", "bob"]}
    assert lea.post("/work", data=data).status_code == 302
    assert lea.get("/").location == "/dashboard"
    page = lea.get("/dashboard").text
    assert ">Topics</a>" not in page
    assert "ann" in page
    assert "bob" in page
    assert "0 of 3 judgements done" in page
    ann.edit(mark(0, 5, text=PAGE.text))
    ann.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    assert "1 of 3 judgements done" in lea.get("/dashboard").text
    assert "1 of 2 judgements done" in lea.get("/dashboard", assessor="ann").text
    assert "ann: relevant" in lea.get("/work", topic="11").text
    assert lea.get("/topic", topic="11").location == "/work?topic=11"
    assert lea.get("/dashboard", assessor="nobody").status_code == 404


def finished(client, span=(0, 5), **where):
    client.edit(mark(*span, text=PAGE.text), **where)
    return client.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002", **where)


def test_a_lead_opens_a_document_again_and_its_assessor_sees_why(together, pooled):
    ann, bob, lea = together("ann"), together("bob"), together("lea")
    for client in (ann, bob):
        assert finished(client).status_code == 200
    reopen = {"do": "reopen", "to": "ann", "unit": unit("11", "a/tides"), "reason": "<i>the second part</i>"}
    assert lea.post("/work", data=reopen).status_code == 302
    assert pooled.judgement(Key("ann", "11", "a/tides")).judgement.status == "in progress"
    assert pooled.judgement(Key("bob", "11", "a/tides")).judgement.finished
    page = ann.get("/read", topic="11", document="a/tides").text
    assert "lea opened this document again: &lt;i&gt;the second part" in page
    assert "opened this document again" not in bob.get("/read", topic="11", document="a/tides").text
    answer = ann.edit({"kind": "finish", "relevant": True}, version=2, token="token-0009")
    assert answer.status_code == 409, "an edit from before is shown the newer state"
    assert ann.edit({"kind": "finish", "relevant": True}, version=3, token="token-0010").status_code == 200
    assert "opened this document again" not in ann.get("/read", topic="11", document="a/tides").text


def test_documents_on_which_all_agree_are_accepted_at_once(together, pooled):
    ann, bob, lea = together("ann"), together("bob"), together("lea")
    for client in (ann, bob):
        finished(client)
        client.edit({"kind": "finish", "relevant": False}, document="b/plain", token="token-0003")
    ann.edit({"kind": "finish", "relevant": False}, document="c/other", topic="12", token="token-0004")
    assert "On 2 undecided documents" in lea.get("/adjudicate").text
    assert lea.post("/adjudicate/agreed", data={"least": "1", "rule": "union"}).status_code == 302
    decided = {key.document: pooled.judgement(key).judgement for key in pooled.judged("adjudicated")}
    assert {name: one.status for name, one in decided.items()} == {"a/tides": "relevant", "b/plain": "not relevant"}
    assert decided["a/tides"].highlights == ((0, 5),)
    assert {event["actor"] for event in pooled.events() if event["assessor"] == "adjudicated"} == {"lea"}
    assert lea.get("/adjudicate/next").location == "/adjudicate"


def test_less_agreement_is_accepted_only_when_asked_and_a_wrong_number_never(together, pooled):
    ann, bob, lea = together("ann"), together("bob"), together("lea")
    finished(ann, (0, 10))
    finished(bob, (0, 8))
    for data, status in (({"least": "1"}, 302), ({"least": "0.9"}, 302), ({"least": "x"}, 422), ({"least": "nan"}, 422),
                         ({"least": "0.1"}, 422), ({"rule": "one"}, 422)):  # fmt: skip
        assert lea.post("/adjudicate/agreed", data=data).status_code == status
        assert pooled.judged("adjudicated") == []
    lea.post("/adjudicate/agreed", data={"least": "0.8", "rule": "intersection"})
    assert pooled.judgement(Key("adjudicated", "11", "a/tides")).judgement.highlights == ((0, 8),)


def test_the_next_document_is_the_undecided_one_with_the_least_agreement(together):
    ann, bob, lea = together("ann"), together("bob"), together("lea")
    for client in (ann, bob):
        finished(client)
    for client, relevant in ((ann, True), (bob, False)):
        where = {"document": "c/other", "topic": "12"}
        if relevant:
            client.edit({"kind": "highlight", "start": 0, "end": 7, "quote": "Nothing"}, token="token-0003", **where)
        client.edit({"kind": "finish", "relevant": relevant}, token="token-0004", version=int(relevant), **where)
    assert "document=c/other" in lea.get("/adjudicate/next", topic="11", document="b/plain").location
    assert lea.get("/adjudicate/next", topic="12", document="c/other").location == "/adjudicate", (
        "all agree on the rest"
    )
    page = lea.get("/adjudicate/document", topic="11", document="a/tides").text
    assert "Why it is here" in page
    assert "&#34;new moon&#34;" in page or "new moon" in page


def test_many_judgements_move_to_their_new_text_at_once(together, pooled, pages):
    ann, bob, lea = together("ann"), together("bob"), together("lea")
    finished(ann, (15, 38))
    finished(bob, (0, 5))
    pages.put(page_from_xml("a/tides", ARTICLE.replace("Tides", "On seas")))
    page = lea.get("/texts").text
    assert "2 judgements of a text" in page
    assert "Move 1 judgement" in page
    assert lea.post("/texts", data={"finished": "yes"}).status_code == 302
    moved = pooled.judgement(Key("ann", "11", "a/tides")).judgement
    assert (moved.highlights, moved.status) == (((17, 40),), "relevant")
    assert pooled.judgement(Key("bob", "11", "a/tides")).text_sha256 == PAGE.sha256, "its highlight is lost"
    last = list(pooled.events())[-1]
    assert (last["actor"], last["assessor"]) == ("lea", "ann")


def test_moved_judgements_are_open_again_unless_the_lead_says_otherwise(together, pooled, pages):
    finished(together("ann"), (15, 38))
    pages.put(page_from_xml("a/tides", ARTICLE.replace("Tides", "On seas")))
    together("lea").post("/texts", data={"x": ""})
    assert pooled.judgement(Key("ann", "11", "a/tides")).judgement.status == "in progress"


def test_a_topic_goes_to_its_author_and_the_others_in_turn(pooled):
    topics = (Topic("11", "CO", extra={"author": "cy"}), Topic("12", "CO", attributes={"author": "nobody here"}))
    assert authors_of(topics) == {"11": "cy", "12": "nobody here"}
    split(pooled, ["ann", "bob", "cy"], by="authors", authors=authors_of(topics), actor="lea")
    assert owners(pooled) == [("11", "", "cy"), ("12", "", "bob")]
    split(pooled, ["ann", "bob", "cy"], by="authors", overlap=2, authors=authors_of(topics), actor="lea")
    assert {name for topic, _, name in owners(pooled) if topic == "11"} == {"cy", "ann"}
    split(pooled, ["ann", "bob", "cy"], by="topics", authors=authors_of(topics), actor="lea")
    assert owners(pooled) == [("11", "", "ann"), ("12", "", "bob")]
