"""Every place of many texts: hashing finds what sliding finds, and never more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.boundaries import code_points
from focuseval.placing import occurrences as module
from focuseval.placing.occurrences import find_all, occurrences
from oracle.alignment import all_starts

FEW = st.text("ab", max_size=120)


@given(FEW, st.lists(st.text("ab", max_size=20), max_size=6))
def test_plain_search_finds_all_places_overlapping_ones_too(document, texts):
    assert occurrences(document, texts) == [all_starts(document, text) for text in texts]


@given(
    st.text("ab \u00e9🙂", min_size=16, max_size=200),
    st.lists(st.tuples(st.integers(0, 150), st.integers(16, 60)), max_size=8),
)
def test_hashing_finds_the_same(document, cuts):
    texts = [document[at : at + size] for at, size in cuts] + ["a" * 16, "ab" * 9, "b"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_DIRECT", -1)
        assert occurrences(document, texts) == [all_starts(document, text) for text in texts]


def test_a_hash_that_agrees_by_chance_decides_nothing(monkeypatch):
    monkeypatch.setattr(module, "_DIRECT", -1)
    monkeypatch.setattr(module, "gram_hashes", lambda codes, size=16: codes[..., : codes.shape[-1] - size + 1] * 0)
    monkeypatch.setattr(module, "even_hashes", lambda codes: codes[: len(codes) // 2 - 7] * 0)
    document = "the quick brown fox jumps over the lazy dog"
    assert occurrences(document, [document[4:24], "x" * 20]) == [[4], []]


def test_a_text_longer_than_the_document_is_nowhere(monkeypatch):
    monkeypatch.setattr(module, "_DIRECT", -1)
    assert occurrences("short", ["much longer than the document"]) == [[]]
    assert occurrences("", ["x"]) == [[]]


def test_a_document_of_one_letter_has_a_text_everywhere():
    assert find_all("aaaa", "aa") == [0, 1, 2]


def test_texts_are_found_wherever_a_long_document_is_cut_into_blocks(monkeypatch):
    monkeypatch.setattr(module, "_DIRECT", -1)
    document = "".join(map(chr, range(0x100, 0x100 + 250))) * 280  # 70,000 characters: three blocks
    texts = [document[at : at + 251] for at in (0, 100)] + ["short"]
    assert occurrences(document, texts) == [list(range(0, 69_750, 250)), list(range(100, 69_750, 250)), []]
    once = [document[: 1 << 15] + mark + document[1 << 15 :] for mark in ("#" * 20, "%" * 9 + "#" * 11)]
    for longer in once:
        near = [longer[(1 << 15) + move : (1 << 15) + move + 40] for move in range(-45, 25, 5)]
        assert occurrences(longer, near) == [find_all(longer, text) for text in near]


def test_short_texts_alone_need_no_hashes(monkeypatch):
    monkeypatch.setattr(module, "_DIRECT", -1)
    assert occurrences("some text that is long enough", ["text", "t"]) == [[5], [5, 8, 10, 13]]


@given(st.text(st.characters(codec="utf-32"), min_size=16, max_size=60))
def test_the_hashes_of_even_places_are_every_second_of_all(text):
    codes = code_points(text)
    assert module.even_hashes(codes).tolist() == module.gram_hashes(codes)[::2].tolist()
