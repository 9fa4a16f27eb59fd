"""``focuseval quotes`` on the command line."""

import csv
import io
import json

import pytest

from strategies.projects import command

DOCS = {
    "a.txt": "The tide is the slow rise and fall of the sea.",
    "b.txt": "The Moon pulls on every part of the Earth.",
}
ANSWERS = [
    {"id": "a1", "answer": "It is “the slow rise and fall of the sea” [a].", "sources": ["a"]},
    {"id": "a2", "quotes": [{"quote": "pulls on every part", "doc": "a"}, {"quote": "made by whales", "doc": "a"}]},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name, text in DOCS.items():
        (tmp_path / "docs" / name).write_text(text)
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ANSWERS))
    return tmp_path


def test_the_table_counts_and_lists_every_quotation(folder):
    said = " ".join(command("quotes", "answers.jsonl", "--docs", "docs", "--format", "markdown").split())
    assert "| verbatim | 1 | 33.3% |" in said
    assert "| a1 | verbatim | the slow rise and fall of the sea | a | a 12–45 |" in said
    assert "| a2 | elsewhere | pulls on every part | a | b 9–28 |" in said
    assert "| a2 | nowhere | made by whales | a | – |" in said


def test_a_quotation_is_printed_once_in_eighty_columns(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    long = [{"id": f"answer-{n}", "quotes": [{"quote": DOCS["a.txt"], "doc": "a"}]} for n in range(12)]
    (folder / "long.jsonl").write_text("".join(json.dumps(one) + "\n" for one in long))
    said = command("quotes", "long.jsonl", "--docs", "docs")
    assert said.count("answer-7") == 1
    assert max(map(len, said.splitlines())) <= 80


def test_json_has_places_and_what_the_document_says(folder):
    told = json.loads(command("quotes", "answers.jsonl", "--docs", "docs", "--json"))
    assert told["counts"] == {"verbatim": 1, "altered": 0, "spliced": 0, "elsewhere": 1, "nowhere": 1}
    second = told["quotes"][1]
    assert second["places"] == [["b", 9, 28]]
    assert (second["found"], second["line"], second["cited"]) == ("pulls on every part", 2, ["a"])


def test_csv_is_one_table_of_quotations(folder):
    command("quotes", "answers.jsonl", "--docs", "docs", "--format", "csv", "-o", "out.csv")
    lines = [line for line in (folder / "out.csv").read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert [(row["answer"], row["verdict"], row["start"]) for row in rows] == [
        ("a1", "verbatim", "12"),
        ("a2", "elsewhere", "9"),
        ("a2", "nowhere", ""),
    ]


def test_strict_fails_unless_everything_is_verbatim(folder):
    said = command("quotes", "answers.jsonl", "--docs", "docs", "--strict", code=1)
    assert "answers.jsonl: 2 of 3 quotations are not verbatim" in said
    (folder / "good.jsonl").write_text(json.dumps(ANSWERS[0]))
    command("quotes", "good.jsonl", "--docs", "docs", "--strict")
    (folder / "none.jsonl").write_text(json.dumps({"answer": "It is so."}))
    said = command("quotes", "none.jsonl", "--docs", "docs", "--strict", code=1)
    assert "none.jsonl: expected quotations, found none" in said


def test_sources_are_needed(folder):
    assert "the sources are missing; give them with --docs or --index" in command("quotes", "answers.jsonl", code=2)


def test_an_empty_file_of_answers_is_refused(folder):
    (folder / "answers.jsonl").write_text("")
    said = command("quotes", "answers.jsonl", "--docs", "docs", code=1)
    assert said == "answers.jsonl: expected answers, found an empty file; was it written to the end?\n"
    (folder / "answers.json").write_text("[]")
    assert "answers.json: expected answers, found an empty list" in command(
        "quotes", "answers.json", "--docs", "docs", code=1
    )
