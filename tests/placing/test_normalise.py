"""One form for what differs only in white space or spelling, with the way back to every code point."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.boundaries import code_points
from focuseval.placing.normalise import normal_form, normalise
from oracle.alignment import normal

TRICKY = st.text(st.sampled_from("ab \t\r\n\u00a0\u2003ée\u0301\u0323ﬁ½“”–\u200b\ufeff한नि🙂שלום\u00a8"), max_size=30)


@given(TRICKY | st.text(max_size=30))
def test_both_ways_to_the_normal_form_agree_with_the_slow_one(text):
    assert normalise(text).text == normal_form(text) == normal(text)


@given(TRICKY)
def test_every_character_knows_where_it_came_from(text):
    form = normalise(text)
    assert len(form.text) == len(form.source) == len(form.inside)
    assert (form.source[1:] >= form.source[:-1]).all()
    for at, character in zip(form.source.tolist(), form.text, strict=True):
        mark = unicodedata.combining(character) > 0
        assert mark or character in normal("x" + text[at] + "x")


@given(TRICKY, st.data())
def test_a_span_and_its_original_say_the_same(text, data):
    form = normalise(text)
    start = data.draw(st.integers(0, len(form.text)))
    end = data.draw(st.integers(start, len(form.text)))
    original = form.original(start, end)
    if original is not None:
        assert normal(text[slice(*original)]) == form.text[start:end].strip()


@pytest.mark.parametrize(
    ("one", "other"), [("café", "cafe\u0301"), ("a\r\nb", "a b"), ("“x”", '"x"'), ("1\u00a0%", "1 %")]
)
def test_texts_that_look_the_same_have_one_form(one, other):
    assert normal_form(one) == normal_form(other)


def test_a_match_that_would_cut_a_character_in_two_has_no_original():
    form = normalise("café ﬁn")
    assert form.original(0, 4) is None
    assert form.original(form.text.index("in"), len(form.text)) is None
    assert form.original(0, 5) == (0, 4)


def test_a_long_text_takes_the_table_and_says_the_same():
    text = "é “x” \u00a0– " * 20_000
    assert normalise(text).text == normal_form(text)


def test_marks_come_into_their_canonical_order():
    assert normalise("a\u0301\u0323b").text == "a\u0323\u0301b"


def test_characters_that_all_become_two_are_all_kept():
    assert normalise("éé").text == "e\u0301e\u0301"


def test_no_text_is_cut_before_a_mark_of_any_class():
    assert normalise("=\u0338").inside.tolist() == [False, True]  # a stroke through the sign: class 1


def test_half_of_a_surrogate_pair_is_a_character_like_others():
    assert code_points("a\ud800").tolist() == [0x61, 0xD800]
    assert normalise("a\ud800").text == "a\ud800"
