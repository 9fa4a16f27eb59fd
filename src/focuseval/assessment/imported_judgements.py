r"""Judgements made elsewhere, by a language model for instance, become one more assessor, always labelled as imported.

A line per topic and document, as our gold has them, with the assessor's name if the caller gives none::

    {"topic": "1", "doc": "a/one", "spans": [{"start": 0, "end": 5, "quote": "Title"}], "bep": 0, "assessor": "model"}

``"spans": []`` is judged and not relevant. Instead of spans a line may name an element: ``"path": "/article[1]/p[2]"``;
several such lines of one document are joined. A quote decides: a span that does not fit it moves to the nearest place
that does, and is counted; a quote that stands in two nearest places, or nowhere, is refused with its line. So are
topics and documents that the project does not know.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from focuseval.assessment.files import json_line, read_line
from focuseval.assessment.plan import IMPORTED, Assessor, in_pool, register
from focuseval.assessment.rules import NOT_RELEVANT, RELEVANT, Judgement, as_dict
from focuseval.assessment.store import ADJUDICATED, Key, Request, Store
from focuseval.data.highlights import Span, merge
from focuseval.errors import AssessError, FormatError, Place
from focuseval.placing.anchor import LOST, MOVED, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from focuseval.collection.rendering import Document


@dataclass(frozen=True)
class Imported:
    """What an import brought."""

    assessors: tuple[str, ...]
    judgements: int
    """Judgements that were stored."""
    known: int
    """Judgements that were there already, just so."""
    moved: int
    """Spans that were moved to where their quote stands."""
    outside: int
    """Judgements of documents that are not in the pool."""

    def __str__(self) -> str:
        """Return one line for the terminal."""
        names = ", ".join(Assessor(name, IMPORTED).label for name in self.assessors)
        known = f" and {self.known} known already" if self.known else ""
        return (
            f"{self.judgements} judgements of {names} stored{known}; {self.moved} spans moved to their quotes, "
            f"{self.outside} documents outside the pool"
        )


def import_judgements(
    store: Store,
    lines: Sequence[str],
    document: Callable[[str], Document],
    *,
    topics: Container[str],
    actor: str,
    assessor: str = "",
    file: str = "import",
) -> Imported:
    """Read the judgements of one or more assessors from the lines of a file, all of them or none.

    What is known already stays as it is. `document` gives the text of an id; topics that are not in `topics` are
    refused. `actor` imports them; `assessor` is whose they are, where the lines do not say it or are to be overruled.
    """
    numbered = [(line, Place(file, number)) for number, line in enumerate(lines, 1) if line.strip()]
    rows = _joined([_judgement(line, at, assessor, document, topics) for line, at in numbered])
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    names = tuple(dict.fromkeys(row.key.assessor for row in rows))
    for name in names:
        register(store, Assessor(name, IMPORTED, f"{file} {digest[:16]}"), actor=actor)
    source = {"file": file, "sha256": digest}
    requests = []
    for row in rows:
        saved = store.judgement(row.key)
        if saved.judgement != row.judgement or saved.text_sha256 != row.document.sha256:
            edit = {"kind": "replace", "judgement": as_dict(row.judgement), "source": source, "barrier": True}
            named = json.dumps([digest, *row.key, saved.version])
            token = f"import-{hashlib.sha256(named.encode()).hexdigest()[:40]}"
            requests.append(Request(row.key, row.document, edit, saved.version, token, actor))
    store.edit_all(requests)
    outside = sum(not in_pool(store, row.key._replace(assessor=ADJUDICATED)) for row in rows)
    known = len(rows) - len(requests)
    return Imported(names, len(requests), known, sum(row.moved for row in rows), outside)


@dataclass(frozen=True)
class _Row:
    key: Key
    document: Document
    judgement: Judgement
    moved: int
    at: Place
    is_element: bool


def _joined(rows: Sequence[_Row]) -> list[_Row]:
    """Return one row for each judgement: elements of one document join, other lines of one document contradict."""
    found: dict[Key, _Row] = {}
    for row in rows:
        before = found.setdefault(row.key, row)
        if before is row:
            continue
        if not (before.is_element and row.is_element):
            what = f"expected one line for topic {row.key.topic} and document {row.key.document}, found another in line"
            raise FormatError(f"{what} {before.at.line}", at=row.at, remedy="join their spans")
        highlights = merge((*before.judgement.highlights, *row.judgement.highlights))
        bep = before.judgement.bep if before.judgement.bep is not None else row.judgement.bep
        found[row.key] = replace(before, judgement=replace(before.judgement, highlights=highlights, bep=bep))
    return list(found.values())


def _judgement(
    line: str, at: Place, assessor: str, document: Callable[[str], Document], topics: Container[str]
) -> _Row:
    value = read_line(line, at)
    try:
        json_line(value).encode()
        line.encode()
    except (ValueError, RecursionError) as error:  # half a character, which no file holds
        raise FormatError(f"expected a JSON object, found: {error}", at=at) from error
    try:
        name, topic, doc = assessor or value["assessor"], str(value["topic"]), value["doc"]
        given = [{"path": value["path"]}] if "path" in value and "spans" not in value else value["spans"]
    except KeyError as error:
        what = f"expected topic, doc, spans (or path) and assessor, found no {error}"
        remedy = "give the assessor's name with --assessor if the lines have none"
        raise FormatError(what, at=at, remedy=remedy) from error
    if not isinstance(given, list) or not isinstance(doc, str):
        raise FormatError(f"expected a document's name and a list of spans, found {doc!r} and {given!r}", at=at)
    if topic not in topics:
        raise FormatError(f"expected one of the project's topics, found {topic!r}", at=at)
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
    moved = sum(moved for _, moved in placed)
    return _Row(Key(str(name), topic, page.id), page, judgement, moved, at, "spans" not in value)


def _place(span: Any, page: Document, at: Place) -> tuple[Span, bool]:
    """Return where a span stands, and whether its quote had to move it there."""
    if not isinstance(span, dict) or not isinstance(span.get("quote", ""), str):
        raise FormatError(f"expected a span with start and end, found {span!r}", at=at)
    if "path" in span:
        path = span["path"]
        row = page.row_of.get(path) if isinstance(path, str) else None
        if row is None:
            raise FormatError(f"expected an element of {page.id}, found {path!r}", at=at)
        element = page.elements[row]
        if element.start == element.end:
            raise FormatError(f"expected an element with text, found {path} without any in {page.id}", at=at)
        return (element.start, element.end), False
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
