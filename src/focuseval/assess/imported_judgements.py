r"""Judgements made elsewhere, by a language model for instance, become one more assessor, always labelled as imported.

A line per topic and document, as our gold has them, with the assessor's name if the caller gives none::

    {"topic": "1", "doc": "a/one", "spans": [{"start": 0, "end": 5, "quote": "Title"}], "bep": 0, "assessor": "model"}

``"spans": []`` is judged and not relevant. A quote decides: a span that does not fit it moves to the nearest place that
does, and is counted; a quote that stands in two nearest places, or nowhere, is refused with its line.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from focuseval.assess.anchor import LOST, MOVED, nearest
from focuseval.assess.plan import IMPORTED, Assessor, in_pool, register
from focuseval.assess.rules import NOT_RELEVANT, RELEVANT, Judgement, as_dict
from focuseval.assess.spans import Span, merge
from focuseval.assess.store import Key, Request
from focuseval.errors import AssessError, FormatError, Place
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from focuseval.assess.document import Document
    from focuseval.assess.store import Store


@dataclass(frozen=True)
class Imported:
    """What an import brought."""

    assessors: tuple[str, ...]
    judgements: int
    moved: int
    """Spans that were moved to where their quote stands."""
    outside: int
    """Judgements of documents that are not in the pool."""

    def __str__(self) -> str:
        """Return one line for the terminal."""
        names = ", ".join(Assessor(name, IMPORTED).label for name in self.assessors)
        return (
            f"{self.judgements} judgements of {names}; {self.moved} spans moved to their quotes, "
            f"{self.outside} documents outside the pool"
        )


def import_judgements(
    store: Store,
    lines: Sequence[str],
    document: Callable[[str], Document],
    *,
    actor: str,
    assessor: str = "",
    file: str = "import",
) -> Imported:
    """Read the judgements of one or more assessors, all of them or none; what is known already stays as it is."""
    rows = [_row(line, Place(file, number), assessor, document) for number, line in enumerate(lines, 1) if line.strip()]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    names = tuple(dict.fromkeys(row.key.assessor for row in rows))
    for name in names:
        register(store, Assessor(name, IMPORTED, f"{file} {digest[:16]}"), actor=actor)
    source = {"file": file, "sha256": digest}
    requests = [_request(store, row, number, source, actor) for number, row in enumerate(rows)]
    store.edit_all(request for request in requests if request is not None)
    outside = sum(not in_pool(store, row.key) for row in rows)
    return Imported(names, len(rows), sum(row.moved for row in rows), outside)


@dataclass(frozen=True)
class _Row:
    key: Key
    document: Document
    judgement: Judgement
    moved: int


def _request(store: Store, row: _Row, number: int, source: dict[str, str], actor: str) -> Request | None:
    """Return the edit that brings a judgement in; None when it is there already."""
    saved = store.judgement(row.key)
    if saved.judgement == row.judgement and saved.text_sha256 == row.document.sha256:
        return None
    edit = {"kind": "replace", "judgement": as_dict(row.judgement), "source": source, "barrier": True}
    token = f"{source['sha256'][:32]}-{number}-{saved.version}"
    return Request(row.key, row.document, edit, saved.version, token, actor)


def _row(line: str, at: Place, assessor: str, document: Callable[[str], Document]) -> _Row:
    try:
        value = json.loads(line)
        name, topic, doc = assessor or value["assessor"], value["topic"], value["doc"]
        given = value["spans"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"expected topic, doc, spans and assessor, found no {error}"
        raise FormatError(
            what, at=at, remedy="give the assessor's name with --assessor if the lines have none"
        ) from error
    try:
        page = document(doc)
    except AssessError as error:
        raise FormatError(str(error), at=at) from error
    placed = [_place(span, page, at) for span in given]
    highlights = merge(span for span, _ in placed)
    bep = value.get("bep") if highlights else None
    if bep is not None and not (isinstance(bep, int) and 0 <= bep < len(page.text)):
        raise FormatError(f"expected an entry point inside the document, found {bep!r}", at=at)
    judgement = Judgement(highlights, bep, RELEVANT if highlights else NOT_RELEVANT)
    return _Row(Key(str(name), str(topic), page.id), page, judgement, sum(moved for _, moved in placed))


def _place(span: Any, page: Document, at: Place) -> tuple[Span, bool]:
    """Return where a span stands, and whether its quote had to move it there."""
    if not isinstance(span, dict) or not isinstance(span.get("quote", ""), str):
        raise FormatError(f"expected a span with start and end, found {span!r}", at=at)
    quote, start, end = span.get("quote"), span.get("start", -1), span.get("end", -1)
    if not isinstance(start, int) or not isinstance(end, int):
        raise FormatError(f"expected whole numbers, found {start!r} and {end!r}", at=at)
    if not quote:
        if not 0 <= start < end <= len(page.text):
            raise FormatError(f"expected a span inside the {len(page.text)} characters, found {start}–{end}", at=at)
        return (start, end), False
    place, verdict = nearest(page.text, quote, max(start, 0))
    if place is None:
        where = "nowhere" if verdict == LOST else "in two nearest places"
        raise FormatError(f"the quote {quote[:40]!r} stands {where} in {page.id}", at=at)
    if start < 0 and page.text.count(quote) > 1:
        raise FormatError(
            f"the quote {quote[:40]!r} stands in {page.id} more than once", at=at, remedy="give its start"
        )
    return (place, place + len(quote)), verdict == MOVED and start >= 0
