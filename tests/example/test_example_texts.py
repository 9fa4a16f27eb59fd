"""The articles and topics of the embedded example are what a demonstration needs."""

import re
import unicodedata
from xml.etree import ElementTree as ET

import pytest

from focuseval.data.topics import read_topics
from focuseval.example import ROOT, copy_example

ARTICLES = sorted((ROOT / "articles").rglob("*.xml"))
TREES = {path: ET.parse(path).getroot() for path in ARTICLES}
TEXTS = {path: "".join(tree.itertext()) for path, tree in TREES.items()}
SOURCES = "\n".join(path.read_bytes().decode("latin-1" if "fresnel" in path.name else "utf-8") for path in ARTICLES)


def test_there_are_enough_articles_of_a_readable_length():
    assert len(ARTICLES) >= 12
    assert all(2000 <= len(text) <= 7000 for text in TEXTS.values())


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.stem)
def test_every_article_has_a_name_and_nested_structure(path):
    tree = TREES[path]
    assert tree.tag == "article"
    assert tree.findtext("name")
    assert len(tree.findall("body/section")) >= 3
    assert all(section.findtext("title") for section in tree.iter("section"))


def test_all_kinds_of_markup_occur():
    tags = {element.tag for tree in TREES.values() for element in tree.iter()}
    assert {
        "collectionlink",
        "weblink",
        "unknownlink",
        "normallist",
        "item",
        "table",
        "cell",
        "figure",
        "caption",
    } <= tags
    assert any(tree.findall("body/section/section") for tree in TREES.values())


@pytest.mark.parametrize("markup", ["&amp;", "&lt;", "&apos;", "&#8217;", "&#x", "<![CDATA[", "<!--", "<?layout"])
def test_every_kind_of_reference_and_section_occurs(markup):
    assert markup in SOURCES


@pytest.mark.parametrize("script", ["GREEK", "ARABIC", "DEVANAGARI", "CJK UNIFIED", "KATAKANA", "COMBINING"])
def test_text_is_not_only_latin(script):
    assert any(unicodedata.name(c, "").startswith(script) for text in TEXTS.values() for c in text)


def test_characters_outside_the_basic_plane_occur():
    assert re.search("[\U00010000-\U0010ffff]", "".join(TEXTS.values()))


def test_more_than_one_encoding_is_used():
    assert {re.search(r'encoding="(.*?)"', path.read_bytes()[:60].decode("ascii")).group(1) for path in ARTICLES} == {
        "UTF-8",
        "ISO-8859-1",
    }


def test_topics_of_all_three_kinds_have_every_field():
    topics = read_topics(ROOT / "topics.xml")
    assert len(topics) == 6
    assert {topic.kind for topic in topics} == {"CO", "CAS", "CO+S"}
    assert all(topic.title and topic.description and topic.narrative for topic in topics)
    assert all(topic.query is not None for topic in topics if topic.kind != "CO")


def test_the_two_topic_files_ask_the_same():
    old, new = read_topics(ROOT / "topics.xml"), read_topics(ROOT / "topics-2009.xml")
    assert [(t.id, t.title, t.castitle, t.narrative) for t in old] == [
        (t.id, t.title, t.castitle, t.narrative) for t in new
    ]


def test_copying_leaves_other_files_of_the_folder_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    copied = copy_example(tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert tmp_path / "articles" / "water" / "tide.xml" in copied
    assert all(path.is_file() for path in copied)
