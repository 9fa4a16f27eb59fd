r"""Topics of a project: INEX topics in XML, or questions as lines of JSON.

::

    {"topic": "q1", "query": "How deep is the keel?"}
    {"topic": "q2", "query": "Who wrote the log?", "description": "…", "narrative": "What counts as relevant."}

Our own gold JSONL is read too: its first line for a topic carries the query.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from focuseval.errors import FormatError, Place
from focuseval.topics import Topic, read_topics

_TEXTS = ("query", "description", "narrative")


def read_questions(source: str | Path) -> tuple[Topic, ...]:
    """Return the topics of a file or folder, whichever of the two kinds it is."""
    path = Path(source)
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        return read_topics(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"expected questions, found: {error}", at=str(path)) from error
    topics: dict[str, Topic] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            topic = _question(line, Place(str(path), number))
            if topic.title or topic.id not in topics:
                topics[topic.id] = topic
    unasked = [topic for topic in topics.values() if not topic.title]
    if unasked or not topics:
        what = f"no query for topic {unasked[0].id!r}" if unasked else "nothing"
        raise FormatError(
            f"expected a query for every topic, found {what}", at=unasked[0].place if unasked else str(path)
        )
    return tuple(topics.values())


def _question(line: str, at: Place) -> Topic:
    try:
        value: dict[str, Any] = json.loads(line)
        name = value["topic"] if "topic" in value else value["id"]
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError('expected {"topic": …, "query": …}', at=at) from error
    texts = [value.get(key, "") for key in _TEXTS]
    if not all(isinstance(text, str) for text in texts):
        raise FormatError("expected texts as query, description and narrative", at=at)
    return Topic(str(name), "CO", title=texts[0], description=texts[1], narrative=texts[2], place=at)
