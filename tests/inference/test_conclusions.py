"""What a comparison says: order, ties, groups, headlines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.inference.comparison import compare, compare_all, other_order, power
from focuseval.inference.paired import judge_families, judge_pairs, wins_sentence
from focuseval.inference.paired_tests import ranked
from focuseval.inference.sentences import TEMPLATES, fill
from focuseval.inference.settings import Settings

TEN = tuple("abcdefghij")
GOOD = np.linspace(0.6, 0.9, 10)
NEAR = GOOD - 0.01 * np.tile([1, -1], 5) - 0.001
BAD = GOOD - 0.5


def of(*rows, **options):
    names = tuple("ABCDEF"[: len(rows)])
    return compare("AP", names, TEN, np.array(rows), **options)


def test_means_that_differ_by_rounding_alone_share_a_place():
    order, places = ranked(np.array([[0.1 + 0.2, 0.5], [0.9, 0.9], [0.3, 0.5], [0.2, 0.2]]))
    assert (order, places.tolist()) == ([1, 0, 2, 3], [1, 0, 1, 2])


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=6))
def test_the_order_is_that_of_exact_sums(rows):
    order, places = ranked(np.array(rows) / 10)
    sums = [sum(row) for row in rows]
    assert order == sorted(range(len(rows)), key=lambda run: -sums[run])
    assert [len({other for other in sums if other > mine}) for mine in sums] == places.tolist()


def test_groups_begin_with_a_run_and_hold_what_cannot_be_told_from_it():
    found = of(BAD, NEAR, GOOD, BAD - 0.01 * np.tile([1, -1], 5))
    assert found.order == [2, 1, 0, 3]
    assert found.groups == [[2, 1], [0, 3]]


def test_a_pair_turned_round_says_the_opposite():
    found = of(GOOD, BAD)
    pair, turned = found.against(0, 1), found.against(1, 0)
    assert (pair.word, turned.word) == ("better", "worse")
    assert turned.turned == pair
    assert (turned.difference, turned.low, turned.won) == (-pair.difference, -pair.high, pair.lost)
    assert found.verdict_of(0, 1).headline == "A is better than B."
    assert found.verdict_of(1, 0).headline == "B is worse than A."


def test_the_reason_has_the_means_of_the_topics_that_are_compared():
    found = of(GOOD, NEAR)
    reason = found.verdict_of(1, 0).reason
    assert reason.startswith("AP 0.7490 against 0.7500 over 10 topics: −0.0010 [")
    assert reason.endswith(f"The test decides: {found.method}. The interval is of this difference alone.")


@pytest.mark.parametrize(
    ("rows", "word", "headline"),
    [
        ((GOOD, BAD, BAD - 0.1), "better", "A is the best of 3 runs."),
        ((GOOD, NEAR, BAD), "cannot tell", "A scores highest, but this may be chance: B may be as good."),
        (
            (GOOD, NEAR, NEAR),
            "cannot tell",
            "A scores highest, but this may be chance: the other 2 runs may be as good.",
        ),
        ((GOOD, GOOD, GOOD), "cannot tell", "All 3 runs score the same on every topic."),
        ((GOOD, BAD, GOOD), "cannot tell", "A and C share the highest mean."),
        ((GOOD, GOOD[::-1], GOOD[::-1]), "cannot tell", "A, B and C share the highest mean."),
        ((GOOD,), "alone", "A: AP is 0.7500 over 10 topics."),
        ((BAD, GOOD), "better", "B is better than A."),
        ((GOOD, GOOD), "cannot tell", "A and B score the same on every topic."),
    ],
)
def test_a_conclusion_never_calls_best_what_is_not(rows, word, headline):
    found = of(*rows).conclusion()
    assert (found.word, found.headline) == (word, headline)
    assert "+0.0000" not in found.reason or len(rows) == 2


def test_runs_that_share_the_highest_mean_are_better_than_the_others_where_a_test_says_so():
    assert "A is better than B." in of(GOOD, BAD, GOOD).conclusion().reason


@pytest.mark.parametrize(
    ("rows", "headline"),
    [
        ((BAD, GOOD, NEAR), "B is better than the baseline A."),
        ((GOOD, BAD, BAD - 0.1), "Every run is worse than the baseline A."),
        ((GOOD, NEAR, BAD), "No run is better than the baseline A."),
    ],
)
def test_against_a_baseline_the_best_of_the_others_decides(rows, headline):
    assert of(*rows, baseline=0).conclusion().headline == headline


def test_counts_of_runs_against_a_baseline_add_up():
    assert of(GOOD, NEAR, BAD, baseline=0).conclusion().reason.count("Of 2 runs 1 is worse and 1 cannot be told") == 1


def test_topics_won_and_the_gains_that_make_the_difference():
    values = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    pair = compare("AP", ("a", "b"), tuple("123"), values).against(0, 1)
    assert wins_sentence(pair) == (
        "A is better on 2 and B on 1 of 3 topics. Leave out topic 1, and the lead of A is gone."
    )
    assert wins_sentence(pair.turned).startswith("A is better on 1 and B on 2 of 3 topics.")
    assert wins_sentence(pair.turned).endswith("Leave out topic 1, and the lead of B is gone.")
    level = compare("AP", ("a", "b"), tuple("12"), np.array([[1.0, 0.0], [0.0, 1.0]])).against(0, 1)
    assert wins_sentence(level).endswith("Gains and losses are equal.")


def test_measures_with_another_order_are_named():
    values = np.array([[GOOD, BAD], [BAD, GOOD], [GOOD, GOOD], [BAD, BAD + 0.1]])
    found = compare_all(("AP", "RR", "P", "R"), ("a", "b"), TEN, values)
    assert other_order(found, 0, 1, "AP") == "Under RR and R the order is the other way round."
    assert other_order(found, 1, 0, "AP") == "Under RR and R the order is the other way round."
    assert other_order(found, 0, None, "AP") == "Under RR and R another run leads."
    assert other_order(found, 0, 1, "P") == "Under RR and R the order is the other way round."
    assert other_order(found[:1], 0, 1, "AP") == ""


def test_many_measures_together_are_each_as_it_is_alone():
    values = np.random.default_rng(0).random((4, 5, 30))
    values[1, :, 3] = values[2, 0, 7] = values[3] = np.nan
    topics, runs = tuple(map(str, range(30))), tuple("abcde")
    every = compare_all(("m", "n", "o", "p"), runs, topics, values)
    assert every[3] is None
    assert [(len(c.topics), c.left_out) for c in every[:3]] == [(30, 0), (29, 0), (29, 1)]
    for one, rows in zip(every[:3], values, strict=False):
        kept = ~np.isnan(rows).any(axis=0)
        alone = compare(one.measure, runs, one.topics, rows[:, kept])
        for column in ("p", "corrected", "low", "high", "difference", "needed", "won", "lost", "tied"):
            assert getattr(one, column).tolist() == getattr(alone, column).tolist(), column


def test_families_are_corrected_each_by_itself():
    rows = np.random.default_rng(1).normal(0.5, 1, (2, 3, 12))
    for one, alone in zip(judge_families(rows, Settings()), rows, strict=True):
        assert one.corrected.tolist() == judge_pairs(alone, Settings()).corrected.tolist()


def test_templates_are_filled_by_the_names_that_they_have():
    assert fill("flips", n=1, all=3) == "1 of 3 pairs of runs changes its order"
    assert fill("flips", n=2, all=3) == "2 of 3 pairs of runs change their order"
    assert all(isinstance(text, str) or len(text) == 2 for text in TEMPLATES.values())
    assert power(of(GOOD, GOOD).against(0, 1)) == power(of(GOOD, GOOD - 0.25).against(0, 1)) == ""
    level = of(GOOD, GOOD + 0.1 * np.tile([1, -1], 5))
    assert power(level.against(0, 1)).endswith("; no number of topics would show this one.")


def test_a_comparison_shows_itself_in_one_line_and_as_frames():
    found = of(GOOD, BAD)
    assert repr(found) == (
        "<Comparison of 2 runs under AP over 10 topics: 1 of 1 pair differs significantly under AP.>"
    )
    assert found.to_arrow().to_pylist()[0]["better"] == "A"
    pytest.importorskip("pandas", reason="pandas is not installed")
    assert found.to_pandas()["significant"].tolist() == [True]
