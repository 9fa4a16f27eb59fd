"""INEX assessments as text (2008–2010): highlighted passages by offset, one judged document a line.

::

    topic Q0 document relevant-characters document-length [BEP offset:length …]
    2009001 Q0 1528075 49158 58542 126 126:28761 28893:20397
    2009001 Q0 1528099 0 300

Five columns: judged and not relevant. The sixth is the best entry point (``-1``: none), the others are the
highlighted passages. A passage that runs past the document's length is refused; a sum of passages that differs from
the fourth column is counted in the gold's remarks, and both numbers are kept.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import FormatError
from focuseval.formats.inex_2008_fast import read_fast
from focuseval.formats.judgements import Judgements
from focuseval.formats.source import refuse_nul
from focuseval.formats.table import Layout, check_width, number, split_lines
from focuseval.gold import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.formats.source import Source
    from focuseval.gold import Gold

LAYOUT = Layout(
    {"topic": "text", "Q0": None, "document": "text", "relevant-characters": "int", "document-length": "int"}, least=5
)
_PASSAGE = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")
_NO_POINT = frozenset({"-1", "X", "x"})


def read(sources: Sequence[Source]) -> Gold:
    """Return the judged documents of one or several files."""
    gold, differ = (read_fast(sources[0]) if len(sources) == 1 else None) or read_slow(sources)
    united = gold.overlapping()
    remarks = (
        (differ, f"relevant characters differ from the sum of the passages in {differ} documents; both are kept"),
        (united, f"{united:,} overlapping spans are united"),
    )
    return replace(gold, remarks=tuple(remark for count, remark in remarks if count))


def read_slow(sources: Sequence[Source]) -> tuple[Gold, int]:
    """Read line by line; return the gold and how many sums differ from their passages."""
    rows, differ = Judgements(), 0
    for code, source in enumerate(sources):
        refuse_nul(source)
        for line, fields in split_lines(source):
            differ += _judge(rows, source, code, line, fields)
    return rows.gold(sources, "highlights"), differ


def _judge(rows: Judgements, source: Source, code: int, line: int, fields: list[str]) -> bool:
    """Take in one line; say whether its sum disagrees with its passages."""
    check_width(source, line, fields[:5], LAYOUT)
    place = source.at(line)
    topic, document = rows.judge(fields[0], fields[2], place)
    rsize, length = (int(number(source, line, name, "int", fields[i])) for i, name in _SIZES)
    if rsize < 0 or length < UNKNOWN:
        raise FormatError(
            f"expected sizes that are not negative, found {rsize} and {length}",
            at=place,
            remedy="write the sizes in characters",
        )
    bep = _entry_point(source, line, fields[5], length) if len(fields) > 5 else UNKNOWN
    spans = [_span(source, line, text, length) for text in fields[6:]]
    if rsize and not spans:
        raise FormatError(
            f"expected offset:length of {rsize} relevant characters, found none",
            at=place,
            remedy="write the passages, or 0 relevant characters",
        )
    for start, end in spans:
        rows.passages.append((topic, document, start, end, end - start, None, None, None, line))
    rows.articles.append((topic, document, int(bool(spans)), length, rsize, bep, None, line, code))
    return sum(end - start for start, end in spans) != rsize


_SIZES = ((3, "relevant characters"), (4, "document length"))


def _entry_point(source: Source, line: int, text: str, length: int) -> int:
    if text in _NO_POINT:
        return UNKNOWN
    bep = int(number(source, line, "best entry point", "int", text))
    if bep < 0 or 0 <= length < bep:
        raise FormatError(
            f"expected a best entry point within 0 … {length}, found {bep}",
            at=source.at(line),
            remedy="positions count characters of the text, markup excluded",
        )
    return bep


def _span(source: Source, line: int, text: str, length: int) -> tuple[int, int]:
    match = _PASSAGE.fullmatch(text)
    if not match:
        raise FormatError(
            f"expected a passage as offset:length, found {text!r}",
            at=source.at(line),
            remedy="write both as numbers, such as 126:28761",
        )
    start, size = int(match[1]), int(match[2])
    if length >= 0 and start + size > length:
        raise FormatError(
            f"expected a passage within the document's {length} characters, found {text} ending at {start + size}",
            at=source.at(line),
            remedy="offsets count characters of the text, markup excluded",
        )
    return start, start + size


def write(gold: Gold) -> Iterator[bytes]:
    """Yield a line for every judged document."""
    from focuseval.formats.lines import words  # noqa: PLC0415  writing is rare

    topics = words("topic", gold.topics).to_pylist()
    documents = words("document", gold.documents).to_pylist()
    spans: dict[tuple[int, int], list[str]] = {}
    p, a = gold.passages, gold.articles
    for topic, document, start, end in zip(*(c.tolist() for c in (p.topic, p.document, p.start, p.end)), strict=True):
        spans.setdefault((topic, document), []).append(f"{start}:{end - start}")
    sums = np.zeros(len(a.topic), np.int64)
    pair = a.topic.astype(np.int64) << 32 | a.document
    order = np.argsort(pair)
    if len(p.topic):
        at = order[np.searchsorted(pair[order], p.topic.astype(np.int64) << 32 | p.document)]
        np.add.at(sums, at, p.end - p.start)
    rsize = np.where(a.rsize >= 0, a.rsize, sums)
    for topic, document, relevant, length, bep in zip(
        *(c.tolist() for c in (a.topic, a.document, rsize, a.length, a.bep)), strict=True
    ):
        passages = spans.get((topic, document), [])
        tail = [str(bep), *passages] if passages or bep >= 0 else []
        yield " ".join([topics[topic], "Q0", documents[document], str(relevant), str(length), *tail]).encode() + b"\n"
