"""Document ids of run and gold meet, whichever way they are compared."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.collection.documents import open_documents
from focuseval.engine.native import hash64
from focuseval.errors import InputError, NotComparableError
from focuseval.evaluation.evaluation import evaluate
from focuseval.measures.document_matching import document_codes
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare

GOLD = {"t": {"a": {"grade": 1}, "b": {"grade": 0}}, "u": {"a": {"grade": 2}}}
IDS = st.lists(st.sampled_from(["a", "b", "c", "a longer identifier"]), max_size=6)


@given(IDS, IDS)
def test_a_result_is_judged_by_its_own_topic_and_document(first, second):
    found = match(run_of({"u": second, "t": first}), gold_of(GOLD, scale="trec"))
    rows = {("t", "a"): 0, ("t", "b"): 1, ("u", "a"): 2}
    expected = [rows.get(("t", d), -1) for d in first] + [rows.get(("u", d), -1) for d in second]
    assert found.known.tolist() == expected
    assert found.unjudged == expected.count(-1)


@given(IDS)
def test_a_repeated_document_counts_at_its_first_rank(ids):
    found = match(run_of({"t": ids}), gold_of(GOLD, scale="trec"))
    order = list(dict.fromkeys(ids))
    assert found.a_rank.tolist() == list(range(1, len(order) + 1))
    assert found.found.rank.tolist() == ([order.index("a") + 1] if "a" in order else [])


def test_keys_that_the_reader_promises_lead_to_the_same_articles():
    run = run_of({"t": ["c", "a"], "u": ["b", "a"]})
    promised = replace(run, keys=hash64(run.document))
    gold = gold_of(GOLD, scale="trec")
    assert match(promised, gold).known.tolist() == match(run, gold).known.tolist() == [-1, 0, -1, 2]


@pytest.mark.parametrize(("gold_id", "run_id"), [("a", "a.md"), ("a.md", "a"), ("a.xml", "a.md")])
def test_an_extension_on_either_side_does_not_matter(gold_id, run_id):
    gold = gold_of({"t": {gold_id: {"grade": 1}}}, scale="trec")
    assert match(run_of({"t": [run_id]}), gold).known.tolist() == [0]


def test_an_ambiguous_extension_is_refused():
    gold = gold_of({"t": {"a.md": {"grade": 1}, "a.txt": {"grade": 1}}}, scale="trec")
    with pytest.raises(InputError, match=r"'a' is ambiguous: it could be 'a\.md' or 'a\.txt'"):
        match(run_of({"t": ["a"]}), gold).known  # noqa: B018  the property refuses


@pytest.mark.parametrize(("topics", "missing"), [({"t": ["zzz"]}, "no document"), ({"v": ["a"]}, "no topic")])
def test_a_run_of_another_collection_is_refused_in_one_line(topics, missing):
    with pytest.raises(NotComparableError, match=missing) as refusal:
        evaluate(gold_of(GOLD, scale="trec"), run_of(topics), ["AP"])
    assert "\n" not in str(refusal.value)


def test_a_gold_without_any_document_meets_no_document_of_a_run():
    collection = open_documents({"a": "one", "b": "two"})
    gold = prepare(gold_of({"t": {}}), collection)
    assert document_codes(run_of({"t": ["a", "zzz"]}).document, gold).tolist() == [-1, -1]


def test_a_run_that_answers_nothing_scores_zero_on_every_topic():
    scores = evaluate(gold_of(GOLD, scale="trec"), run_of({}), ["AP", "nDCG@5"])
    assert scores.means() == {"run": {"AP": 0.0, "nDCG@5": 0.0}}
    assert (scores.counts[0].topics, scores.counts[0].missing) == (2, 2)


def test_lists_are_cut_and_topics_brought_into_the_golds_order():
    run = run_of({"u": ["b", "a"], "t": ["a", "c", "b"]})
    found = evaluate(gold_of(GOLD, scale="trec"), run, ["AP"], cutoff=1)
    assert found.per_topic()["run"] == {"t": {"AP": 1.0}, "u": {"AP": 0.0}}
