"""The fewest edits, by bits and by the full table; the nearest stretches of a document."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from focuseval.align.approximate import Grams, near_places
from focuseval.align.edits import distances, nearest_stretches
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
