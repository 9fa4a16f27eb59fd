"""Structured titles (NEXI): scores by the words of ``about``, in the elements that the query speaks of.

::

    //article[about(.//abs, trust)]//sec[about(., key) and .//yr > 2000]

``about(P, words)`` is the largest BM25 of the elements that P reaches, of any length, with the units' mean length; 0
if it reaches none. ``and`` adds, ``or`` takes the larger, a comparison adds 0; steps add, an ancestor step takes its
best matching ancestor. Read strictly, the target's path must match and all conditions must hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.block import spread
from focuseval.data.topics.syntax import About, Both, Comparison, Either, leaves
from focuseval.retrieval.query import weights
from focuseval.retrieval.score import DECIMALS, wanted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from focuseval.data.topics.syntax import Clause, Query, Step, Value
    from focuseval.retrieval.score import Matches, UnitRanker
    from focuseval.retrieval.store import IndexedWords

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.float64]
    Flags = NDArray[np.bool_]


_NOTHING = -np.inf


@dataclass(frozen=True, eq=False)
class ElementTree:
    """All elements of the documents around some elements, in document order."""

    words: IndexedWords
    document: Integers
    """Rows of the documents."""
    element: Integers
    """Numbers in the whole collection, ascending."""
    parent: Integers
    """Row in this tree, −1 for a root."""

    @classmethod
    def around(cls, words: IndexedWords, elements: Integers) -> ElementTree:
        """Return the tree of the documents of some elements, given in ascending order."""
        documents = np.unique(np.searchsorted(words.roots, elements, "right") - 1)
        bounds = words.index.element_bounds
        sizes = np.diff(bounds)[documents]
        every = spread(bounds[documents], sizes)
        shift = np.repeat(bounds[documents] - (np.cumsum(sizes) - sizes), sizes)
        parent = words["parent"][every].astype(np.int64)
        return cls(words, np.repeat(documents, sizes), every, np.where(parent < 0, -1, parent - shift))

    def __len__(self) -> int:
        """Return the number of elements."""
        return len(self.element)

    def rows(self, elements: Integers) -> Integers:
        """Return the rows of elements that are in the tree."""
        return np.searchsorted(self.element, elements)

    def holds(self, elements: Integers) -> Flags:
        """Return which elements are in the tree."""
        return np.isin(elements, self.element, assume_unique=True)

    def among(self, rows: Integers) -> Flags:
        """Return a flag for every element, set for some rows."""
        flags = np.zeros(len(self), np.bool_)
        flags[rows] = True
        return flags

    def named(self, names: Sequence[str]) -> Flags:
        """Return which elements have one of the names; ``*`` is any element, an attribute is none."""
        if "*" in names:
            return np.ones(len(self), np.bool_)
        wanted = np.array([tag in names for tag in self.words.tags], np.bool_)
        return np.asarray(wanted[self.words["tag"][self.element]])

    def start(self, axis: str) -> Numbers:
        """Return 0 for the elements that a query's first step may reach: roots, or all."""
        return np.zeros(len(self)) if axis == "//" else np.where(self.parent < 0, 0.0, _NOTHING)

    def from_above(self, value: Numbers, axis: str) -> Numbers:
        """Return for every element the value of its parent, or the largest of its ancestors."""
        above = np.append(value, _NOTHING)
        found = above[self.parent]
        if axis == "/":
            return found
        at = self.parent
        while (at >= 0).any():
            at = np.append(self.parent, -1)[at]
            found = np.maximum(found, above[at])
        return found

    def reached(self, steps: Sequence[Step], value: Numbers) -> Numbers:
        """Return for every element the largest value of those that a path reaches from it, −∞ where there is none."""
        for step in reversed(steps):
            rows = np.flatnonzero(self.named(step.names) & np.isfinite(value))
            given, at = value[rows], self.parent[rows]
            value = np.full(len(self), _NOTHING)
            while (inside := at >= 0).any():
                given, at = given[inside], at[inside]
                np.maximum.at(value, at, given)
                if step.axis == "/":
                    break
                at = self.parent[at]
        return value

    def texts(self, rows: Integers) -> list[str]:
        """Return the contents of elements, white space at both ends taken away."""
        index = self.words.index
        found: list[str] = []
        for document in np.unique(self.document[rows]).tolist():
            mine = rows[self.document[rows] == document]
            text, table = index.text(document), index.elements(document)
            inside = self.element[mine] - index.element_bounds[document]
            pairs = zip(table.start[inside].tolist(), table.end[inside].tolist(), strict=True)
            found += [text[start:end].strip() for start, end in pairs]
        return found


def compare(tree: ElementTree, rows: Integers, operator: str, value: Value) -> Flags:
    """Return which elements, among some rows, have a content that compares with a value as asked.

    A number is compared with contents that are numbers; a string with contents as they are, white space at both ends
    taken away, in the order of their code points.
    """
    true = np.zeros(len(tree), np.bool_)
    right = float(value.text) if value.number else value.text.strip()
    for row, text in zip(rows.tolist(), tree.texts(rows), strict=True):
        left = _number(text) if value.number else text
        if left is not None:
            true[row] = _OPERATORS[operator](left, right)
    return true


_OPERATORS = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(frozen=True, eq=False)
class Held:
    """What a clause gives for some elements: its score, and whether it holds."""

    score: Numbers
    holds: Flags


def about_clauses(query: Query) -> list[About]:
    """Return the ``about`` clauses of a query, left to right."""
    found = (clause for step in query.steps for predicate in step.predicates for clause in leaves(predicate))
    return [clause for clause in found if isinstance(clause, About)]


def impossible(query: Query, tags: Collection[str]) -> str | None:
    """Return the step of a query that no element of a collection can match, None where there is none."""
    known = {*tags, "*"}
    return next((f"{step.axis}{'|'.join(step.names)}" for step in query.steps if known.isdisjoint(step.names)), None)


def score_structured(ranker: UnitRanker, query: Query) -> tuple[Integers, Numbers]:
    """Return the elements that a structured query finds, ascending, and their scores, rounded."""
    language = ranker.words.words_of_language
    terms = [term for clause in about_clauses(query) for term in clause.terms]
    found = ranker.match(weights(terms, language))
    reader = _Reader(ranker, found, ElementTree.around(ranker.words, found.counted.units))
    holds = wanted(found.terms, found.counted)
    strict = ranker.settings.cas == "strict"
    fits = holds & reader.may_be_target(query.steps[-1], strict=strict)
    kept = np.flatnonzero(fits)
    chain = reader.chain(query.steps)
    at = reader.tree.rows(found.counted.units[kept])
    reached = np.isfinite(chain[at])
    score = np.where(reached, ranker.mixed(found, np.where(reached, chain[at], 0.0), kept), 0.0)
    if strict:
        kept, score = kept[reached], score[reached]
    else:
        score = np.round(ranker.mixed(found, ranker.of_units(found, kept), kept) + score, DECIMALS)
    above = score > 0
    return found.counted.units[kept[above]], score[above]


@dataclass(frozen=True, eq=False)
class _Reader:
    """A query being read: the elements of all documents that hold one of its words."""

    ranker: UnitRanker
    found: Matches
    tree: ElementTree

    def may_be_target(self, target: Step, *, strict: bool) -> Flags:
        """Return which of the elements found may be returned; a target that is named may be short."""
        units = self.ranker.units
        elements = self.found.counted.units
        may = units.returnable[elements]
        if not strict or "*" in target.names:
            return np.asarray(may)
        tags = self.ranker.settings.tags
        allowed = [name in target.names and (not tags or name in tags) for name in self.ranker.words.tags]
        return np.asarray(np.array(allowed, np.bool_)[self.ranker.words["tag"][elements]])

    def chain(self, steps: tuple[Step, ...]) -> Numbers:
        """Return for every element the best sum over all ways to reach it, −∞ where there is none."""
        best = np.full(len(self.tree), -np.inf)
        for number, step in enumerate(steps):
            here = self.tree.named(step.names)
            before = self.tree.start(step.axis) if not number else self.tree.from_above(best, step.axis)
            here &= np.isfinite(before)
            best = np.full(len(self.tree), -np.inf)
            rows = np.flatnonzero(here)
            held = self._all(step.predicates, rows)
            best[rows] = np.where(held.holds, before[rows] + held.score, -np.inf)
        return best

    def _all(self, clauses: tuple[Clause, ...], rows: Integers) -> Held:
        """Return the sum of clauses that must all hold."""
        total, holds = np.zeros(len(rows)), np.ones(len(rows), np.bool_)
        for held in self._each(clauses, rows):
            total, holds = total + held.score, holds & held.holds
        return Held(total, holds)

    def _each(self, clauses: tuple[Clause, ...], rows: Integers) -> Iterator[Held]:
        return (self._clause(clause, rows) for clause in clauses)

    def _clause(self, clause: Clause, rows: Integers) -> Held:
        if isinstance(clause, Both):
            return self._all(clause.clauses, rows)
        if isinstance(clause, Either):
            parts = list(self._each(clause.clauses, rows))
            score, holds = parts[0].score, parts[0].holds
            for part in parts[1:]:
                score, holds = np.maximum(score, part.score), holds | part.holds
            return Held(score, holds)
        if isinstance(clause, Comparison):
            return self._comparison(clause, rows)
        return self._about(clause, rows)

    def _about(self, clause: About, rows: Integers) -> Held:
        """Return the best score of the elements that the path reaches, and whether one holds a wanted word."""
        found = self.ranker.match(weights(clause.terms, self.ranker.words.words_of_language))
        here = np.flatnonzero(self.tree.holds(found.counted.units))
        at = self.tree.rows(found.counted.units[here])
        score, held = np.zeros(len(self.tree)), np.zeros(len(self.tree), np.bool_)
        score[at] = self.ranker.of_units(found, here)
        held[at] = wanted(found.terms, found.counted)[here]
        best = self.tree.reached(clause.path.steps, score)[rows]
        holds = self.tree.reached(clause.path.steps, np.where(held, 1.0, 0.0))[rows]
        return Held(np.where(np.isfinite(best), best, 0.0), holds > 0)

    def _comparison(self, clause: Comparison, rows: Integers) -> Held:
        """Return whether an element that the path reaches has a content that compares as asked."""
        steps = clause.path.steps
        last = self.tree.named(steps[-1].names) if steps else self.tree.among(rows)
        true = compare(self.tree, np.flatnonzero(last), clause.operator, clause.value)
        holds = self.tree.reached(steps, np.where(true, 1.0, 0.0))[rows]
        return Held(np.zeros(len(rows)), holds > 0)
