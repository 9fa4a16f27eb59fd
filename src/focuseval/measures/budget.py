"""A budget of text: which results it pays for, and where it cuts the last one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.boundaries import between_blanks, boundaries, texts_of
from focuseval.data.spans import unseen
from focuseval.errors import MissingDataError
from focuseval.measures.topicwise import running_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.boundaries import Boundaries
    from focuseval.measures.matching import Matched
    from focuseval.measures.measure import Budget

    Integers = NDArray[np.int64]


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


def paid_ends(m: Matched, budget: Budget) -> tuple[NDArray[np.bool_], Integers, Integers]:
    """Return which results a budget pays for, the rows of those that it cuts, and where every result then ends."""
    cost = m.size if budget.unit == "characters" else pieces(m, budget.unit)
    before = running_count(cost, m.bounds) - cost
    left = budget.amount - before
    paid = left > 0
    cut = np.flatnonzero(paid & (cost >= left))
    end = m.end.copy()
    if len(cut):
        paid_for = left[cut]
        end[cut] = m.start[cut] + paid_for if budget.unit == "characters" else piece_ends(m, budget.unit, cut, paid_for)
    return paid, cut, end


def restricted(m: Matched, most: int) -> Matched:
    """Return the match with every article's results cut after its first `most` characters, in rank order."""
    order = np.argsort(m.article, kind="stable")
    group, size = m.article[order], m.size[order]
    edges = np.r_[0, np.flatnonzero(np.diff(group)) + 1, len(group)]
    left = np.empty_like(size)
    left[order] = np.clip(most - (running_count(size, edges) - size), 0, None)
    return m.with_spans(replace(m.places, end=np.minimum(m.end, m.start + left)))


def pieces(m: Matched, unit: str) -> Integers:
    """Return the number of words or tokens in each result, cut ones included.

    Words are runs of characters that are not white space; tokens are those of the whole document.
    """
    found, document = _pieces_of(m, unit)
    return found.count(document, m.start, m.end)


def piece_ends(m: Matched, unit: str, rows: Integers, left: Integers) -> Integers:
    """Return where the last word or token ends that the budget pays for, in each of the given results."""
    found, document = _pieces_of(m, unit)
    first = found.upto_end(document[rows], m.start[rows])
    return np.asarray(np.minimum(found.end[first + left - 1], m.end[rows]))


def _pieces_of(m: Matched, unit: str) -> tuple[Boundaries, Integers]:
    """Return the words or tokens of every document that a result is in, each read once, and which is each result's."""
    if unit not in m.made:
        index = m.prepared.index
        if index is None:
            raise MissingDataError(
                f"a budget of {unit} needs the text of the documents; give it with --docs or --index"
            )
        if unit == "tokens" and m.tokenizer is None:
            raise MissingDataError("a budget of tokens needs a tokenizer; give it with --tokenizer")
        cut = between_blanks if m.tokenizer is None or unit == "words" else m.tokenizer.spans
        kept, code = np.unique(m.document_row, return_inverse=True)
        m.made[unit] = boundaries(texts_of(index, kept), cut), code
    made: tuple[Boundaries, Integers] = m.made[unit]
    return made
