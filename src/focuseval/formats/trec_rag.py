"""TREC RAG: runs and judgements of segments, whose places stand in a segment file.

::

    2024-105741 Q0 msmarco_v2.1_doc_16_287012450#4_490828734 1 0.97 run      a run, six TREC columns
    2024-105741 0 msmarco_v2.1_doc_16_287012450#4_490828734 2                judgements, four columns
    {"docid": "msmarco_v2.1_doc_16_287012450#4_490828734", "start_char": 2301, "end_char": 3401, "segment": "…"}

The part before ``#`` is the document, the segment file says where the segment lies in it: `start_char` and `end_char`
are characters, half-open. Both files are read as TREC runs and qrels; `place_run` and `place_gold` then replace every
segment by its span. A segment file may be far larger than memory: only the segments that occur are kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.align.documents import as_strings
from focuseval.errors import FormatError, Place
from focuseval.formats.json_records import field, parse_line
from focuseval.formats.judgements import Judgements
from focuseval.formats.span_gold import Span, SpanGold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from focuseval.gold import Gold
    from focuseval.run import Run


def read_segments(path: str | Path, wanted: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return the spans of the wanted segments, reading the file line by line (``.gz`` too)."""
    missing, found = set(wanted), {}
    for line, raw in enumerate(_lines(path), 1):
        if not missing:
            break
        if raw.strip():
            at = Place(str(path), line)
            record = parse_line(raw, at)
            name = str(record.get("docid") or field(record, "id", str, at))
            if name in missing:
                missing.discard(name)
                found[name] = _span(record, name, at)
    return found


def _span(record: dict[str, Any], name: str, at: Place) -> tuple[int, int]:
    """Return a segment's span."""
    start, end = (field(record, key, int, at, f"segment {name!r}") for key in ("start_char", "end_char"))
    if not 0 <= start <= end:
        raise FormatError(f"expected 0 ≤ start_char ≤ end_char of {name!r}, found {start} and {end}", at=at)
    return start, end


def _lines(path: str | Path) -> Iterator[bytes]:
    """Yield a file's lines without reading it whole."""
    import gzip  # noqa: PLC0415  this format only

    try:
        with open(path, "rb") as plain:  # noqa: PTH123  a name or a path, as the user gave it
            packed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            yield from gzip.GzipFile(fileobj=plain) if packed else plain
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", at=str(path)) from error


def place_run(run: Run, segments: Mapping[str, tuple[int, int]]) -> Run:
    """Return a run of segments as a run of spans; a segment that is not known is refused.

    The ranking stays; several segments of one document become several results of it.
    """
    names, code = np.unique(np.array(as_strings(run.document), object), return_inverse=True)
    unknown = [i for i, name in enumerate(names) if name not in segments]
    if unknown:
        row = int(np.flatnonzero(code == unknown[0])[0])
        line = int(run.line[row]) if run.line is not None else row + 1
        raise _unknown(names[unknown[0]], len(unknown), run.topics[run.topic[row]], Place(run.file or "<run>", line))
    spans = np.array([segments[name] for name in names], np.int64).reshape(-1, 2)[code]
    documents = pa.array([name.partition("#")[0] for name in names], pa.string())
    return replace(run, document=documents.take(pa.array(code)), start=spans[:, 0], end=spans[:, 1])


def place_gold(gold: Gold, segments: Mapping[str, tuple[int, int]], least: int = 1) -> Gold:
    """Return judged segments as highlighted spans: those with a grade of at least `least` are relevant."""
    names, spans = gold.documents.to_pylist(), SpanGold(Judgements())
    rows: dict[int, tuple[list[Span], list[str]]] = {}
    columns = (gold.articles.topic.tolist(), gold.articles.document.tolist(), gold.articles.relevance.tolist())
    for topic, code, grade in zip(*columns, strict=True):
        name = names[code]
        if name not in segments:
            number = sum(other not in segments for other in names)
            raise _unknown(name, number, gold.topics[topic], Place(gold.file or "<gold>"))
        found, judged = rows.setdefault(topic, ([], []))
        document = name.partition("#")[0]
        judged.append(document)
        if grade >= least:
            found.append(Span(document, *segments[name]))
    for topic, (found, judged) in rows.items():
        name = gold.topics[topic]
        spans.add(spans.topic(name, gold.queries.get(name, "")), found, Place(gold.file), 0, judged)
    placed = spans.gold(())
    remarks = (*gold.remarks, *placed.remarks)
    return replace(
        placed, queries=gold.queries, file=gold.file, sha256=gold.sha256, sources=gold.sources, remarks=remarks
    )


def _unknown(name: str, number: int, topic: str, at: Place) -> FormatError:
    more = f" (and {number - 1} more)" if number > 1 else ""
    return FormatError(
        f"expected segments of the segment file, found {name!r} for topic {topic!r}{more}",
        at=at,
        remedy="give the segment file of the same collection",
    )
