"""What the standard error says of doubtful runs: measures of documents on chunks, odd ranks, split topics."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from focuseval.cli import main
from focuseval.data.placement import LOST
from focuseval.engine import native
from focuseval.engine.version import __version__
from focuseval.placing import normalise, page
from focuseval.placing.page import Page, Wanted, place


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"topic": topic, "doc": "d1", "spans": [{"start": 0, "end": 5}]} for topic in "12"]
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("qrels").write_text("1 0 d1 1\n2 0 d1 1\n")
    return tmp_path


def said(line):
    done = CliRunner().invoke(main, line.split())
    assert done.exit_code == 0, done.output
    return done.stderr


def run(*rows, **more):
    """Write rows of topic and rank as JSON lines; documents differ."""
    lines = [{"topic": t, "doc": f"d{n}", "rank": rank, **more} for n, (t, rank) in enumerate(rows, 1)]
    Path("run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_measures_of_documents_on_chunks_name_those_of_chunks(folder):
    run(("1", 1), ("1", 2), ("2", 1), start=0, end=5)
    remark = said("score gold.jsonl run.jsonl -m nDCG@10 -m RR -m AP -m P@5")
    assert "nDCG@10, RR, AP, P@5 count documents, each at the rank of its first chunk" in remark
    assert "spanNDCG@10, spanRR, hAP, spanP@5 measure chunks" in remark
    assert "documents" not in said("score gold.jsonl run.jsonl -m spanR@5")
    assert "documents" not in said("score qrels run.jsonl -m AP")  # no text is judged: there is no other measure


@pytest.mark.parametrize("rows", [[("1", 1), ("1", 1)], [("1", 3), ("1", 4), ("1", 4), ("2", 1)]])
def test_repeated_ranks(folder, rows):
    run(*rows)
    assert "run.jsonl: ranking: ranks repeat (first in topic '1')" in said("score qrels run.jsonl -m AP")


def test_ranks_of_zero_and_ranks_that_fall(folder):
    run(("1", 0), ("1", 1))
    assert "ranks are 0 (first in topic '1')" in said("score qrels run.jsonl -m AP")
    run(("1", 2), ("1", 1))
    assert "ranks fall from line to line (first in topic '1'); the ranks decide" in said("score qrels run.jsonl -m AP")
    Path("run").write_text("1 Q0 d1 2 9 r\n1 Q0 d2 1 8 r\n")
    assert "ranks fall where scores do not rise" in said("score qrels run -m AP")


def test_ordinary_ranks_say_nothing(folder):
    run(("1", 1), ("1", 2), ("2", 1), ("2", 5))
    assert said("score qrels run.jsonl -m AP") == ""
    Path("run").write_text("2 Q0 d2 2 8 r\n2 Q0 d1 1 9 r\n1 Q0 d2 1 8 r\n")  # unsorted, as TREC runs may be
    assert said("score qrels run -m AP") == ""


def test_a_topic_in_two_blocks_is_one_sentence(folder):
    run(("1", 1), ("2", 1), ("1", 2), ("2", 2), ("1", 3), ("3", 1))
    remark = said("score qrels run.jsonl -m AP")
    assert remark.count("\n") == 2  # and one topic that has no judgement
    assert "topic '1' is in several blocks (2 topics are), again on line 3; their results are joined" in remark


def test_validate_names_split_topics_once_and_does_not_count_their_ranks(folder):
    many = "".join(f"1 Q0 d{n} {n} {-n} r\n" for n in range(1, 300))
    Path("run").write_text(many + "2 Q0 d1 1 1 r\n" + "".join(f"1 Q0 e{n} {n} {-n} r\n" for n in range(1, 300)))
    done = CliRunner().invoke(main, ["validate", "run", "--task", "thorough"])
    assert done.exit_code == 0
    assert done.stdout.count("[split-topic]") == 1
    assert "rank-repeats" not in done.stdout
    assert "run:301: warning: topic 1: expected the results of a topic together" in done.stdout


def test_a_chunk_text_longer_than_its_document_is_not_normalised(monkeypatch):
    looked_at = []
    real = normalise.normal_form
    for module in (normalise, page):
        monkeypatch.setattr(module, "normal_form", lambda text: (looked_at.append(len(text)), real(text))[1])
    document = "a short document " * 20
    wanted = [Wanted("never ending " * 1_000_000), Wanted("never ending " * 1_000_000, 0, 30), Wanted("short document")]
    found = place(Page(document), wanted, 0.9)
    assert [one.how == LOST for one in found] == [True, True, False]
    assert sum(looked_at) < 20_000


def test_blanks_do_not_make_a_text_longer():
    found = place(Page("one two three"), [Wanted("one" + " " * 10_000 + "two")], 0.9)
    assert (found[0].start, found[0].end) == (0, 7)


def test_what_is_so_of_many_runs_is_said_once(folder):
    run(("1", 1), ("1", 1))
    names = [f"run-{number}.jsonl" for number in range(1, 31)]
    for name in names:
        Path(name).write_bytes(Path("run.jsonl").read_bytes())
    lines = said(f"score qrels {' '.join(names)} -m AP").splitlines()
    (line,) = (line for line in lines if "ranks repeat" in line)
    assert line.startswith("run-1.jsonl, run-2.jsonl and 28 more: ranking: ranks repeat (first in topic '1'); ")
    three = said(f"score qrels {' '.join(names[:3])} -m AP").splitlines()
    assert [line.partition(":")[0] for line in three if "ranks repeat" in line] == names[:3]


@pytest.fixture
def tree(tmp_path):
    """Copy the package, with a library that was made before its source changed."""
    if native.library() is None:
        pytest.skip("the compiled part is not built: no C compiler")
    package = tmp_path / "a tree" / "src" / "focuseval"
    shutil.copytree(Path(native.LIBRARY).parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    with (package / "engine" / "native.c").open("a") as source:
        source.write("/* changed */\n")
    return package.parents[1]


def apart(tree, *line):
    """Run a command in a process of its own, with the package of a tree."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-m", "focuseval", *line]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done


def test_a_library_of_another_source_is_named_once_with_what_makes_it_again(tree, folder):
    (tree / "hatch_build.py").touch()
    expected = (
        "the compiled library was made from other sources and is not used: results are the same, but large files take "
        f"longer; make it again with: python -m pip install --editable '{tree}'\n"
    )
    run(("1", 1), ("2", 1))
    scored = apart(tree, "score", "qrels", "run.jsonl", "-m", "AP", "--format", "json")
    assert scored.stderr == expected
    assert json.loads(scored.stdout)["runs"][0]["measures"] == {"AP": 0.5}
    Path("docs").mkdir()
    for name in "abcdefgh":
        Path(f"docs/{name}.xml").write_text(f"<a><p>{name}</p></a>")
    assert apart(tree, "index", "docs", "-o", "i", "--jobs", "3").stderr.count("compiled library") == 1


def test_a_library_of_another_source_beside_no_source_tree_is_installed_again(tree, folder):
    said = apart(tree, "measures", "AP").stderr
    assert said.endswith(
        f"make it again with: python -m pip install --force-reinstall --no-deps focuseval=={__version__}\n"
    )


@pytest.mark.parametrize("content", [None, b"for another machine"])
def test_where_no_library_was_ever_made_for_this_machine_nothing_is_said(tree, folder, content):
    library = tree / "src" / "focuseval" / "engine" / native.LIBRARY.name
    library.unlink()
    if content:
        library.write_bytes(content)
    assert apart(tree, "measures", "AP").stderr == ""
