"""A gold's XPointers and paths → spans and positions; sizes of the file against those of the index."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.errors import FormatError, Place
from focuseval.gold import UNKNOWN
from focuseval.resolve.pointers import starts_and_ends, strings
from focuseval.spans import union

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection import Index
    from focuseval.gold import Articles, Gold, Passages

STRIP = "whitespace-text-node"
"""The attribute of late-2007 files that says whether blank text nodes count."""


def resolve_gold(gold: Gold, index: Index) -> Gold:
    """Return the gold with spans, entry points and lengths from the index; the file's own sizes stay as they are.

    What is not in the index, or has another size there, is counted in the remarks. A pointer into a known document
    that leads nowhere, and a span past the end of its document, are refused: a score would be wrong.
    """
    rows = index.find(gold.documents)
    length = np.append(index.lengths, UNKNOWN)[rows]
    passages = _passages(gold, index, rows, length)
    articles = _articles(gold, index, rows, length, passages)
    remarks = (
        _strangers(gold, rows),
        _differ(
            articles.length, length[articles.document], "document lengths differ from the index; the file's are kept"
        ),
        _differ(
            passages.size, passages.end - passages.start, "passage sizes differ from the index; the file's are kept"
        ),
        *_elements(gold, index, rows),
    )
    found = tuple(remark for remark in remarks if remark)
    return replace(gold, articles=articles, passages=passages, remarks=(*gold.remarks, *found))


def _passages(gold: Gold, index: Index, rows: NDArray[Any], length: NDArray[Any]) -> Passages:
    """Return the passages with their spans."""
    p = gold.passages
    start, end = p.start.copy(), p.end.copy()
    row = rows[p.document]
    if p.start_path is not None and p.end_path is not None:
        open_ = (start < 0) & (row >= 0)
        for whitespace in ("keep", "strip"):
            here = np.flatnonzero(open_ & (_stripped(gold)[p.topic] == (whitespace == "strip")))
            at = pa.array(here)
            pair = strings(p.start_path).take(at), strings(p.end_path).take(at)
            start[here], end[here] = starts_and_ends(index, row[here], *pair, whitespace)
        lost = np.flatnonzero(open_ & ((start < 0) | (end < 0)))
        if len(lost):
            said = f"{p.start_path[int(lost[0])]} … {p.end_path[int(lost[0])]}"
            raise _error(gold, int(lost[0]), f"expected a passage of the document, found {said}, not in the index")
    size = np.where(row >= 0, length[p.document], np.iinfo(np.int64).max)
    bad = np.flatnonzero((start >= 0) & ((end > size) | (end < start)))
    if len(bad):
        at_ = int(bad[0])
        name, topic = gold.documents[int(p.document[at_])], gold.topics[int(p.topic[at_])]
        where = f"the {size[at_]} characters of {str(name)!r}"
        what = f"expected a span within {where}, found {start[at_]} … {end[at_]} for topic {topic!r}"
        raise _error(gold, at_, what)
    return replace(p, start=start, end=end)


def _articles(gold: Gold, index: Index, rows: NDArray[Any], length: NDArray[Any], passages: Passages) -> Articles:
    """Return the judged documents with lengths, highlighted sizes and entry points where the file gives none."""
    a = gold.articles
    bep = a.bep.copy()
    if a.bep_path is not None:
        said = pc.is_valid(a.bep_path).to_numpy(zero_copy_only=False)
        for whitespace in ("keep", "strip"):
            strip = _stripped(gold)[a.topic] == (whitespace == "strip")
            here = np.flatnonzero(said & strip & (bep < 0) & (rows[a.document] >= 0))
            bep[here] = index.resolve_points(
                rows[a.document[here]], strings(a.bep_path).take(pa.array(here)), whitespace
            )
            lost = here[bep[here] < 0]
            if len(lost):
                at = int(lost[0])
                line = None if a.line is None else int(a.line[at])
                what = f"expected a best entry point in the document, found {a.bep_path[at]}, not in the index"
                raise FormatError(
                    what, at=Place(_file(gold, at), line), remedy="give the index of the gold's collection"
                )
    rsize = np.where(a.rsize >= 0, a.rsize, _highlighted(a, passages))
    return replace(a, bep=bep, rsize=rsize, length=np.where(a.length >= 0, a.length, length[a.document]))


def refuse_past_end(gold: Gold) -> None:
    """Raise at a passage that runs past the length which the file gives its document; with a quote it passed so far."""
    p, end = gold.passages, gold.articles.length[article_of(gold.articles, gold.passages)]
    bad = np.flatnonzero((end >= 0) & (p.end > end))
    if len(bad):
        row = int(bad[0])
        where = f"the {end[row]} characters of {str(gold.documents[int(p.document[row])])!r}"
        topic = gold.topics[int(p.topic[row])]
        what = f"expected a span within {where}, found {p.start[row]} … {p.end[row]} for topic {topic!r}"
        raise _error(gold, row, what, "give the documents with --docs: then it is put where its quote stands")


def _highlighted(articles: Articles, passages: Passages) -> NDArray[np.int64]:
    """Return the highlighted characters of every judged document, UNKNOWN where a passage has no span."""
    group = article_of(articles, passages)
    known = passages.start >= 0
    total = union(group[known], passages.start[known], passages.end[known]).total(len(articles.topic))
    total[group[~known]] = UNKNOWN
    return total


def article_of(articles: Articles, passages: Any) -> NDArray[np.int64]:
    """Return, for every passage or element, the row of its judged document."""
    keys = articles.topic.astype(np.int64) << 32 | articles.document
    order = np.argsort(keys)
    wanted = passages.topic.astype(np.int64) << 32 | passages.document
    found: NDArray[np.int64] = order[np.searchsorted(keys[order], wanted)] if len(wanted) else wanted
    return found


def _elements(gold: Gold, index: Index, rows: NDArray[Any]) -> tuple[str, str]:
    """Say how many assessed elements are not in the index, or have another size there."""
    e = gold.elements
    if not len(e.topic):
        return "", ""
    row = rows[e.document]
    start, end = index.resolve(row, e.path)
    missing = _count((start < 0) & (row >= 0), len(start), "assessed elements are not in the index")
    size = np.where(start < 0, UNKNOWN, end - start)
    return missing, _differ(e.size, size, "element sizes differ from the index; the file's are kept")


def _stripped(gold: Gold) -> NDArray[np.bool_]:
    """Say for every topic whether its file leaves blank text nodes out of the count."""
    return np.array([gold.attributes.get(topic, {}).get(STRIP) == "strip" for topic in gold.topics], np.bool_)


def _strangers(gold: Gold, rows: NDArray[Any]) -> str:
    """Count the documents that the index does not have, and name the first with its place and topic."""
    number, a = int(np.count_nonzero(rows < 0)), gold.articles
    unknown = np.flatnonzero(rows[a.document] < 0)
    if not number or not len(unknown):
        return ""
    first = int(unknown[0])
    at = Place(_file(gold, first), None if a.line is None else int(a.line[first]))
    name, topic = str(gold.documents[int(a.document[first])]), gold.topics[int(a.topic[first])]
    return f"{number} of {len(rows)} judged documents are not in the index, first {name!r} for topic {topic!r} ({at})"


def _differ(said: NDArray[Any], found: NDArray[Any], what: str) -> str:
    both = (said >= 0) & (found >= 0)
    return _count(both & (said != found), int(both.sum()), what)


def _count(which: NDArray[np.bool_], of: int, what: str) -> str:
    number = int(np.count_nonzero(which))
    return f"{number} of {of} {what}" if number else ""


def _error(gold: Gold, passage: int, what: str, remedy: str = "give the index of the gold's collection") -> FormatError:
    """Return an error at a passage's line."""
    article = int(article_of(gold.articles, gold.passages)[passage])
    line = gold.passages.line
    return FormatError(
        what,
        at=Place(_file(gold, article), None if line is None else int(line[passage])),
        remedy=remedy,
    )


def _file(gold: Gold, article: int) -> str:
    source = gold.articles.source
    return gold.sources[int(source[article])] if source is not None and gold.sources else gold.file or "<gold>"
