"""Which XML documents the fast path may read, and expat's word that they are well-formed.

An *ordinary* document is UTF-8, has nothing but elements, text, the five predefined entities and character references
inside its root element, and no ``>`` except at the end of tags. Then the number of ``<`` and of ``>`` is the number
of tags, and everything between two tags is text. All others go to expat's events.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.parsers import expat

import numpy as np

from focuseval.collection.events import MAX_DEPTH, parse
from focuseval.collection.windows import WIDTH
from focuseval.values import dataclass

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


@dataclass(frozen=True, eq=False)
class Marks:
    """The bytes of many documents, one after the other, and where their ``<`` and ``>`` stand."""

    data: NDArray[np.uint8]
    """With `WIDTH` bytes to spare at the end."""
    cuts: NDArray[np.int64]
    """Where each document begins, and the end of the last."""
    both: NDArray[np.int64]
    """Places of all ``<`` and ``>``; in ordinary documents they alternate."""

    def ordinary(self) -> NDArray[np.bool_]:
        """Tell for every document whether each ``<`` begins a tag and each ``>`` ends one."""
        opens = self.data[self.both] == ord("<")
        after = self.data[self.both + 1]
        bounds = np.searchsorted(self.both, self.cuts)
        wrong = opens & ((after == ord("!")) | (after == ord("?")))
        wrong[1:] |= opens[1:] == opens[:-1]
        marks = np.diff(bounds)
        fine: NDArray[np.bool_] = (marks % 2 == 0) & (np.diff(np.append(0, np.cumsum(wrong))[bounds]) == 0)
        for place in np.flatnonzero(fine & (marks > 2 * MAX_DEPTH)).tolist():
            fine[place] = self._depth(self.both[bounds[place] : bounds[place + 1]]) <= MAX_DEPTH
        return fine

    def _depth(self, both: NDArray[np.int64]) -> int:
        """Return how deep the tags of one document nest."""
        closes = self.data[both[0::2] + 1] == ord("/")
        empty = self.data[both[1::2] - 1] == ord("/")
        return int(np.cumsum(np.where(closes, -1, np.where(empty, 0, 1))).max()) + 1


def ordinary_body(data: bytes) -> bytes | None:
    """Return a document from its root element on if it may be ordinary as far as its prolog tells, else None.

    >>> ordinary_body(b'<?xml version="1.0"?> <!-- now --> <a>x &lt; y</a> ')
    b'<a>x &lt; y</a> '
    >>> ordinary_body(b'<?xml version="1.0" encoding="latin-1"?><a/>') is None
    True
    """
    prolog = _PROLOG.match(data)
    if prolog is None or len(data) > LARGEST_ORDINARY or b"\r" in data or b"\0" in data:
        return None  # a NUL tells UTF-16 without a mark, which begins with "<" too
    body = data[prolog.end() :]
    if prolog["doctype"] and _OTHER_ENTITY.search(body):
        return None
    return body


def find_marks(bodies: Sequence[bytes]) -> Marks:
    """Put documents into one array and find their marks."""
    data = np.frombuffer(bytearray().join([*bodies, bytes(WIDTH)]), np.uint8)
    both = np.flatnonzero((data & 0xFD) == ord("<"))  # the two marks differ in that bit alone
    return Marks(data, np.cumsum([0, *map(len, bodies)]), both)


def well_formed(data: bytes, file: str) -> None:
    """Let expat check a document; without handlers it runs at its full speed."""
    parse(expat.ParserCreate(), data, file)
