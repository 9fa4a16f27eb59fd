"""Sentences, by their punctuation: good enough to cut at, in any language that ends sentences with a sign.

A sentence ends at ``.``, ``!``, ``?`` or ``…``, with the quotes and brackets that close behind it, where white space
follows and then no small letter; at the full stops of Chinese, Japanese, Hindi, Arabic, Armenian, Ethiopic and others,
which need no white space; and at an empty line. A full stop behind an initial (``J. Smith``) or a common abbreviation
(``Dr.``, ``e.g.``) ends none. What stands between sentences is white space and belongs to no sentence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

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
    found = np.array(list(_spans(text)), np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for found in _END.finditer(text):
        if _ends_none(text, found):
            continue
        yield from _trimmed(text, at, found.end())
        at = found.end()
    yield from _trimmed(text, at, len(text))


def _ends_none(text: str, found: re.Match[str]) -> bool:
    """Say whether a full stop belongs to an abbreviation, or stands within a sentence."""
    sign = found[0]
    if sign[0] not in ".!?…":
        return False
    follows = text[found.end() : found.end() + 40].lstrip()[:1]
    if follows.islower():
        return True
    return sign == "." and _SHORT.search(text, max(0, found.end() - _LONGEST), found.end()) is not None


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a span without the white space at its ends, if anything is left."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left < len(piece):
        yield start + left, start + len(piece.rstrip())
