"""Numbers printed in the papers, MEASURES.md §14.4 and §14.6."""

import pytest

import focuseval as fe
from building import gold_of, run_of

SECTIONS = [("a", 0, 99), ("a", 99, 198), ("a", 198, 297)]
PARAGRAPHS = [("a", 0, 33), ("a", 33, 66), ("a", 66, 99)]
ONE, TWO = [(0, 99)], [(0, 99), (99, 198)]


@pytest.mark.parametrize(
    ("highlighted", "results", "printed"),
    [
        (ONE, SECTIONS, (0.33, 1.00, 0.50, 1.00)),
        (ONE, PARAGRAPHS, (1.00, 1.00, 1.00, 1.00)),
        (TWO, SECTIONS, (0.67, 1.00, 0.80, 1.00)),
        (TWO, PARAGRAPHS, (1.00, 0.50, 0.67, 0.50)),
    ],
    ids=["scenario 1, system A", "scenario 1, system B", "scenario 2, system A", "scenario 2, system B"],
)
def test_hixeval_prints_appendix_b_of_pehcevski_and_thom(highlighted, results, printed):
    """Evaluating Focused Retrieval Tasks (2007), appendix B: sections of 99 characters, paragraphs of 33."""
    gold = gold_of({"t": {"a": {"length": 400, "spans": highlighted}}})
    found = fe.evaluate(gold, run_of({"t": results}), ["hP@3", "hR@3", "hF@3", "hAP"]).mean[0]
    assert [round(float(value), 2) for value in found] == list(printed)


@pytest.mark.parametrize(("distance", "value"), [(0, 1), (50, 0.6667), (100, 0.5), (1000, 0.0909)])
def test_bepd_falls_with_the_distance_from_the_best_entry_point(distance, value):
    """INEX 2006 measures, eq. 14, at A = 0.1 and a mean article length of 1000 characters."""
    gold = gold_of({"t": {"a": {"length": 1000, "spans": [(0, 10)], "bep": 0}}})
    scores = fe.evaluate(gold, run_of({"t": [("a", distance)]}), ["BEPD(A=0.1)"])
    assert round(float(scores.mean[0, 0]), 4) == value
