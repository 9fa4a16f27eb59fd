"""The SQuAD family (1.1, 2.0, XQuAD, MLQA …): answers inside paragraphs, one JSON document.

::

    {"data": [{"title": "Warsaw", "paragraphs": [{"context": "…", "qas": [
        {"id": "57…", "question": "…", "answers": [{"text": "…", "answer_start": 177}]}]}]}]}
    {"id": "57…", "title": "Warsaw", "context": "…", "question": "…", "answers": {"text": ["…"], "answer_start": [177]}}

The second form, a question a line or in a list, is how Hugging Face writes the same. Each paragraph is a document of
its own. Its id is what the paragraph or its article gives as ``document_id`` (or ``doc_id``, ``docid`` …), else the
article's title (``article1``, ``article2`` … without one), where no other paragraph has the same; where several have,
the number among them is added, from 0: ``Warsaw#0``. The file contains these texts: name it again as ``--docs FILE``.
`answer_start` counts code points and is often wrong: `text` is the quote to verify it by (a negative one means
unknown).
Several answers to a question are alternatives of several annotators: their union is relevant, and for measures of
needed spans (needR) any of them is enough. A question of 2.0 without answers (``is_impossible``) judges its paragraph
as not relevant, and is one that nothing answers (silence, waste).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from focuseval.collection.documents import open_documents
from focuseval.collection.index import Collection
from focuseval.data.fields import value
from focuseval.data.gold import ANSWERABLE, UNKNOWN, Gold
from focuseval.errors import FormatError, Place
from focuseval.formats.content import Source
from focuseval.formats.detection import FLAT_SQUAD, first_keys
from focuseval.formats.judgements import Question, Span, gold_reader, spans_of, text_of
from focuseval.formats.rows import Lines, field, parse, rows_of
from focuseval.placing.place import place_gold


def read(sources: Sequence[Source], documents: Collection | None = None) -> Gold:
    """Return the answers of all questions, verified against their paragraphs; `documents` are not needed for that."""
    del documents
    return place_gold(read_quotes(sources), open_documents(dict(embedded_texts(sources))), quiet=True)


@gold_reader
def read_quotes(sources: Sequence[Source]) -> Iterator[Question]:
    """Return the answers of all questions, as the file places them."""
    lines = [Lines(source) for source in sources]
    for code, document, paragraph in _documents(sources):
        for qa in field(paragraph, "qas", list, sources[code].at(), document):
            known = isinstance(qa, dict) and "id" in qa
            name = str(qa["id"]) if known else field(qa, "id", str, sources[code].at(), document)
            at = sources[code].at(lines[code].of(name))
            query = field(qa, "question", str, at, f"question {name!r}")
            spans = []
            for answer in field(qa, "answers", list, at, f"question {name!r}"):
                text = field(answer, "text", str, at, f"an answer to {name!r}")
                start = field(answer, "answer_start", int, at, f"an answer to {name!r}")
                if not text:
                    raise FormatError(f"expected an answer's text for topic {name!r}, found an empty one", at=at)
                span = (start, start + len(text)) if start >= 0 else (UNKNOWN, UNKNOWN)
                spans.append(Span(document, *span, text))
            alternatives = [one._replace(need="answer") for one in spans] if len(set(spans)) > 1 else spans
            facts = {"group": re.sub(r"#\d+$", "", document)}
            facts |= {ANSWERABLE: "no"} if not spans and qa.get("is_impossible") is True else {}
            yield Question(query, alternatives, at, name, [document], facts)


def embedded_texts(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of every paragraph."""
    for code, document, paragraph in _documents(sources):
        yield document, field(paragraph, "context", str, sources[code].at(), document)


def _documents(sources: Sequence[Source]) -> list[tuple[int, str, Any]]:
    """Return every paragraph with the number of its file and its document id: its name, where that is unique.

    Its name is its own document id, its article's, or the article's title.
    """
    found, names = list[tuple[int, Any]](), list[str]()
    for code, source in enumerate(sources):
        at, flat = source.at(), first_keys(source.head()) >= FLAT_SQUAD
        for i, article in enumerate(_articles(source) if flat else field(parse(source), "data", list, at), 1):
            for paragraph in field(article, "paragraphs", list, at, f"article {i}"):
                own = value(paragraph, "doc", at) if isinstance(paragraph, dict) else None
                names.append(str(own or value(article, "doc", at) or article.get("title") or f"article{i}"))
                found.append((code, paragraph))
    often, seen, numbered = Counter(names), Counter[str](), []
    for name in names:
        numbered.append(f"{name}#{seen[name]}")
        seen[name] += 1
    ids = [name if often[name] == 1 else other for name, other in zip(names, numbered, strict=True)]
    ids = ids if len(set(ids)) == len(ids) else numbered
    return [(code, document, paragraph) for (code, paragraph), document in zip(found, ids, strict=True)]


def _articles(source: Source) -> list[dict[str, Any]]:
    """Return rows of questions as articles; equal contexts under one title are one paragraph."""
    articles: dict[str, dict[str, dict[str, Any]]] = {}
    for line, row in rows_of(source):
        at = source.at(line)
        context, title = field(row, "context", str, at), str(row.get("title") or "")
        named = {"document_id": said} if (said := value(row, "doc", at)) is not None else {}
        paragraph = articles.setdefault(title, {}).setdefault(context, {**named, "context": context, "qas": []})
        answers = row.get("answers")
        if isinstance(answers, dict):
            texts, starts = (field(answers, name, list, at, "answers") for name in ("text", "answer_start"))
            answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=False)]
        paragraph["qas"].append({**row, "answers": answers})
    return [{"title": title, "paragraphs": list(paragraphs.values())} for title, paragraphs in articles.items()]


def write(gold: Gold, documents: Collection | None = None) -> Iterator[bytes]:
    """Yield the gold as one JSON document, an article for each document; the texts must be given."""
    ids = gold.documents.to_pylist()
    articles: dict[str, dict[str, Any]] = {}
    for (topic, document), group in spans_of(gold).items():
        name, at = gold.topics[topic], Place(gold.file or "<gold>")
        text = text_of(documents, ids[document], name, at)
        answers = [{"text": text[span.start : span.end], "answer_start": span.start} for span in group]
        record = {"id": name, "question": gold.queries.get(name, name), "answers": answers}
        paragraph = articles.setdefault(ids[document], {"document_id": ids[document], "context": text, "qas": []})
        paragraph["qas"].append(record | ({} if answers else {"is_impossible": True}))
    titles = [re.sub(r"#\d+\Z", "", name) for name in articles]  # without the number that reading added
    data = [{"title": title, "paragraphs": [one]} for title, one in zip(titles, articles.values(), strict=True)]
    yield json.dumps({"version": "1.1", "data": data}, ensure_ascii=False).encode() + b"\n"
