"""Parts of documents meet the articles of the gold by hashed keys as they do by name."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.engine.native import hash64
from focuseval.errors import CollectionError, TaskError
from focuseval.evaluation.evaluation import evaluate
from focuseval.measures.matching import match
from strategies.element_runs import columns_of_run
from strategies.element_runs import gold_of as graded_gold

GOLD = {"t": {"a": {"spans": [(0, 10)]}, "b": {}}, "u": {"a": {"spans": [(5, 9)]}}}
RESULTS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 20), st.integers(0, 9)), max_size=8)


def run(first, second):
    return run_of({topic: [(d, s, s + n) for d, s, n in rows] for topic, rows in (("u", second), ("t", first))})


@given(RESULTS, RESULTS)
def test_parts_meet_the_articles_that_a_comparison_of_names_finds(first, second):
    found = match(run(first, second), gold_of(GOLD)).documents
    pairs = [("t", d) for d, *_ in first] + [("u", d) for d, *_ in second]
    judged = [("t", "a"), ("t", "b"), ("u", "a")]
    assert found.known.tolist() == [judged.index(pair) if pair in judged else -1 for pair in pairs]
    assert found.distinct == (len(set(pairs)) == len(pairs))
    strange = [pair for pair in pairs if pair not in judged]
    assert found.group().tolist() == [strange.index(pair) for pair in strange]


IDS = st.sampled_from(["a", "a.xml", "b", "b.md", "b.MD", "c", "c.v2", "numpy.fft", "numpy.ma"])
ENCODINGS = {
    "plain": lambda ids: ids,
    "large": lambda ids: ids.cast(pa.large_string()),
    "coded": lambda ids: ids.dictionary_encode(),
    "chunked": lambda ids: pa.chunked_array([ids[:2], ids[2:]]),
    "chunks of codes": lambda ids: pa.chunked_array([ids[:2].dictionary_encode(), ids[2:].dictionary_encode()]),
}


def meant(name, known):
    """The document of the gold that an id means: itself, else the only one that differs in its extension."""
    if name in known:
        return name
    same = [other for other in known if bare(other) == bare(name)]
    return same[0] if len(same) == 1 else None if not same else "ambiguous"


def bare(name):
    return re.sub(r"[.](xml|md)$", "", name, flags=re.IGNORECASE)


@given(st.lists(IDS, unique=True, min_size=2, max_size=5), st.lists(IDS, unique=True, max_size=5), st.booleans())
def test_ids_are_decided_one_by_one_whatever_holds_them(judged, returned, keys):
    """The second judged document is judged for another topic: it is the same document all the same."""
    here = [judged[0], *judged[2:]]
    gold = gold_of({"t": {name: {"grade": 1} for name in here}, "u": {judged[1]: {"grade": 1}}}, scale="trec")
    wanted = [meant(name, judged) for name in returned]
    ids = pa.array(returned, pa.string())
    for encode in ENCODINGS.values():
        run = replace(run_of({"t": returned}), document=encode(ids), keys=hash64(ids) if keys else None)
        if "ambiguous" in wanted:
            with pytest.raises(CollectionError, match="is ambiguous"):
                match(run, gold).known  # noqa: B018  the property refuses
            continue
        found = match(run, gold)
        assert found.known.tolist() == [here.index(name) if name in here else -1 for name in wanted]
        one = [name or own for name, own in zip(wanted, returned, strict=True)]
        assert len(found.a_first) == len(set(one))
        assert found.documents.distinct in {len(set(one)) == len(one), False}


@given(st.lists(st.sampled_from("abcd"), unique=True), st.lists(st.sampled_from("abcde"), unique=True))
def test_ids_that_share_a_key_are_told_apart_by_their_names(judged, returned):
    with pytest.MonkeyPatch.context() as patch:
        for module in ("focuseval.measures.document_matching", "focuseval.measures.prepared"):
            patch.setattr(f"{module}.hash64", lambda ids: np.zeros(len(ids), np.uint64))
        gold = gold_of({"t": {name: {"grade": 1} for name in [*judged, "z"]}}, scale="trec")
        whole = replace(run_of({"t": returned}), keys=np.zeros(len(returned), np.uint64))
        parts = run_of({"t": [(name, 0, 1) for name in [*returned, *returned]]})
        for run, names in ((whole, returned), (parts, [*returned, *returned])):
            found = match(run, gold)
            assert found.known.tolist() == [judged.index(name) if name in judged else -1 for name in names]
            assert len(found.a_first) == len(returned)


def test_articles_are_the_same_however_many_results_are_looked_up_together(monkeypatch):
    results = [(name, 0, 1) for name in "cabdbca"]
    found = match(run(results, results), gold_of(GOLD))
    monkeypatch.setattr("focuseval.measures.document_matching.BLOCK", 3)
    in_blocks = match(run(results, results), gold_of(GOLD))
    assert in_blocks.known.tolist() == found.known.tolist() == [-1, 0, 1, -1, 1, -1, 0, -1, 2, -1, -1, -1, -1, 2]
    assert in_blocks.article.tolist() == found.article.tolist()


@given(st.lists(st.sampled_from("abc")))
def test_unjudged_ids_that_share_a_key_are_articles_of_their_own(returned):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("focuseval.measures.document_matching.hash64", lambda ids: np.zeros(len(ids), np.uint64))
        found = match(run_of({"t": [(name, 0, 1) for name in returned]}), gold_of({"t": {"z": {"grade": 1}}}))
        assert len(found.a_first) == len(set(returned))


@given(st.lists(st.sampled_from(["a", "a.md", "b", "b.md", "c.md"]), unique=True))
def test_keys_do_not_hide_another_spelling_of_an_id(returned):
    gold = gold_of({"t": {"a": {"grade": 1}, "b.md": {"grade": 1}}, "u": {"c.md": {"grade": 1}}}, scale="trec")
    run = run_of({"t": returned})
    promised = match(replace(run, keys=hash64(run.document)), gold)
    assert promised.known.tolist() == [{"a": 0, "b": 1}.get(name[0], -1) for name in returned]
    assert promised.known.tolist() == match(run, gold).known.tolist()


@given(RESULTS, RESULTS)
def test_what_was_returned_before_is_not_new_however_articles_are_found(first, second):
    found = match(run(first, second), gold_of(GOLD))
    seen, expected = {}, []
    for topic, rows in (("t", first), ("u", second)):
        for d, s, n in rows:
            text = set(range(s, s + n)) - seen.setdefault((topic, d), set())
            seen[topic, d] |= text
            marked = {("t", "a"): set(range(10)), ("u", "a"): set(range(5, 9))}.get((topic, d), set())
            expected.append((len(text), len(text & marked)))
    assert list(zip(found.new_size.tolist(), found.new_rsize.tolist(), strict=True)) == expected


ELEMENTS = graded_gold(
    {("t1", "d1", "/a[1]"): (2, -1, 100, 20), ("t1", "d1", "/a[1]/b[1]"): (2, -1, 40, 20)}, "highlights"
)


@pytest.mark.parametrize("paths", [["/a[1]", "/a/b"], ["/a[1]/b[1]", "/a[1]"], ["/a[1]/b[1]/c[2]", "/a[1]/b"]])
def test_elements_that_contain_one_another_are_refused_in_a_focused_run(paths):
    unlawful = columns_of_run({"t1": [("d1", path) for path in paths]})
    with pytest.raises(TaskError, match=r"expected no overlap|expected each result once"):
        evaluate(ELEMENTS, unlawful, ["nxCG@5"], task="focused")


def test_elements_side_by_side_are_lawful_in_a_focused_run():
    lawful = columns_of_run({"t1": [("d1", "/a[1]/b[1]"), ("d1", "/a[1]/b[10]"), ("d2", "/a[1]")]})
    assert evaluate(ELEMENTS, lawful, ["nxCG@5"], task="focused").mean[0, 0] == 1
