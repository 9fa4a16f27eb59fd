"""The interface that the pages' scripts speak, and the pages themselves."""

import json
import re
from io import BytesIO
from zipfile import ZipFile

from focuseval.assessment.exchange import export_everything, import_everything
from focuseval.assessment.plan import Assessor, register, split
from focuseval.assessment.progress import Overview, moment_of
from focuseval.assessment.project import write_guidelines
from focuseval.assessment.store import Key, Store
from focuseval.data.fields import numbered_lines
from strategies.assessing import mark, save
from strategies.pages import ARTICLE, page_from_xml

from .conftest import HOST

PAGE = page_from_xml("a/tides", ARTICLE)
EDIT = mark(0, 5, text=PAGE.text)


def test_a_document_comes_with_blocks_elements_and_the_judgement(alone):
    alone.enter()
    loaded = alone.get("/api/document", topic="11", document="a/tides").json
    assert loaded["document"]["text"] == PAGE.text
    assert loaded["document"]["elements"]["path"][0] == "/article[1]"
    assert (loaded["state"]["version"], loaded["state"]["status"]) == (0, "todo")
    assert loaded["changed"] is None


def test_an_edit_answers_with_what_is_on_the_disk(alone, pooled):
    alone.enter()
    answer = alone.edit(EDIT)
    assert answer.status_code == 200
    assert answer.json["state"]["highlights"] == [[0, 5]]
    assert answer.json["state"]["entry_point"] == 0
    assert pooled.judgement(Key("ann", "11", "a/tides")).judgement.highlights == ((0, 5),)


def test_a_retry_is_answered_and_done_once(alone, pooled):
    alone.enter()
    assert alone.edit(EDIT).json == alone.edit(EDIT).json
    assert sum(event["assessor"] == "ann" for event in pooled.events()) == 1


def test_an_old_version_gives_409_with_the_newer_state(alone):
    alone.enter()
    alone.edit(EDIT)
    answer = alone.edit({"kind": "flag", "on": True}, token="token-0002")
    assert answer.status_code == 409
    assert answer.json["state"]["highlights"] == [[0, 5]]
    assert answer.json["state"]["version"] == 1


def test_a_refused_edit_gives_422_and_its_reason(alone):
    alone.enter()
    answer = alone.edit({"kind": "finish", "relevant": True})
    assert (answer.status_code, answer.json["error"]) == (422, "a relevant document needs at least one highlight")
    wrong = {**EDIT, "quote": "Tidos"}
    assert alone.edit(wrong).status_code == 422


def test_a_full_disk_gives_507(alone, pooled):
    alone.enter()
    writer = pooled.database._writer
    pages = writer.execute("PRAGMA page_count").fetchone()[0]
    writer.execute(f"PRAGMA max_page_count = {pages}")
    answer = alone.edit({"kind": "note", "text": "x" * 19_000})
    assert answer.status_code == 507
    assert "full" in answer.json["error"]


def test_a_changed_text_is_refused_offered_and_accepted(alone, pages):
    alone.enter()
    alone.edit(mark(15, 38, text=PAGE.text))
    pages.put(page_from_xml("a/tides", ARTICLE.replace("Tides", "On the tides")))
    refused = alone.edit({"kind": "flag", "on": True}, version=1, token="token-0002")
    assert (refused.status_code, refused.json["changed"]) == (409, True)
    offered = alone.get("/api/document", topic="11", document="a/tides").json["changed"]
    assert offered["complete"]
    assert offered["highlights"][0]["after"] == [22, 45]
    where = {"topic": "11", "document": "a/tides", "version": 1, "token": "token-0003"}
    moved = alone.post("/api/reanchor", where).json["state"]
    assert (moved["highlights"], moved["status"]) == ([[22, 45]], "in progress")
    undo = alone.edit({"kind": "undo"}, version=2, token="token-0004")
    assert undo.json["error"] == "there is nothing to undo"


def test_a_lost_highlight_is_shown_with_a_diff_and_dropped_only_on_request(alone, pages):
    alone.enter()
    alone.edit(mark(15, 38, text=PAGE.text))
    pages.put(page_from_xml("a/tides", ARTICLE.replace("pulls the sea", "draws the sea")))
    offered = alone.get("/api/document", topic="11", document="a/tides").json["changed"]
    assert any("draws the sea" in line for line in offered["highlights"][0]["diff"])
    where = {"topic": "11", "document": "a/tides", "version": 1, "token": "token-0003"}
    assert alone.post("/api/reanchor", where).status_code == 422
    assert alone.post("/api/reanchor", {**where, "drop_lost": True}).json["state"]["highlights"] == []


def test_the_lists_show_progress_and_the_next_document_is_the_next_undone(alone):
    alone.enter()
    assert "0 of 3 documents done" in alone.get("/").text
    alone.edit({"kind": "finish", "relevant": False})
    page = alone.get("/").text
    assert "1 of 3 documents done" in page
    assert "1 not relevant" in page
    assert alone.get("/next").location == "/read?topic=11&document=b%2Fplain"
    alone.edit({"kind": "skip"}, document="b/plain", token="token-0002")
    assert alone.get("/next", topic="11", document="a/tides").location == "/read?topic=12&document=c%2Fother"
    alone.edit({"kind": "finish", "relevant": False}, topic="12", document="c/other", token="token-0003")
    assert alone.get("/read", topic="11", document="b/plain").status_code == 200


def test_a_skipped_document_comes_back_when_everything_else_is_done(alone):
    alone.enter()
    alone.edit({"kind": "skip"})
    alone.edit({"kind": "skip"}, document="b/plain", token="token-0002")
    assert alone.get("/next", topic="11", document="a/tides").location == "/read?topic=12&document=c%2Fother"
    alone.edit({"kind": "finish", "relevant": False}, topic="12", document="c/other", token="token-0003")
    page = alone.get("/").text
    assert "1 of 3 documents done" in page
    assert "Everything is done but\n  2 documents that you skipped" in page
    assert "Thank you" not in page
    assert alone.get("/next", topic="11", document="a/tides").location == "/read?topic=11&document=b%2Fplain"
    assert alone.get("/next", topic="11", document="b/plain").location == "/read?topic=11&document=a%2Ftides"
    alone.edit({"kind": "finish", "relevant": False}, version=1, token="token-0004")
    assert alone.get("/next", topic="11", document="b/plain").location == "/?done=1"
    assert "Thank you" not in alone.get("/", done=1).text
    alone.edit({"kind": "finish", "relevant": False}, document="b/plain", version=1, token="token-0005")
    assert alone.get("/next").location == "/?done=1"
    assert "Thank you" in alone.get("/", done=1).text


def test_a_lead_opens_skipped_documents_again(together, pooled):
    ann, lea = together("ann"), together("lea")
    ann.edit({"kind": "skip"})
    register(pooled, Assessor("model:x@1", "model"))
    machine = Key("model:x@1", "11", "a/tides")
    save(pooled, {"kind": "finish", "relevant": False}, machine, PAGE)
    lea.learn("/work")
    sent = {"do": "reopen", "unit": json.dumps(["11", "a/tides"]), "topic": "11", "csrf": lea.csrf}
    answer = lea.post("/work", data=sent)
    assert answer.status_code == 302
    assert "Open again: 1 judgement." in lea.get("/work", topic="11").text
    assert pooled.judgement(Key("ann", "11", "a/tides")).judgement.status == "in progress"
    assert pooled.judgement(machine).judgement.finished, "no model looks at it again"


def test_two_assessors_are_adjudicated_with_a_union_and_then_by_hand(together, pooled):
    ann, bob, lea = together("ann"), together("bob"), together("lea")
    for client, span in ((ann, (15, 38)), (bob, (30, 60))):
        client.edit(mark(*span, text=PAGE.text))
        client.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    assert "0.18" in lea.get("/adjudicate").text
    sides = lea.get("/api/sides", topic="11", document="a/tides", **{"as": "adjudicated"}).json
    assert [side["label"] for side in sides["sides"]] == ["ann", "bob"]
    decision = {"topic": "11", "document": "a/tides", "version": 0, "token": "token-0005"}
    decided = lea.post("/api/decide", {**decision, "rule": "union", "of": ["ann", "bob"]}).json["decided"]
    assert (decided["highlights"], decided["status"]) == ([[15, 60]], "relevant")
    stale = lea.post("/api/decide", {**decision, "rule": "one", "of": ["bob"], "token": "token-0006"})
    assert stale.status_code == 409
    edited = lea.edit(mark(50, 60, "unhighlight", PAGE.text), version=1, token="token-0007", **{"as": "adjudicated"})
    assert edited.json["state"]["highlights"] == [[15, 50]]
    (event,) = [event for event in pooled.events() if event["edit"]["kind"] == "replace"]
    assert (event["actor"], event["edit"]["source"]) == ("lea", {"rule": "union", "of": ["ann", "bob"]})


def test_a_stale_decision_and_an_import_are_marked_for_the_adjudicator(together):
    ann, bob, lea = together("ann"), together("bob"), together("lea")
    for client, span in ((ann, (15, 38)), (bob, (40, 60))):
        client.edit(mark(*span, text=PAGE.text))
        client.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    line = {"topic": "11", "doc": "a/tides", "spans": [{"start": 0, "end": 5}], "assessor": "model"}
    lea.post("/import", data={"file": (_bytes(json.dumps(line)), "x.jsonl")}, content_type="multipart/form-data")
    assert [side["imported"] for side in _sides(lea)] == [False, False, True]
    decision = {"topic": "11", "document": "a/tides", "version": 0, "token": "token-0005"}
    refused = lea.post("/api/decide", {**decision, "rule": "intersection", "of": ["ann", "bob"]})
    assert refused.status_code == 422
    assert "their intersection is empty" in refused.json["error"]
    assert lea.post("/api/decide", {**decision, "rule": "union", "of": ["ann", "bob"]}).status_code == 200
    assert "stale:" not in lea.get("/adjudicate").text
    ann.edit({"kind": "note", "text": "No."}, version=2, token="token-0003")
    ann.edit({"kind": "finish", "relevant": True}, version=3, token="token-0004")
    assert "stale: ann changed" in lea.get("/adjudicate").text
    loaded = lea.get("/api/sides", topic="11", document="a/tides").json
    assert loaded["stale"] == ["ann"]


def test_a_lead_takes_one_gold_of_everyone(together):
    for name, document in (("ann", "a/tides"), ("bob", "b/plain")):
        client = together(name)
        client.edit({"kind": "finish", "relevant": False}, document=document)
    lea = together("lea")
    assert "everyone, by union" in lea.get("/exchange").text
    for rule in ("union", "majority"):
        told = lea.get("/gold", assessor=f"merge {rule}", format="trec-qrels").text
        assert told.split() == ["11", "0", "a/tides", "0", "11", "0", "b/plain", "0"]
    assert lea.get("/gold", assessor="merge nonsense", format="trec-qrels").status_code == 404


def test_a_lead_adjudicates_documents_that_are_not_hers_to_judge(together, pooled):
    for name in ("ann", "bob"):
        client = together(name)
        client.edit(mark(15, 38, text=PAGE.text))
        client.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    split(pooled, ["ann", "bob"], by="pool", overlap=2, actor="lea")
    lea = together("lea")
    assert lea.get("/api/document", topic="11", document="a/tides").status_code == 404
    assert len(lea.get("/api/sides", topic="11", document="a/tides").json["sides"]) == 2
    assert lea.get("/adjudicate/document", topic="11", document="a/tides").status_code == 200


def test_an_older_text_is_shown_as_such_and_not_decided_with(together, pages):
    ann, lea = together("ann"), together("lea")
    ann.edit(mark(15, 38, text=PAGE.text))
    ann.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    pages.put(page_from_xml("a/tides", ARTICLE.replace("Tides", "On the tides")))
    (side,) = lea.get("/api/sides", topic="11", document="a/tides").json["sides"]
    assert (side["status"], side["highlights"]) == ("judged an older text", [])
    decision = {"topic": "11", "document": "a/tides", "version": 0, "token": "token-0005", "rule": "one", "of": ["ann"]}
    assert "re-anchored" in lea.post("/api/decide", decision).json["error"]


def test_an_import_is_one_more_assessor_and_labelled_everywhere(together, pooled):
    lea = together("lea")
    line = {"topic": "11", "doc": "a/tides", "spans": [{"start": 14, "end": 37, "quote": PAGE.text[15:38]}]}
    data = {"assessor": "model", "file": (_bytes(json.dumps(line)), "answers.jsonl")}
    answer = lea.post("/import", data=data, content_type="multipart/form-data")
    assert ">1 judgement of model (imported) stored; 1 span moved" in answer.text
    assert pooled.judgement(Key("model", "11", "a/tides")).judgement.highlights == ((15, 38),)
    ann = together("ann")
    ann.edit(mark(15, 38, text=PAGE.text))
    ann.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    assert "ann – model (imported)" in lea.get("/agreement").text
    assert "model (imported)" in lea.get("/exchange").text
    (label,) = [side["label"] for side in _sides(lea) if side["assessor"] == "model"]
    assert label == "model (imported)"


def test_a_bad_import_changes_nothing_and_says_where(together, pooled):
    lea = together("lea")
    for line, complaint in (
        ('{"topic": "11"}', "x.jsonl:1"),
        ("not json", "x.jsonl:1"),
        ('{"topic":"99","doc":"a/tides","spans":[],"assessor":"m"}', "one of the project&#39;s topics"),
        ('{"topic":"11","doc":"a/tides","path":"/article[1]/p[77]","assessor":"m"}', "expected an element of a/tides"),
        ('{"topic":"11","doc":"a/tides","spans":[],"assessor":"\\ud800"}', "expected a JSON object"),
        ('{"topic":"11","doc":"nowhere","spans":[],"assessor":"m"}', "no document"),
        ('{"topic":"11","doc":"a/tides","spans":[{"start":0,"end":9999}],"assessor":"m"}', "inside"),
        ('{"topic":"11","doc":"a/tides","spans":[{"quote":"Nowhere at all"}],"assessor":"m"}', "nowhere"),
        ('{"topic":"11","doc":"a/tides","spans":[{"quote":"water"}],"assessor":"m"}', "more than once"),
    ):
        data = {"file": (_bytes(line), "x.jsonl")}
        answer = lea.post("/import", data=data, content_type="multipart/form-data")
        assert answer.status_code == 422
        assert complaint in answer.text
    assert pooled.judged() == []


def test_a_file_that_names_imported_judgements_comes_with_the_gold_that_cannot(together):
    lea = together("lea")
    line = {"topic": "11", "doc": "a/tides", "path": "/article[1]/title[1]", "assessor": "model"}
    lea.post("/import", data={"file": (_bytes(json.dumps(line)), "x.jsonl")}, content_type="multipart/form-data")
    with ZipFile(BytesIO(lea.get("/gold?assessor=model&format=trec-qrels").data)) as packed:
        assert packed.read("gold.qrels").split() == [b"11", b"0", b"a/tides", b"1"]
        assert json.loads(packed.read("gold.qrels.assessors.json"))["topics"] == {"11": "model (imported)"}


def test_everything_comes_out_and_goes_into_a_new_project(together, pooled, tmp_path):
    ann, lea = together("ann"), together("lea")
    ann.edit(mark(15, 38, text=PAGE.text))
    ann.edit(mark(38, 45, text=PAGE.text), version=1, token="token-0002")
    ann.edit({"kind": "undo"}, version=2, token="token-0003")
    exported = lea.get("/export").data
    copy = Store(tmp_path / "copy.db")
    count = import_everything(copy, numbered_lines(exported))
    assert count == len(list(pooled.events()))
    assert b"".join(export_everything(copy)) == exported
    copy.close()


def test_plain_text_with_emoji_is_cut_into_blocks_that_cover_it(alone):
    alone.enter()
    loaded = alone.get("/api/document", topic="11", document="b/plain").json["document"]
    pieces = [loaded["text"][start:end] for start, end, *_ in loaded["blocks"]]
    assert "".join(pieces) == loaded["text"]
    assert pieces[1] == "Second 🚢 paragraph.\r\nA line."


def test_an_unknown_page_is_one_line(alone):
    alone.enter()
    answer = alone.get("/nowhere")
    assert answer.status_code == 404
    assert "Traceback" not in answer.text


def _bytes(text):
    return BytesIO(text.encode())


def _sides(client):
    return client.get("/api/sides", topic="11", document="a/tides", **{"as": "adjudicated"}).json["sides"]


def test_pages_that_are_asked_for_at_once_after_the_link_have_one_token(alone):
    """Else each makes one, and the cookie that comes last puts the other pages out of date."""
    cookie = alone.get(f"/enter?token={alone.access.token}").headers["Set-Cookie"].partition(";")[0]
    tokens = set()
    for path in ("/", "/guidelines", "/read?topic=11&document=a/tides"):
        tab = alone.app.test_client(use_cookies=False)
        page = tab.get(path, base_url=f"http://{HOST}", headers={"Host": HOST, "Cookie": cookie})
        tokens |= set(re.findall(r'name="csrf" (?:value|content)="([^"]+)"', page.text))
    assert len(tokens) == 1


def test_a_lead_is_told_the_next_step_and_a_new_assessor_where_the_guidelines_are(together, pooled):
    lea, ann = together("lea"), together("ann")
    assert 'Next: <a href="/guidelines">write guidelines' in lea.get("/dashboard").text
    assert "read the guidelines" not in ann.get("/").text
    write_guidelines(pooled, "Highlight all.", version=0, actor="lea")
    assert "read the guidelines" in ann.get("/").text
    ann.edit({"kind": "flag", "on": True})
    assert 'Next: <a href="/flagged">decide about 1 flagged judgement' in lea.get("/dashboard").text
    lea.edit({"kind": "finish", "relevant": False}, **{"as": "adjudicated"})
    assert "flagged judgement" not in lea.get("/dashboard").text, "a decision answers the flag"


def test_an_edit_that_waited_in_a_browser_says_when_it_was_made(alone, pooled):
    alone.enter()
    alone.edit(EDIT, age=90_000)
    alone.edit({"kind": "flag", "on": True}, version=1, token="token-0002", age=50)
    alone.edit({"kind": "flag", "on": False}, version=2, token="token-0003", age="long")
    first, *others = [event for event in pooled.events() if event["assessor"] == "ann"]
    waited = moment_of(first["at"]) - moment_of(first["edit"]["made"])
    assert 89 < waited.total_seconds() < 120
    assert not any("made" in event["edit"] for event in others)
    assert pooled.timeline(Key("ann", "11", "a/tides")).now.highlights == ((0, 5),)
    pace = Overview(pooled)
    pace.rows()
    assert 89 < pace.seconds["ann", "11"] < 120, "the time between the edits as they were made"


def test_what_is_fetched_beforehand_sets_no_cookie(alone):
    alone.enter()
    path = "/read?topic=11&document=a/tides"
    asked = [
        alone.http.get(path, base_url=f"http://{HOST}", headers={"Host": HOST, "Purpose": why})
        for why in ("", "prefetch")
    ]
    assert ["Set-Cookie" in answer.headers for answer in asked] == [True, False]
    assert all(answer.status_code == 200 for answer in asked)


def test_the_documents_that_come_next_are_named_in_their_order(alone):
    alone.enter()
    found = alone.get("/api/upcoming", topic="11", document="a/tides").json["documents"]
    assert found == ["/read?topic=11&document=b%2Fplain", "/read?topic=12&document=c%2Fother"]
    assert alone.get("/worker.js").mimetype == "text/javascript"
