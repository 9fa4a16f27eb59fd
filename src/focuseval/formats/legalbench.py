"""LegalBench-RAG: questions and the snippets that answer them, one JSON document beside a folder of texts.

::

    {"tests": [{"query": "…", "snippets": [{"file_path": "cuad/a.txt", "span": [7079, 7183]}], "tags": ["cuad"]}]}

Spans are half-open and count code points. A document's id is its `file_path`. Tests have no ids: their topics are
``q1``, ``q2`` … in file order, and the gold's `queries` say which is which. Tags are kept as the topic's attribute
``tags``, separated by commas. An `answer` beside a span is its quote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from focuseval.data.gold import Gold
from focuseval.errors import FormatError
from focuseval.formats.content import Source
from focuseval.formats.judgements import Question, Span, gold_reader, spans_of
from focuseval.formats.rows import Lines, field, parse


@gold_reader
def read(sources: Sequence[Source]) -> Iterator[Question]:
    """Return the snippets of all tests."""
    for source in sources:
        lines = Lines(source)
        for i, test in enumerate(field(parse(source), "tests", list, source.at())):
            query = field(test, "query", str, source.at(), f"tests[{i}]")
            at = source.at(lines.of(query))
            spans = []
            for snippet in field(test, "snippets", list, at, f"{query!r}"):
                path = field(snippet, "file_path", str, at, f"a snippet of {query!r}")
                span = field(snippet, "span", list, at, f"a snippet of {query!r}")
                if len(span) != 2 or not all(type(position) is int for position in span):
                    raise FormatError(f"expected a span [start, end] for {query!r}, found {span}", at=at)
                spans.append(Span(path, span[0], span[1], snippet.get("answer")))
            tags = {"tags": ",".join(map(str, test["tags"]))} if test.get("tags") else {}
            yield Question(query, spans, at, attributes=tags)


def write(gold: Gold) -> Iterator[bytes]:
    """Yield the gold as one JSON document; judged documents without relevant text have no place in it."""
    spans: dict[int, list[Span]] = {}
    for (topic, _), group in spans_of(gold).items():
        spans.setdefault(topic, []).extend(group)
    tests = []
    for code, name in enumerate(gold.topics):
        snippets = [{"file_path": span.document, "span": [span.start, span.end]} for span in spans.get(code, [])]
        tags = gold.attributes.get(name, {}).get("tags")
        test = {"query": gold.queries.get(name, name), "snippets": snippets}
        tests.append(test | {"tags": tags.split(",") if tags else []})
    yield json.dumps({"tests": tests}, ensure_ascii=False, indent=2).encode() + b"\n"
