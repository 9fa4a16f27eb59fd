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
