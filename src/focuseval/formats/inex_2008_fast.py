"""INEX assessments as text, read as columns: for files in which every line is as it should be.

Whatever is not (a tab, a passage past the end, a pair judged twice …) is left to the reader that goes line by line and
names the fault: this one then returns None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.formats.judgements import empty_elements
from focuseval.gold import UNKNOWN, Articles, Gold, Passages
from focuseval.keys import indices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.formats.source import Source

SMALL = 1 << 17
"""Shorter files are read line by line as fast."""

_NUMBER, _POINT, _PASSAGE = "^[0-9]{1,9}$", "^(-1|[0-9]{1,9})$", "^[0-9]{1,9}:[0-9]{1,9}$"
_NEWLINE, _SPACE = 10, 32
_LEAST, _FIRST_PASSAGE = 5, 6


class _Lines(NamedTuple):
    """The lines' columns: sizes and entry points as numbers, and the passages of all lines."""

    ids: list[Any]
    """Topics and documents, encoded."""
    rsize: NDArray[np.int64]
    length: NDArray[np.int64]
    bep: NDArray[np.int64]
    row: NDArray[np.int64]
    """For every passage, its line, from 0."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]


def read_fast(source: Source) -> tuple[Gold, int] | None:
    """Return the gold of a regular file and how many sums differ from their passages; None for all other files."""
    lines = _lines(source) if len(source.data) >= SMALL else None
    if lines is None or not _regular(lines):
        return None
    topic, document = (column.indices.to_numpy() for column in lines.ids)
    order, marks = (np.argsort(codes, kind="stable") for codes in (topic, topic[lines.row]))
    row, start, end = lines.row[marks], lines.start[marks], lines.end[marks]
    marked = np.bincount(lines.row, minlength=len(topic)) > 0
    articles = Articles(
        topic=topic[order],
        document=document[order],
        relevance=marked[order].astype(np.int32),
        length=lines.length[order],
        rsize=lines.rsize[order],
        bep=lines.bep[order],
        line=order + 1,
        source=np.zeros(len(order), np.int32),
    )
    passages = Passages(topic[row], document[row], start, end, end - start, line=row + 1 if len(row) else None)
    names = tuple(lines.ids[0].dictionary.to_pylist())
    documents = lines.ids[1].dictionary
    gold = Gold(names, documents, articles, passages, empty_elements(), sha256=source.digest(), file=source.name)
    total = np.bincount(lines.row, lines.end - lines.start, len(topic))
    return gold, int(np.count_nonzero(total != lines.rsize))


def _lines(source: Source) -> _Lines | None:
    """Return the columns of a file with one blank between fields, None of any other."""
    found = _fields(source)
    if found is None:
        return None
    fields, first, width = found
    place = np.arange(len(fields)) - np.repeat(first, width)
    ids = [fields.take(indices(first + column)).dictionary_encode() for column in (0, 2)]
    judged = np.flatnonzero(width > _LEAST)
    marks = np.flatnonzero(place >= _FIRST_PASSAGE)
    rsize, length = (_numbers(fields.take(indices(first + column)), _NUMBER) for column in (3, 4))
    points = _numbers(fields.take(indices(first[judged] + _LEAST)), _POINT)
    edges = _edges(fields.take(indices(marks)))
    if rsize is None or length is None or points is None or edges is None:
        return None
    bep = np.full(len(first), UNKNOWN, np.int64)
    bep[judged] = points
    row = np.repeat(np.arange(len(first)), width)[marks]
    return _Lines(ids, rsize, length, bep, row, edges[0], edges[0] + edges[1])


def _fields(source: Source) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]] | None:
    """Return all fields of a file on end, and every line's first field and number of fields."""
    text = np.frombuffer(source.data, np.uint8)
    if text[-1] != _NEWLINE or bool((text < _SPACE).sum() != (ends := np.flatnonzero(text == _NEWLINE)).size):
        return None
    if bool((text > ord("~")).any()):
        return None
    between = (text == _SPACE) | (text == _NEWLINE)
    stops = np.flatnonzero(between)
    offsets = np.concatenate(([0], stops - np.arange(len(stops)))).astype(np.int32)
    if not np.diff(offsets).all():
        return None
    last = np.searchsorted(stops, ends)
    first = np.concatenate(([0], last[:-1] + 1))
    width = last + 1 - first
    if bool((width < _LEAST).any()):
        return None
    kept = [None, pa.py_buffer(offsets), pa.py_buffer(text[~between])]
    return pa.Array.from_buffers(pa.string(), len(stops), kept), first, width


def _numbers(column: Any, pattern: str) -> NDArray[np.int64] | None:
    """Return a column of digits as numbers; None where a field is anything else."""
    if pc.all(pc.match_substring_regex(column, pattern)).as_py() is False:
        return None
    return np.asarray(column.cast(pa.int64()))


def _edges(passages: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return offsets and lengths of passages ``offset:length``."""
    if pc.all(pc.match_substring_regex(passages, _PASSAGE)).as_py() is False:
        return None
    both = np.asarray(pc.split_pattern(passages, ":").flatten().cast(pa.int64()))
    return both[::2], both[1::2]


def _regular(lines: _Lines) -> bool:
    """Say whether no line needs to be blamed."""
    topic, document = (column.indices.to_numpy().astype(np.int64) for column in lines.ids)
    pair = np.sort(topic << np.int64(32) | document)
    marked = np.bincount(lines.row, minlength=len(topic)) > 0
    return bool(
        (pair[1:] != pair[:-1]).all()
        and (lines.bep <= lines.length).all()
        and (lines.end <= lines.length[lines.row]).all()
        and (marked | (lines.rsize == 0)).all()
    )
