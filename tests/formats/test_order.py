"""Which result is first: where the order of a file contradicts its scores, and distances."""

import json
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from focuseval.cli import main
from focuseval.errors import FormatError, UsageError
from focuseval.formats.frames import run_from_frame

TOPICS = ("q1", "q2")
DISTANCES = (0.1, 0.2, 0.2, 0.7)
ROWS = [{"topic": topic, "doc": f"d{i}", "score": score} for topic in TOPICS for i, score in enumerate(DISTANCES)]
GOLD = [{"topic": topic, "doc": "d0", "relevance": 1} for topic in TOPICS]
FILES = {
    "lines": "".join(f"{json.dumps(row)}\n" for row in ROWS),
    "a list on one line": json.dumps([{"qid": row["topic"], **row} for row in ROWS]),
    "csv": "query_id,doc_id,score\n" + "".join(f"{r['topic']},{r['doc']},{r['score']}\n" for r in ROWS),
    "trec": "".join(f"{r['topic']} Q0 {r['doc']} {i % 4 + 1} {r['score']} mine\n" for i, r in enumerate(ROWS)),
    "inex": "<inex-submission participant-id='1' run-id='r' task='Focused'>"
    + "".join(
        f"<topic topic-id='{topic}'>"
        + "".join(
            f"<result><file>d{i}</file><path>/a[1]</path><rsv>{s}</rsv></result>" for i, s in enumerate(DISTANCES)
        )
        + "</topic>"
        for topic in TOPICS
    )
    + "</inex-submission>",
}


@pytest.fixture(params=FILES)
def reversed_run(request, tmp_path):
    path = tmp_path / "run"
    path.write_text(FILES[request.param])
    return path


def documents(path, **options):
    run = fe.read_run(path, "run-rows" if path.read_text().startswith("query_id") else None, **options)
    return [name for name, topic in zip(run.document.to_pylist(), run.topic, strict=True) if topic == 0]


def test_scores_that_rise_throughout_are_refused_with_what_to_say(reversed_run):
    with pytest.raises(
        FormatError, match=r"all rise with .*: 0\.1 before 0\.2 in topic 'q1'; say which is right: order"
    ):
        documents(reversed_run)
    ranked = ["d0", "d1", "d2", "d3"]
    assert documents(reversed_run, order="lower") == documents(reversed_run, order="file") == ranked
    assert documents(reversed_run, order="score")[0] == "d3"
    with pytest.raises(UsageError, match="expected order= as one of file, score, lower, found 'up'"):
        documents(reversed_run, order="up")


def test_a_frame_is_asked_too_and_the_signature_says_the_answer():
    with pytest.raises(FormatError, match="say which is right"):
        fe.evaluate(GOLD, ROWS, ["P@1"])
    scores = fe.evaluate(GOLD, ROWS, ["P@1"], order="lower")
    assert scores.means()["run"] == {"P@1": 1.0}
    assert scores.signature.endswith("|order:lower")
    assert fe.evaluate(GOLD, ROWS, ["P@1"], order="score").means()["run"] == {"P@1": 0.0}
    read = run_from_frame(ROWS, order="score")  # what is read already is ranked as asked, once, and with or without -m
    rows = ROWS[::-1]
    results = {topic: [{"doc": r["doc"], "score": r["score"]} for r in rows if r["topic"] == topic] for topic in TOPICS}
    for runs in (read, results, ROWS):
        for measures in (["P@1"], None):
            assert fe.evaluate(GOLD, runs, measures, order="lower").mean[0, 0] == 1.0, runs


def test_lists_that_may_rise_by_chance_are_ranked_by_their_scores_with_a_remark():
    rows = [ROWS[0], ROWS[3]]
    said = (
        "ranking: scores rise from the first result on (0.1 before 0.7 in topic 'q1'); the scores decide; for distances"
    )
    assert any(said in remark for remark in fe.evaluate(GOLD, rows, ["P@1"]).remarks())
    assert not any("ranking" in remark for remark in fe.evaluate(GOLD, rows[::-1], ["P@1"]).remarks())


@pytest.mark.parametrize("named", [{}, {"text": "words"}])
def test_a_distance_is_a_score_of_which_less_is_better(tmp_path, named):
    rows = [{"topic": row["topic"], "doc": row["doc"], "distance": row["score"], **named} for row in ROWS]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(rows))
    run = fe.read_run(path)
    assert run.score.tolist() == [-0.1, -0.2, -0.2, -0.7] * 2
    assert run_from_frame(rows).document.to_pylist() == run.document.to_pylist()
    for order in ("lower", "score", "file"):
        assert fe.read_run(path, order=order).document.to_pylist() == run.document.to_pylist()
        assert run_from_frame(rows, order=order).document.to_pylist() == run.document.to_pylist()
    path.write_text(json.dumps(rows[::-1]))
    with pytest.raises(FormatError, match="say which is right"):  # some programs call a similarity a distance
        fe.read_run(path)
    assert fe.read_run(path, order="lower").document.to_pylist()[0] == "d0"


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=9), st.booleans())
def test_only_lists_without_a_fall_and_with_a_rise_are_contradicted(rows, ranked):
    rows = sorted(rows, key=lambda row: row[0])
    frame = [{"topic": f"q{t}", "doc": f"d{i}", "score": s} for i, (t, s) in enumerate(rows)]
    if ranked:
        frame = [{**row, "rank": i} for i, row in enumerate(frame)]
    pairs = [(a[1], b[1]) for a, b in pairwise(rows) if a[0] == b[0]]
    contradicted = any(a < b for a, b in pairs) and not any(a > b for a, b in pairs) and not ranked
    several = [len({s for t, s in rows if t == topic}) for topic in range(3)]
    refused = contradicted and np.prod([float(np.prod(range(1, n + 1))) for n in several]) >= 20
    try:
        run = run_from_frame(frame)
    except FormatError:
        assert refused
        return
    assert not refused
    assert ("reversed" in {remark.kind for remark in run.remarks}) == contradicted


def focuseval(*line):
    return CliRunner().invoke(main, [str(word) for word in line])


def test_the_commands_ask_with_their_options(tmp_path):
    path, gold, out = tmp_path / "run.jsonl", tmp_path / "gold.jsonl", tmp_path / "out.jsonl"
    path.write_text(FILES["lines"])
    gold.write_text("".join(f"{json.dumps(row)}\n" for row in GOLD))
    asked = "say which is right: --order lower (distances), --order file or --order score"
    for command in (
        ("score", gold, path, "-m", "P@1"),
        ("validate", path, "--task", "thorough"),
        ("convert", path, out),
    ):
        refused = focuseval(*command)
        assert (refused.exit_code, asked in refused.stderr) == (1, True)
        assert focuseval(*command, "--lower-is-better").exit_code == 0
    assert out.read_text().splitlines()[0] == '{"topic": "q1", "doc": "d0", "rank": 1, "score": -0.1, "run": "run"}'
    assert focuseval("pool", path, "-o", tmp_path / "pool.jsonl", "--lower-is-better").exit_code == 0
