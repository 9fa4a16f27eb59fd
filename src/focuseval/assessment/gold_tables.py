"""Finished judgements as the tables of a gold."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.assessment.exhaustivity import inferred
from focuseval.collection.rendering import Document
from focuseval.data import highlights as spans
from focuseval.data.gold import TOO_SMALL, UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.errors import AssessError
from focuseval.placing.anchor import REMEDY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.assessment.store import Quote, Saved, Store
    from focuseval.collection.index import Index
    from focuseval.collection.rendering import DocumentCache

_GRADE = {"2": 2, "1": 1, "?": TOO_SMALL}


def gold_of(
    saved: Sequence[Saved],
    quotes: Callable[[Saved], list[Quote]],
    store: Store,
    documents: DocumentCache | None,
    *,
    queries: Mapping[str, str] | None,
    facts: Mapping[str, Mapping[str, str]],
) -> Gold:
    """Return judgements as gold.

    Parameters
    ----------
    saved, quotes
        The judgements, and what gives each one's highlights with their text.
    store
        Says whether exhaustivity was assessed.
    documents
        With them the gold also holds the graded elements that INEX 2005–07 writes.
    queries, facts
        Topic → its title, and what else is to be said of it.
    """
    topics = tuple(dict.fromkeys(one.key.topic for one in saved))
    names = list(dict.fromkeys(one.key.document for one in saved))
    codes = Codes({topic: k for k, topic in enumerate(topics)}, {name: k for k, name in enumerate(names)})
    return Gold(
        topics,
        pa.array(names, pa.string()),
        _articles(saved, codes),
        _passages([(one, quote) for one in saved for quote in quotes(one)], codes),
        _elements(saved, codes, documents),
        scale="exhaustivity" if store.exhaustivity else "highlights",
        sha256=_digest(saved),
        queries={topic: text for topic, text in (queries or {}).items() if topic in codes.topic},
        attributes=facts,
    )


def refuse_changed(saved: Sequence[Saved], index: Index) -> None:
    """Refuse judgements whose text is not the collection's: their spans would stand for other words."""
    names = list(dict.fromkeys(one.key.document for one in saved))
    rows = index.find(names)
    if (rows < 0).any():
        raise AssessError(f"the collection has no document {names[int((rows < 0).argmax())]!r}")
    texts = zip(names, index.texts(rows), strict=True)
    hashes = {name: Document(name, text.as_py()).sha256 for name, text in texts}
    others = [one for one in saved if one.text_sha256 != hashes[one.key.document]]
    changed = list(dict.fromkeys(one.key.document for one in others))
    if changed:
        who = others[0].key.assessor
        more = f" ({len(changed)} documents have)" if len(changed) > 1 else ""
        raise AssessError(f"the text of {changed[0]} has changed since {who} assessed it{more}; {REMEDY}")


class Codes:
    """Codes of topics and documents."""

    def __init__(self, topic: dict[str, int], document: dict[str, int]) -> None:
        self.topic, self.document = topic, document

    def columns(self, saved: Sequence[Saved]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the two code columns of a sequence of judgements."""
        topic = np.array([self.topic[one.key.topic] for one in saved], np.int32)
        return topic, np.array([self.document[one.key.document] for one in saved], np.int32)


def _articles(saved: Sequence[Saved], codes: Codes) -> Articles:
    points = [one.judgement.entry_point for one in saved]
    return Articles(
        *codes.columns(saved),
        relevance=np.array([int(bool(one.judgement.highlights)) for one in saved], np.int32),
        length=np.array([one.length for one in saved], np.int64),
        rsize=np.array([spans.size(one.judgement.highlights) for one in saved], np.int64),
        bep=np.array([UNKNOWN if point is None else point for point in points], np.int64),
    )


def _passages(rows: Sequence[tuple[Saved, Quote]], codes: Codes) -> Passages:
    start = np.array([quote[0] for _, quote in rows], np.int64)
    end = np.array([quote[1] for _, quote in rows], np.int64)
    columns = codes.columns([one for one, _ in rows])
    return Passages(*columns, start, end, end - start, quote=pa.array([quote[2] for _, quote in rows], pa.string()))


def _elements(saved: Sequence[Saved], codes: Codes, documents: DocumentCache | None) -> GradedElements:
    rows = [(one, *element) for one in saved if documents for element in _graded(one, documents.get(one.key.document))]
    return GradedElements(
        *codes.columns([row[0] for row in rows]),
        path=pa.array([row[1] for row in rows], pa.string()).dictionary_encode(),
        exhaustivity=np.array([row[2] for row in rows], np.int8),
        specificity=np.full(len(rows), UNKNOWN, np.int8),
        size=np.array([row[3] for row in rows], np.int64),
        rsize=np.array([row[4] for row in rows], np.int64),
    )


def _graded(saved: Saved, document: Document) -> list[tuple[str, int, int, int]]:
    """Every element with highlighted text: path, exhaustivity, size, highlighted size."""
    grades = inferred(document, saved.judgement.grades)
    found = []
    for element in document.elements:
        rsize = spans.size(spans.intersect(saved.judgement.highlights, ((element.start, element.end),)))
        if rsize:
            grade = _GRADE[grades[element.path]] if element.path in grades else 2
            found.append((element.path, grade, element.end - element.start, rsize))
    return found


def _digest(saved: Sequence[Saved]) -> str:
    """Hash what was judged: the same judgements are the same gold, whoever made them and when."""
    told = [[*one.key[1:], one.judgement.highlights, one.judgement.entry_point, one.text_sha256] for one in saved]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
