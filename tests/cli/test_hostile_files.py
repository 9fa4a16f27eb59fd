"""Files that were made to mislead or to exhaust: one line that says what is wrong, and no score of them."""

import gzip
import os
import shlex
import subprocess
import sys
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.example import ROOT

LONG, LARGE = "9" * 5000, "9" * 25
SQUAD = '{"data":[{"title":"t","paragraphs":[{"context":"a b","qas":[{"id":"1","question":"q","answers":[%s]}]}]}]}'
KILT = '{"id":"1","input":"q","output":[{"provenance":[{"wikipedia_id":"1","start_paragraph_id":0,"start_character":0,'
LEGAL = '{"tests":[{"query":"q","snippets":[{"file_path":"a","span":[0,%s]}]}]}'
CHROMA = 'question,references,corpus_id\nq,"[{""content"":""a"",""start_index"":0,""end_index"":%s}]",a\n'
ROWS = '{"question_id":%s,"question":"w","document_id":"a","start_index":1,"end_index":%s}\n'
XML = "<?xml version='1.0' encoding='%s'?>"


@pytest.fixture
def said(tmp_path, monkeypatch):
    """Give a function that runs a line, which must end with one line on the standard error and nothing else."""
    monkeypatch.chdir(tmp_path)

    def run(line):
        result = CliRunner().invoke(main, shlex.split(line))
        assert (result.exit_code, result.stderr.count("\n"), result.stdout) == (1, 1, ""), (line, result.output)
        assert len(result.stderr) < 1500
        return result.stderr

    return run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("question_id,question,document_id,start_index,end_index\nq,w,a,,180\n", "gold:2: expected a start beside the"),
        (
            "question_id,question,document_id,start_index,end_index\nq,w,a,-1,20\n",
            "gold:2: expected a start beside the",
        ),
        (
            "question_id,question,document_id,start_index,end_index\n,w,a,1,20\n",
            "gold:2: expected a topic as 'question",
        ),
        ("Q0 105 d1 1\n", "gold:1: expected a topic before the constant Q0"),
        ("105 0 d1 1\n\nQ0 105 d2 1\n", "gold:3: expected a topic before the constant Q0"),
        ("Q0 105 d1 0 300\n", "gold:1: expected a topic before the constant Q0"),
    ],
    ids=lambda value: str(len(value)),
)
def test_a_gold_whose_columns_are_not_what_they_seem_is_refused(said, tmp_path, text, expected):
    (tmp_path / "gold").write_text(text)
    (tmp_path / "run").write_text("105 Q0 d1 1 2.0 run\n")
    assert said("score gold run -m AP").startswith(expected)


@pytest.mark.parametrize("text", ["Q0 105 d1 1 2.0 run\n", "1 Q0 d1 1 2 r 0 9\nQ0 105 d1 1 2.0 r 0 100\n"])
def test_a_run_with_swapped_columns_is_refused(said, tmp_path, text):
    (tmp_path / "run").write_text(text)
    assert "expected a topic before the constant Q0" in said("stats run")


def test_a_topic_may_be_called_q0(tmp_path):
    (tmp_path / "run").write_text("Q0 Q0 d1 1 2.0 run\nQ1 Q0 d1 1 2.0 run\n")
    assert CliRunner().invoke(main, ["stats", str(tmp_path / "run")]).exit_code == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *((number, LEGAL % number) for number in (LONG, LARGE)),
        *((number, ROWS % ('"q"', number)) for number in (LONG, LARGE)),
        ("id", ROWS % (LONG, 3)),
        *((number, SQUAD % f'{{"text":"a","answer_start":{number}}}') for number in (LONG, LARGE)),
        ("kilt", KILT + f'"end_paragraph_id":0,"end_character":{LONG}}}]}}]}}\n'),
        ("chroma", CHROMA % LONG),
        ("beir", f"query-id\tcorpus-id\tscore\nq1\td1\t{LONG}\n"),
        ("jsonl", f'{{"topic":"q1","doc":"a","spans":[{{"start":1,"end":{LONG}}}]}}\n'),
        ("inex", f"1 Q0 d1 {LONG} 500 1 1:20\n"),
        ("surrogate", SQUAD % r'{"text":"a\ud800","answer_start":0}'),
    ],
    ids=lambda value: str(len(value)),
)  # fmt: skip
def test_numbers_without_measure_and_half_characters_are_refused(said, tmp_path, name, text):
    (tmp_path / "gold").write_text(text)
    assert "gold:" in said("stats gold")


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "rot13"])
def test_an_encoding_that_holds_no_text_is_refused(said, tmp_path, encoding):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.xml").write_text(f"{XML % encoding}<article>x</article>")
    (tmp_path / "topics.xml").write_text(f"{XML % encoding}<topic id='1'><title>x</title></topic>")
    assert "a.xml:1: " in said("index docs -o docs.idx")
    assert "topics.xml:1: " in said("topics topics.xml")


def test_a_small_file_that_holds_a_large_one_is_refused_before_it_fills_the_memory(said, tmp_path):
    with gzip.open(tmp_path / "bomb.gz", "wb", 1) as file:
        for _ in range(65):
            file.write(b" " * (1 << 20))
    for line in ("stats bomb.gz", "topics bomb.gz", f"quotes bomb.gz --docs {ROOT / 'articles'}"):
        assert said(line).startswith("bomb.gz: expected at most 64 MB when it is unpacked, found more"), line
    with gzip.open(tmp_path / "docs.jsonl.gz", "wb", 1) as file:
        file.write(b"[")
        for _ in range(65):
            file.write(b"\n" * (1 << 20))
    assert "docs.jsonl.gz: expected at most 64 MB when it is unpacked" in said("index docs.jsonl.gz -o docs.idx")


def test_a_table_that_repeats_one_value_is_refused_before_it_fills_the_memory(said, tmp_path, monkeypatch):
    monkeypatch.setattr("focuseval.formats.sheets._MOST", 1 << 20)
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 500, pa.int32()), pa.array(["x" * 10_000]))
    names = {"question": ["q"] * 500, "doc": ["d"] * 500}
    pq.write_table(pa.table({**names, "text": long}), tmp_path / "repeated.parquet")
    pq.write_table(pa.table({**names, "text": ["x" * 4_000] * 499 + ["x" * 2_000_000]}), tmp_path / "long.parquet")
    assert "found: rows of more than 1 MB; save it again" in said("stats repeated.parquet")
    assert "found: more than 1 MB in a column; save it again" in said("stats long.parquet")


@pytest.mark.parametrize("row", [10**12, "9" * 5000])
def test_a_workbook_of_endless_rows_is_refused(said, tmp_path, row):
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cells = '<c r="A1" t="inlineStr"><is><t>topic</t></is></c>'
    rows = f'<row r="1">{cells}</row><row r="{row}">{cells}</row>'
    with zipfile.ZipFile(tmp_path / "rows.xlsx", "w") as book:
        book.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'
        )
    assert f"found: row {str(row)[:9]}; save it again" in said("stats rows.xlsx")


def test_a_line_without_end_is_refused_before_it_is_cut(said, tmp_path, monkeypatch):
    (tmp_path / "run").write_bytes(b"1 Q0 d 1 2 r\n" + b"a " * (1 << 24))
    assert said("validate run --run-format trec --task focused").startswith(
        "run:2: expected lines, found 16 MB without"
    )
    monkeypatch.setattr("focuseval.collection.document_files.MAX_BYTES", 1000)
    (tmp_path / "docs.jsonl").write_text('{"id": "a", "text": "b"}\n' + " " * 2000)
    assert "expected lines of less than 0 MB" in said("index docs.jsonl -o docs.idx")


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="names of files are Unicode there")
def test_a_name_that_is_not_utf_8_is_spelt_out(tmp_path):
    run = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl")
    with open(run, "wb") as file:  # noqa: PTH123  a Path would do as well
        file.write(b'{"topic": "101", "doc": "water/tide", "rank": 1, "score": 1, "start": 0, "end": 50}\n')
    gold, docs = str(ROOT / "gold" / "gold.jsonl"), ["--docs", str(ROOT / "articles")]
    for line in (
        ["score", gold, run, *docs],
        ["compare", gold, run, *docs],
        ["report", gold, run, *docs],
        ["pool", run],
    ):
        result = CliRunner().invoke(main, [*line, "-o", str(tmp_path / "output.html")])
        assert result.exit_code == 0, result.output
        assert "\\xe9" in (tmp_path / "output.html").read_text(encoding="utf-8")


def test_a_closed_standard_input_is_one_line():
    command = f"exec 0<&-; exec {shlex.quote(sys.executable)} -m focuseval stats -"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (1, 1, ""), done.stderr


def test_a_table_in_a_file_named_as_a_page_is_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold").write_text("1 0 d1 1\n1 0 d2 0\n")
    (tmp_path / "one").write_text("1 Q0 d1 1 2 <script>alert(1)</script>\n")
    (tmp_path / "two").write_text("1 Q0 d2 1 2 <b>\n")
    for command in ("score", "compare"):
        assert CliRunner().invoke(main, [command, "gold", "one", "two", "-m", "AP", "-o", "x.html"]).exit_code == 0
        page = (tmp_path / "x.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        (tmp_path / "x.html").unlink()
        refused = CliRunner().invoke(
            main, [command, "gold", "one", "two", "-m", "AP", "--format", "csv", "-o", "x.html"]
        )
        assert (refused.exit_code, (tmp_path / "x.html").exists()) == (2, False)


def test_a_gold_without_anything_relevant_scores_nothing_and_is_not_reported(said, tmp_path):
    (tmp_path / "gold").write_text("1 0 d1 0\n2 0 d1 0\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 2.0 run\n")
    result = CliRunner().invoke(main, ["score", "gold", "run", "-m", "AP", "--format", "csv"])
    assert (result.exit_code, result.stdout.split("\n")[1][:11]) == (0, "run,nan,0,0"), result.output
    assert "nothing to report" in said("report gold run -m AP -o x.html")
    (tmp_path / "spans").write_text('{"topic": "1", "doc": "d1", "length": 5, "spans": []}\n')
    (tmp_path / "passages").write_text('{"topic": "1", "doc": "d1", "rank": 1, "start": 0, "end": 3}\n')
    assert CliRunner().invoke(main, ["score", "spans", "passages"]).exit_code == 0


def test_half_a_character_in_a_score_file_is_drawn_as_a_question_mark(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold").write_text("1 0 d1 1\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 2.0 named\n")
    (tmp_path / "files").mkdir()
    scores = CliRunner().invoke(main, ["score", "gold", "run", "-m", "AP", "--per-topic", "--format", "json"]).stdout
    (tmp_path / "files" / "a.json").write_text(scores.replace('"named"', r'"\ud800"'))
    result = CliRunner().invoke(main, ["history", "files", "-o", "x.html"])
    assert result.exit_code == 0, result.output
    assert "?" in (tmp_path / "x.html").read_text(encoding="utf-8")
