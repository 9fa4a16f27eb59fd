"""Gold as highlight annotations in PDFs."""

import json

import pytest
from click.testing import CliRunner

from focuseval import open_documents, read_gold, write_gold
from focuseval.cli.commands import main
from focuseval.collection.pdfium import Highlight, read_highlights, write_highlights
from focuseval.errors import FormatError, MissingDataError
from pdfs import paragraph, pdf


@pytest.fixture(params=[0, 90])
def folder(tmp_path, request):
    (tmp_path / "docs/sub").mkdir(parents=True)
    pages = paragraph("The sea rises", "twice a day."), paragraph("The moon pulls", "the sea.")
    (tmp_path / "docs/sub/a.pdf").write_bytes(pdf(*pages, turn=request.param))
    (tmp_path / "docs/b.pdf").write_bytes(pdf(paragraph("The sun, too."), crop=(50, 50, 500, 760)))
    spans = [{"start": 4, "end": 20}, {"start": 20, "end": 40}]
    lines = [
        {"topic": "q1", "query": "Why do tides rise?", "doc": "sub/a", "spans": spans},
        {"topic": "q2", "doc": "b", "spans": [{"start": 4, "end": 7}]},
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def spans(gold):
    p = gold.passages
    documents = gold.documents.to_pylist()
    rows = zip(p.topic.tolist(), p.document.tolist(), p.start.tolist(), p.end.tolist(), strict=True)
    return sorted((gold.topics[topic], documents[document], start, end) for topic, document, start, end in rows)


def test_a_gold_becomes_highlights_in_copies_and_these_the_same_gold(folder):
    run = CliRunner().invoke
    docs = str(folder / "docs")
    done = run(main, ["convert", str(folder / "gold.jsonl"), str(folder / "marked"), "--to", "pdf", "--docs", docs])
    assert done.exit_code == 0, done.output
    assert [mark.note for mark in read_highlights((folder / "marked/b.pdf").read_bytes(), "b.pdf")] == ["q2"]
    marks = read_highlights((folder / "marked/sub/a.pdf").read_bytes(), "a.pdf")
    assert {(mark.page, mark.note, mark.author) for mark in marks} == {
        (page, "q1\nWhy do tides rise?", "focuseval") for page in (1, 2)
    }
    done = run(main, ["convert", str(folder / "marked"), str(folder / "again.jsonl"), "--docs", docs])
    assert done.exit_code == 0, done.output
    index = open_documents(docs)
    before, after = (read_gold(folder / name, docs=index) for name in ("gold.jsonl", "again.jsonl"))
    text = index.text(index.find(["sub/a"])[0])
    # spans that touch, or that a page's end cuts, are highlights of their own: their characters are the same
    covered = [
        {(t, d, n) for t, d, a, b in spans(gold) for n in range(a, b) if text[n].strip()} for gold in (before, after)
    ]
    assert covered[0] == covered[1]
    assert after.queries["q1"] == "Why do tides rise?"
    assert (folder / "docs/b.pdf").read_bytes() != (folder / "marked/b.pdf").read_bytes()
    assert read_highlights((folder / "docs/b.pdf").read_bytes(), "b.pdf") == []


def marked(folder, *notes):
    """Return a gold of what somebody marked in b.pdf."""
    data = (folder / "docs/b.pdf").read_bytes()
    index = open_documents(folder / "docs")
    box = index.pages(int(index.find(["b"])[0])).boxes(4, 7)[1][0]
    marks = [Highlight(1, (tuple(box.tolist()),), note) for note in notes]
    (folder / "b.pdf").write_bytes(write_highlights(data, "b.pdf", marks))
    return read_gold(folder / "b.pdf", docs=index)


def test_highlights_without_any_note_are_of_one_topic(folder):
    assert spans(marked(folder, "")) == [("1", "b", 4, 7)]


def test_of_highlights_with_notes_those_without_are_left_out_and_counted(folder):
    gold = marked(folder, "q7\nThe sun?", "")
    assert spans(gold) == [("q7", "b", 4, 7)]
    assert "1 highlight has no note that names a topic, and is left out" in [remark.sentence for remark in gold.remarks]


def test_what_cannot_be_is_one_line(folder):
    with pytest.raises(MissingDataError, match="need the documents"):
        read_gold(folder / "docs/b.pdf")
    with pytest.raises(FormatError, match="expected highlight annotations, found none"):
        read_gold(folder / "docs/b.pdf", docs=folder / "docs")
    (folder / "other.pdf").write_bytes(write_highlights(pdf(paragraph("x")), "x", [Highlight(1, ((70, 80, 90, 110),))]))
    with pytest.raises(FormatError, match="expected a copy of a PDF of the collection"):
        read_gold(folder / "other.pdf", docs=folder / "docs")
    index = open_documents(folder / "docs")
    with pytest.raises(FormatError, match="expected a folder for copies of 2 PDFs"):
        write_gold(read_gold(folder / "gold.jsonl", docs=index), folder / "one.pdf", "pdf", index)
