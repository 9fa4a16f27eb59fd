"""Traces of production systems as runs and as topics: one small shop, as four kinds of tools log it."""

import contextlib
import gzip
import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from itertools import combinations

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import exporters
import focuseval as fe
from exporters import DRAWS, FOLDER, GRAMS, SHOP, langfuse_rows
from focuseval.cli import main
from focuseval.data.topics.topic import Topic
from focuseval.engine import storage
from focuseval.errors import FocusevalError, FormatError
from focuseval.formats import json_records
from focuseval.formats.content import Source, open_source, source_of
from focuseval.formats.embedded import read_questions
from focuseval.formats.traces import draw, read, read_topics, retrievals

DOCS = {
    "tea.md": f"Boil fresh water. Warm the pot.\n{DRAWS} Serve hot.",
    "coffee.md": f"Grind the beans. {GRAMS} Serve hot.",
}
LONG, MUCH = SHOP[0][0], SHOP[1][0]
GOLD = [
    {"topic": "1", "query": LONG, "doc": "tea.md", "quote": DRAWS},
    {"topic": "2", "query": MUCH, "doc": "coffee.md", "quote": GRAMS},
]
FILES = ("otlp.jsonl", "openinference.json.gz", "phoenix.parquet", "mlflow.jsonl", "langfuse.jsonl")
LISTS = {LONG: ["coffee.md", "tea.md"], MUCH: ["coffee.md"]}
ANSWERS = {question: answer for question, answer, _ in SHOP[:2]}
RERANKED = LISTS | {MUCH: ["tea.md", "coffee.md"]}


def wanted(name):
    """Return what a file says was retrieved."""
    return RERANKED if name.startswith(("openinference", "phoenix")) else LISTS


def lists(run):
    """Return what a run lists for every question."""
    found = {}
    for row, document in enumerate(run.document.to_pylist()):
        found.setdefault(run.queries[run.topic_of(row)], []).append(document)
    return found


def lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.mark.parametrize("name", FILES)
def test_what_exporters_write_is_read_as_a_run_and_as_topics(name):
    run = fe.read_run(FOLDER / name, docs=DOCS)
    assert lists(run) == wanted(name)
    assert any("1 retrieval for a question that was asked before" in str(remark) for remark in run.remarks)
    topics = read_questions(FOLDER / name)
    assert [(topic.title, topic.attributes["asked"]) for topic in topics] == [(LONG, "2"), (MUCH, "1")]
    assert tuple(topic.id for topic in topics) == run.topics
    for topic in topics:
        traces = topic.attributes["traces"].split()
        assert (topic.id, len(traces)) == (traces[0], int(topic.attributes["asked"]))
        assert topic.attributes.get("response") == (None if name.startswith("otlp") else ANSWERS[topic.title])


@pytest.mark.parametrize("name", FILES[1:])
def test_a_gold_that_knows_the_questions_scores_traces(name):
    scores = fe.evaluate(GOLD, FOLDER / name, ["spanRR"], docs=DOCS)
    assert next(iter(scores.means().values())) == {"spanRR": 0.5 if name.startswith(("openi", "phoenix")) else 0.75}


def test_ids_and_scores_alone_are_whole_documents():
    run = fe.read_run(FOLDER / "otlp.jsonl")
    assert run.whole_documents
    assert run.score.tolist() == [0.9, 0.7, 0.8]
    assert fe.evaluate(GOLD, FOLDER / "otlp.jsonl", ["RR"], docs=DOCS).means()["otlp"] == {"RR": 0.75}


def test_a_folder_of_files_is_one_run(tmp_path):
    for name in ("mlflow.jsonl", "langfuse.jsonl"):
        shutil.copy(FOLDER / name, tmp_path)
    run = fe.read_run(tmp_path, docs=DOCS)
    assert (lists(run), run.file, run.run_id) == (LISTS, str(tmp_path), tmp_path.name)
    assert [topic.attributes["asked"] for topic in read_questions(tmp_path)] == ["4", "2"]
    done = CliRunner().invoke(main, ["convert", str(tmp_path), str(tmp_path / "run.jsonl"), "--lossy"])
    assert done.exit_code == 0, done.output
    other = tmp_path / "two"
    other.mkdir()
    for name in "ab":
        (other / f"{name}.jsonl").write_bytes(lines([{"topic": "q", "doc": name}]))
    with pytest.raises(FormatError, match=r"b\.jsonl: expected one file, as a run is, found a folder of several"):
        fe.read_run(other)


def test_a_trace_that_retrieves_for_several_questions_numbers_them_by_time():
    rows = [
        {"trace_id": "t", "type": "RETRIEVER", "id": f"{n}", "input": question, "output": [DRAWS], "start_time": time}
        for n, (question, time) in enumerate(
            [("second", 1_790_000_002), ("first", 1_790_000_001), ("other", "2026-01-01")]
        )
    ]
    topics, _ = read_topics([source_of(lines([*rows, {**rows[0], "trace_id": "u", "input": "alone"}]))])
    assert {topic.id: topic.title for topic in topics} == {
        "t/3": "second",
        "t/2": "first",
        "t/1": "other",
        "u": "alone",
    }


def test_a_chunk_s_id_is_no_document_s_and_what_has_neither_is_counted(tmp_path):
    results = [{"id": "chunk-7", "content": DRAWS}, {"id": "coffee.md"}, {"score": 1.0}, {"id": "nowhere"}]
    row = {"traceId": "t", "type": "RETRIEVER", "input": "q", "output": results}
    path = tmp_path / "traces.jsonl"
    path.write_bytes(lines([row]))
    run = fe.read_run(path, docs=DOCS)
    assert run.document.to_pylist() == ["tea.md", "coffee.md", "nowhere"]
    assert "1 result left out: they have neither the id of a document nor a text" in map(str, run.remarks)
    assert fe.read_run(path).document.to_pylist() == ["chunk-7", "coffee.md", "nowhere"]


def test_since_and_where_choose_by_time_and_by_attributes_of_spans_around():
    source = source_of((FOLDER / "otlp.jsonl").read_bytes(), "otlp.jsonl")
    assert [s[0].question for s in retrievals([source], where=[("user.tier", "free")])[0].values()] == [LONG]
    assert len(retrievals([source], where=[("service.name", "shop")])[0]) == 2
    done = CliRunner().invoke(main, ["topics", str(FOLDER / "langfuse.jsonl"), "--since", "2026-11-02", "-o", "-"])
    assert [json.loads(line)["traces"] for line in done.stdout.splitlines()] == [["trace-1"], ["trace-2"]]
    with pytest.raises(FormatError, match=r"otlp\.jsonl: expected spans that retrieve and are asked for, found others"):
        retrievals([source], where=[("service.name", "other")])


def test_topics_are_drawn_with_a_seed_and_near_duplicates_folded(tmp_path):
    asked = [f"How do I change the {word} of my account?" for word in ("name", "address", "password")]
    asked += ["how do I change the NAME of my account", "Why is the sky blue?"]
    rows = [{"trace_id": f"t{n}", "type": "RETRIEVER", "input": one, "output": []} for n, one in enumerate(asked)]
    traces, topics = tmp_path / "traces.jsonl", tmp_path / "topics.jsonl"
    traces.write_bytes(lines(rows))
    line = ["topics", str(traces), "--sample", "2", "--seed", "1", "-o", str(topics)]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 0, done.output
    assert "traces.jsonl: 3 near-duplicates folded" in done.stderr
    first = topics.read_bytes()
    kept = [json.loads(line) for line in first.splitlines()]
    assert [(one["topic"], one["traces"], one["asked"]) for one in kept] == [
        ("t0", ["t0", "t1", "t2", "t3"], 4),
        ("t4", ["t4"], 1),
    ]
    assert [topic.id for topic in read_questions(topics)] == ["t0", "t4"]
    CliRunner().invoke(main, line)
    assert topics.read_bytes() == first


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=7), max_size=12))
def test_no_two_topics_that_are_drawn_are_near_duplicates_and_none_is_lost(questions):
    topics = [Topic(str(n), "CO", title=" ".join(words)) for n, words in enumerate(questions)]
    kept, folded = draw(topics, 100, 0)
    assert (len(kept) + folded, sum(int(one.attributes.get("asked", 1)) for one in kept)) == (len(topics), len(topics))
    for one, other in combinations((set(topic.title.split()) for topic in kept), 2):
        assert len(one & other) < 0.8 * len(one | other)


def test_a_pool_of_traces_may_have_chosen_topics_alone(tmp_path):
    topics = tmp_path / "topics.jsonl"
    topics.write_bytes(lines([{"topic": "mine", "query": LONG}]))
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in DOCS.items():
        (docs / name).write_text(text)
    pool = [
        "pool",
        str(FOLDER / "mlflow.jsonl"),
        "--topics",
        str(topics),
        "--docs",
        str(docs),
        "-o",
        str(tmp_path / "pool"),
    ]
    done = CliRunner().invoke(main, pool)
    assert "2 documents to judge for 1 topic" in done.output, done.output
    assert '"topic": "mine"' in (tmp_path / "pool").read_text()
    topics.write_bytes(lines([{"topic": "mine", "query": "What else?"}]))
    assert "expected results to pool, found none for any topic" in CliRunner().invoke(main, pool).output


def test_conditions_are_for_traces_and_have_a_value(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("1\twhat\n")
    done = CliRunner().invoke(main, ["topics", str(path), "--since", "2026-01-01"])
    assert (done.exit_code, "--since and --where are for traces" in done.stderr) == (2, True)
    assert "expected NAME=VALUE, found 'a'" in CliRunner().invoke(main, ["topics", str(path), "--where", "a"]).stderr


PLAIN = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "RETRIEVER", "{", "[]", "q", '"x"', "0"])
NAMES = st.sampled_from(
    [
        *("attributes", "input", "output", "type", "trace_id", "gen_ai.retrieval", "query.text", "documents", "id"),
        *("spans", "key", "data", "value", "resourceSpans", "scopeSpans", "0", "1", "openinference.span.kind"),
        *("document", "metadata", "trace"),
    ]
)
PARTS = st.recursive(PLAIN, lambda v: st.lists(v, max_size=3) | st.dictionaries(NAMES, v, max_size=4), max_leaves=20)


@given(st.lists(st.dictionaries(NAMES, PARTS, max_size=5), min_size=1, max_size=3))
def test_nonsense_is_read_or_refused(rows):
    source = source_of(lines(rows), "traces.jsonl")
    for work in (lambda: read([source], None), lambda: read_topics([source], where=[("type", "q")])):
        with contextlib.suppress(FocusevalError):
            work()


@given(st.integers(0, 10**6))
def test_the_order_of_spans_makes_no_difference_to_lists(seed):
    rows = langfuse_rows()
    random.Random(seed).shuffle(rows)
    first = next(row["trace_id"] for row in rows if row["type"] == "RETRIEVER" and row["trace_id"] != "trace-1")
    found = {LONG: ["tea.md"]} if first == "trace-2" else {LONG: LISTS[LONG]}
    assert lists(read([source_of(lines(rows))], None)) == LISTS | found


def test_files_of_today_s_exporters_are_read_like_those_that_are_stored(tmp_path):
    for package in ("opentelemetry.exporter.otlp.json.file", "openinference.instrumentation", "mlflow"):
        if find_spec(package.partition(".")[0]) is None or find_spec(package) is None:
            pytest.skip(f"{package} is not installed: see the dependency group 'frameworks'")
    subprocess.run([sys.executable, exporters.__file__, tmp_path], check=True, capture_output=True)
    for name in FILES:
        assert lists(fe.read_run(tmp_path / name, docs=DOCS)) == wanted(name), name


def layouts(rows):
    """Return spans in all the ways in which a file may hold them."""
    return {
        "lines": lines(rows),
        "a list on one line": json.dumps(rows).encode(),
        "a list over many lines": json.dumps(rows, indent=2).encode(),
        "one after another": "\n".join(json.dumps(row, indent=1) for row in rows).encode(),
        "one object": json.dumps({"data": rows}).encode(),
        "one object in another": json.dumps({"info": {"a": [1]}, "data": {"spans": rows}}, indent=1).encode(),
        "OTLP": json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": rows}]}]}).encode(),
    }


@pytest.mark.parametrize("whole", [1 << 22, 100])
@pytest.mark.parametrize("how", layouts([]))
@pytest.mark.parametrize("block", [1 << 20, 7])
def test_spans_are_the_same_in_whatever_layout_and_however_few_bytes_are_read_at_once(
    tmp_path, monkeypatch, how, whole, block
):
    monkeypatch.setattr(json_records, "_WHOLE", whole)
    monkeypatch.setattr(storage, "_BLOCK", block)
    content = layouts(langfuse_rows())[how]
    for name, packed in (("traces.json", content), ("traces.json.gz", gzip.compress(content))):
        path = tmp_path / name
        path.write_bytes(packed)
        assert lists(read([open_source(path)], None)) == LISTS
        run = fe.read_run(path, docs=DOCS)
        assert (lists(run), run.sha256) == (LISTS, hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_traces_is_never_in_memory_as_a_whole(monkeypatch, name):
    def refuse(_):
        raise AssertionError("the whole content was asked for")

    monkeypatch.setattr(Source, "data", property(refuse))
    assert lists(fe.read_run(FOLDER / name, docs=DOCS)) == wanted(name)
    assert {topic.title for topic in read_questions(FOLDER / name)} == {LONG, MUCH}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'[{"traceId": "1", "attributes": {}}', "expected the end of the list, found the end of the file"),
        (b'{"traceId": "1", "attributes": {}}\nnonsense', ":2: expected an object, found nonsense"),
        (b'{"traceId": "1", "attributes": {"a": "b}', ":1:38: expected JSON, found: Unterminated string"),
        (b'{"traceId": "1",\n "attributes": {"a": tru}}', ":2:22: expected JSON, found: Expecting value"),
        (b'{"traceId": "1", "attributes": {"a": "\\ud800"}}', "found a lone surrogate"),
        (b'{"traceId": "1", "attributes": {"a": "\xff"}}\n{"b": "c"}', ":1: expected UTF-8, found byte 0xff"),
        (b'{"resourceSpans": [], "traceId": ' + b"[" * 9999 + b"]" * 9999 + b"}", "lists nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(content, said):
    with pytest.raises(FormatError, match=re.escape(said)):
        read([source_of(content, "traces.json")], None)


def test_numbers_that_are_none_in_json_are_missing_ones():
    rows = [{**row, "metadata": {"cost": float("nan")}} for row in langfuse_rows()]
    assert lists(read([source_of(lines(rows))], None)) == LISTS


def test_what_is_around_spans_must_come_before_them_in_a_large_object(monkeypatch):
    monkeypatch.setattr(json_records, "_WHOLE", 100)
    content = json.dumps({"scopeSpans": [{"spans": langfuse_rows()}], "resource": {"attributes": []}}).encode()
    with pytest.raises(FormatError, match="expected 'resource' before the lists of an object"):
        read([source_of(content)], None)
