"""The text of HTML: words stand apart where a reader sees them apart, and nothing that was made before moves unseen."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import focuseval as fe
from focuseval.assessment.project import open_project
from focuseval.collection.build import build_index
from focuseval.collection.documents import open_documents
from focuseval.collection.store import open_index
from focuseval.collection.trees import read_html, read_tree
from focuseval.data.placement import APPROXIMATE
from focuseval.placing import align_chunks
from focuseval.placing.page import Page

PAGE = (
    "<title>Page 1</title><ul><li>alpha</li><li>beta</li><li>ga<b>m</b>ma</li></ul><table><tr><th>Setting</th><th>"
    "Default</th></tr><tr><td>timeout</td><td>30s</td></tr></table>one<br>two<p>three</p> four<div></div><!-- c -->five"
)
APART = "Page 1\nalpha\nbeta\ngamma\nSetting\tDefault\ntimeout\t30s\none\ntwo\nthree four\nfive"
GLUED = re.sub(r"\s(?!1|four)", "", APART)
DOCS = Path(__file__).parents[2] / "docs" / "howto"


def test_blocks_cells_and_line_breaks_separate_words():
    assert read_html(PAGE.encode(), "a.html").text == APART
    assert read_html(PAGE.encode(), "a.html", apart=False).text == GLUED


def test_text_that_has_white_space_is_left_as_it_is_and_so_is_xml():
    page = "<html><head><title>T</title> </head> <body> <p>one</p>\n<p>two</p>\n<p>t<i>h</i>ree </p><p>four</p>"
    assert read_html(page.encode(), "a").text == read_html(page.encode(), "a", apart=False).text
    assert read_tree(b"<html><p>one</p><p>two</p></html>", "a.xhtml").text == "onetwo"


def test_elements_begin_with_their_own_text_and_pointers_count_text_nodes_as_before(tmp_path):
    (tmp_path / "a.html").write_text(PAGE)
    now, before = open_documents(tmp_path), open_documents(tmp_path, apart=False)
    assert now.elements(0).paths() == before.elements(0).paths()
    for one, other in zip(now.document("a"), before.document("a"), strict=True):
        inside = now.text(0)[one.start : one.end]
        assert inside.replace("\n", "").replace("\t", "") == re.sub(
            r"\s(?!1|four)", "", before.text(0)[other.start : other.end]
        )
        assert inside == inside.lstrip("\n\t")
    points = [f"/html[1]/body[1]/{path}" for path in ("ul[1]/li[3]/text()[2].1", "text()[1].2", "text()[4].0")]
    rows = [0] * len(points)
    at, then = now.resolve_points(rows, points), before.resolve_points(rows, points)
    assert [now.text(0)[i] for i in at] == [before.text(0)[i] for i in then]
    assert now.put_in([0]).tolist() == [len(APART) - len(GLUED)]
    assert before.put_in([0]).tolist() == [0]


@given(
    st.lists(
        st.sampled_from(["<p>", "</p>", "<b>", "</b>", "<br>", "<td>", "</td>", "<tr>", " ", "x", "yz", "<li>"]),
        max_size=30,
    )
)
def test_only_white_space_is_put_in_and_only_between_words(parts):
    page = f"<body>a{''.join(parts)}".encode()
    now, before = read_html(page, "a"), read_html(page, "a", apart=False)
    assert now.tag == before.tag
    assert "".join(now.text.split()) == "".join(before.text.split())
    assert not re.search(r"\s[\n\t]|[\n\t]\s", now.text.replace(" ", "x"))
    held = sum(end - start for start, end in zip(now.node_start, now.node_end, strict=True))
    assert held == len(before.text)


def pages():
    for path in sorted(DOCS.glob("*.md"))[:12]:
        page = MarkdownIt("commonmark").enable("table").render(path.read_text(encoding="utf-8"))
        yield path.stem, re.sub(r">\s*\n\s*<", "><", page)  # as minified pages are


def test_what_beautiful_soup_takes_from_a_page_is_found_in_it(tmp_path):
    bs4 = pytest.importorskip("bs4")
    names, texts = [], []
    for name, page in pages():
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
        soup = bs4.BeautifulSoup(page, "html.parser")
        for separator, strip in (("", False), (" ", False), ("\n", True), (" ", True)):
            taken = soup.get_text(separator, strip=strip)
            pieces = [taken[at : at + 300] for at in range(0, len(taken), 300)]
            texts += [piece for piece in pieces if len(piece) == 300]
            names += [name] * (len(texts) - len(names))
    found = align_chunks(names, texts, open_documents(tmp_path))
    assert len(texts) > 300
    exactly = (found.how < APPROXIMATE).sum() + found.is_ambiguous.sum()  # a sign by itself may look like a mark
    assert exactly >= 0.995 * len(texts)
    assert not found.is_lost.any()


def test_an_index_keeps_the_text_with_which_it_was_made(tmp_path):
    (tmp_path / "a.html").write_text(PAGE)
    build_index(tmp_path / "a.html", tmp_path / "index")
    assert open_index(tmp_path / "index").text(0) == APART
    assert open_index(tmp_path / "index").metadata["html"] == "words apart"


def test_a_project_of_before_opens_its_pages_as_it_judged_them(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.html").write_text(PAGE)
    (tmp_path / "topics.jsonl").write_text('{"topic": "q1", "query": "what"}\n')
    place, settings = tmp_path / "project", tmp_path / "project" / "project.json"
    opened = open_project(place, collection=str(tmp_path / "docs"), topics=str(tmp_path / "topics.jsonl"))
    assert opened.documents.index.text(0) == APART
    opened.close()
    settings.write_text(
        json.dumps({key: value for key, value in json.loads(settings.read_text()).items() if key != "html"})
    )
    for more in ({}, {"collection": str(tmp_path / "docs")}, {}):  # also when the collection has moved
        opened = open_project(place, **more)
        assert opened.documents.index.text(0) == GLUED
        opened.close()


def test_offsets_without_quotes_into_pages_do_not_move_unseen(tmp_path):
    (tmp_path / "a.html").write_text(PAGE)
    gold = [{"topic": "q", "doc": "a", "start": 7, "end": 12}]
    remarks = fe.evaluate(gold, gold, ["spanR"], docs=tmp_path).remarks()
    assert any("offsets without quotes in HTML (in 'a', of 1), whose text version 0.2.0" in one for one in remarks)
    quoted = [{**gold[0], "quote": "alpha", "text": "alpha"}]
    assert "version 0.2.0" not in str(fe.evaluate(quoted, quoted, ["spanR"], docs=tmp_path).remarks())
    (tmp_path / "a.html").write_text("<p>one</p> <p>two</p>")
    short = [{**gold[0], "start": 0, "end": 3}]
    assert "version 0.2.0" not in str(fe.evaluate(short, short, ["spanR"], docs=tmp_path).remarks())


def test_blanks_make_no_difference_to_long_texts_alone():
    page = Page("It is apart of the whole thing that we looked for.")
    assert page.candidates({"a part of the whole thing that we": ()}, 1.0)[
        "a part of the whole thing that we"
    ].starts == [6]
    assert not page.candidates({"a part of": ()}, 1.0)["a part of"].starts
