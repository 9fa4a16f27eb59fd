"""Bytes, UTF-16 and paragraphs, turned into code points."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.collection.documents import open_documents
from focuseval.errors import FormatError, MissingDataError
from focuseval.formats import detect_source, genomics, kilt, natural_questions
from focuseval.formats.content import source_of
from focuseval.placing.normalise import from_bytes, from_utf16
from strategies.remarks import lines_of

HTML = "<p>Où est le café 🙂?</p><p>Là-bas.</p>"
DOCUMENTS = open_documents({"12": "Titre\nDéjà vu, encore.\nFin.\n", "7": "naïve"})


def lines(*records, name="gold.jsonl"):
    return source_of("\n".join(json.dumps(record, ensure_ascii=False) for record in records).encode(), name)


@given(st.text(max_size=20), st.data())
def test_bytes_and_utf_16_become_code_points(text, data):
    at = data.draw(st.integers(0, len(text)))
    assert from_bytes(text, [len(text[:at].encode())]).tolist() == [at]
    assert from_utf16(text, [len(text[:at].encode("utf-16-le")) // 2]).tolist() == [at]


@given(st.text(max_size=8))
def test_a_position_inside_a_character_is_never_rounded(text):
    raw = text.encode()
    inside = [i for i in range(len(raw)) if raw[i] & 0xC0 == 0x80]
    assert from_bytes(text, [*inside, len(raw) + 1, -1]).tolist() == [-1] * (len(inside) + 2)


def nq(start, end, **more):
    answers = [
        {"long_answer": {"start_byte": start, "end_byte": end}},
        {"long_answer": {"start_byte": -1, "end_byte": -1}},
    ]
    return {
        "example_id": 79,
        "question_text": "where",
        "document_url": "u",
        "document_html": HTML,
        "annotations": answers,
        **more,
    }


def test_natural_questions_count_bytes_of_the_page():
    first = HTML.index("Là-bas")
    start = len(HTML[:first].encode())
    gold = natural_questions.read([lines(nq(start, start + len("Là-bas".encode())))])
    assert (gold.topics, gold.documents.to_pylist()) == (("79",), ["u"])
    assert (gold.passages.start.tolist(), gold.passages.end.tolist()) == ([first], [first + 6])
    assert dict(natural_questions.embedded_texts([lines(nq(0, 1), nq(0, 1))])) == {"u": HTML}


def test_a_page_may_come_from_the_documents():
    record = nq(0, 3, document_url="12")
    del record["document_html"]
    assert natural_questions.read([lines(record)], DOCUMENTS).passages.end.tolist() == [3]
    with pytest.raises(MissingDataError, match=r"gold.jsonl:1: the offsets in '12' need the documents' text"):
        natural_questions.read([lines(record)])


def test_bytes_that_cut_a_character_are_refused():
    with pytest.raises(FormatError, match=r"gold.jsonl:2: expected bytes .* for topic '79', found \(0, 5\)"):
        natural_questions.read([lines(nq(0, 3), nq(0, 5))])


def test_a_record_with_all_the_fields_of_the_data_set_is_read():
    """The shape of the track's own toy example: tokens, candidates, short answers and the long answer's place."""
    page = "<html><body><h1>Thé</h1><p>Made of leaves:<ul><li>black</li><li>green</li></ul></p></body></html>"
    start, end = (len(page[: page.index(tag)].encode()) for tag in ("<p>", "</body>"))
    place = {"start_byte": start, "end_byte": end, "start_token": 3, "end_token": 16}
    token = {"token": "<h1>", "start_byte": 12, "end_byte": 16, "html_token": True}
    annotation = {
        "annotation_id": 5,
        "long_answer": place | {"candidate_index": 0},
        "short_answers": [{"start_byte": 50, "end_byte": 55, "start_token": 9, "end_token": 10}],
        "yes_no_answer": "NONE",
    }
    record = {
        "example_id": 797,
        "question_text": "what is tea made of",
        "question_tokens": ["what", "is", "tea", "made", "of"],
        "document_title": "Tea",
        "document_url": "https://en.wikipedia.org/w/index.php?title=Tea&oldid=1",
        "document_html": page,
        "document_tokens": [token],
        "long_answer_candidates": [place | {"top_level": True}],
        "annotations": [annotation],
    }
    source = lines(record)
    gold = natural_questions.read([source])
    span = slice(int(gold.passages.start[0]), int(gold.passages.end[0]))
    assert page[span] == page[page.index("<p>") : page.index("</body>")]
    assert detect_source(source).name == "natural-questions"


def test_tokens_without_bytes_are_refused():
    record = nq(0, 3)
    record["annotations"] = [{"long_answer": {"start_token": 5, "end_token": 22, "candidate_index": 0}}]
    with pytest.raises(FormatError, match=r"gold.jsonl:1: .*tokens alone.*; read the original data set"):
        natural_questions.read([lines(record)])


def provenance(**place):
    return {
        "id": "k1",
        "input": "who",
        "output": [{"answer": "x", "provenance": [{"wikipedia_id": "12", **place}]}, {"answer": "y"}],
    }


def kilt_span(**place):
    gold = kilt.read([lines(provenance(**place))], DOCUMENTS)
    text = DOCUMENTS.text(0)
    return text[gold.passages.start[0] : gold.passages.end[0]], lines_of(gold)


def test_kilt_counts_characters_of_paragraphs():
    place = {"start_paragraph_id": 1, "start_character": 5, "end_paragraph_id": 1, "end_character": 7}
    assert kilt_span(**place) == ("vu", ())
    assert kilt_span(**place | {"end_paragraph_id": 2, "end_character": 3}) == ("vu, encore.\nFin", ())


def test_kilt_without_characters_means_the_paragraph_or_the_page():
    remark = "1 provenance names no characters: the whole paragraph or page is relevant"
    assert kilt_span(start_paragraph_id=1) == ("Déjà vu, encore.", (remark,))
    assert kilt_span() == (DOCUMENTS.text(0), (remark,))


def test_kilts_minus_one_means_that_there_is_none():
    remark = "1 provenance names no characters: the whole paragraph or page is relevant"
    nowhere = {"start_character": -1, "end_character": -1, "bleu_score": 0.2, "title": "T", "section": "S", "meta": {}}
    assert kilt_span(start_paragraph_id=1, end_paragraph_id=1, **nowhere) == ("Déjà vu, encore.", (remark,))
    assert kilt_span(start_paragraph_id=-1, end_paragraph_id=-1, **nowhere) == (DOCUMENTS.text(0), (remark,))


def test_kilts_numbers_may_be_texts_and_its_questions_left_out():
    place = {"start_paragraph_id": "1", "start_character": 5, "end_paragraph_id": 1, "end_character": "7"}
    record = {"id": 1, "output": [{"answer": "x", "provenance": [{"wikipedia_id": 12, **place}]}]}
    gold = kilt.read([lines(record)], DOCUMENTS)
    assert (gold.topics, gold.documents.to_pylist(), gold.queries) == (("1",), ["12"], {"1": ""})
    assert DOCUMENTS.text(0)[gold.passages.start[0] : gold.passages.end[0]] == "vu"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (
            {"start_character": 5, "end_character": 99},
            r"expected an end within the 16 characters of paragraph 1 of page",
        ),
        ({"start_character": -7}, r"expected a whole number as 'start_character' for topic 'k1', found -7"),
        ({"start_character": 1.5}, r"expected a whole number as 'start_character' for topic 'k1', found 1.5"),
    ],
)
def test_a_place_outside_its_paragraph_is_refused(place, message):
    with pytest.raises(FormatError, match=rf"gold.jsonl:1: {message}"):
        kilt_span(start_paragraph_id=1, **place)


def test_a_page_of_kilt_has_a_line_for_each_paragraph():
    page = {"wikipedia_id": "12", "text": ["Titre\n", "Déjà\nvu", "Fin.\n"]}
    assert dict(kilt.embedded_texts([lines(page)])) == {"12": "Titre\nDéjà vu\nFin.\n"}


def test_a_paragraph_that_is_not_there_is_refused():
    with pytest.raises(
        FormatError, match=r"gold.jsonl:1: expected paragraphs within 0 … 2 of page '12' for topic 'k1', found 3"
    ):
        kilt_span(start_paragraph_id=3, start_character=0, end_paragraph_id=3, end_character=1)


def test_genomics_gold_counts_bytes():
    rows = "# judged\n160\t7\t0\t4\tB, late|A\n160\t12\t6\t6\tC\n160\t7\t0\t6\t\n"
    gold = genomics.read([source_of(rows.encode(), "gold.tsv")], DOCUMENTS)
    assert gold.passages.start.tolist() == [0, 0, 6]
    assert gold.passages.end.tolist() == [3, 5, 10]
    assert gold.attributes["160"] == {"aspects": "A\tB, late\tC"}
    assert lines_of(gold) == ("1 overlapping span is united",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "160\t7\t0\t3\tA",
            r"gold.tsv:1: expected bytes 0\+3 .* of '7' begin for topic '160', found a document of 6 bytes",
        ),
        ("160\t8\t0\t3\tA", "gold.tsv:1: expected documents of the collection, found '8' for topic '160'"),
        ("160\t7\tx\t3\tA", "gold.tsv:1: expected a whole number as offset, found 'x'"),
        ("160 7 0 3 A", "gold.tsv:1: expected 5 columns separated by tabs"),
    ],
)
def test_genomics_gold_that_points_nowhere_is_refused(row, message):
    with pytest.raises(FormatError, match=message):
        genomics.read([source_of(row.encode(), "gold.tsv")], DOCUMENTS)


def test_genomics_runs_count_bytes_with_and_without_scores():
    plain = genomics.read_run(source_of(b"160 12 2 6 6\n160 7 1 0 4\n", "run.txt"), DOCUMENTS)
    assert (plain.document.to_pylist(), plain.start.tolist(), plain.end.tolist()) == (["7", "12"], [0, 6], [3, 10])
    assert (plain.line.tolist(), plain.run_id) == ([2, 1], "run")
    scored = genomics.read_run(source_of(b"160 12 1 0.9 6 6 tag\n"), DOCUMENTS)
    assert (scored.run_id, scored.score.tolist(), scored.end.tolist()) == ("tag", [0.9], [10])
    with pytest.raises(
        FormatError,
        match=r"run.txt:2: expected bytes at which a character of a known document begins, found 3 in '7'; off",
    ):
        genomics.read_run(source_of(b"160 12 1 6 6\n160 7 2 0 3\n", "run.txt"), DOCUMENTS)
    with pytest.raises(MissingDataError, match=r"run\.txt: byte offsets need the documents' text"):
        genomics.read_run(source_of(b"160 7 1 0 3\n", "run.txt"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (b"#\n160\t12474524\t1572\t27\tPrions|Encephalopathy, Bovine Spongiform\n", "trec-genomics"),
        (b"301\t0\t1234\t1\t0.5\ttag\n", "trec-run"),
        (b"2024-105741 Q0 msmarco_v2.1_doc_16_287012450#4_490828734 1 0.97 run\n", "trec-rag-run"),
        (b"2024-105741 0 msmarco_v2.1_doc_16_287012450#4_490828734 2\nbroken\n2024-105741 0 d#1 2\n", "trec-rag"),
        (b"301 Q0 a#1 1 0.9 tag\n301 Q0 FR940202 2 0.8 tag\n", "trec-run"),
        (b"301 0 C# 1\n", "trec-qrels"),
        (b"160 12474524 1 1572 27\n", "trec-genomics-run"),
        (b"160 12474524 1 0.98 1572 27 tag\n", "trec-genomics-run"),
        (b"2009001 Q0 1528075 1 -0.00075 RunId 9760\n", "inex-text"),
        (b"2009001 Q0 1528075 49158 58542 126 126:28761\n1 Q0 d3 0 300\n", "inex-2008"),
        (b'{"example_id": 1, "annotations": [{"long_answer": {}}]}', "natural-questions"),
        (b'{"id": "1", "input": "x", "output": [{"provenance": []}]}', "kilt"),
        (b'{"version": "v2.0", "data": [{"title": "x", "paragraphs": []}]}', "squad"),
    ],
)
def test_formats_are_told_by_their_content(text, name):
    assert detect_source(source_of(text)).name == name
