"""Texts into words: in C where there is a compiler, else character by character, for the same result.

A word is a maximal run of letters, marks and numbers that no tag divides. Scripts without blanks (Han, Thai …) are
cut out of their run and become overlapping pairs of characters, each with the marks that follow it; one alone stays.

The categories of code points are those of Python's own Unicode. Most code points lie in long blocks of one category, of
which only the end is looked for, so that the table of all takes a few milliseconds.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from unicodedata import category

import numpy as np
import pyarrow as pa

from focuseval.engine import native

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from ctypes import CDLL

    from numpy.typing import NDArray

    from focuseval.collection.block import Block


OTHER, LETTER, MARK, DENSE, DENSE_MARK = range(5)
"""As in `words.c`: no part of a word; a letter or number, a mark; the same in a script without blanks."""

_KIND = {"L": LETTER, "N": LETTER, "M": MARK}
"""What the first letter of a category says."""

WITHOUT_BLANKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),
    (0x3040, 0x30FF),  # Kana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x323AF),
)
"""First and last code points of scripts that put no blanks between words."""

_BLOCKS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0x17000, 0x187FF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2CEB0, 0x2EBEF),
    (0x2EBF0, 0x2EE5F),
    (0x30000, 0x3134F),
    (0x31350, 0x323AF),
    (0x323B0, 0x3347F),
)
"""Blocks whose code points are letters from the first up to some last one, and nothing after it."""

_SCANNED = ((0, 0x3400), (0x4DC0, 0x4E00), (0xA000, 0xAC00), (0xD7A4, 0xD800), (0xF900, 0x17000), (0x18800, 0x20000))
_SCANNED_HIGH = ((0x2F800, 0x2FA20), (0xE0000, 0xE0200))
"""Where every code point is asked for; the rest is private, for surrogates, or not assigned."""


def kind(character: str) -> int:
    """Return what a character is to a word.

    >>> [kind(character) for character in "a7-漢"]
    [1, 1, 0, 3]
    """
    code = ord(character)
    plain = _KIND.get(category(character)[0], OTHER)
    dense = plain and any(low <= code <= high for low, high in WITHOUT_BLANKS)
    return plain + DENSE - LETTER if dense else plain


@cache
def kinds() -> NDArray[np.uint8]:
    """Return what every code point is."""
    plain = np.zeros(0x110000, np.uint8)
    for first, end in (*_SCANNED, *_SCANNED_HIGH):
        plain[first:end] = [_KIND.get(category(chr(code))[0], OTHER) for code in range(first, end)]
    for first, last in _BLOCKS:
        end = bisect_left(range(first, last + 1), True, key=lambda code: category(chr(code))[0] != "L")
        plain[first : first + end] = LETTER
    for low, high in WITHOUT_BLANKS:
        here = plain[low : high + 1]
        here[here > OTHER] += DENSE - LETTER
    return plain


_STRUCT = ("text", "count", "start", "end", "number", "distinct", "bytes", "names", "ends", "hashes", "slots", "table")
"""`struct words`: numbers, and where arrays begin."""


@dataclass(frozen=True, eq=False)
class Cut:
    """All words of some documents."""

    start: NDArray[np.int32]
    end: NDArray[np.int32]
    """Code points, counted from the document's first."""
    number: NDArray[np.int32]
    """Which of the distinct words it is."""
    bounds: NDArray[np.int64]
    """Where every document's words begin, and the end of the last."""
    distinct: pa.Array
    """The distinct words, as they are written."""


def cut_block(block: Block) -> Cut:
    """Return the words of a block's documents."""
    text, breaks = block.batch.column("text"), _breaks(block)
    library = native.library()
    compiled = None if library is None else _compiled(library, text, breaks)
    return _in_python(text, breaks) if compiled is None else compiled


def spans(text: str, breaks: Collection[int] = ()) -> Iterator[tuple[int, int]]:
    """Yield where the words of a text begin and end; `breaks` are the places at which a tag stands.

    >>> [text[a:b] for text in ["Fin-de-siècle, 漢字体 ก"] for a, b in spans(text)]
    ['Fin', 'de', 'siècle', '漢字', '字体', 'ก']
    """
    run, first, last = OTHER, 0, 0
    for at, character in enumerate(text):
        here = kind(character)
        if run != OTHER and (here == OTHER or at in breaks):
            yield first, at
            run = OTHER
        if here == OTHER or (run != OTHER and here in {MARK, DENSE_MARK}):
            continue
        here = DENSE if here in {DENSE, DENSE_MARK} else LETTER
        if run == here == DENSE:
            if last > first:
                yield first, at
                first = last
            last = at
        elif run != here:
            if run != OTHER:
                yield first, at
            run, first, last = here, at, at
    if run != OTHER:
        yield first, len(text)


def words(text: str) -> list[str]:
    """Return the words of a text without tags.

    >>> words("self-made हिन्दी")
    ['self', 'made', 'हिन्दी']
    """
    return [text[first:end] for first, end in spans(text)]


def _breaks(block: Block) -> NDArray[np.uint8]:
    """Return for every code point of every document, and for the end of each, whether a tag stands there."""
    sizes = np.asarray(block.batch.column("length").to_numpy(), np.int64) + 1
    base = np.repeat(np.cumsum(sizes) - sizes, np.diff(block.element_bounds))
    breaks = np.zeros(int(sizes.sum()), np.uint8)
    first, end = int(block.element_bounds[0]), int(block.element_bounds[-1])
    for name in ("start", "end"):
        breaks[base + block.element(name)[first:end]] = 1
    return breaks


def _compiled(library: CDLL, text: pa.Array, breaks: NDArray[np.uint8]) -> Cut | None:
    """Cut in C; None where there is not enough memory."""
    bounds, data = byte_bounds(text)
    most = int(bounds[-1] - bounds[0])
    if not most or 2 * most >= 2**31:
        return None
    start, end, number, ends = (np.empty(most, np.int32) for _ in range(4))
    names, hashes = np.empty(2 * most, np.uint8), np.empty(most, np.uint32)  # a character may stand in two pairs
    arrays: dict[str, NDArray[Any]] = {"start": start, "end": end, "number": number}
    arrays |= {"names": names, "ends": ends, "hashes": hashes}
    struct = native.struct(_STRUCT, arrays)
    struct["text"] = data.address
    word_bounds = np.empty(len(bounds), np.int64)
    where = (bounds.ctypes.data, len(bounds) - 1, breaks.ctypes.data, kinds().ctypes.data, word_bounds.ctypes.data)
    count = library.words_split(struct.ctypes.data, *where)
    if count < 0:
        return None
    size, used = int(struct["distinct"][0]), int(struct["bytes"][0])
    offsets = pa.py_buffer(np.append(np.int32(0), ends[:size]))
    distinct = pa.StringArray.from_buffers(size, offsets, pa.py_buffer(names[:used].copy()))
    return Cut(start[:count].copy(), end[:count].copy(), number[:count].copy(), word_bounds, distinct)


def byte_bounds(text: pa.Array) -> tuple[NDArray[np.int64], pa.Buffer]:
    """Return where every string of a large string array begins in its bytes, the end of the last, and the bytes."""
    _, offsets, data = text.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(text) + 1, 8 * text.offset)
    return bounds, pa.py_buffer(b"\0") if data is None else data


def _in_python(text: pa.Array, breaks: NDArray[np.uint8]) -> Cut:
    number: dict[str, int] = {}
    rows: list[tuple[int, int, int]] = []
    bounds, at = [0], 0
    for document in text.to_pylist():
        here = set(np.flatnonzero(breaks[at : at + len(document)]).tolist())
        rows += [(a, b, number.setdefault(document[a:b], len(number))) for a, b in spans(document, here)]
        bounds.append(len(rows))
        at += len(document) + 1
    columns = np.array(rows, np.int32).reshape(-1, 3)
    start, end, code = (np.ascontiguousarray(columns[:, place]) for place in range(3))
    return Cut(start, end, code, np.array(bounds, np.int64), pa.array(list(number), pa.string()))
