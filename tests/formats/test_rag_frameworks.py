"""Results of LangChain, LlamaIndex and Haystack: their claims are verified against the text."""

import os
from types import SimpleNamespace as Object

import pytest

from focuseval.errors import FormatError
from focuseval.formats.frameworks import chunks_from, run_from_results
from focuseval.placing import align_chunks, align_run

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")  # a test tells nobody that it ran
TEXT = "Une étude. Même refrain. Le café est fermé. Même refrain. La fin arrive – enfin. 🙂 " * 3
WHY = "{} is not installed: see the dependency group 'frameworks'"


def langchain(text, start=None, **metadata):
    return Object(page_content=text, metadata=metadata | ({} if start is None else {"start_index": start}))


def llama(text, start, end, document="d", score=0.5):
    node = Object(
        text=text, start_char_idx=start, end_char_idx=end, ref_doc_id=document, metadata={"file_name": "f.txt"}
    )
    return Object(node=node, score=score)


def haystack(text, start=None, **meta):
    return Object(
        content=text,
        score=0.25,
        meta={"source_id": "d", **meta} | ({} if start is None else {"split_idx_start": start}),
    )


def test_objects_are_told_by_what_they_look_like():
    results = {
        "q1": [langchain("Le café", 25, source="d"), llama("Le café", 25, 32), haystack("Le café", 25, split_id=4)],
        "q2": [],
    }
    run = run_from_results(results, run_id="mixed")
    assert (run.topics, run.topic.tolist(), run.rank.tolist()) == (("q1", "q2"), [0, 0, 0], [1, 2, 3])
    assert run.document.to_pylist() == ["d"] * 3
    assert (run.start.tolist(), run.end.tolist(), run.chunk.tolist()) == ([25] * 3, [32] * 3, [-1, -1, 4])
    assert run.score is None


def test_pairs_of_object_and_score_carry_the_score():
    run = run_from_results({"q": [(langchain("x", source="d"), 0.75), (llama("y", None, None), 0.5)]})
    assert (run.score.tolist(), run.start.tolist()) == ([0.75, 0.5], [-1, -1])


def test_an_unknown_start_is_no_claim():
    assert run_from_results({"q": [langchain("x", -1, source="d"), haystack(None)]}).start.tolist() == [-1, -1]


def test_the_documents_id_may_stand_under_any_name():
    run = run_from_results({"q": [langchain("x", file="a.md"), haystack("y", file="b.md")]}, doc_key="file")
    assert run.document.to_pylist() == ["a.md", "b.md"]
    assert run_from_results({"q": [llama("z", 0, 1)]}, doc_key="file_name").document.to_pylist() == ["f.txt"]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            langchain("x", page=3),
            r"<results of 'q'>:1: expected the document's id under source or .*, found page; say which",
        ),
        (Object(), "expected a LangChain, LlamaIndex or Haystack object or a dictionary, found SimpleNamespace"),
    ],
)
def test_what_cannot_be_understood_is_named_by_topic_and_rank(item, message):
    with pytest.raises(FormatError, match=message):
        run_from_results({"q": [item]})


def test_a_wrong_claim_is_repaired_and_counted():
    run = run_from_results({"q": [langchain("Le café est fermé.", 27, source="d")]})
    placed, found = align_run(run, {"d": TEXT[:80]})
    assert placed.start.tolist() == [TEXT.index("Le café")]
    assert found.summary() == "1 result: 0 exact, 1 repaired (−2: 1), 0 ambiguous, 0 lost"


def check_splitter(chunks, documents, least, doc_key=None):
    """Every chunk that is placed says its text, and nearly all are placed."""
    columns = chunks_from(chunks, doc_key=doc_key)
    found = align_chunks(
        columns.document, columns.text, documents, order=columns.order, start=columns.start, end=columns.end
    )
    placed = found.start >= 0
    assert placed.mean() >= least, found.summary()
    for name, text, start, end, how in zip(
        columns.document, columns.text, found.start, found.end, found.names, strict=True
    ):
        if how == "exact":
            assert documents[name][start:end] == text
    return found


def test_langchain_splitters_with_and_without_true_starts():
    splitters = pytest.importorskip("langchain_text_splitters", reason=WHY.format("langchain-text-splitters"))
    documents = {"d": TEXT * 4}
    for length in (len, lambda text: len(text.split())):
        splitter = splitters.RecursiveCharacterTextSplitter(
            chunk_size=40 if length is len else 8, chunk_overlap=2, length_function=length, add_start_index=True
        )
        chunks = splitter.create_documents([documents["d"]], [{"source": "d"}])
        found = check_splitter(chunks, documents, 0.9)
        assert found.count("lost") == 0
        run = run_from_results({"q": [(chunk, 0.5) for chunk in chunks[:3]]})
        assert len(align_run(run, documents)[0].start) == 3


def test_llama_index_nodes_carry_their_document():
    core = pytest.importorskip("llama_index.core", reason=WHY.format("llama-index-core"))
    schema = pytest.importorskip("llama_index.core.schema", reason=WHY.format("llama-index-core"))
    parser = pytest.importorskip("llama_index.core.node_parser", reason=WHY.format("llama-index-core"))
    splitter = parser.TokenTextSplitter(chunk_size=20, chunk_overlap=4, tokenizer=str.split)
    nodes = splitter.get_nodes_from_documents([core.Document(text=TEXT, doc_id="d")])
    assert check_splitter(nodes, {"d": TEXT}, 0.9).count("lost") == 0
    run = run_from_results({"q": [schema.NodeWithScore(node=node, score=0.5) for node in nodes]})
    assert set(run.document.to_pylist()) == {"d"}
    assert run.score.tolist() == [0.5] * len(nodes)


def test_haystack_splits_carry_their_source():
    haystack_ai = pytest.importorskip("haystack", reason=WHY.format("haystack-ai"))
    preprocessors = pytest.importorskip("haystack.components.preprocessors", reason=WHY.format("haystack-ai"))
    splitter = preprocessors.DocumentSplitter(split_by="word", split_length=7, split_overlap=2)
    source = haystack_ai.Document(content=TEXT)
    chunks = splitter.run(documents=[source])["documents"]
    found = check_splitter(chunks, {source.id: TEXT}, 1.0)
    assert found.summary().endswith("0 ambiguous, 0 lost")
    assert run_from_results({"q": chunks}).chunk.tolist() == list(range(len(chunks)))
