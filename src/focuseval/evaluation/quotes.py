"""Quotations in generated answers, looked for where they are said to be, then elsewhere, then as put together.

The first of these that holds is the verdict: verbatim in a cited document; put together, by its own omission marks,
from the cited documents; altered in one of them; verbatim in another document; put together from two places of the
cited documents; altered in another document; put together from two places of the collection. Else it stands nowhere. A
quotation without a citation may stand in any document. White space, quotation marks, dashes, ligatures and the marks of
Markdown make no difference, and neither does punctuation at the ends.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from focuseval.collection.index import Collection
from focuseval.data.placement import APPROXIMATE, EXACT
from focuseval.data.tables import Row, Table, numbers, words
from focuseval.errors import FormatError, Place
from focuseval.formats.answers import Quotation, quotations, read_answers
from focuseval.placing import SIMILARITY
from focuseval.placing.normalise import normal_form, rendered_form
from focuseval.placing.occurrences import find_all, occurrences
from focuseval.placing.page import Candidates, Page

Pages = Callable[[], Iterable[tuple[str, Page]]]
"""Gives documents, id and page, from the beginning each time it is called."""
Places = tuple["QuotePlace", ...]

VERBATIM, ALTERED, SPLICED, ELSEWHERE, NOWHERE = "verbatim", "altered", "spliced", "elsewhere", "nowhere"
MEANING = {
    VERBATIM: "in the cited document (or, if none is cited, in some document) as it is quoted",
    ALTERED: "in the cited document with other words",
    SPLICED: "put together from separate places",
    ELSEWHERE: "in a document other than the cited one",
    NOWHERE: "in no document",
}
_SHOWN = 40

LARGE = 20_000_000
"""Characters of a collection beyond which altered and spliced quotations are looked for in cited documents alone."""
SHORTEST = 20
"""Characters of a quotation in running text; shorter ones are mostly names, and words that are talked about."""
MOST = 20  # places of one quotation that are listed
_AT_ONCE, _KEPT = 64, 64
_OMITTED = re.compile(r"\s*(?:[\[(]\s*(?:\.{3}|…)\s*[\])]|\.{3,}|…)\s*")
LEAST, WORDS = 20, 3  # characters and words of each of two pieces: any text can be put together from smaller ones
PART = 8  # characters of a part between two omissions, which the quotation itself says are there


class QuotePlace(NamedTuple):
    """A place in a document."""

    document: str
    start: int
    end: int


@dataclass(frozen=True)
class QuoteCheck:
    """One quotation and where it stands."""

    quotation: Quotation
    verdict: str
    places: tuple[QuotePlace, ...] = ()
    """Every place of a text that stands in several; the pieces of a spliced one, in the order of the quotation."""
    similarity: float = 0.0
    found: str = ""
    """What the documents say there."""
    unknown: tuple[str, ...] = ()
    """Cited documents that the collection does not have."""

    def cited(self) -> str | None:
        """Return the documents cited, with a word for those that are not there."""
        names = (f"{name} (unknown)" if name in self.unknown else name for name in self.quotation.cited)
        return ", ".join(names) or None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        one, (document, start, end) = self.quotation, self.places[0] if self.places else (None,) * 3
        return {
            "id": one.answer,
            "line": one.at.line,
            "quote": one.text,
            "cited": list(one.cited),
            "verdict": self.verdict,
            "document": document,
            "start": start,
            "end": end,
            "similarity": self.similarity if self.places else None,
            "found": self.found or None,
            "places": [list(place) for place in self.places],
            "unknown": list(self.unknown),
        }


@dataclass(frozen=True)
class CheckedQuotes:
    """All quotations of a file."""

    checks: tuple[QuoteCheck, ...]
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Verdict → number of quotations."""
        return {verdict: sum(check.verdict == verdict for check in self.checks) for verdict in MEANING}

    def tables(self) -> tuple[Table, ...]:
        """Return a table of the verdicts, and one of all quotations for readers."""
        every, total = [], len(self.checks)
        rows = tuple((word, n, n / total if total else None, MEANING[word]) for word, n in self.counts.items())
        columns = (*words("verdict"), *numbers("quotes"), *numbers("share", form=".1%"), *words("the quotation is"))
        summary = Table("Quotations", columns, rows, self.notes)
        for check in self.checks:
            text = " ".join(check.quotation.text.split())
            place = "{} {:,}–{:,}".format(*check.places[0]) if check.places else None
            place = f"{place}, {check.similarity:.1%} alike" if place and check.similarity < 1 else place
            place = f"{place} (first of {len(check.places)} places)" if len(check.places) > 1 else place
            shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
            every.append((check.quotation.answer, check.verdict, shown, check.cited(), place))
        columns = words("answer", "verdict", "quotation", "cited", "found in")
        return (summary, Table("Every quotation", columns, tuple(every))) if every else (summary,)

    def rows(self) -> Table:
        """Return a table of all quotations for programs."""
        columns = (*words("answer", "quotation", "cited", "verdict", "document"), *numbers("start", "end"))
        columns += (*numbers("similarity", form=".3f"), *numbers("places"))
        rows: list[Row] = []
        for check in self.checks:
            said = check.quotation.answer, " ".join(check.quotation.text.split()), check.cited(), check.verdict
            place = (*check.places[0], check.similarity) if check.places else (None,) * 4
            rows.append((*said, *place, len(check.places)))
        return Table("Every quotation", columns, tuple(rows))

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"counts": self.counts, "quotes": [check.to_json() for check in self.checks], "notes": list(self.notes)}


def verify_quotes(
    answers: str | Path | Iterable[Mapping[str, Any]], documents: str | Path | Collection | Mapping[str, str], *,
    similarity: float = SIMILARITY, shortest: int = SHORTEST,
) -> CheckedQuotes:  # fmt: skip
    """Check the quotations of answers against documents.

    Parameters
    ----------
    answers
        A file as `focuseval.formats.answers` describes it, or its records.
    documents
        What ``--docs`` takes, an open collection, or a mapping from ids to texts.
    similarity
        The least similarity, from 0.5 to 1, of an altered quotation.
    shortest
        Characters that a quotation in running text has at least.

    >>> found = verify_quotes([{"answer": "It is “the slow rise of the sea” [d]."}], {"d": "The slow rise of the sea."})
    >>> found.checks[0].verdict, found.checks[0].found, found.checks[0].places[0][1:]
    ('altered', 'The slow rise of the sea', (0, 24))
    """
    if not 0.5 <= similarity <= 1:
        raise FormatError(f"expected a similarity from 0.5 to 1, found {similarity}")
    if isinstance(documents, str | os.PathLike | Mapping):
        from focuseval.formats.embedded import open_documents  # noqa: PLC0415  a collection is often open already

        documents = open_documents(documents)
    sources = QuotedDocuments(documents)
    if isinstance(answers, str | os.PathLike):
        records = read_answers(answers)
    else:
        records = ((Place("answers", number), record) for number, record in enumerate(answers, 1))
    wanted = list[Quotation]()
    for at, record in records:
        wanted += quotations(record, at, shortest=shortest, is_document=lambda name: sources.row(name) >= 0)
    return check_quotations(wanted, sources, similarity)


class QuotedDocuments:
    """The documents, as pages that quotations are looked for in."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self.row = lru_cache(maxsize=None)(lambda name: int(collection.find([name])[0]))
        self._page = lru_cache(maxsize=_KEPT)(lambda row: Page(collection.text(row)))
        self.is_large = int(collection.lengths.sum()) > LARGE  # then only cited documents are searched for other words

    def of(self, names: Sequence[str]) -> list[tuple[str, Page]]:
        """Return some documents; those that the collection does not have are left out."""
        return [(name, self._page(row)) for name in names if (row := self.row(name)) >= 0]

    def all(self) -> Iterator[tuple[str, Page]]:
        """Yield every document."""
        ids = self._collection.ids
        for first in range(0, len(ids), _AT_ONCE):
            rows = range(first, min(first + _AT_ONCE, len(ids)))
            for row, text in zip(rows, self._collection.texts(list(rows)), strict=True):
                yield ids[row].as_py(), Page(text.as_py())


class Stand(NamedTuple):
    """Where one text was found: its places, all found in the same way, how near they are, if not verbatim."""

    places: tuple[QuotePlace, ...] = ()
    similarity: float = 0.0
    near: bool = False


def check_quotations(wanted: Sequence[Quotation], sources: QuotedDocuments, similarity: float) -> CheckedQuotes:
    """Return the verdict on every quotation."""
    checks = [_in_cited(one, sources, similarity) for one in wanted]
    _elsewhere(checks, sources, 2.0)  # which only the very text has
    _elsewhere(checks, sources, 1.0)
    for number, check in _open(checks):
        pages = partial(iter, sources.of(check.quotation.cited))
        checks[number] = _spliced(check, two_pieces([check.quotation.text], pages))
    left = sum(1 for _ in _open(checks))
    if left and not sources.is_large:
        _elsewhere(checks, sources, similarity)
        for search in (joined_parts, two_pieces):
            found = search([check.quotation.text for _, check in _open(checks)], sources.all)
            for number, check in _open(checks):
                checks[number] = _spliced(check, found)
    for number, check in enumerate(checks):  # what the documents say: at one of the places, or at all pieces
        shown = check.places if check.verdict == SPLICED else check.places[:1]
        texts = (page.text[one.start : one.end] for one in shown for _, page in sources.of([one.document]))
        checks[number] = replace(check, found=" … ".join(texts))
    notes = [] if checks else ["no quotations were found in the answers"]
    if left and sources.is_large:
        notes = [f"{left} quotations were looked for in other words in cited documents alone: the collection is large"]
    return CheckedQuotes(tuple(checks), tuple(notes))


def _in_cited(one: Quotation, sources: QuotedDocuments, similarity: float) -> QuoteCheck:
    """Return the verdict by the cited documents alone; *nowhere* is not the last word yet."""
    check = QuoteCheck(one, NOWHERE, unknown=tuple(name for name in one.cited if sources.row(name) < 0))
    pages = sources.of(one.cited)
    stand = _stands([core(one.text)], pages, similarity)[core(one.text)]
    if stand.places and not stand.near:
        return replace(check, verdict=VERBATIM, places=stand.places, similarity=1.0)
    if parts := joined_parts([one.text], partial(iter, pages)):
        return _spliced(check, parts)
    verdict = ALTERED if stand.places else NOWHERE
    return replace(check, verdict=verdict, places=stand.places, similarity=stand.similarity)


def _elsewhere(checks: list[QuoteCheck], sources: QuotedDocuments, similarity: float) -> None:
    """Look in all documents for what has not been found."""
    texts = {number: core(check.quotation.text) for number, check in _open(checks)}
    stands = _stands(list(set(texts.values())), sources.all(), similarity) if texts else {}
    for number, text in texts.items():
        stand = stands[text]
        if stand.places:
            uncited = ALTERED if stand.near else VERBATIM
            verdict = ELSEWHERE if checks[number].quotation.cited else uncited
            checks[number] = replace(checks[number], verdict=verdict, places=stand.places, similarity=stand.similarity)


def _stands(texts: Sequence[str], pages: Iterable[tuple[str, Page]], similarity: float) -> dict[str, Stand]:
    """Return where each text stands best: where it is verbatim, else where it is nearest."""
    best = dict.fromkeys(texts, Stand())
    for name, page in pages:
        for text, found in candidates(page, texts, similarity).items():
            here = tuple(QuotePlace(name, *span) for span in zip(found.starts, found.ends, strict=True))
            stand = Stand(here, found.similarity, found.how == APPROXIMATE)
            before = best[text]
            if here and (before.similarity, not before.near) == (stand.similarity, not stand.near):
                best[text] = before._replace(places=(*before.places, *here)[:MOST])
            elif here and (before.similarity, not before.near) < (stand.similarity, not stand.near):
                best[text] = stand._replace(places=here[:MOST])
    return best


def _spliced(check: QuoteCheck, found: Mapping[str, tuple[QuotePlace, ...]]) -> QuoteCheck:
    places = found.get(check.quotation.text)
    return check if places is None else replace(check, verdict=SPLICED, places=places, similarity=1.0)


def _open(checks: Sequence[QuoteCheck]) -> Iterator[tuple[int, QuoteCheck]]:
    """Yield what has not been found, with its number; what is empty is not looked for."""
    for number, check in enumerate(checks):
        if check.verdict == NOWHERE and check.quotation.text.strip():
            yield number, check


def core(text: str) -> str:
    """Return a quotation without the punctuation at its ends, which belongs to whoever quotes.

    >>> core(" the sea is deep, … ")
    'the sea is deep'
    """
    return text.strip(" \t\r\n.,;:…") or text.strip()


def candidates(page: Page, texts: Sequence[str], similarity: float) -> dict[str, Candidates]:
    """Return every place of each text in a document; with a similarity above 1 none but those of the very text."""
    exact = dict(zip(texts, occurrences(page.text, texts), strict=True))
    if similarity <= 1:
        return page.candidates(exact, similarity)
    ends = {text: [start + len(text) for start in starts] for text, starts in exact.items()}  # needs no normal form
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
        for document in {page.normal.text, page.rendered.text}:
            begins = occurrences(document, [form[:LEAST] for form in forms.values()])
            for (text, form), starts in zip(forms.items(), begins, strict=True):
                sizes = range(1, len(form) + 1 if starts else 1)  # where a beginning stands, a shorter one does, too
                longest[text] = max(longest[text], bisect_left(sizes, True, key=lambda n: form[:n] not in document))
    pieces = {}
    for text, form in forms.items():
        cuts = (cut for cut in reversed(find_all(form, " ")) if len(core(form[:cut])) <= longest[text])
        halves = ((core(form[:cut]), core(form[cut:])) for cut in cuts)
        both = next((two for two in halves if all(len(p) >= LEAST and p.count(" ") + 1 >= WORDS for p in two)), None)
        if both is not None:
            pieces[text] = both
    return _all_places(pieces, pages)


def _all_places(wanted: Mapping[str, Sequence[str]], pages: Pages) -> dict[str, Places]:
    """Return for every quotation the first place of each of its pieces, in normal form; only where each has one."""
    left = {form for forms in wanted.values() for form in forms}
    found: dict[str, QuotePlace] = {}
    for name, page in pages() if left else ():
        for own, form_of in ((page.normal, str), (page.rendered, rendered_form)):
            texts = {form: form_of(form) for form in sorted(left)}
            for form, starts in zip(texts, occurrences(own.text, list(texts.values())), strict=True):
                spans = (own.original(at, at + len(texts[form])) for at in starts)
                span = next((span for span in spans if span is not None), None)
                if span is not None:
                    found[form] = QuotePlace(name, *span)
            left -= found.keys()
        if not left:
            break
    return {text: tuple(found[form] for form in forms) for text, forms in wanted.items() if found.keys() >= set(forms)}
