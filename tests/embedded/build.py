"""Derive the example's gold and runs from its articles, topics and quotes: ``python -m embedded.build``.

The derived files are committed; a test derives them again and compares the bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from embedded.assessments import by_topic
from embedded.chunks import chunk_units, rank_chunks
from embedded.harbour import build_harbour
from embedded.judge import read_judgements
from embedded.rank import units
from embedded.runs import PLANS, as_run, make_run
from focuseval.collection.documents import open_documents
from focuseval.data.topics import read_topics
from focuseval.example import ROOT
from focuseval.formats.convert import write_gold, write_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from focuseval.collection.index import Index
    from focuseval.data.topics import Topic

_RUN_FORMAT = {"path": ("inex-xml", ".xml"), "span": ("inex-text", ".txt"), "point": ("inex-text", ".txt")}


def build(folder: Path) -> None:
    """Write every derived file of the example below a folder."""
    index = open_documents(ROOT / "articles")
    topics = read_topics(ROOT / "topics.xml")
    write_topics(topics, folder / "topics-2009.xml")
    build_gold(folder / "gold", index, topics)
    build_runs(folder / "runs", index, topics)
    build_chunk_runs(folder / "runs" / "spans", index, topics)
    build_harbour(ROOT / "harbour", folder / "harbour")


def write_topics(topics: Sequence[Topic], path: Path) -> None:
    """Write topics as 2009 and 2010 did: all in one file, the kind left to the titles."""
    names = ("title", "castitle", "description", "narrative")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<inex-topic-file>"]
    for topic in topics:
        lines.append(f'<topic id="{escape(topic.id)}" ct_no="{escape(topic.ct_no)}">')
        texts = {name: getattr(topic, name) for name in names}
        lines += [f"<{name}>{escape(text)}</{name}>" for name, text in texts.items() if text]
        lines.append("</topic>")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "</inex-topic-file>", ""]), encoding="utf-8", newline="\n")


def build_gold(folder: Path, index: Index, topics: Sequence[Topic]) -> None:
    """Write the highlights as our JSONL, as 2005–2007 did and as 2008–2010 did."""
    (folder / "assessments").mkdir(parents=True, exist_ok=True)
    gold = read_judgements(ROOT / "judgements.toml", index, {topic.id: topic.description for topic in topics})
    write_gold(gold, folder / "gold.jsonl", "gold-jsonl")
    write_gold(gold, folder / "qrels.txt", "inex-2008")
    for topic, one in by_topic(gold, index):
        write_gold(one, folder / "assessments" / f"{topic}.xml", "inex-2005")


def build_runs(folder: Path, index: Index, topics: Sequence[Topic]) -> None:
    """Write three runs for each task."""
    every = units(index)
    for plan in PLANS:
        form, suffix = _RUN_FORMAT[plan.place]
        path = folder / plan.task / f"{plan.ranker.name}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_run(make_run(plan, every, topics), path, form)


def build_chunk_runs(folder: Path, index: Index, topics: Sequence[Topic]) -> None:
    """Write the ranked chunks of both chunkings."""
    folder.mkdir(parents=True, exist_ok=True)
    for cut in ("paragraphs", "windows"):
        chunks = chunk_units(index, cut)
        found = {topic.id: rank_chunks(topic.description, chunks) for topic in topics}
        write_run(as_run(cut, "spans", found, "span"), folder / f"{cut}.jsonl", "run-jsonl")


if __name__ == "__main__":
    build(ROOT)
