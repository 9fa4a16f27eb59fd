"""Bytes of blank-separated lines → Arrow columns, a segment at a time; None where a file is not regular enough.

Segments keep memory flat: a column that repeats from line to line is run-end encoded, and the pages of a mapped file
are let go, before the next segment is read. The compiled splitter reads tidy lines, Arrow all other regular ones.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.native import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

Kinds = list[tuple[str, str | None]]

ARROW = {"text": pa.string(), "block": pa.string(), "int": pa.int64(), "rank": pa.int32(), "real": pa.float64()}
_BLOCK = 1 << 22
_SEGMENT = 1 << 27
_SMALL = 1 << 24
_WINDOW = 1 << 16
_PIECE = 1 << 18
_NEWLINE, _RETURN, _SPACE, _TAB = 10, 13, 32, 9


def parsed(
    data: pa.Buffer, kinds: Kinds, separator: str, release: Callable[[int], None] | None = None
) -> dict[str, Any] | None:
    """Return the columns of a regular file, calling `release` with the end of every segment that is done."""
    parts: list[dict[str, Any]] = []
    done = 0
    for segment in _segments(data, _SEGMENT):
        columns = _segment_columns(segment, kinds, separator)
        if columns is None:
            return None
        parts.append(columns)
        done += segment.size
        if release:
            release(done)
    return _stacked(parts, kinds)


def parsed_tidy(data: pa.Buffer, kinds: Kinds) -> tuple[dict[str, Any], NDArray[np.int64]] | None:
    """Return the columns of an untidy file once its white space is tidied, and the line of every row."""
    parts: list[dict[str, Any]] = []
    lines = [np.zeros(0, np.int64)]
    done = 0
    for segment in _segments(data, _SEGMENT):
        text = np.frombuffer(segment, np.uint8)
        tidy, line = _tidied(text)
        columns = _segment_columns(pa.py_buffer(tidy), kinds, " ")
        if columns is None:
            return None
        parts.append(columns)
        lines.append(line + done)
        done += int(np.count_nonzero(text == _NEWLINE))
    return _stacked(parts, kinds), np.concatenate(lines)


def _segments(data: pa.Buffer, size: int) -> Iterator[pa.Buffer]:
    """Yield pieces of a file that end with their last line."""
    first = 0
    while first < data.size:
        last = min(first + size, data.size)
        while last < data.size:
            window = min(last - first, _WINDOW)
            tail = bytes(data.slice(last - window, window))
            if b"\n" in tail:
                last += tail.rindex(b"\n") + 1 - window
                break
            last = min(last + _WINDOW, data.size)
        yield data.slice(first, last - first)
        first = last


def _segment_columns(data: pa.Buffer, kinds: Kinds, separator: str) -> dict[str, Any] | None:
    """Return a segment's columns; None when they are not as regular as that."""
    if not data.size:
        return {}
    columns = _split_columns(data, kinds, separator)
    return _arrow_columns(data, kinds, separator) if columns is None else columns


def _split_columns(data: pa.Buffer, kinds: Kinds, separator: str) -> dict[str, Any] | None:
    """Let the compiled splitter read the columns; numbers that are too long for it as text, which Arrow converts."""
    columns = _split_pieces(data, kinds, separator)
    reals = [name for name, kind in kinds if kind == "real"]
    if columns is not None or not reals:
        return columns
    columns = _split_pieces(data, [(name, "text" if kind == "real" else kind) for name, kind in kinds], separator)
    if columns is None:
        return None
    try:
        columns |= {name: columns[name].cast(pa.float64()) for name in reals}
    except pa.ArrowInvalid:
        return None
    return columns if _whole({name: columns[name] for name in reals}) else None


def _split_pieces(data: pa.Buffer, kinds: Kinds, separator: str) -> dict[str, Any] | None:
    """Split lines, those of a large segment in pieces of a block each, on all cores."""

    def work(piece: pa.Buffer) -> list[Any] | None:
        return split(piece, [kind for _, kind in kinds], separator)

    if data.size > _SMALL:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  only large input is worth a second thread

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = list(pool.map(work, _segments(data, _BLOCK)))
    else:
        parts = [work(data)]
    tidy = [part for part in parts if part is not None]
    if len(tidy) < len(parts):
        return None
    return {name: pa.chunked_array([part[i] for part in tidy]) for i, (name, kind) in enumerate(kinds) if kind}


def _arrow_columns(data: pa.Buffer, kinds: Kinds, separator: str) -> dict[str, Any] | None:
    """Let Arrow read the columns."""
    from pyarrow import csv  # noqa: PLC0415  costs 40 ms that other formats need not pay

    wanted = {name: ARROW[kind] for name, kind in kinds if kind}
    if len(wanted) < len(kinds) and _doubled(data, ord(separator)):
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(lent(data)),
            csv.ReadOptions(
                column_names=[name for name, _ in kinds], block_size=_BLOCK, use_threads=data.size > _SMALL
            ),
            csv.ParseOptions(delimiter=separator, quote_char=False, double_quote=False, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=wanted, include_columns=list(wanted), null_values=[], strings_can_be_null=False
            ),
            memory_pool=_roomy() if data.size > _SMALL else None,
        )
    except pa.ArrowInvalid:
        return None
    columns = {name: table[name] for name in wanted}
    return {name: encoded(columns[name], kind) for name, kind in kinds if kind} if _whole(columns) else None


def _roomy() -> Any:
    """Return the memory pool for large files: jemalloc, where Arrow has it, leaves the kernel a third of the work."""
    try:
        return pa.jemalloc_memory_pool()
    except NotImplementedError:
        return None


def _doubled(data: pa.Buffer, separator: int) -> bool:
    """Say whether two separators meet: to Arrow a column lies between them, and in one that is not read it hides."""
    text = np.frombuffer(data, np.uint8)
    for first in range(0, len(text), _PIECE):
        here = text[first : first + _PIECE + 1] == separator
        if (here[1:] & here[:-1]).any():
            return True
    return False


def lent(data: pa.Buffer) -> pa.Buffer:
    """Return data as memory that Arrow reads but does not own; the caller keeps `data` until Arrow has read it.

    Arrow's threads may let go of their input a moment after the reader has returned. If it is Python's, they need the
    interpreter for it, and where that is ending already the process aborts (apache/arrow issue 34314).
    """
    return pa.foreign_buffer(data.address, data.size)


def encoded(column: Any, kind: str) -> Any:
    """Return a column of blocks as run ends and values, any other as it is."""
    import pyarrow.compute as pc  # noqa: PLC0415  loaded with csv anyway

    return pa.chunked_array([pc.run_end_encode(chunk) for chunk in column.chunks]) if kind == "block" else column


def _stacked(parts: list[dict[str, Any]], kinds: Kinds) -> dict[str, Any]:
    """Put the chunks of all segments one after another."""
    stacked = {}
    for name, kind in kinds:
        if kind:
            chunks = [chunk for part in parts if name in part for chunk in part[name].chunks]
            stacked[name] = pa.chunked_array(chunks, chunks[0].type if chunks else ARROW[kind])
    return stacked


def _whole(columns: Mapping[str, Any]) -> bool:
    """Whether no text is empty (two separators in a row) and every number is finite."""
    import pyarrow.compute as pc  # noqa: PLC0415  loaded with csv anyway

    for column in columns.values():
        if pa.types.is_string(column.type):
            if len(column) and not pc.min(pc.binary_length(column)).as_py():
                return False
        elif pa.types.is_floating(column.type) and not all(np.isfinite(chunk).all() for chunk in column.chunks):
            return False
    return True


def _tidied(text: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """One space between columns and no blank line; also the line numbers of what is left."""
    blank = (text == _SPACE) | (text == _TAB) | (text == _RETURN)
    after = np.r_[text[1:] == _NEWLINE, True] | np.r_[blank[1:], True]
    kept = text[~(blank & after)]
    kept[(kept == _TAB) | (kept == _RETURN)] = _SPACE
    before = np.r_[True, kept[:-1] == _NEWLINE]
    kept = kept[~(before & (kept == _SPACE))]
    ends = np.flatnonzero(kept == _NEWLINE)
    starts = np.r_[0, ends + 1]
    filled = np.r_[ends, len(kept)] > starts
    before = np.r_[True, kept[:-1] == _NEWLINE]
    return kept[~(before & (kept == _NEWLINE))], np.flatnonzero(filled) + 1
