"""Structured titles (NEXI): scores by the words of ``about``, in the elements that the query speaks of.

::

    //article[about(.//abs, trust)]//sec[about(., key) and .//yr > 2000]

``about(P, words)`` is the largest BM25 of the elements that P reaches, of any length, with the units' mean length; 0
if it reaches none. ``and`` adds, ``or`` takes the larger, a comparison adds 0; steps add, an ancestor step takes its
best matching ancestor. What must match is one of four interpretations (Lalmas & Tombros 2007, section 2.2), the
target's letter first, then that of the support: strict (SS), the target's path must match and all conditions must hold;
SV, its path must match, and conditions only add to the score; VS, any element inside what the other steps reach, under
all conditions; vague (VV), any element, and the structure only adds to the score.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import eq, ge, gt, le, lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.data.spans import spread
from focuseval.data.topics import syntax
from focuseval.retrieval.terms import weights
from focuseval.retrieval.units import DECIMALS, Integers, Numbers, UnitRanker

Flags = NDArray[np.bool_]
Held = tuple[Numbers, Flags]  # what a clause gives for some elements: its score, and whether it holds

_NOTHING = -np.inf


def impossible(query: syntax.Query, tags: Collection[str], cas: str) -> str | None:
    """Return the step that must match, and that no element of a collection can match; None where there is none."""
    known, reading = {*tags, "*"}, "VV" if cas == "ignore" else syntax.parse_reading(cas)
    steps = {"VV": (), "VS": query.steps[:-1]}.get(reading, query.steps)
    return next((f"{step.axis}{'|'.join(step.names)}" for step in steps if known.isdisjoint(step.names)), None)


def score_structured(ranker: UnitRanker, query: syntax.Query) -> tuple[Integers, Numbers]:
    """Return the elements that a structured query finds, ascending, and their scores, rounded."""
    clauses = (clause for step in query.steps for predicate in step.predicates for clause in syntax.leaves(predicate))
    terms = [term for clause in clauses if isinstance(clause, syntax.About) for term in clause.terms]
    found = ranker.find(weights(terms, ranker.words.words_of_language), ranker.every)
    elements, target, tags = found.units, query.steps[-1].names, ranker.settings.tags
    reading = syntax.parse_reading(ranker.settings.cas)
    steps = (*query.steps[:-1], replace(query.steps[-1], axis="//", names=("*",))) if reading == "VS" else query.steps
    may = ranker.units.returnable[elements]
    if reading[0] == "S" and "*" not in target:  # a target that is named may be short
        allowed = [name in target and (not tags or name in tags) for name in ranker.words.tags]
        may = np.array(allowed, np.bool_)[ranker.words["tag"][elements]]
    kept = np.flatnonzero(found.wanted & may)
    reader = _Reader(ranker, elements)
    chain, at = reader.chain(steps), np.searchsorted(reader.element, elements[kept])
    reached = np.isfinite(chain[at])
    own, of_document = found.own[kept], found.of_document[kept]
    score = np.where(reached, ranker.mixed(np.where(reached, chain[at], 0.0), of_document), 0.0)
    if reading[1] == "V":
        score = np.round(ranker.mixed(own, of_document) + score, DECIMALS)
        reached = np.isfinite(reader.chain(tuple(replace(step, predicates=()) for step in query.steps))[at])
    if reading != "VV":
        kept, score = kept[reached], score[reached]
    above = score > 0
    return elements[kept[above]], score[above]


class _Reader:
    """A query being read on all elements of the documents that hold one of its words, in document order."""

    def __init__(self, ranker: UnitRanker, holding: Integers) -> None:
        words, bounds = ranker.words, ranker.words.index.element_bounds
        documents = np.unique(ranker.every.document(holding))
        sizes = np.diff(bounds)[documents]
        self.ranker, self.document = ranker, np.repeat(documents, sizes)
        self.element = spread(bounds[documents], sizes)  # numbers in the whole collection, ascending
        parent = words["parent"][self.element].astype(np.int64)
        shift = np.repeat(bounds[documents] - (np.cumsum(sizes) - sizes), sizes)
        self.parent = np.where(parent < 0, -1, parent - shift)  # row here, −1 for a root

    def named(self, names: Sequence[str]) -> Flags:
        """Return which elements have one of the names; ``*`` is any element, an attribute is none."""
        words = self.ranker.words
        wanted = np.array(["*" in names or tag in names for tag in words.tags], np.bool_)
        return np.asarray(wanted[words["tag"][self.element]])

    def chain(self, steps: tuple[syntax.Step, ...]) -> Numbers:
        """Return for every element the best sum over all ways to reach it, −∞ where there is none."""
        best, parent = np.full(len(self.element), _NOTHING), self.parent
        for number, step in enumerate(steps):
            if number:  # what the parent has, or the largest of the ancestors
                above = np.append(best, _NOTHING)
                before, at = above[parent], parent
                while step.axis == "//" and (at >= 0).any():
                    at = np.append(parent, -1)[at]
                    before = np.maximum(before, above[at])
            else:  # the first step reaches roots, or all
                before = np.where((parent < 0) | (step.axis == "//"), 0.0, _NOTHING)
            rows = np.flatnonzero(self.named(step.names) & np.isfinite(before))
            best = np.full(len(parent), _NOTHING)
            score, holds = self._all(step.predicates, rows)
            best[rows] = np.where(holds, before[rows] + score, _NOTHING)
        return best

    def _all(self, clauses: tuple[syntax.Clause, ...], rows: Integers) -> Held:
        """Return the sum of clauses that must all hold."""
        total, holds = np.zeros(len(rows)), np.ones(len(rows), np.bool_)
        for clause in clauses:
            score, true = self._clause(clause, rows)
            total, holds = total + score, holds & true
        return total, holds

    def _clause(self, clause: syntax.Clause, rows: Integers) -> Held:
        if isinstance(clause, syntax.Both):
            return self._all(clause.clauses, rows)
        if isinstance(clause, syntax.Either):
            scores, holds = zip(*(self._clause(part, rows) for part in clause.clauses), strict=True)
            return np.maximum.reduce(scores), np.logical_or.reduce(holds)
        if isinstance(clause, syntax.Comparison):
            steps = clause.path.steps  # has an element that they reach a content that compares as asked?
            last = np.flatnonzero(self.named(steps[-1].names)) if steps else rows
            true = self._compared(last, clause.operator, clause.value)
            return np.zeros(len(rows)), self._reached(steps, true)[rows] > 0
        # ``about``: the best score of the elements that the path reaches, and whether one holds a wanted word
        found = self.ranker.find(weights(clause.terms, self.ranker.words.words_of_language), self.ranker.every)
        here = np.flatnonzero(np.isin(found.units, self.element, assume_unique=True))
        at = np.searchsorted(self.element, found.units[here])
        score, held = np.zeros(len(self.element)), np.zeros(len(self.element))
        score[at], held[at] = found.own[here], found.wanted[here]
        best, reached = (self._reached(clause.path.steps, value)[rows] for value in (score, held))
        return np.where(np.isfinite(best), best, 0.0), reached > 0

    def _reached(self, steps: Sequence[syntax.Step], value: Numbers) -> Numbers:
        """Return for every element the largest value of those that a path reaches from it, −∞ where there is none."""
        for step in reversed(steps):
            rows = np.flatnonzero(self.named(step.names) & np.isfinite(value))
            given, at = value[rows], self.parent[rows]
            value = np.full(len(self.element), _NOTHING)
            while (inside := at >= 0).any():
                given, at = given[inside], at[inside]
                np.maximum.at(value, at, given)
                if step.axis == "/":
                    break
                at = self.parent[at]
        return value

    def _compared(self, rows: Integers, operator: str, value: syntax.Value) -> Numbers:
        """Return 1 for elements, of some rows, whose content (a number, or stripped) compares as asked, else 0."""
        true, index = np.zeros(len(self.element)), self.ranker.words.index
        holds: Callable[[Any, Any], bool] = {"=": eq, "<": lt, ">": gt, "<=": le, ">=": ge}[operator]
        right = float(value.text) if value.number else value.text.strip()
        for document in np.unique(self.document[rows]).tolist():
            mine = rows[self.document[rows] == document]
            text, table = index.text(document), index.elements(document)
            inside = self.element[mine] - index.element_bounds[document]
            pairs = zip(mine.tolist(), table.start[inside].tolist(), table.end[inside].tolist(), strict=True)
            for row, start, end in pairs:
                left = text[start:end].strip()
                with suppress(ValueError):  # a content that is no number
                    true[row] = holds(float(left) if value.number else left, right)
        return true
