"""A budget of text: which results it pays for, and where it cuts the last one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.measures.topicwise import running_count
from focuseval.spans import unseen

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    from focuseval.match import Matched
    from focuseval.measures.measure import Budget

    Integers = NDArray[np.int64]


def budgeted(m: Matched, budget: Budget) -> tuple[Integers, Integers]:
    """Return the new characters, and the new highlighted ones, that each result shows within the budget.

    Every returned character counts against the budget, repeats included; the last result is cut where it ends. A budget
    of words ends with its last word: blanks behind it are not read, so that a chunk cut there shows no more.
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
    cost = m.size if budget.unit == "characters" else words(m)
    before = running_count(cost, m.bounds) - cost
    left = budget.amount - before
    paid = left > 0
    cut = np.flatnonzero(paid & (cost >= left))
    end = m.end.copy()
    if len(cut):
        end[cut] = m.start[cut] + left[cut] if budget.unit == "characters" else word_ends(m, cut, left[cut])
    return paid, cut, end


def restricted(m: Matched, most: int) -> Matched:
    """Return the match with every article's results cut after its first `most` characters, in rank order."""
    order = np.argsort(m.article, kind="stable")
    group, size = m.article[order], m.size[order]
    edges = np.r_[0, np.flatnonzero(np.diff(group)) + 1, len(group)]
    left = np.empty_like(size)
    left[order] = np.clip(most - (running_count(size, edges) - size), 0, None)
    return m.with_spans(replace(m.places, end=np.minimum(m.end, m.start + left)))


def words(m: Matched) -> Integers:
    """Return the number of words in each result: runs of characters that are not white space, cut ones included."""
    bag = _words_of(m)
    return np.where(m.size > 0, bag.upto_start(m.end) - bag.upto_end(m.start), 0)  # an empty result cuts no word


def word_ends(m: Matched, rows: Integers, left: Integers) -> Integers:
    """Return where the last word ends that the budget pays for, in each of the given results."""
    bag = _words_of(m)
    first = bag.upto_end(m.start)[rows]
    return np.asarray(np.minimum(bag.ends[first + left - 1], m.end[rows]))


class Words:
    """Where words begin and end in the document of every result; each document is read once."""

    def __init__(self, m: Matched) -> None:
        index = m.prepared.index
        if index is None:
            raise MissingDataError("a budget of words needs the text of the documents; give it with --docs or --index")
        kept, code = np.unique(m.document_row, return_inverse=True)
        found = [boundaries(index.text(int(r)) if r >= 0 else "") for r in kept]
        number = np.array([len(starts) for starts, _ in found], np.int64)
        self._code = code
        self._group = np.repeat(np.arange(len(kept)), number)
        self.starts = np.concatenate([np.zeros(0, np.int64), *(starts for starts, _ in found)])
        self.ends = np.concatenate([np.zeros(0, np.int64), *(ends for _, ends in found)])

    def upto_start(self, position: Integers) -> Integers:
        """Return how many words begin before a position in each result's document, and in those before it."""
        return self._search(self.starts, position, "left")

    def upto_end(self, position: Integers) -> Integers:
        """Return how many words end at or before a position in each result's document, and in those before it."""
        return self._search(self.ends, position, "right")

    def _search(self, places: Integers, position: Integers, side: Literal["left", "right"]) -> Integers:
        shift = np.int64(32)
        keys = (self._group << shift) | places
        return np.searchsorted(keys, (self._code << shift) | position, side)


def _words_of(m: Matched) -> Words:
    made: Words | None = m.made.get("words")
    if made is None:
        made = m.made["words"] = Words(m)
    return made


def boundaries(text: str) -> tuple[Integers, Integers]:
    """Return where the words of a text begin and end.

    >>> boundaries("to be  or")
    (array([0, 3, 7]), array([2, 5, 9]))
    """
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    blank = np.isin(codes, _BLANKS)
    edges = np.diff(np.r_[True, blank, True].astype(np.int8))
    return np.flatnonzero(edges == -1), np.flatnonzero(edges == 1)


_BLANKS = np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)
"""White space as `str.split` has it."""
