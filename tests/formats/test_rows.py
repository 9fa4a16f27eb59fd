"""Files that people have: rows of RAGAS, DeepEval, BEIR, MTEB and others, in JSON lines, JSON, CSV, TSV and frames."""

import csv
import io
import json
import re

import pyarrow as pa
import pytest

import focuseval as fe
from focuseval.data.fields import NAMES
from focuseval.errors import FormatError, MissingDataError, NotComparableError
from focuseval.formats import detect_source, find_format
from focuseval.formats.content import source_of
from focuseval.formats.convert import convert_file

DOCS = {
    "tea.md": "Boil fresh water. Warm the pot.\nBlack tea draws for four minutes. Serve hot.",
    "coffee.md": "Grind the beans. Use sixty grams for a litre. Serve hot.",
}
DRAWS, GRAMS = "Black tea draws for four minutes.", "Use sixty grams for a litre."
RAGAS = [
    {"user_input": "How long?", "retrieved_contexts": [GRAMS, DRAWS], "reference_contexts": [DRAWS], "response": "4"},
    {"user_input": "How much?", "retrieved_contexts": [GRAMS], "reference_contexts": [GRAMS], "response": "60 g"},
]
DEEPEVAL = [
    {"input": row["user_input"], "context": row["reference_contexts"], "retrieval_context": row["retrieved_contexts"]}
    for row in RAGAS
]
OLD_RAGAS = [
    {"question": r["user_input"], "contexts": r["retrieved_contexts"], "evidence": r["reference_contexts"]}
    for r in RAGAS
]
MEASURES = ["spanR@1", "spanP@1", "spanRR"]
EXPECTED = {"spanR@1": 0.5, "spanP@1": 0.5, "spanRR": 0.75}


def as_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_csv(rows, delimiter=",", write=json.dumps):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)), delimiter=delimiter)
    writer.writeheader()
    writer.writerows({k: write(v) if isinstance(v, list | dict) else v for k, v in row.items()} for row in rows)
    return out.getvalue()


CONTAINERS = {
    "lines": as_lines,
    "list": json.dumps,
    "indented": lambda rows: json.dumps(rows, indent=2),
    "inside": lambda rows: json.dumps({"name": "mine", "test_cases": rows}, indent=1),
    "csv": as_csv,
    "csv of pandas": lambda rows: as_csv(rows, write=repr),
    "tsv": lambda rows: as_csv(rows, "\t"),
}


@pytest.fixture
def written(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("rows", [RAGAS, DEEPEVAL, OLD_RAGAS], ids=["ragas", "deepeval", "ragas before 0.2"])
def test_one_file_of_a_rag_tool_is_gold_and_run(written, rows, container):
    path = written("answers", CONTAINERS[container](rows))
    assert fe.evaluate(path, path, MEASURES, docs=DOCS).means()["answers"] == pytest.approx(EXPECTED)


@pytest.mark.parametrize("rows", [RAGAS, DEEPEVAL, OLD_RAGAS], ids=["ragas", "deepeval", "ragas before 0.2"])
def test_the_same_rows_may_be_a_frame(rows):
    for frame in (rows, pa.Table.from_pylist(rows)):
        assert fe.evaluate(frame, frame, MEASURES, docs=DOCS).means()["run"] == pytest.approx(EXPECTED)


def test_what_became_of_texts_without_a_document_is_said(written):
    rows = [
        {
            "input": "Q?",
            "context": [DRAWS, "Serve hot.", "Add milk."],
            "retrieval_context": ["Serve  hot.", "x y", DRAWS],
        }
    ]
    path = written("answers.json", json.dumps(rows))
    counted = "1 found, 1 ambiguous (in several documents), 1 lost; ambiguous and lost ones are left out"
    why = "the text is in 2 documents and nothing tells them apart"
    said = fe.evaluate(path, path, ["spanR"], docs=DOCS).remarks()
    assert [line.partition(": ")[2] for line in said] == [
        f"3 texts without a document: {counted}",
        f"first ambiguous: 'Serve hot.' for topic 'Q?' ({path}:1) is in 2 documents",
        f"first lost: 'Add milk.' for topic 'Q?' ({path}:1)",
        "the only span is in place",
        "3 results: 1 exact, 1 ambiguous, 1 lost",
        f"first without a place: topic 'Q?' ({path}:1): {why}; --repairs lists all",
        "2 results have no known place in their document and gain nothing",
    ]


@pytest.mark.parametrize(
    ("docs", "found"),
    [({"x.txt": "Nothing."}, "2 of 2 in none and 0 in several"), (DOCS | {"x": DOCS["tea.md"]}, "1 of 2 in none")],
)
def test_a_gold_whose_texts_are_in_none_of_the_documents_is_refused_with_that_cause(written, docs, found):
    path = written("answers.jsonl", as_lines([{"user_input": "Q?", "reference_contexts": [DRAWS, "Add milk."]}]))
    cause = f"answers.jsonl:1: expected every text of the gold in one document of documents, found {found}"
    for measures in (["P@1"], ["spanR"]):
        with pytest.raises(FormatError, match=cause):
            fe.evaluate(path, {"Q?": [DRAWS]}, measures, docs=docs)


def test_the_list_of_repairs_says_why_a_text_without_a_document_has_no_place():
    run = {"q": ["Serve hot.", "x y", DRAWS]}
    gold = [{"topic": "q", "doc": "tea.md", "quote": DRAWS}]
    table = fe.evaluate(gold, run, ["spanR"], docs=DOCS).evaluation.repairs()
    assert table["reason"].to_pylist() == [
        "the text is in 2 documents and nothing tells them apart",
        "the text is nowhere in the collection",
    ]


@pytest.mark.parametrize("kind", ["run", "gold"])
def test_texts_without_a_document_need_the_documents(written, kind):
    path = written("answers.jsonl", as_lines(RAGAS))
    with pytest.raises(MissingDataError, match=r"answers\.jsonl:1: texts without a document .*; give docs= or index="):
        fe.read_run(path) if kind == "run" else fe.read_gold(path)
    with pytest.raises(MissingDataError, match=r"<frame>:1: texts without a document"):
        fe.evaluate(RAGAS, [{"topic": "How long?", "doc": "a"}], ["P@1"])


FLAT_RUN = [
    {"qid": 1, "docid": "tea.md", "similarity": 0.5, "begin": 0, "length": 17},
    {"qid": 1, "docid": "coffee.md", "similarity": 0.7, "begin": 17, "length": 28},
]
FLAT_GOLD = [
    {"question_id": 1, "question": "How much?", "document_id": "coffee.md", "start_index": 17, "end_index": 45}
]


@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_of_spans_have_the_names_that_people_use(written, container):
    run, gold = written("run", CONTAINERS[container](FLAT_RUN)), written("gold", CONTAINERS[container](FLAT_GOLD))
    found = fe.read_run(run)
    assert (found.document.to_pylist(), found.start.tolist(), found.end.tolist()) == (
        ["coffee.md", "tea.md"],
        [17, 0],
        [45, 17],
    )
    assert fe.evaluate(gold, run, ["IoU@1"]).means()["run"] == {"IoU@1": 1}
    assert fe.evaluate(FLAT_GOLD, FLAT_RUN, ["IoU@1"]).means()["run"] == {"IoU@1": 1}


def test_a_langchain_document_as_json_names_its_place_in_its_metadata(written):
    row = {"query_id": "q", "page_content": GRAMS, "metadata": {"source": "coffee.md", "start_index": 17}}
    run = fe.read_run(written("run.jsonl", as_lines([row])))
    assert (run.document.to_pylist(), run.start.tolist(), run.end.tolist()) == (["coffee.md"], [17], [45])


def test_a_chunk_is_a_number_or_a_text(written):
    rows = [{"topic": "q", "doc": "coffee.md", "chunk": 3, "text": GRAMS}]
    assert fe.read_run(written("one.json", json.dumps(rows))).chunk.tolist() == [3]
    rows = [{"query_id": "q", "doc": "coffee.md", "chunk": GRAMS}]
    for run in (fe.read_run(written("two.json", json.dumps(rows))), fe.read_run(written("two.csv", as_csv(rows)))):
        assert (run.text.to_pylist(), run.chunk) == ([GRAMS], None)


def test_objects_in_a_list_may_say_more_than_their_text(written):
    row = {
        "id": "q1",
        "question": "How much?",
        "evidence": [
            {"file_name": "coffee.md", "text": GRAMS, "need": "amount"},
            {"doc": "tea.md", "begin": 0, "end": 4},
        ],
        "contexts": [{"content": GRAMS, "meta": {"source": "coffee.md"}, "score": 2}],
    }
    path = written("questions.jsonl", as_lines([row]))
    gold, run = fe.read_gold(path), fe.read_run(path)
    assert (gold.topics, gold.queries, gold.documents.to_pylist()) == (
        ("q1",),
        {"q1": "How much?"},
        ["coffee.md", "tea.md"],
    )
    assert (gold.passages.need.to_pylist(), gold.passages.end.tolist()) == (["amount", None], [-1, 4])
    assert (run.document.to_pylist(), run.text.to_pylist(), run.score.tolist()) == (["coffee.md"], [GRAMS], [2.0])


def test_the_hops_of_ragas_are_needs_and_no_part_of_the_text(written):
    row = {"user_input": "Q?", "reference_contexts": [f"<1-hop>\n\n{DRAWS}", f"<2-hop>\n\n{GRAMS}"]}
    gold = fe.read_gold(written("testset.jsonl", as_lines([row])), index=fe.open_documents(DOCS))
    assert (gold.passages.need.to_pylist(), gold.passages.quote.to_pylist()) == (["1-hop", "2-hop"], [DRAWS, GRAMS])
    run = {"Q?": [DRAWS]}
    assert fe.evaluate(gold, run, ["all-recall", "S-recall"], docs=DOCS).means()["run"] == {
        "all-recall": 0,
        "S-recall": 0.5,
    }


def test_deepeval_s_own_csv_separates_its_texts_and_names_the_file(written):
    head = "input,actual_output,expected_output,context,source_file\n"
    path = written("goldens.csv", f"{head}How?,,,{DRAWS}|Warm the pot.,docs/tea.md\n")
    gold = fe.read_gold(path, index=fe.open_documents(DOCS))
    assert (gold.documents.to_pylist(), gold.passages.quote.to_pylist()) == (["docs/tea.md"], [DRAWS, "Warm the pot."])
    assert (gold.passages.start >= 0).all()


def test_a_run_may_name_topics_by_their_questions(written):
    rows = [
        {"topic": "q1", "query": "How long?", "doc": "tea.md", "spans": [{"quote": DRAWS}]},
        {"topic": "q2", "query": "How much?", "doc": "coffee.md", "spans": [{"quote": GRAMS}]},
    ]
    gold, run = written("gold.jsonl", as_lines(rows)), written("run.jsonl", as_lines(RAGAS))
    scores = fe.evaluate(gold, run, ["spanRR"], docs=DOCS)
    assert scores.per_topic()["run"] == {"q1": {"spanRR": 0.5}, "q2": {"spanRR": 1}}
    assert scores.counts[0].unknown == 0


def test_a_question_that_two_topics_ask_is_neither(written):
    rows = [
        {"topic": name, "query": query, "doc": "tea.md", "spans": [{"quote": DRAWS}]}
        for name, query in (("q1", "How long?"), ("q2", "How long?"), ("q3", "How much?"))
    ]
    scores = fe.evaluate(written("gold.jsonl", as_lines(rows)), RAGAS, ["hit"], docs=DOCS)
    assert (scores.counts[0].missing, scores.counts[0].unknown) == (2, 1)


def beir(written):
    written("beir/corpus.jsonl", as_lines([{"_id": n, "title": n.upper(), "text": t} for n, t in DOCS.items()]))
    written("beir/queries.jsonl", as_lines([{"_id": "q1", "text": "How long?"}, {"_id": "q2", "text": "How much?"}]))
    qrels = "query-id\tcorpus-id\tscore\nq1\ttea.md\t2\nq2\tcoffee.md\t1\nq2\ttea.md\t0\n"
    return written("beir/qrels/test.tsv", qrels).parents[1]


def test_a_beir_folder_is_documents_topics_and_a_gold_of_documents(written):
    folder = beir(written)
    gold = fe.read_gold(folder)
    assert (gold.scale, gold.topics, gold.articles.relevance.tolist()) == ("trec", ("q1", "q2"), [2, 1, 0])
    assert gold.articles.line.tolist() == [2, 3, 4]
    docs = fe.open_documents(folder)
    assert (docs.ids.to_pylist(), docs.text(0)) == (list(DOCS), DOCS["tea.md"])
    assert [topic.title for topic in fe.read_topics(folder / "queries.jsonl")] == ["How long?", "How much?"]
    run = written("run.json", json.dumps({"q1": {"coffee.md": 2.5, "tea.md": 1.5}, "q2": {"coffee.md": 1}}))
    assert fe.evaluate(folder, run, ["MRR@10", "Recall@1"]).means()["run"] == {"MRR@10": 0.75, "Recall@1": 0.5}


def test_of_several_files_of_judgements_the_one_for_testing_counts(written):
    folder = beir(written)
    written("beir/qrels/dev.tsv", "query-id\tcorpus-id\tscore\nq1\tcoffee.md\t1\n")
    assert fe.read_gold(folder).articles.relevance.tolist() == [2, 1, 0]
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "train.tsv")
    with pytest.raises(
        FormatError, match=r"qrels: expected one file of judgements, found dev\.tsv, train\.tsv; name one"
    ):
        fe.read_gold(folder)


def test_the_judgements_of_mteb_are_lines_of_the_same_fields(written):
    path = written("qrels.jsonl", as_lines([{"query-id": "q1", "corpus-id": "tea.md", "score": 2}]))
    gold = fe.read_gold(path)
    assert (gold.scale, gold.articles.relevance.tolist(), gold.documents.to_pylist()) == ("trec", [2], ["tea.md"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [
                {"user_input": "Q?", "response": "R", "reference_contexts": ["x"]},
                {"response": "R", "reference_contexts": ["x"]},
            ],
            r"gold:2: expected the field 'topic' \(one of topic, .*, input\), found response, reference_contexts",
        ),
        (
            [{"question": "Q?", "doc": "a", "quote": "x"}, {"question": "Q?", "response": "R"}],
            r"gold:2: expected what answers the question \(a list as spans, .*\), found question, response",
        ),
        (
            [{"question": "Q?", "doc": "a", "quote": "x"}, {"question": "Q?", "answer": "R"}],
            r"gold:2: expected texts of one document each, found answers in words of their own: 'R' is in none of them",
        ),
        (
            [{"qid": 1, "query_id": 2, "docid": "a", "quote": "x"}],
            r"gold:1: expected one value, found query_id=2 and qid=1",
        ),
        (
            [{"qid": 1, "doc_id": "a", "docno": "b", "quote": "x"}],
            r"gold:1: expected one value, found doc_id='a' and docno='b'",
        ),
        (
            [{"qid": 1, "docid": "a", "begin": "x", "quote": "y"}],
            r"gold:1: expected a finite number as 'start', found 'x'",
        ),
        (
            [{"qid": 1, "docid": "a", "begin": 1.5, "quote": "y"}],
            r"gold:1: expected a whole number as 'start', found 1\.5",
        ),
        (
            [{"qid": 1, "docid": "a", "grade": 1}, {"qid": 1, "docid": "a", "grade": 1}],
            r"gold:2: expected one judgement of document 'a' for topic '1', found another at .*gold:1",
        ),
        ([{"question": "Q?", "references": 3}], r"gold:1: expected a list as 'references', found '3'"),
        ([{"question": "Q?", "references": [3]}], r"gold:1: expected a text or an object with a span, found 3"),
    ],
)
def test_a_row_of_a_gold_that_is_none_names_the_field(written, rows, message):
    with pytest.raises(FormatError, match=message) as caught:
        fe.read_gold(written("gold", as_lines(rows)), index=fe.open_documents(DOCS))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"qid": 1, "docid": "a", "score": 1}, {"docid": "a", "score": 1}],
            r"run:2: expected the field 'topic' .*, found docid",
        ),
        (
            [{"qid": 1, "docid": "a", "score": 1}, {"qid": 1, "score": 1}],
            r"run:2: expected the field 'doc' .*, found qid, score",
        ),
        (
            [{"qid": 1, "docid": "a", "score": 1}, {"qid": 1, "docid": "a"}],
            r"run:2: expected a score in every row or in none",
        ),
        ([{"qid": 1, "docid": "a", "score": float("nan")}], r"run:1: expected a finite number as 'score', found nan"),
        (
            [{"qid": 1, "docid": "a", "start": 9, "end": 3, "similarity": 1}],
            r"run:1: expected start ≤ end, found 9 … 3",
        ),
        ([{"input": "Q", "retrieval_context": [3]}], r"run:1: expected a text or an object as a result, found 3"),
        (
            [{"input": "Q", "retrieval_context": ["x"]}, {"input": "Q", "retrieval_context": ["y"]}],
            r"run:2: expected one row for the question 'Q', found another at .*run:1",
        ),
        (
            [{"qid": 1, "docid": "a", "run": "x", "score": 1}, {"qid": 1, "docid": "b", "run": "y", "score": 1}],
            "expected one run",
        ),
    ],
)
def test_a_row_of_a_run_that_is_none_names_the_field(written, rows, message):
    with pytest.raises(FormatError, match=message) as caught:
        fe.read_run(written("run", as_lines(rows)), index=fe.open_documents(DOCS))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"qid": 1, "docid": "a", "score": 1},\n', r"run:2: expected the end of the list, found the end of the file"),
        ('[{"qid": 1, "docid": "a", "score": 1},\n {"qid"', r"run:2:8: expected JSON, found: "),
        ('{"qid": 1, "docid": "a", "score": 1}\n[2]\n', r"run:2: expected an object, found \[2\]"),
        ("qid,docid,score\n1,a,2\n1,b\n", r"run:3: expected 3 columns, found 2"),
        ('qid,docid,retrieved_contexts\n1,a,"[1"\n', r"run:2: expected a list as 'results', found '\[1'"),
    ],
)
def test_a_damaged_file_of_rows_is_refused_with_its_line(written, content, message):
    with pytest.raises(FormatError, match=message):
        fe.read_run(written("run", content), index=fe.open_documents(DOCS))


@pytest.mark.parametrize(
    ("content", "kind", "name"),
    [
        ('{"topic": "q", "doc": "a", "start": 1, "end": 2}\n', "run", "run-jsonl"),
        ('{"topic": "q", "doc": "a", "spans": []}\n', "gold", "gold-jsonl"),
        ('{"topic": "q", "doc": "a", "spans": [{"start_index": 1, "end_index": 2}]}\n', "gold", "gold-rows"),
        ('{"topic": "q", "doc": "a", "page_content": "x"}\n', "run", "run-rows"),
        ('{"topic": "q", "doc": "a", "quote": "x"}\n', "gold", "gold-rows"),
        ("query-id\tcorpus-id\tscore\n1\ta\t2\n", "gold", "gold-rows"),
        ("topic,doc,start,end\n1,a,2,3\n", "gold", "gold-rows"),
        ("topic,doc,start,end\n1,a,2,3\n", "run", "run-rows"),
        ("question,references,corpus_id\n", "gold", "chunking-evaluation"),
        ("301 Q0 d1 1 2.5 VSM\n", "run", "trec-run"),
    ],
)
def test_rows_are_told_from_other_files(content, kind, name):
    assert detect_source(source_of(content.encode()), kind).name == name


def test_a_run_that_is_given_as_the_gold_is_still_refused(written):
    path = written("run.jsonl", '{"topic": "q", "doc": "a", "start": 1, "end": 2}\n')
    with pytest.raises(
        FormatError, match=r"expected a gold in a known format, found a run \(run-jsonl\); name the gold first"
    ):
        fe.read_gold(path)


def test_every_name_of_a_field_is_documented():
    pages = " ".join(find_format(name).documentation for name in ("run-rows", "gold-rows"))
    words = set(re.findall(r"[\w-]+", pages))
    assert {name for names in NAMES.values() for name in names} <= words


def test_a_retriever_s_results_go_straight_into_evaluate():
    class Document:
        def __init__(self, text, **metadata):
            self.page_content, self.metadata = text, metadata

    gold = [{"topic": "q", "doc": "coffee.md", "quote": GRAMS}]
    results = {"q": [Document(DRAWS, source="tea.md"), Document(GRAMS, source="coffee.md")]}
    assert fe.evaluate(gold, results, ["spanRR"], docs=DOCS).means()["run"] == {"spanRR": 0.5}
    nameless = {"q": [Document(DRAWS, page=1), Document(GRAMS, page=2), {"content": GRAMS}]}
    assert fe.evaluate(gold, nameless, ["spanRR"], docs=DOCS).means()["run"] == {"spanRR": 0.5}
    with pytest.raises(FormatError, match=r"expected the document's id under source or .*, found page; say which"):
        fe.evaluate([{"topic": "q", "doc": "coffee.md", "start": 17, "end": 45}], nameless, ["spanRR"])
    better = {"q": [GRAMS]}
    scored = fe.evaluate(
        gold, [results, better, {"q": [({"doc": "coffee.md", "text": GRAMS}, 0.4)]}], ["spanRR"], docs=DOCS
    )
    assert scored.mean[:, 0].tolist() == [0.5, 1, 1]


def test_a_run_none_of_whose_texts_is_found_is_refused():
    gold = [{"topic": "q", "doc": "coffee.md", "quote": GRAMS}]
    with pytest.raises(
        NotComparableError, match="none of its texts was found in one document of the collection; check"
    ):
        fe.evaluate(gold, {"q": ["Serve hot.", "x y"]}, ["spanRR"], docs=DOCS)


def test_text_without_a_document_in_memory_needs_the_documents():
    with pytest.raises(MissingDataError, match="texts without a document are looked for in all of them; give"):
        fe.evaluate([{"topic": "q", "doc": "coffee.md", "start": 0, "end": 4}], {"q": [GRAMS]}, ["spanRR"])


def test_a_run_of_texts_is_converted_with_the_documents_that_were_found(written, tmp_path):
    path, out = written("ragas.jsonl", as_lines(RAGAS)), tmp_path / "out.jsonl"
    docs = fe.open_documents(DOCS)
    convert_file(str(path), str(out), index=docs)
    run = fe.read_run(out)
    assert (run.document.to_pylist(), run.start.tolist()) == (["coffee.md", "tea.md", "coffee.md"], [17, 32, 17])
    path = written("more.jsonl", as_lines([*RAGAS, {"user_input": "Q?", "retrieved_contexts": ["Serve hot.", DRAWS]}]))
    with pytest.raises(
        FormatError, match=r"more\.jsonl:3: expected texts of one document each, found 1 in none or in several"
    ):
        convert_file(str(path), str(out), index=docs)
    said = convert_file(str(path), str(out), index=docs, lossy=True)
    assert "left out: 1 text in none of the documents or in several" in map(str, said)
    assert len(fe.read_run(out)) == 4


def test_the_questions_of_a_rag_file_are_topics(written):
    topics = fe.read_topics(written("ragas.jsonl", as_lines(RAGAS)))
    assert [(topic.id, topic.title) for topic in topics] == [(row["user_input"], row["user_input"]) for row in RAGAS]


def test_topics_may_be_a_list_or_a_table(written):
    rows = [{"id": 1, "question": "How long?"}, {"id": 2, "question": "How much?"}]
    for name, content in (("t.json", json.dumps(rows)), ("t.csv", as_csv(rows)), ("t.tsv", as_csv(rows, "\t"))):
        assert [(t.id, t.title) for t in fe.read_topics(written(name, content))] == [
            ("1", "How long?"),
            ("2", "How much?"),
        ]
