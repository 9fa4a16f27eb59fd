"""Positions counted in UTF-8 bytes or UTF-16 code units, turned into code points.

Other units than code points live in formats only; a position inside a character is never rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.placing.normalise import code_points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_SIZES = np.array([0x80, 0x800, 0x10000])


def from_bytes(text: str, positions: ArrayLike) -> NDArray[np.int64]:
    """Return the code point at every byte position, −1 where it is inside a character or beyond the text.

    >>> from_bytes("aé€b", [0, 1, 3, 6, 7, 2, 9]).tolist()
    [0, 1, 2, 3, 4, -1, -1]
    """
    wanted = np.asarray(positions, np.int64)
    if text.isascii():
        return np.where((wanted >= 0) & (wanted <= len(text)), wanted, -1)
    return _at(1 + np.searchsorted(_SIZES, code_points(text), "right"), wanted)


def from_utf16(text: str, positions: ArrayLike) -> NDArray[np.int64]:
    """Return the code point at every position in UTF-16 code units (JavaScript, Java), −1 inside a pair or beyond.

    >>> from_utf16("a😀b", [0, 1, 3, 4, 2]).tolist()
    [0, 1, 2, 3, -1]
    """
    return _at(np.where(code_points(text) >= _SIZES[2], 2, 1), positions)


def _at(sizes: NDArray[np.integer], positions: ArrayLike) -> NDArray[np.int64]:
    """Return which character begins at every position, given the characters' sizes."""
    wanted = np.asarray(positions, np.int64)
    begins = np.r_[0, np.cumsum(sizes)]
    found = np.searchsorted(begins, wanted)
    return np.where(begins[np.minimum(found, len(begins) - 1)] == wanted, found, -1)
