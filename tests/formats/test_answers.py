"""Answers with citations, read as runs: every shape that people write, and what leads nowhere."""

import json

import pytest

import focuseval as fe
from focuseval.errors import FormatError
from focuseval.formats.answers import read
from focuseval.formats.catalogue import detect_source
from focuseval.formats.content import source_of
from focuseval.formats.embedded import open_documents
from focuseval.placing import place_run

DOCS = {"tide": "The tide is the slow rise and fall of the sea. The Moon pulls.", "moon": "The Moon is a satellite."}
CITED = [("tide", 12, 45)]
"""The place of “the slow rise and fall of the sea”."""


def run_of(*records):
    """The run of some answers, detected, read and placed."""
    source = source_of("".join(json.dumps(one) + "\n" for one in records).encode(), "answers.jsonl")
    assert detect_source(source, "run").name == "answers"
    documents = open_documents(DOCS)
    return place_run(read(source, documents), documents)


def spans(run):
    return list(zip(run.document.to_pylist(), run.start.tolist(), run.end.tolist(), strict=True))


QUOTE = "the slow rise and fall of the sea"
SHAPES = {
    "ours": {"topic": "q1", "answer": [{"text": "It rises.", "citations": [{"doc": "tide", "start": 12, "end": 45}]}]},
    "ours, by quote": {"topic": "q1", "answer": [{"text": "Up.", "citations": [{"doc": "tide", "quote": QUOTE}]}]},
    "ours, without a document": {"topic": "q1", "answer": [{"text": "Up.", "citations": [{"quote": QUOTE}]}]},
    "ALCE": {"question": "q1", "docs": [{"id": "tide", "title": "Tide", "text": QUOTE}], "output": "It rises [1]."},
    "API blocks": {
        "topic": "q1",
        "documents": ["moon", "tide"],
        "content": [
            {"type": "text", "text": "It "},
            {"type": "text", "text": "rises.", "citations": [
                {"type": "char_location", "cited_text": QUOTE, "document_index": 1, "document_title": "T",
                 "start_char_index": 12, "end_char_index": 45}]},
        ],
    },
    "API blocks, by title": {
        "topic": "q1",
        "content": [{"type": "text", "text": "It rises.", "citations": [
            {"type": "page_location", "cited_text": QUOTE, "document_index": 0, "document_title": "tide",
             "start_page_number": 1, "end_page_number": 2}]}],
    },
    "grounding supports": {
        "topic": "q1",
        "answer": "Schön! It rises.",
        "groundingMetadata": {
            "groundingChunks": [{"retrievedContext": {"uri": "tide", "title": "T", "text": QUOTE}}],
            "groundingSupports": [{"segment": {"startIndex": 8, "endIndex": 17}, "groundingChunkIndices": [0]}],
        },
    },
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_cites_the_same_text(shape):
    run = run_of(SHAPES[shape])
    assert (run.topics, spans(run)) == (("q1",), CITED)
    last = run.answers["q1"].statements[-1]
    assert (last.text.rstrip().endswith("."), last.cites) == (True, (0,))


@pytest.mark.parametrize(
    "record",
    [
        {"topic_id": "q1", "references": ["moon", "tide"], "answer": [{"text": "Up.", "citations": [1]}]},
        {"metadata": {"run_id": "r", "narrative_id": "q1"}, "references": ["tide"], "answer": [
            {"text": "Up.", "citations": [0]}]},
        {"id": "q1", "answer": "It rises [1].", "sources": ["tide"]},
        {"id": "q1", "answer": "It rises. [tide]", "sources": ["moon", "tide"]},
        {"id": "q1", "answer": "It rises 【1】.\n\n[1]: [The tide](tide)", "citations": None},
        {"id": "q1", "answer": "It rises [^2].\n\n## Sources\n\n1. moon\n2. tide", "citations": None},
    ],
)  # fmt: skip
def test_a_document_that_is_cited_as_a_whole_is_a_whole_result(record):
    run = run_of(record)
    assert (run.topics, run.document.to_pylist(), run.whole_documents) == (("q1",), ["tide"], True)
    assert [one.cites for one in run.answers["q1"].statements] == [(0,)]


def test_a_citation_to_nowhere_is_a_result_without_a_place_beside_whole_documents_and_spans():
    answer = [{"text": "A.", "citations": [0, 7]}, {"text": "B.", "citations": [{"doc": "tide", "start": 3, "end": 9}]}]
    run = run_of({"topic_id": "q1", "references": ["moon"], "answer": answer})
    assert spans(run) == [("moon", 0, len(DOCS["moon"])), ("[7]", -1, -1), ("tide", 3, 9)]
    marked = run_of({"id": "q1", "answer": "It rises [1][9]. So [sic].", "sources": ["tide"]})
    assert marked.document.to_pylist() == ["tide", "[9]"]
    assert [one.cites for one in marked.answers["q1"].statements] == [(0, 1), ()]


def test_segments_that_are_cited_become_spans_of_their_documents(tmp_path):
    segment = {"docid": "doc#1_2", "url": "u", "segment": "a segment", "start_char": 3, "end_char": 12}
    (tmp_path / "segments.jsonl").write_text(json.dumps(segment) + "\n")
    answer = [{"text": "A.", "citations": [0]}, {"text": "B.", "citations": [1]}]
    record = {"topic_id": "q1", "references": ["doc#1_2", "doc#9_9"], "answer": answer}
    run = read(source_of(json.dumps(record).encode(), "a.jsonl"), open_documents(str(tmp_path / "segments.jsonl")))
    assert spans(run) == [("doc", 3, 12), ("doc#9_9", -1, -1)]


def test_one_text_cited_twice_is_one_result_and_marks_behind_a_full_stop_belong_to_it():
    run = run_of({"id": "q1", "answer": "It rises. [1] It falls [1]. Nobody knows.", "sources": ["tide"]})
    assert run.document.to_pylist() == ["tide"]
    said = [("It rises.", (0,)), ("It falls [1].", (0,)), ("Nobody knows.", ())]
    assert [tuple(one) for one in run.answers["q1"].statements] == said


def test_an_answer_abstains_by_its_field_or_by_words_that_the_user_names(tmp_path):
    gold = [{"topic": "q1", "doc": "tide", "spans": [{"start": 0, "end": 5}]}]
    gold += [{"topic": topic, "answerable": False} for topic in ("q2", "q3", "q4")]
    answers = [{"id": "q2", "answer": "No.", "abstains": True, "sources": []}]
    answers += [
        {"id": "q3", "answer": "I DON'T know that.", "sources": []},
        {"id": "q4", "answer": "42", "sources": []},
    ]
    for name, lines in (("gold", gold), ("answers", answers)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    files = tmp_path / "gold.jsonl", tmp_path / "answers.jsonl"
    for words, silent in ((None, 1 / 3), (["I don't know"], 2 / 3)):
        scores = fe.evaluate(*files, ["silence"], docs=DOCS, refusals=words)
        assert scores.means()["answers"]["silence"] == pytest.approx(silent)
        assert ("refusals:I don't know" in scores.signature) == bool(words)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"id": "q1", "sources": []}, "expected an answer (answer, response, actual_output, output, generated_answer"),
        ({"topic": "q1", "answer": ["text"]}, "expected a part of an answer as an object with a text, found 'text'"),
        ({"topic": "q1", "answer": [{"text": "A", "citations": [True]}]}, "expected a citation as a number, an id or"),
    ],
)
def test_an_answer_of_another_form_is_refused_with_its_place(record, said):
    with pytest.raises(FormatError) as refusal:
        read(source_of(json.dumps(record).encode(), "answers.jsonl"))
    assert str(refusal.value).startswith(f"answers.jsonl:1: {said}")


def test_two_answers_to_one_question_are_refused():
    record = {"id": "q1", "answer": "A.", "sources": []}
    with pytest.raises(FormatError, match="expected one answer to 'q1', found another"):
        run_of(record, record)
