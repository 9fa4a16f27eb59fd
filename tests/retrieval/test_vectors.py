"""Vectors: exact search, embedders and their cache, and runs by vectors and by both."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from focuseval.cli import main
from focuseval.errors import FocusevalError, ModelError
from focuseval.retrieval import vectors as searching
from focuseval.retrieval.embedding import FunctionEmbedder, ServerEmbedder, embed, open_embedder
from focuseval.retrieval.vectors import VectorSettings, nearest

TEXTS = {
    "sea": "Tides follow the moon. Ships wait in the harbour for the tide.",
    "tea": "Black tea draws for four minutes. Green tea wants cooler water.",
    "sun": "The sun pulls at the sea a little. Its light takes eight minutes.",
}
QUERIES = {"1": "moon and sea", "2": "how long does tea draw"}


def letters(texts):
    """Stand in for a model: how often some letters occur."""
    return np.array([[text.lower().count(letter) + 0.01 for letter in "aeiostlmw"] for text in texts], np.float32)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FOCUSEVAL_VECTORS", str(tmp_path / "cache"))


# ----------------------------------------------------------------------------------------------------------- the search


def slow(vectors, query, cosine):
    """Score every vector by itself."""
    scores = []
    for vector in vectors.astype(np.float64):
        score = sum(a * b for a, b in zip(vector.tolist(), query.tolist(), strict=True))
        length = (sum(a * a for a in vector.tolist()) * sum(b * b for b in query.tolist())) ** 0.5
        scores.append(round(score if not cosine else score / length if length else 0.0, 9))
    return scores


@given(
    st.integers(0, 40), st.integers(1, 9), st.booleans(), st.sampled_from([np.float32, np.float16]), st.integers(0, 99)
)
def test_the_nearest_are_those_of_scoring_every_vector(many, wanted, cosine, kind, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (many, 4)).astype(kind)  # many ties, and vectors of nothing
    queries = rng.integers(-2, 3, (3, 4)).astype(np.float32)
    block, searching.BLOCK = searching.BLOCK, 7
    try:
        found = nearest(vectors, queries, wanted, cosine=cosine)
    finally:
        searching.BLOCK = block
    for query, (rows, scores) in zip(queries, found, strict=True):
        every = slow(vectors, query, cosine)
        order = sorted(range(many), key=lambda row: (-every[row], row))
        kept = [row for row in order if not order or every[row] >= every[order[min(wanted, many) - 1]]]
        assert rows.tolist() == kept
        np.testing.assert_allclose(scores, [every[row] for row in kept], atol=2e-9)


def test_a_search_does_not_depend_on_its_blocks(monkeypatch):
    rng = np.random.default_rng(3)
    vectors, queries = rng.standard_normal((500, 64), np.float32), rng.standard_normal((5, 64), np.float32)
    whole = nearest(vectors, queries, 20)
    monkeypatch.setattr(searching, "BLOCK", 33)
    for (rows, scores), (others, same) in zip(whole, nearest(vectors, queries, 20), strict=True):
        assert rows.tolist() == others.tolist()
        assert scores.tolist() == same.tolist()


# ------------------------------------------------------------------------------------------------------------- the runs


def by_hand(unit, query):
    every = fe.units(fe.open_documents(TEXTS), unit)
    own, asked = letters(every.texts()).astype(float), letters([query])[0].astype(float)
    return every, own @ asked / np.linalg.norm(own, axis=1) / np.linalg.norm(asked)


@pytest.mark.parametrize("unit", ["sentences:1", "document", "passage:5/3"])
def test_a_dense_run_is_ordered_by_the_cosine(unit):
    run = fe.retrieve(fe.open_documents(TEXTS), QUERIES, unit=unit, retriever="dense", embedder=letters)
    for number, query in enumerate(QUERIES.values()):
        every, cosine = by_hand(unit, query)
        rows = np.flatnonzero(run.topic == number)
        order = np.argsort(-cosine.round(9), kind="stable")
        assert run.document.take(rows).to_pylist() == every.document.take(order).to_pylist()
        np.testing.assert_allclose(run.score[rows], cosine[order], atol=1e-6)
    assert run.attributes["description"].endswith("embedder=a function cosine (cut texts not known)")


def test_a_list_without_overlap_is_as_long_as_it_can_be():
    index = fe.open_documents(TEXTS)
    run = fe.retrieve(index, QUERIES, unit="passage:4/1", task="focused", retriever="dense", embedder=letters, limit=3)
    every, cosine = by_hand("passage:4/1", QUERIES["1"])
    wanted = every.run({"1": cosine.astype(np.float32)}, task="focused", limit=3)
    assert run.start[run.topic == 0].tolist() == wanted.start.tolist()


def test_hybrid_is_the_fusion_of_both_runs():
    index, how = fe.open_documents(TEXTS), {"unit": "sentences:1", "embedder": letters}
    both = [fe.retrieve(index, QUERIES, retriever=name, **how) for name in ("bm25", "dense")]
    made, fused = fe.retrieve(index, QUERIES, retriever="hybrid", **how), fe.fuse(both)
    for topic in range(2):
        ours, theirs = (
            {
                (d, s): v
                for d, s, v, t in zip(r.document.to_pylist(), r.start.tolist(), r.score, r.topic, strict=True)
                if t == topic
            }
            for r in (made, fused)
        )
        assert ours == pytest.approx(theirs)
    assert "hybrid sentences:1" in made.attributes["description"]
    assert "depth=1000 fusion=rrf k=60" in made.attributes["description"]


def test_vectors_of_a_chunks_file_are_in_its_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    index = fe.open_documents(TEXTS)
    cut = fe.chunk(index, "sentences:1")
    order = np.array([4, 0, 5, 2, 1, 3, 0])  # shuffled, one of them twice
    mixed = fe.Chunks(cut.document.take(order), cut.start[order], cut.end[order], "mixed")
    np.save("chunks.npy", letters(list(mixed.texts(index))).astype(np.float16))
    np.save("queries.npy", letters(list(QUERIES.values())))
    run = fe.retrieve(
        index, QUERIES, chunks=mixed, retriever="dense", vectors="chunks.npy", query_vectors="queries.npy"
    )
    same = fe.retrieve(index, QUERIES, unit="sentences:1", retriever="dense", embedder=letters)
    assert run.document.to_pylist() == same.document.to_pylist()
    assert run.start.tolist() == same.start.tolist()
    assert "vectors=chunks.npy query_vectors=queries.npy cosine" in run.attributes["description"]


def test_the_first_dimensions_alone_may_decide():
    index, how = fe.open_documents(TEXTS), {"unit": "sentences:1", "retriever": "dense"}
    few = fe.retrieve(index, QUERIES, embedder=letters, dimensions=3, **how)
    same = fe.retrieve(index, QUERIES, embedder=lambda texts: letters(texts)[:, :3], **how)
    assert few.score.tolist() == same.score.tolist()
    assert "dimensions=3" in few.attributes["description"]


def test_what_gives_no_vectors_is_refused(tmp_path):
    index, dense = fe.open_documents(TEXTS), {"retriever": "dense", "unit": "sentences:1"}
    np.save(tmp_path / "few.npy", np.zeros((2, 3), np.float32))
    (tmp_path / "bad.npy").write_text("nothing", encoding="utf-8")
    few, bad = str(tmp_path / "few.npy"), str(tmp_path / "bad.npy")
    cases = (
        (dense, "expected an embedder, or vectors and query vectors, found neither"),
        ({"retriever": "colbert"}, "expected retriever among bm25, dense, hybrid, found 'colbert'"),
        ({**dense, "embedder": "openai:x"}, "expected an embedder .*, found 'openai:x'"),
        ({**dense, "embedder": "http://localhost:1"}, "expected a model for http://localhost:1, found none"),
        (
            {**dense, "vectors": few, "query_vectors": few},
            "few.npy: expected 6 rows of vectors, one for each unit, found",
        ),
        ({**dense, "vectors": bad, "query_vectors": few}, "bad.npy: expected vectors as NumPy writes them"),
        (
            {**dense, "embedder": lambda texts: letters(texts)[1:]},
            "expected 6 vectors of the embedder, found an array",
        ),
        ({**dense, "embedder": letters, "dimensions": 50}, "expected vectors of 50 dimensions or more, found 9"),
        ({**dense, "unit": "element", "embedder": letters, "cas": "strict"}, "expected bm25 for structured titles"),
    )
    for options, said in cases:
        with pytest.raises(FocusevalError, match=said):
            fe.retrieve(index, QUERIES, **options)


# ------------------------------------------------------------------------------------------------ embedders, and cache


class Named(FunctionEmbedder):
    """A function that is remembered by its name."""


def test_a_text_is_embedded_once():
    seen = []

    def noted(texts):
        seen.extend(texts)
        return letters(texts)

    first = embed(["a", "b", "a"], Named(noted, "m"))
    assert (seen, first.asked) == (["a", "b"], 2)
    again = embed(["b", "c"], Named(noted, "m"))
    assert (seen, again.asked) == (["a", "b", "c"], 1)
    np.testing.assert_array_equal(again.vectors, letters(["b", "c"]))
    embed(["b"], Named(noted, "another"))
    assert seen == ["a", "b", "c", "b"]


def test_what_came_before_an_interruption_is_kept(monkeypatch):
    monkeypatch.setattr("focuseval.retrieval.embedding.BATCH", 1)
    seen = []

    def breaks(texts):
        if "e" in texts:
            raise KeyboardInterrupt
        seen.extend(texts)
        return letters(texts)

    with pytest.raises(KeyboardInterrupt):
        embed(list("abcdef"), Named(breaks, "m"))
    assert embed(list("abcd"), Named(breaks, "m")).asked == 0


def test_a_prefix_is_part_of_the_text():
    seen = []

    def noted(texts):
        seen.extend(texts)
        return letters(texts)

    how = {"unit": "sentences:1", "retriever": "dense", "query_prefix": "query: ", "passage_prefix": "passage: "}
    run = fe.retrieve(fe.open_documents(TEXTS), {"1": "moon"}, embedder=noted, **how)
    assert seen[-1] == "query: moon"
    assert all(text.startswith("passage: ") for text in seen[:-1])
    assert "query_prefix='query: ' passage_prefix='passage: '" in run.attributes["description"]


@pytest.fixture
def server(monkeypatch):
    """A server of embeddings; `answers` are sent before it behaves: (status, headers, body)."""
    monkeypatch.setattr("focuseval.engine.http.FIRST_PAUSE", 0.01)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.requests.append((self.path, self.headers.get("Authorization"), body))
            status, headers, text = 200, {}, ""
            if made.answers:
                status, headers, text = made.answers.pop(0)
            elif any(len(one) > made.longest for one in body["input"]):
                status, text = 400, json.dumps({"error": {"message": "the input length exceeds the context length"}})
            else:
                data = [{"index": n, "embedding": v.tolist()} for n, v in enumerate(letters(body["input"]))]
                text = json.dumps({"data": data[::-1], "usage": {"prompt_tokens": sum(map(len, body["input"]))}})
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.answers, made.requests, made.longest = [], [], 10_000
    made.url = f"http://127.0.0.1:{made.server_port}/v1"
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_a_server_is_asked_in_batches_and_again_when_it_wants_that(server):
    server.answers = [(503, {"Retry-After": "0"}, ""), (429, {"Retry-After": "0"}, "busy")]
    texts = [f"text {number}" for number in range(150)]
    made = embed(texts, open_embedder(f"{server.url}#m", key="secret"))
    np.testing.assert_array_equal(made.vectors, letters(texts))
    assert made.tokens == sum(map(len, texts))
    assert set(made.cut.tolist()) == {-1}
    path, key, body = server.requests[-1]
    assert (path, key, body["model"]) == ("/v1/embeddings", "Bearer secret", "m")
    assert sorted(len(body["input"]) for _, _, body in server.requests[-3:]) == [22, 64, 64]
    assert embed(texts, open_embedder(server.url, "m")).asked == 0


def test_texts_that_are_too_long_for_a_server_are_cut_and_counted(server):
    server.longest = 10
    made = embed(["short", "x" * 25, "also"], ServerEmbedder(server.url, "m"))
    assert made.cut.tolist() == [-1, 1, -1]
    np.testing.assert_array_equal(made.vectors, letters(["short", "x" * 10, "also"]))
    assert embed(["x" * 25], ServerEmbedder(server.url, "m")).cut_texts == 1  # also where the vector was kept


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((401, {}, "secret is wrong"), r"the key is refused; check the variable that --api-key-env names"),
        ((404, {}, "{}"), "there is no such model or address; check --model and --embedder"),
        ((302, {"Location": "http://elsewhere/"}, ""), "requests go to --embedder alone"),
        ((200, {}, "<html>"), "is this a server of embeddings"),
        ((200, {}, '{"data": []}'), "expected 1 vectors of one size, found 0"),
        ((200, {}, '{"data": [{"embedding": ["a"]}]}'), "is this a server of embeddings"),
        ((418, {}, "no tea"), "HTTP 418: no tea; check --embedder and --model"),
    ],
)
def test_a_server_that_gives_no_vectors_is_one_line(server, answer, said):
    server.answers = [answer]
    with pytest.raises(ModelError, match=said) as raised:
        embed(["a"], ServerEmbedder(server.url, "m", "secret"))
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_the_commands_retrieve_and_search_by_vectors(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for name, text in TEXTS.items():
        Path("docs", f"{name}.txt").write_text(text, encoding="utf-8")
    Path("q.tsv").write_text("".join(f"{name}\t{query}\n" for name, query in QUERIES.items()), encoding="utf-8")
    how = ["--unit", "sentences:1", "--embedder", server.url, "--model", "m"]
    for retriever in ("dense", "hybrid"):
        said = CliRunner().invoke(main, ["retrieve", "docs", "q.tsv", "-o", "r.jsonl", "--retriever", retriever, *how])
        assert said.exit_code == 0, said.output
        assert f"embedder={server.url}#m cosine (cut texts not known)" in said.stderr
        made = fe.retrieve(
            fe.open_documents("docs"), QUERIES, unit="sentences:1", retriever=retriever, embedder=letters
        )
        assert fe.read_run("r.jsonl").start.tolist() == made.start.tolist()
    asked = len(server.requests)
    found = CliRunner().invoke(main, ["search", "docs", "moon and sea", "--retriever", "dense", "--json", *how])
    dense = fe.retrieve(fe.open_documents("docs"), QUERIES, unit="sentences:1", retriever="dense", embedder=letters)
    starts = [json.loads(line)["start"] for line in found.stdout.splitlines()]
    assert starts == dense.start[dense.topic == 0].tolist()
    assert len(server.requests) == asked  # all of it was known
    monkeypatch.delenv("NOSUCH", raising=False)
    refused = CliRunner().invoke(
        main, ["search", "docs", "moon", "--retriever", "dense", "--api-key-env", "NOSUCH", *how]
    )
    assert refused.exit_code == 2
    assert "expected a key in the environment variable NOSUCH, found nothing" in refused.stderr


def test_settings_say_what_was_done():
    assert VectorSettings("http://h#m", normalise=False).description() == "embedder=http://h#m inner product"
