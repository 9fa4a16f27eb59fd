"""What must hold for chunks of any shape: bounds, and what cutting, repeating and joining chunks may do."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.evaluation.evaluation import evaluate
from focuseval.measures.profiles import profile_named
from strategies.highlighted import collections

EVERYTHING = (*profile_named("rag").tasks["spans"], "spanRR", "spanNDCG@5", "spanNDCG", "spanR", "spanP", "IoU")
CEILINGS = tuple(f"ceiling({name})" for name in ("spanP", "spanR", "spanF", "IoU"))
BUDGETS = ("spanR@3c", "spanR@7c", "spanR@12c", "spanR@25c")
COUNTS = ("spanR", "spanP", "spanF", "IoU", "hit", "full", "charP", "charR")

WORDS = "to be or not to be, that is the question: whether 'tis nobler in the mind to suffer"
GOLD = {"q": {"d": {"length": len(WORDS), "spans": [(3, 9), (20, 34), (30, 41)]}}}
SPANS = st.tuples(st.integers(0, len(WORDS)), st.integers(0, len(WORDS))).map(sorted).filter(lambda s: s[0] < s[1])
CHUNKS = st.lists(SPANS.map(lambda span: ("d", *span)), min_size=1, max_size=6)


def values(chunks, measures, docs=None):
    scores = evaluate(gold_of(GOLD), run_of({"q": chunks}), list(measures), docs=docs)
    return scores.values[0, 0]


@settings(max_examples=25)
@given(collections())
def test_no_measure_leaves_the_range_from_0_to_1(case):
    gold, run = case
    assume(any(info["spans"] for judged in gold.values() for info in judged.values()))
    documents = {document for judged in gold.values() for document in judged}
    assume(any(document in documents for results in run.values() for document, _, _ in results))
    found = evaluate(gold_of(gold), run_of(run), [*EVERYTHING, *CEILINGS]).values
    assert ((found >= 0) & (found <= 1)).all()


@given(CHUNKS, st.data())
def test_splitting_a_chunk_never_raises_recall_at_a_budget_and_changes_no_character(chunks, data):
    number = data.draw(st.integers(0, len(chunks) - 1))
    document, start, end = chunks[number]
    cut = data.draw(st.integers(start, end))
    split = [*chunks[:number], (document, start, cut), (document, cut, end), *chunks[number + 1 :]]
    np.testing.assert_allclose(values(split, (*BUDGETS, *COUNTS)), values(chunks, (*BUDGETS, *COUNTS)))


@given(CHUNKS, st.data())
def test_splitting_a_chunk_never_raises_recall_at_a_budget_of_words(chunks, data):
    """A cut inside a word makes two of it, each of which costs one."""
    number = data.draw(st.integers(0, len(chunks) - 1))
    document, start, end = chunks[number]
    cut = data.draw(st.integers(start, end))
    split = [*chunks[:number], (document, start, cut), (document, cut, end), *chunks[number + 1 :]]
    names, docs = ("spanR@1w", "spanR@3w", "spanR@8w"), {"d": WORDS}
    assert (values(split, names, docs) <= values(chunks, names, docs) + 1e-12).all()


@given(CHUNKS, st.data())
def test_repeating_a_chunk_never_raises_recall_at_a_budget(chunks, data):
    number, place = (data.draw(st.integers(0, len(chunks) - 1)) for _ in range(2))
    place = max(place, number) + 1
    again = [*chunks[:place], chunks[number], *chunks[place:]]
    assert (values(again, BUDGETS) <= values(chunks, BUDGETS) + 1e-12).all()
    np.testing.assert_allclose(values(again, COUNTS), values(chunks, COUNTS))


@given(SPANS, SPANS, st.lists(SPANS.map(lambda span: ("d", *span)), max_size=3))
def test_joining_neighbours_changes_no_count_of_characters(one, other, rest):
    cuts = sorted({*one, *other, 0, len(WORDS)})
    assume(len(cuts) > 2)
    low, middle, high = cuts[:3]
    apart, joined = [("d", low, middle), ("d", middle, high)], [("d", low, high)]
    np.testing.assert_allclose(values([*apart, *rest], COUNTS), values([*joined, *rest], COUNTS))


@given(CHUNKS)
def test_more_characters_never_lower_recall(chunks):
    found = values(chunks, [f"spanR@{n}c" for n in range(1, 40, 3)])
    assert (np.diff(found) >= 0).all()


@settings(max_examples=10)
@given(CHUNKS)
def test_the_curve_passes_through_the_budgets(chunks):
    scores = evaluate(gold_of(GOLD), run_of({"q": chunks}), ["spanR@100c", "spanP@100c"])
    for column, name in enumerate(("spanR", "spanP")):
        points = [row for row in scores.curve(name).to_pylist() if row["topic"] == "q"]
        assert points[0]["x"] == 100
        assert points[0]["y"] == scores.values[0, 0, column]
