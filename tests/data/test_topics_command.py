"""``focuseval topics``: a table for people, JSON with the syntax tree for programs."""

import json

import pytest
from click.testing import CliRunner

from focuseval.cli import main

GOOD = '<topic id="7"><title>+car parks</title><castitle>//sec[about(., "car parks")]</castitle></topic>'
BAD = '<topic id="8"><title>x</title><castitle>//sec[about(., )]</castitle></topic>'


@pytest.fixture
def focuseval(tmp_path):
    def call(text, *options):
        file = tmp_path / "topics.xml"
        file.write_text(text)
        return CliRunner().invoke(main, ["topics", str(file), *options], catch_exceptions=False)

    return call


def test_a_table_shows_kind_title_target_and_terms(focuseval):
    answer = focuseval(GOOD)
    assert answer.exit_code == 0
    for word in ("7", "CO+S", "+car parks", "//sec"):
        assert word in answer.stdout


def test_json_carries_the_syntax_tree_with_positions(focuseval):
    [topic] = json.loads(focuseval(GOOD, "--json").stdout)
    about = topic["query"]["steps"][0]["predicates"][0]
    assert (about["node"], about["start"], about["end"]) == ("About", 6, 27)
    assert topic["terms"][0] == {"text": "car", "sign": "+", "phrase": False}


def test_a_title_that_does_not_parse_is_shown_and_ends_with_exit_code_1(focuseval):
    answer = focuseval(GOOD + "\n" + BAD)
    assert answer.exit_code == 1
    assert "+car parks" in answer.stdout
    assert "topics.xml:2:56: expected terms, found ')]'" in answer.stderr
    [_, second] = json.loads(focuseval(GOOD + BAD, "--json").stdout)
    assert second["id"] == "8"
    assert "expected terms" in second["error"]


def test_a_file_without_topics_is_one_line_and_exit_code_1(focuseval):
    answer = focuseval("<a/>")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert len(answer.stderr.splitlines()) == 1


FIELDS = "<description>d</description><narrative>n</narrative>"
CANDIDATES = (
    f'<topic id="1"><title>tides moon</title>{FIELDS}</topic>\n'
    '<topic id="2"><title>Tides  MOON</title><description>d</description></topic>\n'
    f'<topic id="3"><title>zeppelins</title>{FIELDS}</topic>\n'
    f'<topic id="4"><title>ship</title>{FIELDS}</topic>\n'
)


def test_a_check_of_candidates_says_what_is_wrong_with_each(focuseval, tmp_path):
    # Of four documents three have ships, two the tides, one the moon; nobody wrote of zeppelins.
    texts = ["the tides and a ship", "the moon, tides and ships", "ships", "nothing"]
    for number, text in enumerate(texts):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / f"{number}.txt").write_text(text)
    options = ["--check", "--docs", str(tmp_path / "docs"), "--few", "1"]
    answer = focuseval(CANDIDATES, *options, "--json")
    assert answer.exit_code == 1
    assert json.loads(answer.stdout) == [
        {"id": "1", "documents": 2, "wrong": []},
        {"id": "2", "documents": 2, "wrong": ["no narrative", "the title of topic 1"]},
        {"id": "3", "documents": 0, "wrong": ["not in the collection: zeppelin", "fewer than 1 documents"]},
        {"id": "4", "documents": 3, "wrong": ["more than 50% of the documents"]},
    ]
    assert answer.stderr.endswith("topics.xml: something is wrong with 3 of 4 topics\n")
    assert "no narrative; the title of topic 1" in focuseval(CANDIDATES, *options).stdout


def test_a_check_without_a_collection_looks_at_the_topics_alone(focuseval):
    answer = focuseval(f'<topic id="1"><title>tides moon</title>{FIELDS}</topic>', "--check", "--json")
    assert (answer.exit_code, json.loads(answer.stdout)) == (0, [{"id": "1", "documents": None, "wrong": []}])
    bad = focuseval(CANDIDATES + BAD, "--check")
    assert (bad.exit_code, "expected terms" in bad.stderr) == (1, True)
