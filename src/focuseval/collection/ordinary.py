"""Which XML documents the fast path may read, and expat's word that they are well-formed.

An *ordinary* document is UTF-8, has nothing but elements, text, the five predefined entities and character references
inside its root element, and no ``>`` except at the end of tags. Then the number of ``<`` and of ``>`` is the number
of tags, and everything between two tags is text. All others go to expat's events.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.parsers import expat

import numpy as np

from focuseval.collection.events import MAX_DEPTH, parse
from focuseval.collection.windows import WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LARGEST_ORDINARY = 16_000_000
"""Arrays over a larger document would take too much memory."""

_PROLOG = re.compile(
    rb"""
    (?:\xef\xbb\xbf)?
    (?: <\?xml \s+ version \s*=\s* ["'][\d.]+["']
        (?: \s+ encoding \s*=\s* ["'] (?:utf-8|us-ascii) ["'] )?
        (?: \s+ standalone \s*=\s* ["'](?:yes|no)["'] )? \s* \?> )?
    (?: \s+ | <!--.*?--> | <\?(?!xml).*?\?> )*
    (?P<doctype> <!DOCTYPE [^\[\]<>"']* (?: (?:"[^"<]*"|'[^'<]*') [^\[\]<>"']* )* >
    (?: \s+ | <!--.*?--> | <\?.*?\?> )* )?
    (?= < [^!?/] )
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_OTHER_ENTITY = re.compile(rb"&(?!(?:lt|gt|amp|quot|apos);|#)")


@dataclass(frozen=True)
class Marks:
    """The bytes of many documents, one after the other, and where their ``<`` and ``>`` stand."""

    data: NDArray[np.uint8]
    """With `WIDTH` bytes to spare at the end."""
    cuts: NDArray[np.int64]
    """Where each document begins, and the end of the last."""
    left: NDArray[np.int64]
    right: NDArray[np.int64]

    def ordinary(self) -> NDArray[np.bool_]:
        """Tell for every document whether each ``<`` begins a tag and each ``>`` ends one."""
        after = self.data[self.left + 1]
        other = self.left[(after == ord("!")) | (after == ord("?"))]
        lefts, rights, others = (np.diff(np.searchsorted(m, self.cuts)) for m in (self.left, self.right, other))
        fine: NDArray[np.bool_] = (lefts == rights) & (others == 0)
        for place in np.flatnonzero(fine & (lefts > MAX_DEPTH)).tolist():
            fine[place] = self._depth(place) <= MAX_DEPTH
        return fine

    def _depth(self, place: int) -> int:
        """Return how deep the tags of one document nest."""
        first, last = np.searchsorted(self.left, self.cuts[place : place + 2])
        left, right = self.left[first:last], self.right[first:last]
        closes = self.data[left + 1] == ord("/")
        empty = self.data[right - 1] == ord("/")
        return int(np.cumsum(np.where(closes, -1, np.where(empty, 0, 1))).max()) + 1


def ordinary_body(data: bytes) -> bytes | None:
    """Return a document from its root element on if it may be ordinary as far as its prolog tells, else None.

    >>> ordinary_body(b'<?xml version="1.0"?> <!-- now --> <a>x &lt; y</a> ')
    b'<a>x &lt; y</a> '
    >>> ordinary_body(b'<?xml version="1.0" encoding="latin-1"?><a/>') is None
    True
    """
    prolog = _PROLOG.match(data)
    if prolog is None or len(data) > LARGEST_ORDINARY or b"\r" in data:
        return None
    body = data[prolog.end() :]
    if prolog["doctype"] and _OTHER_ENTITY.search(body):
        return None
    return body


def find_marks(bodies: Sequence[bytes]) -> Marks:
    """Put documents into one array and find their marks."""
    data = np.frombuffer(bytearray().join([*bodies, bytes(WIDTH)]), np.uint8)
    left, right = (np.flatnonzero(data == ord(mark)) for mark in "<>")
    return Marks(data, np.cumsum([0, *map(len, bodies)]), left, right)


def well_formed(data: bytes, file: str) -> None:
    """Let expat check a document; without handlers it runs at its full speed."""
    parse(expat.ParserCreate(), data, file)
