"""Where a text may be cut: never inside what a reader sees as one character.

A code point belongs to the one before it if it is a mark, a joiner, a skin tone, a tag of a flag, a vowel or final
consonant of decomposed Hangul, if it follows a zero-width joiner, if it is the line feed of CR LF, or if it ends a pair
of regional indicators, which is a flag. These are the rules of Unicode's extended grapheme clusters (UAX 29), but for
signs of a few scripts that belong to the letter behind them, and for the clusters of initials of old Hangul.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.chunks.boundaries import code_points
from focuseval.collection.chunks.characters import DENSE_MARK, MARK, kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


@cache
def _following() -> NDArray[np.bool_]:
    """Return for every code point whether it belongs to the one before it."""
    table = np.isin(kinds(), (MARK, DENSE_MARK))
    for low, high in _FOLLOWING:
        table[low : high + 1] = True
    return table


def moved_left(text: str, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    r"""Return, for every position, the nearest place at or before it where the text may be cut.

    >>> moved_left("e\u0301a", np.array([1, 2, 3])).tolist()
    [0, 2, 3]
    """
    if text.isascii() and "\r" not in text:
        return positions
    codes = code_points(text)
    inside = _following()[codes]
    before = np.append(np.uint32(0), codes[:-1])[: len(codes)]
    inside |= (before == _JOINER) | ((before == _RETURN) & (codes == _FEED)) | _second_of_flag(codes)
    inside[:1] = False
    allowed = np.maximum.accumulate(np.where(inside, 0, np.arange(len(codes))))
    return np.append(allowed, len(codes))[positions]


def _second_of_flag(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which code points end a pair of regional indicators, counted from the first of a run."""
    regional = (codes >= _REGIONAL[0]) & (codes <= _REGIONAL[1])
    if not regional.any():
        return regional
    at = np.arange(len(codes))
    last_other = np.maximum.accumulate(np.where(regional, -1, at))
    return np.asarray(regional & ((at - last_other) % 2 == 0))
