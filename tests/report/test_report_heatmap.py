"""What is highlighted and returned in every article, held against sets of characters; and which articles travel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.errors import NotComparableError
from focuseval.report.build import gather_evidence
from focuseval.report.choose import choose, explains, ranked
from focuseval.report.explained import explain, topic_views, weights
from focuseval.report.heatmap import article_view, articles
from strategies.campaigns import campaign

SPAN = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda s: (s[0], s[0] + s[1]))
TEXTS = dict.fromkeys("xyz", "abcdefghij" * 5)
RESULTS = st.lists(st.tuples(st.sampled_from(sorted(TEXTS)), SPAN).map(lambda r: (r[0], *r[1])), min_size=1, max_size=8)


def characters(spans):
    return {i for start, end in spans for i in range(start, end)}


def pairs(flat):
    return list(zip(flat[::2], flat[1::2], strict=True))


@settings(max_examples=25)
@given(st.lists(SPAN, min_size=1, max_size=3), st.lists(SPAN, max_size=2), st.lists(RESULTS, min_size=1, max_size=3))
def test_every_article_holds_exactly_the_characters_of_gold_and_runs(first, second, results):
    judged = {"x": {"spans": first, "bep": 3}, "y": {"spans": second}, "z": {}}
    gold = gold_of({"t": {name: {"length": 50, **own} for name, own in judged.items()}})
    runs = [run_of({"t": own}, f"r{n}") for n, own in enumerate(results)]
    evidence = gather_evidence(gold, runs, ["charP"], index=TEXTS)
    table = articles(evidence)
    ids = [evidence.index.ids[int(row)].as_py() for row in table.document]
    assert set(ids) >= {"x"} | {document for own in results for document, _, _ in own}
    for row, name in enumerate(ids):
        relevant = characters({"x": first, "y": second}.get(name, []))
        view = article_view(table, row, name)
        assert characters(pairs(view["gold"])) == relevant
        assert view["bep"] == (3 if name == "x" else -1)
        for place, number in enumerate(evidence.drawn):
            own = [(start, end) for document, start, end in results[number] if document == name]
            returned = characters(own)
            assert table.size[place, row] == len(returned)
            assert table.relevant[place, row] == len(returned & relevant)
            seen = view["runs"].get(str(place), {"spans": [], "entry": -1, "rank": 0, "begins": []})
            assert characters(pairs(seen["spans"])) == returned
            begins = [(start, n) for n, (document, start, _) in enumerate(results[number], 1) if document == name]
            assert pairs(seen["begins"]) == begins
            assert seen["entry"] == (own[0][0] if own else -1)
            order = list(dict.fromkeys(document for document, _, _ in results[number]))
            assert seen["rank"] == (order.index(name) + 1 if own else 0)


@pytest.fixture(scope="module")
def evidence():
    gold, runs, texts = campaign(topics=12, runs=3, documents=40, length=2000)
    return gather_evidence(gold, runs, ["MAgP"], index=texts, task="spans")


def test_the_articles_of_one_topic_are_those_of_all_topics(evidence):
    table = articles(evidence, depth=None)
    for topic in (0, 7):
        alone = articles(evidence, topic, depth=None)
        rows = np.flatnonzero(table.topic == topic)
        assert alone.document.tolist() == table.document[rows].tolist()
        assert alone.relevant.tolist() == table.relevant[:, rows].tolist()
        assert len(topic_views(evidence, topic)) == len(rows)


def test_text_that_one_run_found_and_the_other_missed_explains_most(evidence):
    table = articles(evidence)
    told = explains(table, (0, 1))
    found = np.abs(table.relevant[0] - table.relevant[1])
    assert found[np.argmax(told)] > 0
    assert told.min() > 0


def test_deciding_topics_come_first_then_one_article_of_every_topic(evidence):
    table = articles(evidence)
    weight = weights(evidence)
    order = ranked(table, (0, 1), weight)
    assert sorted(order) == list(range(len(table)))
    deciding = set(np.argsort(-weight, kind="stable")[:5].tolist())
    topics = [int(table.topic[row]) for row in order]
    assert set(topics[:15]) == deciding
    assert set(topics[: 15 + 7]) == set(range(12))


@pytest.mark.parametrize("budget", [0, 3000, 20_000, 10**9])
def test_the_budget_is_kept_and_documents_are_paid_for_once(evidence, budget):
    table = articles(evidence)
    asked = []
    order = ranked(table, (0, 1), weights(evidence))
    chosen = choose(order, table, evidence.index.lengths, lambda row: asked.append(row) or 2000, budget)
    assert 2000 * len({int(table.document[row]) for row in chosen}) <= budget
    assert chosen == sorted(chosen, key=order.index)
    if budget == 10**9:
        assert len(chosen) == len(table)


def test_a_document_too_long_for_the_budget_does_not_keep_out_the_others():
    gold = gold_of({"t": {"x": {"spans": [(0, 900)], "length": 99_000}, "y": {"spans": [(0, 9)], "length": 50}}})
    texts = {"x": "a" * 99_000, "y": "b" * 50}
    evidence = gather_evidence(gold, [run_of({"t": [("x", 0, 100), ("y", 0, 20)]})], ["charP"], index=texts)
    heat, kept = explain(evidence, 5000)
    assert list(kept) == ["y"]
    assert "1 further articles" in heat.said


def test_what_was_left_out_is_counted(evidence):
    heat, kept = explain(evidence, 30_000)
    shown = sum(len(topic["articles"]) for topic in heat.topics)
    left = len(articles(evidence)) - shown
    assert heat.said.startswith(f"{shown} articles ({len(kept)} documents, ")
    assert f"{left:,} further articles" in heat.said
    assert {a["doc"] for topic in heat.topics for a in topic["articles"]} == set(kept)


def test_an_unknown_baseline_is_refused_in_one_line():
    gold, runs, texts = campaign(topics=2, runs=2, documents=8)
    with pytest.raises(NotComparableError, match="baseline 'nobody' is none of the runs; there are run-00, run-01"):
        gather_evidence(gold, runs, ["MAgP"], index=texts, baseline="nobody")
