"""JSON lines: what msgspec reads is what is read line by line, and what it refuses is named by its line."""

import json
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.errors import FormatError
from focuseval.formats import find_format, gold_jsonl, json_records, run_jsonl, source_of
from strategies.remarks import lines_of
from strategies.runs import runs, said

OPTIONAL = st.none() | st.integers(0, 30)


@st.composite
def lines(draw):
    """Lines of a gold, a few of which may be wrong."""
    pairs = draw(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=6))
    found = []
    for topic, document in pairs:
        edges = draw(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=3))
        spans = [{"start": min(e), "end": max(e)} for e in edges]
        for span in spans:
            if draw(st.booleans()):
                span["quote"] = "é" * (span["end"] - span["start"])
        if draw(st.booleans()):
            spans.append({"quote": draw(st.sampled_from(["some words", "", "🙂"]))})
        line = {
            "topic": topic,
            "doc": document,
            "spans": spans,
            "query": draw(st.sampled_from([None, "what?", "who?"])),
            "tags": draw(st.sampled_from([None, None, ["law"], ["law", "tax"]])),
        }
        line |= {name: draw(OPTIONAL) for name in ("bep", "length", "relevance")}
        found.append({key: value for key, value in line.items() if value is not None})
    return found


def as_source(records):
    return source_of("".join(json.dumps(record) + "\n" for record in records).encode(), "file.jsonl")


def outcome(read, source):
    try:
        return read(source)
    except FormatError as error:
        return str(error)


def line_by_line(read, source):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "decoded_lines", lambda *_: None)
        return outcome(read, source)


def same(one, other):
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.tolist() == other.tolist()
    return one.to_pylist() == other.to_pylist() if hasattr(one, "to_pylist") else one == other


def assert_equal(one, other):
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for name in (field.name for field in fields(one)):
        mine, theirs = getattr(one, name), getattr(other, name)
        if name in {"articles", "passages", "elements"}:
            wrong = [f.name for f in fields(mine) if not same(getattr(mine, f.name), getattr(theirs, f.name))]
            assert wrong == [], name
        else:
            assert same(mine, theirs), name


@given(lines(), st.sampled_from([1 << 20, 90]))
def test_a_gold_is_read_alike_by_msgspec_and_line_by_line(records, piece):
    source = as_source(records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "_PIECE", piece)
        fast = outcome(lambda s: gold_jsonl.read([s]), source)
    assert_equal(fast, line_by_line(lambda s: gold_jsonl.read([s]), source))


@given(runs(("span", "element", "document")), st.sampled_from([1 << 20, 90]))
def test_a_run_is_read_alike_by_msgspec_and_line_by_line(run, piece):
    source = source_of(b"".join(find_format("run-jsonl").write(run)), "file")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "_PIECE", piece)
        fast = outcome(run_jsonl.read, source)
    slow = line_by_line(run_jsonl.read, source)
    assert said(fast) == said(slow)
    assert fast.line.tolist() == slow.line.tolist()


def test_a_gold_has_its_judgements_grouped_by_topic():
    records = [
        {"topic": "b", "query": "why?", "doc": "x", "spans": [{"start": 3, "end": 5, "quote": "ab"}], "bep": 3},
        {"topic": "a", "doc": "y", "spans": [], "length": 40},
        {"topic": "b", "doc": "y", "spans": [{"start": 0, "end": 1}, {"start": 1, "end": 9}], "relevance": 2},
    ]
    gold = gold_jsonl.read([as_source(records)])
    assert (gold.topics, gold.queries, gold.scale) == (("b", "a"), {"b": "why?"}, "highlights")
    assert (gold.articles.line.tolist(), gold.articles.relevance.tolist()) == ([1, 3, 2], [1, 2, 0])
    assert (gold.passages.line.tolist(), gold.passages.end.tolist()) == ([1, 3, 3], [5, 1, 9])
    assert gold.passages.quote.to_pylist() == ["ab", None, None]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({"spans": [{"start": 5, "end": 3}]}, "expected start ≤ end, found the reversed span 5 … 3 in 'x' for topic"),
        ({"spans": [{"start": 5}]}, "expected a span's start and end, or its quote, found neither in 'x' for topic"),
        ({"spans": [{"start": -5, "end": 9}]}, "expected a whole number as 'start', found '-5'"),
        ({"spans": [{"start": 0, "end": 9}], "length": 5}, "expected a span within 5 characters, found 0 … 9 in 'x'"),
        ({"spans": [7]}, "expected a list of objects as 'spans', found something else"),
        ({"spans": [], "forbidden": 5}, "expected a list of objects as 'forbidden', found something else"),
        ({"spans": [], "forbidden": [{"start": 5, "end": 3}]}, "expected start ≤ end, found the reversed span 5 … 3"),
        ({"spans": [], "answerable": "no"}, "expected true or false as 'answerable', found 'no'"),
        ({"spans": [], "tags": ["a,b"]}, "expected a list of words without commas as 'tags'"),
        ({"spans": [], "bep": 9, "length": 5}, "expected a bep within the document's 5 characters, found 9"),
        ({"spans": [], "query": "two"}, "expected one query for topic 'a', found another"),
        ({}, "expected 'spans' or a 'relevance', found neither"),
        ({"spans": [], "topic": ""}, "expected a string as 'topic', found ''"),
        ({"spans": [], "doc": None}, "expected the key 'doc', found none"),
        ({"spans": [], "length": True}, "expected a whole number as 'length', found 'True'"),
        ({"spans": [], "length": 10**9}, "expected a whole number as 'length', found '1000000000'"),
        ({"spans": [], "doc": "y"}, "expected one judgement of document 'y' for topic 'a', found another at file.jso"),
        ({"spans": [], "doc": 1.5}, "expected a string as 'doc', found '1.5'"),
    ],
)
def test_a_wrong_judgement_is_named_by_its_line_before_those_after_it(line, what):
    first, wrong = {"topic": "a", "doc": "y", "query": "one", "spans": []}, {"topic": "a", "doc": "x", **line}
    worse = {"topic": [], "doc": "z", "spans": []}
    with pytest.raises(FormatError) as caught:
        gold_jsonl.read([as_source([first, wrong, worse])])
    assert str(caught.value).startswith(f"file.jsonl:2: {what}")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b'{"topic":"a","doc":"x"} {"topic":"a","doc":"y"}\n', "1: expected a JSON object, found: Extra data"),
        (b'{"topic":"a",\n"doc":"x"}\n', "1: expected a JSON object, found: Expecting property name"),
        (b'\n{"topic":"a","doc":"x","score":"1"}', "2: expected a finite number as 'score', found '1'"),
        (b'{"topic":"a","doc":"x","rank":NaN}', "1: expected a JSON object, found: NaN is not a number"),
        (b'{"topic":"a","doc":"x","score":NaN,"rank":Infinity}', "1: expected a JSON object, found: NaN is not a nu"),
        (b'{"topic":"a","doc":"x","score":1e999}', "1: expected a finite number as 'score', found inf"),
        (b'{"topic":"a","doc":"\\ud800"}', "1: expected text as 'doc', found a lone surrogate"),
        (b'{"topic":"a","doc":"\xff"}', "1: expected UTF-8, found byte 0xff; convert the file to UTF-8"),
        (b'{"topic":"a","doc":"x"}\n"' + "é".encode() * 40 + b'"', "2: expected a JSON object, found '\"éé"),
        (b'{"topic":"a","doc":"\t"}', "1: expected a JSON object, found: Invalid control character"),
        (b'{"topic":"a","doc":"x"}\n{"topic":"a\0"}', "2: expected text, found a NUL byte"),
        (
            b'{"topic":"a","doc":"x","rnk":1,"y":2}',
            "1: expected the key 'rank', or one that is not so near to it",
        ),
        (b'{"topic":"a","doc":"x","z":' + b"[" * 10**5 + b"]" * 10**5 + b"}", "1: expected a flat JSON object"),
        (b'{"topic":"a","doc":"x","chunk":' + b"9" * 5000 + b"}", "1: expected a JSON object, found: a number of th"),
    ],
)
def test_a_line_that_is_no_result_is_refused(text, what):
    with pytest.raises(FormatError) as caught:
        find_format("run-jsonl").read(source_of(text, "file"))
    assert str(caught.value).startswith(f"file:{what}")


def test_numbers_are_names_as_they_look_and_the_last_of_repeated_keys_counts():
    text = b'{"topic":7,"doc":12345678901234567890123,"text":5}\n{"topic":"b","topic":7,"doc":"x","text":""}\n'
    run = find_format("run-jsonl").read(source_of(text, "file"))
    assert (run.topics, run.document.to_pylist()) == (("7",), ["12345678901234567890123", "x"])
    assert run.text.to_pylist() == ["5", ""]
    text = b'{"topic":7,"doc":8,"tags":["t"],"spans":[{"quote":9,"note":1}],"query":6}\n'
    gold = find_format("gold-jsonl").read([source_of(text, "file")])
    assert (gold.topics, gold.documents.to_pylist(), gold.queries) == (("7",), ["8"], {"7": "6"})
    assert (gold.passages.quote.to_pylist(), gold.attributes) == (["9"], {"7": {"tags": "t"}})


def test_lines_may_have_more_keys_than_the_first_and_fewer():
    run = run_jsonl.read(as_source([{"topic": "a", "doc": "x", "start": 1, "end": 2, "chunk": 5},
                                    {"topic": "a", "doc": "y", "path": "/a[1]"},
                                    {"topic": "a", "doc": "z", "text": "t", "run": "R"}]))  # fmt: skip
    assert (run.run_id, run.start.tolist(), run.chunk.tolist()) == ("R", [1, -1, -1], [5, -1, -1])
    assert (run.path.to_pylist(), run.text.to_pylist()) == ([None, "/a[1]", None], [None, None, "t"])
    lines = [{"topic": "a", "doc": "x", "relevance": 2}]
    lines += [{"topic": "a", "doc": "y", "spans": [{"quote": "q"}], "tags": ["t"]}]
    gold = gold_jsonl.read([as_source(lines)])
    assert (gold.articles.relevance.tolist(), gold.passages.quote.to_pylist()) == ([2, 1], ["q"])
    assert (gold.scale, gold.attributes) == ("highlights", {"a": {"tags": "t"}})


def test_keys_that_are_left_out_are_counted():
    gold = gold_jsonl.read([as_source([{"topic": "a", "doc": d, "spans": [], "x": 1, "y": 2} for d in "de"])])
    assert lines_of(gold) == ("4 keys are not ours and left out; 'focuseval formats gold-jsonl' lists ours",)


def test_what_nothing_answers_needs_no_document_and_null_judges_nothing():
    lines = [{"topic": "a", "doc": "x", "spans": [{"start": 0, "end": 5}], "forbidden": [{"start": 7, "end": 9}]},
             {"topic": "b", "query": "who?", "answerable": False, "tags": ["t"]},
             {"topic": "c", "doc": "y", "spans": [], "answerable": False},
             {"topic": "d", "doc": "x", "spans": None}, {"topic": "e", "doc": None, "spans": None}]  # fmt: skip
    gold = gold_jsonl.read([as_source(lines)])
    assert gold.topics == ("a", "c", "b")
    assert gold.unanswerable.tolist() == [False, True, True]
    assert (gold.queries, gold.attributes["b"]["tags"]) == ({"b": "who?"}, "t")
    assert (gold.forbidden.passages.start.tolist(), gold.forbidden.relevant_topics.tolist()) == ([7], [True, False])
    assert [(one.kind, one.number) for one in gold.remarks] == [("null spans", 2)]
    again = gold_jsonl.read([source_of(b"".join(gold_jsonl.write(gold)), "file")])
    assert (again.topics, again.queries, again.attributes) == (gold.topics, gold.queries, gold.attributes)
    assert (again.passages.end.tolist(), again.forbidden.passages.end.tolist()) == ([5], [9])


def test_a_topic_that_nothing_answers_has_no_relevant_text():
    lines = [{"topic": "a", "doc": "x", "spans": [{"start": 0, "end": 5}]}, {"topic": "a", "answerable": False}]
    with pytest.raises(FormatError, match="expected no relevant text for topic 'a', which nothing answers, found some"):
        gold_jsonl.read([as_source(lines)])


def test_only_those_who_read_json_lines_load_msgspec():
    code = "import sys, focuseval.cli, focuseval.formats.trec; sys.exit('msgspec' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
