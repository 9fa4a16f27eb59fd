"""Frames of any library as runs and gold, without importing one."""

import numpy as np
import pyarrow as pa
import pytest

from focuseval.errors import FormatError, MissingDataError
from focuseval.formats.frames import gold_from_frame, run_from_frame, to_table
from strategies.remarks import lines_of

ROWS = [
    {"topic": "q1", "doc": "a", "rank": 2, "score": 0.5, "start": 10, "end": 20},
    {"topic": "q2", "doc": "b", "rank": 1, "score": 0.9, "start": None, "end": None},
    {"topic": "q1", "doc": "b", "rank": 1, "score": 0.7, "start": 0, "end": 5},
]


class Capsule:
    """Nothing but the Arrow interface, as any frame library may offer it."""

    def __init__(self, rows):
        self._table = pa.Table.from_pylist(rows)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class Interchange:
    """Nothing but the older interchange protocol."""

    def __init__(self, rows):
        self._table = pa.Table.from_pylist(rows)

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self._table.__dataframe__(nan_as_null, allow_copy)


def by_columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("make", [list, tuple, by_columns, pa.Table.from_pylist, Capsule, Interchange, iter])
def test_every_kind_of_frame_is_the_same_run(make):
    run = run_from_frame(make(ROWS), run_id="mine")
    assert (run.run_id, run.topics, run.topic.tolist()) == ("mine", ("q1", "q2"), [0, 0, 1])
    assert run.document.to_pylist() == ["b", "a", "b"]
    assert (run.start.tolist(), run.end.tolist()) == ([0, 10, -1], [5, 20, -1])
    assert run.line.tolist() == [3, 1, 2]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_real_libraries_are_the_same_run(library):
    frames = pytest.importorskip(library, reason=f"{library} is not installed: see the dependency group 'frameworks'")
    run = run_from_frame(frames.DataFrame(ROWS))
    assert run.document.to_pylist() == ["b", "a", "b"]
    assert (run.start.tolist(), run.sha256) == ([0, 10, -1], run_from_frame(frames.DataFrame(ROWS)).sha256)


def test_hugging_face_rows_are_the_same_run():
    datasets = pytest.importorskip(
        "datasets", reason="datasets is not installed: see the dependency group 'frameworks'"
    )
    run = run_from_frame(datasets.Dataset.from_list(ROWS))
    assert run.document.to_pylist() == ["b", "a", "b"]
    assert run.start.tolist() == [0, 10, -1]


def test_columns_are_found_by_the_names_of_the_field_or_as_told():
    rows = [{"qid": 7, "docno": "x", "similarity": 0.1, "page_content": "words", "split_id": 3}]
    run = run_from_frame(rows)
    assert (run.topics, run.text.to_pylist(), run.chunk.tolist(), run.score.tolist()) == (("7",), ["words"], [3], [0.1])
    told = run_from_frame([{"question": "why", "file": "x"}], columns={"topic": "question", "doc": "file"})
    assert (told.topics, told.document.to_pylist()) == (("why",), ["x"])


def test_a_row_may_lack_what_others_have():
    assert to_table([{"a": 1}, {"b": 2}]).to_pydict() == {"a": [1, None], "b": [None, 2]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"doc": "a"}],
            r"<frame>: expected the field 'topic' \(one of topic, topic_id, .*\), found doc; say which with columns=",
        ),
        ([{"topic": "q", "doc": None}], "<frame>:1: expected a document in every row, found none"),
        ([{"topic": "q", "doc": "a", "score": float("nan")}], "<frame>:1: expected a finite score, found nan"),
        (
            [{"topic": "q", "doc": "a", "rank": 1}, {"topic": "q", "doc": "b"}],
            "<frame>:2: expected a rank in every row",
        ),
        ([{"topic": "q", "doc": "a", "start": "x"}], "<frame>: expected int64 in column 'start', found string"),
        ([{"topic": "q", "doc": "a", "start": 0.5}], "<frame>: expected int64 in column 'start', found double"),
        ([{"topic": "q"}, 3], "<frame>:2: expected a row as a dictionary, found int"),
        (3, "expected a frame or a list of rows, found int"),
    ],
)
def test_a_frame_that_is_no_run_is_refused_in_one_line(rows, message):
    with pytest.raises(FormatError, match=message) as caught:
        run_from_frame(rows)
    assert "\n" not in str(caught.value)


def test_gold_has_a_row_for_each_span():
    rows = [
        {"topic": "q1", "doc": "a", "start": 3, "end": 9, "quote": "x", "query": "why"},
        {"topic": "q1", "doc": "a", "start": 20, "end": 30, "quote": None, "query": "why"},
        {"topic": "q1", "doc": "b", "start": None, "end": None, "quote": None, "query": "why"},
        {"topic": "q2", "doc": "a", "start": None, "end": None, "quote": "only words", "query": ""},
    ]
    gold = gold_from_frame(Capsule(rows))
    assert (gold.topics, gold.queries["q1"]) == (("q1", "q2"), "why")
    assert gold.articles.relevance.tolist() == [1, 0, 1]
    assert gold.passages.start.tolist() == [3, 20, -1]
    assert gold.passages.quote.to_pylist() == ["x", None, "only words"]


def test_a_reversed_span_is_named_by_its_row():
    rows = [{"topic": "q1", "doc": "a", "start": 1, "end": 2}, {"topic": "q2", "doc": "a", "start": 9, "end": 3}]
    with pytest.raises(FormatError, match=r"<frame>:2: expected 0 ≤ start < end in 'a' for topic 'q2', found 9 and 3"):
        gold_from_frame(rows)


def test_a_declared_unit_is_turned_into_code_points():
    documents = {"a": "né 🙂 ici"}
    run = run_from_frame([{"topic": "q", "doc": "a", "start": 4, "end": 8}], unit="bytes", documents=documents)
    assert (run.start.tolist(), run.end.tolist()) == ([3], [4])
    gold = gold_from_frame([{"topic": "q", "doc": "a", "start": 3, "end": 5}], unit="utf-16", documents=documents)
    assert (gold.passages.start.tolist(), gold.passages.end.tolist()) == ([3], [4])
    with pytest.raises(FormatError, match=r"<frame>:1: expected bytes at which a character .* begins, found 5"):
        run_from_frame([{"topic": "q", "doc": "a", "start": 5, "end": 8}], unit="bytes", documents=documents)
    with pytest.raises(MissingDataError, match="need the documents' text"):
        run_from_frame([{"topic": "q", "doc": "a", "start": 5, "end": 8}], unit="bytes")
    with pytest.raises(FormatError, match="expected a unit 'code points', 'bytes' or 'utf-16', found 'words'"):
        run_from_frame([{"topic": "q", "doc": "a", "start": 5}], unit="words", documents=documents)


def test_no_rows_are_no_results():
    assert len(run_from_frame({"topic": np.array([], str), "doc": np.array([], str)})) == 0


def test_texts_are_aligned_where_documents_are_given():
    rows = [{"topic": "q", "doc": "a", "text": text} for text in ("second", "third")]
    run = run_from_frame(rows, documents={"a": "first second"})
    assert (run.start.tolist(), run.end.tolist()) == ([6, -1], [12, -1])
    assert lines_of(run)[0] == "2 results: 1 exact, 0 ambiguous, 1 lost"
