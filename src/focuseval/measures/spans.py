"""Spans for RAG: the union of the text in the first results, or in what a budget of text pays for.

A budget says which results it pays for, and where it cuts the last one. `ceiling` is what a chunking allows: the scores
when exactly the chunks that hold relevant text are retrieved.

A topic has needed items, as a multi-hop question has. An item has alternatives, of which one will do: the gold's spans
with the same name (``need``). A span without a name is an item with one alternative, so that in a gold that names
nothing every span is needed. Text counts as returned wherever it stands in the first results, as in spanR: an
alternative may be put together from several chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from focuseval.collection.boundaries import Boundaries, between_blanks, boundaries, texts_of
from focuseval.data.spans import overlapping, union, unseen
from focuseval.errors import MeasureError, MissingDataError
from focuseval.measures.document_matching import document_codes
from focuseval.measures.matching import Matched
from focuseval.measures.measure import Budget, Measure, Parameter, number
from focuseval.measures.topicwise import (
    BLOCK,
    Flags,
    Floats,
    Integers,
    blocks,
    ceiling,
    count,
    count_by,
    harmonic,
    once,
    ratio,
    running_count,
    total,
    without_base,
)

At = int | Budget | None


def budgeted(m: Matched, budget: Budget) -> tuple[Integers, Integers]:
    """Return the new characters, and the new highlighted ones, that each result shows within the budget.

    Every returned character counts against the budget, repeats included; the last result is cut where it ends. A budget
    of words or tokens ends with its last one: blanks behind it are not read, so that a chunk cut there shows no more.
    """
    paid, cut, end = paid_ends(m, budget)
    size, relevant = np.where(paid, m.new_size, 0), np.where(paid, m.new_rsize, 0)
    if not len(cut):
        return size, relevant
    rows = np.flatnonzero(paid & np.isin(m.article, m.article[cut]))  # what was seen before the cut result is needed
    shown = unseen(m.article[rows], m.start[rows], end[rows])
    size[rows] = shown
    hits = rows[np.isin(rows, m.hits)]
    relevant[hits] = unseen(m.article[hits], m.start[hits], end[hits], m.prepared.highlights)
    return size, relevant


def paid_ends(m: Matched, budget: Budget) -> tuple[Flags, Integers, Integers]:
    """Return which results a budget pays for, the rows of those that it cuts, and where every result then ends."""
    pieces = None if budget.unit == "characters" else _pieces_of(m, budget.unit)
    cost = m.size if pieces is None else pieces[0].count(pieces[1], m.start, m.end)
    left = budget.amount - (running_count(cost, m.bounds) - cost)
    paid = left > 0
    cut = np.flatnonzero(paid & (cost >= left))
    end = m.end.copy()
    if pieces is None:
        end[cut] = m.start[cut] + left[cut]
    elif len(cut):  # where the last word or token ends that the budget pays for
        found, document = pieces
        first = found.upto_end(document[cut], m.start[cut])
        end[cut] = np.minimum(found.end[first + left[cut] - 1], m.end[cut])
    return paid, cut, end


def restricted(m: Matched, most: int) -> Matched:
    """Return the match with every article's results cut after its first `most` characters, in rank order."""
    order = np.argsort(m.article, kind="stable")
    group, size = m.article[order], m.size[order]
    edges = np.r_[0, np.flatnonzero(np.diff(group)) + 1, len(group)]
    left = np.empty_like(size)
    left[order] = np.clip(most - (running_count(size, edges) - size), 0, None)
    return replace(m, cut=replace(m.places, end=np.minimum(m.end, m.start + left)))


@once
def _pieces_of(m: Matched, unit: str) -> tuple[Boundaries, Integers]:
    """Return the words or tokens of every document that a result is in, each read once, and which is each result's.

    Words are runs of characters that are not white space; tokens are those of the whole document.
    """
    index = m.prepared.index
    if index is None:
        raise MissingDataError(f"a budget of {unit} needs the text of the documents; give docs= or index=")
    if unit == "tokens" and m.tokenizer is None:
        raise MissingDataError("a budget of tokens needs a tokenizer; give tokenizer=")
    cut = between_blanks if m.tokenizer is None or unit == "words" else m.tokenizer.spans
    kept, code = np.unique(m.document_row, return_inverse=True)
    return boundaries(map(cut, texts_of(index, kept))), code


class Read(NamedTuple):
    """What a reader has seen of each topic."""

    size: Integers  # characters
    relevant: Integers  # highlighted characters among them
    whole: Integers  # all highlighted characters


OF_TEXT: dict[str, Callable[[Read], Floats]] = {
    "spanP": lambda read: ratio(read.relevant, read.size),
    "spanR": lambda read: ratio(read.relevant, read.whole),
    "spanF": lambda read: harmonic(ratio(read.relevant, read.size), ratio(read.relevant, read.whole)),
    "IoU": lambda read: ratio(read.relevant, read.size + read.whole - read.relevant),
    "hit": lambda read: np.asarray(read.relevant > 0, np.float64),
    "full": lambda read: np.asarray((read.relevant == read.whole) & (read.whole > 0), np.float64),
}
"""What each measure of text says of what a reader has seen."""


def read(m: Matched, at: At) -> Read:
    """Return what the first `at` results, a budget, or the whole list show."""
    if isinstance(at, Budget):
        size, relevant = budgeted(m, at)
        return Read(count(size, m.bounds), count(relevant, m.bounds), m.prepared.trel_of_topic)
    return united(m, at)


@once
def united(m: Matched, at: int | None, block: int = BLOCK) -> Read:
    """Return the union of the first results: cheaper than which of them returned what first."""
    whole = m.prepared.trel_of_topic  # without highlights no place is worth asking for
    size, relevant = [], []
    for first, last in blocks(m.bounds, block):
        here = slice(m.bounds[first], m.bounds[last])
        rows = here if at is None else m.bounds[first] + np.flatnonzero(m.rank[here] <= at)
        shown = union(m.article[rows], m.start[rows], m.end[rows])
        topic = m.topic[rows][shown.source] - first
        size.append(count_by(shown.end - shown.start, topic, last - first))
        near = np.flatnonzero(shown.group < len(m.prepared.topic))
        inside = m.prepared.highlights.covered(shown.group[near], shown.start[near], shown.end[near])
        relevant.append(count_by(inside, topic[near], last - first))
    return Read(np.concatenate(size), np.concatenate(relevant), whole)


def read_text(m: Matched, at: At = None, *, what: str) -> Floats:
    """Return a measure of the text that is read, by its name in `OF_TEXT`."""
    return OF_TEXT[what](read(m, at))


def span_reciprocal_rank(m: Matched, at: int | None = None) -> Floats:
    """Return one divided by the rank of the first result (of the first `at`) with a highlighted character."""
    rows = np.flatnonzero(m.new_rsize)[::-1]
    if at is not None:
        rows = rows[m.rank[rows] <= at]
    first = np.zeros(m.topics)
    first[m.topic[rows]] = 1 / m.rank[rows]  # backwards: the first rank is written last, and stays
    return first


def span_ndcg(m: Matched, at: int | None = None) -> Floats:
    """Return new highlighted text, discounted by rank, over that of a first result that holds all of it."""
    rows = np.flatnonzero(m.new_rsize)
    if at is not None:
        rows = rows[m.rank[rows] <= at]
    gain = m.new_rsize[rows] / np.log2(m.rank[rows] + 1)
    return ratio(total(gain, m.topic[rows], m.topics), m.prepared.trel_of_topic)


def reading_curve(m: Matched, *, what: str) -> tuple[Floats, Floats]:
    """Return a measure of the text that is read as a function of its characters, in steps of 100 up to 10,000."""
    amounts = range(100, 10_001, 100)
    read_so_far = [read_text(m, Budget(amount, "characters"), what=what) for amount in amounts]
    return np.array(amounts, np.float64), np.stack(read_so_far, axis=1)


_ranked = partial(Measure, cite="focuseval", needs=("spans",), tasks=("spans",))
_set = partial(_ranked, at=("rank", "characters", "words", "tokens"), perfect=False)


def chunking_ceiling(m: Matched, M: str) -> Floats:
    """Return `M` of the union of all chunks that hold highlighted text; touching is not holding."""
    return OF_TEXT[M](best_read(m))


@once
def best_read(m: Matched, near: int = 0) -> Read:
    """Return what is read when exactly the chunks that hold highlighted text are retrieved.

    With ``near=1`` the chunks that only touch highlighted text are retrieved, too.
    """
    prepared, chunks = m.prepared, chunks_of(m)
    highlights = prepared.highlights
    document = prepared.same[prepared.gold.articles.document[highlights.group]]
    mark, chunk = overlapping((document, np.maximum(highlights.start - near, 0), highlights.end + near), chunks)
    shown = union(highlights.group[mark], chunks[1][chunk], chunks[2][chunk])
    topic, relevant = prepared.topic[shown.group], highlights.covered(shown.group, shown.start, shown.end)
    size = count_by(shown.end - shown.start, topic, m.topics)
    return Read(size, count_by(relevant, topic, m.topics), prepared.trel_of_topic)


def chunks_of(m: Matched) -> tuple[Integers, Integers, Integers]:
    """Return document codes and spans of the chunks: the chunker's when they are given, else those of the run."""
    if m.chunks is not None:
        ids, start, end = m.chunks.document, m.chunks.start, m.chunks.end
    elif m.run.start is not None and m.run.end is not None:
        ids, start, end = m.run.document, m.run.start, m.run.end  # of all topics, counted or not
    else:
        ids, start, end = m.column(m.run.document), m.start, m.end
    codes = document_codes(ids, m.prepared)
    known = codes >= 0
    return codes[known], start[known], end[known]


@once
def returned_characters(m: Matched, at: At) -> Integers:
    """Return, for every alternative, how many of its characters are returned."""
    if isinstance(at, Budget):
        paid, _, end = paid_ends(m, at)
    else:
        paid, end = np.asarray(m.rank <= (at or len(m))), m.end
    rows, needs = np.flatnonzero(paid & (m.article < len(m.prepared.topic))), m.prepared.needs
    return union(m.article[rows], m.start[rows], end[rows]).covered(needs.article, needs.start, needs.end)


def need_recall(m: Matched, at: At = None) -> Floats:
    """Return the mean, over the needed items, of how much of each is returned.

    An item is worth the largest share of one of its alternatives that is returned. In a gold that names no needs every
    span is an item; then this is the mean of the spans' own recalls, where spanR weighs each span by its length.
    """
    needs = m.prepared.needs
    best = np.zeros(len(needs.topic))
    np.maximum.at(best, needs.item, returned_characters(m, at) / (needs.end - needs.start))
    items = count_by(np.ones(len(best), np.int64), needs.topic, m.topics)
    return without_base(ratio(total(best, needs.topic, m.topics), items), items)


def found_items(m: Matched, at: At, share: float) -> tuple[Integers, Integers]:
    """Return, for every topic, how many needed items are found, and how many there are."""
    if share > 1:
        raise MeasureError(f"share={number(share)}: expected a share of the text, from 0 to 1")
    needs = m.prepared.needs
    least = np.maximum(ceiling(needs.end - needs.start, Fraction(number(share))), 1)
    found = np.zeros(len(needs.topic), np.int64)
    found[needs.item[returned_characters(m, at) >= least]] = 1
    return count_by(found, needs.topic, m.topics), count_by(np.ones_like(found), needs.topic, m.topics)


def subtopic_recall(m: Matched, share: float, at: At = None) -> Floats:
    """Return the share of the needed items that are found.

    An item is found if one of its alternatives is returned to a share of at least `share` of its characters, and of one
    character at least.
    """
    found, items = found_items(m, at, share)
    return without_base(ratio(found, items), items)


def all_recall(m: Matched, share: float, at: At = None) -> Floats:
    """Return 1 where every needed item is found, else 0.

    An item is found if one of its alternatives is returned to a share of at least `share` of its characters, and of one
    character at least.
    """
    found, items = found_items(m, at, share)
    return without_base(np.asarray(found == items, np.float64), items)


_OF_SPANS = Parameter(
    "M", "spanF", "Which measure of spans.", ("spanP", "spanR", "spanF", "IoU"), always=True, bare=True
)
_SHARE = Parameter("share", 1, "The least share of an alternative that must be returned; 0: any text.", least=0)
_needed = partial(Measure, needs=("spans",), tasks=("spans",), at=_set.keywords["at"], perfect=False)
_found = partial(_needed, parameters=(_SHARE,))

MEASURES = (
    _set("spanP", partial(read_text, what="spanP"), "Share of the returned text that is highlighted.",
        curve=partial(reading_curve, what="spanP"),
        formula=r"spanP = |U \cap H| / |U|",
        example="Chunks [0,60) and [40,100) against gold [0,50): 50 of 100 characters, 0.5."),
    _set("spanR", partial(read_text, what="spanR"), "Share of the highlighted text that is returned.",
        curve=partial(reading_curve, what="spanR"),
        formula=r"spanR = |U \cap H| / |H|",
        example="Chunks [0,60) and [40,100) against gold [0,100): 100 of 100 characters, 1 and not 1.2."),
    _set("spanF", partial(read_text, what="spanF"), "Harmonic mean of spanP and spanR.",
        formula=r"spanF = 2 \cdot spanP \cdot spanR / (spanP + spanR)", example="spanP 0.5, spanR 1: 0.6667."),
    _set("IoU", partial(read_text, what="IoU"), "Returned and highlighted text over returned or highlighted text.",
        formula=r"IoU = |U \cap H| / |U \cup H|", example="Returned [0,100), highlighted [50,150): 50 / 150 = 0.3333."),
    _set("hit", partial(read_text, what="hit"), "Whether any highlighted character is returned.",
        formula=r"hit = [U \cap H \ne \emptyset]", example="1 or 0."),
    _set("full", partial(read_text, what="full"), "Whether every highlighted character is returned.",
        formula=r"full = [H \subseteq U]", example="1 or 0."),
    _ranked("spanRR", span_reciprocal_rank, "Reciprocal rank of the first result with a highlighted character.",
        at=("rank",),
        formula=r"spanRR = 1 / \min \{r : new_r > 0\}",
        example="The first chunk that holds highlighted text is at rank 2: 0.5."),
    _ranked("spanNDCG", span_ndcg, "New highlighted text, discounted by rank.", at=("rank",), perfect=False,
        formula=r"spanNDCG@k = \frac{1}{Trel(t)} \sum_{i \le k} \frac{new_i}{\log_2(i+1)}",
        example="All highlighted text in the result at rank 3: 1 / log2(4) = 0.5."),
    Measure("ceiling", chunking_ceiling,
        "What the chunking allows: M, if exactly the chunks that hold highlighted text are retrieved.", "focuseval",
        needs=("spans",), parameters=(_OF_SPANS,), perfect=False, tasks=("spans",), topicwise=False,
        formula=r"ceiling(M) = M(\{c : c \cap H \ne \emptyset\})",
        example="Gold [90,110), chunks [0,100) and [100,200): both are retrieved, ceiling(spanP) = 20/200 = 0.1."),
    _needed("needR", need_recall, "Recall of needed items, each by its best alternative.", cite="focuseval",
        formula=r"needR = \frac{1}{|N|} \sum_{n \in N} \max \{|U \cap a| / |a| : a \in n\}",
        example="Two items; half of the first's only span is returned, and one of the second's two alternatives: "
        "0.75."),
    _found("S-recall", subtopic_recall, "Share of the needed items that are found (subtopic recall).",
        cite="zhai2003beyond", aliases=("SRecall",),
        formula=r"S\text{-}recall = \frac{1}{|N|} \sum_{n \in N} [\max \{|U \cap a| / |a| : a \in n\} \ge share]",
        example="Two items; half of the first's only span is returned, and one of the second's two alternatives: 0.5."),
    _found("all-recall", all_recall, "Whether all needed items are found, as a multi-hop question asks.",
        cite="gutierrez2024hipporag", aliases=("AllRecall", "AllFound"),
        formula=r"all\text{-}recall = [S\text{-}recall = 1]", example="One of two needed items is found: 0; both: 1."),
)  # fmt: skip
