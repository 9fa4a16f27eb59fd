"""Runs and gold by page and box."""

import json

import pytest

from focuseval import open_documents, read_gold, read_run, write_gold, write_run
from focuseval.errors import FormatError, MissingDataError, Place
from focuseval.formats.catalogue import detect
from focuseval.formats.paged import places_of
from pdfs import paragraph, pdf

HIGH, WIDE = 792, 612
FIRST, SECOND = ("The sea rises", "twice a day."), ("The moon pulls", "the sea.")
# lines of 12 points have boxes from about 11.3 above the base line to 2.7 below it; page 2 is empty


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "docs").mkdir()
    pages = ([*paragraph(*FIRST), (72, 400, "A note.")], [], paragraph(*SECOND))
    (tmp_path / "docs/a.pdf").write_bytes(pdf(*pages))
    (tmp_path / "docs/b.txt").write_text("The sea rises")
    return open_documents(tmp_path / "docs")


def written(folder, name, *lines):
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / name


def texts(run, docs):
    return [docs.text(0)[a:b] for a, b in zip(run.start.tolist(), run.end.tolist(), strict=True)]


def highlights(gold, docs):
    return [docs.text(0)[a:b] for a, b in zip(gold.passages.start, gold.passages.end, strict=True)]


UPPER = {"l": 70, "t": HIGH - 88, "r": 400, "b": HIGH - 118}  # the first two lines, from the bottom


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"page_number": 3}, "The moon pulls\nthe sea."),
        ({"page_no": 1, "bbox": UPPER | {"coord_origin": "BOTTOMLEFT"}}, "The sea rises\ntwice a day."),
        ({"page_no": 1, "bbox": UPPER}, "The sea rises\ntwice a day."),
        ({"page": 1, "bbox": [70, HIGH - 88, 400, HIGH - 118]}, "The sea rises\ntwice a day."),
        ({"page": 1, "bbox": [70, 88, 400, 104], "origin": "top"}, "The sea rises"),
        ({"page": 1, "bbox": "[70, 88, 400, 104]", "coord_origin": "TOPLEFT"}, "The sea rises"),
        ({"page": 1, "bbox": [70 / WIDE, 88 / HIGH, 0.9, 104 / HIGH], "origin": "top"}, "The sea rises"),
        ({"page": 1, "bbox": {"x": 70, "y": 88, "width": 330, "height": 16}, "origin": "top"}, "The sea rises"),
        ({"page": 1, "bbox": [140, 176, 800, 208], "page_width": 2 * WIDE, "page_height": 2 * HIGH}, "The sea rises"),
        ({"page": 1, "boxes": [[70, 88, 400, 104], [70, 104, 90, 118]], "origin": "top"}, "The sea rises\ntwic"),
        ({"metadata": {"page_number": 1, "coordinates": {
            "points": [[140, 176], [140, 208], [800, 208], [800, 176]], "system": "PixelSpace",
            "layout_width": 2 * WIDE, "layout_height": 2 * HIGH}}}, "The sea rises"),
        ({"meta": {"doc_items": [{"prov": [{"page_no": 1, "bbox": UPPER | {"coord_origin": "BOTTOMLEFT"}}]}]}},
         "The sea rises\ntwice a day."),
        ({"page": 3, "text": "the sea."}, "the sea."),
    ],
)  # fmt: skip
def test_a_result_by_page_and_box_is_the_text_there(tmp_path, docs, fields, found):
    row = {"topic": "q1", "doc": "a.pdf", "rank": 1}
    run = read_run(written(tmp_path, "run.jsonl", row | fields), docs=docs)
    assert texts(run, docs) == [found]


def test_the_chunks_of_docling_in_langchain_name_their_file(tmp_path, docs):
    meta = {"doc_items": [{"prov": [{"page_no": 3, "bbox": None}]}], "origin": {"filename": "a.pdf"}}
    row = {"question_id": "q1", "page_content": "The moon", "metadata": {"dl_meta": meta}, "score": 1}
    run = read_run(written(tmp_path, "run.jsonl", row), docs=docs)
    assert texts(run, docs) == ["The moon"]


def test_a_text_that_stands_twice_is_the_one_on_its_page(tmp_path, docs):
    rows = [{"topic": "q1", "doc": "a", "rank": 1, "text": "sea", "page_number": page} for page in (1, 3)]
    run = read_run(written(tmp_path, "run.jsonl", *rows), docs=docs)
    assert run.start.tolist() == [4, docs.text(0).rindex("sea")]


def test_pages_count_from_0_where_one_is_0_and_where_labels_say_it(tmp_path, docs):
    rows = [{"topic": "q1", "doc": "a", "rank": rank, "page": page} for rank, page in ((1, 2), (2, 0))]
    assert texts(read_run(written(tmp_path, "a.jsonl", *rows), docs=docs), docs)[0].startswith("The moon")
    row = {"topic": "q1", "doc": "a", "rank": 1, "metadata": {"page": 2, "page_label": "3"}}
    assert texts(read_run(written(tmp_path, "b.jsonl", row), docs=docs), docs)[0].startswith("The moon")


def test_where_y_begins_is_found_where_boxes_hold_text_in_one_way_alone(tmp_path, docs):
    row = {"topic": "q1", "doc": "a", "rank": 1, "page": 1}
    for name, box in (("top", [70, 88, 400, 104]), ("bottom", [70, HIGH - 104, 400, HIGH - 88])):
        run = read_run(written(tmp_path, f"{name}.jsonl", row | {"bbox": box}), docs=docs)
        assert texts(run, docs) == ["The sea rises"]
    with pytest.raises(FormatError, match='found text in them from the top and from the bottom; add "origin": "top"'):
        read_run(written(tmp_path, "both.jsonl", row | {"bbox": [70, 80, 400, HIGH - 80]}), docs=docs)


def test_a_gold_may_highlight_pages_boxes_and_quotes_on_pages(tmp_path, docs):
    box = UPPER | {"coord_origin": "BOTTOMLEFT"}
    spans = [{"page": 1, "bbox": box, "need": "when"}, {"page": 3, "quote": "The moon pulls"}]
    rows = [
        {"topic": "q1", "query": "tides?", "doc": "a.pdf", "spans": spans},
        {"topic": "q2", "doc": "a.pdf", "spans": [{"page_number": 3}]},
        {"topic": "q3", "doc": "a.pdf", "spans": []},
    ]
    path = written(tmp_path, "gold.jsonl", *rows)
    gold = read_gold(path, docs=docs)
    assert highlights(gold, docs) == ["The sea rises\ntwice a day.", "The moon pulls", "The moon pulls\nthe sea."]
    assert gold.articles.relevance.tolist() == [1, 1, 0]
    assert detect(path).name == "gold-rows"
    assert detect(written(tmp_path, "other.jsonl", rows[0] | {"spans": spans[::-1]})).name == "gold-rows"


def test_a_box_around_two_pieces_gives_two_spans_of_a_gold_and_one_of_a_run(tmp_path, docs):
    row = {"topic": "q1", "doc": "a", "page": 1, "boxes": [[70, 88, 98, 104], [70, 380, 400, 410]], "origin": "top"}
    gold = read_gold(written(tmp_path, "gold.jsonl", {"topic": "q1", "doc": "a", "spans": [row]}), docs=docs)
    assert highlights(gold, docs) == ["The ", "A note."]
    run = read_run(written(tmp_path, "run.jsonl", row | {"rank": 1}), docs=docs)
    assert texts(run, docs) == [docs.text(0)[: docs.text(0).index("A note.") + 7]]
    assert [str(remark) for remark in run.remarks] == [
        "the boxes of 1 result hold several pieces of text: it reaches from the first to the last"
    ]


def test_what_is_empty_is_counted(tmp_path, docs):
    rows = [{"topic": "q1", "doc": "a", "rank": rank, "page_number": page} for rank, page in ((1, 2), (2, 1))]
    run = read_run(written(tmp_path, "run.jsonl", *rows), docs=docs)
    assert str(run.remarks[0]) == "1 page or box holds no characters"
    assert texts(run, docs)[0] == ""


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"doc": "a", "page_number": 4}, "expected a page from 1 to 3, found 4"),
        ({"doc": "b", "page_number": 1}, "expected a PDF of the collection for page 1, found 'b' without pages"),
        ({"doc": "a", "bbox": [1, 2, 3, 4]}, "expected a page beside the box"),
        ({"doc": "a", "page": 1, "bbox": [1, 2, 3]}, "expected a box"),
        ({"doc": "a", "page": 1, "bbox": [10, 9000, 20, 9100]}, "expected a box on a page of 612 × 792 points"),
        ({"doc": "a", "page": 1, "bbox": "here"}, "expected a box"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path, docs, fields, message):
    with pytest.raises(FormatError, match=message):
        read_run(written(tmp_path, "run.jsonl", {"topic": "q1", "rank": 1} | fields), docs=docs)


def test_pages_without_the_pdfs_are_refused(tmp_path):
    path = written(tmp_path, "run.jsonl", {"topic": "q1", "doc": "a", "rank": 1, "page_number": 3})
    with pytest.raises(MissingDataError, match="pages and boxes need the PDFs"):
        read_run(path)


def test_a_gold_written_by_page_and_box_is_read_as_the_same(tmp_path, docs):
    size = len(docs.text(0))
    spans = [{"start": 4, "end": 20}, {"start": size - 12, "end": size}]
    rows = [{"topic": "q1", "query": "tides?", "doc": "a", "spans": spans}, {"topic": "q1", "doc": "b", "spans": []}]
    gold = read_gold(written(tmp_path, "gold.jsonl", *rows), docs=docs)
    write_gold(gold, tmp_path / "pages.jsonl", "gold-pages", docs)
    line = json.loads((tmp_path / "pages.jsonl").read_text().splitlines()[0])
    assert line["spans"][0]["page"] == 1
    assert line["spans"][0]["quote"] == "sea rises\ntwice "
    assert line["spans"][0]["boxes"][0]["bbox"]["coord_origin"] == "TOPLEFT"
    again = read_gold(tmp_path / "pages.jsonl", docs=docs)
    assert highlights(again, docs) == ["sea rises\ntwice ", docs.text(0)[-12:]]
    assert again.queries == {"q1": "tides?"}


def test_a_run_written_by_page_and_box_is_read_as_the_same(tmp_path, docs):
    rows = [
        {"topic": "q1", "doc": "a", "rank": rank, "start": start, "end": start + 9} for rank, start in ((1, 4), (2, 0))
    ]
    run = read_run(written(tmp_path, "run.jsonl", *rows), docs=docs)
    write_run(run, tmp_path / "boxes.jsonl", "boxes", docs)
    again = read_run(tmp_path / "boxes.jsonl", docs=docs)
    assert (again.start.tolist(), again.end.tolist()) == (run.start.tolist(), run.end.tolist())


@pytest.mark.parametrize("junk", [{"page": "x"}, {"page": 1, "bbox": {}}, {"coordinates": {}}, {"boxes": [3]}])
def test_nonsense_is_refused_in_one_line(junk):
    with pytest.raises(FormatError, match=r"^run.jsonl:1: expected [^\n]*$"):
        places_of(junk, Place("run.jsonl", 1))


def test_what_names_no_page_says_nothing():
    assert [places_of(row, Place("run.jsonl", 1)) for row in ({}, {"prov": [3]}, {"boxes": 3}, {"page": ""})] == [
        []
    ] * 4
