"""INEX runs in XML by patterns over the bytes: ordinary files, in which every result has the same shape.

expat (without handlers) vouches for well-formedness; the patterns then read the results. The number of tags tells
whether the patterns saw everything: one tag more or less, and the file goes to `xml_slow` instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.formats import xml_slow
from focuseval.formats.source import source_of
from focuseval.formats.xml import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.formats.source import Source

_SHAPE = (
    ("in", rb"<in>([^<&\s]+)</in>", 2),
    ("document", rb"<file>([^<&\s]+)</file>", 2),
    ("path", rb"<path>([^<&\s]+)</path>", 2),
    ("start end", rb'<fol\s+offset="([0-9]{1,9})"\s+length="([0-9]{1,9})"\s*/>', 1),
    ("path end_path", rb'<passage\s+start="([^"<&\s]+)"\s+end="([^"<&\s]+)"\s*/>', 1),
    ("rank", rb"<rank>\s*([0-9]{1,9})\s*</rank>", 2),
    ("score", rb"<rsv>\s*([-+.0-9eE]+)\s*</rsv>", 2),
)
"""Column(s), pattern and number of tags of everything that an ordinary result may hold, in their usual order."""

_TOPIC = re.compile(rb'<topic\s+topic-id="\s*([^"<&\s]+)\s*"\s*>')
_ENCODING = re.compile(rb'\A<\?xml[^>]*?encoding\s*=\s*["\'](?!utf-8["\']|us-ascii["\'])', re.IGNORECASE)
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*>")
_TYPES = {"rank": pa.int32(), "score": pa.float64(), "start": pa.int64(), "end": pa.int64()}


def read(source: Source) -> xml_slow.Submission | None:
    """Return what a submission says, in file order; None when it is not an ordinary file."""
    data = source.data[:]
    first = _TOPIC.search(data)
    shape = _shape(data, first.end()) if first else None
    if not first or shape is None or not _ordinary(data, first.start()):
        return None
    parse(source)
    raw = xml_slow.read(source_of(data[: first.start()] + b"</inex-submission>", source.name))
    pattern = re.compile(rb"<result>\s*" + b"".join(part + rb"\s*" for _, part, _ in shape) + rb"</result>")
    rows, sizes, topics = _rows(data, pattern, first)
    tags = len(rows) * (2 + sum(count for _, _, count in shape)) + 2 * len(topics) + 1
    if tags != data.count(b"<", first.start()):
        return None
    codes = [raw.topics.setdefault(topic, len(raw.topics)) for topic in topics]
    raw.topic = np.repeat(np.array(codes, np.int32), sizes)
    return _filled(raw, [name for names, _, _ in shape for name in names.split()], rows, data)


def _ordinary(data: bytes, header: int) -> bool:
    """Whether a file is UTF-8 and, after its header, free of comments, CDATA sections and instructions."""
    declared = _DOCTYPE.search(data, 0, header)
    marks = data.count(b"<!") - (1 if declared else 0)
    return not marks and not _ENCODING.match(data[:200]) and data.find(b"<?", header) < 0


def _shape(data: bytes, begin: int) -> list[tuple[str, bytes, int]] | None:
    """Return the parts of the first result, or None when they are not in the usual order."""
    start = data.find(b"<result>", begin)
    result = data[start : data.find(b"</result>", start)] if start >= 0 else b""
    found = [(part, match.start()) for part in _SHAPE if (match := re.search(part[1], result))]
    places = [part[0] for part, _ in found if part[0] in {"path", "start end", "path end_path"}]
    usual = [at for _, at in found] == sorted(at for _, at in found)
    named = any(part[0] == "document" for part, _ in found)
    return [part for part, _ in found] if usual and named and len(places) <= 1 else None


def _rows(data: bytes, pattern: re.Pattern[bytes], first: re.Match[bytes]) -> tuple[list[Any], list[int], list[str]]:
    """Return the results of all topics, how many each has, and the topics' names."""
    rows: list[Any] = []
    sizes, topics = [], []
    topic: re.Match[bytes] | None = first
    while topic:
        end = data.find(b"</topic>", topic.end())
        found = pattern.findall(data, topic.end(), max(end, 0))
        rows += found
        sizes.append(len(found))
        topics.append(topic[1].decode())
        topic = _TOPIC.search(data, end) if end >= 0 else None
    return rows, sizes, topics


def _filled(raw: xml_slow.Submission, names: list[str], rows: list[Any], data: bytes) -> xml_slow.Submission | None:
    """Put the results' columns into the submission that holds the header."""
    values = list(zip(*rows, strict=True)) if len(names) > 1 else [tuple(rows)]
    size = len(rows)
    raw.columns = {name: pa.nulls(size, _TYPES.get(name, pa.string())) for name in raw.columns}
    try:
        for name, column in zip(names, values, strict=True):
            raw.columns[name] = pa.array(column, pa.binary()).cast(pa.string()).cast(_TYPES.get(name, pa.string()))
    except pa.ArrowInvalid:
        return None
    score = raw.columns["score"]
    if not np.isfinite(score.drop_null().to_numpy()).all():
        return None
    if "end" in names:
        raw.columns["end"] = pa.array(raw.columns["start"].to_numpy() + raw.columns["end"].to_numpy())
    raw.columns["line"] = pa.array(_lines(data))
    return raw


def _lines(data: bytes) -> NDArray[np.int64]:
    """Return the line of every ``<result>``."""
    text = np.frombuffer(data, np.uint8)
    tags = np.flatnonzero(text[:-3] == ord("<"))
    results = tags[(text[tags + 1] == ord("r")) & (text[tags + 2] == ord("e"))]
    return np.asarray(np.searchsorted(np.flatnonzero(text == ord("\n")), results) + 1, np.int64)
