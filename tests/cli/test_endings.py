"""How a command ends: Ctrl-C, a closed or full standard output, usage that is wrong."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import COMMANDS, main

GOLD = "1 0 d1 1\n2 0 d1 1\n"
RUN = "1 Q0 d1 1 4 R\n2 Q0 d1 1 4 R\n"


def call(line):
    return CliRunner().invoke(main, line.split())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run").write_text(RUN)
    Path("qrels").write_text(GOLD)
    Path("docs").mkdir()
    Path("docs/d1.txt").write_text("one two three")
    Path("spans.jsonl").write_text('{"topic":"1","doc":"d1","spans":[{"start":0,"end":3}]}\n')
    return tmp_path


def shell(line, **more):
    env = os.environ | {"F": f"{sys.executable} -m focuseval"}
    return subprocess.run(["/bin/sh", "-c", line], env=env, capture_output=True, text=True, check=False, **more)


@pytest.mark.parametrize("line", ["--help", "score --help", "--version", "measures", "score qrels run -m AP"])
def test_a_closed_standard_output_is_one_line_and_exit_1(folder, line):
    said = shell(f"$F {line} >&-")
    assert (said.returncode, said.stderr) == (1, "standard output: Bad file descriptor\n")


def test_who_prints_nothing_does_not_notice_a_closed_output(folder):
    said = shell("$F convert run out.jsonl >&-")
    assert said.returncode == 0, said.stderr
    assert Path("out.jsonl").read_text().count("\n") == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device that is always full")
@pytest.mark.parametrize("line", ["--help", "score --help", "--version"])
def test_help_on_a_full_disk_is_one_line(folder, line):
    said = shell(f"$F {line} > /dev/full")
    assert (said.returncode, said.stderr) == (1, "standard output: No space left on device; make room\n")


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc whether the command waits for its input")
@pytest.mark.parametrize(("line", "code"), [("pool - -o out", 130), ("convert - out.jsonl", 130)])
def test_ctrl_c_is_one_line_and_130(folder, line, code):
    at_work = subprocess.Popen(
        [sys.executable, "-m", "focuseval", *line.split()], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while "pipe" not in str(Path(f"/proc/{at_work.pid}/wchan").read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    at_work.send_signal(signal.SIGINT)
    assert (at_work.wait(60), at_work.stderr.read()) == (code, "interrupted\n")
    at_work.stdin.close()
    at_work.stderr.close()


@pytest.mark.parametrize(("name", "code"), [("score", 130), ("gate", 2), ("stats", 130)])
def test_ctrl_c_within_a_command(folder, monkeypatch, name, code):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(main.get_command(None, name), "callback", interrupted)
    arguments = {"score": "qrels run", "gate": "qrels run -m AP --baseline b", "stats": "run"}[name].split()
    said = CliRunner().invoke(main, [name, *arguments])
    verdict = "NO VERDICT " if name == "gate" else ""
    assert (said.exit_code, said.stderr) == (code, f"{verdict}interrupted\n")


USAGE = """
score qrels run -m APP
score qrels run -m P@x
score qrels run -m P
score qrels run -m AP(k=1)
score qrels run --profile inex1999
score qrels run --task asleep
score qrels run --run-format nosuch
score qrels run --gold-format nosuch
score qrels run --cutoff 0
score qrels run --jobs 0
score qrels run --compat trec
score qrels run --format xls
score qrels run --profile inex2007 --task thorough
score qrels run --gold-format trec-run
compare qrels run run -m APP
report qrels run -m APP -o x.html
report qrels run --profile nosuch -o x.html
report qrels run --text-limit nan -o x.html
gate --baseline qrels qrels run -m APP
fidelity spans.jsonl --docs docs -m APP
simulate spans.jsonl --docs docs --kind nosuch -o out
simulate spans.jsonl --docs docs --kind full -o out --to nosuch
simulate spans.jsonl --docs docs --kind full -o out --task nosuch
simulate spans.jsonl --kind degraded -o out --noise nan
simulate spans.jsonl --kind degraded -o out --noise 2
simulate spans.jsonl --kind degraded -o out --depth inf
simulate spans.jsonl --kind degraded -o out --size-bias nan
simulate spans.jsonl --kind random -o out --seed -1
pool run -o out --seed -1
pool run -o out --depth 0
pool run -o out --run-format nosuch
validate run --task nosuch
validate run --task focused --run-format nosuch
convert run out --to nosuch
chunk docs words:9
chunk docs nosuch -o out
chunk docs words:0 -o out
chunk docs tokens:9 -o out
chunk docs words:9 -o out --to nosuch
chunk docs tokens:9 -o out --tokenizer nosuch
sweep run --docs docs
sweep run --docs docs --chunks words:3 --test nosuch
retrieve docs run -o out --unit chunk
retrieve docs run -o out --task nosuch
retrieve docs run -o out --language englisch
retrieve docs run -o out --to nosuch
retrieve docs run -o out --limit 0
retrieve docs run -o out --task focused --limit 1501
retrieve docs run -o out --cas maybe
retrieve docs run -o out --mix nan
search docs words --results 0
search docs words --idf nothing
search docs words --unit document --cas strict
convert run out
measures nosuch
profiles nosuch
formats nosuch
inex-eval -f -r qrels run
inex-eval -r -beta nan qrels run
inex-eval -r -beta inf qrels run
inex-eval -i -irr 0 qrels run
assess p --docs docs --topics run --overlap 0
project
project nosuch p
project check
project export p
project split p pool
project split p words --among a,b
project split p pool --among a,b --overlap 0
project add-run p
project add-run p run --depth 0
project export p out --to nosuch
project archive p out --merge nosuch
project users add p ann
project users invite p ann
project stability p
judge p --endpoint localhost --model m
quotes run --docs docs --similarity 0.3
quotes run
publish
publish qrels --docs docs -o out.zip --merge nosuch
judge p --endpoint http://127.0.0.1:9 --model m --jobs 0
judge p --endpoint http://127.0.0.1:9 --model m --timeout nan
nosuch
fuse docs -o f.txt --method nosuch
estimate qrels run
draft docs --endpoint localhost --model m -o out
score
doctor
index docs
index docs -o i --jobs 0
""".strip().splitlines()


@pytest.mark.parametrize("line", USAGE)
def test_wrong_usage_ends_with_exit_code_2_and_writes_nothing(folder, line):
    before = sorted(Path().rglob("*"))
    said = call(line)
    assert (said.exit_code, said.stdout) == (2, ""), said.output
    assert said.stderr.strip()
    assert isinstance(said.exception, SystemExit)
    assert sorted(Path().rglob("*")) == before


def test_every_command_has_a_case_of_wrong_usage_except_those_that_take_no_choice():
    assert {*COMMANDS} - {line.split()[0] for line in USAGE} <= {"demo", "stats", "topics", "history"}
