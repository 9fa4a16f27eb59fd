"""Comparisons of runs: orientation, stars, sentences, and what is refused."""

import numpy as np
import pytest

from focuseval.errors import MeasureError, NotComparableError
from focuseval.significance.comparison import Settings, compare
from focuseval.significance.intervals import bca, effect_size
from focuseval.significance.paired_tests import bootstrap, holm
from focuseval.significance.tables import pairs_table, shown_p
from focuseval.tables import numbers, render, words
from focuseval.tables.layouts import notebook

TOPICS = tuple("12345678")
ALIKE = "All runs score the same on every topic under AP: there is no difference to test."
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
    assert found.stars().dtype == np.bool_


def test_wins_ties_and_the_topics_that_decide():
    found = compare("AP", ("a", "b"), ("1", "2", "3"), np.array([[0.5, 0.2, 0.4], [0.1, 0.9, 0.4]]))
    assert found.wins(0, 1) == (1, 1, 1)
    assert found.deciding(0, 1) == [("2", pytest.approx(-0.7)), ("1", pytest.approx(0.4))]


def test_five_topics_decide_by_default_and_of_equals_the_first():
    topics = tuple(f"{i:02}" for i in range(60))
    found = compare("AP", ("a", "b"), topics, np.array([[0.75] * 60, [0.25, 0.5] * 29 + [0.25, 0.75]]))
    assert found.wins(0, 1) == (59, 1, 0)
    assert found.wins(1, 0) == (0, 1, 59)
    assert found.deciding(0, 1) == [(topic, 0.5) for topic in topics[:10:2]]
    assert found.deciding(1, 0, most=30) == [(topic, -0.5) for topic in topics[::2]]


@pytest.mark.parametrize(("resamples", "of_interval"), [(200, 1000), (1500, 1500)])
def test_the_settings_reach_the_test_the_interval_and_the_result(resamples, of_interval):
    """The interval is never made of fewer than a thousand resamples."""
    values = np.random.default_rng(1).random((3, 9))
    settings = Settings("bootstrap", 2, resamples, 0.01, "holm", 5)
    found = compare("AP", ("a", "b", "c"), tuple("123456789"), values, settings)
    differences = values[found.better] - values[found.worse]
    assert found.p.tolist() == holm(bootstrap(differences, tails=2, resamples=resamples, seed=5)).tolist()
    low, high = bca(differences, level=0.95, resamples=of_interval, seed=5)
    assert (found.low.tolist(), found.high.tolist()) == (low.tolist(), high.tolist())
    assert found.effect.tolist() == effect_size(differences).tolist()
    assert found.settings is settings


def test_two_topics_are_tested():
    found = compare("AP", ("a", "b"), ("1", "2"), np.array([[0.5, 0.5], [0.25, 0.25]]), Settings("sign"))
    assert found.p.tolist() == [0.25]


def test_one_run_has_no_pairs_and_keeps_its_settings():
    settings = Settings(seed=3)
    found = compare("AP", ("a",), ("1", "2"), np.array([[0.1, 0.2]]), settings)
    columns = (found.better, found.worse, found.difference, found.low, found.high, found.p, found.effect)
    assert [len(column) for column in columns] == [0] * 7
    assert (found.measure, found.runs, found.topics) == ("AP", ("a",), ("1", "2"))
    assert found.settings is settings
    assert np.isnan(found.power)


@pytest.mark.parametrize(
    ("runs", "topics", "values", "said"),
    [
        (("a",), ("1", "2"), [[0.1, 0.2]], "One run cannot be compared: give at least two."),
        (
            ("a", "b"),
            ("1",),
            [[0.1], [0.9]],
            "One topic says nothing about others: no difference can be called significant.",
        ),
        (("a", "b"), ("1", "2"), [[0.1, 0.2], [0.1, 0.2]], ALIKE),
        (("a", "b"), ("1", "2"), [[0, 0], [0, 0]], ALIKE),
    ],
)
def test_where_nothing_can_be_concluded_a_sentence_says_why(runs, topics, values, said):
    found = compare("AP", runs, topics, np.array(values, float))
    assert found.sentence() == said
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
    ("wrong", "told"),
    [
        ({"test": "x"}, "expected a test among bootstrap, randomisation, t, wilcoxon, sign, found 'x'"),
        ({"correction": "x"}, "expected a correction among none, holm, bh, found 'x'"),
        ({"tails": 0}, "expected 1 or 2 tails, found 0"),
        ({"tails": 3}, "expected 1 or 2 tails, found 3"),
        ({"resamples": 0}, "expected at least 1 resample, found 0"),
        ({"alpha": 5}, "expected a level alpha between 0 and 1, found 5"),
        ({"alpha": 0}, "expected a level alpha between 0 and 1, found 0"),
        ({"alpha": 1}, "expected a level alpha between 0 and 1, found 1"),
    ],
)
def test_settings_refuse_what_does_not_exist(wrong, told):
    with pytest.raises(MeasureError) as caught:
        Settings(**wrong)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(resamples=1), "bootstrap, one-tailed at 0.05, 1 resamples, seed 0"),
        (Settings("randomisation", seed=4), "randomisation, one-tailed at 0.05, 1000 resamples, seed 4"),
        (Settings("t", tails=2, alpha=0.01, correction="bh"), "t, two-tailed at 0.01, corrected by bh"),
    ],
)
def test_settings_say_what_was_done(settings, said):
    assert str(settings) == said
    assert Settings(resamples=1).resamples == 1


PAIRS = compare(
    "AP", ("low", "high"), ("1", "2", "3", "4"), np.array([[0.25, 0.5, 0.5, 0.25], [0.5, 0.75, 0.5, 0.625]])
)
"""The second run wins three topics by .25, .25 and .375, and ties one."""


def test_pairs_are_a_table_with_or_without_the_means_of_the_runs():
    table = pairs_table(PAIRS)
    assert table.columns == (
        *words("better", "worse"),
        *numbers("difference", "95 % interval", "p", form="+.4f"),
        *numbers("effect", "won / tied / lost", form=".2f"),
    )
    ((better, worse, difference, interval, p, effect, wins),) = table.rows
    assert (better, worse, difference, wins) == ("high", "low", 0.21875, "3 / 1 / 0")
    assert interval == f"[{PAIRS.low[0]:+.4f}, {PAIRS.high[0]:+.4f}]"
    assert p == f"{PAIRS.p[0]:.4f} ⋆"
    assert effect == pytest.approx(0.21875 / np.std([0.25, 0.25, 0, 0.375], ddof=1))
    assert table.title == "Pairs under AP"
    assert table.notes == (
        "1 of 1 pairs differ significantly under AP.",
        "bootstrap, one-tailed at 0.05, 1000 resamples, seed 0; 4 topics.",
    )
    assert pairs_table(PAIRS, means=True).rows[0][:2] == ("high (0.5938)", "low (0.3750)")
    alone = pairs_table(compare("AP", ("a",), ("1", "2"), np.array([[0.1, 0.2]])))
    assert (alone.title, alone.rows) == ("", ())


def test_a_pair_without_a_significant_difference_has_no_star():
    ((*_, p, _, wins),) = pairs_table(
        compare("AP", ("a", "b"), ("1", "2", "3"), np.array([[0.5, 0.0, 0.5], [0.0, 0.75, 0.0]]), Settings("sign"))
    ).rows
    assert (p, wins) == ("0.5000", "2 / 0 / 1")


@pytest.mark.parametrize(
    ("value", "settings", "shown"),
    [
        (0.0, {"resamples": 500}, "<0.002"),
        (0.0, {"test": "t"}, "0.0e+00"),
        (0.25, {}, "0.2500"),
        (0.0001, {}, "0.0001"),
        (0.00009, {}, "9.0e-05"),
        (1.0, {"test": "sign"}, "1.0000"),
    ],
)
def test_a_p_value_is_shown_with_four_digits_and_none_is_shown_as_nothing(value, settings, shown):
    assert shown_p(value, Settings(**settings)) == shown


def test_a_comparison_shows_itself_as_text_and_in_a_notebook():
    assert str(PAIRS) == render([pairs_table(PAIRS, means=True)], "table").rstrip("\n")
    assert not str(PAIRS).endswith("\n")
    assert "high (0.5938)" in str(PAIRS)
    assert PAIRS._repr_html_() == notebook(pairs_table(PAIRS, means=True))
    assert "high (0.5938)" in PAIRS._repr_html_()
