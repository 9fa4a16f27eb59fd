"""Span gold in JSON and CSV: LegalBench-RAG, chunking_evaluation, the SQuAD family, Qasper."""

import json

import pytest

from focuseval.errors import FormatError
from focuseval.evaluation.evaluation import evaluate
from focuseval.formats import chroma, detect_source, find_format, legalbench, qasper, read_gold, squad
from focuseval.formats.content import open_sources, source_of
from focuseval.formats.convert import convert_file, write_gold
from focuseval.formats.embedded import check_quotes, embedded_documents, open_documents, write_documents, write_repairs
from focuseval.formats.frames import gold_from_frame
from strategies.remarks import lines_of


def source(value, name="gold.json"):
    return source_of(value if isinstance(value, bytes) else json.dumps(value, indent=1).encode(), name)


def legal(*snippets, query="May it be assigned?"):
    return source(
        {"tests": [{"query": query, "snippets": [{"file_path": p, "span": s} for p, s in snippets], "tags": ["cuad"]}]}
    )


def squad_file(answers, context="The cat sat. The cat ran.", **more):
    qa = {"id": "a1", "question": "Who?", "answers": answers, **more}
    return source({"data": [{"title": "Cats", "paragraphs": [{"context": context, "qas": [qa]}]}]})


def test_legalbench_snippets_become_spans_of_their_files(shared_data):
    gold = read_gold(shared_data / "legalbenchrag_format" / "sample_benchmark.json")
    assert gold.topics == ("q1", "q2", "q3")
    assert gold.passages.start.tolist() == [7079, 1116, 2160, 13844, 18173, 20121]
    assert gold.passages.line.tolist() == [3, 5, 5, 8, 8, 8]
    assert gold.attributes["q1"] == {"tags": "cuad"}
    assert gold.queries["q1"].endswith("anti-assignment clause in this contract?")


def test_legalbench_is_written_as_it_was_read(shared_data):
    path = shared_data / "legalbenchrag_format" / "sample_benchmark.json"
    written = json.loads(b"".join(legalbench.write(legalbench.read(open_sources(path)))))
    assert written == json.loads(path.read_bytes())


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ([9, 4], "expected 0 ≤ start < end in 'a.txt' for topic 'q1', found 9 and 4"),
        ([-1, 4], "found -1 and 4"),
        ([4, 4], "found 4 and 4"),
        ([4], r"expected a span \[start, end\] for 'May it be assigned\?', found \[4\]"),
        ([4, "x"], r"expected a span \[start, end\]"),
    ],
)
def test_a_span_that_is_none_is_refused_with_file_line_and_topic(span, message):
    with pytest.raises(FormatError, match=rf"gold.json:4: .*{message}"):
        legalbench.read([legal(("a.txt", span))])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"tests": [', "gold.json:1:12: expected JSON, found: Expecting value"),
        (b'{"tests": {}}', "gold.json: expected a list as 'tests', found {}"),
        (b'{"rests": []}', "gold.json: expected 'tests', found only 'rests'"),
        (b'{"tests": [{"query": 3}]}', r"expected a text as 'query' of tests\[0\], found 3"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"tests": "\xff"}', "expected UTF-8, found byte 0xff"),
    ],
)
def test_json_that_is_not_legalbench_is_refused_in_one_line(text, message):
    with pytest.raises(FormatError, match=message) as caught:
        legalbench.read([source(text)])
    assert "\n" not in str(caught.value)


def test_chunking_evaluation_is_written_as_it_was_read(shared_data):
    path = shared_data / "chroma_chunking_evaluation" / "questions_df.csv"
    gold = chroma.read(open_sources(path))
    again = chroma.read([source_of(b"".join(chroma.write(gold)))])
    assert (len(again.topics), len(again.passages.start)) == (472, 790)
    assert again.passages.start.tolist() == gold.passages.start.tolist()
    assert again.passages.quote.equals(gold.passages.quote)
    assert again.queries == gold.queries


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question,corpus_id\nwhy,d\n", "gold.csv:1: expected columns question,references,corpus_id"),
        ("question,references,corpus_id\nwhy,[],d\nwhy,oops,d\n", "gold.csv:3: expected references as JSON"),
        ("question,references,corpus_id\nwhy,3,d\n", "gold.csv:2: expected a list of references, found '3'"),
        ("question,references,corpus_id\nwhy,[]\n", "gold.csv:2: expected 3 columns, found 2"),
        ('question,references,corpus_id\n"why', "gold.csv:2: expected CSV"),
    ],
)
def test_a_broken_csv_is_refused_with_its_line(text, message):
    with pytest.raises(FormatError, match=message):
        chroma.read([source_of(text.encode(), "gold.csv")])


def test_a_question_with_two_documents_cannot_be_written_as_csv():
    gold = legalbench.read([legal(("a.txt", [1, 2]), ("b.txt", [1, 2]))])
    with pytest.raises(FormatError, match=r"one document for a question, found another for topic 'q1': 'b\.txt'"):
        list(chroma.write(gold))


@pytest.mark.parametrize("language", ["en", "ar", "hi", "th", "zh"])
def test_xquad_carries_a_document_for_each_paragraph(shared_data, language, tmp_path):
    path = shared_data / "xquad" / f"xquad.{language}.json"
    gold, documents = read_gold(path), embedded_documents(path)
    assert (len(gold.topics), len(documents), gold.remarks) == (1190, 240, ())
    assert "Super_Bowl_50#0" in documents
    write_documents(documents, tmp_path / "docs.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "docs.jsonl").read_text("utf-8").splitlines()]
    assert {line["id"]: line["text"] for line in lines} == documents


@pytest.mark.parametrize(
    ("articles", "ids"),
    [
        ([{"title": "A", "paragraphs": [{}]}, {"title": "B", "paragraphs": [{}, {}]}], ["A", "B#0", "B#1"]),
        ([{"title": "A", "paragraphs": [{"document_id": 7}, {"document_id": "8"}]}], ["7", "8"]),
        ([{"title": "A", "document_id": "x", "paragraphs": [{}]}, {"paragraphs": [{}]}], ["x", "article2"]),
        ([{"title": "A", "paragraphs": [{"doc_id": "x"}, {"doc_id": "x"}, {"doc_id": "y"}]}], ["x#0", "x#1", "y"]),
        ([{"title": "B#0", "paragraphs": [{}]}, {"title": "B", "paragraphs": [{}, {}]}], ["B#0#0", "B#0", "B#1"]),
    ],
)
def test_a_squad_paragraph_is_called_by_its_document_id_or_title_where_that_is_unique(articles, ids):
    for article in articles:
        article["paragraphs"] = [{"context": "text", "qas": [], **paragraph} for paragraph in article["paragraphs"]]
    assert [name for name, _ in squad.embedded_texts([source_of(json.dumps({"data": articles}).encode())])] == ids


@pytest.mark.parametrize("write", [json.dumps, lambda rows: "".join(json.dumps(row) + "\n" for row in rows)])
def test_squad_as_hugging_face_writes_it_is_the_same_gold(tmp_path, write):
    rows = [
        {"id": "1", "title": "Tea", "context": "Boil it. Stir.", "question": "What?", "answers": answers}
        for answers in ({"text": ["Boil"], "answer_start": [0]}, {"text": ["Stir", "Stir."], "answer_start": [8, 9]})
    ]
    rows[1]["id"] = "2"
    rows.append(
        {"id": "3", "title": "Tea", "context": "Pour.", "question": "?", "answers": {"text": [], "answer_start": []}}
    )
    path = tmp_path / "squad.json"
    path.write_text(write(rows))
    gold = read_gold(path)
    assert (gold.topics, gold.documents.to_pylist()) == (("1", "2", "3"), ["Tea#0", "Tea#1"])
    assert (gold.passages.start.tolist(), gold.articles.relevance.tolist()) == ([0, 9, 9], [1, 1, 0])
    assert dict(zip(["Tea#0", "Tea#1"], ["Boil it. Stir.", "Pour."], strict=True)) == embedded_documents(path)
    with pytest.raises(FormatError, match="<frame>:1: expected spans of documents, found rows of SQuAD"):
        gold_from_frame(rows)


def test_a_gold_keeps_its_document_ids_through_squad(tmp_path):
    documents = open_documents({"Tea#0": "Boil water.", "b.md": "Stir."})
    gold = gold_from_frame(
        [{"topic": f"q{i}", "doc": d, "start": 0, "end": 4} for i, d in enumerate(["Tea#0", "b.md"])]
    )
    write_gold(gold, tmp_path / "squad.json", "squad", index=documents)
    assert read_gold(tmp_path / "squad.json").documents.to_pylist() == ["Tea#0", "b.md"]


def test_squad_answers_are_verified_against_their_paragraph():
    gold = squad.read([squad_file([{"text": "cat", "answer_start": 5}, {"text": "ran", "answer_start": -1}])])
    assert gold.passages.start.tolist() == [4, 21]
    assert lines_of(gold) == ("2 spans: 1 exact, 1 repaired (−1: 1), 0 ambiguous, 0 lost",)


def test_every_repair_of_a_squad_file_can_be_written(tmp_path):
    path = tmp_path / "squad.json"
    path.write_bytes(bytes(squad_file([{"text": "cat", "answer_start": 5}, {"text": "dog", "answer_start": 1}]).data))
    _, found = check_quotes(path)
    write_repairs(found.repairs(), tmp_path / "repairs.csv")
    write_repairs(found.repairs(), tmp_path / "repairs.jsonl")
    header, first, second = (tmp_path / "repairs.csv").read_text("utf-8").splitlines()
    assert header.startswith("file,line,topic,document,how,claimed_start,claimed_end,start,end,shift,similarity")
    assert first.endswith(",a1,Cats,exact,5,8,4,7,-1,1.0,moved to the nearest occurrence,cat")
    assert ",lost,1,4,-1,-1,0,0.0,the text is nowhere in its document,dog" in second
    assert len((tmp_path / "repairs.jsonl").read_text("utf-8").splitlines()) == 2


def test_repairs_of_gold_and_runs_are_one_table(tmp_path):
    gold, run = tmp_path / "squad.json", tmp_path / "run.jsonl"
    gold.write_bytes(bytes(squad_file([{"text": "ran", "answer_start": 20}]).data))
    texts = ("sat. The", "no such words")
    rows = [{"topic": "a1", "doc": "Cats", "rank": rank, "text": text} for rank, text in enumerate(texts, 1)]
    run.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    table = evaluate(gold, run, ["spanR"], docs=gold).evaluation.repairs()
    assert table["file"].to_pylist() == [str(gold), str(run)]
    assert table["how"].to_pylist() == ["exact", "lost"]
    assert table["shift"].to_pylist() == [1, 0]


def test_an_impossible_question_judges_its_paragraph_not_relevant():
    gold = squad.read([squad_file([], is_impossible=True)])
    assert (gold.articles.relevance.tolist(), gold.articles.rsize.tolist(), len(gold.passages.start)) == ([0], [0], 0)


def test_answers_of_several_annotators_are_united_and_counted():
    gold = squad.read([squad_file([{"text": "The cat", "answer_start": 0}, {"text": "cat", "answer_start": 4}])])
    assert gold.articles.rsize.tolist() == [7]
    assert lines_of(gold) == ("1 overlapping span is united",)


def test_squad_is_written_with_its_texts_and_reads_back():
    before = squad.read([squad_file([{"text": "cat", "answer_start": 4}])])
    texts = dict(squad.embedded_texts([squad_file([])]))
    after = [source_of(b"".join(squad.write(before, open_documents(texts))))]
    assert squad.read(after).passages.start.tolist() == [4]
    assert dict(squad.embedded_texts(after)) == texts


def test_an_answer_without_text_is_refused():
    with pytest.raises(FormatError, match="expected an answer's text for topic 'a1', found an empty one"):
        squad.read([squad_file([{"text": "", "answer_start": 0}])])


def test_two_questions_under_one_id_are_told_apart_and_counted():
    file = {
        "data": [
            {
                "title": "T",
                "paragraphs": [{"context": "ab", "qas": [{"id": 1, "question": q, "answers": []} for q in "xy"]}],
            }
        ]
    }
    gold = squad.read([source(file)])
    assert (gold.topics, gold.queries["1~2"]) == (("1", "1~2"), "y")
    assert lines_of(gold) == ("1 question shares an id with an earlier one, told apart as ~2, ~3 …",)


def test_qasper_evidence_is_found_in_its_paper(shared_data):
    path = shared_data / "qasper_sample" / "qasper_sample_small.json"
    gold, documents = read_gold(path), embedded_documents(path)
    text = documents["1909.00694"]
    places = {text[s:e] for s, e in zip(gold.passages.start.tolist(), gold.passages.end.tolist(), strict=True)}
    assert places == {"Method paragraph using seed lexicon"}
    assert len(gold.topics) == 4
    assert gold.articles.relevance.tolist() == [1, 1, 0, 1]
    assert lines_of(gold)[-1] == "all 3 spans are in place"
    assert "\n\nProposed Method ::: Polarity Function\n\nMethod paragraph" in text


def test_qasper_evidence_that_is_nowhere_or_twice_is_counted():
    paper = {
        "title": "T", "abstract": "A", "full_text": [{"section_name": "S", "paragraphs": ["twice", "twice", "once"]}],
        "qas": [{"question_id": "q", "question": "?", "answers": [{"answer": {"unanswerable": False, "evidence": [
            "twice", "once", "FLOAT SELECTED: Table 1"], "highlighted_evidence": ["on"]}}]}],
    }  # fmt: skip
    gold = qasper.read([source({"p": paper})])
    assert lines_of(gold)[-1] == "3 spans: 1 exact, 1 ambiguous, 1 lost"
    sentences = find_format("qasper-highlighted", "gold").read([source({"p": paper})])
    assert sentences.passages.quote.to_pylist() == ["on"]


@pytest.mark.parametrize(
    ("folder", "file", "name"),
    [
        ("legalbenchrag_format", "sample_benchmark.json", "legalbench-rag"),
        ("chroma_chunking_evaluation", "questions_df.csv", "chunking-evaluation"),
        ("xquad", "xquad.hi.json", "squad"),
        ("qasper_sample", "qasper_sample_small.json", "qasper"),
    ],
)
def test_real_files_are_told_by_their_content(shared_data, folder, file, name):
    assert detect_source(open_sources(shared_data / folder / file)[0]).name == name


def test_a_conversion_with_documents_writes_repaired_spans(tmp_path):
    before, after = tmp_path / "gold.csv", tmp_path / "gold.json"
    reference = json.dumps([{"content": "cat", "start_index": 5, "end_index": 8}]).replace('"', '""')
    before.write_text(f'question,references,corpus_id\nwho,"{reference}",cats\n', "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "cats.md").write_text("The cat sat.", "utf-8")
    remarks = convert_file(str(before), str(after), "legalbench-rag", index=open_documents(tmp_path / "docs"))
    assert json.loads(after.read_text("utf-8"))["tests"][0]["snippets"] == [{"file_path": "cats", "span": [4, 7]}]
    assert "1 span: 0 exact, 1 repaired (−1: 1), 0 ambiguous, 0 lost" in map(str, remarks)


def test_a_format_that_can_only_be_read_is_refused_for_writing(tmp_path):
    gold = legalbench.read([legal(("a.txt", [1, 2]))])
    with pytest.raises(FormatError, match="kilt can be read, not written"):
        find_format("kilt", "gold").writer(None)(gold)


PAGE = {"wikipedia_title": "Tea", "wikipedia_id": 12, "text": ["Tea\n", "Boil water. Stir well.\n"], "anchors": []}
CARRIERS = {
    "squad.json": {"data": [{"title": "Tea", "paragraphs": [{"context": "Boil water. Stir well.", "qas": []}]}]},
    "qasper.json": {
        "1909.1": {"title": "Tea", "full_text": [{"section_name": "S", "paragraphs": ["Boil."]}], "qas": []}
    },
    "nq.jsonl": {"example_id": 7, "document_url": "u", "document_html": "<p>Boil.</p>", "annotations": []},
    "kilt_knowledgesource.json": PAGE,
}
TEXTS = {"Tea": "Boil water. Stir well.", "1909.1": "Tea\n\nS\n\nBoil.", "u": "<p>Boil.</p>"}


@pytest.mark.parametrize("name", CARRIERS)
def test_a_file_that_carries_its_documents_may_be_given_open_documents(tmp_path, name):
    (tmp_path / name).write_text(json.dumps(CARRIERS[name]) + "\n")
    documents = open_documents(tmp_path / name)
    expected = TEXTS | {"12": "Tea\nBoil water. Stir well.\n"}
    assert documents.text(0) == expected[documents.ids[0].as_py()]


def test_what_carries_nothing_is_opened_as_documents_are(tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"id": "a", "text": "data paragraphs"}\n')
    assert open_documents(tmp_path / "docs.jsonl").ids.to_pylist() == ["a"]
    assert open_documents({"a": "text"}).text(0) == "text"


def test_squad_is_scored_with_its_own_texts(tmp_path):
    answer = {"id": "q1", "question": "?", "answers": [{"text": "Stir well.", "answer_start": 12}]}
    paragraph = {"context": "Boil water. Stir well.", "qas": [answer]}
    (tmp_path / "gold.json").write_text(json.dumps({"data": [{"title": "Tea", "paragraphs": [paragraph]}]}))
    (tmp_path / "run.jsonl").write_text('{"topic": "q1", "doc": "Tea", "text": "water. Stir well."}\n')
    gold, run = str(tmp_path / "gold.json"), str(tmp_path / "run.jsonl")
    assert evaluate(gold, run, ["spanR@1", "spanP@1"], docs=gold).means()["run"] == pytest.approx(
        {"spanR@1": 1, "spanP@1": 10 / 17}
    )
