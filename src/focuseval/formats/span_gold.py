"""Span gold gathered question by question: what the readers for RAG collections share.

The spans of a question are grouped by document. Overlapping spans are kept as they are, united in every count of
characters, and their number is one of the gold's remarks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focuseval.data.gold import UNKNOWN
from focuseval.data.spans import union
from focuseval.errors import FormatError, MissingDataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.collection.protocol import Collection
    from focuseval.data.gold import Gold
    from focuseval.errors import Place
    from focuseval.formats.judgements import Judgements
    from focuseval.formats.source import Source


class Span(NamedTuple):
    """One highlighted span as its file says it; start and end −1 where only the quote is known."""

    document: str
    start: int
    end: int
    quote: str | None = None
    need: str | None = None
    """What the span shows: spans of a topic with the same name are alternatives, one without is needed itself."""


@dataclass
class SpanGold:
    """Questions and their spans; `gold` turns them into columns."""

    rows: Judgements
    renamed: int = 0

    def topic(self, name: str, query: str) -> str:
        """Return a question's topic id; a second question under the same id gets ``~2``, ``~3`` … added."""
        unique, number = name, 1
        while unique in self.rows.queries:
            number += 1
            unique = f"{name}~{number}"
        self.renamed += number > 1
        self.rows.topic(unique)
        self.rows.queries[unique] = query
        return unique

    def add(
        self,
        topic: str,
        spans: Sequence[Span],
        at: Place,
        code: int = 0,
        judged: Sequence[str] = (),
        *,
        grade: int | None = None,
    ) -> None:
        """Take in all spans of a question; documents in `judged` without any are judged and not relevant.

        With a `grade` that is what the documents get.
        """
        by_document: dict[str, list[Span]] = {document: [] for document in judged}
        for span in spans:
            check_span(span, topic, at)
            by_document.setdefault(span.document, []).append(span)
        for document, group in by_document.items():
            pair = self.rows.judge(topic, document, at)
            relevance = int(bool(group)) if grade is None else grade
            self.rows.articles.append((*pair, relevance, UNKNOWN, _highlighted(group), UNKNOWN, None, at.line, code))
            for span in group:
                size = span.end - span.start if span.start >= 0 else UNKNOWN
                said = (span.quote, span.need, at.line)
                self.rows.passages.append((*pair, span.start, span.end, size, None, None, *said))

    def gold(self, sources: Sequence[Source], remarks: Sequence[str] = (), scale: str = "highlights") -> Gold:
        """Return everything that was gathered."""
        gold = self.rows.gold(sources, scale)
        number = gold.overlapping()
        noticed = [
            *([f"{number:,} overlapping spans are united"] if number else []),
            *(
                [f"{self.renamed:,} questions share an id with an earlier one, told apart as ~2, ~3 …"]
                * bool(self.renamed)
            ),
            *remarks,
        ]
        return replace(gold, remarks=(*gold.remarks, *noticed))


def _highlighted(spans: Sequence[Span]) -> int:
    """Return the characters in some spans of a document, each once; unknown where a span has no place."""
    if not all(span.start >= 0 for span in spans):
        return UNKNOWN
    if len(spans) <= 1:
        return spans[0].end - spans[0].start if spans else 0
    merged = union([0] * len(spans), [span.start for span in spans], [span.end for span in spans])
    return int(merged.before[-1])


def check_span(span: Span, topic: str, at: Place) -> None:
    """Raise unless a span is one: it begins before it ends, or is unknown and has a quote to be found by."""
    if span.start == span.end == UNKNOWN and span.quote:
        return
    if not 0 <= span.start < span.end:
        raise FormatError(
            f"expected 0 ≤ start < end in {span.document!r} for topic {topic!r}, found {span.start} and {span.end}",
            at=at,
            remedy="spans are half-open; a document without relevant text has no spans",
        )


def spans_of(gold: Gold) -> dict[tuple[int, int], list[Span]]:
    """Return the spans of every judged pair, in code points; a span without a place cannot be written."""
    p, ids = gold.passages, gold.documents.to_pylist()
    if (p.start < 0).any():
        row = int(np.flatnonzero(p.start < 0)[0])
        raise FormatError(
            f"expected every span to have a place, found none for topic {gold.topics[p.topic[row]]!r} "
            f"in {ids[p.document[row]]!r}",
            at=gold.file or None,
            remedy="align the gold with its documents first",
        )
    pairs = zip(gold.articles.topic.tolist(), gold.articles.document.tolist(), strict=True)
    spans: dict[tuple[int, int], list[Span]] = {pair: [] for pair in pairs}
    quotes = p.quote.to_pylist() if p.quote is not None else [None] * len(p.start)
    columns = (p.topic.tolist(), p.document.tolist(), p.start.tolist(), p.end.tolist(), quotes)
    for topic, document, start, end, quote in zip(*columns, strict=True):
        spans.setdefault((topic, document), []).append(Span(ids[document], start, end, quote))
    return spans


def quoted(span: Span, text: str | None) -> str:
    """Return a span's quote, from its document where that is at hand."""
    return text[span.start : span.end] if text is not None else span.quote or ""


def text_of(documents: Collection | None, name: str, topic: str, at: Place) -> str:
    """Return the text that a format's offsets need to be understood."""
    if documents is None:
        raise MissingDataError(f"{at}: the offsets in {name!r} need the documents' text; give --docs or --index")
    row = int(documents.find([name])[0])
    if row < 0:
        raise FormatError(
            f"expected documents of the collection, found {name!r} for topic {topic!r}",
            at=at,
            remedy="check the documents given, or the ids in the gold",
        )
    return documents.text(row)
