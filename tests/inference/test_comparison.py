"""Comparisons of runs: orientation, stars, sentences, and what is refused."""

import numpy as np
import pytest

from focuseval.data.tables import notebook, numbers, render, words
from focuseval.errors import NotComparableError
from focuseval.inference.comparison import compare
from focuseval.inference.intervals import bca, effect_size
from focuseval.inference.paired_tests import adjust, bootstrap
from focuseval.inference.sentences import shown_p
from focuseval.inference.settings import Settings

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
    settings = Settings("bootstrap", 2, resamples, 0.01, "holm", 5, "bca")
    found = compare("AP", ("a", "b", "c"), tuple("123456789"), values, settings)
    differences = values[found.better] - values[found.worse]
    p = bootstrap(differences, tails=2, resamples=resamples, seed=5)
    assert (found.p.tolist(), found.corrected.tolist()) == (p.tolist(), adjust(p, "holm").tolist())
    low, high = bca(differences, level=0.95, resamples=of_interval, seed=5)
    assert (found.low.tolist(), found.high.tolist()) == (low.tolist(), high.tolist())
    assert found.effect.tolist() == effect_size(differences).tolist()
    assert found.settings is settings


def test_two_topics_are_tested():
    found = compare("AP", ("a", "b"), ("1", "2"), np.array([[0.5, 0.5], [0.25, 0.25]]), Settings("sign"))
    assert found.p.tolist() == [0.5]


def test_one_run_has_no_pairs_and_keeps_its_settings():
    settings = Settings(seed=3)
    found = compare("AP", ("a",), ("1", "2"), np.array([[0.1, 0.2]]), settings)
    columns = (found.better, found.worse, found.difference, found.low, found.high, found.p, found.effect)
    columns += (found.corrected, found.differing, found.tied, found.detectable, found.needed)
    assert [len(column) for column in columns] == [0] * 12
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


def test_a_topic_that_some_run_has_no_value_for_is_left_out_and_counted():
    found = compare("AP", ("a", "b"), ("1", "2"), np.array([[0.1, 0.2], [0.3, np.nan]]))
    assert (found.topics, found.left_out) == (("1",), 1)
    with pytest.raises(NotComparableError, match="AP: no topic has a value in every run"):
        compare("AP", ("a", "b"), ("1", "2"), np.array([[0.1, np.nan], [np.nan, 0.3]]))


def test_correction_makes_fewer_pairs_significant():
    rng = np.random.default_rng(0)
    values = rng.normal(0, 1, (12, 40)) + np.linspace(0, 0.5, 12)[:, None]
    runs = tuple("abcdefghijkl")
    plain, corrected = (
        compare("AP", runs, tuple(map(str, range(40))), values, s)
        for s in (Settings(correction="none"), Settings(correction="holm"))
    )
    assert corrected.p.tolist() == plain.p.tolist() == plain.corrected.tolist()
    assert corrected.significant.sum() < plain.significant.sum()


LOW, WON = np.array([[0.25, 0.5, 0.5, 0.25, 0.125, 0.5, 0.25], [0.25, 0.25, 0, 0.375, 0.5, 0.25, 0.125]])
PAIRS = compare("AP", ("low", "high"), tuple("1234567"), np.array([LOW, LOW + WON]))
"""The second run wins six topics and ties one: of 64 flips, the two that agree are as extreme."""
COLUMNS = (
    "better",
    "worse",
    "difference",
    "95 % interval, uncorrected",
    "p",
    "p (Holm)",
    "effect",
    "won / tied / lost",
)
COLUMNS += ("detectable", "topics needed")
EXPLAINED = (
    "The star decides, not the interval. Detectable: the smallest difference that these topics show with "
    "probability .8 after the correction; topics needed: for the one observed, in brackets by the 95 % interval of the "
    "deviation."
)


def test_pairs_are_a_table_with_or_without_the_means_of_the_runs():
    table = PAIRS.table()
    assert table.headings == COLUMNS
    assert table.columns[:3] == (*words("better", "worse"), *numbers("difference", form="+.4f"))
    assert [column.form for column in table.columns[6:]] == [".2f", ".2f", ".4f", ".4f"]
    ((better, worse, difference, interval, p, holms, effect, wins, detectable, needed),) = table.rows
    assert (better, worse, difference, wins) == ("high", "low", 0.25, "6 / 1 / 0")
    assert interval == f"[{PAIRS.low[0]:+.4f}, {PAIRS.high[0]:+.4f}]"
    assert (p, holms) == ("0.0312", "0.0312 ⋆")
    assert effect == pytest.approx(0.25 / np.std([0.25, 0.25, 0, 0.375, 0.5, 0.25, 0.125], ddof=1))
    assert (detectable, needed) == (PAIRS.detectable[0], "{:.0f} ({:.0f} to {:.0f})".format(*PAIRS.needed[0]))
    assert table.title == "Pairs under AP"
    assert table.notes == (
        "1 of 1 pair differs significantly under AP.",
        "randomisation, two-tailed at 0.05, exact, Holm over 1 pair; 7 topics.",
        EXPLAINED,
    )
    assert PAIRS.table(means=True).rows[0][:2] == ("high (0.5893)", "low (0.3393)")
    alone = compare("AP", ("a",), ("1", "2"), np.array([[0.1, 0.2]])).table()
    assert (alone.title, alone.rows, len(alone.notes)) == ("", (), 2)


def test_an_uncorrected_comparison_has_its_star_beside_p_and_says_what_one_tail_means():
    settings = Settings("sign", tails=1, correction="none", alpha=0.2)
    found = compare("AP", ("a", "b"), tuple("123"), np.array([[0.5, 0.5, 0.5], [0.25, 0.0, 0.0]]), settings)
    table = found.table()
    assert table.headings == tuple(name for name in COLUMNS if name != "p (Holm)")
    assert table.rows[0][4:7] == ("0.1250 ⋆", pytest.approx(0.41667 / 0.14434, rel=1e-3), "3 / 0 / 0")
    assert table.notes[1] == "sign, one-tailed at 0.2, uncorrected over 1 pair; 3 topics."
    assert table.notes[3] == (
        "One tail, in the direction seen: of equal runs about twice as many get a star as the level says."
    )
    values = np.array([[0.5, 0.5, np.nan], [0.25, np.nan, 0.5]])
    corrected = compare("AP", ("a", "b"), tuple("123"), values, Settings(correction="bh"))
    assert corrected.table().headings[5] == "p (BH)"
    assert corrected.table().notes[1].endswith("over 1 pair; 1 topic (2 left out: some run has no value).")


def test_a_pair_without_a_significant_difference_has_no_star():
    values = np.array([[0.5, 0.0, 0.5], [0.0, 0.75, 0.0]])
    (row,) = compare("AP", ("a", "b"), tuple("123"), values, Settings("sign", tails=1)).table().rows
    assert (row[4], row[5], row[7]) == ("0.5000", "0.5000", "2 / 0 / 1")


def test_with_a_baseline_only_its_pairs_are_compared_and_corrected_for():
    values = np.random.default_rng(4).random((4, 9)) + np.array([[0.0], [0.4], [0.1], [0.9]])
    every, some = (compare("AP", tuple("abcd"), tuple("123456789"), values, baseline=run) for run in (None, 1))
    assert {frozenset(pair) for pair in zip(some.better.tolist(), some.worse.tolist(), strict=True)} == {
        frozenset({1, other}) for other in (0, 2, 3)
    }
    assert (every.family, every.members, some.family, some.members) == (6, "all 6 pairs", 3, "the 3 pairs with b")
    for k, pair in enumerate(zip(some.better.tolist(), some.worse.tolist(), strict=True)):
        same = every.pair(*pair)
        assert every.pair(*pair[::-1]) == same
        assert some.p[k] == every.p[same]
        assert (some.better[k], some.worse[k]) == (every.better[same], every.worse[same])
    assert some.corrected.tolist() == adjust(some.p, "holm").tolist()
    assert some.method.endswith("Holm over the 3 pairs with b")


def test_the_sentence_says_for_how_many_pairs_nothing_could_be_told():
    """Of three pairs each must differ on seven topics: 2^-6 < .05/3."""
    base = np.linspace(0.3, 0.5, 9)
    values = np.array([base + np.linspace(0.2, 0.3, 9), base, base + np.r_[0.1, 0.05, np.zeros(7)]])
    found = compare("AP", ("a", "b", "c"), tuple("123456789"), values)
    assert found.sentence() == (
        "2 of 3 pairs differ significantly under AP; "
        "for 1 of them nothing can be told: 2 topics differ, no outcome could be significant."
    )
    few = compare("AP", ("a", "b", "c"), tuple("12345"), values[:, :5])
    assert few.sentence() == (
        "0 of 3 pairs differ significantly under AP; "
        "nothing can be told: 2 to 5 topics differ, no outcome could be significant."
    )
    rows = found.table().rows
    assert [row[4:6] for row in rows] == [("0.0039", "0.0117 ⋆"), ("0.0039", "0.0117 ⋆"), ("0.5000", "0.5000")]


def test_topics_that_no_number_would_be_enough_of_are_no_number():
    same = compare("AP", ("a", "b"), ("1", "2"), np.array([[0.5, 0.25], [0.5, 0.25]]))
    assert same.table().rows[0][-1] == "–"
    rows = np.array([[0.5, 0.25, 0.5, 0.25] * 3, [0.49, 0.27, 0.49, 0.251] * 3])
    close = compare("AP", ("a", "b"), tuple("123456789abc"), rows)
    assert close.table().rows[0][-1] == "{:,.0f} ({:,.0f} to {:,.0f})".format(*close.needed[0])


def test_rounding_noise_wins_no_topic_and_decides_nothing():
    values = np.array([[0.1 + 0.2, 0.5, 0.5], [0.3, 0.25, 0.5]])
    found = compare("AP", ("a", "b"), ("1", "2", "3"), values)
    assert found.wins(0, 1) == (1, 2, 0)
    assert found.deciding(0, 1) == [("2", 0.25)]
    assert (found.differing.tolist(), found.tied.tolist()) == ([1], [2])


@pytest.mark.parametrize(
    ("value", "settings", "shown"),
    [
        (0.0, {"test": "bootstrap", "resamples": 500}, "<0.002"),
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
    assert str(PAIRS) == render([PAIRS.table(means=True)], "table").rstrip("\n")
    assert not str(PAIRS).endswith("\n")
    assert "high (0.5893)" in str(PAIRS)
    assert PAIRS._repr_html_() == notebook(PAIRS.table(means=True))
    assert "high (0.5893)" in PAIRS._repr_html_()
