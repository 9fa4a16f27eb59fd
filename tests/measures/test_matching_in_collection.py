"""Documents of run and gold meet in a collection, by whichever table; where they are not in it, by their names."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from building import gold_of, run_of
from focuseval.engine.native import hash64
from focuseval.errors import FormatError
from focuseval.evaluation.sources import as_index
from focuseval.measures.document_matching import document_codes, shares_documents
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare

COLLECTION = {"x/a": "a", "x/b": "bb", "x/only": "ccc"}
GOLD = {
    "t": {"x/a": {"grade": 1}, "b": {"grade": 1}, "x/b": {"grade": 1}, "gone": {"grade": 1}},
    "u": {"x/a": {"grade": 1}},
}
NAMED = {
    "t": {"x/a": {"grade": 1}, "b": {"grade": 1}, "gone": {"grade": 1}},
    "u": {"x/a": {"grade": 1}, "x/b": {"grade": 1}},
}
RUN = {"t": ["a", "b", "x/b", "gone.md", "only", "stranger", "other", "stranger"], "u": ["x/a", "gone", "a"]}
"""``b`` and ``x/b`` are one document; ``gone`` is not in the collection."""

TABLES = pytest.mark.parametrize("cells", [0, 8], ids=["keys", "table"])


@TABLES
def test_a_document_of_the_collection_has_its_judgement_under_any_of_its_names(cells, monkeypatch):
    monkeypatch.setattr("focuseval.measures.document_matching._CELLS", cells)
    found = match(run_of(RUN | {"u": ["x/a", "gone", "b"]}), prepare(gold_of(NAMED), as_index(COLLECTION)))
    assert found.known.tolist() == [0, 1, 1, 2, -1, -1, -1, -1, 3, -1, 4]
    assert found.article.tolist() == [0, 1, 1, 2, 5, 6, 7, 6, 3, 9, 4]
    assert found.documents.distinct is False


@pytest.mark.parametrize("other", ["b", "x/b"])
def test_every_topic_may_name_a_document_as_it_likes(other):
    gold = gold_of({"t": {"x/b": {"spans": [(0, 1)]}}, "u": {other: {"spans": [(1, 2)]}}})
    m = match(run_of({"t": [("b", 0, 1)], "u": [("b", 0, 2)]}), prepare(gold, as_index(COLLECTION)))
    assert m.new_rsize.tolist() == [1, 1]
    assert m.prepared.numrel.tolist() == [1, 1]


def test_a_topic_that_names_a_document_twice_is_refused():
    with pytest.raises(
        FormatError, match="topic 't': expected one id for a document, found 'b' and 'x/b', which are one"
    ):
        prepare(gold_of(GOLD), as_index(COLLECTION))


@TABLES
def test_distinct_ids_lead_to_the_same_articles(cells, monkeypatch):
    monkeypatch.setattr("focuseval.measures.document_matching._CELLS", cells)
    run = run_of({"t": ["b", "c", "x/b", "d", "c"], "u": ["b", "x/a", "c"]})
    found = match(replace(run, document=run.document.dictionary_encode()), prepare(gold_of(GOLD)))
    assert found.known.tolist() == [1, -1, 2, -1, -1, -1, 4, -1]
    assert found.documents.group().tolist() == [0, 1, 0, 3, 4]
    assert found.documents.distinct is False


def test_an_id_has_the_code_of_the_gold_s_document_that_it_means():
    ids = pa.array(["a", "x/b", "b", "gone.xml", "only", "stranger"])
    assert document_codes(ids, prepare(gold_of(NAMED), as_index(COLLECTION))).tolist() == [2, 0, 0, 1, -1, -1]
    assert document_codes(ids, prepare(gold_of(GOLD))).tolist() == [-1, 3, 0, 1, -1, -1]


@pytest.mark.parametrize(("ids", "shares"), [(["b"], True), (["other", "x/a"], True), (["other"], False)])
def test_one_document_in_common_is_enough(ids, shares):
    assert shares_documents(match(run_of({"t": ids}), prepare(gold_of(GOLD)))) is shares


def test_documents_with_promised_keys_are_all_different():
    run = run_of({"t": ["c", "x/a", "b", "d"], "u": ["x/a", "c"]})
    found = match(replace(run, keys=hash64(run.document)), prepare(gold_of(GOLD)))
    assert found.documents.distinct is True
    assert found.article.tolist() == [5, 0, 1, 6, 4, 7]


def test_the_text_of_an_article_is_counted_in_integers():
    gold = gold_of({"t": {"a": {"spans": [(0, 4)]}}})
    m = match(run_of({"t": [("a", 0, 5), ("b", 0, 3), ("a", 3, 8)]}), prepare(gold))
    size, relevant = m.by_article(m.cost), m.by_article(m.new_rsize)
    assert (size.tolist(), relevant.tolist()) == ([8, 3], [4, 0])
    assert size.dtype == relevant.dtype == np.int64
