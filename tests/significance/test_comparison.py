"""Comparisons of runs: orientation, stars, sentences, and what is refused."""

import numpy as np
import pytest

from focuseval.errors import MeasureError, NotComparableError
from focuseval.significance.comparison import Settings, compare

TOPICS = tuple("12345678")
GOOD = np.array([0.9, 0.8, 0.9, 0.7, 0.8, 0.9, 0.6, 0.8])
VALUES = np.array([GOOD - 0.5, GOOD, GOOD - 0.01 * np.array([1, -1, 1, -1, 1, -1, 1, -1])])


def test_a_pair_is_oriented_from_the_better_to_the_worse_run():
    found = compare("AP", ("bad", "good", "twin"), TOPICS, VALUES)
    pairs = {(found.runs[b], found.runs[w]) for b, w in zip(found.better, found.worse, strict=True)}
    assert pairs == {("good", "bad"), ("twin", "bad"), ("good", "twin")}
    assert (found.difference >= 0).all()


def test_stars_stand_where_the_row_improves_on_the_column():
    found = compare("AP", ("bad", "good", "twin"), TOPICS, VALUES)
    assert found.stars().tolist() == [[False] * 3, [True, False, False], [True, False, False]]
    assert found.sentence() == "2 of 3 pairs differ significantly under AP."
    assert found.power == pytest.approx(2 / 3)


def test_wins_ties_and_the_topics_that_decide():
    found = compare("AP", ("a", "b"), ("1", "2", "3"), np.array([[0.5, 0.2, 0.4], [0.1, 0.9, 0.4]]))
    assert found.wins(0, 1) == (1, 1, 1)
    assert found.deciding(0, 1) == [("2", pytest.approx(-0.7)), ("1", pytest.approx(0.4))]


@pytest.mark.parametrize(
    ("runs", "topics", "values", "words"),
    [
        (("a",), ("1", "2"), [[0.1, 0.2]], "One run cannot be compared"),
        (("a", "b"), ("1",), [[0.1], [0.9]], "One topic says nothing"),
        (("a", "b"), ("1", "2"), [[0.1, 0.2], [0.1, 0.2]], "All runs score the same"),
        (("a", "b"), ("1", "2"), [[0, 0], [0, 0]], "All runs score the same"),
    ],
)
def test_where_nothing_can_be_concluded_a_sentence_says_why(runs, topics, values, words):
    found = compare("AP", runs, topics, np.array(values, float))
    assert words in found.sentence()
    assert not found.significant.any()


def test_a_missing_value_is_refused_with_run_and_topic():
    with pytest.raises(NotComparableError, match="run b has no value for topic 2"):
        compare("AP", ("a", "b"), ("1", "2"), np.array([[0.1, 0.2], [0.3, np.nan]]))


def test_correction_makes_fewer_pairs_significant():
    rng = np.random.default_rng(0)
    values = rng.normal(0, 1, (12, 40)) + np.linspace(0, 0.5, 12)[:, None]
    runs = tuple("abcdefghijkl")
    plain, corrected = (
        compare("AP", runs, tuple(map(str, range(40))), values, s) for s in (Settings(), Settings(correction="holm"))
    )
    assert corrected.significant.sum() < plain.significant.sum()


@pytest.mark.parametrize(
    "wrong", [{"test": "x"}, {"tails": 0}, {"alpha": 5}, {"correction": "x"}, {"resamples": 0}], ids=str
)
def test_settings_refuse_what_does_not_exist(wrong):
    with pytest.raises(MeasureError, match="expected"):
        Settings(**wrong)
