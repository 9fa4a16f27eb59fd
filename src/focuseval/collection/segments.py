"""Segments: documents cut into overlapping windows beforehand, as TREC RAG gives them out.

::

    {"docid": "msmarco_v2.1_doc_29_677149#3_1637632", "segment": "…", "start_char": 1806, "end_char": 3061}

The part of ``docid`` before ``#`` is the document; ``start_char`` and ``end_char`` say where the segment lies in it, in
characters, half-open. Other fields (``url``, ``title``, ``headings``) are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.collection.document_files import json_files, records, whole_characters
from focuseval.engine.storage import Location, location
from focuseval.errors import CollectionError, Place

_EXPECTED = 'expected {"docid": "document#number", "segment": "…", "start_char": 0, "end_char": 9}'


class Segment(NamedTuple):
    """One segment, with its text."""

    id: str
    document: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, eq=False)
class Segments:
    """Where segments lie, as columns."""

    ids: Any
    document: Any  # the document of each segment
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    uneven: int = 0  # segments whose text is longer or shorter than their span

    def __len__(self) -> int:
        return len(self.start)

    def find(self, ids: Any) -> NDArray[np.int64]:
        """Return the row of every id, −1 where it is unknown."""
        column = ids.cast(pa.string()) if isinstance(ids, (pa.Array, pa.ChunkedArray)) else pa.array(ids, pa.string())
        return np.asarray(pc.index_in(column, self.ids).fill_null(-1), np.int64)


def holds_segments(files: Sequence[Location]) -> bool:
    """Say whether files of JSON lines hold segments, by their first object."""
    first = next(records(files, _EXPECTED), None)
    return first is not None and {"start_char", "end_char"} <= first[1].keys()


def find_segments(path: str | Path, wanted: Iterable[str]) -> Segments:
    """Return the wanted segments of a file, or of a folder of files, that may be far larger than memory."""
    missing, found = set(wanted), []
    for segment, _ in _placed(json_files(location(path)) or [location(path)]):
        if segment.id in missing:
            missing.discard(segment.id)
            found.append(segment)
            if not missing:
                break
    return as_columns(found)


def read_segments(files: Sequence[Location]) -> tuple[Segments, dict[str, str]]:
    """Return all segments, and every document's text as far as they show it: blanks stand for the rest."""
    seen: dict[str, Place] = {}
    found: list[Segment] = []
    for segment, at in _placed(files):
        if segment.id in seen:
            raise CollectionError(f"segment {segment.id!r} is at {seen[segment.id]} already", at=at, remedy="keep one")
        seen[segment.id] = at
        found.append(segment)
    of: dict[str, list[Segment]] = {}
    for segment in sorted(found, key=lambda s: (s.start, s.end)):
        of.setdefault(segment.document, []).append(segment)
    return as_columns(found), {segment.document: _laid(of[segment.document]) for segment in found}


def as_columns(found: Sequence[Segment]) -> Segments:
    """Return segments as columns."""
    spans = np.array([(segment.start, segment.end) for segment in found], np.int64).reshape(-1, 2)
    uneven = sum(len(segment.text) != segment.end - segment.start for segment in found)
    ids, documents = (pa.array([getattr(s, name) for s in found], pa.string()) for name in ("id", "document"))
    return Segments(ids, documents, spans[:, 0], spans[:, 1], uneven)


def _laid(segments: Iterable[Segment]) -> str:
    """Return the text that segments in the order of their starts show together: what an earlier one shows stays.

    >>> _laid([Segment("d#0", "d", 0, 4, "To b"), Segment("d#1", "d", 2, 5, " be"), Segment("d#2", "d", 7, 9, "or")])
    'To be  or'
    """
    parts, upto = [], 0
    for segment in segments:
        if segment.end > upto:
            parts.append(" " * (segment.start - upto))
            shown = segment.text.ljust(segment.end - segment.start)[: segment.end - segment.start]
            parts.append(shown[max(upto - segment.start, 0) :])
            upto = segment.end
    return "".join(parts)


def _placed(files: Sequence[Location]) -> Iterator[tuple[Segment, Place]]:
    """Yield every segment with its place in the files; a record that is none is refused."""
    for at, record in records(files, _EXPECTED):
        name, text = record.get("docid", record.get("id")), record.get("segment", record.get("text"))
        span: list[Any] = [record.get(key) for key in ("start_char", "end_char")]
        start, end = span
        if not (isinstance(name, str) and name and isinstance(text, str) and all(type(place) is int for place in span)):
            what = f"{_EXPECTED}, found keys {sorted(record)}"
            raise CollectionError(what, at=at, remedy="two texts, two whole numbers")
        if not 0 <= start < end:
            what = f"expected 0 ≤ start_char < end_char of {name!r}, found {start} and {end}"
            raise CollectionError(what, at=at, remedy="spans are half-open")
        whole_characters(name + text, at, _EXPECTED)
        yield Segment(name, name.rpartition("#")[0] or name, start, end, text), at
