"""Other files that hold documents: compressed ones, HTML, JSON lines, TREC's."""

import gzip
import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.collection import document_files
from focuseval.collection.build import build_index
from focuseval.collection.documents import open_documents
from focuseval.collection.store import open_index
from focuseval.errors import CollectionError


@pytest.fixture
def indexed(tmp_path):
    def make(name, content, **options):
        source = tmp_path / "source" / name
        source.parent.mkdir(exist_ok=True)
        source.write_bytes(content if isinstance(content, bytes) else content.encode())
        build_index(options.pop("source", source), tmp_path / "index", force=True, **options)
        return open_index(tmp_path / "index")

    return make


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: pa.compress(data, "zstd", asbytes=True)])
def test_a_compressed_document_is_that_document(indexed, pack):
    name = "a.xml.gz" if pack is gzip.compress else "a.xml.zst"
    index = indexed(name, pack(b"<a>x<b>y</b></a>"))
    assert (index.ids.to_pylist(), index.text(0), index.elements(0).paths()) == (["a"], "xy", ["/a[1]", "/a[1]/b[1]"])


def test_a_compressed_document_that_is_cut_short_is_named(indexed):
    with pytest.raises(CollectionError, match=r"a\.txt\.gz: expected a complete compressed file"):
        indexed("a.txt.gz", gzip.compress(b"x" * 1000)[:-9])


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(indexed, monkeypatch):
    monkeypatch.setattr(document_files, "MAX_BYTES", 1 << 20)
    with pytest.raises(CollectionError, match=r"a\.txt\.gz: refused: more than 1 MB"):
        indexed("a.txt.gz", gzip.compress(bytes(1 << 24)), jobs=1)


@pytest.mark.parametrize("name", ["id", "_id"])
def test_json_lines_are_documents_with_ids_of_their_own(indexed, name):
    lines = [{name: "d/1.md", "text": "one\r\ntwo", "title": "T"}, {name: "d2", "text": ""}]
    index = indexed("docs.jsonl", "\n".join(map(json.dumps, lines)))
    assert index.ids.to_pylist() == ["d/1.md", "d2"]
    assert index.texts([0, 1]).to_pylist() == ["one\r\ntwo", ""]
    assert index.documents.column("file").to_pylist() == ["d/1.md", "d2"]


def test_an_index_of_json_lines_reads_like_the_documents_opened(indexed, tmp_path):
    lines = [{"id": f"d{n}", "text": "wörd " * n} for n in range(30)]
    index = indexed("docs.jsonl.gz", gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    assert index.sha256 == open_documents(tmp_path / "source" / "docs.jsonl.gz").sha256


def test_a_wrong_line_is_named_and_a_repeated_id_with_both_places(indexed):
    with pytest.raises(CollectionError, match=r"docs\.jsonl:2: .*found keys \['id'\]"):
        indexed("docs.jsonl", '{"id": "a", "text": "x"}\n{"id": "b"}\n')
    with pytest.raises(CollectionError, match=r"two documents have the id 'a': .*docs\.jsonl:1 and .*docs\.jsonl:3"):
        indexed("docs.jsonl", '{"id": "a", "text": "x"}\n\n{"id": "a", "text": "y"}\n')


def test_questions_beside_documents_are_passed_over(indexed, tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "questions.jsonl").write_text('{"question": "who?"}\n')
    index = indexed("a.txt", "x", source=tmp_path / "source")
    assert index.metadata["passed_over"] == {".jsonl": 1}
    (tmp_path / "source" / "more.jsonl").write_text('{"id": "b", "text": "y"}\n')
    assert indexed("a.txt", "x", source=tmp_path / "source").ids.to_pylist() == ["a", "b"]


TREC = """<DOC>
<DOCNO> FR-1 </DOCNO>
<TEXT>
one &amp; <P>two</P>
</TEXT>
</DOC>
<DOC>
<DOCNO>FR-2</DOCNO>
<TEXT>a &hyph; b <P>open <P>again
</TEXT>
</DOC>

<doc id="w3">three</doc>
"""


def test_a_file_of_several_docs(indexed):
    index = indexed("fr94.trec", TREC)
    assert index.ids.to_pylist() == ["FR-1", "FR-2", "w3"]
    assert index.elements(0).paths() == ["/DOC[1]", "/DOC[1]/DOCNO[1]", "/DOC[1]/TEXT[1]", "/DOC[1]/TEXT[1]/P[1]"]
    assert index.elements(1).paths()[-1] == "/doc[1]/text[1]/p[2]"
    assert index.text(2) == "three"
    assert index.metadata["read_leniently"] == 1


def test_a_doc_across_chunks_is_one(indexed, monkeypatch):
    monkeypatch.setattr("focuseval.collection.document_files._CHUNK", 7)
    assert indexed("fr94.sgml", TREC).ids.to_pylist() == ["FR-1", "FR-2", "w3"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("<DOC>x</DOC>", r":1: expected <doc> with a <docno> or an id, found none"),
        ("<DOC id='a'>x</DOC>\n\njunk <DOC id='b'>y</DOC>", r":3: .*, found .junk <DOC"),
        ("<DOC id='a'>x</DOC><DOC id='b'>y", r": expected </doc> at the end, found .*y.; is the file complete"),
    ],
)
def test_what_is_no_file_of_docs_is_named(indexed, content, what):
    with pytest.raises(CollectionError, match=rf"a\.trec{what}"):
        indexed("a.trec", content)


PAGE = b"""<!DOCTYPE html><html><head><title>T</title><style>p {}</style></head>
<body><p>one<p>two <b>bold</i></b><br>line<!-- c -->end
<ul><li>a<li>b &nbsp;&copy;</ul><script>if (a < b) x()</script></body>"""


def test_html_is_read_as_a_browser_reads_it(indexed):
    index = indexed("page.html", PAGE)
    paths = index.elements(0).paths()
    assert paths[:3] == ["/html[1]", "/html[1]/head[1]", "/html[1]/head[1]/title[1]"]
    assert "/html[1]/body[1]/ul[1]/li[2]" in paths
    text = index.text(0)
    assert "b \xa0©" in text
    assert "x()" not in text
    assert "p {}" not in text
    start, end = index.resolve([0], ["/html[1]/body[1]/p[2]/b[1]"])
    assert text[start[0] : end[0]] == "bold"
    assert index.metadata["read_leniently"] == 1


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<p>naïve</p>".encode(), "naïve"),
        ("<p>naïve</p>".encode("latin-1"), "naïve"),
        ("<meta charset='koi8-r'><p>привет</p>".encode("koi8-r"), "привет"),
    ],
)
def test_encodings_of_html(indexed, data, text):
    assert indexed("a.htm", data).text(0) == text


def test_html_without_an_element_is_one_line(indexed):
    with pytest.raises(CollectionError, match=r"a\.html: expected HTML, found no element"):
        indexed("a.html", b"", jobs=1)


def test_the_command_says_what_was_read_leniently(tmp_path):
    (tmp_path / "page.html").write_bytes(PAGE)
    done = CliRunner().invoke(main, ["index", str(tmp_path / "page.html"), "-o", str(tmp_path / "index")])
    assert done.exit_code == 0
    assert "read leniently, as HTML or as XML that is not well-formed: 1 document" in done.output


def test_a_file_of_another_kind_is_named_with_all_kinds(indexed):
    with pytest.raises(CollectionError, match=r"a\.tex: expected a directory, an archive or one of \.xml, .*\.trec.*"):
        indexed("a.tex", b"")
