"""The elements of some documents as a tree: which have a name, which are reached from which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.block import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.data.topics.syntax import Step, Value
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
