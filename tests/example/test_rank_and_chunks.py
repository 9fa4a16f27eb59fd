"""The example's small rankers do what they say."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedded.chunks import paragraphs
from embedded.judge import find_quote
from embedded.rank import Unit, bm25, words
from embedded.runs import disjoint, entry, in_context
from focuseval.errors import FormatError


def unit(row: int, start: int, end: int, text: str = "x") -> Unit:
    return Unit(row, f"d{row}", f"/a[1]/p[{start + 1}]", "p", start, end, Counter(words(text)))


RANKED = [
    (unit(0, 0, 50), 9.0),
    (unit(1, 0, 10), 8.0),
    (unit(0, 10, 20), 7.0),
    (unit(1, 20, 30), 6.0),
    (unit(2, 0, 9), 1.0),
]


def places(found):
    return [(some.row, some.start) for some, _ in found]


def test_a_rare_word_counts_for_more_than_a_common_one():
    among = [unit(0, 0, 9, "sea moon"), unit(1, 0, 9, "sea gull"), unit(2, 0, 9, "sea sand")]
    moon, gull, sand = bm25(["sea", "moon"], among)
    assert moon > gull == sand > 0


def test_focused_results_never_overlap():
    assert places(disjoint(RANKED)) == [(0, 0), (1, 0), (1, 20), (2, 0)]


def test_results_in_context_stand_article_by_article_in_reading_order():
    assert places(in_context(RANKED)) == [(0, 0), (1, 0), (1, 20), (2, 0)]


def test_best_in_context_gives_one_result_an_article():
    assert places(entry(RANKED)) == [(0, 0), (1, 0), (2, 0)]


@given(text=st.text(st.sampled_from("ab \n"), min_size=1, max_size=2000))
def test_paragraphs_cover_every_character(text):
    covered = {i for start, end in paragraphs(text) for i in range(start, end)}
    assert covered == set(range(len(text)))


def test_an_elided_quote_spans_everything_between():
    assert find_quote("one two three four", "two … four") == (4, 18)


@pytest.mark.parametrize("quote", ["tide", "storm", "The … tide"])
def test_a_quote_that_is_not_unique_is_refused(quote):
    with pytest.raises(FormatError, match="expected a quote that occurs once"):
        find_quote("The tide of the tide", quote)
