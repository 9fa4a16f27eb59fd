"""From a folder to a run: what the demo proposes, what search prints, runs of documents."""

import json
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.example.demo import OWN
from page_folders import articles_and_topics


def run(arguments):
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, (arguments, result.output)
    return result.output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    articles_and_topics(tmp_path)
    return tmp_path


def test_the_demo_names_five_commands_that_do_the_same():
    assert [line.split()[1] for line in OWN] == ["index", "retrieve", "pool", "assess", "report"]
    for line in OWN:
        arguments = shlex.split(line, comments=True)[1:]
        command = main.get_command(None, arguments[0])
        command.make_parser(click.Context(command)).parse_args(arguments[1:])


def test_a_query_of_words_only_nobody_wrote_says_so(folder):
    run(["index", "articles", "-o", "my.idx"])
    result = CliRunner().invoke(main, ["search", "my.idx", "zyxwv"])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "nothing found\n")


def test_search_prints_objects_for_other_programs(folder):
    run(["index", "articles", "-o", "my.idx", "--words"])
    [line] = run(["search", "my.idx", "spring tide", "--json", "--results", "1"]).splitlines()
    assert {"document", "path", "start", "end", "score", "snippet", "marks"} == json.loads(line).keys()


def test_documents_can_be_written_as_a_trec_run(folder):
    run(["retrieve", "articles", "topics.tsv", "-o", "run.txt", "--unit", "document", "--to", "trec-run"])
    first = Path("run.txt").read_text(encoding="utf-8").splitlines()[0].split()
    assert (len(first), first[1], first[3], first[5]) == (6, "Q0", "1", "bm25-document-thorough")
    run(["validate", "run.txt", "--task", "thorough", "--docs", "articles"])
