"""Do other assessors or shallower pools order the runs otherwise? With scores that a pencil can follow."""

import math
from dataclasses import replace

import numpy as np
import pytest

from focuseval.assessment.golds import build_gold
from focuseval.assessment.plan import Assessor, Pooled, register
from focuseval.assessment.stability import only_pairs, only_topics, over_assessors, over_depths, over_topics
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document
from focuseval.evaluation.scores import Scores
from strategies.assessing import PAGE, mark, save

RUNS = {"A": {"d1", "d2"}, "B": {"d2", "d3"}, "C": {"d3"}}


def score(gold):
    """Run → how many relevant documents it returned."""
    names = gold.documents.to_pylist()
    rows = zip(gold.articles.document.tolist(), gold.articles.relevance.tolist(), strict=True)
    relevant = {names[document] for document, grade in rows if grade}
    return {run: len(documents & relevant) for run, documents in RUNS.items()}


@pytest.fixture
def golds(store):
    told = {"ann": ["d1", "d2"], "bob": ["d3"]}
    for name, relevant in told.items():
        register(store, Assessor(name))
        for document in ("d1", "d2", "d3"):
            key, page = Key(name, "1", document), Document(document, PAGE.text, PAGE.elements)
            if document in relevant:
                save(store, mark(0, 6), key=key, page=page)
            save(store, {"kind": "finish", "relevant": document in relevant}, key=key, page=page)
    return {name: build_gold(store, name) for name in told}


def test_assessors_who_disagree_turn_the_ranking_round(golds):
    (swap,) = over_assessors(golds, score)
    # ann: A 2, B 1, C 0; bob: A 0, B 1, C 1. Two pairs against, one tied: τ_b = −2 / √(3 · 2).
    assert (swap.left, swap.right) == ("ann", "bob")
    assert swap.tau == pytest.approx(-2 / 6**0.5)


def test_a_shallower_pool_leaves_judgements_out(golds):
    pool = [Pooled("1", "d1", best=2), Pooled("1", "d2", best=1), Pooled("1", "d3", best=1), Pooled("2", "d1", best=3)]
    shallow, deep = over_depths(golds["ann"], pool, score)
    assert (deep.left, deep.tau) == ("depth 2", 1.0)
    # without d1: A 1, B 1, C 0 against A 2, B 1, C 0.
    assert shallow.tau == pytest.approx(2 / 6**0.5)


def test_part_of_a_gold_is_a_gold(golds):
    gold = golds["ann"]
    part = only_pairs(gold, {("1", "d2")})
    assert part.articles.document.tolist() == [gold.documents.to_pylist().index("d2")]
    assert len(part.passages.start) == 1
    assert part.passages.quote.to_pylist() == ["Title "]
    assert only_topics(gold, {("1", "d2")}).topics == ("1",)
    assert only_topics(gold, set()).topics == ()


def test_assessors_who_judged_the_same_where_both_did_agree_whatever_else_they_judged(golds):
    """After ``--split pool`` two assessors share a topic and few of its documents."""
    ann, bob = (
        only_pairs(golds["ann"], {("1", "d1"), ("1", "d2")}),
        only_pairs(golds["ann"], {("1", "d1"), ("1", "d3")}),
    )
    (swap,) = over_assessors({"ann": ann, "bob": bob}, score)
    assert (swap.tau, swap.documents) == (pytest.approx(1), 1)


def test_assessors_without_a_document_in_common_get_a_dash(golds):
    for part in (only_topics(golds["bob"], set()), only_pairs(golds["bob"], {("1", "d3")})):
        (swap,) = over_assessors({"ann": only_pairs(golds["ann"], {("1", "d1")}), "bob": part}, score)
        assert math.isnan(swap.tau)
        assert swap.documents == 0


def test_scores_and_tau_have_intervals_over_topics():
    """Of a second assessor whose judgements score every run .1 higher, the difference is known to the last digit."""
    rng = np.random.default_rng(3)
    topics, runs = tuple(f"t{n}" for n in range(12)), ("a", "b", "c")
    values = rng.random((3, 12, 1)) * 0.5 + np.array([0.0, 0.1, 0.4])[:, None, None]
    first = Scores(runs, topics, ("AP",), values, (), "")
    second = replace(first, values=values + 0.1, topics=topics[::-1], runs=runs)
    second = replace(second, values=second.values[:, ::-1])
    (low, high), apart = over_topics(first, second)
    assert (low, high) == (1, 1)
    assert [part == pytest.approx((0.1, 0.1, 0.1)) for part in apart] == [True] * 3
    noisy = replace(first, values=values + rng.normal(0, 0.2, values.shape))
    (low, high), apart = over_topics(first, noisy)
    assert -1 <= low < high <= 1
    assert all(below < mean < above for mean, below, above in apart)
    few = [replace(one, topics=topics[:4], values=one.values[:, :4]) for one in (first, noisy)]
    assert np.isnan(over_topics(*few)[0]).all()
