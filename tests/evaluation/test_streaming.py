"""A run scored a block of topics at a time has the very scores, counts and errors of a run read at once."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from building import gold_of
from focuseval.data.run import Run
from focuseval.errors import FocusevalError, FormatError
from focuseval.evaluation import streaming
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats import files, run_jsonl

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
        patch.setattr(files, "LARGE", 0 if streamed else 1 << 40)
        patch.setattr(streaming, "TOPICS", 2)
        patch.setattr(files.cuts, "__defaults__", (150,))
        patch.setattr(files, "_LOOK", 40)
        return evaluate(options.pop("gold", GOLD), path, options.pop("measures", list(MEASURES)), **options)


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
    policies = {name: data.draw(st.sampled_from(["zero", "skip"])) for name in ("missing", "empty_topics")}
    assert outcome(path, streamed=True, **policies) == outcome(path, streamed=False, **policies)


@pytest.mark.parametrize(
    ("order", "remark"),
    [
        ("q2 q1 q1 q1 q1 q0 q1 q0", "topic 'q1' is in several blocks (2 topics are), again on line 7;"),
        ("q2 q2 q1 q1 q1 q1 q0 q1", "topic 'q1' is in several blocks, again on line 8;"),
        (
            "q1 q1 q1 q1 q2 q1 q3 q4 q4 q4 q4 q5 q4 q6",
            "topic 'q1' is in several blocks (2 topics are), again on line 6;",
        ),
        ("99 q1 q1 q1 q1 98 q2 98", "topic '98' is in several blocks, again on line 8;"),
    ],
)
def test_a_topic_that_comes_back_is_named_by_its_line_in_the_file(folder, order, remark):
    """Also where all of its lines are in one block, which is not the first one, and where ranks fall in another."""
    path = folder / "back.jsonl"
    rows = [
        {"topic": topic, "doc": "a", "rank": 20 - rank, "start": 0, "end": 1}
        for rank, topic in enumerate(order.split())
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = outcome(path, streamed=True)
    assert remark in "".join(found[2])
    assert found == outcome(path, streamed=False)


def grouped(folder):
    path = folder / "grouped.jsonl"
    rows = lines_of([f"q{i}" for i in range(12)], [[("a", i, 9), ("b", 0, 5)] for i in range(12)])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path, rows


def test_a_grouped_file_is_streamed_in_several_blocks(folder):
    path, _ = grouped(folder)
    found = list(files.cuts(path, files.json_topic, 150))
    assert len(found) > 3
    parts = [files.LineBlock(path, *block) for block in found]
    assert b"".join(part.data for part in parts) == path.read_bytes()
    runs = [run_jsonl.read(part) for part in parts]
    assert [topic for run in runs for topic in run.topics] == [f"q{i}" for i in range(12)]


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
        patch.setattr(files, "LARGE", 0)
        patch.setattr(streaming, "_piece", None)
        assert evaluate(GOLD, path, ["ceiling(spanR)"]).runs == ("grouped",)
        assert evaluate(GOLD, path, ["spanR"], compat="chroma").runs == ("grouped",)


# -- TREC runs ---------------------------------------------------------------------------------------------------

DOCUMENTS = ("d1", "d2", "d3", "d4.xml", "d5")
QRELS = gold_of(
    {f"{i}": {name: {"grade": (i + j) % 3} for j, name in enumerate(DOCUMENTS[: i % 5])} for i in range(12)},
    attributes={f"{i}": {"tags": "odd" if i % 2 else "even"} for i in range(12)},
)
RANKED = st.lists(
    st.tuples(st.sampled_from((*DOCUMENTS, "d4", "d1.xml", "e")), st.sampled_from([0.5, 1.0, 2.5, 1e-9, 3.0])),
    min_size=1,
    max_size=6,
    unique_by=lambda pair: pair[0],
)


def trec_outcome(path, **options):
    return outcome(path, gold=QRELS, measures=["AP", "P@2", "nDCG@3", "RR", "GMAP", "Bpref"], **options)


@settings(max_examples=2 * settings.default.max_examples)
@given(
    st.lists(st.integers(0, 14), unique=True, min_size=1, max_size=12),
    st.lists(RANKED, min_size=12, max_size=12),
    st.data(),
)
def test_blocks_of_a_trec_run_give_the_scores_of_the_whole(folder, topics, results, data):
    """Ties, ids with and without extension, topics without relevance or unknown to the gold, untidy lines."""
    lines = [
        f"{topic} Q0 {name} {rank} {score} run"
        for topic, rows in zip(topics, results, strict=False)
        for rank, (name, score) in enumerate(rows, 1)
    ]
    change = data.draw(st.sampled_from(["none", "none", "shuffled", "blanks", "number", "name", "again"]))
    at = data.draw(st.integers(0, len(lines) - 1))
    if change == "shuffled":
        lines = data.draw(st.permutations(lines))
    elif change == "again":
        lines.insert(at, lines[at])
    elif change != "none":
        found = {"blanks": ("Q0", " Q0  "), "number": ("Q0", "Q0 more"), "name": ("run", "other")}[change]
        lines[at] = lines[at].replace(*found)
    path = folder / "run.trec"
    path.write_text("\n".join(lines) + data.draw(st.sampled_from(["\n", "", "\n\n"])))
    missing = data.draw(st.sampled_from(["zero", "skip"]))
    assert trec_outcome(path, streamed=True, missing=missing) == trec_outcome(path, streamed=False, missing=missing)


def test_a_large_trec_run_is_not_read_at_once(folder, monkeypatch):
    path = folder / "grouped.trec"
    path.write_text("".join(f"{t} Q0 d{d} {d} {9 - d} run\n" for t in range(12) for d in range(1, 5)))
    monkeypatch.setattr(files, "LARGE", 0)
    monkeypatch.setattr(files.cuts, "__defaults__", (150,))
    monkeypatch.setattr("focuseval.evaluation.scoring.load", lambda run, *_: run if isinstance(run, Run) else 1 / 0)
    assert evaluate(QRELS, path, ["AP"]).runs == ("run",)


@pytest.mark.parametrize("document", ["d1", "d2"])
def test_a_topic_that_the_gold_does_not_know_is_one_topic_wherever_its_lines_stand(folder, document):
    """With the same document in both places it is a fault, with another one it is counted once."""
    path = folder / "scattered.trec"
    known = "".join(f"{t} Q0 d{d} {d} {9 - d} run\n" for t in range(12) for d in range(1, 5))
    path.write_text(f"99 Q0 d1 1 2 run\n{known}99 Q0 {document} 2 1 run\n")
    assert trec_outcome(path, streamed=True) == trec_outcome(path, streamed=False)


def test_a_byte_order_mark_is_not_a_part_of_the_first_topic(folder):
    path = folder / "marked.trec"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(b"%d Q0 d1 1 1 run\n" % t for t in range(12)))
    assert trec_outcome(path, streamed=True) == trec_outcome(path, streamed=False)


@pytest.mark.parametrize("large", [0, 1 << 40])
def test_progress_grows_to_the_whole(folder, monkeypatch, large):
    path = folder / "long.trec"
    path.write_text("".join(f"{t} Q0 d{d} {d} {9 - d} run\n" for t in range(12) for d in range(1, 5)))
    monkeypatch.setattr(files, "LARGE", large)
    monkeypatch.setattr(files.cuts, "__defaults__", (150,))
    told = []
    evaluate(QRELS, [path, path], ["AP"], progress=told.append)
    assert told == sorted(told)
    assert 0 < told[0] < 1 == told[-1]
    assert (len(told) > 2) == (large == 0)
