"""Gold read as columns equals gold read line by line, and a line that is not regular is left to the patient reader."""

import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.formats import gold_jsonl, source_of
from focuseval.formats.gold_jsonl_fast import read_fast

OPTIONAL = st.none() | st.integers(0, 30)


@st.composite
def lines(draw):
    """Lines of a gold, a few of which may be irregular."""
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
        }
        line |= {name: draw(OPTIONAL) for name in ("bep", "length", "relevance")}
        found.append({key: value for key, value in line.items() if value is not None})
    return found


def as_source(records):
    return source_of("".join(json.dumps(record) + "\n" for record in records).encode(), "gold.jsonl")


def same(one, other):
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.tolist() == other.tolist()
    return one.to_pylist() == other.to_pylist() if hasattr(one, "to_pylist") else one == other


def assert_equal(one, other):
    for name in (field.name for field in fields(one)):
        mine, theirs = getattr(one, name), getattr(other, name)
        if name in {"articles", "passages", "elements"}:
            wrong = [f.name for f in fields(mine) if not same(getattr(mine, f.name), getattr(theirs, f.name))]
            assert wrong == [], name
        else:
            assert same(mine, theirs), name


@pytest.fixture(autouse=True, scope="module")
def any_size():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("focuseval.formats.gold_jsonl_fast.SMALL", 0)
        yield


@given(lines())
def test_what_is_read_as_columns_is_what_is_read_line_by_line(records):
    source = as_source(records)
    gold = read_fast(source)
    if gold is not None:
        assert_equal(gold, gold_jsonl.read([source]))


def test_a_regular_file_is_read_as_columns():
    records = [
        {"topic": "b", "query": "why?", "doc": "x", "spans": [{"start": 3, "end": 5, "quote": "ab"}], "bep": 3},
        {"topic": "a", "doc": "y", "spans": [], "length": 40},
        {"topic": "b", "doc": "y", "spans": [{"start": 0, "end": 1}, {"start": 1, "end": 9}], "relevance": 2},
    ]
    gold = read_fast(as_source(records))
    assert gold.topics == ("b", "a")
    assert gold.articles.line.tolist() == [1, 3, 2]
    assert_equal(gold, gold_jsonl.read([as_source(records)]))


@pytest.mark.parametrize(
    "line",
    [
        {"topic": "a", "doc": "x", "spans": [{"start": 5, "end": 3}]},
        {"topic": "a", "doc": "x", "spans": [{"start": 5}]},
        {"topic": "a", "doc": "x", "spans": [{"start": -5, "end": 9}]},
        {"topic": "a", "doc": "x", "spans": [{"start": 0, "end": 9}], "length": 5},
        {"topic": "a", "doc": "x", "spans": [{"start": 0, "end": 9}, {"start": 4, "end": 12}]},
        {"topic": "a", "doc": "x", "spans": [{"start": 0, "end": 9, "quote": "short"}]},
        {"topic": "a", "doc": "x", "spans": [], "tags": ["law"]},
        {"topic": "a", "doc": "x", "relevance": 1},
        {"topic": "", "doc": "x", "spans": []},
        {"topic": "b", "doc": "y", "spans": []},
        {"topic": 7, "doc": "y", "spans": []},
    ],
)
def test_an_irregular_line_is_left_to_the_patient_reader(line):
    assert read_fast(as_source([{"topic": "b", "doc": "y", "spans": []}, line])) is None
