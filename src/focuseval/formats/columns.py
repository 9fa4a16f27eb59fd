"""Bytes of blank-separated lines → Arrow columns, a piece at a time, by compiled code or else by NumPy; and numbers.

Pieces keep memory low: a column that repeats from line to line is run-end encoded before the next one is read. A piece
that the compiled code cannot read (there is no compiler, lines of different widths, a number in another spelling, an
error) is cut into fields by NumPy, which finds the line at fault.
What is a number, and the message for what is none, is said here alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.fields import short
from focuseval.data.run import Run
from focuseval.engine.native import indices, split
from focuseval.engine.workers import in_threads
from focuseval.errors import FormatError, Place
from focuseval.formats.content import Source, refuse_binary
from focuseval.formats.ranking import ranked
from focuseval.placing.pointers import strings

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

_SEGMENT = 1 << 27  # bytes that are read at once; 32-bit offsets can count them
_BLOCK = 1 << 22  # bytes that the compiled code reads at once where several threads do
_PIECE = 1 << 20  # bytes that NumPy reads at once
_SMALL = 1 << 24  # bytes that are not worth a second thread
_WINDOW = 1 << 16
_NEWLINE, _BEYOND_ASCII = 10, 128
_BLANK = np.isin(np.arange(256), list(b" \t\n\v\f\r"))
"""Which bytes are blanks: those at which Python's ``bytes.split`` splits."""
ARROW = {"text": pa.string(), "block": pa.string(), "int": pa.int64(), "rank": pa.int32(), "real": pa.float64()}
"""The type of every kind of column."""

_NUMBER = {
    "int": re.compile(r"[+-]?[0-9]{1,18}"),
    "rank": re.compile(r"[+-]?[0-9]{1,9}"),
    "real": re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))"),
}
"""How the kinds of columns that are numbers are spelled."""
_DIGITS = {"int": 18, "rank": 9}
FAR = 10**9  # no document has as many characters
_SWAPPED = re.compile(rb"^[ \t]*Q0[ \t]+(?!Q0[ \t])", re.MULTILINE)
_ROWS = 1 << 16  # lines that are written at once
_TYPES: dict[str, Any] = {"rank": np.int32, "score": np.float64, "start": np.int64, "end": np.int64, "chunk": np.int64}
"""The columns of a run that are numbers."""


def number(text: str, kind: str) -> float | None:
    """Return a field as a number, maybe as NaN or infinite where the kind is real; None where it is none.

    >>> number("+7", "int"), number("1e3", "real"), number("-Inf", "real"), number("0x1", "int")
    (7, 1000.0, -inf, None)
    """
    if not _NUMBER[kind].fullmatch(text):
        return None
    return float(text) if kind == "real" else int(text)


def no_number(name: str, kind: str, text: str) -> str:
    """Return the message for a field that is no number, or none that is finite.

    >>> no_number("rank", "rank", "first")
    "expected a whole number as rank, found 'first'"
    """
    return f"expected a {'finite' if kind == 'real' else 'whole'} number as {name}, found {short(text)}"


def numbers(texts: pa.Array, kind: str) -> pa.Array:
    """Return a column of texts as numbers, null where one is none or missing; plain ones are converted by Arrow."""
    try:
        values = texts.cast(ARROW[kind])
        if np.isfinite(values).all() if kind == "real" else _plain(texts, _DIGITS[kind]):
            return values
    except pa.ArrowInvalid:
        pass
    return pa.array([None if text is None else number(text, kind) for text in texts.to_pylist()], ARROW[kind])


def known_numbers(texts: pa.Array, known: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the whole numbers that a column holds where they are known, −1 elsewhere; and which of them are none."""
    values = numbers(texts if known.all() else texts.take(indices(np.flatnonzero(known))), "int")
    filled, wrong = np.full(len(texts), -1, np.int64), np.zeros(len(texts), np.bool_)
    wrong[known] = values.is_null()
    filled[known] = values.fill_null(-1) if values.null_count else values
    return filled, wrong


def _plain(texts: pa.Array, most: int) -> bool:
    """Say whether whole numbers have few digits, and none is hexadecimal, which Arrow knows and we do not."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return True
    ends = np.frombuffer(offsets, np.int32)[texts.offset :][: len(texts) + 1]
    written = bytes(data[int(ends[0]) : int(ends[-1])])
    return bool(np.diff(ends).max() <= most) and b"x" not in written and b"X" not in written


@dataclass(frozen=True)
class Layout:
    """The columns of a text format: name → kind; None is read past.

    Kinds: ``text``, ``block`` (text that repeats from line to line), ``int``, ``rank``, ``real``.
    """

    columns: Mapping[str, str | None]
    least: int  # how many columns a line has at least; the others are null where they are missing
    remedy: str | None = None


class Problem(NamedTuple):
    """What is wrong with a line of a part."""

    line: int
    what: str
    remedy: str | None = "correct the line"


class Part(NamedTuple):
    """The columns of some lines."""

    columns: dict[str, pa.Array]
    line: NDArray[np.integer] | None  # the line of every row, from 1; None where row i stands on line i + 1
    lines: int  # how many lines there are, blank ones included
    problem: Problem | None = None  # the first problem
    readable: bool = True
    """Whether there is none, or only such as leave all columns readable (scores that are no finite numbers)."""

    @property
    def rows(self) -> int:
        """How many lines are not blank."""
        return len(next(iter(self.columns.values())))


class Fields(NamedTuple):
    """The fields of all lines that are not blank, one after another."""

    text: pa.Array  # each field, and then the blanks after it
    first: NDArray[np.int64]  # every line's first field
    width: NDArray[np.int64]  # how many fields every line has
    line: NDArray[np.int64]

    def take(self, fields: NDArray[np.int64]) -> pa.Array:
        """Return some of the fields."""
        return self.text.take(indices(2 * fields))

    def column(self, place: int) -> pa.Array:
        """Return the fields at a place of their lines, from 0; null where a line has fewer."""
        there = self.width > place
        rows = self.first + place
        return self.take(rows) if there.all() else self.text.take(indices(2 * rows, there))

    def before(self, row: int) -> Fields:
        """Return the lines before a row."""
        return Fields(self.text[: 2 * int(self.first[row])], self.first[:row], self.width[:row], self.line[:row])


def pieces(data: pa.Buffer, size: int) -> Iterator[pa.Buffer]:
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


def compiled(data: pa.Buffer, kinds: dict[str, str | None]) -> Part | None:
    """Let the compiled code read lines; None where it cannot."""
    found = split(data, list(kinds.values()))
    if found is None:
        return None
    arrays, line = found
    columns = {name: array for name, array in zip(kinds, arrays, strict=True) if array is not None}
    part = Part(columns, line, 0)
    return part._replace(lines=part.rows if line is None else newlines(data))


def any_lines(data: pa.Buffer, kinds: dict[str, str | None], layout: Layout) -> Iterator[Part]:
    """Yield the parts of lines, most of which have these columns: by compiled code as far as it can, else by NumPy.

    The compiled code does not know every spelling of real numbers, but can read them as text.
    """
    texts = {name: "text" if kind == "real" else kind for name, kind in kinds.items()}
    part = compiled(data, kinds) or compiled(data, texts)
    small = [] if part else list(pieces(data, _PIECE))
    if len(small) > 1:
        yield from chain.from_iterable(any_lines(piece, kinds, layout) for piece in small)
        return
    part = part or _by_fields(data, layout)
    columns, problem, readable = dict(part.columns), part.problem, part.readable
    for name, texts in part.columns.items():
        kind = layout.columns[name]
        if kind not in _NUMBER or not pa.types.is_string(texts.type):
            continue
        columns[name] = numbers(texts, kind)
        known = columns[name].is_valid().to_numpy(zero_copy_only=False)
        readable &= bool(known.all())  # with a score that is no finite number all columns stay readable
        wrong = np.flatnonzero(~(known & np.isfinite(columns[name].to_numpy(zero_copy_only=False))))
        if len(wrong):
            row = int(wrong[0])
            line = row + 1 if part.line is None else int(part.line[row])
            if problem is None or line < problem.line:
                problem = Problem(line, no_number(name, kind, texts[row].as_py()))
    yield part._replace(columns=columns, problem=problem, readable=readable)


def fields_of(data: pa.Buffer) -> Fields:
    """Cut lines at blanks."""
    text = np.frombuffer(data, np.uint8)
    plain = _BLANK[text[text < ord(" ")]].all()  # most files have no other control characters
    blank = np.append(text <= ord(" ") if plain else _BLANK[text], True)
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    edges = edges if blank[0] else np.append(0, edges)
    ends = np.append(np.flatnonzero(text == _NEWLINE), len(text))
    width = np.diff(np.searchsorted(edges[::2], ends), prepend=0)
    line = np.flatnonzero(width)
    width = width[line]
    offsets = pa.py_buffer(np.append(edges, len(text)).astype(np.int32))
    pieces_of_text = pa.Array.from_buffers(pa.string(), len(edges), [None, offsets, data])
    return Fields(pieces_of_text, np.cumsum(width) - width, width, line + 1)


def sound_lines(data: pa.Buffer, layout: Layout, most: float) -> tuple[Fields, Problem | None]:
    """Cut lines; return those before the first that is not UTF-8 or has too few fields or too many, and what it is."""
    fields, problem = fields_of(data), None
    try:
        if np.frombuffer(data, np.uint8).max(initial=0) >= _BEYOND_ASCII:
            fields.text.validate(full=True)
    except pa.ArrowInvalid:
        for number, field in enumerate(fields.text.view(pa.binary()).to_pylist()):
            try:
                field.decode()
            except UnicodeDecodeError as error:
                row = int(np.searchsorted(fields.first, number // 2, "right")) - 1
                what = f"expected UTF-8, found byte 0x{field[error.start]:02x}"
                problem = Problem(int(fields.line[row]), what, "convert the file to UTF-8")
                fields = fields.before(row)
                break
    odd = np.flatnonzero((fields.width < layout.least) | (fields.width > most))
    if not len(odd):
        return fields, problem
    row = int(odd[0])
    found = fields.take(fields.first[row] + np.arange(fields.width[row])).to_pylist()
    names, least, line = list(layout.columns), layout.least, " ".join(found)
    columns = " ".join(names[:least] + [f"[{name}]" for name in names[least:]])
    count = f"{least}" if len(names) == least else f"{least} to {len(names)}"
    line = line if len(line) <= 60 else line[:60] + "…"
    what = f"expected {count} columns ({columns}), found {len(found)}: {line!r}"
    return fields.before(row), Problem(int(fields.line[row]), what, layout.remedy)


def _by_fields(data: pa.Buffer, layout: Layout) -> Part:
    """Read columns of text by NumPy, up to the first line that is not as it should be."""
    fields, problem = sound_lines(data, layout, len(layout.columns))
    columns = {}
    for place, (name, kind) in enumerate(layout.columns.items()):
        if kind:
            column = fields.column(place)
            columns[name] = pc.run_end_encode(column) if kind == "block" else column
    lines, rows = newlines(data), len(fields.line)
    numbered = rows and rows == fields.line[-1] >= lines
    return Part(columns, None if numbered else fields.line, lines, problem, problem is None)


def refuse_swapped(source: Source, topics: Sequence[pa.Array]) -> None:
    """Raise at a line that begins with the constant ``Q0``: its topic stands in the next column."""
    if any(pc.index(some, "Q0").as_py() >= 0 for some in topics) and (found := _SWAPPED.search(source.data)):
        what = "expected a topic before the constant Q0, found Q0 in the first column"
        raise FormatError(what, at=source.at(source.line_of(found.end())), remedy="swap the first two columns")


def newlines(data: pa.Buffer) -> int:
    """Count the ends of lines."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == _NEWLINE))


class FileTable(dict[str, pa.ChunkedArray]):
    """Columns by name (`pop` frees one early: ten million strings are not kept longer than they are needed)."""

    source: Source
    line: NDArray[np.int64] | None = None  # the line of every row; None where row i stands on line i + 1
    faults: tuple[FormatError, ...] = ()  # the first score that is no finite number

    def at(self, row: int) -> Place:
        """Return where a row stands."""
        return self.source.at(int(row) + 1 if self.line is None else int(self.line[row]))


def read_table(source: Source, layout: Layout, guess: Mapping[str, str] | None = None) -> FileTable:
    """Return a text file's columns; other kinds of columns may be guessed, and are tried first.

    A column that no line has is left out.
    """
    refuse_binary(source)
    width = next((len(fields) for line in source.head().split(b"\n") if (fields := line.split())), 0)
    tried = replace(layout, columns={**layout.columns, **(guess or {})})
    parts = _read_parts(source, tried, width)
    if guess and not all(part.readable for part in parts):
        tried = layout
        parts = _read_parts(source, tried, width)
    table, table.source = FileTable(), source
    before = np.cumsum([0, *(part.lines for part in parts)]).tolist()
    for part, first in zip(parts, before, strict=False):
        if part.problem is not None:
            line, what, remedy = part.problem
            table.faults = (FormatError(what, at=source.at(line + first), remedy=remedy),)
            break
    if table.faults and not all(part.readable for part in parts):
        raise table.faults[0]
    for name, kind in tried.columns.items():
        if kind is None or (parts and not any(name in part.columns for part in parts)):
            continue
        chunks = [part.columns[name] if name in part.columns else pa.nulls(part.rows, ARROW[kind]) for part in parts]
        column = pa.chunked_array(chunks, chunks[0].type if chunks else ARROW[kind])
        if column.null_count < max(len(column), 1):
            table[name] = column
    if layout.columns.get("topic") == "block":  # of TREC and INEX
        refuse_swapped(source, [chunk.values for chunk in table["topic"].chunks])
    if any(part.line is not None for part in parts):
        lines = [np.arange(1, part.rows + 1) if part.line is None else part.line for part in parts]
        table.line = np.concatenate([line + first for line, first in zip(lines, before, strict=False)], dtype=np.int64)
    return table


def _read_parts(source: Source, layout: Layout, width: int) -> list[Part]:
    """Return the columns of all lines, large files on all cores; a part that cannot be read is the last."""
    kinds = dict(islice(layout.columns.items(), max(width, layout.least)))
    parts = list[Part]()
    for segment in pieces(pa.py_buffer(source.data), _SEGMENT):
        found: Iterator[Part] = any_lines(segment, kinds, layout)
        if segment.size > _SMALL:
            blocks = list(pieces(segment, _BLOCK))
            found = chain.from_iterable(in_threads(lambda block: list(any_lines(block, kinds, layout)), blocks))
        for part in found:
            parts.append(part)
            if not part.readable:
                return parts
    return parts


def column_array(column: pa.ChunkedArray, kind: type[T]) -> NDArray[T]:
    """Return a column of numbers as one NumPy array that may be changed."""
    chunks = [chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate(chunks).astype(kind, copy=False) if chunks else np.zeros(0, kind)


def ranked_run(source: Source, run_id: str, topics: tuple[str, ...], columns: Mapping[str, Any], **more: Any) -> Run:
    """Return the columns of a file as a run in ranking order: numbers as NumPy has them, None what nobody fills."""
    known = dict(columns)
    for name, column in columns.items():
        if not isinstance(column, np.ndarray) and name != "document" and column.null_count == len(column):
            known[name] = None
        elif not isinstance(column, np.ndarray) and name in _TYPES:
            known[name] = column_array(column if name in {"rank", "score"} else column.fill_null(-1), _TYPES[name])
    return Run(run_id, topics, **ranked(known), file=source.name, sha256=source.digest(), **more)


def joined(*columns: pa.Array | pa.ChunkedArray | str) -> Iterator[bytes]:
    """Yield lines of the given string columns (or constants) with single blanks between them."""
    size = next(len(column) for column in columns if not isinstance(column, str))
    for first in range(0, size, _ROWS):
        parts = [c if isinstance(c, str) else strings(c.slice(first, _ROWS)) for c in columns]
        lines = pc.binary_join_element_wise(*parts, " ").to_pylist()
        yield ("\n".join(lines) + "\n").encode()


def run_lines(run: Run, *places: pa.Array) -> Iterator[bytes]:
    """Yield a run's lines: the six TREC columns, and then maybe places.

    Where a run has no ranks or no scores, 1, 2, 3 … and 1/1, 1/2, 1/3 … within each topic are written.
    """
    place = np.arange(len(run)) - run.bounds[run.topic] + 1
    return joined(
        words("topic", run.topics, run.topic),
        "Q0",
        words("document", run.document),
        as_text(place.astype(np.int32) if run.rank is None else run.rank),
        as_text(1 / place if run.score is None else run.score),
        words("run id", [run.run_id or "run"])[0].as_py(),
        *places,
    )


def words(
    what: str, values: Sequence[str] | pa.Array | pa.ChunkedArray, codes: NDArray[np.int32] | None = None
) -> pa.Array | pa.ChunkedArray:
    """Return strings that a blank-separated column can hold, each taken by its code when codes are given."""
    strings = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values, pa.string())
    bad = strings.filter(pc.match_substring_regex(pc.cast(strings, pa.string()), r"^$|[\s\v\x00\x{feff}]"))
    if len(bad):
        what = f"expected a {what} without blanks, found {bad[0].as_py()!r}"
        raise FormatError(what, remedy="write a format that can hold it, such as JSONL")
    return strings if codes is None else strings.take(pa.array(codes))


def as_text(numbers: NDArray[Any]) -> pa.Array:
    """Return numbers as they are written; read back, they are the same."""
    return pa.array(numbers).cast(pa.string())
