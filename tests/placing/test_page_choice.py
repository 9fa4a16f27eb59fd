"""One place out of several: forced by the neighbours, or left open."""

from hypothesis import given
from hypothesis import strategies as st

from focuseval.placing.page import OPEN, forced, nearest_candidate, touching
from oracle.alignment import forced_rows

STARTS = st.lists(st.integers(0, 12), max_size=4, unique=True).map(sorted)


@given(st.lists(STARTS, max_size=5))
def test_a_place_is_forced_when_all_increasing_sequences_agree(candidates):
    expected = forced_rows(candidates)
    if expected is not None:
        assert forced(candidates) == expected


@given(st.lists(STARTS, max_size=5))
def test_a_single_candidate_is_taken_in_any_order(candidates):
    rows = forced(candidates)
    assert all(row == 0 for row, starts in zip(rows, candidates, strict=True) if len(starts) == 1)


@given(st.lists(st.integers(0, 50), min_size=1, unique=True).map(sorted), st.integers(0, 50))
def test_the_nearest_candidate_is_taken_and_a_tie_is_not(starts, claimed):
    row = nearest_candidate(starts, claimed)
    distances = [abs(start - claimed) for start in starts]
    assert (row == OPEN) == (distances.count(min(distances)) > 1)
    assert row == OPEN or distances[row] == min(distances)


def touched(document, spans, order, chosen):
    return touching(document, ([[s for s, _ in c] for c in spans], [[e for _, e in c] for c in spans]), order, chosen)


def test_a_chunk_that_touches_its_neighbour_is_placed_there():
    document = "intro NOTE middle NOTE end"
    spans = [[(0, 5)], [(6, 10), (18, 22)]]
    assert touched(document, spans, [4, 5], [0, OPEN]) == [0, 0]
    assert touched(document, spans, [4, 6], [0, OPEN]) == [0, OPEN]


def test_a_chunk_before_its_neighbour_is_placed_from_the_right():
    document = "NOTE middle NOTE end"
    assert touched(document, [[(0, 4), (12, 16)], [(17, 20)]], [0, 1], [OPEN, 0]) == [1, 0]


def test_a_chunk_that_touches_twice_stays_open():
    assert touched("aaaa", [[(0, 3)], [(1, 3), (2, 4)]], [0, 1], [0, OPEN]) == [0, OPEN]


def test_of_several_that_touch_the_one_at_the_common_distance_is_taken():
    spans = [[(0, 2)], [(2, 4)], [(4, 6)], [(6, 8)], [(7, 9), (8, 10), (9, 11)], [(10, 12)]]
    chosen = [0, 0, 0, 0, OPEN, 0]
    assert touched("x" * 12, spans, range(6), chosen) == [0, 0, 0, 0, 1, 0]
    assert touched("x" * 12, spans[3:], range(3), chosen[3:]) == [0, OPEN, 0]


def test_a_later_chunk_that_takes_its_first_candidate_bounds_the_ones_before_it():
    assert forced([[1, 3], [2, 5], [4]]) == [0, 0, 0]


def test_only_a_direct_neighbour_of_consecutive_number_counts():
    document, spans = "aa bb NOTE cc NOTE", [[(0, 2)], [(3, 5)], [(6, 10), (14, 18)]]
    assert touched(document, spans, [0, 2, 3], [0, 0, OPEN]) == [0, 0, 0]
    assert touched(document, spans, [0, 1, 3], [0, 0, OPEN]) == [0, 0, OPEN]


def test_a_chunk_touches_the_candidate_that_its_neighbour_took():
    spans = [[(0, 2)], [(3, 5), (11, 13)], [(6, 10), (14, 18)]]
    assert touched("aa bb NOTE bb NOTE", spans, [0, 1, 2], [0, 1, OPEN]) == [0, 1, 1]


def test_the_first_and_the_last_chunk_are_no_neighbours():
    assert touched("x    yyy x", [[(0, 1), (9, 10)], [(5, 8)]], [0, 1], [OPEN, 0]) == [0, 0]
    assert touched("xxxx yyy zzz xxxx", [[(5, 8)], [(0, 4), (13, 17)]], [0, 1], [0, OPEN]) == [0, OPEN]


def test_from_the_right_every_chunk_is_tried_against_a_placed_neighbour():
    document = "NOTE middle NOTE end fin"
    spans = [[(0, 4), (12, 16)], [(17, 20)], [(21, 24)]]
    assert touched(document, spans, [0, 1, 2], [OPEN, 0, 0]) == [1, 0, 0]


def test_an_open_neighbour_places_no_chunk():
    spans = [[(0, 2)], [(6, 10), (14, 18)], [(11, 13), (19, 21)]]
    assert touched("aa xx NOTE zz NOTE zz", spans, [0, 1, 2], [0, OPEN, OPEN]) == [0, OPEN, OPEN]


def test_chunks_with_many_blanks_between_them_do_not_touch():
    document = "NOTE" + " " * 300 + "end NOTE"
    assert touched(document, [[(0, 4), (308, 312)], [(304, 307)]], [0, 1], [OPEN, 0]) == [OPEN, 0]


ROW = [[(0, 2)], [(2, 4)], [(4, 6)], [(6, 8)]]
NEXT = [(7, 9), (8, 10), (9, 11)]


def test_the_common_distance_decides_from_either_side():
    assert touched("x" * 14, [*ROW, NEXT], range(5), [0, 0, 0, 0, OPEN]) == [0, 0, 0, 0, 1]
    moved = [[(s + 4, e + 4) for s, e in spans] for spans in ROW]
    assert touched("x" * 14, [[(1, 3), (2, 4), (3, 5)], *moved], range(5), [OPEN, 0, 0, 0, 0]) == [1, 0, 0, 0, 0]


def test_two_pairs_make_no_rule_and_neither_do_pairs_that_differ():
    shifted = [(s - 2, e - 2) for s, e in NEXT]
    assert touched("x" * 14, [*ROW[:3], shifted], range(4), [0, 0, 0, OPEN]) == [0, 0, 0, OPEN]
    uneven = [*ROW[:3], [(5, 8)]]
    assert touched("x" * 14, [*uneven, NEXT], range(5), [0, 0, 0, 0, OPEN]) == [0, 0, 0, 0, OPEN]


def test_a_neighbour_that_reaches_the_end_of_the_document_keeps_no_distance():
    spans = [[(0, 3)], [(2, 5)], [(4, 7)], [(6, 9)], [(7, 9), (8, 9)]]
    assert touched("x" * 9, spans, range(5), [0, 0, 0, 0, OPEN]) == [0, 0, 0, 0, OPEN]
    assert touched("x" * 10, spans, range(5), [0, 0, 0, 0, OPEN]) == [0, 0, 0, 0, 1]
