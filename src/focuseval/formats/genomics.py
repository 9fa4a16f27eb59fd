"""TREC Genomics (2006, 2007), gold: passages by byte offset, separated by tabs.

::

    topic⇥document⇥offset⇥length⇥aspects
    160⇥12474524⇥1572⇥27⇥Prions|Encephalopathy, Bovine Spongiform

Offsets and lengths count bytes of the document in UTF-8 from 0. They become code points through the documents, which
must be given, and must be the very bytes that were judged. Aspects (MeSH terms) are separated by ``|``; those of a
topic's passages are kept, sorted and separated by tabs, in the gold's attribute ``aspects``. A line that begins with
``#`` is passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.errors import FormatError
from focuseval.formats.byte_offsets import from_bytes
from focuseval.formats.judgements import Judgements
from focuseval.formats.numbers import checked
from focuseval.formats.span_gold import Span, SpanGold, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.collection.protocol import Collection
    from focuseval.data.gold import Gold
    from focuseval.errors import Place
    from focuseval.formats.source import Source

_BYTES = "offsets count bytes of the UTF-8 text"


def read(sources: Sequence[Source], documents: Collection | None = None) -> Gold:
    """Return the judged passages."""
    spans = SpanGold(Judgements())
    topics: dict[str, tuple[list[Span], Place, int, set[str]]] = {}
    for code, source in enumerate(sources):
        for line, fields in _gold_lines(source):
            passages, _, _, aspects = topics.setdefault(fields[0], ([], source.at(line), code, set()))
            passages.append(_passage(source, line, fields, documents))
            aspects.update(aspect for aspect in map(str.strip, "|".join(fields[4:]).split("|")) if aspect)
    for topic, (passages, at, code, aspects) in topics.items():
        spans.add(spans.topic(topic, ""), passages, at, code)
        spans.rows.attributes[topic] = {"aspects": "\t".join(sorted(aspects))}
    return spans.gold(sources)


def _passage(source: Source, line: int, fields: list[str], documents: Collection | None) -> Span:
    """Return one line's passage in code points."""
    topic, document = fields[:2]
    text = text_of(documents, document, topic, source.at(line))
    start, size = (checked(source, line, name, "int", fields[i]) for i, name in ((2, "offset"), (3, "length")))
    first, last = from_bytes(text, [start, start + size]).tolist()
    if size <= 0 or min(first, last) < 0:
        raise FormatError(
            f"expected bytes {start}+{size} at which characters of {document!r} begin for topic {topic!r}, "
            f"found a document of {len(text.encode())} bytes",
            at=source.at(line),
            remedy=_BYTES,
        )
    return Span(document, first, last)


def _gold_lines(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of every line that is neither blank nor a comment."""
    for line, raw in enumerate(bytes(source.data).decode("utf-8", "replace").split("\n"), 1):
        fields = [value.strip() for value in raw.split("\t")]
        if raw.strip() and not raw.startswith("#"):
            if len(fields) < 4:
                what = "expected 5 columns separated by tabs (topic document offset length aspects)"
                raise FormatError(f"{what}, found {len(fields)}: {raw[:60]!r}", at=source.at(line))
            yield line, fields
