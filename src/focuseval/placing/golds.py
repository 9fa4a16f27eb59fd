"""A gold in a collection: quotes, XPointers and paths → spans and entry points, once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.gold import UNKNOWN
from focuseval.data.placement import Placement
from focuseval.data.spans import union
from focuseval.errors import FormatError
from focuseval.placing.pointers import starts_and_ends, strings
from focuseval.placing.texts import (
    SIMILARITY,
    Claims,
    align_texts,
    as_collection,
    as_strings,
    collection_of,
    unsure_offsets,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from focuseval.collection.index import Collection
    from focuseval.data.alignment import Alignment
    from focuseval.data.gold import Articles, Gold, Passages

_REMEDY = "give the index of the gold's collection"
STRIP = "whitespace-text-node"
"""The attribute of late-2007 files that says whether blank text nodes count."""


def place_gold(gold: Gold, collection: Collection, *, similarity: float = SIMILARITY, quiet: bool = False) -> Gold:
    """Return the gold with spans, entry points and lengths, and its `placement`; the file's own sizes stay.

    A span whose quote stands elsewhere moves to the nearest occurrence; between two that are equally near nothing is
    chosen, and an ambiguous or lost quote keeps its row with start and end −1. What is not in the collection, or has
    another size there, is counted in the remarks. A pointer into a known document that leads nowhere, a span past the
    end of its document and a quote of an unknown document are refused: a score would be wrong. A gold that is placed in
    the same collection already is returned as it is. With `quiet` nothing is said of quotes that are all where they
    were said to be.
    """
    if gold.placement is not None and gold.placement.is_in(collection):
        return gold
    placement = Placement(collection, gold.documents)
    if gold.passages.quote is not None:
        found = _aligned(gold, placement, similarity)
        placement = replace(placement, alignment=found)
        passages = replace(gold.passages, start=found.start, end=found.end, size=found.end - found.start)
        rsize = _highlighted(gold, passages, found.start >= 0)
        length = np.where(gold.articles.length >= 0, gold.articles.length, placement.length[gold.articles.document])
        gold = replace(gold, articles=replace(gold.articles, rsize=rsize, length=length), passages=passages)
        if not quiet or found.moved.any() or (found.start < 0).any():
            gold = replace(gold, remarks=(*gold.remarks, *found.first_unplaced(), found.summary()))
    passages = _passages(gold, placement)
    articles = _articles(gold, placement, passages)
    remarks = (
        _unknown_documents(gold, placement.document),
        _differ(articles.length, placement.length[articles.document], "document lengths"),
        _differ(passages.size, passages.end - passages.start, "passage sizes"),
        _unconfirmed(gold, placement),
        *_elements(gold, placement),
    )
    noticed = (*gold.remarks, *(remark for remark in remarks if remark))
    return replace(gold, placement=placement, articles=articles, passages=passages, remarks=noticed)


def align_gold(
    gold: Gold, documents: Collection | Mapping[str, str], *, similarity: float = SIMILARITY
) -> tuple[Gold, Alignment]:
    """Return a gold whose spans agree with their quotes, as `place_gold` does, and what was found for them."""
    collection = as_collection(documents)
    placed = place_gold(gold, collection, similarity=similarity)
    found = None if placed.placement is None else placed.placement.alignment
    return placed, found or _aligned(gold, Placement(collection, gold.documents), similarity)


def _aligned(gold: Gold, placement: Placement, similarity: float) -> Alignment:
    """Look for the quotes; a passage without one keeps its span, which must lie inside its document."""
    p = gold.passages
    rows = placement.document[p.document]
    if (rows < 0).any():
        row = int(np.flatnonzero(rows < 0)[0])
        document, topic = str(gold.documents[int(p.document[row])]), gold.topics[int(p.topic[row])]
        number = len(np.unique(p.document[rows < 0]))
        more = f" (and {number - 1} more unknown documents)" if number > 1 else ""
        raise FormatError(
            f"expected documents of the collection, found {document!r} for topic {topic!r}{more}",
            at=gold.at_passage(row),
            remedy="check the documents given, or the ids in the gold",
        )
    ids = as_strings(gold.documents)
    quotes = [quote or None for quote in as_strings(p.quote)] if p.quote is not None else [None] * len(rows)
    claims = Claims(p.start, p.end, np.full(len(rows), -1, np.int64))
    names = [ids[code] for code in p.document.tolist()]
    found = align_texts(names, quotes, rows, collection_of(placement), claimed=claims, similarity=similarity)
    bare = np.array([quote is None for quote in quotes], np.bool_)
    _refuse_outside(gold, bare & (p.start >= 0) & (p.start >= p.end), (p.start, p.end), placement.length[p.document])
    return replace(
        found.but_lost(bare & (p.start < 0)),
        topic=[gold.topics[code] for code in p.topic.tolist()],
        line=p.line,
        file=gold.file,
        noun="spans",
    )


def _passages(gold: Gold, placement: Placement) -> Passages:
    """Return the passages with their spans."""
    p, row = gold.passages, placement.document[gold.passages.document]
    start, end = p.start.copy(), p.end.copy()
    if p.start_path is not None and p.end_path is not None:
        first, last = strings(p.start_path), strings(p.end_path)
        open_ = (start < 0) & (row >= 0)
        for whitespace, here in _by_whitespace(gold, open_, p.topic):
            at = pa.array(here)
            pair = first.take(at), last.take(at)
            start[here], end[here] = starts_and_ends(collection_of(placement), row[here], *pair, whitespace)
        lost = np.flatnonzero(open_ & ((start < 0) | (end < 0)))
        if len(lost):
            row_lost = int(lost[0])
            what = f"expected a passage of the document, found {first[row_lost]} … {last[row_lost]}, not in the index"
            raise FormatError(what, at=gold.at_passage(row_lost), remedy=_REMEDY)
    size = np.where(row >= 0, placement.length[p.document], np.iinfo(np.int64).max)
    _refuse_outside(gold, (start >= 0) & ((end > size) | (end < start)), (start, end), size)
    return replace(p, start=start, end=end)


def _articles(gold: Gold, placement: Placement, passages: Passages) -> Articles:
    """Return the judged documents with lengths, highlighted sizes and entry points where the file gives none."""
    a, row = gold.articles, placement.document[gold.articles.document]
    bep = a.bep.copy()
    if a.bep_path is not None:
        path = strings(a.bep_path)
        given = pc.is_valid(path).to_numpy(zero_copy_only=False) & (bep < 0) & (row >= 0)
        for whitespace, here in _by_whitespace(gold, given, a.topic):
            bep[here] = collection_of(placement).resolve_points(row[here], path.take(pa.array(here)), whitespace)
        lost = np.flatnonzero(given & (bep < 0))
        if len(lost):
            what = f"expected a best entry point in the document, found {path[int(lost[0])]}, not in the index"
            raise FormatError(what, at=gold.at_article(int(lost[0])), remedy=_REMEDY)
    known = passages.start >= 0
    highlighted = _highlighted(gold, passages, known)
    highlighted[gold.article_of(passages)[~known]] = UNKNOWN
    rsize = np.where(a.rsize >= 0, a.rsize, highlighted)
    length = np.where(a.length >= 0, a.length, placement.length[a.document])
    return replace(a, bep=bep, rsize=rsize, length=length)


def _unconfirmed(gold: Gold, placement: Placement) -> str:
    """Return the warning about offsets that no quote confirms, into texts that tools count in two ways."""
    p = gold.passages
    bare = p.start >= 0 if p.start_path is None else np.zeros(len(p.start), np.bool_)
    if p.quote is not None:
        bare = bare & pc.is_null(p.quote).to_numpy(zero_copy_only=False)
    return unsure_offsets(collection_of(placement), placement.document[p.document[bare]]) if bare.any() else ""


def _by_whitespace(
    gold: Gold, wanted: NDArray[np.bool_], topic: NDArray[np.int32]
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield the wanted rows, those of files that leave blank text nodes out of the count apart from the others."""
    strip = np.array([gold.attributes.get(name, {}).get(STRIP) == "strip" for name in gold.topics], np.bool_)[topic]
    yield "keep", np.flatnonzero(wanted & ~strip)
    yield "strip", np.flatnonzero(wanted & strip)


def _highlighted(gold: Gold, passages: Passages, known: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the highlighted characters of every judged document, in passages whose span is known."""
    group = gold.article_of(passages)[known]
    return union(group, passages.start[known], passages.end[known]).total(len(gold.articles.topic))


def _elements(gold: Gold, placement: Placement) -> tuple[str, str]:
    """Count the assessed elements that are not in the index, and those that have another size there."""
    e = gold.elements
    if not len(e.topic):
        return "", ""
    row = placement.document[e.document]
    start, end = collection_of(placement).resolve(row, e.path)
    missing = int(np.count_nonzero((start < 0) & (row >= 0)))
    remark = f"{missing} of {len(start)} assessed elements are not in the index" if missing else ""
    return remark, _differ(e.size, np.where(start < 0, UNKNOWN, end - start), "element sizes")


def refuse_past_end(gold: Gold) -> None:
    """Raise at a passage that ends behind the length that the file gives its document.

    For golds without a collection: in one, the quote would say where the passage stands.
    """
    p, length = gold.passages, gold.articles.length[gold.article_of(gold.passages)]
    _refuse_outside(gold, (length >= 0) & (p.end > length), (p.start, p.end), length, "give docs or an index")


def _refuse_outside(
    gold: Gold,
    bad: NDArray[np.bool_],
    spans: tuple[NDArray[np.int64], NDArray[np.int64]],
    length: NDArray[np.int64],
    remedy: str = _REMEDY,
) -> None:
    """Raise at the first passage that is reversed, or reaches past the end of its document."""
    rows = np.flatnonzero(bad)
    if not len(rows):
        return
    row, p = int(rows[0]), gold.passages
    document, topic = str(gold.documents[int(p.document[row])]), gold.topics[int(p.topic[row])]
    more = f" (and {len(rows) - 1} more such spans)" if len(rows) > 1 else ""
    raise FormatError(
        f"expected a span within the {length[row]} characters of {document!r}, "
        f"found {spans[0][row]} … {spans[1][row]} for topic {topic!r}{more}",
        at=gold.at_passage(row),
        remedy=f"{remedy}; a span with a quote is put where the quote stands",
    )


def _unknown_documents(gold: Gold, rows: NDArray[np.int64]) -> str:
    """Count the documents that the index does not have, and name the first with its place and topic."""
    number, a = int(np.count_nonzero(rows < 0)), gold.articles
    unknown = np.flatnonzero(rows[a.document] < 0)
    if not number or not len(unknown):
        return ""
    first = int(unknown[0])
    name, topic = str(gold.documents[int(a.document[first])]), gold.topics[int(a.topic[first])]
    where = f"first {name!r} for topic {topic!r} ({gold.at_article(first)})"
    return f"{number} of {len(rows)} judged documents are not in the index, {where}"


def _differ(given: NDArray[np.int64], found: NDArray[np.int64], what: str) -> str:
    """Count the sizes that the file gives and the index has otherwise."""
    both = (given >= 0) & (found >= 0)
    number = int(np.count_nonzero(both & (given != found)))
    return f"{number} of {int(both.sum())} {what} differ from the index; the file's are kept" if number else ""
