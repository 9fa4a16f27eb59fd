"""Documents in memory: read once, with or without their elements, and never too many."""

import pytest

from focuseval.collection import rendering
from focuseval.collection.documents import open_documents
from focuseval.collection.rendering import DocumentCache
from focuseval.errors import AssessError
from focuseval.example import ROOT


@pytest.fixture
def cache():
    return DocumentCache(open_documents(str(ROOT / "articles")))


def test_a_plain_document_is_the_same_text_without_elements(cache):
    whole, plain = cache.get("water/tide"), cache.plain("water/tide")
    assert (plain.id, plain.text, plain.sha256, plain.elements) == (whole.id, whole.text, whole.sha256, ())
    assert whole.elements
    assert cache.plain("water/tide") is plain
    assert cache.get("water/tide") is whole


def test_texts_that_are_read_least_make_room(cache, monkeypatch):
    names = ["water/tide", "water/rock-pool", "water/sounding"]
    sizes = [len(cache.get(name).text) for name in names]
    monkeypatch.setattr(rendering, "CHARACTERS", sum(sizes[1:]) + sizes[0] - 1)
    monkeypatch.setattr(rendering, "KEPT", 1)
    cache = DocumentCache(cache.index)
    kept = [cache.plain(name) for name in names]
    assert cache.plain(names[2]) is kept[2]
    assert cache.plain(names[1]) is kept[1]
    assert cache.plain(names[0]) is not kept[0]
    first = cache.get(names[0])
    cache.get("water/tide-table")
    assert cache.get(names[0]) is not first


@pytest.mark.parametrize("read", ["get", "plain"])
def test_an_unknown_document_is_refused(cache, read):
    with pytest.raises(AssessError, match=r"no document '\.\./secret'"):
        getattr(cache, read)("../secret")
