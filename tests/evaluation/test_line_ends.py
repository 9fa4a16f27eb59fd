"""Texts whose characters tools count in two ways: CRLF line ends and byte-order marks are remarked upon."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "rag-in-five-minutes.md"
TEXT = "First line.\r\nThe second line answers.\r\n"
START = TEXT.index("second")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    return tmp_path


def write(text, *, gold, run):
    Path("docs/a.txt").write_bytes(text)
    Path("gold.jsonl").write_text(json.dumps({"topic": "1", "doc": "a", "spans": [gold]}) + "\n")
    Path("run.jsonl").write_text(json.dumps({"topic": "1", "doc": "a", "rank": 1, **run}) + "\n")


def remarks(*more):
    done = CliRunner().invoke(main, ["score", "gold.jsonl", "run.jsonl", "--docs", "docs", "-m", "spanR@1", *more])
    assert done.exit_code == 0, done.output
    return [line for line in done.stderr.splitlines() if "offsets without quotes" in line]


BARE, QUOTED = {"start": START, "end": START + 6}, {"start": START, "end": START + 6, "quote": "second"}
TEXTS = {"crlf": TEXT.encode(), "bom": "\ufeffFirst line.\nThe second line answers.\n".encode()}


@pytest.mark.parametrize(("kind", "said"), [("crlf", "CRLF line ends"), ("bom", "a byte-order mark")])
def test_offsets_alone_in_such_a_document_are_remarked_upon_in_gold_and_run(folder, kind, said):
    write(TEXTS[kind], gold=BARE, run=BARE)
    found = remarks()
    assert [line.partition(":")[0] for line in found] == ["gold.jsonl", "run.jsonl"]
    assert all(said in line and "first 'a'" in line and "a CRLF counts as two characters" in line for line in found)


@pytest.mark.parametrize("kind", TEXTS)
def test_a_quote_or_a_text_says_where_it_is(folder, kind):
    write(TEXTS[kind], gold=QUOTED, run={"text": "second line"})
    assert remarks() == []


def test_ordinary_text_xml_and_json_lines_are_silent(folder):
    write(b"First line.\nThe second line answers.\n", gold=BARE, run=BARE)
    assert remarks() == []
    Path("docs/a.txt").rename("docs/a.xml")
    Path("docs/a.xml").write_bytes(b"<p>First line.\r\nThe second line answers.\r\n</p>")
    assert remarks() == []
    scores = fe.evaluate("gold.jsonl", "run.jsonl", ["spanR@1"], docs={"a": TEXT})
    assert not any("offsets without quotes" in remark for remark in scores.remarks())


def test_the_index_on_disk_remarks_as_the_folder_does(folder):
    write(TEXTS["bom"], gold=BARE, run=BARE)
    assert CliRunner().invoke(main, ["index", "docs", "-o", "idx"]).exit_code == 0
    done = CliRunner().invoke(main, ["score", "gold.jsonl", "run.jsonl", "--index", "idx", "-m", "spanR@1"])
    assert done.stderr.count("a byte-order mark as none") == 2


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_both_ways_of_the_five_minute_page_to_give_documents_give_the_same_numbers(folder, end, mark):
    write((mark + TEXT.replace("\r\n", end)).encode(), gold={"start": 3, "end": 25}, run={"text": "second line"})
    line = re.search(r"^docs = (\{.*?\})", PAGE.read_text(), re.MULTILINE)[1]
    mapping = eval(line, {"Path": Path})
    measures = ["spanR@1", "IoU@1", "spanP@1"]
    one, other = (fe.evaluate("gold.jsonl", "run.jsonl", measures, docs=docs) for docs in (mapping, "docs/"))
    assert one.values.tolist() == other.values.tolist()
