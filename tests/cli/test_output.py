"""No command writes over what it reads, or two outputs into one file; an output that exists is replaced whole."""

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.cli.output import READ, WRITTEN, Command
from strategies.commands import LEAVES

GOLD = '{"topic":"1","doc":"d1","spans":[{"start":0,"end":5}]}\n'
RUN = "1 Q0 d1 1 4 R 0 5\n"
FILES = {
    "gold": GOLD, "run": RUN, "other": RUN, "topics.xml": "<topics/>", "base.json": "{}", "pool.jsonl": "{}",
    "docs/d1.txt": "hello", "docs/sub/d2.md": "more", "scores/a.json": "{}", "idx/documents.arrow": "",
}  # fmt: skip

OVER_AN_INPUT = """
score gold run -o gold
score gold run -o run
score gold run -o ./gold
score gold run --curves run
score gold run --repairs gold --docs docs
score gold run --docs docs -o docs/d1.txt
score gold run --docs docs -o docs/sub/d2.md
score gold run --topics topics.xml -o topics.xml
score gold run --chunks other -o other
score gold run --index idx -o idx/new
compare gold run other -m AP -o other
compare gold run -m AP --repairs gold
report gold run -o gold
report gold run other -o docs/../other
report gold run -o r.html --baseline other --repairs other
report gold run -o r.html --figures docs --docs docs
fidelity gold -o gold
fidelity gold --curves gold
pool run other -o run
retrieve docs topics.xml -o topics.xml
retrieve docs topics.xml -o docs/d1.txt
chunk docs other -o other
chunk docs words:9 -o docs/d1.txt
sweep gold --docs docs --chunks other -o other
sweep gold --docs docs --chunks words:9 words:5 --retriever run other -o other
score gold run -m spanR@9t --tokenizer tokenizers:other -o other
pool run --top-up pool.jsonl -o pool.jsonl
convert run run --to jsonl
convert gold run.jsonl --repairs gold --docs docs
convert docs docs/d1.txt
simulate gold --kind full -o gold
simulate gold --kind full --docs docs -o docs/d1.txt
validate run --task focused --repair run
validate run --task focused --docs docs --repair docs/d1.txt
history scores -o scores/a.json
gate --baseline base.json gold run -m AP --junit base.json
gate --baseline base.json gold run -m AP --markdown gold
gate --baseline base.json gold run -m AP --repairs run
gate --baseline base.json gold run -m AP --anchor base.json --ledger base.json
gate --baseline run gold run -m AP --update
index docs -o docs --force
index docs/sub -o docs --force
score gold run -o hard-link
score gold run -o soft-link
score soft-link run -o gold
pool run -o folder-link/../run
score gold run --docs folder-link -o docs/d1.txt
assess project --import other --export other
project export project project
project agreement project run other -o other
""".strip().splitlines()

TWO_INTO_ONE = """
score gold run -o out --curves out
score gold run -o out --repairs ./out
score gold run --curves - -o -
gate --baseline base.json gold run -m AP --junit out --markdown out
compare gold run -m AP -o out --repairs out
fidelity gold -o out --curves docs/../out
convert gold out --repairs out
report gold run -o out --repairs out
""".strip().splitlines()


def call(line):
    return CliRunner().invoke(main, line.split())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    os.link("gold", "hard-link")
    Path("soft-link").symlink_to("gold")
    Path("folder-link").symlink_to("docs")
    return tmp_path


def contents():
    return {path: path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


@pytest.mark.parametrize("line", OVER_AN_INPUT)
def test_no_output_is_an_input(folder, line):
    before = contents()
    said = call(line)
    assert (said.exit_code, said.stdout) == (2, ""), said.output
    assert "read, and would be written over; give the output another name" in said.stderr
    assert contents() == before


@pytest.mark.parametrize("line", TWO_INTO_ONE)
def test_no_two_outputs_are_one_file(folder, line):
    before = contents()
    said = call(line)
    assert (said.exit_code, said.stdout) == (2, ""), said.output
    assert "would be written twice" in said.stderr
    assert contents() == before


def test_topics_inside_a_project_are_not_lost(folder):
    line = ["assess", "project", "--docs", "docs", "--topics", "project/topics-1.jsonl", "--export", "out"]
    Path("project").mkdir()
    Path("project/topics-1.jsonl").write_text('{"topic": "1", "query": "what"}\n')
    said = CliRunner().invoke(main, line)
    assert said.exit_code == 0
    assert [path.read_text() for path in Path("project").glob("topics*")] == ['{"topic": "1", "query": "what"}\n']


@pytest.mark.parametrize("name", LEAVES)
def test_every_parameter_that_names_a_file_is_checked(name):
    command = LEAVES[name]
    assert isinstance(command, Command)
    no_files = {
        "measures", "measure", "task", "profile", "gold_format", "run_format", "assessor", "wanted", "layout", "kind",
        "among", "add_user", "names", "host", "title", "baseline_run", "name", "drop_tags", "remove_user", "cluster",
        "log_out", "invite", "trusted_proxy", "backup_to", "cache", "language", "unit", "tags", "idf", "cas", "run_id",
        "query", "endpoint", "model", "include", "actor", "quant", "clusters", "refusals", "max_lost",
        "order", "ranking", "pdf", "query_prefix", "passage_prefix", "vector_cache", "embedder", "key", "where",
        "exclude_tags", "sections", "suggest", "creators", "citation", "description", "url", "licence",
    }  # fmt: skip
    named = {
        parameter.name
        for parameter in command.params
        if isinstance(parameter.type, click.types.StringParamType | click.Path)
    }
    assert named <= {*READ, *WRITTEN, *no_files}


def test_new_files_beside_what_is_read_and_devices_are_written(folder):
    for _ in range(2):
        said = call("score gold run -m spanR@5 -o docs/scores.csv --docs docs --format csv")
        assert said.exit_code == 0, said.output
        assert Path("docs/scores.csv").is_file()
    assert call("score gold run -m MAiP -o /dev/null --curves /dev/null").exit_code == 0


def test_an_output_that_is_a_link_is_written_through(folder):
    Path("out").symlink_to("scores/latest.csv")
    assert call("score gold run -m spanR@5 --format csv -o out").exit_code == 0
    assert Path("out").is_symlink()
    assert Path("scores/latest.csv").read_text().startswith("run,")


LOOPS = """
score loop run
score gold loop
score gold run --docs loop
score gold run --index loop
stats loop
score gold run -m spanR@5 -o loop
pool loop -o out
index loop -o idx2
convert loop out.jsonl
topics loop
validate loop --task focused
history loop
report gold loop -o out.html
assess loop
assess p --docs loop
assess p --docs loop --topics loop
project check loop
project import loop run
project users log-out loop ann
demo loop
inex-eval -f loop run
simulate loop --kind full -o out
fidelity loop
index docs -o loop
""".strip().splitlines()


@pytest.mark.parametrize("line", LOOPS)
def test_a_link_to_itself_is_one_line(folder, line):
    Path("loop").symlink_to("loop")
    said = call(line)
    assert (said.exit_code, said.stderr.count("\n")) == (1, 1), said.output
    assert isinstance(said.exception, SystemExit)
