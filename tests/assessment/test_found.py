"""Documents outside of the pool: searched for, looked through by folders, judged, and counted apart."""

import pytest

from focuseval.assessment.exchange import export_everything, import_everything
from focuseval.assessment.plan import Pooled, add_to_pool, found_units, pool, split
from focuseval.assessment.store import Key, Store
from focuseval.assessment.web import Access, create_app
from focuseval.collection.documents import open_documents
from focuseval.collection.rendering import DocumentCache
from focuseval.data.fields import numbered_lines
from strategies.pages import TOPICS

from .conftest import HOST, Client

TEXTS = {"sea/a": "Tides follow the moon.", "sea/deep/b": "Tides <b>pull</b>.", "land/c": "Hills stand."}


@pytest.fixture
def people(store, users):
    add_to_pool(store, [Pooled("11", "sea/a"), Pooled("12", "land/c")], actor="lea")
    split(store, ["ann", "bob"], by="topics", actor="lea")
    access = Access(b"k" * 32, frozenset({HOST}), users=users)
    app = create_app(store, DocumentCache(open_documents(TEXTS)), TOPICS, access)

    def client(name):
        one = Client(app, access)
        one.log_in(name)
        return one

    return client


def test_a_document_that_no_run_returned_is_found_and_judged(people, store, tmp_path):
    ann, lea = people("ann"), people("lea")
    page = ann.get("/search", topic="11", q="tide").text
    assert "<strong>Tides</strong> follow" in page
    assert "&lt;b&gt;" in page
    assert page.count("in your pool") == 1
    answer = ann.post("/found", data={"topic": "11", "document": "sea/deep/b", "csrf": ann.csrf})
    assert answer.location == "/read?topic=11&document=sea/deep/b"
    done = ann.edit({"kind": "finish", "relevant": False}, document="sea/deep/b")
    assert done.status_code == 200
    assert "1 of 2 documents done" in ann.get("/").text
    assert found_units(store) == {("11", "sea/deep/b"): "ann"}
    assert "<strong>1</strong> found by assessors outside the pool" in lea.get("/dashboard").text
    why = lea.get("/adjudicate/document", topic="11", document="sea/deep/b").text
    assert "ann found it; no run returned it." in why
    assert ", 1 of them found by assessors" in lea.get("/pool").text
    again = Store(tmp_path / "again.db")
    import_everything(again, numbered_lines(b"".join(export_everything(store)).decode()))
    assert pool(again, "ann") == pool(store, "ann")
    again.close()


def test_folders_are_looked_through_with_the_way_back(people):
    ann = people("ann")
    assert ">sea/</a>" in ann.get("/search", topic="11").text
    page = ann.get("/search", topic="11", **{"in": "sea/deep"}).text
    assert "sea/deep/b" in page
    assert "land" not in page
    assert 'in=sea">sea</a> › <a' in page


def test_what_is_not_theirs_is_refused(people, store):
    ann, bob = people("ann"), people("bob")
    assert bob.get("/search", topic="11").status_code == 404
    assert bob.post("/found", data={"topic": "11", "document": "sea/deep/b", "csrf": bob.csrf}).status_code == 404
    nowhere = ann.post("/found", data={"topic": "11", "document": "no/where", "csrf": ann.csrf})
    assert (nowhere.status_code, "no document" in nowhere.text) == (422, True)
    assert "expected a word" in ann.get("/search", topic="11", q="the").text
    assert store.judgement(Key("ann", "11", "no/where")).version == 0
    assert found_units(store) == {}
