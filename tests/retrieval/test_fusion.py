"""Fusion: values are those of ranx, results are the same where document and span are, order is decided by ranks."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from building import run_of
from focuseval.cli import main
from focuseval.errors import FocusevalError
from focuseval.retrieval.fusion import METHODS, NORMS, Fusion

RANX = json.loads((Path(__file__).parents[1] / "golden" / "ranx_fusion.json").read_text(encoding="utf-8"))


def frame(run):
    rows = [(topic, doc, score) for topic, found in run.items() for doc, score in found.items()]
    return {name: list(column) for name, column in zip(("topic", "doc", "score"), zip(*rows, strict=True), strict=True)}


def values(run):
    found = {}
    for topic, doc, score in zip(run.topic.tolist(), run.document.to_pylist(), run.score.tolist(), strict=True):
        found.setdefault(run.topics[topic], {})[doc] = score
    return found


@pytest.mark.parametrize("case", RANX["cases"], ids=lambda case: f"{case['method']} {case['norm']}")
def test_values_are_those_of_ranx(case):
    made = fe.fuse([frame(run) for run in RANX["runs"]], case["method"], norm=case["norm"], **case["parameters"])
    found = values(made)
    assert found.keys() == case["values"].keys()
    for topic, scores in case["values"].items():
        assert found[topic] == pytest.approx(scores, abs=1e-11)
        assert list(found[topic].values()) == sorted(found[topic].values(), reverse=True)


rankings = st.lists(st.permutations("abcdef").map(lambda p: p[:4]), min_size=2, max_size=4)


@given(rankings)
def test_reciprocal_ranks_add_up(lists):
    made = fe.fuse([run_of({"1": [(doc,) for doc in ranking]}) for ranking in lists])
    exact = {}
    for ranking in lists:
        for rank, doc in enumerate(ranking, 1):
            exact[doc] = exact.get(doc, Fraction(0)) + Fraction(1, 60 + rank)
    best = {doc: min(ranking.index(doc) for ranking in lists if doc in ranking) for doc in exact}
    first = {doc: place for place, doc in reversed([*enumerate(doc for ranking in lists for doc in ranking)])}
    assert made.document.to_pylist() == sorted(exact, key=lambda doc: (-exact[doc], best[doc], first[doc]))
    assert values(made)["1"] == pytest.approx({doc: float(score) for doc, score in exact.items()}, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("norm", [norm for norm in NORMS if norm != "z"])
def test_a_run_fused_with_itself_keeps_its_order(method, norm, example):
    index, _, run = example
    thorough = fe.retrieve(index, {"1": "tides moon", "2": "harbour"}, task="thorough")
    for own in (run, thorough, fe.retrieve(index, {"1": "tides"}, unit="passage:20/10")):
        made = fe.fuse([own, own, own], method, norm=norm, index=index)
        placed = fe.fuse([own, own], method, norm=norm) if own.start is None else made
        for found in (made, placed):
            assert found.topics == own.topics
            assert found.document.to_pylist() == own.document.to_pylist()
            assert (found.path is None) == (own.path is None)
            assert own.path is None or found.path.to_pylist() == own.path.cast("string").to_pylist()


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fusion")
    texts = {
        "a.xml": "<article><sec><p>Tides follow the moon, and ships follow tides, as pilots of the harbour know.</p>"
        "</sec><sec><p>The moon pulls at the sea twice a day, the sun pulls a little.</p><p>Tides</p></sec></article>",
        "b.xml": "<article><p>A harbour is a place where ships wait for tides, or for crews.</p></article>",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    index = fe.open_documents(folder)
    return index, folder, fe.retrieve(index, {"1": "tides moon", "2": "harbour"}, min_words=1)


def test_an_element_and_a_passage_of_the_same_span_are_one_result(example):
    index, _, _ = example
    paths = pa.array(["/article[1]/sec[1]/p[1]", "/article[1]/sec[2]/p[1]"])
    elements = run_of({"1": ["a", "a"]}, path=paths)
    placed = fe.align_run(elements, index)[0]
    start, end = int(placed.start[1]), int(placed.end[1])
    spans = run_of({"1": [("a.xml", start, end), ("b.xml", 0, 9)]})
    made = fe.fuse([elements, spans], index=index)
    assert len(made) == 3
    assert made.start[0] == start
    assert made.score[0] == pytest.approx(1 / 62 + 1 / 61)
    with pytest.raises(FocusevalError, match=r"expected elements or spans, found both \(2 paths\).*give index="):
        fe.fuse([elements, spans])


def test_a_product_asks_for_every_run_that_answers_the_topic():
    a, b = frame({"1": {"x": 3, "y": 2, "z": 1}, "2": {"x": 2, "y": 1}}), frame({"1": {"y": 9, "x": 8, "w": 7}})
    made = values(fe.fuse([a, b], "product", norm="rank"))
    assert made["1"] == pytest.approx({"x": 2 / 3, "y": 2 / 3, "z": 0, "w": 0})
    assert list(made["1"]) == ["x", "y", "z", "w"]
    assert made["2"] == pytest.approx({"x": 1, "y": 0.5})


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_scores_of_another_type_are_fused_as_their_numbers(kind):
    a, b = (run_of({"1": [("x",), ("y",)]}, score=np.array(scores)) for scores in ([3.0, 2.0], [7.0, 5.0]))
    other = replace(b, score=b.score.astype(kind))
    assert values(fe.fuse([a, other], "sum", norm="none")) == values(fe.fuse([a, b], "sum", norm="none"))


def test_what_cannot_be_fused_is_refused():
    a, b = frame({"1": {"x": 3, "y": 2}}), frame({"1": {"x": -1}})
    cases = (
        (([a],), {}, "expected two or more runs to fuse, found 1"),
        (([a, b], "condorcet"), {}, "expected method among rrf, sum, mnz, product, found 'condorcet'"),
        (([a, b],), {"weights": [1.0]}, "expected a weight for each of 2 runs, found 1"),
        (([a, b],), {"weights": [1.0, -2.0]}, "expected weights from 0, found -2"),
        (([a, b],), {"k": float("nan")}, "expected k from 0, found nan"),
        (([a, b], "product"), {"norm": "z"}, "norm z, which has negative ones"),
        (([a, b], "product"), {"norm": "none"}, "expected scores from 0 for a product, found -1"),
        (([a, run_of({"1": [("x", 0, 9)]})],), {}, "found whole documents here and parts of documents elsewhere"),
        (([a, run_of({"1": [("x",)]})], "sum"), {}, "expected scores to add up, found none; use method rrf"),
    )
    for arguments, more, said in cases:
        with pytest.raises(FocusevalError, match=said):
            fe.fuse(*arguments, **more)


def test_the_command_writes_what_the_function_returns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = RANX["runs"]
    for name, run in zip("ab", runs, strict=False):
        lines = [f"{t} Q0 {d} 0 {s} {name}\n" for t, found in run.items() for d, s in found.items()]
        Path(f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    arguments = [
        "fuse",
        "a.txt",
        "b.txt",
        "-o",
        "f.txt",
        "--method",
        "sum",
        "--weight",
        ".5",
        "--weight",
        ".3",
        "--limit",
        "2",
    ]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "f.txt: 4 results for 2 topics, sum norm=min-max weights=0.5,0.3 of a, b" in result.stderr
    assert "f.txt: left out: 1 header field (description)" in result.stderr
    written, made = fe.read_run("f.txt"), fe.fuse([frame(run) for run in runs[:2]], "sum", weights=[0.5, 0.3], limit=2)
    assert written.document.to_pylist() == made.document.to_pylist()
    np.testing.assert_allclose(written.score, made.score)
    assert written.run_id == "sum-a-b"
    refused = CliRunner().invoke(main, ["fuse", "a.txt", "-o", "f.txt"])
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)


def test_a_fusion_says_what_it_is():
    assert Fusion("rrf", 10).description() == "rrf k=10"


def test_ties_keep_their_order_in_a_run_of_documents(tmp_path, monkeypatch):
    """Reciprocal ranks of runs that share nothing tie in every rank; trec_eval would order them by document."""
    monkeypatch.chdir(tmp_path)
    for name, documents in (("a", "pq"), ("b", "xy")):
        lines = (f"1 Q0 {document} {rank} {9 - rank} {name}\n" for rank, document in enumerate(documents, 1))
        Path(f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    done = CliRunner().invoke(main, ["fuse", "a.txt", "b.txt", "-o", "f.txt"])
    assert done.exit_code == 0, done.output
    assert fe.read_run("f.txt").document.to_pylist() == ["p", "x", "q", "y"]
    assert "1/rank is written" in done.stderr
