"""Gold spans and their quotes: verified, repaired to the nearest occurrence, never guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.align.chunks import SIMILARITY, align_chunks
from focuseval.align.documents import as_documents, as_strings
from focuseval.align.place import LOST, UNCHECKED
from focuseval.errors import FormatError, Place
from focuseval.spans import pack, union

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from focuseval.align.alignment import Alignment
    from focuseval.align.documents import Documents
    from focuseval.gold import Gold


def align_gold(
    gold: Gold, documents: Documents | Mapping[str, str], *, similarity: float = SIMILARITY
) -> tuple[Gold, Alignment]:
    """Return a gold whose spans agree with their quotes, and what was found.

    A span whose quote stands elsewhere moves to the nearest occurrence; between two that are equally near nothing
    is chosen. An ambiguous or lost span keeps its row with start and end −1, and its highlighted text is not counted.
    A span without quote must lie inside its document. A gold that speaks of an unknown document is refused.
    """
    passages, source = gold.passages, as_documents(documents)
    ids = as_strings(gold.documents)
    rows = source.find(gold.documents)
    _refuse_unknown(gold, rows[passages.document] < 0)
    names = [ids[code] for code in passages.document.tolist()]
    quotes = as_strings(passages.quote) if passages.quote is not None else [""] * len(names)
    found = align_chunks(names, quotes, source, start=passages.start, end=passages.end, similarity=similarity)
    quoted = np.array([bool(quote) for quote in quotes], np.bool_)
    given = ~quoted & (passages.start >= 0)
    _refuse_bad_spans(gold, source, rows, given)
    found = replace(
        found,
        start=np.where(given, passages.start, found.start),
        end=np.where(given, passages.end, found.end),
        how=np.where(given, np.int8(UNCHECKED), np.where(quoted, found.how, np.int8(LOST))),
        topic=[gold.topics[code] for code in passages.topic.tolist()],
        line=passages.line,
        file=gold.file,
        noun="spans",
    )
    return _with_spans(gold, source, rows, found), found


def overlapping(gold: Gold) -> int:
    """Return how many highlighted spans overlap an earlier one of their topic and document; measures unite them.

    Touching spans do not overlap.
    """
    p = gold.passages
    known = (p.start >= 0) & (p.end > p.start)
    if not known.any():
        return 0
    pair = p.topic.astype(np.int64) * len(gold.documents) + p.document
    group = np.unique(pair[known], return_inverse=True)[1]
    order = np.argsort(pack(group, p.start[known]), kind="stable")
    start, end = (pack(group, position[known])[order] for position in (p.start, p.end))
    return int(np.count_nonzero(start[1:] < np.maximum.accumulate(end)[:-1]))


def _with_spans(gold: Gold, source: Documents, rows: NDArray[np.int32], found: Alignment) -> Gold:
    """Put the new spans into the gold, and what follows from them: highlighted sizes and document lengths."""
    articles, passages = gold.articles, gold.passages
    size = len(gold.documents)
    keys = articles.topic.astype(np.int64) * size + articles.document
    order = np.argsort(keys, kind="stable")
    mine = passages.topic.astype(np.int64) * size + passages.document
    group = order[np.searchsorted(keys[order], mine)] if len(mine) else mine
    placed = found.start >= 0
    merged = union(group[placed], found.start[placed], found.end[placed])
    lengths = np.array([len(source.text(row)) if row >= 0 else -1 for row in rows.tolist()], np.int64)
    length = np.where(articles.length >= 0, articles.length, lengths[articles.document])
    return replace(
        gold,
        aligned=True,
        articles=replace(articles, rsize=merged.total(len(keys)), length=length),
        passages=replace(passages, start=found.start, end=found.end, size=found.end - found.start),
    )


def _refuse_unknown(gold: Gold, unknown: NDArray[np.bool_]) -> None:
    """Raise at the first span of a document that the collection does not have."""
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        number = len(np.unique(gold.passages.document[unknown]))
        raise FormatError(
            f"expected documents of the collection, found {_document(gold, row)!r} for topic {_topic(gold, row)!r}"
            + (f" (and {number - 1} more unknown documents)" if number > 1 else ""),
            at=_place(gold, row),
            remedy="check the documents given, or the ids in the gold",
        )


def _refuse_bad_spans(gold: Gold, source: Documents, rows: NDArray[np.int32], given: NDArray[np.bool_]) -> None:
    """Raise at the first span without quote that is reversed, empty or beyond its document's end."""
    p = gold.passages
    wanted = np.unique(p.document[given])
    size = np.zeros(len(rows), np.int64)
    size[wanted] = [len(source.text(int(row))) for row in rows[wanted]]
    bad = np.flatnonzero(given & ((p.start >= p.end) | (p.end > size[p.document])))
    if len(bad):
        row = int(bad[0])
        raise FormatError(
            f"expected a span inside {_document(gold, row)} ({size[p.document[row]]} characters), found "
            f"{p.start[row]}–{p.end[row]} for topic {_topic(gold, row)!r}"
            + (f" (and {len(bad) - 1} more such spans)" if len(bad) > 1 else ""),
            at=_place(gold, row),
            remedy="offsets are code points, half-open; give the quote to have them repaired",
        )


def _document(gold: Gold, row: int) -> str:
    return str(gold.documents[int(gold.passages.document[row])])


def _topic(gold: Gold, row: int) -> str:
    return gold.topics[int(gold.passages.topic[row])]


def _place(gold: Gold, row: int) -> Place:
    line = gold.passages.line
    return Place(gold.file or "<gold>", int(line[row]) if line is not None else None)
