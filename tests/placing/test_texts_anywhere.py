"""Texts without a document: found in the whole collection as by looking into every document, one after another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.documents import open_documents
from focuseval.placing import texts
from focuseval.placing.normalise import normal_form
from focuseval.placing.texts import holders_of

WORDS = st.sampled_from(["tea", "pot ", " ", "é", "e\u0301", "“", '"', "ﬁ", "fi", "\n", "tea pot tea pot tea pot "])
TEXTS = st.lists(WORDS, max_size=6).map("".join)


def slowly(text, documents):
    """The rows of the documents that hold a text: word for word, else in normal form."""
    if not text:
        return []
    exact = [row for row, document in enumerate(documents) if text in document]
    form = normal_form(text)
    return exact or [row for row, document in enumerate(documents) if form and form in normal_form(document)]


@pytest.mark.parametrize("at_once", [1, 20, 1 << 22])
def test_texts_are_found_in_the_documents_that_hold_them(at_once, monkeypatch):
    monkeypatch.setattr(texts, "_SEARCHED", at_once)

    @given(st.lists(TEXTS, min_size=1, max_size=5), st.lists(TEXTS | st.none(), max_size=6))
    def same(documents, texts):
        row, number = holders_of(texts, open_documents({f"d{row}": text for row, text in enumerate(documents)}))
        truth = [slowly(text, documents) for text in texts]
        assert number.tolist() == [len(rows) for rows in truth]
        assert row.tolist() == [rows[0] if len(rows) == 1 else -1 for rows in truth]

    same()


def test_many_long_texts_are_found_by_hashes():
    documents = {f"d{i}": f"Page {i}. " + " ".join(f"word{i * j}" for j in range(2_000)) for i in range(120)}
    texts = [text[5_000:5_200] for text in documents.values()] + ["Page 7. word0", "is nowhere to be found at all"]
    truth = [slowly(text, list(documents.values())) for text in texts]
    row, number = holders_of(texts, open_documents(documents))
    assert number.tolist() == [len(rows) for rows in truth]
    assert row.tolist() == [rows[0] if len(rows) == 1 else -1 for rows in truth]


def test_a_text_over_the_end_of_a_document_is_in_none():
    assert holders_of(["end. Begin"], open_documents({"a": "The end. ", "b": "Begin."}))[1].tolist() == [0]
