"""Texts of one document, each with its place, how it was found, the similarity and the number of places."""

import pytest

from focuseval.data.placement import AMBIGUOUS, APPROXIMATE, EXACT, LOST, NORMALISED
from focuseval.placing.page import Page, Placed, Wanted, place

TWICE = "one two one"
NOWHERE = Placed(-1, -1, LOST, 0.0, 0)


def placed(document, *wanted, similarity=0.9):
    return place(Page(document), wanted, similarity)


def test_a_text_that_stands_once_is_placed_there():
    assert placed(TWICE, Wanted("two")) == [Placed(4, 7, EXACT, 1.0, 1)]


def test_a_text_that_stands_twice_or_nowhere_has_no_place():
    assert placed(TWICE, Wanted("one"), Wanted("four")) == [Placed(-1, -1, AMBIGUOUS, 1.0, 2), NOWHERE]


@pytest.mark.parametrize("start", [0, 8])
def test_a_claim_that_the_document_confirms_is_the_only_place(start):
    assert placed(TWICE, Wanted("one", start)) == [Placed(start, start + 3, EXACT, 1.0, 1)]


def test_a_chunk_in_order_is_placed_by_its_neighbours_and_then_nearest_to_its_claim():
    assert placed(TWICE, Wanted("one", order=0), Wanted("two", order=1))[0] == Placed(0, 3, EXACT, 1.0, 2)
    assert placed(TWICE, Wanted("one", 0, 3, order=0)) == [Placed(0, 3, EXACT, 1.0, 2)]


def test_a_text_is_found_in_normal_form():
    assert placed("“one” two", Wanted('"one"')) == [Placed(0, 5, NORMALISED, 1.0, 1)]


@pytest.mark.parametrize("start", [0, 6])
def test_a_claimed_span_that_says_the_same_in_normal_form_is_the_only_place(start):
    document = "a\u00a0b x a\u00a0b"
    assert placed(document, Wanted("a b", start, start + 3)) == [Placed(start, start + 3, NORMALISED, 1.0, 1)]


def test_the_very_text_is_preferred_to_a_claimed_span_that_says_the_same_in_normal_form():
    assert placed("a b x a\u00a0b", Wanted("a b", 6, 9)) == [Placed(0, 3, EXACT, 1.0, 1)]


def test_a_claimed_span_that_says_something_else_is_not_taken():
    assert placed("a\u00a0b x c", Wanted("a b", 4, 7)) == [Placed(0, 3, NORMALISED, 1.0, 1)]


def test_a_near_text_that_begins_or_ends_inside_a_character_gets_the_whole_character():
    """The ligature is two letters in the normal form; the text has one of them, and a wrong letter."""
    document = "-- ﬁnal countdown of the century --"
    assert placed(document, Wanted("inal countdown of thX century")) == [Placed(3, 32, APPROXIMATE, 1 - 1 / 29, 1)]
    document = "-- the countdown of the century oﬁ --"
    assert placed(document, Wanted("the countdown of thX century of")) == [Placed(3, 34, APPROXIMATE, 1 - 1 / 31, 1)]


def test_quotes_in_the_order_of_the_document_need_not_touch():
    page = Page("yes, no, maybe, yes, no, never")
    quotes = ("yes", "maybe", "no", "", "never")
    found = place(page, [Wanted(quote, order=2 * number) for number, quote in enumerate(quotes)], 0.9)
    assert [place.start for place in found] == [0, 9, 21, -1, 25]
