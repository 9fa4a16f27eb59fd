"""The fewest edits, by bits and by the full table; the nearest stretches of a document."""

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from focuseval.placing import occurrences
from focuseval.placing.occurrences import Grams, Near, _apart, distances, near_places, nearest_stretches
from oracle.alignment import edit_distance, fewest_edits, sellers

WORD = st.text("abc", min_size=1, max_size=12)
PROSE = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness."


@given(WORD, st.text("abc", max_size=14))
def test_the_bits_count_the_edits_to_the_best_stretch(pattern, text):
    assert min(distances(pattern, text)) == fewest_edits(pattern, text) == sellers(pattern, text)
    assert distances(pattern, text, anchored=True)[-1] == edit_distance(pattern, text)


@given(WORD, st.text("abc", max_size=14))
def test_every_stretch_needs_as_many_edits_as_are_claimed(pattern, text):
    edits, stretches = nearest_stretches(pattern, text, len(pattern))
    assert stretches
    assert all(edit_distance(pattern, text[start:end]) == edits for start, end in stretches)
    assert all(later - end > edits for (_, end), (_, later) in pairwise(stretches))


@settings(max_examples=40)
@given(st.integers(0, 60), st.integers(25, 45), st.data())
def test_seeds_never_miss_a_match_above_the_similarity(start, size, data):
    chunk = list(PROSE[start : start + size])
    for _ in range(data.draw(st.integers(1, len(chunk) // 10))):
        at = data.draw(st.integers(0, len(chunk) - 1))
        chunk[at] = data.draw(st.sampled_from(["", "#", chunk[at] + "#"]))
    text = "".join(chunk)
    assume(text and text not in PROSE)
    needed = sellers(text, PROSE)
    found = near_places(Grams(PROSE), text, 0.9)
    assert bool(found) == (needed <= int(0.1 * len(text) + 1e-9))
    assert all(edit_distance(text, PROSE[place.start : place.end]) == needed for place in found)
    assert all(place.similarity == 1 - needed / len(text) for place in found)


def test_two_places_equally_near_are_both_given():
    document = "one red apple on the table. --- one red apple on the table."
    assert [place.start for place in near_places(Grams(document), "one rad apple on the table.", 0.9)] == [0, 32]


def test_a_text_that_shares_nothing_is_nowhere():
    assert near_places(Grams(PROSE), "Stately, plump Buck Mulligan came from the stairhead", 0.9) == []
    assert near_places(Grams(""), "anything at all", 0.9) == []
    assert near_places(Grams(PROSE), "best", 0.9) == []


@pytest.mark.parametrize("gap", [1, 2, 3])
def test_a_stretch_is_found_whole_when_its_seeds_stand_beside_it_by_all_allowed_edits(gap):
    """Seven letters, too few for a seed, are cut off by as many characters as may differ, before or after the rest."""
    piece, rest, alien = "abcdefg", "hijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS", "#%&"[:gap]
    for text, document in ((piece + rest, piece + alien + rest), (rest + piece, rest + alien + piece)):
        (found,) = near_places(Grams(f"----------{document}----------"), text, 1 - (gap + 0.5) / len(text))
        assert (found.start, found.end) == (10, 10 + len(document))
        assert found.similarity == 1 - gap / len(text)


def test_no_text_at_all_stands_everywhere():
    assert distances("", "ab") == [0, 0, 0]


def test_the_stretch_that_is_as_long_as_the_pattern_is_taken():
    # "xbc" and "bc" are both one edit away from "abc"
    assert nearest_stretches("abc", "xbc", 2) == (1, [(0, 3)])


def test_ends_that_lie_as_near_as_the_edits_are_one_stretch():
    # "ab" and "abc" are both one edit away, and end one character apart
    assert nearest_stretches("abX", "--abc--", 1) == (1, [(2, 5)])


LETTERS = "".join(map(chr, range(0x4E00, 0x4E00 + 200)))


@pytest.mark.parametrize("similarity", [0.9, 0.8, 0.7, 0.6])
@pytest.mark.parametrize("size", range(10, 60, 3))
def test_a_text_is_found_with_all_allowed_edits_as_evenly_spread_as_they_can_be(size, similarity):
    """Then the longest unbroken run is as short as it can be: no seed may be longer, nor may more be asked for."""
    edits = int((1 - similarity) * size + 1e-9)
    wrong = {(size + 1) * i // (edits + 1) - 1 for i in range(1, edits + 1)}
    text = "".join("#" if i in wrong else letter for i, letter in enumerate(LETTERS[50 : 50 + size]))
    assert near_places(Grams(LETTERS), text, similarity) == [Near(50, 50 + size, 1 - edits / size)]


def test_seeds_on_both_sides_of_an_insertion_count_together():
    document = LETTERS[:50] + "#" + LETTERS[50:100]
    assert near_places(Grams(document), LETTERS[:100], 0.99) == [Near(0, 101, 0.99)]


def test_a_gram_that_is_too_common_is_no_seed(monkeypatch):
    monkeypatch.setattr(occurrences, "_COMMON", 2)
    diagonals, common = Grams("ababab").hits("aba", 2)  # "ab" stands there three times, "ba" at 1 and at 3
    assert (diagonals.tolist(), common) == ([0, 2], 1)


def test_fewer_seeds_are_asked_for_where_some_are_too_common(monkeypatch):
    # of 33 seeds the wrong letter spoils 8, and 9 are too common: 16 are left, and enough
    monkeypatch.setattr(occurrences, "_COMMON", 1)
    document = LETTERS[:40] + "-" * 20 + LETTERS[:16]
    text = LETTERS[:20] + "#" + LETTERS[21:40]
    assert near_places(Grams(document), text, 0.97) == [Near(0, 40, 1 - 1 / 40)]


@pytest.mark.parametrize("better", [0, 1])
def test_the_window_with_most_seeds_is_compared_first(better, monkeypatch):
    monkeypatch.setattr(occurrences, "_WINDOWS", 1)
    text = LETTERS[:40]
    stretches = [text[:20] + "##" + text[22:], text[:20] + "##" + text[22:]]
    stretches[better] = text[:20] + "#" + text[21:]
    document = stretches[0] + "-" * 50 + stretches[1]
    assert [place.start for place in near_places(Grams(document), text, 0.9)] == [better * 90]


def test_spans_that_start_within_the_edits_are_one_place():
    assert _apart([(10, 19), (11, 19), (12, 21), (30, 39)], 1) == [(10, 19), (12, 21), (30, 39)]
