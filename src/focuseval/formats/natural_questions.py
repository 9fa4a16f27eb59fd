"""Natural Questions: long answers in the bytes of a page's HTML, one JSON object a line.

::

    {"example_id": 797803103760793766, "question_text": "who founded …", "document_url": "https://…",
     "document_html": "<!DOCTYPE html>…",
     "annotations": [{"long_answer": {"start_byte": 212, "end_byte": 460, "candidate_index": 3}}]}

A topic is an example, a document the HTML of its page: its id is `document_url` (which names the revision), else
`document_title`, else the example's id. Bytes are those of the page in UTF-8; they become code points through the
page in the record, or through the documents given when the record has none (`document_html` left out); for the texts
of a run ``--docs FILE`` names the file once more. A
`start_byte` of −1 means that this annotator found no long answer; the long answers of all annotators are united. The
simplified form of the data set has tokens in place of bytes, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from focuseval.collection.index import Collection
from focuseval.errors import FormatError, Place
from focuseval.formats.content import Source
from focuseval.formats.json_records import json_items
from focuseval.formats.judgements import Question, Span, gold_reader, text_of
from focuseval.formats.rows import field
from focuseval.placing.normalise import from_bytes


@gold_reader
def read(sources: Sequence[Source], documents: Collection | None = None) -> Iterator[Question]:
    """Return the long answers of all examples."""
    for source in sources:
        for line, record, _ in json_items(source):
            at = source.at(line)
            name, page = _name(record, "example_id", at), _page(record, at)
            query = field(record, "question_text", str, at, f"example {name}")
            answers = []
            for annotation in field(record, "annotations", list, at):
                answer = field(annotation, "long_answer", dict, at, "an annotation")
                if "start_token" in answer and "start_byte" not in answer:
                    what = (
                        "expected 'start_byte' of long_answer, found tokens alone, as the simplified data set has them"
                    )
                    raise FormatError(what, at=at, remedy="read the original data set")
                start, end = (field(answer, key, int, at, "long_answer") for key in ("start_byte", "end_byte"))
                answers += [(start, end)] if start >= 0 else []
            text = record.get("document_html") or (text_of(documents, page, name, at) if answers else "")
            spans = []
            for span in answers:
                first, last = from_bytes(text, span).tolist()
                if min(first, last) < 0:
                    what = f"expected bytes at which characters of {page!r} begin for topic {name!r}, found {span}"
                    remedy = "the page must be the very bytes that were annotated, in UTF-8"
                    raise FormatError(what, at=at, remedy=remedy)
                spans.append(Span(page, first, last))
            yield Question(query, spans, at, name, [page])


def embedded_texts(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield the id and the HTML of every page, once."""
    seen: set[str] = set()
    for source in sources:
        for line, record, _ in json_items(source):
            page = _page(record, source.at(line))
            if page not in seen:
                seen.add(page)
                yield page, field(record, "document_html", str, source.at(line))


def _name(record: dict[str, Any], key: str, at: Place) -> str:
    """Return an id, which may be written as a number."""
    return str(record[key]) if isinstance(record.get(key), int) else field(record, key, str, at)


def _page(record: dict[str, Any], at: Place) -> str:
    """Return the id of the page."""
    name = record.get("document_url") or record.get("document_title")
    return name if isinstance(name, str) else _name(record, "example_id", at)
