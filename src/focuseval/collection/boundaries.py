"""Where texts may be cut: words, sentences, tokens or characters as readers see them, and windows over them.

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
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.words import DENSE_MARK, MARK, kinds
from focuseval.data.spans import pack
from focuseval.engine.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection

    Integers = NDArray[np.int64]
    Cutter = Callable[[str], tuple[Integers, Integers]]


_AT_ONCE = 64
"""Documents whose texts are asked for together."""


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Pieces of documents 0 … n − 1, one document after the other; starts and ends ascend in each document."""

    start: Integers
    end: Integers
    bounds: Integers
    """Where every document's pieces begin, and the end of the last."""

    @cached_property
    def _document(self) -> Integers:
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @cached_property
    def _starts(self) -> Integers:
        return pack(self._document, self.start)

    @cached_property
    def _ends(self) -> Integers:
        return pack(self._document, self.end)

    def upto_start(self, document: Integers, position: Integers) -> Integers:
        """Return how many pieces begin before a position, those of earlier documents included."""
        return np.searchsorted(self._starts, pack(document, position), "left")

    def upto_end(self, document: Integers, position: Integers) -> Integers:
        """Return how many pieces end at or before a position, those of earlier documents included."""
        return np.searchsorted(self._ends, pack(document, position), "right")

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


def joined(parts: Iterable[tuple[Integers, Integers]]) -> Boundaries:
    """Return the pieces of several documents as columns."""
    starts, ends = zip(*parts, strict=True) if (parts := list(parts)) else ((), ())
    bounds = np.append(0, np.cumsum([len(part) for part in starts], dtype=np.int64))
    empty = np.zeros(0, np.int64)
    return Boundaries(np.concatenate([empty, *starts]), np.concatenate([empty, *ends]), bounds)


def boundaries(texts: Iterable[str], cut: Cutter) -> Boundaries:
    """Cut every text into its pieces."""
    return joined(map(cut, texts))


def texts_of(documents: Collection, rows: Integers | None = None) -> Iterator[str]:
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
    """Return the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


_BLANKS = np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)
"""White space as `str.split` has it."""


_CLOSING = "[\"'”’»›)\\]}*_]*"
_END = re.compile(
    rf"[.!?…]+{_CLOSING}(?=\s)"  # needs white space behind it
    rf"|[。！？｡؟۔।॥։።፧၊။។]+{_CLOSING}[」』）】》]*"  # needs none
    r"|\n[^\S\n]*\n\s*"  # an empty line
)
_SHORT = re.compile(
    r"(?:^|[\s(\[])(?:[^\W\d_]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|cf|al|etc|e\.g|i\.e|Fig|Eq|No|Vol|pp|ca|bzw|z\.B|d\.h)\.$"
)
_LONGEST = 8
"""Characters before the end of a sentence among which an abbreviation is looked for."""


def sentences(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the sentences of a text begin and end.

    >>> text = "Dr. No asked: “Why?” Nobody knew.  It was late"
    >>> [text[a:b] for a, b in zip(*sentences(text))]
    ['Dr. No asked: “Why?”', 'Nobody knew.', 'It was late']
    """
    spans: list[tuple[int, int]] = []
    at = 0
    ends = [found.end() for found in _END.finditer(text) if not _is_inside(text, found)]
    for end in (*ends, len(text)):
        piece = text[at:end]
        left = len(piece) - len(piece.lstrip())
        if left < len(piece):
            spans.append((at + left, at + len(piece.rstrip())))
        at = end
    columns = np.array(spans, np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def _is_inside(text: str, found: re.Match[str]) -> bool:
    """Say whether a full stop belongs to an abbreviation, or stands within a sentence."""
    sign = found[0]
    if sign[0] not in ".!?…":
        return False
    if text[found.end() : found.end() + 40].lstrip()[:1].islower():
        return True
    return sign == "." and _SHORT.search(text, max(0, found.end() - _LONGEST), found.end()) is not None


_JOINER, _RETURN, _FEED = 0x200D, 0x0D, 0x0A
_REGIONAL = (0x1F1E6, 0x1F1FF)
_FOLLOWING = (
    (0x0E33, 0x0E33),  # Thai and Lao AM: letters that are seen with the one before
    (0x0EB3, 0x0EB3),
    (0x1160, 0x11FF),  # Hangul vowels and finals
    (0xD7B0, 0xD7FB),
    (0x200C, 0x200D),  # joiners
    (0xFF9E, 0xFF9F),  # voiced sound marks of half width
    (0x1F3FB, 0x1F3FF),  # skin tones
    (0xE0020, 0xE007F),  # tags
)


_INITIALS = ((0x1100, 0x115F), (0xA960, 0xA97C))
"""Hangul initial consonants: several of them, and the syllable behind them, are seen as one character."""
_SYLLABLES = ((0xAC00, 0xD7A3),)


@cache
def _table(*ranges: tuple[int, int]) -> NDArray[np.bool_]:
    """Return for every code point whether it lies in one of some ranges."""
    table = np.zeros(0x110000, np.bool_)
    for low, high in ranges:
        table[low : high + 1] = True
    return table


@cache
def _following() -> NDArray[np.bool_]:
    """Return for every code point whether it always belongs to the one before it."""
    return np.isin(kinds(), (MARK, DENSE_MARK)) | _table(*_FOLLOWING)


def moved_left(text: str, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    r"""Return, for every position, the nearest place at or before it where the text may be cut.

    >>> moved_left("e\u0301a", np.array([1, 2, 3])).tolist()
    [0, 2, 3]
    """
    if text.isascii() and "\r" not in text:
        return positions
    codes = code_points(text)
    before = np.append(np.uint32(0), codes[:-1])[: len(codes)]
    inside = _following()[codes] | (before == _JOINER) | ((before == _RETURN) & (codes == _FEED))
    inside |= _table(*_INITIALS)[before] & _table(*_INITIALS, *_SYLLABLES)[codes]
    at, regional = np.arange(len(codes)), _table(_REGIONAL)[codes]
    last_other = np.maximum.accumulate(np.where(regional, -1, at))
    inside |= regional & ((at - last_other) % 2 == 0)  # the second of a pair, counted from the first of a run
    inside[:1] = False
    allowed = np.maximum.accumulate(np.where(inside, 0, at))
    return np.append(allowed, len(codes))[positions]
