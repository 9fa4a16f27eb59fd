"""Golds in whose files documents and questions are embedded, and the check of every quote against its document.

SQuAD, Qasper and Natural Questions hold the texts that their answers point into, and so does KILT's knowledge source.
`embedded_documents` gives them, for checking or for another file; `open_documents` opens them, as ``--docs`` does;
`check_quotes` says of every span whether it is where it was said to be. `read_questions` gives what is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from focuseval.collection import documents as collection
from focuseval.collection.document_files import json_files
from focuseval.collection.index import Collection, Index
from focuseval.data.fields import NAMES, WEAK, json_line, spelled
from focuseval.data.gold import Gold
from focuseval.data.placement import Alignment
from focuseval.data.tables import csv_lines
from focuseval.data.topics import Topic, read_topics
from focuseval.data.topics.reader import read_topic_bytes
from focuseval.data.topics.topic import plain_topic
from focuseval.engine.storage import in_order, location
from focuseval.errors import FormatError
from focuseval.formats import detection, traces
from focuseval.formats.catalogue import FORMATS, detect_source, find_format, sniffed
from focuseval.formats.content import Source, open_source, open_sources, write_whole
from focuseval.placing.place import align_gold
from focuseval.placing.texts import SIMILARITY, as_collection

_CARRIERS = {
    "squad": detection.squad,
    "qasper": detection.qasper,
    "kilt": detection.knowledge_source,
    "natural-questions": detection.natural_questions,
}
"""Formats of files with embedded documents, and how such a file is detected."""
_WITH_QUESTIONS = {
    *("legalbench-rag", "chunking-evaluation", "squad", "qasper", "natural-questions", "kilt"),
    *("trec-genomics", "trec-rag"),
}
"""Golds of spans, which are no topics, even where they hold no questions."""


def embedded_documents(path: str | Path, format: str | None = None) -> dict[str, str]:  # noqa: A002  the field's word
    """Return the texts that are embedded in a gold file (or in KILT's knowledge source), by document id."""
    sources = open_sources(path)
    chosen = find_format(format, "gold") if format else detect_source(sources[0], "gold")
    embedded = chosen.find("embedded_texts")
    if embedded is None:
        raise FormatError(f"expected a format that contains its documents, found {chosen.name}", at=str(path))
    return dict(embedded(sources))


def open_documents(path: Index | str | Path | Mapping[str, str]) -> Index:
    """Open documents as an index in memory: whatever ``--docs`` takes.

    A folder, an archive, a file, a JSONL of ``{"id", "text"}``, a folder of BEIR, a gold in which its documents are
    embedded (SQuAD, Qasper, Natural Questions), KILT's knowledge source, segments (TREC RAG), of which the documents
    are put together, or a mapping from ids to texts. A folder that is an index is opened as one; an open index is
    returned as it is. JSON lines may be compressed, and several files in a folder.

    >>> open_documents({"a.md": "To be, or not to be."}).text(0)
    'To be, or not to be.'
    """
    if isinstance(path, Index):
        return path
    place = None if isinstance(path, Mapping) else location(path)
    if place is not None and place.is_file() and json_files(place):
        source = open_source(place)
        chosen = next((name for name, sniff in _CARRIERS.items() if sniff(source.head())), None)
        if chosen is not None:
            return collection.open_documents(embedded_documents(str(place), chosen))
    return collection.open_documents(path)


def write_documents(documents: Mapping[str, str], path: str | Path) -> None:
    """Write texts as JSON lines of ``{"id", "text"}``, which ``--docs`` takes; whole or not at all."""
    write_whole(path, (json_line({"id": name, "text": text}, "replace") for name, text in documents.items()))


def check_quotes(
    path: str | Path,
    documents: Collection | Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002  the field's word
    similarity: float = SIMILARITY,
) -> tuple[Gold, Alignment]:
    """Return a gold with every quote verified or repaired, and what was found.

    Without `documents` they must be embedded in the file.
    """
    sources = open_sources(path)
    chosen = find_format(format, "gold") if format else detect_source(sources[0], "gold")
    texts = as_collection(embedded_documents(path, chosen.name) if documents is None else documents)
    read = chosen.find(f"{chosen.function}_quotes")
    gold: Gold = read(sources) if read else chosen.reader(texts)(sources)
    return align_gold(replace(gold, placement=None), texts, similarity=similarity)


def write_repairs(table: pa.Table, path: str | Path) -> None:
    """Write a table of repairs as CSV, or as JSON lines where the name ends in ``.jsonl``; whole or not at all."""
    if str(path).endswith(".jsonl"):
        write_whole(path, (json_line(row, "replace") for row in table.to_pylist()))
        return
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    write_whole(path, [csv_lines([table.column_names, *rows]).encode("utf-8", "replace")])


def open_traces(source: str | Path) -> tuple[Source, ...]:
    """Return the files of traces that a name stands for; none where it stands for something else."""
    place = location(source)
    files = in_order(place.rglob("*")) if place.is_dir() else [place]
    first = next((file for file in files if file.is_file() and not file.name.startswith(".")), None)
    opened = None if str(source) == "-" or first is None else open_source(first)
    if opened is None or not detection.traces(opened.head()):
        return ()
    return open_sources(source) if place.is_dir() else (opened,)


def read_questions(source: str | Path) -> tuple[Topic, ...]:
    """Return the topics of a file, a folder or standard input (`read_topics`), or the questions of a gold.

    Of traces it is what was asked (`focuseval.formats.traces`). A gold is one of chunking_evaluation, LegalBench-RAG,
    SQuAD, Qasper and the like; its questions have the ids of the gold's topics.
    """
    if traced := open_traces(source):
        return traces.read_topics(traced)[0]
    if str(source) == "-" or not location(source).is_file():
        return read_topics(source)
    opened = open_source(source, hashed=False)
    known = next((one for one in FORMATS if one.name in _WITH_QUESTIONS and one.sniff(opened.head())), None)
    queries = known.reader(None)([opened]).queries if known is not None else {}
    asked = tuple(plain_topic(topic, query) for topic, query in queries.items() if query.strip())
    keys = detection.first_keys(opened.head())
    results = keys & {"rank", *NAMES["doc"]} - WEAK and not spelled(keys, "query")  # else a text is what is asked
    if not asked and results and (run := sniffed(opened.head(), "run")):
        what = f"expected topics, found a run ({run.name})"
        raise FormatError(what, at=opened.name, remedy="name the file of the questions")
    return asked or read_topic_bytes(opened.data, opened.name)
