"""The page from a folder to a report: its commands work as they stand, in their order."""

import json
import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.demo import OWN
from focuseval.example import ROOT
from focuseval.topics import read_topics

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "first-run.md"


def commands():
    blocks = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [shlex.split(line.removeprefix("$ focuseval ")) for block in blocks for line in block.splitlines()]


def run(arguments):
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, (arguments, result.output)
    return result.output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "articles", "articles")
    lines = [f"{topic.id}\t{topic.title}\n" for topic in read_topics(ROOT / "topics.xml")]
    Path("topics.tsv").write_text("".join(lines), encoding="utf-8")
    judged = [json.loads(line) for line in (ROOT / "gold" / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps({key: row[key] for key in ("topic", "doc", "spans")} | {"assessor": "gold"}) for row in judged]
    Path("judged.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_the_commands_of_the_page_work_in_their_order(folder):
    for arguments in commands():
        if arguments[0] == "assess":  # in place of the browser: judgements that were made elsewhere
            run([*arguments, "--import", "judged.jsonl"])
        elif "judging" in arguments:
            run([*arguments, "--assessor", "gold"])
        else:
            run(arguments)
    assert Path("report.html").stat().st_size > 4000


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
