"""chunking_evaluation: a CSV of questions, each with its references in one corpus.

::

    question,references,corpus_id
    What …?,"[{""content"": ""…"", ""start_index"": 27346, ""end_index"": 27425}]",state_of_the_union

`references` is JSON; indexes count code points, half-open, and `content` is the quote. A document's id is its
`corpus_id`, which is also the question's tag. Questions have no ids: their topics are ``q1``, ``q2`` … in file order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from focuseval.collection.index import Collection
from focuseval.data.fields import json_fault
from focuseval.data.gold import Gold
from focuseval.data.tables import csv_lines
from focuseval.errors import FormatError, Place
from focuseval.formats.content import Source
from focuseval.formats.judgements import Question, Span, gold_reader, spans_of, text_of
from focuseval.formats.rows import field, table_rows

COLUMNS = ("question", "references", "corpus_id")


@gold_reader
def read(sources: Sequence[Source], documents: Collection | None = None) -> Iterator[Question]:
    """Return the references of all questions, as the file places them."""
    del documents
    for source in sources:
        for line, row in table_rows(source, COLUMNS):
            at, corpus = source.at(line), row["corpus_id"]
            try:
                references = json.loads(row["references"])
            except (ValueError, RecursionError) as error:
                raise FormatError(f"expected references as JSON, found: {json_fault(error)}", at=at) from error
            if not isinstance(references, list):
                raise FormatError(f"expected a list of references, found {row['references'][:60]!r}", at=at)
            spans = []
            for reference in references:
                start, end = (field(reference, f"{name}_index", int, at, "a reference") for name in ("start", "end"))
                spans.append(Span(corpus, start, end, field(reference, "content", str, at)))
            yield Question(row["question"], spans, at, judged=[corpus], attributes={"tags": corpus.replace(",", " ")})


def write(gold: Gold, documents: Collection | None = None) -> Iterator[bytes]:
    """Yield a row for every question; this format has one document for each.

    `documents` gives the quotes where the gold has none.
    """
    rows: list[Sequence[str]] = [COLUMNS]
    ids, written = gold.documents.to_pylist(), set()
    for (topic, document), group in spans_of(gold).items():
        name = gold.topics[topic]
        if topic in written:
            what = f"expected one document for a question, found another for topic {name!r}: {ids[document]!r}"
            raise FormatError(what, remedy="write LegalBench-RAG or JSONL, which hold several")
        written.add(topic)
        text = None if documents is None else text_of(documents, ids[document], name, Place(gold.file or "<gold>"))
        references = []
        for one in group:
            content = (one.quote or "") if text is None else text[one.start : one.end]
            references.append({"content": content, "start_index": one.start, "end_index": one.end})
        rows.append([gold.queries.get(name, name), json.dumps(references), ids[document]])
    yield csv_lines(rows).encode()
