"""INEX runs in XML as arrays over the bytes: ordinary files, in which every result has the same shape.

Calling Python at every tag takes most of the time of `xml_slow`: it reads .10 million results a second where this
module reads .70, and handlers that do nothing would allow .44 (two cores, `benchmarks/bench_read.py`). So there are two
readers, until handlers are compiled.

expat (without handlers) vouches for well-formedness. Then the positions of all ``<`` and ``>`` cut the file into tags
and the text between them; leaving out the topics' tags, what remains must repeat the tags of the first result to the
last byte. One tag more or less, white space around a name, a reference, a comment, and `xml_slow` reads the file
instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.engine.keys import indices
from focuseval.formats import xml_slow
from focuseval.formats.numbers import ARROW, numbers
from focuseval.formats.source import source_of
from focuseval.formats.xml import EventReader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.formats.source import Source

_COLUMNS = {b"in": "in", b"file": "document", b"path": "path", b"rank": "rank", b"rsv": "score"}
_PLACES = {b"fol": (b"offset", b"length"), b"passage": (b"start", b"end")}
_FAR = 10**9
_KINDS = {"rank": "rank", "score": "real", "start": "int", "end": "int"}
"""Columns of numbers."""

_TOPIC = re.compile(rb'<topic topic-id="[^"<&>\s]+">')
_RESULT = re.compile(rb"<result>\s*(.*?)</result>", re.DOTALL)
_TEXT = re.compile(rb"<(in|file|path|rank|rsv)>[^<>&]+</\1>\s*")
_EMPTY = re.compile(rb'<(?:fol offset="[0-9]+" length="[0-9]+"|passage start="[^"<>&]+" end="[^"<>&]+")/>\s*')
_ENCODING = re.compile(rb'\A<\?xml[^>]*?encoding\s*=\s*["\'](?!utf-8["\']|us-ascii["\'])', re.IGNORECASE)
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*>")


@dataclass(frozen=True, eq=False)
class _Tags:
    """The tags after the header: first and last byte, and the first eight as a number; maybe in columns."""

    text: NDArray[np.uint8]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    word: NDArray[np.uint64]

    def __getitem__(self, which: NDArray[np.integer] | NDArray[np.bool_] | tuple[slice, int]) -> _Tags:
        """Return some of the tags."""
        return _Tags(self.text, self.first[which], self.last[which], self.word[which])

    def are(self, tag: bytes) -> NDArray[np.bool_]:
        """Say which tags are exactly this one; a ``*`` at its end asks for the beginning alone."""
        literal = tag.rstrip(b"*")
        same = _begins(self.word, literal[:8])
        for step in range(8, len(literal), 8):
            same &= _begins(_words(self.text, self.first + step), literal[step : step + 8])
        return same if tag.endswith(b"*") else same & (self.last - self.first + 1 == len(tag))


def _words(text: NDArray[np.uint8], at: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the eight bytes that begin at each position; near the end of the file, those of its last ones."""
    every: NDArray[np.uint64] = np.ndarray((max(len(text) - 7, 0),), "<u8", text, strides=(1,))
    return every[np.minimum(at, len(every) - 1)]


def _begins(words: NDArray[np.uint64], literal: bytes) -> NDArray[np.bool_]:
    mask = np.uint64((1 << (8 * len(literal))) - 1)
    found: NDArray[np.bool_] = (words & mask) == np.uint64(int.from_bytes(literal, "little"))
    return found


def read(source: Source) -> xml_slow.Submission | None:
    """Return what a submission says, in file order; None when it is not an ordinary file."""
    data = source.data[:]
    topic = _TOPIC.search(data)
    shape = _shape(data, topic.end()) if topic else None
    if not topic or shape is None or not _ordinary(data, topic.start()):
        return None
    EventReader(source).read()
    raw = xml_slow.read(source_of(data[: topic.start()] + b"</inex-submission>", source.name))
    if len(raw.topic):  # results before the first ordinary topic: theirs is written in another way
        return None
    tags = _tags(np.frombuffer(data, np.uint8), topic.start())
    return None if tags is None else _filled(raw, tags, shape)


def _ordinary(data: bytes, header: int) -> bool:
    """Whether a file is UTF-8, its header without comments and sections, and its results without references.

    Lines end with a newline: expat counts others, too.
    """
    declared = _DOCTYPE.search(data, 0, header)
    marks = data.count(b"<!", 0, header) - (1 if declared else 0)
    plain = b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")
    return plain and data.find(b"&", header) < 0 and not marks and not _ENCODING.match(data[:200])


def _shape(data: bytes, begin: int) -> list[bytes] | None:
    """Return the names of the first result's children, or None when they are not as usual."""
    result = _RESULT.search(data, begin)
    inside, names = result[1] if result else b"", []
    while inside:
        match = _TEXT.match(inside) or _EMPTY.match(inside)
        if not match:
            return None
        names.append(re.split(rb"[ >]", match[0][1:], maxsplit=1)[0])
        inside = inside[match.end() :]
    places = [name for name in names if name == b"path" or name in _PLACES]
    return names if b"file" in names and len(places) <= 1 and len(set(names)) == len(names) else None


def _tags(text: NDArray[np.uint8], header: int) -> _Tags | None:
    """Return the tags of the topics and their results; None when brackets do not alternate."""
    first, last = (np.flatnonzero(text[header:] == ord(bracket)) + header for bracket in "<>")
    if len(first) != len(last) or (first >= last).any() or (last[:-1] >= first[1:]).any():
        return None
    return _Tags(text, first, last, _words(text, first))


def _filled(raw: xml_slow.Submission, tags: _Tags, shape: list[bytes]) -> xml_slow.Submission | None:
    """Put the results' columns into the submission that holds the header."""
    opened, closed = tags.are(b'<topic topic-id="*'), tags.are(b"</topic>")
    period = [b"<result>", *(tag for name in shape for tag in _written(name)), b"</result>"]
    inner = np.flatnonzero(~opened & ~closed)
    if len(inner) % len(period) != 1:
        return None
    results = tags[inner[:-1].reshape(-1, len(period))]
    if not all(results[:, place].are(tag).all() for place, tag in enumerate(period)):
        return None
    starts, ends = tags[opened], tags[closed]
    block = np.searchsorted(starts.first, results.first[:, 0]) - 1
    if len(starts.first) != len(ends.first) or (starts.first > ends.first).any() or (block < 0).any():
        return None
    names = _cut(tags.text, starts.first + len(b'<topic topic-id="'), starts.last - 1)
    values = _values(results, shape)
    if names is None or values is None or (results.first[:, -1] > ends.first[block]).any():
        return None
    values["line"] = indices(np.searchsorted(np.flatnonzero(tags.text == ord("\n")), results.first[:, 0]) + 1)
    nothing = {name: pa.nulls(len(block), ARROW[_KINDS.get(name, "text")]) for name in raw.columns}
    raw.columns = {name: values.get(name, column) for name, column in nothing.items()}
    codes = [raw.topics.setdefault(topic, len(raw.topics)) for topic in names.to_pylist()]
    raw.topic = np.array(codes, np.int32)[block]
    return raw


def _written(name: bytes) -> list[bytes]:
    """Return the tags of a child of a result."""
    return [b"<%b *" % name] if name in _PLACES else [b"<%b>" % name, b"</%b>" % name]


def _values(results: _Tags, shape: list[bytes]) -> dict[str, pa.Array] | None:
    """Return a typed column for everything that a result says."""
    values: dict[str, pa.Array] = {}
    place = 1
    for name in shape:
        if name in _PLACES:
            values |= _attributes(results[:, place], name)
        else:
            cut = _cut(results.text, results.last[:, place] + 1, results.first[:, place + 1])
            values[_COLUMNS[name]] = cut
        place += len(_written(name))
    if any(column is None for column in values.values()):
        return None
    for column in values.keys() & _KINDS.keys():
        values[column] = numbers(values[column], _KINDS[column])
        if values[column].null_count or not np.isfinite(values[column]).all():
            return None
    return _with_ends(values) if "end" in values else values


def _with_ends(values: dict[str, pa.Array]) -> dict[str, pa.Array] | None:
    """Return the columns with ends in place of lengths."""
    start, length = values["start"].to_numpy(), values["end"].to_numpy()
    return None if max(start.max(), length.max()) >= _FAR else values | {"end": pa.array(start + length)}


def _attributes(places: _Tags, name: bytes) -> dict[str, pa.Array | None]:
    """Return the two attributes of every ``<fol>`` or ``<passage>``, found between their four quotes."""
    one, two = _PLACES[name]
    columns = ("start", "end") if name == b"fol" else ("path", "end_path")
    quotes = np.flatnonzero(places.text == ord('"'))
    at = np.searchsorted(quotes, places.first)
    if (at + 4 > len(quotes)).any() or (np.append(quotes, len(places.text))[at + 4] < places.last).any():
        return dict.fromkeys(columns)
    q = [quotes[at + i] for i in range(4)]
    head, middle = b'<%b %b="' % (name, one), b'" %b="' % two
    pieces = ((head, places.first, q[0]), (middle, q[1], q[2]), (b'"/>', q[3], places.last))
    if not all(_Tags(places.text, first, last, _words(places.text, first)).are(p).all() for p, first, last in pieces):
        return dict.fromkeys(columns)
    cuts = (_cut(places.text, q[0] + 1, q[1]), _cut(places.text, q[2] + 1, q[3]))
    return dict(zip(columns, cuts, strict=True))


def _cut(text: NDArray[np.uint8], start: NDArray[np.int64], end: NDArray[np.int64]) -> pa.Array | None:
    """Return the pieces between positions as strings; None when one is empty or holds white space."""
    size = end - start
    if not len(size) or size.min() <= 0 or len(text) >= 1 << 31:
        return None
    offset = np.append(0, np.cumsum(size)).astype(np.int32)
    piece = text[np.arange(offset[-1], dtype=np.int32) + np.repeat(start.astype(np.int32) - offset[:-1], size)]
    if (piece <= ord(" ")).any():
        return None
    return pa.Array.from_buffers(pa.string(), len(size), [None, pa.py_buffer(offset), pa.py_buffer(piece)])
