"""What may be returned: elements, documents, passages or chunks; how long each is, and how often terms occur in it.

Units are numbered: elements (and documents, by their roots) as in the collection, spans through all documents. Terms
are counted exactly, whatever nests in a unit: occurrences are counted at the deepest elements around them, and a unit's
count is a difference of two running sums, as its descendants stand next to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from focuseval.collection.block import spread
from focuseval.collection.boundaries import Boundaries, windows
from focuseval.collection.chunks import as_chunks, cuts
from focuseval.engine.lazy import cached_property
from focuseval.errors import CollectionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.retrieval.query import Occurrences
    from focuseval.retrieval.settings import RetrievalSettings
    from focuseval.retrieval.store import IndexedWords

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
class SpanUnits:
    """Spans of documents, by document and start: windows of words, or chunks of any kind."""

    words: IndexedWords
    bounds: Integers
    """The first unit of every document, and the end of the last."""
    first: Integers
    """The first word of every unit in the numbering of all; a word that an edge cuts in two belongs to no unit."""
    last: Integers
    """Past the last word."""
    edges: tuple[Integers, Integers] | None = None
    """Code points, where they are not those of the first and the last word."""
    depth: None = None

    @cached_property
    def length(self) -> Integers:
        """Kept words of every unit."""
        begin, end = (np.searchsorted(self.words["word"], bound.astype(np.int32)) for bound in (self.first, self.last))
        return end - begin

    @cached_property
    def returnable(self) -> NDArray[np.bool_]:
        """Whether a unit holds a word that is kept."""
        return self.length > 0

    @cached_property
    def _reach(self) -> Integers:
        """Past the last word of this unit and of all before it."""
        return np.maximum.accumulate(self.last)

    @cached_property
    def _nested(self) -> bool:
        """Whether a unit ends before one that begins earlier."""
        return not np.array_equal(self._reach, self.last)

    def count(self, terms: Sequence[Occurrences]) -> Counted:
        """Return the units that hold a term, and how often."""
        held = [self._around(term) for term in terms]
        units = np.unique(np.concatenate([np.zeros(0, np.int64), *held]))
        return Counted(units, [np.bincount(np.searchsorted(units, unit), minlength=len(units)) for unit in held])

    def _around(self, term: Occurrences) -> Integers:
        """Return all units around every occurrence of a term, ascending for each."""
        first, last = self.words["word"][term.first], self.words["word"][self._last(term)]
        lowest = np.searchsorted(self._reach, last, "right")
        many = np.maximum(np.searchsorted(self.first, first, "right") - lowest, 0)
        units = spread(lowest, many)
        return units[self.last[units] > np.repeat(last, many)] if self._nested else units

    def _last(self, term: Occurrences) -> Integers:
        """Return the last kept word of every occurrence."""
        last: Integers = np.minimum(term.first.astype(np.int64) + term.size, len(self.words["word"])) - 1
        return last

    def document(self, units: Integers) -> Integers:
        """Return the rows of the units' documents."""
        return np.searchsorted(self.bounds, units, "right") - 1

    def spans(self, units: Integers) -> tuple[Integers, Integers]:
        """Return the code points of units."""
        if self.edges is not None:
            return self.edges[0][units], self.edges[1][units]
        begin, end = self.first[units], self.last[units]
        return self.words["start"][begin].astype(np.int64), self.words["end"][end - 1].astype(np.int64)


def passage_units(words: IndexedWords, size: int, step: int) -> SpanUnits:
    """Return windows of so many words, every so many words."""
    word_bounds = words["word_bounds"]
    document, first, last = windows(np.diff(word_bounds), size, step)
    base = word_bounds[document]
    return SpanUnits(words, _bounds(document, word_bounds), base + first, base + last)


def chunk_units(words: IndexedWords, chunks: Chunks) -> SpanUnits:
    """Return chunks as units, by document, start and end, each once."""
    every = np.unique(np.stack([chunks.rows(words.index), chunks.start, chunks.end]), axis=1)
    document, start, end = every[:, every[2] > every[1]]
    written = Boundaries(words["start"], words["end"], words["word_bounds"])
    first, last = written.upto_start(document, start), written.upto_end(document, end)
    return SpanUnits(words, _bounds(document, words["word_bounds"]), first, np.maximum(first, last), (start, end))


def _bounds(document: Integers, word_bounds: Integers) -> Integers:
    return np.searchsorted(document, np.arange(len(word_bounds)))


UnitSet: TypeAlias = ElementUnits | SpanUnits
"""Units of one kind."""


def unit_set(words: IndexedWords, settings: RetrievalSettings, chunks: Chunks | None = None) -> UnitSet:
    """Return the units that settings ask for; given chunks are the units."""
    if chunks is not None:
        return chunk_units(words, chunks)
    if settings.kind == "document":
        return ElementUnits(words, roots_only=True)
    spec = settings.spec
    if spec is None:
        return ElementUnits(words, settings.tags, settings.min_words or 1)
    if spec.kind == "words":
        return passage_units(words, spec.size, spec.step)
    return chunk_units(words, as_chunks(words.index, cuts(words.index, spec), str(spec)))


def size_of(units: UnitSet) -> Size:
    """Return how many units may be returned, and their mean length."""
    lengths = units.length[units.returnable]
    return Size(len(lengths), float(lengths.mean()) if len(lengths) else 1.0)
