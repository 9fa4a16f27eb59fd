"""A run scored a block of topics at a time has the very scores, counts and errors of a run read at once."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from building import gold_of
from focuseval.errors import FocusevalError, FormatError
from focuseval.evaluate import evaluate, streaming
from focuseval.formats import run_blocks

MEASURES = ("spanR@2", "spanP", "IoU@30c", "hAP", "AP", "MAgP")
GOLD = gold_of(
    {
        f"q{i}": {"a": {"spans": [(i, i + 20)] if i % 5 else [], "length": 90}, "b": {"spans": [(0, 9)][: i % 3]}}
        for i in range(12)
    },
    attributes={f"q{i}": {"tags": "odd" if i % 2 else "even"} for i in range(12)},
)
RESULT = st.tuples(st.sampled_from("abc"), st.integers(0, 40), st.integers(1, 40))
TOPICS = st.lists(st.sampled_from([f"q{i}" for i in range(14)]), unique=True, min_size=1, max_size=12)


def lines_of(topics, results):
    return [
        {"topic": topic, "doc": document, "rank": rank, "start": start, "end": start + size}
        for topic, rows in zip(topics, results, strict=False)
        for rank, (document, start, size) in enumerate(rows, 1)
    ]


def scored(path, *, streamed, **options):
    """Evaluate with blocks of about two lines, or at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "LARGE", 0 if streamed else 1 << 40)
        patch.setattr(streaming, "TOPICS", 2)
        patch.setattr(run_blocks.blocks, "__defaults__", (150,))
        return evaluate(GOLD, path, list(MEASURES), **options)


def outcome(path, **options):
    try:
        scores = scored(path, **options)
    except FocusevalError as error:
        return str(error)
    return scores.to_json(per_topic=True), [part.to_json() for part in scores.by_tag().values()], scores.remarks()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("streams")


@settings(max_examples=40)
@given(TOPICS, st.lists(st.lists(RESULT, min_size=1, max_size=5), min_size=12, max_size=12), st.data())
def test_blocks_give_the_scores_of_the_whole(folder, topics, results, data):
    lines = lines_of(topics, results)
    if data.draw(st.booleans()):
        lines = data.draw(st.permutations(lines))
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    missing = data.draw(st.sampled_from(["zero", "skip"]))
    assert outcome(path, streamed=True, missing=missing) == outcome(path, streamed=False, missing=missing)


def grouped(folder):
    path = folder / "grouped.jsonl"
    rows = lines_of([f"q{i}" for i in range(12)], [[("a", i, 9), ("b", 0, 5)] for i in range(12)])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path, rows


def test_a_grouped_file_is_streamed_in_several_blocks(folder, monkeypatch):
    path, rows = grouped(folder)
    found = list(run_blocks.blocks(run_blocks.mapped(path), 150))
    assert len(found) > 3
    assert [topic for run in found for topic in run.topics] == [f"q{i}" for i in range(12)]
    assert np.concatenate([run.line for run in found]).tolist() == list(range(1, len(rows) + 1))


def test_a_fault_is_named_by_its_line_in_the_file(folder):
    _, rows = grouped(folder)
    bad = folder / "bad.jsonl"
    bad.write_text(
        "".join(json.dumps({**row, "end": 0 if i == 20 else row["end"]}) + "\n" for i, row in enumerate(rows))
    )
    with pytest.raises(FormatError, match=r"bad.jsonl:21: expected start ≤ end"):
        scored(bad, streamed=True)


def test_one_topic_may_fill_several_blocks(folder):
    path = folder / "long.jsonl"
    rows = lines_of(["q1", "q2"], [[("a", i, 5) for i in range(30)], [("a", 0, 5)]])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert outcome(path, streamed=True) == outcome(path, streamed=False)


def test_what_looks_at_the_whole_run_is_not_streamed(folder):
    """The ceiling takes all chunks that occur in the run."""
    path, _ = grouped(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "LARGE", 0)
        patch.setattr(streaming, "stream", None)
        assert evaluate(GOLD, path, ["ceiling(spanR)"]).runs == ("grouped",)
        assert evaluate(GOLD, path, ["spanR"], compat="chroma").runs == ("grouped",)
