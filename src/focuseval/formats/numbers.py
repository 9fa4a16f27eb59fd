"""Numbers as text formats write them: the one place that says what is a number, and what to say of what is none."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.engine.keys import indices
from focuseval.errors import FormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.formats.source import Source

ARROW = {"text": pa.string(), "block": pa.string(), "int": pa.int64(), "rank": pa.int32(), "real": pa.float64()}
"""The type of every kind of column."""

_PATTERN = {
    "int": r"[+-]?[0-9]{1,18}",
    "rank": r"[+-]?[0-9]{1,9}",
    "real": r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))",
}
NUMBERS = frozenset(_PATTERN)
"""The kinds of columns that are numbers."""
_KNOWN = {kind: re.compile(pattern) for kind, pattern in _PATTERN.items()}
_DIGITS = {"int": 18, "rank": 9}


def number(text: str, kind: str) -> float | None:
    """Return a field as a number, maybe as NaN or infinite where the kind is real; None where it is none.

    >>> number("+7", "int"), number("1e3", "real"), number("-Inf", "real"), number("0x1", "int")
    (7, 1000.0, -inf, None)
    """
    if not _KNOWN[kind].fullmatch(text):
        return None
    return float(text) if kind == "real" else int(text)


def no_number(name: str, kind: str, text: str) -> str:
    """Return what to say of a field that is no number, or none that is finite.

    >>> no_number("rank", "rank", "first")
    "expected a whole number as rank, found 'first'"
    """
    return f"expected a {'finite' if kind == 'real' else 'whole'} number as {name}, found {text!r}"


def checked(source: Source, line: int, name: str, kind: str, text: str) -> int:
    """Return a field as a whole number, or raise."""
    value = number(text, kind)
    if value is None or not math.isfinite(value):
        raise FormatError(no_number(name, kind, text), at=source.at(line), remedy="correct the line")
    return int(value)


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
