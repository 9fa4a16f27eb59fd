"""Ranked lists and what was highlighted beside them, held against what gold and runs say."""

import random
from string import ascii_letters

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.errors import NotComparableError
from focuseval.report.build import gather_evidence
from focuseval.report.text_view import BELOW, explain, lists_of, numbered, topic_view
from focuseval.report.texts import size_of
from strategies.campaigns import campaign

SPAN = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda s: (s[0], s[0] + s[1]))
TEXTS = dict.fromkeys("xyz", "abcdefghij" * 5)
RESULTS = st.lists(st.tuples(st.sampled_from(sorted(TEXTS)), SPAN).map(lambda r: (r[0], *r[1])), min_size=1, max_size=8)


def rows(flat, width):
    return [tuple(flat[i : i + width]) for i in range(0, len(flat), width)]


def characters(spans):
    return {i for start, end in spans for i in range(start, end)}


@settings(max_examples=25)
@given(st.lists(SPAN, min_size=1, max_size=3), st.lists(SPAN, max_size=2), st.lists(RESULTS, min_size=1, max_size=3))
def test_every_list_holds_exactly_the_results_and_highlights_of_runs_and_gold(first, second, results):
    judged = {"x": {"spans": first, "bep": 3}, "y": {"spans": second}, "z": {}}
    gold = gold_of({"t": {name: {"length": 50, **own} for name, own in judged.items()}})
    runs = [run_of({"t": own}, f"r{n}") for n, own in enumerate(results)]
    evidence = gather_evidence(gold, runs, ["charP"], index=TEXTS)
    view, _ = explain(evidence, 10**6)
    (topic,) = view["topics"]
    name = dict(enumerate(view["documents"]))
    for document, spans in (("x", first), ("y", second)):
        own = [(s, e) for d, s, e in rows(topic["gold"], 3) if name[d] == document]
        assert characters(own) == characters(spans)
    assert [(name[d], bep) for d, bep in rows(topic["bep"], 2)] == [("x", 3)]
    returned = {document for own in results for document, _, _ in own}
    not_relevant = {"z"} | (set() if second else {"y"})
    assert {name[d] for d in topic["no"]} == not_relevant & returned
    for place, number in enumerate(evidence.drawn):
        count, top = topic["runs"][place]
        assert count == len(results[number])
        assert [(name[d], s, s + length) for d, s, length in rows(top, 3)] == results[number]


def test_below_the_depth_only_results_in_relevant_documents_are_kept_with_what_stands_before_them():
    results = [(name, 0, 10 + n) for n, name in enumerate(["x", "y", "y", "x", "z", "x"])]
    gold = gold_of({"t": {"x": {"spans": [(0, 9)], "length": 50}, "z": {"length": 50}}})
    evidence = gather_evidence(gold, [run_of({"t": results})], ["charP"], index=TEXTS)
    view = topic_view(lists_of(evidence), 0, 2)
    count, top, rest = view["runs"][0]
    x, y, z = evidence.index.find(["x", "y", "z"]).tolist()
    assert (count, top) == (6, [x, 0, 10, y, 0, 11])
    assert rows(rest, 6) == [(4, 1, 10 + 11 + 12, x, 0, 13), (6, 1, 10 + 11 + 12 + 13 + 14, x, 0, 15)]
    assert topic_view(lists_of(evidence), 0, None)["no"] == [z]


def test_of_very_long_lists_the_first_results_in_relevant_documents_are_kept_and_the_last_rank_is_said():
    gold = gold_of({"t": {"x": {"spans": [(0, 9)], "length": 50}}})
    evidence = gather_evidence(gold, [run_of({"t": [("x", n, n + 2) for n in range(9)]})], ["charP"], index=TEXTS)
    _, top, rest, last = topic_view(lists_of(evidence), 0, 2, below=3)["runs"][0]
    assert len(top) == 6
    assert [row[0] for row in rows(rest, 6)] == [3, 4, 5]
    assert last == 5
    assert len(topic_view(lists_of(evidence), 0, 2, below=7)["runs"][0]) == 3
    assert topic_view(lists_of(evidence), 0, 2, below=0)["runs"][0][2:] == [[], 2]


def test_documents_that_the_index_lacks_keep_their_names_in_the_lists():
    gold = gold_of({"1": {"a": {"spans": [(0, 5)], "length": 20}, "gone": {"spans": [(0, 5)], "length": 20}}})
    run = run_of({"1": [("lost", 0, 5), ("gone", 2, 5), ("lost", 4, 9)]}, "one")
    view, texts = explain(gather_evidence(gold, [run], ["charP"], index={"a": "x" * 20}), 10**6)
    (topic,) = view["topics"]
    assert [view["documents"][d] for d, _, _ in rows(topic["runs"][0][1], 3)] == ["lost", "gone", "lost"]
    assert {view["documents"][d] for d, _, _ in rows(topic["gold"], 3)} == {"a", "gone"}
    assert list(texts) == ["a"]


@pytest.fixture(scope="module")
def evidence():
    gold, runs, texts = campaign(topics=12, runs=3, documents=40, length=2000, depth=30)
    return gather_evidence(gold, runs, ["MAgP"], index=texts, task="spans")


def test_a_served_topic_has_every_result(evidence):
    lists = lists_of(evidence)
    view = topic_view(lists, 7, None)
    documents = [lists.document_id(evidence, row) for row in numbered([view])]
    matched = evidence.evaluation.matched(int(evidence.drawn[0]))
    low, high = matched.bounds[7:9]
    count, top = view["runs"][0]
    assert count == len(top) / 3 == high - low > 20
    assert [documents[d] for d in top[::3]] == matched.run.document[low:high].to_pylist()


def embedded(text, piece):
    start, end = piece
    return any(s <= start and end <= e for s, e in rows(text["pieces"], 2))


def test_the_text_of_all_highlights_and_of_the_first_five_results_is_embedded(evidence):
    view, texts = explain(evidence, 300_000)
    assert "left out" not in view["said"]
    wanted = []
    for topic in view["topics"]:
        wanted += [(d, s, e) for d, s, e in rows(topic["gold"], 3)]
        wanted += [(d, s, s + n) for run in topic["runs"] for d, s, n in rows(run[1], 3)[:5]]
    for document, start, end in wanted:
        assert embedded(texts[view["documents"][document]], (start, end))


@pytest.mark.parametrize("budget", [0, 1000, 5000, 200_000, 10**9])
def test_the_budget_is_kept_and_what_is_left_out_is_said(evidence, budget):
    view, texts = explain(evidence, budget)
    assert size_of(texts) <= budget
    shown = sum(len(text["text"]) for text in texts.values())
    assert f"{shown:,} characters of {len(texts):,} document" in view["said"]
    assert ("further results is left out" in view["said"]) == (budget < 200_000)
    assert view["said"].endswith(BELOW.format(depth=view["depth"]))  # lists of 30 results
    if budget == 10**9:
        assert "all of them whole" in view["said"]


def test_of_short_lists_nothing_is_said_of_results_below_those_that_are_listed():
    gold, runs, texts = campaign(topics=3, runs=2, documents=20, depth=20)
    view, _ = explain(gather_evidence(gold, runs, ["MAgP"], index=texts, task="spans"), 10**6)
    assert "only results from relevant documents" not in view["said"]


def test_pieces_are_the_text_of_their_places_and_blocks_cover_them(evidence):
    _, texts = explain(evidence, 12_000)
    partial = [(name, text) for name, text in texts.items() if text["pieces"] != [0, text["length"]]]
    assert partial
    for name, text in partial:
        whole = evidence.index.text(int(evidence.index.find([name])[0]))
        assert text["length"] == len(whole)
        assert text["text"] == "".join(whole[start:end] for start, end in rows(text["pieces"], 2))
        assert sum(text["blocks"][::3]) == len(text["text"])


def test_a_document_too_long_to_embed_shows_the_text_around_what_matters():
    gold = gold_of(
        {"t": {"x": {"spans": [(50_000, 50_900)], "length": 99_000}, "y": {"spans": [(0, 9)], "length": 50}}}
    )
    texts = {"x": "".join(random.Random(1).choices(ascii_letters, k=99_000)), "y": "b" * 50}
    run = run_of({"t": [("x", 0, 100), ("y", 0, 20)]})
    _, kept = explain(gather_evidence(gold, [run], ["charP"], index=texts), 5000)
    assert kept["x"]["pieces"] == [0, 180, 50_000 - 160, 50_900 + 160]
    assert kept["y"]["pieces"] == [0, 50]


def test_text_of_other_scripts_keeps_the_budget_too():
    text = "".join(random.Random(1).choices("潮汐是海水的升降月亮引力", k=18_000))
    gold = gold_of({"t": {"x": {"spans": [(0, 9000)], "length": len(text)}}})
    evidence = gather_evidence(gold, [run_of({"t": [("x", 0, 9000)]})], ["charP"], index={"x": text})
    _, kept = explain(evidence, 5_000)
    assert 2_000 < size_of(kept) <= 5_000


def test_the_heading_of_an_article_is_its_title_and_not_its_front_matter(tmp_path):
    from focuseval.collection.documents import open_documents  # noqa: PLC0415

    front = "<front><journal-meta><journal-id>plos</journal-id></journal-meta><article-meta><article-id>10</article-id>"
    title = "<title-group><article-title>How <i>tides</i> rise</article-title></title-group></article-meta></front>"
    body = f"<body>{'<p>The moon pulls. </p>' * 4000}</body>"
    (tmp_path / "x.xml").write_text(f"<article>{front}{title}{body}</article>", encoding="utf-8")
    index = open_documents(tmp_path)
    gold = gold_of({"t": {"x": {"spans": [(500, 900)], "length": len(index.text(0))}}})
    for budget in (3000, 10**6):
        _, kept = explain(gather_evidence(gold, [run_of({"t": [("x", 0, 100)]})], ["charP"], index=index), budget)
        assert kept["x"]["title"] == "How tides rise"


def test_many_topics_and_runs_show_fewer_results_of_every_list(monkeypatch):
    monkeypatch.setattr("focuseval.report.text_view.MOST_LISTED", 30)
    gold, runs, texts = campaign(topics=5, runs=2, documents=20)
    view, _ = explain(gather_evidence(gold, runs, ["MAgP"], index=texts, task="spans"), 10**6)
    assert view["depth"] == 3
    assert "The first 3 results of every list are here." in view["said"]
    assert all(len(run[1]) == 9 for topic in view["topics"] for run in topic["runs"])


def test_an_unknown_baseline_is_refused_in_one_line():
    gold, runs, texts = campaign(topics=2, runs=2, documents=8)
    with pytest.raises(NotComparableError, match="baseline 'nobody' is none of the runs; there are run-00, run-01"):
        gather_evidence(gold, runs, ["MAgP"], index=texts, baseline="nobody")


def test_numbers_are_plain_integers(evidence):
    view, _ = explain(evidence, 0)
    flat = [n for topic in view["topics"] for n in (*topic["gold"], *topic["runs"][0][1])]
    assert not any(isinstance(n, np.integer) for n in flat)
