"""The whole loop on the embedded example: copy, index, check, score, compare, report.

Every step gives a `Section`, which is printed and put on a page that needs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from focuseval.collection.build import build_index
from focuseval.collection.index import Index, describe
from focuseval.collection.store import open_index
from focuseval.data.gold import Gold
from focuseval.data.tables import Row, Table, numbers, words
from focuseval.data.topics import read_topics
from focuseval.evaluation.evaluation import evaluate
from focuseval.evaluation.scores import Scores
from focuseval.example import ROOT, copy_example
from focuseval.formats import read_gold, read_run
from focuseval.formats.content import write_whole
from focuseval.formats.convert import write_run
from focuseval.measures.checks import check
from focuseval.report.build import build_report
from focuseval.report.page import render_html, templates
from focuseval.retrieval.retrieving import retrieve
from focuseval.retrieval.sweeping import sweep
from focuseval.retrieval.swept import Sweep

CHUNKINGS = ("sentences:1", "sentences:3", "headings:2", "words:100")
CHUNK_MEASURES = ("IoU@3", "spanR@600c")
SWEEP = f"focuseval sweep harbour/gold.jsonl --docs harbour/docs --chunks {' '.join(CHUNKINGS)} -m IoU@3"
"""Which chunks of the handbook serve its questions best: the first of `CHUNK_MEASURES` decides."""

HANDBOOK = "Which chunks for the harbour handbook?"  # the title of the report on them

NEXT = (
    f"{SWEEP} -o chunks.html",
    "focuseval topics topics.xml",
    "focuseval validate runs/thorough/careful.xml --task focused --index articles.idx",
    "focuseval score gold/gold.jsonl runs/focused/*.xml --task focused -m nxCG@10 -m MAiP --index articles.idx",
    "focuseval report gold/gold.jsonl runs/focused/*.xml --task focused --index articles.idx -o focused.html",
    "focuseval convert runs/focused/careful.xml careful.jsonl --to run-jsonl --index articles.idx",
)
"""Commands to try in the demonstration's folder."""

OWN = (
    "focuseval index FOLDER -o my.idx",
    "focuseval retrieve my.idx topics.tsv -o elements.xml",
    "focuseval pool elements.xml --depth 20 -o pool.jsonl",
    "focuseval assess judging --index my.idx --topics topics.tsv --pool pool.jsonl",
    "focuseval report judging elements.xml --index my.idx --task focused -o report.html",
)
"""The same with a folder of one's own; docs/howto/first-run.md explains each."""

TASKS = {
    "thorough": ("Any elements, which may contain each other.", ("MAep", "iMAep", "ep@0.1", "ep@0.5")),
    "focused": ("Parts that do not overlap: nxCG, what a reader gains by rank k.", None),
    "relevant-in-context": ("Articles, and the parts to read in each.", None),
    "best-in-context": ("Articles, and one place to begin in each.", ("BEPD(A=0.1)", "EPRUM(A=0.1)", "BEPD(A=1)")),
}
"""The tasks of 2006; measures stand here where the profile has more than a first look needs."""

SPAN_MEASURES = ("spanR@3", "spanP@3", "IoU@3", "spanR@2000c", "hit@1")
RETRIEVED_MEASURES = ("nxCG@10", "MAiP")
REPORT_MEASURES = ("MAgP", "gP@5", "MAiP", "iP@0.01", "hAP")


@dataclass(frozen=True)
class Section:
    """What one step of the loop has to show."""

    title: str
    text: str
    table: Table
    command: str = ""
    """How to get the same from the shell."""
    signature: str = ""  # of the scores in the table


@dataclass(frozen=True)
class Loop:
    """The example in a folder, and what is read from it once."""

    folder: Path

    @cached_property
    def index(self) -> Index:
        """The indexed articles."""
        return open_index(self.folder / "articles.idx")

    @cached_property
    def gold(self) -> Gold:
        """The highlights."""
        return read_gold(self.folder / "gold" / "gold.jsonl", index=self.index)

    @cached_property
    def sweep(self) -> Sweep:
        """The chunkings of the harbour handbook, compared by its questions."""
        handbook = self.folder / "harbour"
        return sweep(handbook / "gold.jsonl", handbook / "docs", CHUNKINGS, measures=CHUNK_MEASURES)

    def runs(self, task: str) -> list[Path]:
        """Return a task's run files."""
        return sorted(path for path in (self.folder / "runs" / task).iterdir() if path.is_file())

    def scores(self, task: str, measures: tuple[str, ...] | None) -> Scores:
        """Score a task's runs: chunks on their own, everything else under the profile of 2006."""
        runs = [read_run(path, index=self.index) for path in self.runs(task)]
        profile = None if task == "spans" else "inex2006"
        return evaluate(self.gold, runs, measures, task=task, profile=profile, index=self.index)


def run_demo(folder: Path, show: Callable[[Section], None]) -> Path:
    """Put the example into a folder, go through every step, show each section, and return the report's path."""
    copy_example(folder)
    build_index([folder / "articles"], folder / "articles.idx", jobs=1, force=True)
    loop, sections = Loop(folder), []
    for part in walk(loop):
        show(part)
        sections.append(part)
    lead = "Seventeen articles on finding one's way at sea, six topics, and three systems of different quality."
    loop_page = templates(ROOT).get_template("loop.html")
    shown = loop_page.render(title="focuseval: the embedded example", lead=lead, parts=sections)
    write_whole(folder / "loop.html", [shown.encode()])
    write_whole(folder / "report.html", [render_html(loop.sweep.report(HANDBOOK)).encode()])
    title, topics = "The embedded example: careful, coarse, hasty", read_topics(folder / "topics.xml")
    how: dict[str, Any] = {"index": loop.index, "task": "relevant-in-context", "profile": "inex2006"}
    inex = build_report(loop.gold, loop.runs(how["task"]), REPORT_MEASURES, title=title, topics=topics, **how)
    write_whole(folder / "inex.html", [render_html(inex).encode()])
    return folder / "report.html"


def walk(loop: Loop) -> Iterator[Section]:
    """Go through the whole loop: chunks of a handbook, then articles, topics, runs, scores, and what they say."""
    found, topics_file = loop.sweep, loop.folder / "topics.xml"
    command = f"{SWEEP} -m spanR@600c"
    yield Section("Chunks for a RAG system", found.advice(), found.table(), command, found.scores.signature)

    sizes = describe(loop.index)
    counts: tuple[Row, ...] = (
        ("articles", sizes.documents), ("elements", sizes.elements),
        ("elements per article", sizes.elements_per_article), ("mean depth of an element", sizes.mean_depth),
        ("characters", sizes.characters), ("characters per article", round(sizes.mean_length)),
    )  # fmt: skip
    text = "Every element has a path and a span of code points in its article's text."
    table = Table("", (*words(""), *numbers("", form=",.2f")), counts)
    yield Section("The collection", text, table, "focuseval stats articles.idx")

    judged, passages = loop.gold.articles, loop.gold.passages
    relevant = dict(zip(loop.gold.topics, np.bincount(judged.topic[judged.relevance > 0]), strict=True))
    lengths = np.bincount(passages.topic, passages.end - passages.start)
    characters = dict(zip(loop.gold.topics, lengths, strict=True))
    known = read_topics(topics_file)
    asked = tuple((one.id, one.kind, one.title, int(relevant[one.id]), int(characters[one.id])) for one in known)
    text = "For each topic somebody highlighted the text that answers it, and marked where to begin reading."
    columns = (*words("topic", "kind", "title"), *numbers("relevant articles", "highlighted"))
    yield Section("Topics and gold", text, Table("", columns, asked), "focuseval topics topics.xml")

    rows: list[Row] = []
    for path in (path for task in (*TASKS, "spans") for path in loop.runs(task)):
        run = read_run(path, index=loop.index)
        rows.append((str(path.relative_to(loop.folder)), len(run), len(check(run, path.parent.name, index=loop.index))))
    text = "A run that breaks its task's rules would get a number that means nothing, so it is checked first."
    table = Table("", (*words("run"), *numbers("results", "broken rules")), tuple(rows))
    command = "focuseval validate runs/focused/careful.xml --task focused --index articles.idx"
    yield Section("Runs", text, table, command)

    for task, (text, measures) in TASKS.items():
        scores, command = loop.scores(task, measures), f"{_score_command(task, measures)} --profile inex2006"
        yield Section(f"Task: {task}", text, scores.table(), command, scores.signature)

    made = replace(retrieve(loop.index, topics_file, run_id="bm25"), file="bm25.xml")
    write_run(made, loop.folder / "bm25.xml", "inex-xml", index=loop.index)
    runs = [made, *(read_run(path, index=loop.index) for path in loop.runs("focused"))]
    scores = evaluate(loop.gold, runs, RETRIEVED_MEASURES, task="focused", profile="inex2006", index=loop.index)
    text = "No run of your own yet? This one was made here, from the index and the topics: BM25 over all elements."
    command = "focuseval retrieve articles.idx topics.xml -o bm25.xml --run-id bm25"
    yield Section("A run made here", text, scores.table(), command, scores.signature)

    scores = loop.scores("spans", SPAN_MEASURES)
    text = "The same gold measures the chunks of a RAG system: cut at paragraphs, or every 300 characters."
    yield Section("Chunks", text, scores.table(), _score_command("spans", SPAN_MEASURES), scores.signature)

    scores = loop.scores("relevant-in-context", ("MAgP",))
    text = "Six topics are few: with real collections, ask for fifty."
    given = "-m MAgP --task relevant-in-context --profile inex2006 --index articles.idx"
    command = f"focuseval compare gold/gold.jsonl runs/relevant-in-context/* {given}"
    yield Section("Which differences are real", text, scores.compare("MAgP").table(), command, scores.signature)


def _score_command(task: str, measures: tuple[str, ...] | None) -> str:
    """Spell the command that prints the same table; brackets are quoted for the shell."""
    asked = "".join(f"-m '{name}' " if "(" in name else f"-m {name} " for name in measures or ())
    return f"focuseval score gold/gold.jsonl runs/{task}/* --task {task} {asked}--index articles.idx"
