"""Runs, golds and scores for other programs: tables, frames, folders of BEIR, rows of RAGAS, and JSON Schemas."""

import csv
import io
import json
from dataclasses import replace

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.cli import main
from focuseval.cli.formats import SCHEMAS, schema
from focuseval.errors import FocusevalError
from focuseval.example import ROOT
from focuseval.formats.convert import write_gold, write_run
from focuseval.formats.embedded import open_documents
from focuseval.formats.frames import gold_from_frame, run_from_frame

DOCS = {
    "tea.md": "Boil fresh water. Warm the pot.\nBlack tea draws for four minutes. Serve hot.",
    "coffee.md": "Grind the beans. Use sixty grams for a litre. Serve hot.",
}
DRAWS, GRAMS = "Black tea draws for four minutes.", "Use sixty grams for a litre."
GOLD = [
    {"topic": "1", "query": "How long?", "doc": "tea.md", "start": 32, "end": 65, "quote": DRAWS, "need": "time"},
    {"topic": "1", "query": "How long?", "doc": "coffee.md", "tags": ["a", "b"]},
    {
        "topic": "2",
        "query": "Wie viel für ø?",
        "doc": "coffee.md",
        "start": 17,
        "end": 45,
        "quote": GRAMS,
        "group": "g",
    },
]
RUN = [
    {"topic": "1", "doc": "coffee.md", "rank": 1, "score": 0.5, "start": 17, "end": 45},
    {"topic": "1", "doc": "tea.md", "rank": 2, "score": -0.25, "start": 32, "end": 65},
    {"topic": "2", "doc": "coffee.md", "rank": 1, "score": 0.5, "start": 17, "end": 45},
]
MEASURES = ["spanRR", "nDCG@10", "needR"]


@pytest.fixture
def index():
    return open_documents(DOCS)


@pytest.fixture
def gold():
    return gold_from_frame(GOLD)


@pytest.fixture
def run():
    return run_from_frame(RUN, run_id="mine")


def means(gold, run):
    (found,) = fe.evaluate(gold, run, MEASURES, docs=DOCS).means().values()
    return found


@pytest.mark.parametrize("name", ["parquet", "csv"])
def test_tables_of_golds_and_runs_are_read_back_as_they_were(tmp_path, gold, run, name):
    files = [tmp_path / f"{kind}.{name}" for kind in ("gold", "run")]
    assert write_gold(gold, files[0], name) == ()
    assert write_run(run, files[1], name) == ()
    again, ran = fe.read_gold(files[0]), fe.read_run(files[1])
    assert again.to_arrow().to_pylist() == gold.to_arrow().to_pylist()
    assert (again.queries, again.attributes) == (gold.queries, gold.attributes)
    assert ran.to_arrow().to_pylist() == run.to_arrow().to_pylist()
    assert means(files[0], files[1]) == means(GOLD, RUN)


def test_csv_is_opened_as_utf_8_by_excel_and_by_programs(tmp_path, gold):
    write_gold(gold, tmp_path / "gold.csv", "csv")
    raw = (tmp_path / "gold.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbftopic,query,doc,start,end,quote,need,tags,group\n")
    rows = list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))))
    assert [row["query"] for row in rows] == ["How long?", "How long?", "Wie viel für ø?"]


def test_what_is_a_table_goes_to_any_frame_library(gold, run):
    scores = fe.evaluate(GOLD, RUN, ["spanRR"], docs=DOCS)
    for value in (
        gold,
        run,
        scores,
        fe.evaluate(GOLD, {"a": RUN, "b": RUN[1:]}, ["spanRR"], docs=DOCS).compare("spanRR"),
    ):
        assert str(pa.table(value).to_pylist()) == str(value.to_arrow().to_pylist())
    pytest.importorskip("pandas")
    assert run.to_pandas()["doc"].tolist() == ["coffee.md", "tea.md", "coffee.md"]
    assert fe.evaluate(gold.to_pandas(), run.to_pandas(), ["spanRR"], docs=DOCS).means()["run"] == {"spanRR": 0.75}
    pytest.importorskip("polars")
    assert scores.to_polars()["value"].to_list() == [0.5, 1.0]
    assert fe.evaluate(gold.to_polars(), run.to_polars(), ["spanRR"], docs=DOCS).means()["run"] == {"spanRR": 0.75}


def test_a_frame_library_that_is_not_there_is_named(monkeypatch, run):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(
        FocusevalError, match="a data frame needs polars, which is not installed; run 'pip install polars'"
    ):
        run.to_polars()


def test_a_gold_becomes_a_folder_of_beir_that_scores_the_same(tmp_path, gold, run, index):
    target = tmp_path / "beir"
    with pytest.raises(FocusevalError, match="beir cannot express 2 highlighted spans"):
        write_gold(gold, target, "beir", index)
    remarks = write_gold(gold, target, "beir", index, lossy=True)
    assert "2 highlighted spans" in str(remarks[0])
    assert (
        target / "qrels/test.tsv"
    ).read_text() == "query-id\tcorpus-id\tscore\n1\ttea.md\t1\n1\tcoffee.md\t0\n2\tcoffee.md\t1\n"
    again = fe.read_gold(target)
    assert again.queries == gold.queries
    assert open_documents(target).text(0) in DOCS.values()
    assert (
        fe.evaluate(target, run, ["nDCG@10"], docs=target).means()
        == fe.evaluate(gold, run, ["nDCG@10"], docs=DOCS).means()
    )
    with pytest.raises(FocusevalError, match="a corpus is written of the documents; give docs="):
        write_gold(again, tmp_path / "other", "beir")
    assert not (tmp_path / "other").exists()


def test_rows_for_ragas_hold_the_texts_and_are_found_again(tmp_path, gold, run, index):
    write_gold(gold, tmp_path / "gold.jsonl", "ragas", index)
    write_run(run, tmp_path / "run.jsonl", "ragas", index)
    rows = [
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("gold.jsonl", "run.jsonl")
    ]
    assert rows[0][0] == {"query_id": "1", "user_input": "How long?", "reference_contexts": [DRAWS]}
    assert rows[1][0] == {"query_id": "1", "user_input": "1", "retrieved_contexts": [GRAMS, DRAWS]}
    (found,) = fe.evaluate(tmp_path / "gold.jsonl", tmp_path / "run.jsonl", ["spanRR"], docs=DOCS).means().values()
    assert found == {"spanRR": 0.75}
    with pytest.raises(FocusevalError, match="need the documents' text; give docs="):
        write_run(run, tmp_path / "run.jsonl", "ragas")


def test_a_gold_becomes_squad_and_back(tmp_path, gold, index):
    write_gold(gold, tmp_path / "squad.json", "squad", index)
    again = fe.read_gold(tmp_path / "squad.json")
    assert again.passages.start.tolist() == [32, 17]


def shell(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    for name, text in DOCS.items():
        (tmp_path / "docs" / name).write_text(text)
    write_gold(gold_from_frame(GOLD), tmp_path / "gold.jsonl", "jsonl")
    write_run(run_from_frame(RUN, run_id="mine"), tmp_path / "run.jsonl", "jsonl")
    return tmp_path


def test_the_ending_of_a_file_chooses_parquet_or_csv(folder):
    score = ("score", folder / "gold.jsonl", folder / "run.jsonl", "-m", "spanRR", "-o")
    for name in ("scores.parquet", "scores.csv"):
        assert shell(*score, folder / name).exit_code == 0
    assert pq.read_table(folder / "scores.parquet").to_pydict() == {
        "run": ["mine"] * 2, "topic": ["1", "2"], "measure": ["spanRR"] * 2, "value": [0.5, 1.0],
    }  # fmt: skip
    (row,) = csv.DictReader(io.StringIO((folder / "scores.csv").read_bytes().decode("utf-8-sig")))
    assert (row["run"], float(row["spanRR"])) == ("mine", 0.75)
    for source, target in (("run.jsonl", "run.parquet"), ("gold.jsonl", "gold.parquet"), ("run.jsonl", "run.csv")):
        done = shell("convert", folder / source, folder / target)
        assert done.exit_code == 0, done.output
    done = shell(
        "convert", folder / "gold.jsonl", folder / "beir", "--to", "beir", "--docs", folder / "docs", "--lossy"
    )
    assert done.exit_code == 0, done.output
    assert shell("sweep", folder / "beir", "--docs", folder / "beir", "--chunks", "words:5").exit_code == 0


def test_files_that_we_write_are_valid_under_the_schemas(folder):
    shell("score", folder / "gold.jsonl", folder / "run.jsonl", "-m", "spanRR", "-m", "needR", "--per-topic", "--json",
          "-o", folder / "scores.json")  # fmt: skip
    shell("pool", folder / "run.jsonl", "-o", folder / "pool.jsonl", "--docs", folder / "docs")
    (folder / "topics.tsv").write_text("1\tHow long?\n2\tHow much?\n")
    done = shell("assess", folder / "project", "--docs", folder / "docs", "--topics", folder / "topics.tsv",
                 "--pool", folder / "pool.jsonl", "--no-serve")  # fmt: skip
    assert done.exit_code == 0, done.output
    whole = {"scores": folder / "scores.json", "project": folder / "project/project.json"}
    lines = {"gold-jsonl": folder / "gold.jsonl", "run-jsonl": folder / "run.jsonl", "pool": folder / "pool.jsonl"}
    assert whole.keys() | lines.keys() == SCHEMAS.keys()
    for name, path in (whole | lines).items():
        text = path.read_text()
        checker = jsonschema.Draft202012Validator(json.loads(shell("formats", name, "--schema").stdout))
        checker.check_schema(checker.schema)
        for value in [json.loads(text)] if name in whole else map(json.loads, text.splitlines()):
            checker.validate(value)
            for key in [key for key in value if key in {"topic", "runs", "collection", "signature"}]:
                with pytest.raises(jsonschema.ValidationError):
                    checker.validate({k: v for k, v in value.items() if k != key} | {key: np.pi})


@pytest.mark.parametrize(
    ("line", "valid"),
    [
        ({"topic": "q", "answerable": False}, True),
        ({"topic": "q", "doc": "a", "spans": None}, True),
        ({"topic": "q", "doc": "a", "spans": [], "author": "me"}, True),
        ({"topic": "q"}, False),
        ({"doc": "a", "spans": []}, False),
        ({"topic": "q", "doc": "a", "spans": [{"start": "1"}]}, False),
    ],
)
def test_the_schema_of_a_gold_accepts_what_the_reader_accepts(tmp_path, line, valid):
    path = tmp_path / "gold.jsonl"
    path.write_text(f"{json.dumps(line)}\n")
    assert jsonschema.Draft202012Validator(schema("gold-jsonl")).is_valid(line) is valid
    if valid:
        fe.read_gold(path, "gold-jsonl")
    else:
        with pytest.raises(FocusevalError):
            fe.read_gold(path, "gold-jsonl")


def test_a_name_without_a_schema_is_refused_with_those_that_have_one():
    done = shell("formats", "trec-run", "--schema")
    assert (
        done.exit_code,
        "expected one of gold-jsonl, run-jsonl, scores, pool, project for --schema" in done.stderr,
    ) == (2, True)


def test_a_trec_run_says_at_its_head_how_it_was_made(tmp_path):
    harbour = ROOT / "harbour"
    run = fe.retrieve(harbour / "docs", harbour / "gold.jsonl", unit="document", run_id='the-"first"-one')
    run = replace(run, path=None, start=None, end=None)
    for layout in ("ir-metadata", "trec-run"):
        write_run(run, tmp_path / layout, layout, lossy=True)
    lines = (tmp_path / "ir-metadata").read_text().splitlines()
    end = lines.index("# ir_metadata.end")
    assert lines[:3] == ["# ir_metadata.start", "# schema version: 0.1", '# tag: "the-\\"first\\"-one"']
    assert lines[end - 1].startswith('#     - name: "BM25 document task=thorough k1=1.2')
    assert lines[end + 1 :] == (tmp_path / "trec-run").read_text().splitlines()
    annotated, plain = (fe.read_run(tmp_path / layout) for layout in ("ir-metadata", "trec-run"))
    assert annotated.document.to_pylist() == plain.document.to_pylist()


def test_lines_behind_the_head_keep_their_numbers(tmp_path):
    (tmp_path / "run").write_text("# ir_metadata.start\n# tag: x\n# ir_metadata.end\n1 Q0 d 1 9 r\n1 Q0 e 2 8\n")
    with pytest.raises(FocusevalError, match=r"run:5: expected 6 columns"):
        fe.read_run(tmp_path / "run")
