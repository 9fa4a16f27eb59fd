"""What a code point is to a word: a letter, a mark, a character of a script without blanks, or the end of the word.

The categories are those of Python's own Unicode. Most code points lie in long blocks of one category, of which only the
end is looked for, so that the table of all takes a few milliseconds.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import category

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

OTHER, LETTER, MARK, DENSE, DENSE_MARK = range(5)
"""As in `words.c`: no part of a word; a letter or number, a mark; the same in a script without blanks."""

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
    return _kind(category(character), any(low <= code <= high for low, high in WITHOUT_BLANKS))


def _kind(name: str, dense: bool) -> int:
    if name[0] not in "LMN":
        return OTHER
    return {(False, False): LETTER, (True, False): MARK, (False, True): DENSE, (True, True): DENSE_MARK}[
        name[0] == "M", dense
    ]


@cache
def kinds() -> NDArray[np.uint8]:
    """Return what every code point is."""
    plain = np.zeros(0x110000, np.uint8)
    known = {
        name: _kind(name, dense=False) for name in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No")
    }
    for first, end in (*_SCANNED, *_SCANNED_HIGH):
        plain[first:end] = [known.get(category(chr(code)), OTHER) for code in range(first, end)]
    for first, last in _BLOCKS:
        end = bisect_left(range(first, last + 1), True, key=lambda code: category(chr(code))[0] != "L")
        plain[first : first + end] = LETTER
    for low, high in WITHOUT_BLANKS:
        here = plain[low : high + 1]
        here[here > OTHER] += DENSE - LETTER
    return plain
