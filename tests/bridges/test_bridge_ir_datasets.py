"""A collection that the user has looks like one of ir_datasets."""

import sys

import pytest

import focuseval as fe
from focuseval.bridges import ir_datasets as bridge
from focuseval.errors import MissingDataError
from focuseval.example import ROOT

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages and their imports


@pytest.fixture(scope="module")
def dataset():
    pytest.importorskip("ir_datasets", reason="ir_datasets is not installed: see the dependency group 'bridges'")
    return bridge.inex(ROOT / "articles", ROOT / "topics.xml", ROOT / "gold" / "assessments", name="inex/example")


def test_documents_come_with_their_elements():
    index = fe.open_documents(ROOT / "articles")
    (document,) = bridge.documents_in(index, index.find(["water/tide"]).tolist())
    assert (document.doc_id, document.elements[0].path) == ("water/tide", "/article[1]")
    assert document.default_text() == document.text == index.text(int(index.find(["water/tide"])[0]))
    name = next(element for element in document.elements if element.tag == "name")
    assert document.text[name.start : name.end] == "Tide"


def test_topics_are_queries():
    query = next(bridge.queries_in(fe.read_topics(ROOT / "topics.xml")))
    assert (query.query_id, query.default_text()) == ("101", "cause of +spring and +neap tides")


def test_judgements_are_passages_elements_and_documents_with_nothing_relevant():
    gold = fe.read_gold(ROOT / "gold" / "assessments", index=fe.open_documents(ROOT / "articles"))
    qrels = list(bridge.qrels_in(gold))
    passages = [q for q in qrels if q.start >= 0]
    elements = [q for q in qrels if q.path]
    assert len(passages) == len(gold.passages.start)
    assert len(elements) == len(gold.elements.path)
    assert {q.relevance for q in passages} == {1}
    assert all(q.relevance > 0 for q in elements if q.rsize > 0)
    relevant = {(q.query_id, q.doc_id) for q in passages}
    assert not relevant & {(q.query_id, q.doc_id) for q in qrels if q.relevance == 0 and not q.path}


def test_the_dataset_answers_what_ir_datasets_asks(dataset):
    assert dataset.docs_count() == len(list(dataset.docs_iter())) == 17
    assert dataset.docs_store().get("water/tide").doc_id == "water/tide"
    assert list(dataset.docs_store().get_many(["water/tide", "nowhere"])) == ["water/tide"]
    assert len(list(dataset.queries_iter())) == len(dataset.queries_dict()) == 6
    assert {qrel.relevance for qrel in dataset.qrels_iter()} <= set(dataset.qrels_defs())
    assert (dataset.docs_cls(), dataset.queries_cls(), dataset.qrels_cls()) == (
        bridge.InexDoc, bridge.InexQuery, bridge.InexQrel,
    )  # fmt: skip


def test_a_named_dataset_is_loaded_by_its_name(dataset):
    loaded = pytest.importorskip("ir_datasets").load("inex/example")
    assert loaded.docs_count() == 17
    assert loaded.has_qrels()


def test_what_is_not_given_is_absent(dataset):
    assert not bridge.inex(ROOT / "articles").has_qrels()


def test_without_ir_datasets_a_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingDataError, match="pip install ir_datasets"):
        bridge.inex(ROOT / "articles")
