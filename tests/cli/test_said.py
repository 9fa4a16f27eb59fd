"""What commands say besides their results: what was written, what a figure is over, ids that do not meet."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.example import ROOT

GOLD = ROOT / "gold" / "gold.jsonl"
ARTICLES = ROOT / "articles"
RUNS = sorted((ROOT / "runs" / "focused").iterdir())


def call(line):
    return CliRunner().invoke(main, line.split())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("1 Q0 d1 100 400 50 50:60 200:40\n1 Q0 d2 0 300\n")
    Path("run").write_text("1 Q0 e1 1 4 R 40 80\n")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "file", "said"),
    [
        (f"report {GOLD} {RUNS[0]} {RUNS[1]} --docs {ARTICLES} --task focused -o r.html", "r.html", " careful "),
        (f"index {ARTICLES} -o idx", "idx", "17 documents"),
        (f"pool {RUNS[0]} -o pool.jsonl", "pool.jsonl", "documents to judge for 6 topics"),
        (f"convert {RUNS[0]} out.jsonl", "out.jsonl", "with something left out, see above"),
        (f"convert {RUNS[0]} out.xml", "out.xml", "nothing left out"),
        (f"simulate {GOLD} --docs {ARTICLES} --kind ideal -o ideal.xml", "ideal.xml", "results for 6 topics"),
    ],
)
def test_what_was_written_is_said_with_its_size(folder, line, file, said):
    done = call(line)
    assert done.exit_code == 0, done.output
    told = [row for row in done.stderr.splitlines() if row.startswith(f"{file}: ")]
    assert len(told) == 1
    assert said in told[0]
    assert any(unit in told[0] for unit in (" bytes", " kB", " MB"))


def test_every_mean_and_share_of_a_gold_names_what_it_is_over(folder):
    figures = json.loads(call(f"stats {GOLD} --docs {ARTICLES} --json").stdout)
    means = [
        name for name in figures if "_per_" in name or "_mean" in name or "median" in name or name.endswith("links")
    ]
    assert {*means, "entry_points_at_first_relevant"} <= figures["over"].keys()
    assert all(figures[name] for name in figures["over"].values())
    table = call(f"stats {GOLD} --docs {ARTICLES}").stdout
    assert "2.83  6 topics with relevance" in table
    assert "1.88  17 relevant articles" in table
    assert figures["passages_per_article"] * figures["relevant_articles"] == figures["passages"]


def test_no_document_in_common_shows_an_id_of_either_side(folder):
    done = call("score qrels run -m MAiP")
    assert done.exit_code == 1
    assert "no document in common with qrels: the run has 'e1', the gold 'd1'" in done.stderr


def test_a_collection_that_knows_none_of_the_judged_documents_is_refused_unless_allowed(folder):
    Path("run").write_text("1 Q0 d1 1 4 R 40 80\n")
    refused = call(f"score qrels run -m MAiP --docs {ARTICLES}")
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert "found 0 of 2 judged ones in it, not 'd1' (it has " in refused.stderr
    assert "--allow-unknown" in refused.stderr
    allowed = call(f"score qrels run -m MAiP --docs {ARTICLES} --allow-unknown")
    assert allowed.exit_code == 0, allowed.output
    assert "2 of 2 judged documents are not in the index" in allowed.stderr
    assert call(f"compare qrels run run -m MAiP --docs {ARTICLES}").exit_code == 1


@pytest.mark.parametrize("command", ["stats qrels", "inex-eval -t qrels run"])
def test_every_command_that_reads_a_gold_refuses_such_a_collection(folder, command):
    Path("run").write_text("1 Q0 d1 1 4 R 40 80\n")
    refused = call(f"{command} --docs {ARTICLES}")
    assert (refused.exit_code, "found 0 of 2 judged ones in it" in refused.stderr) == (1, True), refused.output
    allowed = call(f"{command} --docs {ARTICLES} --allow-unknown")
    assert allowed.exit_code == 0, allowed.output


def test_validate_checks_several_runs_and_says_which_is_wrong(folder):
    Path("bad").write_text("1 Q0 d1 1 4 R 40 80\n1 Q0 d1 2 3 R 50 80\n")
    done = call("validate run bad run --task focused")
    assert done.exit_code == 1
    verdicts = [line for line in done.stdout.splitlines() if "valid for task focused" in line]
    assert [line.partition(":")[0] for line in verdicts] == ["run", "bad", "run"]
    objects = json.loads(call("validate run bad --task focused --json").stdout)
    assert [one["lawful"] for one in objects] == [True, False]
    assert call("validate run bad --task focused --repair out").exit_code == 2


def test_validate_takes_tasks_and_limits_from_a_profile(folder):
    Path("long").write_text("".join(f"1 Q0 d{n} {n} {-n} R 0 9\n" for n in range(1, 1502)))
    assert "too-many" in call("validate long --profile inex2006 --task focused").stdout
    assert call("validate long --profile rag").exit_code == 0  # its lists have no limit
    assert call("validate long --profile inex2007 --task thorough").exit_code == 2
    assert call("validate long").exit_code == 2
