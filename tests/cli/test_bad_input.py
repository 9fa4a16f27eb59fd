"""Bad input to every command: no traceback, nothing accepted in silence, the right exit code, nothing written.

Each family is a set of files times the commands that read such files. A case says the exit code; `said` must stand in
what was printed. Errors are one line on the standard error, and the standard output stays empty.
"""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import main

QRELS = b"1 0 d1 1\n1 0 d2 0\n2 0 d1 2\n"
RUN = b"1 Q0 d1 1 9 R\n1 Q0 d2 2 8 R\n2 Q0 d1 1 9 R\n"
FOL = b"1 Q0 d1 1 9 R 0 5\n1 Q0 d2 2 8 R 0 5\n"
FOL_QRELS = b"1 Q0 d1 5 30 0 0:5\n1 Q0 d2 0 30\n"
GOLD = (
    b'{"topic":"1","doc":"d1","spans":[{"start":0,"end":5}]}\n{"topic":"2","doc":"d2","spans":[{"start":0,"end":5}]}\n'
)
JRUN = b'{"topic":"1","doc":"d1","rank":1,"start":0,"end":5}\n{"topic":"2","doc":"d2","rank":1,"start":0,"end":5}\n'
TOPICS = b'<inex-topic topic-id="1" query-type="CO"><title>tea</title></inex-topic>'
XML = b'<inex-submission run-id="R" task="focused"><topic topic-id="1">%s</topic></inex-submission>'
RESULT = b"<result><file>d1</file><path>/article[1]</path><rank>1</rank></result>"
BASE = {
    "signature": "x",
    "gold_sha256": "x",
    "docs_sha256": None,
    "runs": [{"run": "R", "measures": {"AP": 1}, "per_topic": {"1": {"AP": 1.0}, "2": {"AP": 1.0}}}],
}

GOOD = {
    "qrels": QRELS, "run": RUN, "fol": FOL, "folqrels": FOL_QRELS, "gold.jsonl": GOLD, "run.jsonl": JRUN,
    "topics.xml": TOPICS, "docs/d1.txt": b"hello world and all of the rest",
    "docs/d2.txt": b"another text of some length",
    "base.json": json.dumps(BASE).encode(), "scores/a.json": json.dumps(BASE).encode(),
}  # fmt: skip

RUNS = {
    "nan": (RUN.replace(b" 8 ", b" nan "), "expected a finite number as score, found 'nan'"),
    "inf": (RUN.replace(b" 8 ", b" inf "), "expected a finite number as score, found 'inf'"),
    "minus-inf": (RUN.replace(b" 8 ", b" -inf "), "found '-inf'"),
    "1e400": (RUN.replace(b" 8 ", b" 1e400 "), "found '1e400'"),
    "word": (RUN.replace(b" 8 ", b" high "), "found 'high'"),
    "rank": (RUN.replace(b"d2 2", b"d2 two"), "expected a whole number as rank, found 'two'"),
    "few": (RUN.replace(b" R\n2", b"\n2"), "expected 6 columns"),
    "many": (RUN + b"2 Q0 d2 2 8 R 1 2 3\n", "expected 6 columns"),
    "nul": (RUN.replace(b"d2", b"d\0"), "expected text, found a NUL byte"),
    "latin": (RUN.replace(b"d2", b"d\xe9"), "expected UTF-8, found byte 0xe9"),
    "utf16": (RUN.decode().encode("utf-16"), ""),
    "twice": (RUN + b"1 Q0 d1 3 7 R\n", "found 'd1' again"),
    "names": (RUN + b"2 Q0 d2 2 8 S\n", "expected one run in the file"),
    "empty": (b"", "found an empty file"),
    "blank": (b"\n \n\n", "found an empty file"),
    "cut.gz": (gzip.compress(RUN * 50)[:-20], ""),
    "bad.gz": (b"\x1f\x8b\x08\x00garbage that is no gzip", ""),
    "csv": (b"name,file,value\n1,d1,9\n", "expected a run"),
    "json": (b"{'topic': 1}\n", "expected"),
    "binary": (bytes(range(256)) * 4, ""),
}  # fmt: skip
READS_RUN = {
    "score qrels {} -m AP": 1, "compare qrels run {} -m AP": 1, "report qrels {} -m AP -o out.html": 1,
    "pool {} -o out.jsonl": 1, "convert {} out.jsonl": 1, "stats {}": 1, "gate --baseline base.json qrels {} -m AP": 2,
}  # fmt: skip

JSON_RUNS = {
    "nan": (JRUN.replace(b'"start":0', b'"score":NaN,"start":0', 1), ""),
    "inf": (JRUN.replace(b'"start":0', b'"score":1e400,"start":0', 1), ""),
    "reversed": (JRUN.replace(b'"end":5', b'"end":-1', 1), ""),
    "minus": (JRUN.replace(b'"start":0', b'"start":-4', 1), ""),
    "past": (JRUN.replace(b'"end":5', b'"end":500', 1), "expected a span within the 31 characters of 'd1'"),
    "key": (JRUN.replace(b'"rank"', b'"rnak"', 1), "expected the key 'rank'"),
    "half": (JRUN[:70], ""),
    "list": (b"[1, 2]\n", ""),
    "rankless": (JRUN.replace(b'"rank":1,', b"", 1), ""),
    "topicless": (JRUN.replace(b'"topic":"1",', b"", 1), ""),
    "docless": (JRUN.replace(b'"doc":"d1",', b"", 1), ""),
    "bool": (JRUN.replace(b'"rank":1', b'"rank":true', 1), ""),
    "text": (JRUN.replace(b'"start":0,"end":5', b'"text":7e400', 1), ""),
    "latin": (JRUN.replace(b"d1", b"d\xe9", 1), "expected UTF-8, found byte 0xe9"),
    "surrogate": (JRUN.replace(b"d1", b"\\ud800", 1), ""),
}  # fmt: skip
READS_JSON_RUN = {
    "score gold.jsonl {} --docs docs -m spanR@5": 1, "compare gold.jsonl run.jsonl {} --docs docs -m spanR@5": 1,
    "report gold.jsonl {} --docs docs -o out.html": 1, "validate {} --task spans --docs docs": 1,
    "convert {} out.fol --to inex-fol --docs docs": 1,
}  # fmt: skip

XML_RUNS = {
    "open": XML % b"<result>", "rank": XML % RESULT.replace(b">1<", b">one<"),
    "pathless": XML % RESULT.replace(b"<path>", b"<pth>"),
    "entity": b"<!DOCTYPE a [<!ENTITY x SYSTEM '/etc/passwd'>]>" + XML % RESULT.replace(b"d1", b"&x;"),
    "bomb": b"<!DOCTYPE a [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>" + XML % RESULT.replace(b"d1", b"&b;"),
    "deep": XML % (b"<a>" * 5000), "root": b"<html/>",
    "twice": XML % (RESULT.replace(b"</rank>", b"</rank><rank>2</rank>")),
    "fileless": XML % b"<result><path>/a[1]</path><rank>1</rank></result>", "nothing": b"<inex-submission/>",
}  # fmt: skip
READS_XML_RUN = {"convert {} out.jsonl": 1, "validate {} --task focused": 1, "pool {} -o out.jsonl": 1}

GOLDS = {
    "again": (QRELS + b"1 0 d1 1\n", "expected one judgement of document 'd1' for topic '1'"),
    "nan": (QRELS.replace(b"d2 0", b"d2 nan"), "expected a whole number as grade, found 'nan'"),
    "1e400": (QRELS.replace(b"d2 0", b"d2 1e400"), "expected a whole number as grade"),
    "real": (QRELS.replace(b"d2 0", b"d2 0.5"), "expected a whole number as grade, found '0.5'"),
    "large": (QRELS.replace(b"d2 0", b"d2 99999999999999999999"), "expected a whole number as grade"),
    "few": (QRELS.replace(b" d2 0", b" d2"), "expected 4 columns"),
    "nul": (QRELS.replace(b"d2", b"d\0"), "NUL"),
    "latin": (QRELS.replace(b"d2", b"d\xe9"), "UTF-8"),
    "utf16": (QRELS.decode().encode("utf-16"), ""),
    "cut.gz": (gzip.compress(QRELS * 50)[:-20], ""),
    "empty": (b"", "found an empty file"),
    "run": (RUN, "expected a gold in a known format, found a run (trec-run)"),
}  # fmt: skip
READS_GOLD = {
    "score {} run -m AP": 1, "compare {} run run -m AP": 1, "report {} run -m AP -o out.html": 1, "stats {}": 1,
    "convert {} out.jsonl": 1, "gate --baseline base.json {} run -m AP": 2, "inex-eval -f {} fol": 1,
    "simulate {} --kind S-R -o out.xml": 1, "fidelity {}": 1,
}  # fmt: skip
NO_FAULT = {("stats {}", "run"), ("convert {} out.jsonl", "run")}
"""A run is no fault where a run or a gold may stand."""

JSON_GOLDS = {
    "reversed": GOLD.replace(b'"end":5', b'"end":-1', 1), "minus": GOLD.replace(b'"start":0', b'"start":-3', 1),
    "past": GOLD.replace(b'"end":5', b'"end":500', 1), "word": GOLD.replace(b'"start":0', b'"start":"0"', 1),
    "nan": GOLD.replace(b'"start":0', b'"start":NaN', 1), "real": GOLD.replace(b'"start":0', b'"start":0.5', 1),
    "half": GOLD[:40], "topicless": GOLD.replace(b'"topic":"1",', b"", 1), "list": b"[]\n",
    "docless": GOLD.replace(b'"doc":"d1",', b"", 1),
    "unknown": GOLD.replace(b'"d1"', b'"d8"').replace(b'"d2"', b'"d9"'),
    "latin": GOLD.replace(b"d1", b"d\xe9", 1),
}  # fmt: skip
READS_JSON_GOLD = {
    "score {} run.jsonl --docs docs -m spanR@5": 1, "simulate {} --docs docs --kind S-R -o out.jsonl": 1,
    "report {} run.jsonl --docs docs -o out.html": 1, "convert {} out.txt --to inex-2008 --docs docs": 1,
}  # fmt: skip

LINES = """
chunk no-such-folder words:9 -o out | 1 | no-such-folder
chunk docs elements:section -o out | 1 | expected a tag of the collection
chunk docs run -o out | 1 | chunks need a start and an end
chunk docs gold.jsonl -o out | 1 | expected
chunk bad-docs/latin words:9 -o out | 1 | UTF-8
sweep no-such-file --docs docs --chunks words:3 | 1 | no-such-file
sweep gold.jsonl --docs no-such-folder --chunks words:3 | 1 | no-such-folder
sweep gold.jsonl --docs docs --chunks words:3 | 1 | no topic has a question
sweep gold.jsonl --docs docs --chunks run.jsonl --retriever run | 1 | need a place in their document
sweep gold.jsonl --docs docs --chunks run.jsonl --topics no-such-file | 1 | no-such-file
retrieve no-such-folder topics.xml -o out | 1 | no-such-folder
retrieve docs no-such-file -o out | 1 | no-such-file
retrieve docs run -o out | 1 | expected
retrieve docs topics.xml -o out --unit element --tags section | 1 | expected a tag of the collection
retrieve bad-docs/latin topics.xml -o out | 1 | UTF-8
search docs the | 1 | expected a word to look for
search no-such-folder tea | 1 | no-such-folder
search docs //sec[about(.,tea)] --unit element --cas strict | 1 | which it does not have
stats no-such-file | 1 | no-such-file
doctor no-such-file | 1 | no-such-file
score no-such-file run -m AP | 1 | no-such-file
score qrels docs -m AP | 1 | docs
score qrels run -m AP --docs no-such-folder | 1 | no-such-folder
score qrels run -m AP --index docs | 1 | expected an index
score qrels run -m AP --index run | 1 | expected an index
score gold.jsonl run.jsonl -m spanR@5 --docs bad-docs/latin | 1 | UTF-8
score gold.jsonl run.jsonl -m spanR@5 --docs bad-docs/nul | 1 | NUL
score gold.jsonl run.jsonl -m spanR@5 --docs bad-docs/open | 1 | a.xml
score gold.jsonl run.jsonl -m spanR@5 --docs bad-docs/none | 1 | found none
score gold.jsonl run.jsonl -m spanR@5 --docs bad-docs/twice | 1 | id
score gold.jsonl run.jsonl -m spanR@5 --docs docs.jsonl | 1 | is on line 1 already
score gold.jsonl run.jsonl -m spanR@5 --docs empty.jsonl | 1 | empty.jsonl
score gold.jsonl run.jsonl -m spanR@5 --docs broken.zip | 1 | broken.zip
index bad-docs/latin -o idx | 1 | UTF-8
index bad-docs/nul -o idx | 1 | NUL
index bad-docs/open -o idx | 1 | a.xml
index bad-docs/none -o idx | 1 | found none
index bad-docs/twice -o idx | 1 | id
index broken.zip -o idx | 1 | broken.zip
index no-such-folder -o idx | 1 | no-such-folder
index docs -o no/such/idx | 1 | no such directory
index docs -o run | 1 | exists already
index docs -o run --force | 1 | expected an index
topics bad-topics/open.xml | 1 | open.xml
topics bad-topics/none.xml | 1 | none.xml
topics bad-topics/nexi.xml | 1 | nexi.xml
topics run | 1 | run
topics empty.jsonl | 1 | empty.jsonl
pool run -o no/such/pool.jsonl | 1 | cannot be written
pool run --top-up run -o out.jsonl | 1 | run
pool run --top-up bad.json -o out.jsonl | 1 | bad.json
convert run no/such/out.jsonl | 1 | cannot be written
convert fol out.trec --to trec-run | 1 | trec-run cannot express
convert run out.xml --to gold-jsonl | 2 | gold-jsonl
convert qrels out.xml --to inex-xml | 2 | inex-xml
simulate qrels --kind ideal -o out.xml | 1 | no highlighted passages
simulate gold.jsonl --kind ideal -o out.xml | 1 | --index
simulate gold.jsonl --kind S-R -o no/such/out.xml | 1 | cannot be written
fidelity qrels | 1 | qrels
fidelity gold.jsonl | 1 | --index
history docs | 1 | expected score files
history run | 1 | expected a folder of score files
history bad-scores | 1 | bad-scores
report qrels run -m AP | 2 | Name the page
report qrels run -m AP -o out.html --baseline nobody | 1 | nobody
report qrels run -m AP -o no/such/out.html | 1 | cannot be written
gate --baseline run qrels run -m AP | 2 | expected JSON
gate --baseline bad.json qrels run -m AP | 2 | bad.json
gate --baseline base.json qrels run -m AP | 2 | NO VERDICT
gate --baseline no-such-file qrels run -m AP | 2 | no-such-file
quotes run --docs docs | 1 | run:1
quotes no-such-file --docs docs | 1 | no-such-file
quotes gold.jsonl --docs docs | 1 | gold.jsonl:1: expected 'answer' or 'quotes', found neither
quotes gold.jsonl --docs no-such-folder | 1 | no-such-folder
judge docs --endpoint http://127.0.0.1:9 --model m | 2 | docs: expected a project, found none
judge docs --endpoint 127.0.0.1 --model m | 2 | expected --endpoint http://HOST:PORT/v1
judge docs --endpoint http://127.0.0.1:9 --model m --window 3 | 2 | Invalid value for '--window'
assess project | 1 | a new project needs
assess project --docs docs --topics run | 1 | run
assess project --docs no-such-folder --topics topics.xml | 1 | no-such-folder
assess run | 1 | run
project check no-such-project | 1 | expected a project, found none
project export docs out.jsonl | 1 | expected a project, found none
project import new answers.jsonl | 1 | a new project needs
project restore no-such-project | 1 | no-such-project
project users log-out docs ann | 1 | expected a project, found none
inex-eval -f folqrels run | 1 | expected 7 or 8 columns
inex-eval -f folqrels no-such-file | 1 | no-such-file
inex-eval -b folqrels twice-entered | 1 | expected one result for an article
validate fol --task focused --index docs | 1 | expected an index
validate no-such-file --task focused | 1 | no-such-file
validate fol --task focused --repair no/such/file | 1 | cannot be written
score qrels run -m AP --topics run --cas strict | 1 | run
score gold.jsonl run.jsonl -m ceiling(IoU) --docs docs --chunks run | 1 | run
score qrels other-topics -m AP | 1 | no topic in common
score qrels other-documents -m AP | 1 | no document in common
score qrels run -m spanR@5 | 1 | no highlighted passages
score folqrels fol -m MAiP --curves no/such/file | 1 | cannot be written
score qrels run --run-format inex-xml -m AP | 1 | run
score qrels run --gold-format gold-jsonl -m AP | 1 | qrels
compare qrels run -m AP --correlate recall-bases | 2 | make no difference
estimate qrels no-such-file run -m AP | 1 | no-such-file
estimate qrels qrels other-topics -m AP | 1 | no topic in common
draft no-such-file --endpoint http://127.0.0.1:9/v1 --model m -o out.jsonl | 1 | no-such-file
fuse run no-such-file -o out | 1 | no-such-file
publish no-such-file --docs docs -o out.zip | 1 | no-such-file
publish qrels -o out.zip | 1 | expected the documents
publish gold.jsonl --docs docs | 2 | Name the file with -o
publish gold.jsonl --docs docs --title T -o no/such/file | 1 | nothing was written
publish gold.jsonl --docs docs -o out.zip | 2 | needs a title
draft no-such-folder --endpoint http://127.0.0.1:9/v1 --model m -o out | 1 | no-such-folder
fuse run fol -o out | 1 | expected results of one kind
""".strip().splitlines()

MORE = {
    "bad-docs/latin/a.txt": b"caf\xe9", "bad-docs/nul/a.txt": b"a\0b", "bad-docs/open/a.xml": b"<a><b></a>",
    "bad-docs/none/a.tex": b"%PDF", "bad-docs/twice/a.xml": b"<a>x</a>", "bad-docs/twice/a.txt": b"x",
    "docs.jsonl": b'{"id":"d1","text":"a"}\n{"id":"d1","text":"b"}\n', "empty.jsonl": b"",
    "broken.zip": b"PK\3\4 broken",
    "bad-topics/open.xml": b"<inex-topic topic-id='1'><title>", "bad-topics/none.xml": b"<a/>",
    "bad-topics/nexi.xml": b'<inex-topic topic-id="1" query-type="CAS"><title>//a[about(.,</title></inex-topic>',
    "bad.json": b'{"runs": [', "bad-scores/a.json": b"[1, 2", "twice-entered": b"1 Q0 d1 1 2 R 0\n1 Q0 d1 2 1 R 3\n",
    "other-topics": RUN.replace(b"1 Q0", b"8 Q0").replace(b"2 Q0", b"9 Q0"),
    "other-documents": RUN.replace(b" d", b" e"),
}  # fmt: skip


def cases():
    """Yield every case: command line, exit code, what is said, and the bad file's content if it is not among `MORE`."""
    for files, commands in ((RUNS, READS_RUN), (JSON_RUNS, READS_JSON_RUN), (GOLDS, READS_GOLD)):
        for name, (content, said) in files.items():
            for line, code in commands.items():
                if (line, name) not in NO_FAULT:
                    yield line, code, said if line.startswith("score") else "", name, content
    for files, commands in ((XML_RUNS, READS_XML_RUN), (JSON_GOLDS, READS_JSON_GOLD)):
        for name, content in files.items():
            for line, code in commands.items():
                yield line, code, "", name, content
    for row in LINES:
        line, code, said = (part.strip() for part in row.split("|", 2))
        yield line, int(code), said, "", b""


CASES = list(cases())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    for name, content in (GOOD | MORE).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    return tmp_path


def test_there_are_enough_cases_and_every_command_has_some():
    assert len(CASES) >= 220
    assert {line.split()[0] for line, *_ in CASES} == set(main.list_commands(None)) - {
        "demo", "measures", "profiles", "formats",  # they read no files
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[line.format(name) for line, _, _, name, _ in CASES])
def test_bad_input_is_one_line_with_the_right_exit_code_and_writes_nothing(folder, case):
    line, code, said, name, content = case
    bad = Path("bad", name or "none")
    bad.parent.mkdir()
    bad.write_bytes(content)
    before = sorted(Path().rglob("*"))
    done = CliRunner().invoke(main, line.format(bad).split())
    assert isinstance(done.exception, SystemExit), repr(done.exception)
    assert done.exit_code == code, done.output
    assert said in done.output
    told = done.stderr.splitlines()
    if line.startswith("validate") and not told:  # findings are its results
        assert done.stdout
    elif line.startswith("topics") and done.stdout:  # shown with the error beside them
        assert told
    else:
        assert len(told) == 1 or "Usage:" in told[0], told
        assert done.stdout == ""
    made = [path for path in sorted(Path().rglob("*")) if path not in before]
    assert [path for path in made if path.parts[0] != "project"] == []


PEERS = {
    "NaN as score": (QRELS, RUN.replace(b" 8 ", b" nan ")),
    "infinity as score": (QRELS, RUN.replace(b" 8 ", b" inf ")),
    "1e400 as score": (QRELS, RUN.replace(b" 8 ", b" 1e400 ")),
    "byte-order mark in the run": (QRELS, b"\xef\xbb\xbf" + RUN),
    "byte-order mark in the qrels": (b"\xef\xbb\xbf" + QRELS, RUN),
    "CRLF in the run": (QRELS, RUN.replace(b"\n", b"\r\n")),
    "CRLF in the qrels": (QRELS.replace(b"\n", b"\r\n"), RUN),
    "UTF-16": (QRELS, RUN.decode().encode("utf-16")),
    "Latin-1": (QRELS, RUN.replace(b"d2", b"d\xe9")),
    "a document twice": (QRELS, RUN + b"1 Q0 d1 3 7 R\n"),
    "five columns": (QRELS, RUN.replace(b"8 R", b"8")),
    "a NUL": (QRELS, RUN.replace(b"d2", b"d\0")),
    "a judgement twice": (QRELS + b"1 0 d1 0\n", RUN),
    "NaN as grade": (QRELS.replace(b"d2 0", b"d2 nan"), RUN),
    "a gzip cut short": (QRELS, gzip.compress(RUN)[:-8]),
}
"""What other evaluators were given: ir_measures and ranx score 8 of the 15 without a word, pytrec_eval 6, and some of
them wrongly. Here each is refused, or scored as the tidy file is."""


@pytest.mark.parametrize("case", PEERS)
def test_nothing_that_other_evaluators_accept_in_silence_changes_a_score(folder, case):
    tidy = CliRunner().invoke(main, ["score", "qrels", "run", "-m", "AP", "-m", "nDCG@10", "--format", "csv"])
    Path("qrels").write_bytes(PEERS[case][0])
    Path("run").write_bytes(PEERS[case][1])
    done = CliRunner().invoke(main, ["score", "qrels", "run", "-m", "AP", "-m", "nDCG@10", "--format", "csv"])
    if done.exit_code == 0:
        assert case.startswith(("byte-order mark", "CRLF"))
        assert done.stdout == tidy.stdout
    else:
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert isinstance(done.exception, SystemExit)
