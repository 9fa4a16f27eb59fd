"""Changes of a run that must not change a score, or must not raise it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.evaluation.evaluation import evaluate
from strategies.highlighted import DOCUMENTS, LENGTH

CHARACTERS = ["charP", "charR", "charF", "spanP", "spanR", "spanF", "IoU", "hit", "full", "MAgP"]
BUDGETS = ["spanR@5c", "spanR@20c", "spanR@40c"]
GOLD = gold_of(
    {
        "t": {
            "d1": {"length": 40, "spans": [(0, 9), (12, 20)]},
            "d2": {"length": 40, "spans": [(3, 22)]},
            "d3": {"length": 40},
        }
    }
)
EDGES = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(sorted)
RESULTS = st.lists(st.tuples(st.sampled_from(DOCUMENTS), EDGES).map(lambda r: (r[0], *r[1])), min_size=1, max_size=7)


def values(results, names):
    return evaluate(GOLD, run_of({"t": [("d3", 0, 1), *results]}), names).per_topic()["run"]["t"]


@given(RESULTS, st.data())
def test_splitting_a_result_keeps_every_measure_of_characters(results, data):
    place = data.draw(st.integers(0, len(results) - 1))
    document, start, end = results[place]
    cut = data.draw(st.integers(start, end))
    split = [*results[:place], (document, start, cut), (document, cut, end), *results[place + 1 :]]
    assert values(split, [*CHARACTERS, *BUDGETS]) == pytest.approx(values(results, [*CHARACTERS, *BUDGETS]))


@given(RESULTS, st.data())
def test_returning_text_again_never_raises_recall_at_a_budget(results, data):
    place = data.draw(st.integers(0, len(results) - 1))
    again = [*results[: place + 1], results[place], *results[place + 1 :]]
    before, after = values(results, BUDGETS), values(again, BUDGETS)
    assert all(after[name] <= before[name] for name in BUDGETS)


@given(RESULTS, st.randoms())
def test_the_order_of_results_does_not_matter_to_sets_of_characters(results, random):
    shuffled = random.sample(results, len(results))
    names = [name for name in CHARACTERS if name != "MAgP"]
    assert values(shuffled, names) == pytest.approx(values(results, names))
