"""Measures of answers: citations, questions that nothing answers, text that must not come back."""

import contextlib
import json

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from focuseval.cli.gate import gate
from focuseval.data.run import CitedAnswer, Run, Statement
from focuseval.errors import MissingDataError
from focuseval.evaluation.gate import Baseline, judge
from focuseval.evaluation.score_file import Basis
from focuseval.inference.regression import GateRule

DOCS = {"a": "x" * 60, "b": "y" * 60}
SPANS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 50), st.integers(1, 10)), max_size=4)
TOPICS = ("q1", "q2", "q3", "q4")


def gold_of(relevant, forbidden, silent, tmp_path):
    """Write a gold as our JSON lines say it, and read it back."""
    lines = []
    for topic in TOPICS:
        if topic in silent:
            lines.append({"topic": topic, "answerable": False})
        for doc in "ab":
            spans, banned = (
                [{"start": s, "end": s + n} for d, s, n in texts.get(topic, ()) if d == doc]
                for texts in ({} if topic in silent else relevant, forbidden)
            )
            lines.append({"topic": topic, "doc": doc, "spans": spans} | ({"forbidden": banned} if banned else {}))
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return fe.read_gold(path)


def characters(spans):
    return {(doc, at) for doc, start, size in spans for at in range(start, start + size)}


def run_of(results, answers=None):
    rows = [(code, *span) for code, spans in enumerate(results.values()) for span in spans]
    topic, doc, start, size = zip(*rows, strict=True) if rows else ((), (), (), ())
    start, size = np.array(start, np.int64), np.array(size, np.int64)
    documents = pa.array(doc, pa.string())
    return Run("run", tuple(results), np.array(topic, np.int32), documents, start=start, end=start + size,
               answers=answers or {})  # fmt: skip


BY_TOPIC = st.fixed_dictionaries(dict.fromkeys(TOPICS, SPANS))


RELEVANT = BY_TOPIC.map(lambda spans: spans | {"q1": [("a", 0, 10), *spans["q1"]]})
"""At least one character: a gold without any is refused."""


@given(RELEVANT, BY_TOPIC, st.sets(st.sampled_from(TOPICS[1:])), BY_TOPIC)
def test_values_are_those_of_sets_of_characters(tmp_path_factory, relevant, forbidden, silent, results):
    gold = gold_of(relevant, forbidden, silent, tmp_path_factory.mktemp("gold"))
    names = ["spanR", "citeP", "citeR"] + (["silence", "refuseP", "waste@2"] if silent else [])
    names += ["leak@1", "leak", "leaked@2"] if any(forbidden.values()) else []
    scored = fe.evaluate(gold, run_of(results), names, docs=DOCS).per_topic()["run"]
    expected = {}
    for topic in TOPICS:
        first = [characters(results[topic][:k]) for k in (1, 2, 9)]
        marked, banned = characters(() if topic in silent else relevant[topic]), characters(forbidden[topic])
        values = {}
        if marked:
            share = len(first[2] & marked)
            cited = share / len(first[2]) if first[2] else 0.0
            values |= {"spanR": share / len(marked), "citeP": cited, "citeR": share / len(marked)}
        if topic in silent:
            values |= {"silence": float(not results[topic]), "waste@2": float(len(first[1]))}
        if silent and (marked or topic in silent) and not results[topic]:
            values["refuseP"] = float(topic in silent)
        if banned:
            values |= {"leak@1": float(bool(first[0] & banned)), "leak": float(bool(first[2] & banned))}
            values["leaked@2"] = float(len(first[1] & banned))
        if values:
            expected[topic] = values
    assert scored == {topic: pytest.approx(values) for topic, values in expected.items()}


@given(RELEVANT, BY_TOPIC, st.data())
def test_a_citation_in_two_parts_or_twice_changes_nothing(tmp_path_factory, relevant, results, data):
    gold = gold_of(relevant, {}, (), tmp_path_factory.mktemp("gold"))
    names, parts = ["citeP", "citeR", "needR"], {}
    for topic, spans in results.items():
        parts[topic] = []
        for doc, start, size in spans:
            cut = data.draw(st.integers(0, size))
            parts[topic] += [(doc, start, cut), (doc, start + cut, size - cut), (doc, start, size)]
            parts[topic] = [span for span in parts[topic] if span[2]]
    both = {"whole": run_of(results), "parts": run_of(parts)}
    scored = fe.evaluate(gold, both, names, docs=DOCS)
    assert np.array_equal(scored.values[0], scored.values[1], equal_nan=True)


def test_topics_without_an_answer_change_no_other_mean(tmp_path):
    relevant, results = {"q1": [("a", 0, 10)]}, {"q1": [("a", 0, 5)], "q2": [("b", 0, 5)]}
    gold = gold_of(relevant, {"q3": [("b", 0, 9)]}, {"q2", "q4"}, tmp_path)
    alone, beside = (
        fe.evaluate(gold, run_of(results), ["spanR", *names], docs=DOCS, missing=missing)
        for names, missing in (((), "zero"), (("silence", "leak"), "skip"))
    )
    assert alone.means()["run"]["spanR"] == beside.means()["run"]["spanR"] == 0.5
    assert beside.means()["run"]["silence"] == 0.5
    assert alone.counts[0] == beside.counts[0]
    assert not beside.excluded_apart(0)
    titles = [table.title for table in beside.tables()]
    assert titles == ["Text that must not come back", "", "Questions without an answer"]


def test_an_answer_is_silent_if_it_abstains_or_says_nothing(tmp_path):
    gold = gold_of({}, {}, set(TOPICS), tmp_path)
    said = Statement("So it is.")
    answers = {"q1": CitedAnswer((said,)), "q2": CitedAnswer((said,), abstains=True), "q3": CitedAnswer(())}
    run = run_of({"q1": [("a", 0, 5)]}, answers)
    values = fe.evaluate(gold, run, ["silence"], docs=DOCS).per_topic()["run"]
    assert {topic: one["silence"] for topic, one in values.items()} == {"q1": 0.0, "q2": 1.0, "q3": 1.0, "q4": 1.0}


def test_uncited_is_the_share_of_sentences_without_a_citation(tmp_path):
    gold = gold_of({topic: [("a", 0, 10)] for topic in TOPICS}, {}, set(), tmp_path)
    answers = {"q1": CitedAnswer((Statement("A", (0,)), Statement("B"), Statement("C", (0,)), Statement("D", (0,))))}
    results = {"q1": [("a", 0, 5)]}
    values = fe.evaluate(gold, run_of(results, answers), ["uncited"], docs=DOCS).per_topic()["run"]
    assert values == {"q1": {"uncited": 0.25}}
    with pytest.raises(MissingDataError, match="results without answers"):
        fe.evaluate(gold, run_of(results), ["uncited"], docs=DOCS)


def test_a_gold_without_forbidden_text_has_no_leak(tmp_path):
    gold = gold_of({"q1": [("a", 0, 10)]}, {}, set(), tmp_path)
    with pytest.raises(MissingDataError, match="no text is forbidden; our JSON lines say which"):
        fe.evaluate(gold, run_of({"q1": [("a", 0, 5)]}), ["leak"], docs=DOCS)


def test_of_less_is_better_the_lower_run_is_better_in_compare_report_and_gate(tmp_path):
    gold = gold_of({topic: [("a", 0, 10)] for topic in TOPICS}, {"q1": [("b", 0, 9)]}, set(), tmp_path)
    some, all_ = (Statement("A", (0,)), Statement("B")), (Statement("A", (0,)), Statement("B", (0,)))
    results = {topic: [("a", 0, 5)] for topic in TOPICS}
    runs = {
        "careless": run_of(results, {topic: CitedAnswer(some) for topic in TOPICS}),
        "careful": run_of(results, {topic: CitedAnswer(all_) for topic in TOPICS}),
    }
    scores = fe.evaluate(gold, runs, ["uncited"], docs=DOCS)
    compared = scores.compare("uncited")
    assert compared.measure == "−uncited"
    assert compared.runs[int(compared.better[0])] == "careful"
    assert compared.intervals.max() <= 0
    assert [column.best for column in scores.table().columns[:2]] == [False, False]
    before, after = (fe.evaluate(gold, {"run": runs[name]}, ["uncited"], docs=DOCS) for name in runs)
    baseline = Baseline(
        "run", before.per_topic()["run"], Basis(before.gold_sha256, before.docs_sha256, before.signature)
    )
    (verdict,) = judge(baseline, after)
    assert (verdict.measure, verdict.before, verdict.after, verdict.word) == ("−uncited", -0.5, 0.0, "pass")
    baseline = Baseline("run", after.per_topic()["run"], Basis(after.gold_sha256, after.docs_sha256, after.signature))
    assert judge(baseline, before, rule=GateRule(max_lost=0))[0].word == "regression"


@pytest.mark.parametrize(("returned", "code"), [(("b", 0, 9), 1), (("a", 0, 9), 0)])
def test_a_gate_without_leaks_fails_on_any_character_that_is_forbidden(tmp_path, returned, code):
    gold_of({topic: [("a", 0, 10)] for topic in TOPICS}, {"q1": [("b", 8, 9)]}, set(), tmp_path)
    (tmp_path / "docs").mkdir()
    for name, text in DOCS.items():
        (tmp_path / "docs" / f"{name}.txt").write_text(text)
    doc, start, size = returned
    rows = [{"topic": "q1", "doc": doc, "start": start, "end": start + size, "rank": 1}]
    rows += [{"topic": topic, "doc": "a", "start": 0, "end": 10, "rank": 1} for topic in TOPICS[1:]]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["gold.jsonl", "run.jsonl", "--docs", "docs", "--baseline", "base.json", "-m", "spanR"]
    with contextlib.chdir(tmp_path):
        assert CliRunner().invoke(gate, ["--update", *arguments]).exit_code == 0
        found = CliRunner().invoke(gate, ["--no-leak", "--junit", "junit.xml", "--markdown", "gate.md", *arguments])
        told = json.loads(CliRunner().invoke(gate, ["--no-leak", "--json", *arguments]).stdout)
    said = ["PASS leak: it comes back in 0 of 1 topic with forbidden text"]
    if code:
        said = ["REGRESSION leak: it comes back in 1 of 1 topic with forbidden text: q1 (1 character)"]
    assert found.stdout.splitlines()[:1] == said
    assert found.exit_code == code
    assert told["verdict"] == ("regression" if code else "pass")
    assert told["leaks"]["characters"] == ({"q1": 1} if code else {})
    assert ('failures="1"' in (tmp_path / "junit.xml").read_text()) == bool(code)
    assert said[0] in (tmp_path / "gate.md").read_text()
