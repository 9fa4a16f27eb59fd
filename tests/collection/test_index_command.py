"""``focuseval index`` on the command line."""

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.collection.store import open_index


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.xml").write_text("<a>one<b>two</b></a>")
    (folder / "b.txt").write_text("plain")
    (folder / "c.tex").write_text("")
    return folder


def run(*arguments):
    return CliRunner().invoke(main, ["index", *map(str, arguments)])


def test_a_directory_becomes_an_index_and_what_was_passed_over_is_said(source, tmp_path):
    result = run(source, "-o", tmp_path / "index")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "2 documents, 3 elements" in result.stderr
    assert "skipped, not documents: 1 file (1 .tex)" in result.stderr
    assert open_index(tmp_path / "index").ids.to_pylist() == ["a", "b"]


def test_a_broken_document_is_one_line_and_exit_code_one(source, tmp_path):
    (source / "x.xml").write_text("<a>\n</b>")
    result = run(source, "-o", tmp_path / "index")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{source}/x.xml:2:3: expected well-formed XML, found: mismatched tag; ")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize(
    ("allowed", "code"), [((), 1), (("--allow-left-out", "33"), 1), (("--allow-left-out", "34"), 0)]
)
def test_keep_going_lists_what_it_left_out_and_fails_where_that_is_much(source, tmp_path, allowed, code):
    (source / "x.xml").write_text("<a>\n</b>")
    result = run(source, "-o", tmp_path / "index", "--keep-going", *allowed)
    assert result.exit_code == code
    assert ("index: left out 33 % of the documents, more than" in result.stderr) == bool(code)
    assert f"{source}/x.xml:2:3: expected well-formed XML, found: mismatched tag\n" in result.stderr
    assert "warning: left out 1 unreadable document" in result.stderr
    assert len(open_index(tmp_path / "index")) == 2


def test_several_sources_are_joined(source, tmp_path):
    (tmp_path / "more.md").write_text("more")
    assert run(source, tmp_path / "more.md", "-o", tmp_path / "index").exit_code == 0
    assert open_index(tmp_path / "index").ids.to_pylist() == ["a", "b", "more"]


def test_entities_of_unread_dtds_are_reported(source, tmp_path):
    (source / "d.xml").write_text('<!DOCTYPE a SYSTEM "x.dtd"><a>&eacute;&nosuch;</a>')
    result = run(source, "-o", tmp_path / "index")
    assert "because DTDs are not read: 1 entity" in result.stderr
    assert "left out 1 reference to unread entities: &nosuch; (1)" in result.stderr


def test_without_a_target_the_usage_is_wrong(source):
    assert run(source).exit_code == 2
