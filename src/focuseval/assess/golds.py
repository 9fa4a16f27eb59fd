"""Finished judgements as gold: what `focuseval score` reads and what the exports write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.assess import spans
from focuseval.assess.exhaustivity import inferred
from focuseval.assess.plan import assessors
from focuseval.assess.store import ADJUDICATED
from focuseval.errors import AssessError
from focuseval.gold import TOO_SMALL, UNKNOWN, Articles, Gold, GradedElements, Passages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from focuseval.assess.document import Document
    from focuseval.assess.documents import Documents
    from focuseval.assess.store import Saved, Store

EXPORTS = {"gold": "gold.jsonl", "inex": "gold.xml", "inex-text": "gold.txt", "qrels": "gold.qrels"}
"""Gold format → file name."""

_GRADE = {"2": 2, "1": 1, "?": TOO_SMALL}


def build_gold(
    store: Store, assessor: str, *, documents: Documents | None = None, queries: Mapping[str, str] | None = None
) -> Gold:
    """Return the finished judgements of one assessor (or ``adjudicated``) as gold.

    Parameters
    ----------
    store, assessor
        Whose judgements; a name nobody has is refused.
    documents
        With them the gold also holds the graded elements that INEX 2005–07 writes.
    queries
        Topic → its title.
    """
    known = {one.name: one.label for one in assessors(store)}
    if assessor not in known and assessor != ADJUDICATED:
        raise AssessError(f"expected one of the assessors {', '.join(known) or '(none yet)'}, found {assessor!r}")
    saved = [one for one in map(store.judgement, store.judged(assessor)) if one.judgement.finished]
    topics = tuple(dict.fromkeys(one.key.topic for one in saved))
    names = list(dict.fromkeys(one.key.document for one in saved))
    codes = _Codes({topic: k for k, topic in enumerate(topics)}, {name: k for k, name in enumerate(names)})
    label = known.get(assessor, ADJUDICATED)
    return Gold(
        topics,
        pa.array(names, pa.string()),
        _articles(saved, codes),
        _passages(saved, codes, store),
        _elements(saved, codes, documents),
        scale="exhaustivity" if store.exhaustivity else "highlights",
        queries={topic: text for topic, text in (queries or {}).items() if topic in codes.topic},
        attributes={topic: {"assessor": label} for topic in topics},
    )


class _Codes:
    """Codes of topics and documents."""

    def __init__(self, topic: dict[str, int], document: dict[str, int]) -> None:
        self.topic, self.document = topic, document

    def columns(self, saved: Sequence[Saved]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the two code columns of a sequence of judgements."""
        topic = np.array([self.topic[one.key.topic] for one in saved], np.int32)
        return topic, np.array([self.document[one.key.document] for one in saved], np.int32)


def _articles(saved: Sequence[Saved], codes: _Codes) -> Articles:
    points = [one.judgement.entry_point for one in saved]
    return Articles(
        *codes.columns(saved),
        relevance=np.array([int(bool(one.judgement.highlights)) for one in saved], np.int32),
        length=np.array([one.length for one in saved], np.int64),
        rsize=np.array([spans.size(one.judgement.highlights) for one in saved], np.int64),
        bep=np.array([UNKNOWN if point is None else point for point in points], np.int64),
    )


def _passages(saved: Sequence[Saved], codes: _Codes, store: Store) -> Passages:
    rows = [(one, quote) for one in saved for quote in store.quotes(one.key)]
    start = np.array([quote[0] for _, quote in rows], np.int64)
    end = np.array([quote[1] for _, quote in rows], np.int64)
    columns = codes.columns([one for one, _ in rows])
    return Passages(*columns, start, end, end - start, quote=pa.array([quote[2] for _, quote in rows], pa.string()))


def _elements(saved: Sequence[Saved], codes: _Codes, documents: Documents | None) -> GradedElements:
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
    if saved.text_sha256 != document.sha256:
        raise AssessError(f"the text of {document.id} has changed since it was assessed; open it to re-anchor it")
    grades = inferred(document, saved.judgement.grades)
    found = []
    for element in document.elements:
        rsize = spans.size(spans.intersect(saved.judgement.highlights, ((element.start, element.end),)))
        if rsize:
            grade = _GRADE[grades[element.path]] if element.path in grades else 2
            found.append((element.path, grade, element.end - element.start, rsize))
    return found


def export_gold(store: Store, documents: Documents, target: Path, wanted: str, *, assessor: str) -> None:
    """Write the judgements of one assessor in a gold format, whole or not at all."""
    from focuseval.formats import write_gold  # noqa: PLC0415  not needed to serve pages

    needs_elements = documents if wanted == "inex" else None
    write_gold(build_gold(store, assessor, documents=needs_elements), target, wanted, index=documents.index)
