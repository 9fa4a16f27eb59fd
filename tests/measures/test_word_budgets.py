"""Budgets of words: array code equals counting words one by one, on random texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from building import gold_of, run_of
from focuseval.errors import MissingDataError
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from focuseval.measures.spans import restricted
from oracle import highlighted as slow
from strategies.highlighted import DOCUMENTS, LENGTH, collections

LETTERS = st.text("ab  \n\u00a0\u2003🙂", min_size=LENGTH + 30, max_size=LENGTH + 30)
TEXTS = st.fixed_dictionaries(dict.fromkeys((*DOCUMENTS, "u1"), LETTERS))


def words(text):
    """Start and end of every run of characters that are not white space."""
    edges = [i for i in range(len(text) + 1) if _black(text, i - 1) != _black(text, i)]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _black(text, i):
    return 0 <= i < len(text) and not text[i].isspace()


def read(results, texts, budget):
    """Every character that a reader of so many words sees: words that a result cuts count, blanks at the end do not."""
    seen, left = set(), budget
    for document, start, end in results:
        here = [(s, e) for s, e in words(texts.get(document, "")) if s < end and e > start and start < end]
        if left <= 0:
            break
        stop = end if len(here) < left else min(here[left - 1][1], end)
        seen |= {(document, i) for i in range(start, stop)}
        left -= len(here)
    return seen


@given(collections(), TEXTS, st.integers(1, 12))
def test_a_reader_of_some_words_sees_what_counting_them_one_by_one_shows(case, texts, budget):
    gold, run = case
    whole = {"length": LENGTH + 30}
    gold = {t: {d: {"spans": [], **own.get(d, {}), **whole} for d in texts} for t, own in gold.items()}
    run = {t: [row for row in rows if row[0] != "u2"] for t, rows in run.items()}
    counted = {t: judged for t, judged in gold.items() if slow.relevant_documents(judged)}
    if not counted:
        return
    scores = fe.evaluate(gold_of(gold), run_of(run), [f"spanP@{budget}w", f"spanR@{budget}w"], docs=texts)
    for topic, (precision, recall) in zip(scores.topics, scores.values[0].tolist(), strict=True):
        seen = read(run.get(topic, []), texts, budget)
        found = len(slow.good(counted[topic], seen))
        assert precision == pytest.approx(found / len(seen) if seen else 0)
        assert recall == pytest.approx(found / slow.trel(counted[topic]))


def test_the_slow_words_are_those_of_split():
    text = " two\u00a0words,\n\nthree "
    assert [text[start:end] for start, end in words(text)] == text.split()


def test_a_document_that_is_not_in_the_collection_has_no_words():
    texts = {"a": "one two three", "z": "last words of another document"}
    gold = gold_of({"t": {"a": {"spans": [(0, 13)], "length": 13}}})
    run = run_of({"t": [("gone", 0, 9), ("a", 0, 13)]})
    scores = fe.evaluate(gold, run, ["spanR@2w"], docs=texts)
    assert scores.values.ravel().tolist() == [7 / 13]


def test_a_run_without_results_shows_no_words():
    gold = gold_of({"t": {"a": {"spans": [(0, 3)], "length": 3}}})
    scores = fe.evaluate(gold, run_of({"t": []}), ["spanR@5w"], docs={"a": "one"})
    np.testing.assert_array_equal(scores.values, [[[0.0]]])


def test_a_budget_of_words_needs_the_texts():
    gold = gold_of({"t": {"a": {"spans": [(0, 3)], "length": 3}}})
    with pytest.raises(MissingDataError) as caught:
        fe.evaluate(gold, run_of({"t": [("a", 0, 3)]}), ["spanR@5w"])
    assert str(caught.value) == "a budget of words needs the text of the documents; give docs= or index="


def test_blanks_behind_the_last_word_are_not_read():
    # the chunk's two words are all that the budget pays for, and they are highlighted
    gold = gold_of({"t": {"a": {"spans": [(0, 7)], "length": 10}}})
    scores = fe.evaluate(gold, run_of({"t": [("a", 0, 10)]}), ["spanP@2w", "spanP@3w"], docs={"a": "one two   "})
    assert scores.values.ravel().tolist() == [1, 0.7]


def test_a_result_behind_the_last_word_of_the_budget_shows_nothing():
    texts = {"a": "other words", "b": "one two"}
    gold = gold_of({"t": {"a": {"spans": [], "length": 11}, "b": {"spans": [(0, 7)], "length": 7}}})
    scores = fe.evaluate(gold, run_of({"t": [("b", 0, 7), ("a", 0, 11)]}), ["spanP@2w", "spanP@3w"], docs=texts)
    assert scores.values.ravel().tolist() == [1, 7 / 12]


def test_an_article_s_results_are_cut_after_its_first_characters():
    gold = gold_of({"t": {"a": {"spans": [(0, 7)], "length": 99}}})
    m = match(run_of({"t": [("a", 0, 50), ("b", 0, 50), ("a", 60, 80), ("a", 80, 90)]}), prepare(gold))
    assert restricted(m, 60).size.tolist() == [50, 50, 10, 0]
    nothing = match(run_of({"t": []}), prepare(gold))
    assert restricted(nothing, 60).size.tolist() == []
