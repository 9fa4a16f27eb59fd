"""``--repairs FILE``: every span that is not where it was said to be, as CSV or JSON lines."""

import csv
import json

import pytest
from click.testing import CliRunner

from focuseval.cli import main

TEXT = "Boil water. Stir well. Add the leaves. Stir well. Serve."
GOLD = [
    {"topic": "q1", "doc": "tea", "spans": [{"start": 1, "end": 12, "quote": "Boil water."}]},
    {"topic": "q2", "doc": "tea", "spans": [{"start": 50, "end": 56, "quote": "Serve."}]},
]
RUN = [
    {"topic": "q1", "doc": "tea", "text": "Boil  water."},
    {"topic": "q1", "doc": "tea", "text": "Stir well."},
    {"topic": "q2", "doc": "tea", "text": "Serve."},
]
ROWS = [
    ("gold.jsonl", 1, "q1", "exact", 1, 0, -1),
    ("run.jsonl", 1, "q1", "normalised", -1, 0, 0),
    ("run.jsonl", 2, "q1", "ambiguous", -1, -1, 0),
]


@pytest.fixture
def files(tmp_path):
    for name, records in (("gold.jsonl", GOLD), ("run.jsonl", RUN), ("docs.jsonl", [{"id": "tea", "text": TEXT}])):
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


def call(files, command, target, *options):
    given = [str(files / "gold.jsonl"), str(files / "run.jsonl"), "--docs", str(files / "docs.jsonl"), "-m", "spanR"]
    done = CliRunner().invoke(main, [command, *given, "--repairs", str(target), *options])
    assert done.exit_code == 0, done.output
    return done


def found(rows):
    names = ("file", "line", "topic", "how", "claimed_start", "start", "shift")
    return [
        (
            row["file"].rsplit("/")[-1],
            int(row["line"]),
            row["topic"],
            row["how"],
            *(int(row[name]) for name in names[4:]),
        )
        for row in rows
    ]


def test_score_lists_every_change_as_csv(files):
    done = call(files, "score", files / "repairs.csv")
    with (files / "repairs.csv").open(newline="", encoding="utf-8") as lines:
        assert found(csv.DictReader(lines)) == ROWS
    assert "2 spans: 1 exact, 1 repaired (−1: 1), 0 ambiguous, 0 lost" in done.stderr
    assert "3 results: 1 exact, 1 normalised, 1 ambiguous, 0 lost" in done.stderr


def test_score_lists_every_change_as_json_lines(files):
    call(files, "score", files / "repairs.jsonl")
    rows = [json.loads(line) for line in (files / "repairs.jsonl").read_text().splitlines()]
    assert found(rows) == ROWS
    assert rows[2]["reason"] == "the text occurs 2 times and was left out; give its offset"


def test_gate_compare_and_report_list_the_same(files):
    call(files, "score", files / "first.csv", "--per-topic", "--format", "json", "-o", str(files / "base.json"))
    call(files, "gate", files / "second.csv", "--baseline", str(files / "base.json"), "--min-effect", "0.1")
    call(files, "compare", files / "third.csv")
    done = call(files, "report", files / "fourth.csv", "-o", str(files / "report.html"))
    assert len({(files / f"{name}.csv").read_bytes() for name in ("first", "second", "third", "fourth")}) == 1
    assert "3 results: 1 exact, 1 normalised, 1 ambiguous, 0 lost" in done.stderr


@pytest.mark.parametrize(("name", "number"), [("gold.jsonl", 1), ("run.jsonl", 2)])
def test_convert_lists_those_of_its_file(files, name, number):
    given = [str(files / name), str(files / f"new.{name}"), "--docs", str(files / "docs.jsonl")]
    done = CliRunner().invoke(main, ["convert", *given, "--repairs", str(files / "repairs.csv")])
    assert done.exit_code == 0, done.output
    with (files / "repairs.csv").open(newline="", encoding="utf-8") as lines:
        assert found(csv.DictReader(lines)) == [row for row in ROWS if row[0] == name]
    assert len([row for row in ROWS if row[0] == name]) == number


def test_converting_texts_to_offsets_says_how_they_were_found(files):
    (files / "run.jsonl").write_text(json.dumps(RUN[0]) + "\n" + json.dumps(RUN[2]) + "\n")
    given = [str(files / "run.jsonl"), str(files / "run.fol"), "--docs", str(files / "docs.jsonl")]
    done = CliRunner().invoke(main, ["convert", *given])
    assert "run.jsonl: 2 results: 1 exact, 1 normalised, 0 ambiguous, 0 lost" in done.stderr


def test_a_run_without_documents_has_nothing_to_be_compared_with(files):
    given = [str(files / "run.jsonl"), str(files / "new.jsonl"), "--repairs", str(files / "repairs.csv")]
    done = CliRunner().invoke(main, ["convert", *given])
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "--repairs compares texts with the documents; give them with --docs" in done.stderr


def test_the_repairs_of_standard_input_are_listed_too(files):
    given = [str(files / "gold.jsonl"), "-", "--docs", str(files / "docs.jsonl"), "-m", "spanR"]
    text = (files / "run.jsonl").read_text()
    done = CliRunner().invoke(main, ["score", *given, "--repairs", str(files / "repairs.csv")], input=text)
    assert done.exit_code == 0
    assert "<stdin>" in (files / "repairs.csv").read_text()


def test_nothing_to_repair_is_an_empty_table(files):
    (files / "gold.jsonl").write_text(json.dumps(GOLD[1]) + "\n")
    (files / "run.jsonl").write_text(json.dumps(RUN[2]) + "\n")
    call(files, "score", files / "repairs.csv")
    assert (files / "repairs.csv").read_text().count("\n") == 1
