"""Qasper: questions about papers, with evidence as text and no offsets, one JSON document.

::

    {"1909.00694": {"title": "…", "abstract": "…",
                    "full_text": [{"section_name": "…", "paragraphs": ["…"]}],
                    "qas": [{"question_id": "…", "question": "…", "answers": [{"answer":
                        {"unanswerable": false, "evidence": ["…"], "highlighted_evidence": ["…"]}}]}]}}

A document's id is the paper's; its text is title, abstract, and each section's name and paragraphs, empty ones left
out, with one blank line between; ``--docs FILE`` names the file once more. The evidence of all answers is relevant;
that of an answer marked ``unanswerable`` is not, and where all answers are, nothing answers the question (silence,
waste). Evidence is paragraphs, `highlighted_evidence` sentences. Nothing in a file asks for one or the other: sentences
are asked for by name, ``--gold-format qasper-highlighted``. Each is aligned with the paper's text: what occurs more
than once is ambiguous, and evidence from a figure or table (``FLOAT SELECTED``) is nowhere in the text; the gold's
remarks count both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from focuseval.collection.documents import open_documents
from focuseval.data.gold import ANSWERABLE, UNKNOWN, Gold
from focuseval.formats.content import Source
from focuseval.formats.judgements import Question, Span, gold_reader
from focuseval.formats.rows import Lines, field, parse
from focuseval.placing.place import place_gold


def read(sources: Sequence[Source], evidence: str = "evidence") -> Gold:
    """Return the evidence of all answers, at its place in the papers."""
    return place_gold(read_quotes(sources, evidence), open_documents(dict(embedded_texts(sources))))


@gold_reader
def read_quotes(sources: Sequence[Source], evidence: str = "evidence") -> Iterator[Question]:
    """Return the evidence as quotes without places, to be aligned."""
    for source in sources:
        lines = Lines(source)
        for paper, record in _papers(source):
            for qa in field(record, "qas", list, source.at(), paper):
                query = field(qa, "question", str, source.at(), paper)
                at = source.at(lines.of(query))
                name = field(qa, "question_id", str, at, f"{query!r}")
                entries = field(qa, "answers", list, at, f"{query!r}")
                answers = [field(entry, "answer", dict, at, "answers") for entry in entries]
                given = [answer for answer in answers if not answer.get("unanswerable")]
                texts = (text for answer in given for text in field(answer, evidence, list, at, "answer"))
                spans = [Span(paper, UNKNOWN, UNKNOWN, quote) for quote in dict.fromkeys(filter(None, texts))]
                yield Question(query, spans, at, name, [paper], {ANSWERABLE: "no"} if answers and not given else {})


read_highlighted = partial(read, evidence="highlighted_evidence")
read_highlighted_quotes = partial(read_quotes, evidence="highlighted_evidence")


def embedded_texts(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of every paper."""
    for source in sources:
        for paper, record in _papers(source):
            parts = [record.get("title"), record.get("abstract")]
            for section in field(record, "full_text", list, source.at(), paper):
                parts.append(section.get("section_name"))
                parts += field(section, "paragraphs", list, source.at(), paper)
            yield paper, "\n\n".join(str(part) for part in parts if part)


def _papers(source: Source) -> Iterator[tuple[str, Any]]:
    """Yield every paper's id and object."""
    papers = parse(source)
    for paper in papers if isinstance(papers, dict) else ():
        yield paper, field(papers, paper, dict, source.at())
