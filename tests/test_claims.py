"""What pages claim in their sentences, held by the commands; code blocks are held by test_pages."""

import gzip
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest

from blocks import ROOT
from focuseval import ModelSettings, align_chunks, open_documents, read_gold
from focuseval.collection import document_files, sources, trees
from focuseval.engine import cluster, files
from focuseval.evaluation import quotes
from focuseval.formats import answers
from focuseval.inference.paired import smallest_p
from focuseval.inference.paired_tests import EXACT
from focuseval.inference.settings import Settings
from focuseval.measures.assessed import assessed_elements
from strategies.projects import command

DOCS = ROOT / "docs"
RUN = "1 Q0 a 1 9.0 r\n1 Q0 b 2 8.0 r\n"
QRELS = "1 0 a 1\n1 0 b 0\n"
SPAN = '{"topic": "1", "doc": "a", "rank": 1, "start": 0, "end": 50}\n'


def page(name):
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gold").write_text(QRELS, encoding="utf-8")
    Path("run").write_text(RUN, encoding="utf-8")
    return tmp_path


def values(*arguments):
    """Measure → mean, of the only run."""
    told = command("score", *arguments, "--format", "json")
    (run,) = json.loads(told[told.index("{") : told.rindex("}") + 1])["runs"]
    return {name: found["mean"] if isinstance(found, dict) else found for name, found in run["measures"].items()}


def spans(name, *some, **more):
    rows = [{"topic": "1", "doc": "a", "rank": rank, "start": s, "end": e} for rank, (s, e) in enumerate(some, 1)]
    Path(name).write_text("".join(json.dumps(row | more) + "\n" for row in rows), encoding="utf-8")


def marked(name, *some):
    row = {"topic": "1", "doc": "a", "spans": [{"start": start, "end": end} for start, end in some]}
    Path(name).write_text(json.dumps(row) + "\n", encoding="utf-8")


def test_overlapping_chunks_count_once(folder):
    """measures.md, chunk-evaluators.md, faq.md: recall 1 and 1.2, precision 1 and 100/120; budgets are used up."""
    assert "(60 + 60) / 100 = 1.2" in page("explanation/chunk-evaluators.md")
    assert "have a recall of 1: the union is what was returned. Adding up the chunks would give 1.2" in page(
        "explanation/measures.md"
    )
    marked("g.jsonl", (0, 100))
    spans("r.jsonl", (0, 60), (40, 100))
    ours = values("g.jsonl", "r.jsonl", "-m", "spanR@2", "-m", "spanP@2", "-m", "spanR@100c")
    assert ours == {"spanR@2": 1.0, "spanP@2": 1.0, "spanR@100c": 0.8}
    chroma = values("g.jsonl", "r.jsonl", "-m", "spanP@2", "-m", "spanR@2", "--compat", "chroma")
    assert (chroma["chroma:precision@2"], chroma["chroma:recall@2"]) == (pytest.approx(100 / 120), 1.0)
    legal = values("g.jsonl", "r.jsonl", "-m", "spanR@2", "--compat", "legalbenchrag")
    assert legal["legalbenchrag:recall@2"] == pytest.approx(1.2)


def test_overlapping_references_count_once(folder):
    """chunk-evaluators.md: .75 against 1."""
    marked("g.jsonl", (0, 100), (50, 150))
    spans("r.jsonl", (0, 150))
    found = values("g.jsonl", "r.jsonl", "-m", "spanR@1", "--compat", "chroma")
    assert found == {"spanR@1": 1.0, "chroma:recall@1": 0.75}


def test_a_longer_chunk_wins_by_recall_at_a_rank_and_loses_by_iou(folder):
    """choosing-a-measure.md and faq.md."""
    marked("g.jsonl", (100, 200))
    spans("short.jsonl", (150, 250))
    spans("long.jsonl", (0, 1000))
    short, long = (values("g.jsonl", f"{name}.jsonl", "-m", "spanR@1", "-m", "IoU@1") for name in ("short", "long"))
    assert long["spanR@1"] > short["spanR@1"]
    assert long["IoU@1"] < short["IoU@1"]


def test_a_topic_without_an_answer_scores_0_and_can_be_left_out(folder):
    """faq.md and coming-from.md."""
    Path("gold").write_text(QRELS + "2 0 a 1\n", encoding="utf-8")
    assert values("gold", "run", "-m", "AP") == {"AP": 0.5}
    assert values("gold", "run", "-m", "AP", "--missing", "skip") == {"AP": 1.0}


REFUSED = {
    "a score that is not a finite number": ("run", RUN.replace("8.0", "nan"), "run:2: "),
    "a grade of 0.5": ("gold", QRELS.replace("b 0", "b 0.5"), "gold:2: "),
    "a document twice in a topic of a TREC run": ("run", RUN + "1 Q0 a 3 7.0 r\n", "run:3: "),
    "a (topic, document) pair judged twice": ("gold", QRELS + "1 0 a 1\n", "gold:3: "),
    "two run names in one file": ("run", RUN.replace("8.0 r", "8.0 s"), "run:2: "),
    "a NUL byte": ("run", RUN.replace("b", "\0"), "run:2: "),
    "malformed XML": ("run", "<inex-submission><topic></inex-submission>\n", "run:1:"),
    "a span that is reversed": ("run", SPAN.replace("50", "-1"), "run:1: "),
}


@pytest.mark.parametrize("claim", REFUSED)
def test_the_page_on_formats_says_what_is_refused_with_file_and_line(folder, claim):
    assert claim in page("explanation/formats.md")
    file, text, place = REFUSED[claim]
    Path(file).write_text(text, encoding="utf-8")
    assert command("score", "gold", "run", "-m", "AP", code=1).splitlines()[-1].startswith(place)


ACCEPTED = {
    "several blanks or tabs between columns": RUN.replace(" Q0 ", "\tQ0   ").encode(),
    "blank lines": RUN.replace("\n", "\n\n").encode(),
    "ranks that begin at 0": RUN.replace("a 1", "a 0").replace("b 2", "b 1").encode(),
    "a byte-order mark": b"\xef\xbb\xbf" + RUN.encode(),
    "Windows line ends": RUN.replace("\n", "\r\n").encode(),
    "gzip": gzip.compress(RUN.encode()),
}


@pytest.mark.parametrize("claim", ACCEPTED)
def test_the_page_on_formats_says_what_is_accepted(folder, claim):
    assert claim in page("explanation/formats.md")
    Path("run").write_bytes(ACCEPTED[claim])
    assert values("gold", "run", "-m", "AP") == {"AP": 1.0}


def test_a_run_is_read_from_standard_input(folder):
    assert "| 1.0000" in command("score", "gold", "-", "-m", "AP", "--format", "markdown", stdin=RUN).replace("**", "")


def test_a_run_without_scores_gets_one_over_rank_and_says_so(folder):
    assert "A run without scores gets 1/rank, and says so" in page("explanation/formats.md")
    Path("run.jsonl").write_text(
        "".join(f'{{"topic":"1","doc":"{d}","rank":{r}}}\n' for d, r in (("a", 1), ("b", 2))), encoding="utf-8"
    )
    assert "1/rank" in command("convert", "run.jsonl", "out", "--to", "trec-run")
    assert [line.split()[4] for line in Path("out").read_text().splitlines()] == ["1", "0.5"]


def test_formats_of_one_topic_a_file_become_a_folder(folder):
    marked("g.jsonl", (0, 5))
    Path("docs").mkdir()
    Path("docs/a.xml").write_text("<article><p>Hello, sea.</p></article>", encoding="utf-8")
    command("convert", "g.jsonl", "assessed", "--to", "inex-2005", "--docs", "docs")
    assert [path.suffix for path in Path("assessed").iterdir()] == [".xml"]


def test_lengths_of_the_sample_on_the_page_on_offsets():
    text, points, units, octets = re.search(
        r'"(na.*?)" code points (\d+) UTF-16 units (\d+) UTF-8 bytes (\d+)', page("explanation/offsets.md")
    ).groups()
    assert (len(text), len(text.encode("utf-16-le")) // 2, len(text.encode())) == (int(points), int(units), int(octets))


NUMBERS = (
    ("howto/index-a-collection.md", f"nested more than {trees.MAX_DEPTH:,} deep"),
    ("howto/index-a-collection.md", f"documents of more than {document_files.MAX_BYTES >> 20} MB"),
    ("howto/index-a-collection.md", f"more than {trees.MAX_ENTITIES:,} entity declarations"),
    ("howto/check-quotations.md", f"of more than {quotes.LARGE // 10**6} million characters"),
    ("howto/check-quotations.md", f"count from {quotes.SHORTEST} characters on (`--shortest`)"),
    ("howto/cluster.md", f"at least {cluster._LEAST} tasks are always given out"),
    ("howto/cluster.md", f"kept in `--cache DIR`, up to {files._DEFAULT:g} GB"),
    ("howto/cluster.md", f"in files of up to {sources._WHOLE // 10**6} MB"),
    ("howto/language-model-as-assessor.md", f"`--window` ({ModelSettings.window:,} characters)"),
    (
        "howto/align-chunks.md",
        f"at least `similarity` ({inspect.signature(align_chunks).parameters['similarity'].default})",
    ),
    ("explanation/significance.md", f"{Settings().resamples:,} random flips are drawn"),
    ("explanation/significance.md", f"Where up to {EXACT} topics differ"),
)
"""Page, and a number in its words as the code has it."""


@pytest.mark.parametrize(("name", "words"), NUMBERS)
def test_a_limit_on_a_page_is_the_limit_of_the_code(name, words):
    assert words in page(name)


def test_the_names_of_fields_on_the_page_on_quotations_are_those_of_the_reader():
    rows = re.findall(
        r"^\| `(\w+)` \| (.*?) \|$", (DOCS / "howto" / "check-quotations.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    shown = {field: {field, *re.findall(r"`([\w-]+)`", others)} - {"metadata"} for field, others in rows}
    known = {"id": answers.ID, "answer": answers.ANSWER, "quotes": answers.QUOTES, "quote": answers.QUOTE}
    known |= {"doc": answers.DOC, "sources": answers.SOURCES}
    assert shown == {field: set(names) for field, names in known.items()}


def test_as_many_topics_must_differ_as_the_page_on_significance_says():
    rows = re.findall(
        r"^\| (\d+) \| (\d+) \|$", (DOCS / "explanation" / "significance.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(rows) == 5
    for pairs, topics in ((int(one), int(two)) for one, two in rows):
        below, enough = smallest_p(np.array([topics - 1, topics]), topics, Settings())
        assert enough <= 0.05 / pairs < below


@pytest.fixture
def article():
    """The article of the page on recall bases, and its highlights."""
    text = f"<article><p>{'a' * 100}</p><p>{'b' * 60}<weblink>{'c' * 20}</weblink></p>{'d' * 120}</article>"
    Path("docs").mkdir()
    Path("docs/a.xml").write_text(text, encoding="utf-8")
    marked("g.jsonl", (0, 100), (130, 180))
    index = open_documents("docs")
    return read_gold("g.jsonl", index=index), index


def test_the_gains_and_the_ideal_base_are_those_of_the_page(folder, article):
    gold, index = article
    text = (DOCS / "explanation" / "recall-bases.md").read_text(encoding="utf-8")
    shown = {
        path: float(gain)
        for path, gain in re.findall(r"^\| `(/article\S+)` \| \d+ \| \d+ \| (\S+) \|$", text, re.MULTILINE)
    }
    assessed = assessed_elements(gold, index)
    full, filtered = assessed.base("spec"), assessed.base("spec", without=("weblink",))
    assert gains(full) == shown
    assert ideal(full) == {"/article[1]/p[1]", "/article[1]/p[2]/weblink[1]"}
    assert ideal(filtered) == {"/article[1]/p[1]", "/article[1]/p[2]"}


def gains(base):
    return {base.tree.path[int(code)].as_py(): gain for code, gain in zip(base.code, base.gain.tolist(), strict=True)}


def ideal(base):
    return {base.tree.path[int(code)].as_py() for code in base.code[base.ideal]}
