"""Words are cut by the page's rules, in C and in Python alike."""

from unicodedata import category
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval import open_documents
from focuseval.collection import boundaries as split
from focuseval.collection.boundaries import DENSE, LETTER, MARK, OTHER, WITHOUT_BLANKS, kinds
from focuseval.engine import native
from focuseval.retrieval.terms import Language, languages, stop_words
from oracle import retrieval as slow

CHARACTERS = "ab7é_-' \n漢字ก็ไहि\u0301\u3099\u3005\u4e00\U00020000\u200d\u00ad²٣"


def test_the_table_of_all_code_points_is_that_of_unicodedata():
    plain = [{"L": LETTER, "N": LETTER, "M": MARK}.get(category(chr(code))[0], OTHER) for code in range(0x110000)]
    for low, high in WITHOUT_BLANKS:
        plain[low : high + 1] = [kind and kind + DENSE - LETTER for kind in plain[low : high + 1]]
    assert kinds().tolist() == plain


@given(st.text(st.one_of(st.sampled_from(CHARACTERS), st.characters(codec="utf-8"))))
def test_words_are_those_of_the_slow_twin(text):
    assert list(split.spans(text)) == list(slow.split(text))


@given(st.lists(st.text(st.sampled_from(CHARACTERS)), min_size=1, max_size=4))
def test_compiled_words_are_those_of_python(texts):
    if native.library() is None:
        pytest.skip("no compiled library")
    [block] = open_documents({f"d{number}": text for number, text in enumerate(texts)}).blocks
    quick = split.cut_block(block)
    with mock.patch.object(native, "library", return_value=None):
        plain = split.cut_block(block)
    for name in ("start", "end", "number", "bounds"):
        assert getattr(quick, name).tolist() == getattr(plain, name).tolist()
    assert quick.distinct.to_pylist() == plain.distinct.to_pylist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("2010年漢字", ["2010", "年漢", "漢字"]),
        ("ไม่", ["ไม่"]),
        ("snake_case", ["snake", "case"]),
        ("か\u3099く", ["か\u3099く"]),
    ],
)
def test_scripts_are_cut_as_the_page_says(text, expected):
    assert split.words(text) == expected


def test_every_language_of_snowball_makes_terms():
    for name in languages():
        assert Language(name).numbers(["x1"]) == [0]


def test_stop_words_are_cut_as_texts_are():
    assert {"don", "t", "the"} <= stop_words("english")
    assert stop_words("hindi") == frozenset()
