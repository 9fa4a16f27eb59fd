"""Where a quotation stands: in one place, or put together from several."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from focuseval.align.normalise import normal_form
from focuseval.align.occurrences import find_all, occurrences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from focuseval.align.page import Candidates, Page

    Pages = Callable[[], Iterable[tuple[str, Page]]]
    """Gives documents, id and page, from the beginning each time it is called."""

_OMITTED = re.compile(r"\s*(?:[\[(]\s*(?:\.{3}|…)\s*[\])]|\.{3,}|…)\s*")
_EDGES = " \t\r\n.,;:…"
LEAST, WORDS = 20, 3
"""Characters and words of each of two pieces: any text can be put together from smaller ones."""
PART = 8
"""Characters of a part between two omissions, which the quotation itself says are there."""


class QuotePlace(NamedTuple):
    """A place in a document."""

    document: str
    start: int
    end: int


def core(text: str) -> str:
    """Return a quotation without the punctuation at its ends, which belongs to whoever quotes.

    >>> core(" the sea is deep, … ")
    'the sea is deep'
    """
    return text.strip(_EDGES) or text.strip()


def candidates(page: Page, texts: Sequence[str], similarity: float) -> dict[str, Candidates]:
    """Return every place of each text in a document; with a similarity of 1, none that is only near."""
    return page.candidates(dict(zip(texts, occurrences(page.text, texts), strict=True)), similarity)


def joined_parts(text: str, pages: Pages) -> tuple[QuotePlace, ...]:
    """Return where the parts of a quotation with omissions (…) stand; nothing unless all do, or if there are none."""
    forms = [normal_form(part) for part in _OMITTED.split(core(text))]
    if len(forms) < 2 or min(map(len, forms)) < PART:
        return ()
    return _all_places(forms, pages)


def two_pieces(text: str, pages: Pages) -> tuple[QuotePlace, ...]:
    """Return the two places from which a quotation is put together; nothing if it is not.

    The first piece is as long as it can be: if any cut leaves two pieces that stand somewhere, so does the last cut
    before which the text does. Punctuation at the cut is that of whoever put it together.
    """
    form = normal_form(core(text))
    size = max((_longest(form, page) for _, page in pages()), default=0)
    halves = ((core(form[:cut]), core(form[cut:])) for cut in reversed(find_all(form, " ")))
    halves = (both for both in halves if len(both[0]) <= size)
    pieces = next((both for both in halves if all(map(_enough, both))), ())
    return _all_places(pieces, pages) if pieces else ()


def _enough(piece: str) -> bool:
    return len(piece) >= LEAST and piece.count(" ") + 1 >= WORDS


def _longest(form: str, page: Page) -> int:
    """Return the length of the longest beginning of a text that stands in a document: a shorter one does, too."""
    low, high, document = 0, len(form), page.normal.text
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if form[:middle] in document else (low, middle - 1)
    return low


def _all_places(forms: Sequence[str], pages: Pages) -> tuple[QuotePlace, ...]:
    """Return the first place of each text in normal form; nothing unless each has one."""
    found: dict[str, QuotePlace] = {}
    for name, page in pages():
        for form in forms:
            if form not in found and (place := next(_places(form, name, page), None)):
                found[form] = place
        if len(found) == len(set(forms)):
            return tuple(found[form] for form in forms)
    return ()


def _places(form: str, name: str, page: Page) -> Iterator[QuotePlace]:
    for at in find_all(page.normal.text, form):
        span = page.normal.original(at, at + len(form))
        if span is not None:
            yield QuotePlace(name, *span)
