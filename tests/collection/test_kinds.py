"""Other kinds of documents: reStructuredText and the like, notebooks, Word; and what is said of what is not read."""

import io
import json
import zipfile

import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main
from focuseval.collection import trees
from focuseval.collection.build import build_index
from focuseval.collection.documents import open_documents
from focuseval.collection.store import open_index
from focuseval.errors import CollectionError

CELLS = [
    {"cell_type": "markdown", "source": ["# Notes\n", "on *tea*"]},
    {"cell_type": "code", "source": "draw(4)", "outputs": [{"text": "printed"}]},
]
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
BODY = (
    "<w:p><w:r><w:t>Boil </w:t></w:r><w:r><w:t xml:space='preserve'>fresh</w:t><w:tab/><w:t>water.</w:t></w:r></w:p>"
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>black</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>4 min</w:t><w:br/><w:t>or 5"
    "</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p/>"
)
TEXT = "Boil fresh\twater.\nblack\n4 min\nor 5\n"


def word(body=BODY):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document xmlns:w='{WORD}'><w:body>{body}</w:body></w:document>")
    return out.getvalue()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs" / "inner").mkdir(parents=True)
    for name in ("a.rst", "b.adoc", "c.org", "inner/d.md"):
        (tmp_path / "docs" / name).write_text(f"Title\r\n=====\r\n\r\nThe {name} of harbours.\n", newline="")
    (tmp_path / "docs" / "n.ipynb").write_text(json.dumps({"cells": CELLS, "nbformat": 4}))
    (tmp_path / "docs" / "w.docx").write_bytes(word())
    return tmp_path / "docs"


def test_text_of_every_kind_is_read_in_memory_and_into_an_index(folder, tmp_path):
    build_index(folder, tmp_path / "index")
    for collection in (open_documents(folder), open_index(tmp_path / "index")):
        texts = {one.id: one.text for one in collection}
        assert sorted(texts) == ["a", "b", "c", "inner/d", "n", "w"]
        assert texts["a"] == "Title\r\n=====\r\n\r\nThe a.rst of harbours.\n"
        assert texts["n"] == "# Notes\non *tea*\n\ndraw(4)"
        assert texts["w"] == TEXT
        assert collection.document("a.rst").id == "a"
        assert collection.document("n.ipynb").span("/document[1]") == (0, 25)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("n.ipynb", b"{}", "expected a notebook with cells, found: 'cells'"),
        ("n.ipynb", b"[1", "expected a notebook with cells, found: Expecting"),
        ("n.ipynb", b'{"cells": [{"source": 3}]}', "expected a notebook with cells, found: "),
        ("n.ipynb", b'{"cells": [{"source": "\\ud800"}]}', "expected a notebook with cells, found: 'utf-8'"),
        ("w.docx", b"PK\x03\x04", r"expected a Word document \(.docx\) of at most 256 MB, found: File is not a zip"),
        ("w.docx", word("<w:p>"), "expected a Word document .*, found: mismatched tag"),
        ("w.docx", word()[:-40], "expected a Word document .*, found: "),
    ],
)
def test_what_is_no_such_document_is_one_line(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CollectionError, match=f"{name}: {said}") as caught:
        open_documents(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_huge_word_document_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "MAX_WORD", 100)
    (tmp_path / "w.docx").write_bytes(word())
    with pytest.raises(CollectionError, match=r"w\.docx: expected a Word document"):
        open_documents(tmp_path)


def test_what_looks_like_a_document_and_is_not_read_is_named(folder, tmp_path):
    (folder / "x.tex").write_bytes(b"%PDF")
    (folder / "logo.png").write_bytes(b"")
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"topic": "q", "doc": "a.rst", "spans": [{"quote": "The a.rst of harbours."}]}\n')
    run = tmp_path / "run.jsonl"
    run.write_text('{"topic": "q", "doc": "a.rst", "text": "The a.rst of harbours."}\n')
    line = f"not read: 1 .tex, first {folder / 'x.tex'}; save them as text, Markdown, HTML or .docx"
    scored = CliRunner().invoke(main, ["score", str(gold), str(run), "--docs", str(folder), "-m", "spanR@1", "--json"])
    assert (scored.exit_code, line in scored.stderr) == (0, True)
    assert json.loads(scored.stdout)["runs"][0]["measures"] == {"spanR@1": 1.0}
    indexed = CliRunner().invoke(main, ["index", str(folder), "-o", str(tmp_path / "index")])
    assert line in indexed.stderr
    assert "logo.png" not in indexed.stderr


def test_one_page_of_html_among_texts_does_not_change_what_is_returned(folder, tmp_path):
    def passages():
        return [hit.path for hit in fe.search(open_documents(folder), "harbours")]

    assert passages() == [None] * 4
    (folder / "stray.html").write_text("<p>stray</p><p>page</p>")
    assert passages() == [None] * 4
    found = fe.retrieve(open_documents(folder), {"1": "harbours"})
    said = "1 of 7 documents have elements, so that the unit is passage:100/50; give unit= for another"
    assert said in map(str, found.remarks)
    told = fe.retrieve(open_documents(folder), {"1": "harbours"}, unit="element")
    assert "so that the unit is" not in str(told.remarks)
    searched = CliRunner().invoke(main, ["search", str(folder), "harbours"])
    assert said.replace("unit=", "--unit") in searched.stderr
