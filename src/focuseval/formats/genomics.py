"""TREC Genomics (2006, 2007), gold and runs: passages by byte offset.

A gold is separated by tabs::

    topic⇥document⇥offset⇥length⇥aspects
    160⇥12474524⇥1572⇥27⇥Prions|Encephalopathy, Bovine Spongiform

Aspects (MeSH terms) are separated by ``|``; those of a topic's passages are kept, sorted and separated by tabs, in the
gold's attribute ``aspects``. A line that begins with ``#`` is passed over. A run is separated by blanks::

    topic document rank offset length
    160 12474524 1 1572 27
    160 12474524 1 0.98 1572 27 tag          with score and tag, as runs were submitted

**rank** decides the ranking. Offsets and lengths count bytes of the document in UTF-8 from 0. They become code points
through the documents, which must be given, and must be the very bytes that were judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from focuseval.collection.index import Collection
from focuseval.data.run import Run
from focuseval.errors import FormatError, MissingDataError, Place
from focuseval.formats.columns import Layout, column_array, no_number, number, read_table
from focuseval.formats.content import Source
from focuseval.formats.judgements import Question, Span, gold_reader, text_of
from focuseval.formats.ranking import ranked, topic_codes
from focuseval.formats.run_rows import in_code_points
from focuseval.placing.normalise import from_bytes

_RANKED, _PLACE = {"topic": "text", "document": "text", "rank": "rank"}, {"offset": "int", "length": "int"}
PLAIN = Layout({**_RANKED, **_PLACE}, least=5)
SCORED = Layout({**_RANKED, "score": "real", **_PLACE, "run": "text"}, least=7)
_BYTES = "offsets count bytes of the UTF-8 text"


@gold_reader
def read(sources: Sequence[Source], documents: Collection | None = None) -> Iterator[Question]:
    """Return the judged passages."""
    topics: dict[str, tuple[list[Span], Place, set[str]]] = {}
    for source in sources:
        for line, raw in enumerate(bytes(source.data).decode("utf-8", "replace").split("\n"), 1):
            if not raw.strip() or raw.startswith("#"):
                continue
            at, fields = source.at(line), [value.strip() for value in raw.split("\t")]
            if len(fields) < 4:
                what = "expected 5 columns separated by tabs (topic document offset length aspects)"
                raise FormatError(f"{what}, found {len(fields)}: {raw[:60]!r}", at=at)
            topic, document, *numbers = fields[:4]
            text = text_of(documents, document, topic, at)
            for name, said in zip(("offset", "length"), numbers, strict=True):
                if number(said, "int") is None:
                    raise FormatError(no_number(name, "int", said), at=at, remedy="correct the line")
            start, size = map(int, numbers)
            first, last = from_bytes(text, [start, start + size]).tolist()
            if size <= 0 or min(first, last) < 0:
                what = f"expected bytes {start}+{size} at which characters of {document!r} begin for topic {topic!r}"
                found = f"found a document of {len(text.encode())} bytes"
                raise FormatError(f"{what}, {found}", at=at, remedy=_BYTES)
            passages, _, aspects = topics.setdefault(topic, ([], at, set()))
            passages.append(Span(document, first, last))
            aspects.update(aspect for aspect in map(str.strip, "|".join(fields[4:]).split("|")) if aspect)
    for topic, (passages, at, aspects) in topics.items():
        yield Question("", passages, at, topic, attributes={"aspects": "\t".join(sorted(aspects))})


def read_run(source: Source, documents: Collection | None = None) -> Run:
    """Return the run, its bytes as code points."""
    if documents is None:
        raise MissingDataError(f"{source.name}: byte offsets need the documents' text; give docs= or index=")
    head = next((line for line in source.head().split(b"\n") if line.strip()), b"")
    table = read_table(source, SCORED if len(head.split()) > 5 else PLAIN)
    topics, topic = topic_codes(table["topic"])
    document = table["document"]
    offset, length = (column_array(table[name], np.int64) for name in ("offset", "length"))
    if len(bad := np.flatnonzero((offset < 0) | (length < 0))):
        what = f"expected an offset and a length in bytes, found {offset[bad[0]]}+{length[bad[0]]}"
        raise FormatError(what, at=table.at(bad[0]), remedy=_BYTES)
    start, end = (in_code_points(table.at, document, some, "bytes", documents) for some in (offset, offset + length))
    rank = column_array(table["rank"], np.int32)
    score = column_array(table["score"], np.float64) if "score" in table else None
    columns = {"topic": topic, "document": document, "rank": rank, "score": score, "start": start, "end": end}
    columns |= {"line": table.line}
    run_id = table["run"][0].as_py() if "run" in table and len(topic) else source.stem
    return Run(run_id, topics, **ranked(columns), file=source.name, sha256=source.digest(), faults=table.faults)
