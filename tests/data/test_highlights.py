from hypothesis import given
from hypothesis import strategies as st

from focuseval.data import highlights as spans

SPAN = st.tuples(st.integers(0, 40), st.integers(1, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))
SPANS = st.lists(SPAN, max_size=8).map(spans.merge)


def characters(normal):
    return {position for start, end in normal for position in range(start, end)}


@given(SPANS, SPAN)
def test_adding_a_span_adds_exactly_its_characters(before, span):
    after = spans.add(before, *span)
    assert spans.is_normal(after)
    assert characters(after) == characters(before) | characters([span])


@given(SPANS, SPAN)
def test_subtracting_a_span_removes_exactly_its_characters(before, span):
    after = spans.subtract(before, *span)
    assert spans.is_normal(after)
    assert characters(after) == characters(before) - characters([span])


@given(SPANS, SPANS)
def test_intersection_and_union_are_those_of_sets_of_characters(left, right):
    assert characters(spans.intersect(left, right)) == characters(left) & characters(right)
    assert characters(spans.merge([*left, *right])) == characters(left) | characters(right)
    assert spans.is_normal(spans.intersect(left, right))


@given(SPANS, st.integers(0, 60))
def test_an_empty_element_has_no_text_in_common_with_highlights(normal, position):
    assert spans.intersect(normal, ((position, position),)) == ()


@given(SPANS, st.integers(0, 60))
def test_a_position_is_contained_where_its_character_is(normal, position):
    assert spans.contains(normal, position) == (position in characters(normal))
    assert spans.size(normal) == len(characters(normal))


def test_touching_highlights_become_one():
    assert spans.add(spans.add((), 0, 4), 4, 8) == ((0, 8),)
