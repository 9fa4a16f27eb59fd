"""Edges of measures that random collections seldom reach, worked out by hand."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import focuseval as fe
from building import gold_of, run_of
from focuseval.collection.chunks import Chunks
from focuseval.errors import MeasureError, MissingDataError
from focuseval.measures.graded import precall_curve
from focuseval.measures.matching import match
from focuseval.measures.peers import _TOUCHING
from focuseval.measures.prepared import prepare
from focuseval.measures.spans import chunking_ceiling
from strategies.element_runs import Case

MARKED = {"t": {"d": {"spans": [(0, 100)], "length": 200}}}


def scored(gold, results, *names, **options):
    scores = fe.evaluate(gold_of(gold), run_of({"t": results}), list(names), **options)
    return scores.values[0, 0].tolist()


def test_recall_levels_are_compared_as_integers_and_by_the_official_tool_as_floats():
    # 29 of 100 characters: in floats 100 · (29 / 100) is 28.999999999999996
    assert scored(MARKED, [("d", 0, 29)], "iP@0.29", "iP@0.3") == [1, 0]
    assert scored(MARKED, [("d", 0, 29)], "iP@0.28", "iP@0.29", compat="inex_eval") == [1, 0]


def test_with_short_lists_repeated_one_article_is_divided_by_one():
    assert scored(MARKED, [("d", 0, 100)], "gP@5", short="last") == [1]
    assert scored(MARKED, [("d", 0, 100)], "gP@5") == [0.2]


def test_all_highlighted_text_within_a_rank():
    halves = [("d", 0, 50), ("d", 50, 100)]
    assert scored(MARKED, halves, "full@1", "full@2", "full") == [0, 1, 1]


def test_tolerance_to_irrelevance_needs_the_articles_lengths():
    with pytest.raises(MissingDataError) as caught:
        scored({"t": {"d": {"spans": [(0, 9)]}}}, [("d", 0, 9)], "T2I")
    assert str(caught.value) == (
        "the gold: T2I reads to the end of the article, whose length is unknown; "
        "build the collection's index with 'focuseval index' and give index="
    )
    unknown = gold_of({"t": {"d": {"spans": [(0, 9)]}}}, file="qrels.txt")
    with pytest.raises(MissingDataError, match=r"^qrels\.txt: T2I reads to the end of the article"):
        fe.evaluate(unknown, run_of({"t": [("d", 0, 9)]}), ["T2I"])


def test_an_article_of_one_character_has_a_length():
    assert scored({"t": {"d": {"spans": [(0, 1)], "length": 1}}}, [("d", 0, 1)], "T2I") == [1]


def test_a_chunker_s_chunks_decide_what_can_be_reached():
    # two chunks hold highlighted text, 200 characters in all; what the run itself returns does not matter
    chunks = Chunks(pa.array(["d", "d", "x"]), np.array([0, 90, 0]), np.array([90, 200, 50]))
    assert scored(MARKED, [("d", 0, 10)], "ceiling(spanP)", "ceiling(spanR)", chunks=chunks) == [0.5, 1]
    assert scored(MARKED, [("d", 0, 10)], "ceiling(spanP)", "ceiling(spanR)") == [1, 0.1]


@pytest.mark.parametrize(
    ("chunk", "touches"), [((0, 50), True), ((0, 49), False), ((100, 150), True), ((101, 150), False)]
)
def test_a_chunk_touches_a_reference_before_and_behind_it(chunk, touches):
    gold = gold_of({"t": {"d": {"spans": [(50, 100)], "length": 200}}})
    run = run_of({"t": [("d", 50, 100), ("d", *chunk)]})
    assert _TOUCHING.holds(match(run, prepare(gold)), None).tolist() == [touches]


def test_gains_beyond_one_are_refused_with_what_to_use():
    case = Case("exhaustivity", "gen5", {("t1", "d1", "/a[1]"): (2, -1, 4, 4)}, {})
    with pytest.raises(MeasureError) as caught:
        precall_curve(case.matched(), "gen5")
    assert str(caught.value) == (
        "i2AP(quant=gen5): expected gains from 0 to 1, which are probabilities of relevance; "
        "use strict5 or spec on a gold of 2005"
    )


def test_the_largest_and_the_smallest_number_of_a_parameter_are_allowed():
    assert fe.parse("MAgP(beta=0, irr=1000000000)").given == {"beta": 0, "irr": 1_000_000_000}
    given = fe.parse("MAgP(beta=2.0, irr=5.0)").given
    assert [type(value) for value in given.values()] == [int, int]
    for beyond in ("1000000000.5", "inf", "-1000000001"):
        with pytest.raises(MeasureError, match="expected a number up to 1000000000, found"):
            fe.parse(f"MAgP(beta={beyond})")


def test_a_recall_level_that_is_no_percent_is_reached_exactly():
    gold = {"t": {"d": {"spans": [(0, 80)], "length": 200}}}
    assert scored(gold, [("d", 0, 10)], "iP@0.125", "iP@0.126") == [1, 0]


def test_an_article_without_text_has_a_length():
    gold = {"t": {"d": {"spans": [(0, 9)], "length": 9}, "e": {"grade": 1, "length": 0}}}
    assert scored(gold, [("e", 0, 0), ("d", 0, 9)], "T2I") == [0.5]


def test_an_article_without_relevant_text_earns_nothing_for_a_best_entry_point():
    gold = {"t": {"d": {"spans": [(0, 9)], "length": 20, "bep": 0}, "e": {"grade": 0, "length": 20, "bep": 0}}}
    assert scored(gold, [("e", 0, 5)], "gP(score=bep, n=10)@1") == [0]


def test_an_entry_point_scores_where_both_it_and_the_best_one_are_known():
    gold = {"t": {"d": {"spans": [(0, 9)], "length": 20, "bep": 5}, "e": {"spans": [(0, 9)], "length": 20}}}
    results = [("d", -1, -1), ("e", 0, 5)]
    assert scored(gold, results, "gP(score=bep, n=10)@1", "gP(score=bep, n=10)@2") == [0, 0]


@pytest.mark.parametrize(("credit", "reached"), [("document", 100), ("retrieved", 50)])
def test_recall_credits_an_article_s_highlighted_text_or_what_was_returned_of_it(credit, reached):
    # half of the text is returned, and nothing else: P = 1, R = 1/2, F = 2/3
    name = f"MAgP(gain=length, credit={credit}, form=interpolated)"
    scores = fe.evaluate(gold_of(MARKED), run_of({"t": [("d", 0, 50)]}), [name])
    values = scores.curve(name).to_pydict()["y"][:101]
    assert values == pytest.approx([2 / 3] * (reached + 1) + [0] * (100 - reached))


def test_entry_points_are_no_chunks():
    run = replace(run_of({"t": [("d", 0, 10)]}), end=None)
    with pytest.raises(MissingDataError, match="results are entry points, which hold no text"):
        chunking_ceiling(match(run, prepare(gold_of(MARKED))), "spanP")
