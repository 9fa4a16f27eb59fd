"""The SQuAD family (1.1, 2.0, XQuAD, MLQA …): answers inside paragraphs, one JSON document.

::

    {"data": [{"title": "Warsaw", "paragraphs": [{"context": "…", "qas": [
        {"id": "57…", "question": "…", "answers": [{"text": "…", "answer_start": 177}]}]}]}]}

Each paragraph is a document of its own. Its id is the article's title, ``#`` and the paragraph's number in that
title, from 0: ``Warsaw#0``; an article without a title is called ``article1``, ``article2`` … The file carries these
texts: ``--docs FILE`` names it once more. `answer_start` counts code points and is often wrong: `text`
is the quote to verify it by (a negative one means unknown).
Several answers to a question are alternatives of several annotators: their union is relevant. A question of 2.0
without answers (``is_impossible``) judges its paragraph as not relevant.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from focuseval.collection import open_documents
from focuseval.errors import FormatError, Place
from focuseval.formats.json_records import Lines, field, parse
from focuseval.formats.judgements import Judgements
from focuseval.formats.span_gold import Span, SpanGold, spans_of, text_of
from focuseval.gold import UNKNOWN
from focuseval.place import place_gold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.collection import Collection
    from focuseval.formats.source import Source
    from focuseval.gold import Gold


def read(sources: Sequence[Source], documents: Collection | None = None) -> Gold:
    """Return the answers of all questions, verified against their paragraphs; `documents` are not needed for that."""
    del documents
    return place_gold(read_quotes(sources), open_documents(dict(carried(sources))), quiet=True)


def read_quotes(sources: Sequence[Source]) -> Gold:
    """Return the answers of all questions, as the file places them."""
    spans = SpanGold(Judgements())
    numbers: dict[str, int] = {}
    for code, source in enumerate(sources):
        lines = Lines(source)
        for document, paragraph in _paragraphs(source, numbers):
            for qa in field(paragraph, "qas", list, source.at(), document):
                name = (
                    str(qa["id"])
                    if isinstance(qa, dict) and "id" in qa
                    else field(qa, "id", str, source.at(), document)
                )
                at = source.at(lines.of(name))
                topic = spans.topic(name, field(qa, "question", str, at, f"question {name!r}"))
                answers = field(qa, "answers", list, at, f"question {name!r}")
                spans.add(topic, [_span(answer, document, at, name) for answer in answers], at, code, [document])
    return spans.gold(sources)


def carried(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of every paragraph."""
    numbers: dict[str, int] = {}
    for source in sources:
        for document, paragraph in _paragraphs(source, numbers):
            yield document, field(paragraph, "context", str, source.at(), document)


def _paragraphs(source: Source, numbers: dict[str, int]) -> Iterator[tuple[str, Any]]:
    """Yield every paragraph's document id and object; `numbers` counts the paragraphs of each title."""
    for i, article in enumerate(field(parse(source), "data", list, source.at()), 1):
        title = article.get("title") if isinstance(article, dict) else None
        for paragraph in field(article, "paragraphs", list, source.at(), f"article {i}"):
            name = title or f"article{i}"
            numbers[name] = numbers.get(name, -1) + 1
            yield f"{name}#{numbers[name]}", paragraph


def _span(answer: Any, document: str, at: Place, name: str) -> Span:
    """Return one answer's span."""
    text = field(answer, "text", str, at, f"an answer to {name!r}")
    start = field(answer, "answer_start", int, at, f"an answer to {name!r}")
    if not text:
        raise FormatError(f"expected an answer's text for topic {name!r}, found an empty one", at=at)
    return Span(document, start, start + len(text), text) if start >= 0 else Span(document, UNKNOWN, UNKNOWN, text)


def write(gold: Gold, documents: Collection | None = None) -> Iterator[bytes]:
    """Yield the gold as one JSON document, an article for each document; the texts must be given."""
    ids = gold.documents.to_pylist()
    articles: dict[str, dict[str, Any]] = {}
    for (topic, document), group in spans_of(gold).items():
        name, at = gold.topics[topic], Place(gold.file or "<gold>")
        text = text_of(documents, ids[document], name, at)
        answers = [{"text": text[span.start : span.end], "answer_start": span.start} for span in group]
        record = {"id": name, "question": gold.queries.get(name, name), "answers": answers}
        paragraph = articles.setdefault(ids[document], {"context": text, "qas": []})
        paragraph["qas"].append(record | ({} if answers else {"is_impossible": True}))
    data = [{"title": _title(name), "paragraphs": [paragraph]} for name, paragraph in articles.items()]
    yield json.dumps({"version": "1.1", "data": data}, ensure_ascii=False).encode() + b"\n"


def _title(document: str) -> str:
    """Return the title that a document's id came from."""
    title, separator, number = document.rpartition("#")
    return title if separator and number.isdigit() else document
