"""Where texts may be cut: words, sentences or characters as readers see them, and windows over them.

A *word* is a maximal run of letters, marks and numbers that no tag divides. Scripts without blanks (Han, Thai …) are
cut out of their run and become overlapping pairs of characters, each with the marks that follow it; one alone stays.
The words of a block are cut in C where there is a compiler, else in Python, for the same result.

A *sentence* ends at ``.``, ``!``, ``?`` or ``…``, with the quotes and brackets that close behind it, where white space
follows and then no small letter; at the full stops of Chinese, Japanese, Hindi, Arabic, Armenian, Ethiopic and others,
which need no white space; and at an empty line. A full stop behind an initial (``J. Smith``) or a common abbreviation
(``Dr.``, ``e.g.``) ends none. What stands between sentences is white space and belongs to no sentence.

A text is never cut inside what a reader sees as one *character*. A code point belongs to the one before it if it is a
mark, a joiner, a skin tone, a tag of a flag, a vowel or final consonant of decomposed Hangul, an initial consonant or a
syllable of Hangul behind another initial, if it follows a zero-width joiner, if it is the line feed of CR LF, or if it
ends a pair of regional indicators, which is a flag. These are the rules of Unicode's extended grapheme clusters
(UAX 29), but for signs of a few scripts that belong to the letter behind them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from ctypes import CDLL
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any
from unicodedata import category

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.block import Block
from focuseval.collection.index import Index
from focuseval.data.spans import pack
from focuseval.engine import native
from focuseval.engine.lazy import cached_property

Integers = NDArray[np.int64]
_AT_ONCE = 64  # documents whose texts are asked for together


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Pieces of documents 0 … n − 1, one document after the other; starts and ends ascend in each document."""

    start: Integers
    end: Integers
    bounds: Integers  # where every document's pieces begin, and the end of the last

    @cached_property
    def _edges(self) -> tuple[Integers, Integers]:
        document = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        return pack(document, self.start), pack(document, self.end)

    def upto_start(self, document: Integers, position: Integers) -> Integers:
        """Return how many pieces begin before a position, those of earlier documents included."""
        return np.searchsorted(self._edges[0], pack(document, position), "left")

    def upto_end(self, document: Integers, position: Integers) -> Integers:
        """Return how many pieces end at or before a position, those of earlier documents included."""
        return np.searchsorted(self._edges[1], pack(document, position), "right")

    def count(self, document: Integers, start: Integers, end: Integers) -> Integers:
        """Return how many pieces each span holds, cut ones included; an empty span cuts none."""
        return np.where(end > start, self.upto_start(document, end) - self.upto_end(document, start), 0)

    def windows(self, size: int, step: int) -> tuple[Integers, Integers, Integers]:
        """Return document, start and end of every window of so many pieces, from the first one's start on."""
        document, first, last = windows(np.diff(self.bounds), size, step)
        base = self.bounds[document]
        return document, self.start[base + first], self.end[base + last - 1]


def windows(totals: Integers, size: int, step: int) -> tuple[Integers, Integers, Integers]:
    """Return document, first and past-last number of every window over so many things in each document.

    The last window of a document is the first that reaches its end; with gaps there may be none that does.

    >>> [part.tolist() for part in windows(np.array([5, 0, 2]), 3, 2)]
    [[0, 0, 2], [0, 2, 0], [3, 5, 2]]
    """
    reaching = 1 - (-np.maximum(totals - size, 0) // step)
    number = np.minimum(reaching, -(-totals // step))
    document = np.repeat(np.arange(len(totals)), number)
    first = (np.arange(len(document)) - np.repeat(np.cumsum(number) - number, number)) * step
    return document, first, np.minimum(first + size, totals[document])


def boundaries(parts: Iterable[tuple[Integers, Integers]]) -> Boundaries:
    """Return the pieces of several documents, where each document's begin and end, as columns."""
    starts, ends = zip(*parts, strict=True) if (parts := list(parts)) else ((), ())
    bounds = np.append(0, np.cumsum([len(part) for part in starts], dtype=np.int64))
    empty = np.zeros(0, np.int64)
    return Boundaries(np.concatenate([empty, *starts]), np.concatenate([empty, *ends]), bounds)


def texts_of(documents: Index, rows: Integers | None = None) -> Iterator[str]:
    """Yield the texts of documents, all of them or those in some rows; a row below 0 has an empty one."""
    wanted = np.arange(len(documents)) if rows is None else np.asarray(rows, np.int64)
    for first in range(0, len(wanted), _AT_ONCE):
        some = wanted[first : first + _AT_ONCE]
        found = iter(documents.texts(some[some >= 0]).to_pylist())
        yield from (next(found) if row >= 0 else "" for row in some.tolist())


def between_blanks(text: str) -> tuple[Integers, Integers]:
    """Return where the runs of characters that are not white space begin and end: the words of a budget.

    >>> between_blanks("to be  or")
    (array([0, 3, 7]), array([2, 5, 9]))
    """
    blank = np.isin(code_points(text), _BLANKS)
    edges = np.diff(np.concatenate(([True], blank, [True])).astype(np.int8))
    return np.flatnonzero(edges == -1), np.flatnonzero(edges == 1)


def code_points(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text, lone surrogates included."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


_BLANKS = np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)
"""White space as `str.split` has it."""
OTHER, LETTER, MARK, DENSE, DENSE_MARK = range(5)
"""As in `words.c`: no part of a word; a letter or number, a mark; the same in a script without blanks."""

WITHOUT_BLANKS = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF)),  # Thai and Lao, Myanmar, Khmer
    *((0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F)),  # signs of repetition, Kana
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF)),  # Han
)
"""First and last code points of scripts that put no blanks between words."""


@cache
def kinds() -> NDArray[np.uint8]:
    """Return what every code point is to a word, by the categories of Python's own Unicode.

    >>> kinds()[[ord(character) for character in "a7-漢"]]
    array([1, 1, 0, 3], dtype=uint8)
    """
    plain, of_category = np.zeros(0x110000, np.uint8), {"L": LETTER, "N": LETTER, "M": MARK}
    for first, end in ((0, 0x34000), (0xE0000, 0xE0200)):  # the rest is private, or not assigned
        plain[first:end] = [of_category.get(category(chr(code))[0], OTHER) for code in range(first, end)]
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
    end: NDArray[np.int32]  # code points, counted from the document's first
    number: NDArray[np.int32]  # which of the distinct words it is
    bounds: NDArray[np.int64]  # where every document's words begin, and the end of the last
    distinct: pa.Array  # the distinct words, as they are written


def cut_block(block: Block) -> Cut:
    """Return the words of a block's documents."""
    sizes = np.asarray(block.batch.column("length").to_numpy(), np.int64) + 1
    base = np.repeat(np.cumsum(sizes) - sizes, np.diff(block.element_bounds))
    breaks = np.zeros(int(sizes.sum()), np.uint8)  # for every code point and every document's end: is there a tag?
    first, end = int(block.element_bounds[0]), int(block.element_bounds[-1])
    for name in ("start", "end"):
        breaks[base + block.element(name)[first:end]] = 1
    text, library = block.texts(), native.library()
    if library is not None and (compiled := _compiled(library, text, breaks)) is not None:
        return compiled
    number, rows = dict[str, int](), list[tuple[int, int, int]]()
    bounds, at = [0], 0
    for document in text.to_pylist():
        here = set(np.flatnonzero(breaks[at : at + len(document)]).tolist())
        rows += [(a, b, number.setdefault(document[a:b], len(number))) for a, b in spans(document, here)]
        bounds.append(len(rows))
        at += len(document) + 1
    start, stop, code = np.ascontiguousarray(np.array(rows, np.int32).reshape(-1, 3).T)
    return Cut(start, stop, code, np.array(bounds, np.int64), pa.array(list(number), pa.string()))


_RUN = re.compile(rb"[\1\2][\1\2\4]*|(?:[\3\4][\2\4]*)+")  # of kinds: a word, or a run in a script without blanks
_UNIT = re.compile(rb"[\3\4][\2\4]*")  # a character in a script without blanks, with its marks


def spans(text: str, breaks: Collection[int] = ()) -> Iterator[tuple[int, int]]:
    """Yield where the words of a text begin and end; `breaks` are the places at which a tag stands.

    >>> [text[a:b] for text in ["Fin-de-siècle, 漢字体 ก"] for a, b in spans(text)]
    ['Fin', 'de', 'siècle', '漢字', '字体', 'ก']
    """
    found = kinds()[code_points(text)].tobytes()
    for begin, end in pairwise(sorted({0, *breaks, len(text)})):
        for run in _RUN.finditer(found, begin, end):
            if found[run.start()] < DENSE:
                yield run.span()
            else:
                units = [one.start() for one in _UNIT.finditer(found, *run.span())]
                yield from zip(units, [*units[2:], run.end()], strict=False)  # pairs of units; one alone stays


def words(text: str) -> list[str]:
    """Return the words of a text without tags.

    >>> words("self-made हिन्दी")
    ['self', 'made', 'हिन्दी']
    """
    return [text[first:end] for first, end in spans(text)]


def _compiled(library: CDLL, text: pa.Array, breaks: NDArray[np.uint8]) -> Cut | None:
    """Cut in C; None where there is not enough memory."""
    _, offsets, data = text.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(text) + 1, 8 * text.offset)
    most = int(bounds[-1] - bounds[0])
    if not most or 2 * most >= 2**31:
        return None
    start, end, number, ends = (np.empty(most, np.int32) for _ in range(4))
    names, hashes = np.empty(2 * most, np.uint8), np.empty(most, np.uint32)  # a character may stand in two pairs
    arrays: dict[str, NDArray[Any]] = {"start": start, "end": end, "number": number, "ends": ends}
    struct = native.struct(_STRUCT, arrays | {"names": names, "hashes": hashes})
    struct["text"] = data.address
    word_bounds = np.empty(len(bounds), np.int64)
    where = (bounds.ctypes.data, len(bounds) - 1, breaks.ctypes.data, len(breaks))
    count = library.words_split(struct.ctypes.data, *where, kinds().ctypes.data, word_bounds.ctypes.data)
    if count < 0:
        return None
    size, used = int(struct["distinct"][0]), int(struct["bytes"][0])
    offsets = pa.py_buffer(np.append(np.int32(0), ends[:size]))
    distinct = pa.StringArray.from_buffers(size, offsets, pa.py_buffer(names[:used].copy()))
    return Cut(start[:count].copy(), end[:count].copy(), number[:count].copy(), word_bounds, distinct)


_CLOSING = "[\"'”’»›)\\]}*_]*"
_END = re.compile(
    rf"[.!?…]+{_CLOSING}(?=\s)"  # needs white space behind it
    rf"|[。！？｡؟۔।॥։።፧၊။។]+{_CLOSING}[」』）】》]*"  # needs none
    r"|\n[^\S\n]*\n\s*"  # an empty line
)
_SHORT = re.compile(
    r"(?:^|[\s(\[])(?:[^\W\d_]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|cf|al|etc|e\.g|i\.e|Fig|Eq|No|Vol|pp|ca|bzw|z\.B|d\.h)\.$"
)


def trimmed(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans without white space at their ends; empty ones are left out.

    >>> trimmed(" a  b ", [(0, 3), (3, 4), (4, 6)])
    [(1, 2), (4, 5)]
    """
    found = []
    for start, end in spans:
        piece = text[start:end]
        left = start + len(piece) - len(piece.lstrip())
        if left < end:
            found.append((left, start + len(piece.rstrip())))
    return found


def sentences(text: str) -> tuple[Integers, Integers]:
    """Return where the sentences of a text begin and end.

    >>> text = "Dr. No asked: “Why?” Nobody knew.  It was late"
    >>> [text[a:b] for a, b in zip(*sentences(text))]
    ['Dr. No asked: “Why?”', 'Nobody knew.', 'It was late']
    """
    ends = []
    for found in _END.finditer(text):
        stop = found[0][0] in ".!?…"  # which may belong to an abbreviation, or stand within a sentence
        goes_on = stop and text[found.end() : found.end() + 40].lstrip()[:1].islower()
        if not goes_on and not (found[0] == "." and _SHORT.search(text, max(0, found.end() - 8), found.end())):
            ends.append(found.end())
    columns = np.array(trimmed(text, pairwise([0, *ends, len(text)])), np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


_JOINER, _RETURN, _FEED = 0x200D, 0x0D, 0x0A
_FOLLOWING = (
    *((0x0E33, 0x0E33), (0x0EB3, 0x0EB3)),  # Thai and Lao AM: letters that are seen with the one before
    *((0x1160, 0x11FF), (0xD7B0, 0xD7FB)),  # Hangul vowels and finals
    *((0x200C, 0x200D), (0xFF9E, 0xFF9F)),  # joiners; voiced sound marks of half width
    *((0x1F3FB, 0x1F3FF), (0xE0020, 0xE007F)),  # skin tones; tags
)
"""Code points that always belong to the one before them, as marks do."""

_INITIALS = ((0x1100, 0x115F), (0xA960, 0xA97C))
"""Hangul initial consonants: several of them, and the syllable behind them, are seen as one character."""


@cache
def _table(*ranges: tuple[int, int]) -> NDArray[np.bool_]:
    """Return for every code point whether it lies in one of some ranges."""
    table = np.zeros(0x110000, np.bool_)
    for low, high in ranges:
        table[low : high + 1] = True
    return table


def moved_left(text: str, positions: Integers) -> Integers:
    r"""Return, for every position, the nearest place at or before it where the text may be cut.

    >>> moved_left("e\u0301a", np.array([1, 2, 3])).tolist()
    [0, 2, 3]
    """
    if text.isascii() and "\r" not in text:
        return positions
    codes = code_points(text)
    before = np.append(np.uint32(0), codes[:-1])[: len(codes)]
    inside = np.isin(kinds()[codes], (MARK, DENSE_MARK)) | _table(*_FOLLOWING)[codes]
    inside |= (before == _JOINER) | ((before == _RETURN) & (codes == _FEED))
    inside |= _table(*_INITIALS)[before] & _table(*_INITIALS, (0xAC00, 0xD7A3))[codes]  # syllables
    at, regional = np.arange(len(codes)), _table((0x1F1E6, 0x1F1FF))[codes]
    last_other = np.maximum.accumulate(np.where(regional, -1, at))
    inside |= regional & ((at - last_other) % 2 == 0)  # the second of a pair, counted from the first of a run
    inside[:1] = False
    allowed = np.maximum.accumulate(np.where(inside, 0, at))
    return np.append(allowed, len(codes))[positions]
