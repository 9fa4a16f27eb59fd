"""Runs and golds in a collection: paths, XPointers, offsets, quotes and chunk texts → spans and entry points, once."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.names import EXTENSION
from focuseval.data.gold import UNKNOWN, Articles, Gold, Passages
from focuseval.data.placement import (
    BAD_SPAN,
    NO_DOCUMENT,
    NO_PLACE,
    POINT,
    SPAN,
    TEXT_AMBIGUOUS,
    TEXT_LOST,
    UNKNOWN_PLACE,
    Alignment,
    Placement,
)
from focuseval.data.remarks import Remark, worded
from focuseval.data.run import Run
from focuseval.data.spans import union
from focuseval.errors import CollectionError, FormatError, Place
from focuseval.placing.pointers import starts_and_ends, strings
from focuseval.placing.texts import SIMILARITY, align_texts, as_collection, as_strings, column_of, holders_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.index import Collection

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.int64]

_REMEDY = "give the index of the gold's collection"
_PLAIN = (".txt", ".md", ".rst", ".adoc", ".org")
_HTML = (".html", ".htm")


def place_run(
    run: Run, collection: Collection, *, similarity: float = SIMILARITY, bad: Literal["refuse", "keep"] = "refuse"
) -> Run:
    """Return the run with a span for every path and text that the collection knows, and its `placement`.

    A text that is ambiguous or lost, and a document or path that the collection does not have, keep −1 and are counted
    in the run's remarks. A span that is reversed or reaches past its document's end is refused, or kept with the status
    `BAD_SPAN`. A run that is placed in the same collection already is returned as it is.
    """
    if run.placement is not None and run.placement.is_in(collection):
        return run
    run, holders = _with_documents(run, collection)
    placement = _placement(collection, run.document, run.at)
    if run.whole_documents:
        return replace(run, placement=placement)
    rows = placement.document
    start, end = (column_of(column, len(run)).copy() for column in (run.start, run.end))
    alignment, sought = None, np.zeros(0, np.int64)
    if run.text is not None:
        alignment = _aligned_texts(run, rows, collection, similarity, holders)
        start, end = alignment.start.copy(), alignment.end.copy()
    if run.path is not None:
        path = strings(run.path)
        last = pa.nulls(len(run), pa.string()) if run.end_path is None else strings(run.end_path)
        sought = np.flatnonzero(pc.is_valid(path).to_numpy(zero_copy_only=False) & (start < 0) & (rows >= 0))
        at = pa.array(sought)
        start[sought], end[sought] = starts_and_ends(collection, rows[sought], path.take(at), last.take(at))
    status = np.full(len(start), SPAN, np.int8)
    status[end < 0] = POINT
    status[start < 0] = UNKNOWN_PLACE
    status[sought[start[sought] < 0]] = NO_PLACE
    if alignment is not None:
        status[alignment.is_ambiguous] = TEXT_AMBIGUOUS
        status[alignment.is_lost] = TEXT_LOST
    length = np.where(rows < 0, np.iinfo(np.int64).max, placement.length)
    reversed_ = (end >= 0) & ((end < start) | (start < 0))
    status[reversed_ | (start > length) | (end > length)] = BAD_SPAN
    named = True if holders is None else holders < 0
    status[(rows < 0) & (status != BAD_SPAN) & named] = NO_DOCUMENT
    placement = replace(placement, status=status, alignment=alignment)
    remarks = (*run.remarks, *_remarks_on_run(run, placement))
    placed = replace(run, start=start, end=end, placement=placement, remarks=remarks)
    if bad == "refuse":
        refuse_bad_spans(placed)
    return placed


def _placement(collection: Collection, ids: pa.Array, at: Callable[[int], Place]) -> Placement:
    """Return where ids stand in a collection; an ambiguous one is refused with its place in its own file."""
    placement = Placement(collection, ids)
    try:
        placement.document  # noqa: B018  found once, and kept
    except CollectionError as error:
        bare = (re.sub(EXTENSION, "", name) for name in as_strings(ids))
        said = [row for row, name in enumerate(bare) if f"document id {name!r} is" in error.what]
        raise CollectionError(error.what, at=at(said[0]) if said else None, remedy=error.remedy) from None
    return placement


def align_run(
    run: Run, documents: Collection | Mapping[str, str], *, similarity: float = SIMILARITY
) -> tuple[Run, Alignment]:
    """Return a run whose texts and paths have become spans, and what was found for the texts.

    A result without text keeps its span (*unchecked*), which must lie inside its document. A text that is
    ambiguous, lost, or of an unknown document keeps start and end −1: it is returned, it is counted, it covers nothing.
    """
    collection = as_collection(documents)
    placed = place_run(run, collection, similarity=similarity)
    found = None if placed.placement is None else placed.placement.alignment
    return placed, found or _aligned_texts(placed, np.full(len(run), -1), collection, similarity)


def _with_documents(run: Run, collection: Collection) -> tuple[Run, Integers | None]:
    """Return the run with documents for texts that came without one (an empty id), where one document holds the text.

    For every result, too, in how many documents its text was found if that is not one, −1 for all others; None where
    every result has its document.
    """
    if run.text is None or not len(rows := run.nameless):
        return run, None
    row, documents = holders_of(run.text.take(pa.array(rows)).to_pylist(), collection)
    one = row >= 0
    names = np.array(as_strings(run.document), object)
    names[rows[one]] = collection.ids.take(pa.array(row[one])).to_pylist()
    holders = np.full(len(run), -1, np.int64)
    holders[rows[~one]] = documents[~one]
    return replace(run, document=pa.array(names, pa.string())), holders


def _aligned_texts(
    run: Run, rows: Integers, collection: Collection, similarity: float, holders: Integers | None = None
) -> Alignment:
    """Look for the texts of a run; a result without one keeps what it claims."""
    names = as_strings(run.document)
    texts = [None] * len(run) if run.text is None else run.text.to_pylist()
    claimed = (run.start, run.end, run.chunk)
    found = align_texts(names, texts, rows, collection, claimed, similarity=similarity, holders=holders)
    topic = [run.topics[code] for code in run.topic.tolist()]
    line = run.line if run.line is not None else np.arange(1, len(run) + 1)
    return replace(found, topic=topic, line=line, file=run.file, noun="results")


def _remarks_on_run(run: Run, placement: Placement) -> Iterator[Remark]:
    """Count what has no place, and name the first of each kind with its topic and line."""
    if placement.alignment is not None:
        yield placement.alignment.remark()
        yield from map(worded, placement.alignment.first_unplaced())
    for code, what in ((NO_DOCUMENT, "document"), (NO_PLACE, "place")):
        rows = np.flatnonzero(placement.status == code)
        if len(rows):
            row = int(rows[0])
            path = f"{run.path[row].as_py()!r} of " if code == NO_PLACE and run.path is not None else ""
            where = f"{path}{run.document[row].as_py()!r} for topic {run.topic_of(row)!r} ({run.at(row)})"
            yield Remark("not in the index", len(rows), (what, where))
    if run.start is not None:
        yield from _unsure_offsets(placement.collection, placement.document, run.start, run.path, run.text)


def refuse_bad_spans(run: Run) -> None:
    """Raise at the first span that is reversed or runs past its document's end."""
    placement = run.placement
    if placement is None or placement.status is None or run.start is None or run.end is None:
        return
    bad = np.flatnonzero(placement.status == BAD_SPAN)
    if len(bad):
        row = int(bad[0])
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        what = f"expected a span within the {placement.length[row]} characters of {run.document[row].as_py()!r}"
        found = f"found {run.start[row]} … {run.end[row]} for topic {run.topic_of(row)!r}{more}"
        remedy = "offsets count code points of the text, markup excluded, half-open; is it the same collection?"
        raise FormatError(f"{what}, {found}", at=run.at(row), remedy=remedy)


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
    if gold.forbidden is not None:
        gold = replace(gold, forbidden=place_gold(gold.forbidden, collection, similarity=similarity, quiet=True))
    judged = gold.articles.document
    placement = _placement(collection, gold.documents, lambda code: gold.at_article(int(np.argmax(judged == code))))
    remarks = gold.remarks
    if gold.passages.quote is not None:
        found = _aligned_quotes(gold, placement, similarity)
        placement = replace(placement, alignment=found)
        passages = replace(gold.passages, start=found.start, end=found.end, size=found.end - found.start)
        gold = replace(gold, articles=replace(gold.articles, rsize=_highlighted(gold, passages)), passages=passages)
        if not quiet or found.moved.any() or (found.start < 0).any():
            remarks = (*remarks, *map(worded, found.first_unplaced()), found.remark())
    passages = _placed_passages(gold, placement)
    articles = _placed_articles(gold, placement, passages)
    gold = replace(gold, placement=placement, articles=articles, passages=passages)
    return replace(gold, remarks=(*remarks, *_remarks_on_gold(gold, placement)))


def align_gold(
    gold: Gold, documents: Collection | Mapping[str, str], *, similarity: float = SIMILARITY
) -> tuple[Gold, Alignment]:
    """Return a gold whose spans agree with their quotes, as `place_gold` does, and what was found for them."""
    collection = as_collection(documents)
    placed = place_gold(gold, collection, similarity=similarity)
    found = None if placed.placement is None else placed.placement.alignment
    return placed, found or _aligned_quotes(gold, Placement(collection, gold.documents), similarity)


def _aligned_quotes(gold: Gold, placement: Placement, similarity: float) -> Alignment:
    """Look for the quotes; a passage without one keeps its span, which must lie inside its document."""
    p, ids = gold.passages, as_strings(gold.documents)
    rows = placement.document[p.document]
    names, topics = [ids[code] for code in p.document.tolist()], [gold.topics[code] for code in p.topic.tolist()]
    if (rows < 0).any():
        row, number = int(np.flatnonzero(rows < 0)[0]), len(np.unique(p.document[rows < 0]))
        more = f" (and {number - 1} more unknown documents)" if number > 1 else ""
        what = f"expected documents of the collection, found {names[row]!r} for topic {topics[row]!r}{more}"
        raise FormatError(what, at=gold.at_passage(row), remedy="check the documents given, or the ids in the gold")
    quotes = [quote or None for quote in as_strings(p.quote)] if p.quote is not None else [None] * len(rows)
    found = align_texts(names, quotes, rows, placement.collection, (p.start, p.end, None), similarity=similarity)
    bare = np.array([quote is None for quote in quotes], np.bool_)
    _refuse_outside(gold, bare & (p.start >= 0) & (p.start >= p.end), p.start, p.end, placement.length[p.document])
    found = found.but_lost(bare & (p.start < 0))
    return replace(found, topic=topics, line=p.line, file=gold.file, noun="spans")


def _placed_passages(gold: Gold, placement: Placement) -> Passages:
    """Return the passages with their spans."""
    p, row = gold.passages, placement.document[gold.passages.document]
    start, end = p.start.copy(), p.end.copy()
    if p.start_path is not None and p.end_path is not None:
        first, last = strings(p.start_path), strings(p.end_path)
        sought = (start < 0) & (row >= 0)
        for whitespace, here in _by_whitespace(gold, sought, p.topic):
            pair = first.take(pa.array(here)), last.take(pa.array(here))
            start[here], end[here] = starts_and_ends(placement.collection, row[here], *pair, whitespace)
        if (lost := sought & ((start < 0) | (end < 0))).any():
            bad = int(np.argmax(lost))
            what = f"expected a passage of the document, found {first[bad]} … {last[bad]}, not in the index"
            raise FormatError(what, at=gold.at_passage(bad), remedy=_REMEDY)
    size = np.where(row >= 0, placement.length[p.document], np.iinfo(np.int64).max)
    _refuse_outside(gold, (start >= 0) & ((end > size) | (end < start)), start, end, size)
    return replace(p, start=start, end=end)


def _placed_articles(gold: Gold, placement: Placement, passages: Passages) -> Articles:
    """Return the judged documents with lengths, highlighted sizes and entry points where the file gives none."""
    a, row = gold.articles, placement.document[gold.articles.document]
    bep = a.bep.copy()
    if a.bep_path is not None:
        path = strings(a.bep_path)
        given = pc.is_valid(path).to_numpy(zero_copy_only=False) & (bep < 0) & (row >= 0)
        for whitespace, here in _by_whitespace(gold, given, a.topic):
            bep[here] = placement.collection.resolve_points(row[here], path.take(pa.array(here)), whitespace)
        if (lost := given & (bep < 0)).any():
            bad = int(np.argmax(lost))
            what = f"expected a best entry point in the document, found {path[bad]}, not in the index"
            raise FormatError(what, at=gold.at_article(bad), remedy=_REMEDY)
    highlighted = _highlighted(gold, passages)
    highlighted[gold.article_of(passages)[passages.start < 0]] = UNKNOWN
    rsize = np.where(a.rsize >= 0, a.rsize, highlighted)
    length = np.where(a.length >= 0, a.length, placement.length[a.document])
    return replace(a, bep=bep, rsize=rsize, length=length)


def _by_whitespace(gold: Gold, wanted: Flags, topic: NDArray[np.int32]) -> Iterator[tuple[str, Integers]]:
    """Yield the wanted rows, those of late-2007 files that do not count blank text nodes apart from the others."""
    said = [gold.attributes.get(name, {}).get("whitespace-text-node") for name in gold.topics]
    strip = np.array([one == "strip" for one in said], np.bool_)[topic]
    yield "keep", np.flatnonzero(wanted & ~strip)
    yield "strip", np.flatnonzero(wanted & strip)


def _highlighted(gold: Gold, passages: Passages) -> Integers:
    """Return the highlighted characters of every judged document, in passages whose span is known."""
    known = passages.start >= 0
    group = gold.article_of(passages)[known]
    return union(group, passages.start[known], passages.end[known]).total(len(gold.articles.topic))


def _remarks_on_gold(gold: Gold, placement: Placement) -> Iterator[Remark]:
    """Count the documents and elements that the index does not have, and the sizes that it has otherwise."""
    a, p, e, collection = gold.articles, gold.passages, gold.elements, placement.collection
    number, unknown = int(np.count_nonzero(placement.document < 0)), placement.document[a.document] < 0
    if unknown.any():
        first = int(np.argmax(unknown))
        name, topic = str(gold.documents[int(a.document[first])]), gold.topics[int(a.topic[first])]
        details = (f"{len(gold.documents)}", f"{name!r} for topic {topic!r} ({gold.at_article(first)})")
        yield Remark("unknown documents", number, details)

    def differ(given: Integers, found: Integers, what: str) -> Iterator[Remark]:
        both = (given >= 0) & (found >= 0)
        if number := int(np.count_nonzero(both & (given != found))):
            yield Remark("other sizes", number, (f"{int(both.sum())}", what))

    yield from differ(a.length, placement.length[a.document], "document lengths")
    yield from differ(p.size, p.end - p.start, "passage sizes")
    yield from _unsure_offsets(collection, placement.document[p.document], p.start, p.start_path, p.quote)
    if len(e.topic):
        row = placement.document[e.document]
        start, end = collection.resolve(row, e.path)
        if missing := int(np.count_nonzero((start < 0) & (row >= 0))):
            yield Remark("unknown elements", missing, (f"{len(start)}",))
        yield from differ(e.size, np.where(start < 0, UNKNOWN, end - start), "element sizes")


def _unsure_offsets(
    collection: Collection, rows: NDArray[np.integer], start: Integers, path: Any, text: pa.Array | None
) -> Iterator[Remark]:
    """Warn that characters may have been counted in another way, where neither a path nor a text confirms offsets.

    `rows` are those of the documents into which the offsets point. Files with CRLF line ends or a byte-order mark are
    counted in two ways; documents that were given as strings are counted as they are given.
    """
    bare = (start >= 0) & (rows >= 0)
    bare &= True if text is None else pc.is_null(text).to_numpy(zero_copy_only=False)
    if path is not None or not bare.any():
        return
    rows = np.unique(rows[bare])
    some = collection.documents.select(["id", "file", "bytes"]).take(pa.array(rows))
    pages = rows[[file.lower().endswith(_HTML) for file in some["file"].to_pylist()]]
    if len(pages := pages[collection.put_in(pages) > 0]):
        yield Remark("html offsets", len(pages), (repr(collection.ids[int(pages[0])].as_py()),))
    names = zip(some["id"].to_pylist(), some["file"].to_pylist(), strict=True)
    plain = np.array([file != name and file.lower().endswith(_PLAIN) for name, file in names], np.bool_)
    if not plain.any():
        return
    texts = collection.texts(rows[plain])
    marked = np.asarray(some["bytes"])[plain] - np.asarray(pc.binary_length(texts)) == len(BOM_UTF8)
    ended = np.asarray(pc.match_substring(texts, "\r\n"))
    if (odd := marked | ended).any():
        kinds = (("CRLF line ends", ended), ("a byte-order mark", marked))
        name = collection.ids[int(rows[plain][np.argmax(odd)])].as_py()
        yield Remark("unsure offsets", 0, (" and ".join(what for what, has in kinds if has.any()), repr(name)))


def refuse_past_end(gold: Gold) -> None:
    """Raise at a passage that ends behind the length that the file gives its document, for want of a collection."""
    p, length = gold.passages, gold.articles.length[gold.article_of(gold.passages)]
    _refuse_outside(gold, (length >= 0) & (p.end > length), p.start, p.end, length, remedy="give docs= or index=")


def _refuse_outside(
    gold: Gold, bad: Flags, start: Integers, end: Integers, length: Integers, *, remedy: str = _REMEDY
) -> None:
    """Raise at the first passage that is reversed, or reaches past the end of its document."""
    if len(rows := np.flatnonzero(bad)):
        row, p = int(rows[0]), gold.passages
        document, topic = str(gold.documents[int(p.document[row])]), gold.topics[int(p.topic[row])]
        more = f" (and {len(rows) - 1} more such spans)" if len(rows) > 1 else ""
        found = f"{start[row]} … {end[row]} for topic {topic!r}{more}"
        what = f"expected a span within the {length[row]} characters of {document!r}, found {found}"
        remedy = f"{remedy}; a span with a quote is put where the quote stands"
        raise FormatError(what, at=gold.at_passage(row), remedy=remedy)
