"""Small collections are opened without an index on disk, with the same interface."""

import json

import pytest

import focuseval as fe
from focuseval.collection.build import build_index
from focuseval.collection.documents import open_documents
from focuseval.collection.store import open_index
from focuseval.errors import CollectionError


def test_a_folder_reads_like_its_index(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.xml").write_text("<a>x<b>é</b></a>")
    (folder / "b.md").write_text("# naïve 😀\r\n", newline="")
    build_index(folder, tmp_path / "index")
    one, two = open_documents(folder), open_index(tmp_path / "index")
    assert one.ids.to_pylist() == two.ids.to_pylist() == ["a", "b"]
    assert one.lengths.tolist() == two.lengths.tolist() == [2, 11]
    assert one.sha256 == two.sha256
    assert one.text(1) == "# naïve 😀\r\n"
    assert one.elements(1).paths() == ["/document[1]"]
    assert open_documents(tmp_path / "index").sha256 == one.sha256


def test_a_jsonl_of_texts_is_a_collection(tmp_path):
    path = tmp_path / "docs.jsonl"
    lines = [{"id": "a.md", "text": "one\r\ntwo"}, {"id": "b", "text": "", "more": 1}]
    path.write_text("\ufeff" + "\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
    docs = open_documents(path)
    assert docs.ids.to_pylist() == ["a.md", "b"]
    assert docs.texts([0, 1]).to_pylist() == ["one\r\ntwo", ""]
    assert docs.find(["a", "a.md", "b.txt"]).tolist() == [0, 0, 1]
    assert docs.resolve([0, 1], ["/document[1]"] * 2)[1].tolist() == [8, 0]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{", "found no JSON"),
        ("[1]", "found a list"),
        ('{"id": "b"}', r"found keys \['id'\]"),
        ('{"id": 7.5, "text": "x"}', "both must be strings"),
        ('{"id": "a", "text": "again"}', "document id 'a' is on line 1 already"),
        ('{"id": "b", "text": "\\ud800"}', "surrogate"),
    ],
)
def test_a_wrong_line_is_named(line, what, tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": "a", "text": "x"}\n' + line + "\n")
    with pytest.raises(CollectionError, match=rf"docs\.jsonl:2: .*{what}"):
        open_documents(path)


def test_bytes_that_are_no_utf8_are_named(tmp_path):
    (tmp_path / "docs.jsonl").write_bytes(b'{"id": "a", "text": "\xff"}\n')
    with pytest.raises(CollectionError, match=r"docs\.jsonl: expected UTF-8"):
        open_documents(tmp_path / "docs.jsonl")


@pytest.mark.parametrize("name", ["docs.jsonl", "empty"])
def test_a_collection_of_nothing_is_refused(name, tmp_path):
    (tmp_path / "docs.jsonl").write_text("\n")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CollectionError, match="found none"):
        open_documents(tmp_path / name)


def test_a_place_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(CollectionError, match="missing: no such file or directory"):
        open_documents(tmp_path / "missing")


def test_what_was_left_out_is_counted(tmp_path):
    (tmp_path / "a.xml").write_text('<!DOCTYPE a SYSTEM "x.dtd"><a>&eacute;&nosuch;</a>')
    (tmp_path / "b.tex").write_text("")
    found = open_documents(tmp_path).metadata
    assert found.pop("first_passed_over") == {".tex": str(tmp_path / "b.tex")}
    assert found.pop("sources") == [str(tmp_path)]
    assert found == {"passed_over": {".tex": 1}, "entities_by_name": 1, "entities_left_out": {"nosuch": 1}}


@pytest.mark.parametrize(
    "record",
    [
        {"id": "a", "text": "x"},
        {"_id": "a", "title": "A", "text": "x"},
        {"docid": "a", "contents": "x"},
        {"document_id": "a", "page_content": "x", "source": "elsewhere"},
    ],
)
def test_documents_may_have_other_names_and_stand_in_a_list(record, tmp_path):
    (tmp_path / "docs.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "docs.json").write_text(json.dumps([record], indent=2))
    for name in ("docs.jsonl", "docs.json"):
        docs = open_documents(tmp_path / name)
        assert (docs.ids.to_pylist(), docs.text(0)) == (["a"], "x")


def test_a_list_of_anything_else_is_refused(tmp_path):
    (tmp_path / "docs.json").write_text('[{"id": "a", "text": "x"},\n 3]')
    with pytest.raises(CollectionError, match=r"docs\.json:1: expected .*, found a int"):
        open_documents(tmp_path / "docs.json")


def test_the_public_function_takes_a_file_that_holds_its_documents(tmp_path):
    paragraph = {"context": "Boil water.", "qas": []}
    (tmp_path / "squad.json").write_text(json.dumps({"data": [{"title": "Tea", "paragraphs": [paragraph]}]}))
    assert fe.open_documents(tmp_path / "squad.json").ids.to_pylist() == ["Tea"]
