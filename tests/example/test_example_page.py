"""The page on the embedded example states facts about its files: each is looked up there."""

import re
from collections import Counter
from pathlib import Path

import pytest

from embedded.runs import CAREFUL, COARSE, HASTY
from focuseval.collection.documents import open_documents
from focuseval.evaluation.evaluation import evaluate
from focuseval.example import ROOT
from focuseval.formats import read_gold, read_run

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "embedded-example.md"
BLOCKS = {"section", "p", "item", "row", "caption"}
SMALLEST = {"title", "p", "item", "row", "caption", "emph", "collectionlink", "name"}
TAGS = {
    ("thorough", "careful"): BLOCKS | {"normallist", "table", "body", "article"},
    ("focused", "careful"): BLOCKS,
    ("thorough", "coarse"): {"section"},
    ("focused", "coarse"): {"section"},
    ("thorough", "hasty"): SMALLEST,
    ("focused", "hasty"): SMALLEST,
}


@pytest.fixture(scope="module")
def index():
    return open_documents(ROOT / "articles")


@pytest.fixture(scope="module")
def gold(index):
    return read_gold(ROOT / "gold" / "gold.jsonl", index=index)


def spans(run):
    return list(zip(run.document.to_pylist(), run.start.tolist(), run.end.tolist(), strict=True))


def elements(index, tags):
    """Document, start and end of all elements of these tags."""
    return {
        (document.id, element.start, element.end) for document in index for element in document if element.tag in tags
    }


def test_there_are_seventeen_articles_of_some_8000_words(index):
    assert "Seventeen articles" in PAGE.read_text(encoding="utf-8")
    assert len(list(index)) == 17
    assert sum(len(document.text.split()) for document in index) == pytest.approx(8000, rel=0.06)


def test_one_file_is_in_another_encoding():
    files = [path.read_bytes()[:60] for path in (ROOT / "articles").rglob("*.xml")]
    assert Counter(re.search(rb'encoding="(.*?)"', start)[1] for start in files)[b"ISO-8859-1"] == 1


def test_answers_are_in_two_to_four_articles_and_others_are_judged_without_result(gold):
    relevant = gold.articles.relevance > 0
    per_topic = Counter(gold.articles.topic[relevant].tolist())
    assert (min(per_topic.values()), max(per_topic.values()), len(per_topic)) == (2, 4, 6)
    assert set(gold.articles.topic[~relevant].tolist()) == set(per_topic)


@pytest.mark.parametrize(
    ("topic", "document", "word"), [("103", "water/sounding", "sound"), ("101", "water/rock-pool", "spring")]
)
def test_an_article_with_the_words_of_a_topic_is_not_relevant_for_it(gold, index, topic, document, word):
    assert word in index.document(document).text
    documents = gold.documents.to_pylist()
    judged = zip(gold.articles.topic, gold.articles.document, gold.articles.relevance, strict=True)
    assert [bool(grade) for t, d, grade in judged if (gold.topics[t], documents[d]) == (topic, document)] == [False]


@pytest.mark.parametrize(("task", "name"), TAGS)
def test_a_run_of_elements_holds_the_elements_that_the_page_says(task, name):
    paths = read_run(ROOT / "runs" / task / f"{name}.xml").path.to_pylist()
    found = {re.search(r"(\w+)\[\d+\]$", path)[1] for path in paths}
    assert found <= TAGS[task, name]
    assert task != "thorough" or name != "careful" or "article" in found


def test_in_context_careful_returns_sections_coarse_articles_hasty_small_elements(index):
    runs = {
        name: spans(read_run(ROOT / "runs" / "relevant-in-context" / f"{name}.txt"))
        for name in ("careful", "coarse", "hasty")
    }
    assert set(runs["careful"]) <= elements(index, {"section"})
    assert set(runs["coarse"]) <= elements(index, {"article"})
    assert set(runs["hasty"]) <= elements(index, SMALLEST)


def test_entry_points_are_where_elements_begin(index):
    for name, tags in {"careful": BLOCKS, "coarse": {"article"}, "hasty": SMALLEST}.items():
        run = read_run(ROOT / "runs" / "best-in-context" / f"{name}.txt")
        begins = {(document, start) for document, start, _ in elements(index, tags)}
        assert {(document, start) for document, start, _ in spans(run)} <= begins
        assert name != "coarse" or not run.start.any()


def test_the_settings_of_the_rankers_are_those_of_the_page():
    assert (CAREFUL.context, COARSE.context, HASTY.context) == (2.0, 0.0, 0.0)
    assert (CAREFUL.noise, COARSE.noise, HASTY.noise) == (0.0, 0.0, 1.5)


def test_windows_are_of_400_characters_one_every_300(index):
    found = spans(read_run(ROOT / "runs" / "spans" / "windows.jsonl"))
    ends = {document.id: len(document.text) for document in index}
    assert {end - start for document, start, end in found if end < ends[document]} == {400}
    assert {start % 300 for _, start, _ in found} == {0}


FILES = {"thorough": "xml", "focused": "xml", "relevant-in-context": "txt", "best-in-context": "txt"}


@pytest.mark.parametrize("task", FILES)
def test_careful_comes_before_coarse_and_coarse_before_hasty(task, index, gold):
    runs = [ROOT / "runs" / task / f"{name}.{FILES[task]}" for name in ("careful", "coarse", "hasty")]
    careful, coarse, hasty = evaluate(gold, runs, task=task, profile="inex2006", index=index).mean[:, 0]
    assert careful > coarse > hasty


def test_by_average_precision_coarse_comes_first_in_context(index, gold):
    runs = [ROOT / "runs" / "relevant-in-context" / f"{name}.txt" for name in ("careful", "coarse", "hasty")]
    careful, coarse, hasty = evaluate(gold, runs, ["AP"], task="relevant-in-context", index=index).mean[:, 0]
    assert coarse > careful > hasty
