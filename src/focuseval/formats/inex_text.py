"""INEX text runs (2009–2010): the six TREC columns, and then the place of the result.

::

    2009011 Q0 1818836 1 8.483 RunId /article[1]/bdy[1]/sec[6]/p[1]      an element (7 columns)
    2009001 Q0 1528075 1 -0.00075 RunId 9760 1848                        offset and length (8 columns)
    2009001 Q0 1528075 1 -0.00075 RunId 9760                             an entry point (7 columns)
    2009001 Q0 1528075 1 -0.00075 RunId /article[1]/p[1] /article[1]/p[3]    from one element to the end of another

Offsets count characters of the text, markup excluded, from the start of the root element. ``X`` or ``-1`` in place
of an offset says that the place is unknown. The **rank** column decides the ranking; equal ranks stay in file order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.data.run import Run
from focuseval.errors import FormatError
from focuseval.formats.columns import FAR, FileTable, as_text, column_array, known_numbers, read_table, run_lines
from focuseval.formats.content import Source
from focuseval.formats.ranking import ranked, topic_codes
from focuseval.formats.trec import RUN, one_run_id
from focuseval.placing.pointers import strings
from focuseval.placing.texts import column_of

Offsets = NDArray[np.int64]

LAYOUT = replace(
    RUN,
    columns={**RUN.columns, "place": "text", "length": "text"},
    least=7,
    remedy="a run of whole documents has 6 columns, see 'focuseval formats trec-run'",
)
_NUMBERS = {"place": "int", "length": "int"}
_UNKNOWN = pa.array(["X", "x", "-1"])


def read(source: Source) -> Run:
    """Return the run in order of its ranks."""
    table = read_table(source, LAYOUT, _NUMBERS if b"/" not in source.head().split(b"\n")[0] else None)
    run_id = one_run_id(table)
    topics, topic = topic_codes(table["topic"])
    rank, score = column_array(table["rank"], np.int32), column_array(table["score"], np.float64)
    columns = {"topic": topic, "document": table["document"], "rank": rank, "score": score, "line": table.line}
    columns |= _places(table)
    return Run(run_id, topics, **ranked(columns), file=source.name, sha256=source.digest(), faults=table.faults)


def _places(table: FileTable) -> dict[str, Any]:
    """Return start, end, path and end path of every result."""
    place, length = table["place"], table.get("length")
    if pa.types.is_integer(place.type):
        start = column_array(place, np.int64)
        return _spans(table, start, None if length is None else column_array(length, np.int64))
    is_path = pc.starts_with(place, "/")
    if length is None and pc.all(is_path).as_py():
        return {"path": place}
    start, size = _numbers(table, place, is_path), None
    columns: dict[str, Any] = {"path": pc.if_else(is_path, place, None)}
    if length is not None:
        to_path = pc.starts_with(length, "/")
        size = _numbers(table, length, to_path)
        columns["end_path"] = pc.if_else(pc.and_(is_path, to_path), length, None)
        half = pc.and_(pc.is_valid(to_path), pc.xor(is_path, pc.fill_null(to_path, False)))
        if (wrong := pc.index(half, pa.scalar(True)).as_py()) >= 0:
            what = "expected two paths or an offset and a length, found one of each"
            raise FormatError(what, at=table.at(wrong), remedy="see 'focuseval formats inex-text'")
    columns = {name: None if len(c) and c.null_count == len(c) else c for name, c in columns.items()}
    if not pc.all(is_path).as_py():
        columns |= _spans(table, start, size)
    return columns


def _numbers(table: FileTable, column: pa.ChunkedArray, skip: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return offsets or lengths; −1 where the field is unknown, missing or (`skip`) a path."""
    unknown = pc.or_(pc.is_in(column, _UNKNOWN), pc.fill_null(skip, True))
    values, wrong = known_numbers(column.combine_chunks(), ~np.asarray(unknown))
    if wrong.any():
        row = int(np.argmax(wrong))
        what = f"expected a path, an offset, 'X' or '-1', found {column[row].as_py()!r}"
        raise FormatError(what, at=table.at(row), remedy="see 'focuseval formats inex-text'")
    return values


def _spans(table: FileTable, start: Offsets, size: Offsets | None) -> dict[str, Offsets]:
    """Return start and end, −1 for the end of entry points and unknown places.

    Offsets and lengths below −1 or beyond any document are refused.
    """
    numbers = (start,) if size is None else (start, size)
    if any(len(column) and (column.min() < -1 or column.max() >= FAR) for column in numbers):
        row = int(np.argmax(np.logical_or.reduce([(column < -1) | (column >= FAR) for column in numbers])))
        found = " ".join(str(column[row]) for column in numbers)
        what = f"expected an offset (and a length) that is not negative and below a thousand million, found {found!r}"
        raise FormatError(what, at=table.at(row), remedy="correct the line, or write X for an unknown place")
    end = np.full(len(start), -1, np.int64) if size is None else start + size
    if size is not None and len(start) and min(start.min(), size.min()) < 0:
        end[(start < 0) | (size < 0)] = -1
    return {"start": start, "end": end}


def write(run: Run) -> Iterator[bytes]:
    """Yield the run's lines; a path is written where there is one, else the offset and length.

    When any row has a length every row gets two columns, so that the file stays regular where it can.
    """
    offset, end = (column_of(column, len(run)) for column in (run.start, run.end))
    unknown = pa.scalar("X X" if (end >= 0).any() else "X")
    spans = pc.binary_join_element_wise(as_text(offset), as_text(end - offset), " ")
    known = pc.if_else(pa.array(end >= 0), spans, as_text(offset))
    place = pc.if_else(pa.array(offset >= 0), known, unknown)
    if run.path is not None:
        path = strings(run.path)
        if run.end_path is not None:
            both = pc.binary_join_element_wise(path, strings(run.end_path), " ")
            path = pc.coalesce(both, path)
        place = pc.coalesce(path, place)
    return run_lines(run, place)
