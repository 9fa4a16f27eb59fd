"""Needed spans: alternatives of which one will do, items that are all needed, and golds that say nothing of it."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from building import gold_of, run_of
from focuseval.errors import MeasureError
from oracle import needs as slow
from strategies.highlighted import collections, usable

CASES = {
    "needR": (slow.needR, {}),
    "needR@2": (slow.needR, {"at": 2}),
    "needR@13c": (slow.needR, {"at": "13c"}),
    "S-recall@2": (slow.s_recall, {"at": 2}),
    "S-recall(share=0.07)": (slow.s_recall, {"share": "0.07"}),
    "S-recall(share=0.7)@3": (slow.s_recall, {"at": 3, "share": "0.7"}),
    "S-recall(share=0)@9c": (slow.s_recall, {"at": "9c", "share": "0"}),
    "all-recall": (slow.all_recall, {}),
    "all-recall(share=0.5)@2": (slow.all_recall, {"at": 2, "share": "0.5"}),
}


@given(case=collections(), data=st.data())
def test_every_measure_of_needs_equals_its_slow_twin(case, data):
    judged, results = case
    if not usable("needR", judged, results):
        return
    spans = [(t, d, s, e) for t in judged for d, found in judged[t].items() for s, e in found["spans"]]
    names = data.draw(st.lists(st.sampled_from([None, "a", "b"]), min_size=len(spans), max_size=len(spans)))
    gold = gold_of(judged)
    if any(names):
        gold = replace(gold, passages=replace(gold.passages, need=pa.array(names, pa.string())))
    values = fe.evaluate(gold, run_of(results), list(CASES)).per_topic()["run"]
    for topic in values:
        mine = [(d, s, e, name) for (t, d, s, e), name in zip(spans, names, strict=True) if t == topic]
        truth = {name: float(compute(mine, results.get(topic, []), **said)) for name, (compute, said) in CASES.items()}
        assert values[topic] == pytest.approx(truth, abs=1e-12)


TEXTS = {"a.md": "Ada was born in London. She wrote about engines.", "b.md": "London is where Ada was born, in 1815."}
ROWS = [
    {"topic": "q1", "doc": "a.md", "quote": "born in London", "need": "birthplace"},
    {"topic": "q1", "doc": "b.md", "quote": "London is where Ada was born", "need": "birthplace"},
    {"topic": "q1", "doc": "b.md", "quote": "in 1815", "need": "year"},
]
MEASURES = ["needR@1", "S-recall@1", "all-recall@1", "spanR@1"]


def scored(rows, text, doc):
    return fe.evaluate(rows, [{"topic": "q1", "doc": doc, "text": text}], MEASURES, docs=TEXTS).means()["run"]


def test_one_alternative_in_another_document_is_enough():
    assert [scored(ROWS, TEXTS["b.md"], "b.md")[name] for name in MEASURES] == pytest.approx([1, 1, 1, 35 / 49])


def test_a_budget_of_words_cuts_what_is_returned():
    run = [{"topic": "q1", "doc": "b.md", "text": TEXTS["b.md"]}]
    names = ["needR@6w", "needR@5w", "S-recall@6w", "all-recall@8w", "all-recall@7w"]
    found = fe.evaluate(ROWS, run, names, docs=TEXTS).means()["run"]
    assert [found[name] for name in names] == pytest.approx([0.5, 23 / 28 / 2, 0.5, 1, 0])


def test_a_needed_item_that_is_not_returned_is_missed():
    assert [scored(ROWS, TEXTS["a.md"], "a.md")[name] for name in MEASURES] == pytest.approx([0.5, 0.5, 0, 14 / 49])


def test_without_names_every_span_is_needed():
    bare = [{key: row[key] for key in ("topic", "doc", "quote")} for row in ROWS]
    assert [scored(bare, TEXTS["b.md"], "b.md")[name] for name in MEASURES[:3]] == pytest.approx([2 / 3, 2 / 3, 0])


def test_names_change_no_other_measure():
    others = [
        m.name + ("@3" if m.at_required else "") for m in fe.MEASURES if m.needs == ("spans",) and m.at != ("level",)
    ]
    others = [name for name in others if fe.parse(name).measure.name not in {"needR", "S-recall", "all-recall", "iP"}]
    bare = [{key: row[key] for key in ("topic", "doc", "quote")} for row in ROWS]
    run = [{"topic": "q1", "doc": "b.md", "start": 0, "end": 30}]
    one, two = (fe.evaluate(rows, run, others, docs=TEXTS).means() for rows in (ROWS, bare))
    assert one == two


def test_a_share_above_one_is_refused():
    with pytest.raises(MeasureError, match=r"^share=2: expected a share of the text, from 0 to 1$"):
        scored_by("S-recall(share=2)")


def scored_by(name):
    return fe.evaluate(ROWS, [{"topic": "q1", "doc": "b.md", "start": 0, "end": 9}], [name], docs=TEXTS)


def test_names_survive_writing_and_reading(tmp_path):
    gold = fe.read_gold(_written(tmp_path))
    assert gold.passages.need.to_pylist() == ["birthplace", "birthplace", "year"]
    fe.write_gold(gold, tmp_path / "again.jsonl", "gold-jsonl")
    assert fe.read_gold(tmp_path / "again.jsonl").passages.need.to_pylist() == ["birthplace", "birthplace", "year"]


def test_a_format_that_has_no_names_says_that_it_leaves_them_out(tmp_path):
    gold = fe.read_gold(_written(tmp_path), index=fe.open_documents(TEXTS))
    said = fe.write_gold(gold, tmp_path / "gold.json", "legalbench-rag", index=fe.open_documents(TEXTS))
    assert tuple(map(str, said)) == ("left out: 3 quotes, 3 names of what spans are needed for, 2 document lengths",)


def _written(folder):
    spans = [
        {"start": 8, "end": 22, "quote": "born in London", "need": "birthplace"},
        {"start": 0, "end": 28, "quote": "London is where Ada was born", "need": "birthplace"},
        {"start": 30, "end": 37, "quote": "in 1815", "need": "year"},
    ]
    lines = [{"topic": "q1", "doc": "a.md", "spans": spans[:1]}, {"topic": "q1", "doc": "b.md", "spans": spans[1:]}]
    (folder / "gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "gold.jsonl"


def test_different_answers_to_a_squad_question_are_alternatives(tmp_path):
    answers = '[{"text": "London", "answer_start": 16}, {"text": "born in London", "answer_start": 8}]'
    (tmp_path / "squad.json").write_text(
        '{"data": [{"title": "Ada", "paragraphs": [{"context": "Ada was born in London.", "qas": '
        f'[{{"id": "q1", "question": "Where?", "answers": {answers}}}]}}]}}]}}'
    )
    run = [{"topic": "q1", "doc": "Ada", "start": 16, "end": 22}]
    found = fe.evaluate(tmp_path / "squad.json", run, ["needR", "spanR"]).means()["run"]
    assert found == {"needR": 1.0, "spanR": pytest.approx(6 / 14)}
