"""What may be returned (elements, documents, passages or chunks), how often terms occur in it, and its BM25.

Units are numbered: elements (and documents, by their roots) as in the collection, spans through all documents. Terms
are counted exactly, whatever nests in a unit: occurrences are counted at the deepest elements around them, and a unit's
count is a difference of two running sums, as its descendants stand next to it.

::

    BM25(e) = Σ q(t) · idf(t) · tf·(k1+1) / (tf + k1·(1 − b + b·len(e)/avg))     idf(t) = ln(1 + (N − n + ½)/(n + ½))
    score(e) = (1 − mix) · BM25(e) + mix · BM25(document of e)

`avg` is the mean length of all units that may be returned; `N` and `n` count documents or these units. The score of a
document always has the documents' own numbers. What holds no word counts nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from focuseval.collection.boundaries import Boundaries, windows
from focuseval.collection.chunks import as_chunks, cuts
from focuseval.data.spans import spread
from focuseval.engine import native
from focuseval.engine.lazy import cached_property
from focuseval.errors import CollectionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.retrieval.settings import RetrievalSettings
    from focuseval.retrieval.store import IndexedWords
    from focuseval.retrieval.terms import Weights

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.float64]
    Scored = tuple[Integers, Numbers]
    Holders = list[tuple[int, int]]

Scorer = Callable[["Numbers", "Numbers", "Numbers"], "Numbers"]
"""What a term adds to a unit's score, by columns: how often the unit holds it, words of the unit, how many hold it."""

DECIMALS = 9
_REMEMBERED = 8_000_000
"""Units of terms that are kept for the questions that follow: 128 MB at most."""


@dataclass(frozen=True, eq=False)
class Occurrences:
    """One term of a query, and where it stands."""

    term: tuple[str, ...]
    weight: int
    words: IndexedWords

    @cached_property
    def first(self) -> NDArray[np.int32]:
        """The first kept word of every occurrence; the words of a phrase follow each other."""
        first = self.words.occurrences(self.term[0])
        for at, word in enumerate(self.term[1:], 1):
            first = np.intersect1d(first, self.words.occurrences(word) - np.int32(at), assume_unique=True)
        return first


def occurrences(query: Weights, among: IndexedWords) -> list[Occurrences]:
    """Return the terms of a query that stand somewhere."""
    terms = [Occurrences(term, weight, among) for term, weight in query.items()]
    return [term for term in terms if len(term.first)]


Count = tuple["NDArray[np.int32]", "NDArray[np.int32]"]
"""The units that hold a term, by their places in the `rows` of a set, and how often each does."""


class Counted(NamedTuple):
    """Units that hold a term of a query, ascending, and how often each holds each term."""

    units: Integers
    counts: list[Integers]


class Size(NamedTuple):
    """How many units there are, and their mean length."""

    number: int
    average: float

    def idf(self, holders: int) -> float:
        """Return what a term weighs that so many units hold."""
        return log(1 + (self.number - holders + 0.5) / (holders + 0.5))


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
        return self.words["depth"]

    @cached_property
    def returnable(self) -> NDArray[np.bool_]:
        """Whether an element has a wanted tag and words enough."""
        enough = self.length >= max(self.min_words, 1)
        if self.roots_only:
            enough &= self.words["depth"] == 1
        if self.tags:
            known = self.words.tags
            for tag in self.tags:
                if tag not in known:
                    remedy = did_you_mean(tag, known, "'focuseval stats' lists the tags of an index")
                    what = f"expected a tag of the collection, found {tag!r}"
                    raise CollectionError(what, at=self.words.index.name, remedy=remedy)
            enough &= np.array([tag in self.tags for tag in known])[self.words["tag"]]
        return np.asarray(enough)

    @cached_property
    def rows(self) -> Integers:
        """The elements that may be returned, ascending."""
        return np.flatnonzero(self.returnable)

    @cached_property
    def forest(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The place in `rows` of the unit at or nearest above every element, −1 for none; of that around every unit.

        The second has two columns: `words.c` counts in the other one.
        """
        parent, kept, library = self.words["parent"], self.returnable, native.library()
        units = np.zeros((len(self.rows), 2), np.int32)
        if library is not None:
            near = np.empty(len(parent), np.int32)
            library.words_near(*native.addresses(parent), len(parent), *native.addresses(kept, near, units))
            return near, units
        near = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        for depth in range(2, int(self.words["depth"].max(initial=0)) + 1):  # parents are done before their children
            here = np.flatnonzero((self.words["depth"] == depth) & ~kept)
            near[here] = near[parent[here]]
        units[:, 0] = np.append(near, np.int32(-1))[parent[self.rows]]
        return near, units

    @cached_property
    def _room(self) -> tuple[list[NDArray[np.int32]], tuple[int | None, ...]]:
        """Room for the counts of a term, and the addresses of what counting needs."""
        room = [np.zeros(len(self.rows), np.int32) for _ in range(2)]
        return room, native.addresses(self.words["element"], *self.forest, *room)

    def count_one(self, term: Occurrences) -> Count:
        """Return which of the `rows` hold one term, and how often."""
        element, leaf, many, library = self.words["element"], term.first, len(term.term), native.library()
        if many > 1:  # the deepest element around every occurrence; a phrase across documents has none
            leaf, end = np.asarray(element[term.first]), term.first + np.int32(many)
            while (short := np.flatnonzero(self.words["last"][leaf] < end)).size:
                leaf[short] = self.words["parent"][leaf[short]]
                inside = leaf >= 0
                leaf, end = leaf[inside], end[inside]
        if library is not None:
            (own, tf), (elements, *others) = self._room
            found = library.words_tally(leaf.ctypes.data, len(leaf), elements if many == 1 else None, *others)
            return own[:found].copy(), tf[:found].copy()
        near, units = self.forest
        count, at = np.zeros(len(self.rows), np.int64), near[element[leaf] if many == 1 else leaf]
        while len(at := at[at >= 0]):
            count += np.bincount(at, minlength=len(count))
            at = units[at, 0]
        held = np.flatnonzero(count)
        return held.astype(np.int32), count[held].astype(np.int32)

    def document(self, units: Integers) -> Integers:
        """Return the rows of the elements' documents."""
        return np.searchsorted(self.words.roots, units, "right") - 1

    def spans(self, units: Integers) -> tuple[Integers, Integers]:
        """Return the elements' words: they nest as their characters do, and every unit has some."""
        return self.words["first"][units].astype(np.int64), self.words["last"][units].astype(np.int64)


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
    def _reach(self) -> tuple[Integers, bool]:
        """Past the last word of this unit and of all before it; and whether one ends before one that begins earlier."""
        reach = np.maximum.accumulate(self.last)
        return reach, not np.array_equal(reach, self.last)

    @cached_property
    def _around(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For every kept word the first unit around it, and how many there are one after the other."""
        word, reach, library = self.words["word"], self._reach[0], native.library()
        if library is not None:
            lowest, many = np.empty_like(word), np.empty_like(word)
            given = (*native.addresses(word), len(word), *native.addresses(self.first, reach), len(reach))
            library.words_around(*given, *native.addresses(lowest, many))
            return lowest, many
        low = np.searchsorted(reach, word, "right")
        wide = np.maximum(np.searchsorted(self.first, word, "right") - low, 0)
        return low.astype(np.int32), wide.astype(np.int32)

    @cached_property
    def rows(self) -> Integers:
        """All units."""
        return np.arange(len(self.first))

    @cached_property
    def _room(self) -> tuple[list[NDArray[np.int32]], tuple[int | None, ...]]:
        """Room for the counts of a term, and the addresses of what counting needs."""
        room = [np.zeros(len(self.first), np.int32) for _ in range(3)]
        return room, native.addresses(*self._around, self.words["word"], self.last if self._reach[1] else None, *room)

    def count_one(self, term: Occurrences) -> Count:
        """Return the units that hold one term, and how often."""
        word, (lowest, around), nested, library = self.words["word"], self._around, self._reach[1], native.library()
        if library is not None:
            (_, own, tf), where = self._room
            given = (term.first.ctypes.data, len(term.first), len(term.term), len(word))
            found = library.words_tally_spans(*given, *where)
            return own[:found].copy(), tf[:found].copy()
        end: Integers = np.minimum(term.first.astype(np.int64) + len(term.term), len(word)) - 1
        low, last = lowest[end], word[end]  # all units around every occurrence, ascending for each
        wide = np.maximum(lowest[term.first] + around[term.first] - low, 0)
        unit = spread(low.astype(np.int64), wide.astype(np.int64))
        if nested:
            unit = unit[self.last[unit] > np.repeat(last, wide)]
        own, count = np.unique(unit, return_counts=True)
        return own.astype(np.int32), count.astype(np.int32)

    def document(self, units: Integers) -> Integers:
        """Return the rows of the units' documents."""
        return np.searchsorted(self.bounds, units, "right") - 1

    def spans(self, units: Integers) -> tuple[Integers, Integers]:
        """Return the code points of units."""
        if self.edges is not None:
            return self.edges[0][units], self.edges[1][units]
        begin, end = self.first[units], self.last[units]
        return self.words["start"][begin].astype(np.int64), self.words["end"][end - 1].astype(np.int64)


def chunk_units(words: IndexedWords, chunks: Chunks) -> SpanUnits:
    """Return chunks as units, by document, start and end, each once."""
    every = np.unique(np.stack([chunks.rows(words.index), chunks.start, chunks.end]), axis=1)
    document, start, end = every[:, every[2] > every[1]]
    written = Boundaries(words["start"], words["end"], words["word_bounds"])
    first, last = written.upto_start(document, start), written.upto_end(document, end)
    bounds = np.searchsorted(document, np.arange(len(words["word_bounds"])))
    return SpanUnits(words, bounds, first, np.maximum(first, last), (start, end))


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
    if spec.kind == "words":  # passages are windows of words
        every = words["word_bounds"]
        document, first, last = windows(np.diff(every), spec.size, spec.step)
        bounds, base = np.searchsorted(document, np.arange(len(every))), every[document]
        return SpanUnits(words, bounds, base + first, base + last)
    return chunk_units(words, as_chunks(words.index, cuts(words.index, spec), str(spec)))


def count(units: UnitSet, terms: Sequence[Occurrences]) -> Counted:
    """Return the units that hold a term, and how often each holds each."""
    held = [units.count_one(term) for term in terms]
    every = np.unique(np.concatenate([np.zeros(0, np.int32), *(own for own, _ in held)]))
    counts = [np.zeros(len(every), np.int64) for _ in held]
    for column, (own, times) in zip(counts, held, strict=True):
        column[np.searchsorted(every, own)] = times
    return Counted(units.rows[every], counts)


def size(number: int, words: int) -> Size:
    """Return the size of so many units that hold so many words together."""
    return Size(number, words / number if number else 1.0)


def size_of(units: UnitSet) -> Size:
    """Return how many units may be returned, and their mean length."""
    return size(int(np.count_nonzero(units.returnable)), int(units.length[units.returnable].sum()))


class Sums:
    """What terms give to units of one kind, added up for one question after the other in the same room."""

    def __init__(self, units: UnitSet, k1: float, b: float, size: Size | None = None) -> None:
        self.units, self.size = units, size or size_of(units)
        self._norm = k1 * (1 - b + b * units.length[units.rows] / self.size.average)
        self._remembered: dict[tuple[str, ...], tuple[NDArray[np.int32], Numbers]] = {}
        self._left = _REMEMBERED
        self.total, self._seen = np.zeros(len(self._norm)), np.zeros(len(self._norm), np.uint8)
        self._touched, self._score = np.empty(len(self._norm) + 1, np.int32), np.empty((2, len(self._norm) + 1))
        self._found = 0
        self._room = native.addresses(self.total, self._seen, self._touched)

    def shares(self, term: Occurrences) -> tuple[NDArray[np.int32], Numbers]:
        """Return the units that hold a term, by their places in `rows`, and tf / (tf + norm) of each."""
        if (known := self._remembered.get(term.term)) is not None:
            return known
        (own, tf), library = self.units.count_one(term), native.library()
        if library is None:
            share = tf / (tf + self._norm[own])
        else:
            share = np.empty(len(own))
            library.words_share(*native.addresses(own, tf), len(own), *native.addresses(self._norm, share))
        if len(own) <= self._left:
            self._left -= len(own)
            self._remembered[term.term] = own, share
        return own, share

    def add(self, shares: tuple[NDArray[np.int32], Numbers], weight: float) -> None:
        """Add what a term gives to units that hold it."""
        (own, share), library = shares, native.library()
        if library is None:
            self.total[own] += weight * share
            self._seen[own] |= 3 if weight > 0 else 1
            return
        given = (*native.addresses(own, share), len(own), weight, weight > 0)
        self._found = library.words_add(*given, *self._room, self._found)

    def taken(self, most: int = 0, mix: float = 0.0, of: tuple[NDArray[np.int32], Numbers] | None = None) -> Scored:
        """Return the units that hold a wanted term and score above 0, and their scores, rounded; then all is 0 again.

        `most` is how many of the best are enough: then others may be left out. `of` has every unit's document and the
        scores of documents, of which units get the share `mix`.
        """
        library = native.library()
        if library is None:
            own = np.flatnonzero(self._seen)
            score = self.total[own]
            if of is not None:
                score = (1 - mix) * score + mix * of[1][of[0][own]]
            score, held = np.round(score, DECIMALS), self._seen[own] == 3
            self.total[own], self._seen[own] = 0, 0
            return self.units.rows[own[held & (score > 0)]], score[held & (score > 0)]
        total, seen, touched = self._room
        room = native.addresses(*(of or (None, None))), native.addresses(*self._score)
        found, self._found = library.words_rank(touched, self._found, total, seen, mix, *room[0], most, *room[1]), 0
        return self.units.rows[self._touched[:found]], self._score[0, :found].copy()


class Matches(NamedTuple):
    """What a query found: its terms, the units that hold one, the documents that do, and the document of each unit."""

    terms: list[Occurrences]
    counted: Counted
    documents: Counted
    """By their root elements."""
    document: Integers
    """For every unit its place among these documents."""


@dataclass(frozen=True, eq=False)
class UnitRanker:
    """The words of a collection, and how its units are scored."""

    words: IndexedWords
    settings: RetrievalSettings
    """With every default filled in."""
    scorer: Scorer | None = None
    chunks: Chunks | None = None
    """What may be returned, where the settings do not say it."""
    sizes: tuple[Size | None, Size | None] = (None, None)
    """Number and mean length of the units and documents, where these words are a part of a collection's."""

    @cached_property
    def units(self) -> UnitSet:
        """What may be returned."""
        return unit_set(self.words, self.settings, self.chunks)

    @cached_property
    def size(self) -> Size:
        """Number and mean length of the units."""
        return self._sums.size

    @cached_property
    def _sums(self) -> Sums:
        return Sums(self.units, self.settings.k1, self.settings.b, self.sizes[0])

    @cached_property
    def _documents(self) -> Sums:
        return Sums(self.roots, self.settings.k1, self.settings.b, self.sizes[1])

    @cached_property
    def _document(self) -> NDArray[np.int32]:
        """The document of every unit, by its place among those that hold words."""
        units, roots = self.units, self.words.roots
        rows = units.rows if isinstance(units, ElementUnits) else roots[units.document(units.rows)]
        return self.roots.forest[0][rows]

    @cached_property
    def roots(self) -> ElementUnits:
        """The documents."""
        return ElementUnits(self.words, roots_only=True)

    @cached_property
    def _every(self) -> ElementUnits:
        return ElementUnits(self.words)

    def match(self, query: Weights) -> Matches:
        """Return the units and documents that hold a term of a query; of elements those, too, that are not returned."""
        terms = occurrences(query, self.words)
        tree = count(self._every, terms)
        root = self.words["depth"][tree.units] == 1
        documents = Counted(tree.units[root], [number[root] for number in tree.counts])
        if isinstance(self.units, ElementUnits):
            return Matches(terms, tree, documents, np.cumsum(root) - 1)
        counted = count(self.units, terms)
        roots = self.words.roots[self.units.document(counted.units)]
        return Matches(terms, counted, documents, np.searchsorted(documents.units, roots))

    def holders(self, query: Weights) -> Holders:
        """Return how many units and how many documents hold each term, those of them that idf and mix ask for."""
        terms = [Occurrences(term, weight, self.words) for term, weight in query.items()]
        units, documents = self.settings.idf == "units", bool(self.settings.mix) or self.settings.idf == "documents"
        return [
            (
                len(self.units.count_one(term)[0]) if units else 0,
                len(self.roots.count_one(term)[0]) if documents else 0,
            )
            for term in terms
        ]

    def score(self, query: Weights, most: int = 0, held: Holders | None = None) -> Scored:
        """Return the units that a query finds, in any order, and their scores, rounded.

        Where so many of the best are enough (`most`), others may be left out, but none that ties with the last. `held`
        is what `holders` gave of the whole collection, where these words are a part of it.
        """
        if self.scorer is not None:
            return self._score_by_scorer(query)
        k1, mix, by_documents = self.settings.k1, self.settings.mix or 0.0, self.settings.idf == "documents"
        for place, term in enumerate(Occurrences(term, weight, self.words) for term, weight in query.items()):
            own = self._sums.shares(term)
            documents = self._documents.shares(term) if mix or by_documents else own
            n_units, n_documents = (len(own[0]), len(documents[0])) if held is None else held[place]
            of_documents = self._documents.size.idf(n_documents) if mix or by_documents else 0.0
            idf = of_documents if by_documents else self._sums.size.idf(n_units)
            self._sums.add(own, term.weight * idf * (k1 + 1))
            if mix:
                self._documents.add(documents, term.weight * of_documents * (k1 + 1))
        if not mix:
            return self._sums.taken(most)
        found = self._sums.taken(most, mix, (self._document, self._documents.total))
        self._documents.taken()
        return found

    def _score_by_scorer(self, query: Weights) -> Scored:
        """Score by a function, which may also give something to a unit that does not hold a term."""
        found = self.match(query)
        may = wanted(found.terms, found.counted) & self.units.returnable[found.counted.units]
        kept = np.flatnonzero(may)
        score = self.mixed(found, self.of_units(found, kept), kept)
        above = score > 0
        return found.counted.units[kept[above]], score[above]

    def mixed(self, found: Matches, own: Numbers, kept: Integers) -> Numbers:
        """Return the scores of some of the units found, mixed with their documents' and rounded."""
        mix = self.settings.mix or 0.0
        if mix:
            own = (1 - mix) * own + mix * self.of_documents(found)[found.document[kept]]
        return np.round(own, DECIMALS)

    def of_units(self, found: Matches, kept: Integers) -> Numbers:
        """Return the own score of some of the units found."""
        holders, number = found.documents.counts, self._documents.size.number
        if self.settings.idf != "documents":
            may = self.units.returnable[found.counted.units]
            holders, number = [count[may] for count in found.counted.counts], self.size.number
        counts = [count[kept] for count in found.counted.counts]
        length = self.units.length[found.counted.units[kept]]
        return self._sum(found.terms, counts, length, holders, Size(number, self.size.average))

    def of_documents(self, found: Matches) -> Numbers:
        """Return the score of every document found."""
        counts, length = found.documents.counts, self.words.lengths[found.documents.units]
        return self._sum(found.terms, counts, length, counts, self._documents.size)

    def _sum(
        self,
        terms: Sequence[Occurrences],
        counts: Sequence[Integers],
        length: NDArray[np.integer],
        holders: Sequence[Integers],
        size: Size,
    ) -> Numbers:
        """Add up what the terms give, in their order in the query; `holders` counts each in all that may hold it."""
        k1, b = self.settings.k1, self.settings.b
        total = np.zeros(len(length))
        norm = k1 * (1 - b + b * length / size.average)
        positive = bool(norm.min(initial=1) > 0)  # then what does not hold a term gets exactly 0
        for term, tf, held in zip(terms, counts, holders, strict=True):
            n = int(np.count_nonzero(held))
            if self.scorer is not None:
                columns = (tf.astype(np.float64), length.astype(np.float64), np.full(len(tf), float(n)))
                total += term.weight * self.scorer(*columns)
                continue
            share = tf / (tf + norm) if positive else np.divide(tf, tf + norm, out=np.zeros(len(tf)), where=tf > 0)
            total += (term.weight * size.idf(n) * (k1 + 1)) * share
        return total


def wanted(terms: Sequence[Occurrences], counted: Counted) -> NDArray[np.bool_]:
    """Return which units hold a term that is wanted."""
    held = np.zeros(len(counted.units), np.bool_)
    for term, count in zip(terms, counted.counts, strict=True):
        if term.weight > 0:
            held |= count > 0
    return held
