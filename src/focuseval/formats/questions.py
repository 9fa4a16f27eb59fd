"""What is asked: topics from a file of their own, or the questions that a gold of spans holds beside its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.data.topics import read_topics
from focuseval.data.topics.topic import plain_topic
from focuseval.engine.storage import location
from focuseval.formats.files import read_gold
from focuseval.formats.source import open_source
from focuseval.formats.span_formats import SPAN_GOLDS

if TYPE_CHECKING:
    from pathlib import Path

    from focuseval.data.topics import Topic


def read_questions(source: str | Path) -> tuple[Topic, ...]:
    """Return the topics of a file, a folder or standard input (`read_topics`), or the questions of a gold.

    A gold is one of chunking_evaluation, LegalBench-RAG, SQuAD, Qasper and the like; its questions have the ids of the
    gold's topics.
    """
    return _of_gold(source) or read_topics(source)


def _of_gold(source: str | Path) -> tuple[Topic, ...]:
    """Return the questions of a gold; none where the file is no such gold, or holds none."""
    if str(source) == "-" or not location(source).is_file():
        return ()
    opened = open_source(source, hashed=False)
    known = next((one for one in SPAN_GOLDS if one.sniff(opened.head())), None)
    if known is None:
        return ()
    queries = read_gold(opened, known.name).queries
    return tuple(plain_topic(topic, query) for topic, query in queries.items() if query.strip())
