"""Where a quotation stands: in one place, or put together from several."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from focuseval.data.placement import EXACT
from focuseval.placing.normalise import normal_form
from focuseval.placing.occurrences import find_all, occurrences
from focuseval.placing.page import Candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from focuseval.placing.page import Page

    Pages = Callable[[], Iterable[tuple[str, Page]]]
    """Gives documents, id and page, from the beginning each time it is called."""
    Places = tuple["QuotePlace", ...]

_OMITTED = re.compile(r"\s*(?:[\[(]\s*(?:\.{3}|…)\s*[\])]|\.{3,}|…)\s*")
_EDGES = " \t\r\n.,;:…"
LEAST, WORDS = 20, 3
"""Characters and words of each of two pieces: any text can be put together from smaller ones."""
PART = 8
"""Characters of a part between two omissions, which the quotation itself says are there."""


VERY_TEXT = 2.0
"""A similarity that only the very text has."""


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
    """Return every place of each text in a document.

    With a similarity of 1 none that is only near, and above 1 none but the very text, for which a document need not be
    brought to its normal form.
    """
    exact = dict(zip(texts, occurrences(page.text, texts), strict=True))
    if similarity <= 1:
        return page.candidates(exact, similarity)
    ends = {text: [start + len(text) for start in starts] for text, starts in exact.items()}
    return {text: Candidates(EXACT, 1.0, starts, ends[text]) for text, starts in exact.items() if starts}


def joined_parts(texts: Iterable[str], pages: Pages) -> dict[str, Places]:
    """Return where the parts of quotations with omissions (…) stand; only of those all of whose parts do."""
    parts = {text: [normal_form(part) for part in _OMITTED.split(core(text))] for text in texts}
    return _all_places(
        {text: some for text, some in parts.items() if len(some) > 1 and min(map(len, some)) >= PART}, pages
    )


def two_pieces(texts: Iterable[str], pages: Pages) -> dict[str, Places]:
    """Return the two places from which quotations are put together; only of those that are.

    The first piece is as long as it can be: if any cut leaves two pieces that stand somewhere, so does the last cut
    before which the text does. Punctuation at the cut is that of whoever put it together.
    """
    forms = {text: form for text in texts if len(form := normal_form(core(text))) > 2 * LEAST}
    longest = dict.fromkeys(forms, 0)
    for _, page in pages() if forms else ():
        begins = occurrences(page.normal.text, [form[:LEAST] for form in forms.values()])
        for (text, form), starts in zip(forms.items(), begins, strict=True):
            if starts:
                longest[text] = max(longest[text], _longest(form, page))
    pieces = {text: _halves(form, longest[text]) for text, form in forms.items()}
    return _all_places({text: both for text, both in pieces.items() if both}, pages)


def _halves(form: str, size: int) -> tuple[str, ...]:
    """Return two pieces of a text, the first of them of `size` characters at most and as long as it can be."""
    cuts = (cut for cut in reversed(find_all(form, " ")) if len(core(form[:cut])) <= size)
    halves = ((core(form[:cut]), core(form[cut:])) for cut in cuts)
    return next((both for both in halves if all(len(p) >= LEAST and p.count(" ") + 1 >= WORDS for p in both)), ())


def _longest(form: str, page: Page) -> int:
    """Return the length of the longest beginning of a text that stands in a document: a shorter one does, too."""
    low, high, document = 0, len(form), page.normal.text
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if form[:middle] in document else (low, middle - 1)
    return low


def _all_places(wanted: Mapping[str, Sequence[str]], pages: Pages) -> dict[str, Places]:
    """Return for every quotation the first place of each of its pieces, in normal form; only where each has one."""
    left = {form for forms in wanted.values() for form in forms}
    found: dict[str, QuotePlace] = {}
    for name, page in pages() if left else ():
        texts = sorted(left)
        for form, starts in zip(texts, occurrences(page.normal.text, texts), strict=True):
            spans = (page.normal.original(at, at + len(form)) for at in starts)
            span = next((span for span in spans if span is not None), None)
            if span is not None:
                found[form] = QuotePlace(name, *span)
        left -= found.keys()
        if not left:
            break
    return {text: tuple(found[form] for form in forms) for text, forms in wanted.items() if found.keys() >= set(forms)}
