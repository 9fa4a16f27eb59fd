"""chunking_evaluation: a CSV of questions, each with its references in one corpus.

::

    question,references,corpus_id
    What …?,"[{""content"": ""…"", ""start_index"": 27346, ""end_index"": 27425}]",state_of_the_union

`references` is JSON; indexes count code points, half-open, and `content` is the quote. A document's id is its
`corpus_id`, which is also the question's tag. Questions have no ids: their topics are ``q1``, ``q2`` … in file order.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from focuseval.errors import FormatError, Place
from focuseval.formats.json_records import field
from focuseval.formats.judgements import Span, SpanGold, spans_of, text_of
from focuseval.formats.rows import table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.collection.index import Collection
    from focuseval.data.gold import Gold
    from focuseval.formats.source import Source

COLUMNS = ("question", "references", "corpus_id")


def read(sources: Sequence[Source], documents: Collection | None = None) -> Gold:
    """Return the references of all questions, as the file places them."""
    del documents
    spans, number = SpanGold(), 0
    for code, source in enumerate(sources):
        for line, row in table_rows(source, COLUMNS):
            number += 1
            at = source.at(line)
            corpus = row["corpus_id"]
            try:
                references = json.loads(row["references"])
            except json.JSONDecodeError as error:
                raise FormatError(f"expected references as JSON, found: {error.msg}", at=at) from error
            if not isinstance(references, list):
                raise FormatError(f"expected a list of references, found {row['references'][:60]!r}", at=at)
            found = []
            for reference in references:
                start, end = (field(reference, f"{name}_index", int, at, "a reference") for name in ("start", "end"))
                found.append(Span(corpus, start, end, field(reference, "content", str, at)))
            topic = spans.topic(f"q{number}", row["question"])
            spans.add(topic, found, at, code, [corpus])
            spans.rows.attributes[topic] = {"tags": corpus.replace(",", " ")}
    return spans.gold(sources)


def write(gold: Gold, documents: Collection | None = None) -> Iterator[bytes]:
    """Yield a row for every question; this format has one document for each.

    `documents` gives the quotes where the gold has none.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    ids, written = gold.documents.to_pylist(), set()
    for (topic, document), group in spans_of(gold).items():
        name = gold.topics[topic]
        if topic in written:
            raise FormatError(
                f"expected one document for a question, found another for topic {name!r}: {ids[document]!r}",
                remedy="write LegalBench-RAG or JSONL, which hold several",
            )
        written.add(topic)
        text = None if documents is None else text_of(documents, ids[document], name, Place(gold.file or "<gold>"))
        references = [
            {
                "content": (one.quote or "") if text is None else text[one.start : one.end],
                "start_index": one.start,
                "end_index": one.end,
            }
            for one in group
        ]
        writer.writerow([gold.queries.get(name, name), json.dumps(references), ids[document]])
    yield out.getvalue().encode()
