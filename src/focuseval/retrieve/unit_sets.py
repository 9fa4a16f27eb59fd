"""What may be returned: elements, documents, or passages; how long each is, and how often terms occur in it.

Units are numbered: elements (and documents, by their roots) as in the collection, passages through all documents. Terms
are counted exactly, whatever nests in a unit: occurrences are counted at the deepest elements around them, and a unit's
count is a difference of two running sums, as its descendants stand next to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from focuseval.collection.forest import spread
from focuseval.errors import CollectionError, did_you_mean
from focuseval.lazy import cached_property
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.retrieve.query import Occurrences
    from focuseval.retrieve.settings import RetrievalSettings
    from focuseval.retrieve.store import IndexedWords

    Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counted:
    """Units that hold a term of a query, ascending, and how often each holds each term."""

    units: Integers
    counts: list[Integers]


@dataclass(frozen=True)
class Size:
    """How many units there are, and their mean length."""

    number: int
    average: float


@dataclass(frozen=True, eq=False)
class ElementUnits:
    """Elements of any kind; documents are their roots."""

    words: IndexedWords
    tags: tuple[str, ...] = ()
    min_words: int = 1
    roots_only: bool = False

    @property
    def length(self) -> NDArray[np.int32]:
        """Kept words of every element."""
        return self.words.lengths

    @property
    def depth(self) -> NDArray[np.integer] | None:
        """1 for a root."""
        depth: NDArray[np.int16] = self.words["depth"]
        return depth

    @cached_property
    def returnable(self) -> NDArray[np.bool_]:
        """Whether an element has a wanted tag and words enough."""
        enough = self.length >= max(self.min_words, 1)
        if self.roots_only:
            enough &= self.words["depth"] == 1
        if self.tags:
            enough &= self._wanted
        return np.asarray(enough)

    @cached_property
    def _wanted(self) -> NDArray[np.bool_]:
        known = self.words.tags
        for tag in self.tags:
            if tag not in known:
                remedy = did_you_mean(tag, known, "'focuseval stats' lists the tags of an index")
                what = f"expected a tag of the collection, found {tag!r}"
                raise CollectionError(what, at=self.words.index.name, remedy=remedy)
        return np.asarray(np.array([tag in self.tags for tag in known])[self.words["tag"]])

    def count(self, terms: Sequence[Occurrences]) -> Counted:
        """Return the elements that hold a term, and how often."""
        leaves = [smallest_around(self.words, term) for term in terms]
        units = with_ancestors(leaves, self.words["parent"])
        ends = np.searchsorted(self.words["first"][units], self.words["last"][units])
        counts = []
        for leaf in leaves:
            direct = np.bincount(np.searchsorted(units, leaf), minlength=len(units))
            before = np.append(0, np.cumsum(direct))
            counts.append(before[ends] - before[:-1])
        return Counted(units, counts)

    def document(self, units: Integers) -> Integers:
        """Return the rows of the elements' documents."""
        return np.searchsorted(self.words.roots, units, "right") - 1

    def spans(self, units: Integers) -> tuple[Integers, Integers]:
        """Return the elements' words: they nest as their characters do, and every unit has some."""
        return self.words["first"][units].astype(np.int64), self.words["last"][units].astype(np.int64)


def smallest_around(words: IndexedWords, term: Occurrences) -> NDArray[np.int32]:
    """Return the deepest element around every occurrence of a term; a phrase across documents has none."""
    element = np.asarray(words["element"][term.first])
    if term.size == 1:
        return element
    end = term.first + np.int32(term.size)
    while (short := np.flatnonzero(words["last"][element] < end)).size:
        element[short] = words["parent"][element[short]]
        inside = element >= 0
        element, end = element[inside], end[inside]
    return element


def with_ancestors(leaves: Sequence[NDArray[np.int32]], parent: NDArray[np.int32]) -> Integers:
    """Return elements and all that contain them, ascending.

    >>> with_ancestors([np.array([3], np.int32)], np.array([-1, 0, 0, 2]))
    array([0, 2, 3])
    """
    held = np.zeros(len(parent), np.bool_)
    for leaf in leaves:
        at = leaf
        while len(at):
            held[at] = True
            at = parent[at[np.append(True, at[1:] != at[:-1])]]
            at = at[at >= 0]
            at = at[~held[at]]
    return np.flatnonzero(held)


@dataclass(frozen=True, eq=False)
class PassageUnits:
    """Windows of so many words, every so many words; the last one of a document is the first that reaches its end."""

    words: IndexedWords
    size: int
    step: int
    depth: None = None

    @cached_property
    def bounds(self) -> Integers:
        """The first passage of every document, and the end of the last."""
        total = np.diff(self.words["word_bounds"])
        windows = np.where(total > 0, 1 - (-np.maximum(total - self.size, 0) // self.step), 0)
        return np.append(0, np.cumsum(windows))

    @cached_property
    def _words(self) -> tuple[Integers, Integers]:
        """The first word of every passage in the numbering of all, and past its last."""
        document = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        low, high = self.words["word_bounds"][document], self.words["word_bounds"][document + 1]
        begin = low + (np.arange(len(document)) - self.bounds[document]) * self.step
        return np.minimum(begin, high), np.minimum(begin + self.size, high)

    @cached_property
    def length(self) -> Integers:
        """Kept words of every passage."""
        begin, end = (np.searchsorted(self.words["word"], bound.astype(np.int32)) for bound in self._words)
        return end - begin

    @cached_property
    def returnable(self) -> NDArray[np.bool_]:
        """Whether a passage holds a word that is kept."""
        return self.length > 0

    def count(self, terms: Sequence[Occurrences]) -> Counted:
        """Return the passages that hold a term, and how often."""
        held = [self._around(term) for term in terms]
        units = np.unique(np.concatenate([np.zeros(0, np.int64), *held]))
        return Counted(units, [np.bincount(np.searchsorted(units, unit), minlength=len(units)) for unit in held])

    def _around(self, term: Occurrences) -> Integers:
        """Return all passages around every occurrence of a term, ascending for each."""
        first, last = self.words["word"][term.first], self.words["word"][self._last(term)]
        document = np.searchsorted(self.words["word_bounds"], first, "right") - 1
        base = self.words["word_bounds"][document]
        lowest = np.maximum(-((self.size - 1 - (last - base)) // self.step), 0)
        highest = np.minimum((first - base) // self.step, np.diff(self.bounds)[document] - 1)
        highest = np.where(last < self.words["word_bounds"][document + 1], highest, -1)
        many = np.maximum(highest - lowest + 1, 0)
        return spread(self.bounds[document] + lowest, many)

    def _last(self, term: Occurrences) -> Integers:
        """Return the last kept word of every occurrence."""
        last: Integers = np.minimum(term.first.astype(np.int64) + term.size, len(self.words["word"])) - 1
        return last

    def document(self, units: Integers) -> Integers:
        """Return the rows of the passages' documents."""
        return np.searchsorted(self.bounds, units, "right") - 1

    def spans(self, units: Integers) -> tuple[Integers, Integers]:
        """Return the code points from a passage's first word to its last."""
        begin, end = (bound[units] for bound in self._words)
        return self.words["start"][begin].astype(np.int64), self.words["end"][end - 1].astype(np.int64)


UnitSet: TypeAlias = ElementUnits | PassageUnits
"""Units of one kind."""


def unit_set(words: IndexedWords, settings: RetrievalSettings) -> UnitSet:
    """Return the units that settings ask for."""
    if settings.kind == "passage":
        return PassageUnits(words, *settings.window)
    if settings.kind == "document":
        return ElementUnits(words, roots_only=True)
    return ElementUnits(words, settings.tags, settings.min_words or 1)


def size_of(units: UnitSet) -> Size:
    """Return how many units may be returned, and their mean length."""
    lengths = units.length[units.returnable]
    return Size(len(lengths), float(lengths.mean()) if len(lengths) else 1.0)
